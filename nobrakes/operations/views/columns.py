"""The board of a browser: columns by who has to act, each card with the one line that matters in its column.

1. A column shows its first MOST cards in the order in which they count, and says how many there are.
2. A filter is words that are all in the id, the title, the type, the epic or the labels, whatever their case;
   it looks at every bead. Without one, only what is shown is read.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...core.beads.bead import CLOSED, Dependency, DependencyType, Role, Status
from ...core.beads.events import MERGES
from ...core.columns import REQUESTED, column
from ...core.graph.readiness import Why, explain, ready_beads
from ...core.pulls.shown import RequestLine
from .board import Worker, counted, nodes_by_column, workers
from .requested import landed, requested

if TYPE_CHECKING:
    from ...core.graph.links import Node
    from ...ports.store import Store

MOST = 60
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
"""The columns that are always there; the others are shown when something stands in them."""


@dataclass(frozen=True, slots=True)
class Tile:
    """One bead on the board. `line` is what matters about it in its column; `frees` how many live beads wait for it."""

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


@dataclass(frozen=True, slots=True)
class Column:
    """`total` beads stand in it, of which the first are shown."""

    name: str
    heading: str
    total: int
    tiles: tuple[Tile, ...]


@dataclass(frozen=True, slots=True)
class ColumnsView:
    """The board. `found` is how many beads the filter found, None without one."""

    columns: tuple[Column, ...]
    wanted: str
    found: int | None
    now: float


def columns(store: "Store", wanted: str = "", most: int = MOST) -> ColumnsView:
    """The board, or what of it has all these words."""
    words = tuple(wanted.casefold().split())[:8]
    asked = requested(store)
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
    nodes, dependencies = store.nodes(), store.dependencies()
    labels = {bead.id: " ".join(bead.labels) for bead in store.beads()} if len(nodes) <= 5000 else {}
    ready = set(ready_beads(nodes, dependencies, store.now()))
    shown: dict[str, list[Node]] = {}
    totals: dict[str, int] = {}
    for node in sorted(nodes, key=lambda node: (node.priority, node.id)):
        text = f"{node.id} {node.title} {node.type} {node.epic or ''} {labels.get(node.id, '')}".casefold()
        if node.type == "epic" or not all(word in text for word in words):
            continue
        name = REQUESTED if node.id in asked else column(node.status, node.id in ready)
        totals[name] = totals.get(name, 0) + 1
        if totals[name] <= most:
            shown.setdefault(name, []).append(node)
    return shown, totals


class _Facts:
    """What the tiles need beside their beads, read once."""

    def __init__(self, store: "Store", nodes: "Sequence[Node]", asked: Mapping[str, RequestLine]) -> None:
        self.asked = asked
        around, dependencies = store.around([node.id for node in nodes])
        self.now = store.now()
        self.explained = explain(around, dependencies, self.now)
        self.waiting = _waiting(around, dependencies)
        self.critical = frozenset(store.longest_chain())
        self.workers: dict[str, Worker] = {worker.bead: worker for worker in workers(store)}
        self.escalations = {one.bead: one for one in reversed(store.escalations()) if one.bead is not None}
        self.reviewed = {attempt.bead for attempt in store.reviewing()}
        merged = store.latest_events(MERGES, None, 200)
        self.merged = {event.bead: event.at for event in reversed(merged)}

    def tile(self, name: str, node: "Node") -> Tile:
        """The bead as its column shows it."""
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
            return "waits for the Reviewer"
        if node.status is Status.LANDED:
            return f"{landed(str(node.epic))}; its request follows when all of it has"
        return ""


def _waiting(nodes: "Sequence[Node]", dependencies: Sequence[Dependency]) -> dict[str, int]:
    """How many live beads wait for each."""
    live = {node.id for node in nodes if node.status not in CLOSED}
    found: dict[str, int] = {}
    for one in dependencies:
        if one.type is DependencyType.BLOCKS and one.bead in live:
            found[one.needs] = found.get(one.needs, 0) + 1
    return found
