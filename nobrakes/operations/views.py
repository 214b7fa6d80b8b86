"""What people look at: the whole repository on one screen, the board, one bead's history, the reviews, the graph.

Everything here only reads, and returns values; texts for people are made by the surfaces.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..core.bead import WORKING, Role, Status
from ..core.columns import COLUMNS
from ..core.escalations import Escalation
from ..core.graph import Why, explain
from ..host.locks import holder
from ..places import Places
from . import control
from .histories import BeadHistory, Review, history, reviews

if TYPE_CHECKING:
    from ..config import Config
    from ..core.board import Limits
    from ..ports import Store

__all__ = [
    "BeadHistory",
    "BoardView",
    "Review",
    "StatusView",
    "board",
    "counts",
    "history",
    "reviews",
    "status",
]

CARDS = 12
"""So many beads of a column are handed out; the others are counted."""


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
    limits: "Limits"
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
    """The first cards of each column by priority and id, and how many beads stand in it."""

    columns: Mapping[str, tuple[Card, ...]]
    counts: Mapping[str, int]
    working: tuple[Worker, ...]


def _working(store: "Store") -> tuple[Worker, ...]:
    now = store.now()
    found = []
    for bead in store.beads(WORKING):
        for attempt in store.attempts(bead.id):
            if attempt.outcome is None:
                found.append(
                    Worker(
                        attempt.name,
                        attempt.role,
                        bead.id,
                        bead.title,
                        attempt.agent,
                        attempt.id,
                        attempt.number,
                        attempt.started_at,
                        max(0.0, now - attempt.started_at),
                    )
                )
    return tuple(sorted(found, key=lambda worker: worker.started_at))


def counts(store: "Store") -> dict[str, int]:
    """How many beads (epics apart) stand in each column of the board, and how many of them are held."""
    found = store.counts()
    return {name: found[name] for name in (*COLUMNS, "held")}


def status(store: "Store", places: Places, config: "Config") -> StatusView:
    """The whole repository on one screen."""
    limits = control.limits(store, config)
    found = store.counts()
    return StatusView(
        config.main,
        holder(places.lock),
        bool(store.setting(control.PAUSED)),
        bool(store.setting(control.STOPPING)),
        {name: found[name] for name in (*COLUMNS, "held")},
        found["epic"],
        _working(store),
        tuple(store.escalations()),
        limits,
        len(config.checks),
        store.board(limits, 1).wake_at,
    )


def board(store: "Store", limit: int = CARDS) -> BoardView:
    """The beads in columns, who works on what, and what each one waits for. Epics are left out."""
    columns = {name: store.column(name, limit) for name in COLUMNS}
    shown = [node.id for nodes in columns.values() for node in nodes]
    nodes, dependencies = store.around(shown)
    explained = explain(nodes, dependencies, store.now())

    def reasons(bead: str) -> tuple[str, ...]:
        return tuple(r.text for r in explained[bead].reasons if r.why not in (Why.DONE, Why.CANCELLED))

    cards = {
        name: tuple(Card(n.id, n.title, n.type, n.priority, n.status, n.epic, n.assignee, reasons(n.id)) for n in found)
        for name, found in columns.items()
    }
    return BoardView(cards, counts(store), _working(store))
