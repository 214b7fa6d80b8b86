"""What people look at: the whole repository on one screen, the board, one bead's history, the reviews, the graph.

Everything here only reads, and returns values; texts for people are made by the surfaces.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from ..config import Config
from ..core.bead import CLOSED, WORKING, BeadType, Role, Status
from ..core.board import Limits
from ..core.escalations import Escalation
from ..core.graph import Why, explain
from ..core.links import Node
from ..host.locks import holder
from ..places import Places
from ..ports import Store
from . import control
from .drawing import graph, graph_view
from .histories import BeadHistory, Review, history, reviews

__all__ = [
    "BeadHistory",
    "BoardView",
    "Review",
    "StatusView",
    "board",
    "counts",
    "graph",
    "graph_view",
    "history",
    "reviews",
    "status",
]

COLUMNS = ("draft", "blocked", "ready", "working", "review", "escalated", "done", "cancelled")


@dataclass(frozen=True, slots=True)
class Worker:
    """An attempt that is open now. `seconds` since it began."""

    name: str
    role: Role
    bead: str
    title: str
    agent: str
    attempt: int
    number: int
    started_at: float
    seconds: float


@dataclass(frozen=True, slots=True)
class StatusView:
    """One screen. `counts` has the columns of the board; epics are counted apart."""

    main: str
    daemon: int | None  # its pid
    paused: bool
    stopping: bool
    counts: Mapping[str, int]
    epics: int
    working: tuple[Worker, ...]
    escalations: tuple[Escalation, ...]
    limits: Limits
    checks: int
    next_at: float | None  # the next retry or deferral that comes due


@dataclass(frozen=True, slots=True)
class Card:
    """One bead on the board. `waits_for` counts what keeps it from being assigned."""

    id: str
    title: str
    type: str
    priority: int
    status: Status
    epic: str | None
    assignee: str | None
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BoardView:
    """The cards by column, each column by priority and id."""

    columns: Mapping[str, tuple[Card, ...]]
    working: tuple[Worker, ...]


_BY_STATUS = {
    Status.DRAFT: "draft",
    Status.NEEDS_REVIEW: "review",
    Status.REVIEWING: "review",
    Status.ESCALATED: "escalated",
    Status.DONE: "done",
    Status.CANCELLED: "cancelled",
    Status.WRITING_TESTS: "working",
    Status.DOING: "working",
}


def column(node: Node, ready: bool) -> str:
    """The column that a bead stands in."""
    if node.status in _BY_STATUS:
        return _BY_STATUS[node.status]
    return "ready" if ready else "blocked"


def _working(store: Store, nodes: Mapping[str, Node]) -> tuple[Worker, ...]:
    now = store.now()
    found = []
    for node in nodes.values():
        if node.status not in WORKING:
            continue
        for attempt in store.attempts(node.id):
            if attempt.outcome is None:
                found.append(
                    Worker(
                        attempt.name,
                        attempt.role,
                        node.id,
                        node.title,
                        attempt.agent,
                        attempt.id,
                        attempt.number,
                        attempt.started_at,
                        max(0.0, now - attempt.started_at),
                    )
                )
    return tuple(sorted(found, key=lambda worker: worker.started_at))


def counts(store: Store) -> dict[str, int]:
    """How many beads (epics apart) stand in each column of the board, and how many of them are held."""
    explained = explain(store.nodes(), store.dependencies(), store.now())
    beads = [node for node in store.nodes() if node.type != BeadType.EPIC]
    found = Counter(column(node, explained[node.id].ready) for node in beads)
    held = sum(node.held is not None and node.status not in CLOSED for node in beads)
    return {**{name: found[name] for name in COLUMNS}, "held": held}


def status(store: Store, places: Places, config: Config) -> StatusView:
    """The whole repository on one screen."""
    nodes = {node.id: node for node in store.nodes()}
    limits = control.limits(store, config)
    return StatusView(
        config.main,
        holder(places.lock),
        bool(store.setting(control.PAUSED)),
        bool(store.setting(control.STOPPING)),
        counts(store),
        sum(node.type == BeadType.EPIC for node in nodes.values()),
        _working(store, nodes),
        tuple(store.escalations()),
        limits,
        len(config.checks),
        store.board(limits, 1).wake_at,
    )


def board(store: Store) -> BoardView:
    """The beads in columns, who works on what, and what each one waits for. Epics are left out."""
    nodes = {node.id: node for node in store.nodes()}
    explained = explain(nodes.values(), store.dependencies(), store.now())
    columns: dict[str, list[Card]] = {name: [] for name in COLUMNS}
    for node in sorted(nodes.values(), key=lambda n: (n.priority, n.id)):
        if node.type == BeadType.EPIC:
            continue
        reasons = tuple(
            reason.text for reason in explained[node.id].reasons if reason.why not in (Why.DONE, Why.CANCELLED)
        )
        columns[column(node, explained[node.id].ready)].append(
            Card(node.id, node.title, node.type, node.priority, node.status, node.epic, node.assignee, reasons)
        )
    return BoardView({name: tuple(cards) for name, cards in columns.items()}, _working(store, nodes))
