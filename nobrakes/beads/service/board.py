"""What people look at: the board, one bead's history, the reviews, the graph.

Everything here only reads, and returns values; texts for people are made by the surfaces.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ...agents.limits import Cooldown
from ...daemon.service import control
from ...daemon.service.status import OpenSession, Worker, counted, counts, open_sessions, workers
from ...decisions.service.all_blockers import NOTHING, Blockers
from ...events.kinds import MERGES
from ...machine.registry import MachineView
from ...machine.registry import shown as machine_shown
from ...records import frozen
from ...requests.model import RequestLine, landed
from ..model import CLOSED, DependencyType, Role, Status
from ..readiness import Why, explain
from ..work_status import REQUESTED, SHOWN

if TYPE_CHECKING:
    from ...store import Store
    from ..graph import Node

CARDS = 12


@frozen
class Card:
    """A bead on the board. `reasons` block it; `request`: what it waits for people in."""

    id: str
    title: str
    type: str
    priority: int
    status: Status
    epic: str | None
    assignee: str | None
    reasons: tuple[str, ...]
    request: RequestLine | None = None


@frozen
class BoardView:
    """The first cards of each column in the order of work, and its total."""

    columns: Mapping[str, tuple[Card, ...]]
    counts: Mapping[str, int]
    working: tuple[Worker, ...]
    gates: tuple[Cooldown, ...]
    frozen: str | None = None  # the red tip of main, while nothing is merged for it
    sessions: tuple[OpenSession, ...] = ()
    machine: MachineView | None = None  # what all repositories share, where that is limited
    hindrances: Blockers = NOTHING  # what keeps work from going on, and what to type about it


def nodes_by_column(store: "Store", limit: int, asked: Iterable[str]) -> "dict[str, list[Node]]":
    """The first beads of each column in the order of work; `asked`: those waiting at a code host."""
    apart = frozenset(asked)
    found = store.columns(limit + len(apart))
    found["review"] = [node for node in found["review"] if node.id not in apart]
    nodes = [node for node in store.around(sorted(apart))[0] if node.id in apart] if apart else []
    found[REQUESTED] = nodes
    return {name: found[name][:limit] for name in SHOWN}


def card(node: "Node", reasons: tuple[str, ...] = (), request: RequestLine | None = None) -> Card:
    return Card(node.id, node.title, node.type, node.priority, node.status, node.epic, node.assignee, reasons, request)


def board(store: "Store", limit: int = CARDS, stands: Blockers = NOTHING) -> BoardView:
    """The beads in columns, without epics, their workers and blockers. `stands`: what blocks all work."""
    asked = store.requested()
    columns = nodes_by_column(store, limit, asked)
    nodes, dependencies = store.around([node.id for nodes in columns.values() for node in nodes])
    explained = explain(nodes, dependencies, store.now())

    def reasons(bead: str) -> tuple[str, ...]:
        return tuple(r.text for r in explained[bead].reasons if r.why not in (Why.DONE, Why.CANCELLED))

    cards = {
        name: tuple(card(node, reasons(node.id), asked.get(node.id)) for node in found)
        for name, found in columns.items()
    }
    frozen = store.setting(control.FROZEN)
    gates = tuple(store.gates().values())
    working = workers(store, stands.works)
    return BoardView(cards, counts(store), working, gates, frozen, open_sessions(store), machine_shown(), stands)


MAX_BEADS = 60
HEADINGS: Mapping[str, str] = {
    "escalated": "Needs you",
    "blocked": "Blocked",
    "ready": "Ready",
    "working": "Doing",
    "review": "Review",
    REQUESTED: "Pull requests",
    "done": "Merged",
    "draft": "Drafts",
    "cancelled": "Cancelled",
}
MAIN = ("escalated", "blocked", "ready", "working", "review", "done")


@frozen
class Tile:
    """A bead on the board. `line`: what matters in its column; `frees`: live beads that wait for it."""

    id: str
    title: str
    type: str
    priority: int
    epic: str | None
    line: str
    frees: int
    is_critical: bool
    escalation: int | None = None
    attempt: int | None = None
    since: float | None = None  # when it got where it is, where that is known
    page: str = ""  # of its pull request at the code host
    can: frozenset[str] = frozenset()  # commands that its state allows


@frozen
class Column:
    """`total` beads, of which the first are shown."""

    name: str
    heading: str
    total: int
    tiles: tuple[Tile, ...]


# A filter looks at every bead; without one only what is shown is read.
@frozen
class ColumnsView:
    """`found`: matches of the filter, None without one."""

    columns: tuple[Column, ...]
    wanted: str
    found: int | None
    now: float


def columns(store: "Store", wanted: str = "", most: int = MAX_BEADS) -> ColumnsView:
    """The board, filtered by these words."""
    words = tuple(wanted.casefold().split())[:8]
    asked = store.requested()
    if words:
        shown, totals = _filtered(store, words, most, asked)
        found: int | None = sum(totals.values())
    else:
        totals = counted(store.counts(), len(asked))
        shown = nodes_by_column(store, most, asked)
        found = None
    facts = _Facts(store, [node for nodes in shown.values() for node in nodes], asked)
    made = tuple(
        Column(name, heading, totals.get(name, 0), tuple(facts.tile(name, node) for node in shown.get(name, ())))
        for name, heading in HEADINGS.items()
        if name in MAIN or totals.get(name, 0)
    )
    return ColumnsView(made, wanted, found, store.now())


def _filtered(
    store: "Store", words: Sequence[str], most: int, asked: Collection[str]
) -> "tuple[dict[str, list[Node]], dict[str, int]]":
    ids: dict[str, list[str]] = {}
    for place, found in store.found(words).items():
        for bead in found:
            ids.setdefault(REQUESTED if bead in asked else place, []).append(bead)
    nodes = {node.id: node for node in store.nodes_of(bead for found in ids.values() for bead in found[:most])}
    shown = {name: [nodes[bead] for bead in found[:most] if bead in nodes] for name, found in ids.items()}
    return shown, {name: len(found) for name, found in ids.items()}


class _Facts:
    """Data of the tiles beside their beads, read once."""

    def __init__(self, store: "Store", nodes: "Sequence[Node]", asked: Mapping[str, RequestLine]) -> None:
        self.asked = asked
        around, dependencies = store.around([node.id for node in nodes])
        self.now = store.now()
        self.explained = explain(around, dependencies, self.now)
        live = {node.id for node in around if node.status not in CLOSED}
        blocks = (one for one in dependencies if one.type is DependencyType.BLOCKS)
        self.waiting = Counter(one.needs for one in blocks if one.bead in live)
        self.critical = frozenset(store.critical_path())
        self.workers: dict[str, Worker] = {worker.bead: worker for worker in workers(store)}
        self.escalations = {one.bead: one for one in reversed(store.escalations()) if one.bead is not None}
        self.reviewed = {attempt.bead for attempt in store.reviewing()}
        self.merged = {event.bead: event.at for event in reversed(store.latest_events(MERGES, None, 200))}

    def tile(self, name: str, node: "Node") -> Tile:
        from .bead_page import allowed  # the board that a terminal shows has no commands

        asked, worker = self.escalations.get(node.id), self.workers.get(node.id)
        since = worker.started_at if worker else self.merged.get(node.id) if name == "done" else None
        if asked is not None:
            since = asked.created_at
        return Tile(
            node.id,
            node.title,
            node.type,
            node.priority,
            node.epic,
            self._line(name, node, worker),
            self.waiting.get(node.id, 0),
            node.id in self.critical and node.status not in CLOSED,
            asked.id if asked is not None else None,
            worker.attempt if worker is not None and worker.role is not Role.REVIEWER else None,
            since,
            self.asked[node.id].page if name == REQUESTED else "",
            allowed(node),
        )

    def _line(self, name: str, node: "Node", worker: Worker | None) -> str:
        if name == "escalated" and node.id in self.escalations:
            return self.escalations[node.id].title
        if worker is not None and worker.role is not Role.REVIEWER:
            role = worker.role.value.replace("_", " ")
            return f"{worker.name}, {role}" + (f", try {worker.number}" if worker.number > 1 else "")
        if name == REQUESTED:
            return self.asked[node.id].says
        if name == "blocked":
            reasons = self.explained[node.id].reasons
            return "; ".join(one.text for one in reasons if one.why not in (Why.DONE, Why.CANCELLED))
        if name == "review" and node.id not in self.reviewed and node.status is Status.NEEDS_REVIEW:
            return "is waiting for the Reviewer"
        if node.status is Status.LANDED:
            return f"{landed(str(node.epic))}; the epic's pull request opens when all its beads are there"
        return ""
