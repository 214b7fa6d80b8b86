"""What a look at the graph is made of: boxes with places, what connects them, lanes, circles.

1. Places are upper left corners, in pixels of a picture that is not scaled; `box` is the size of every box.
2. `structure` is the same as long as everything stands where it stood: then only columns and counts have changed.
3. Titles are data: cleaned and on one line here, and text for every surface.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Literal, NamedTuple, get_args

from ....core.beads.bead import CLOSED, BeadType, Dependency
from ....core.columns import column
from ....core.graph.links import Links, Node
from ....core.graph.readiness import Readiness
from ....core.text.cleaning import clean

Mode = Literal["focus", "epics", "all"]
MODES: tuple[Mode, ...] = get_args(Mode)
NO_COUNTS: Mapping[str, int] = {}


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A bead or an epic. `column` is one of core.columns.COLUMNS, of an epic the most urgent one of its beads.

    `waits_for` counts its unfinished blockers, `frees` the live beads that wait for it directly, `counts` an epic's
    beads by column.
    """

    id: str
    title: str
    column: str
    lane: str  # the epic's id; empty: none
    x: float
    y: float
    is_epic: bool = False
    is_critical: bool = False
    waits_for: int = 0
    frees: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)


class GraphEdge(NamedTuple):
    """`target` waits for `source`; between epics as many times as `beads`."""

    source: str
    target: str
    is_critical: bool = False
    beads: int = 1


@dataclass(frozen=True, slots=True)
class Lane:
    """An epic's band in `all`; `id` is empty for beads without an epic."""

    id: str
    title: str
    y: float
    height: float
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Cycle:
    """Beads that wait for each other. Without the dependency `cut` they would not; `stuck` beads can never start."""

    members: tuple[str, ...]
    cut: Dependency
    stuck: int


@dataclass(frozen=True, slots=True)
class GraphView:
    """`beads` are in the repository, epics left out. `too_many`: so many beads were asked for that epics are shown."""

    mode: str
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    lanes: tuple[Lane, ...]
    cycles: tuple[Cycle, ...]
    width: float
    height: float
    box: tuple[float, float]
    beads: int
    epic: str = ""
    match: str = ""
    is_live_only: bool = False
    too_many: int = 0

    @property
    def structure(self) -> str:
        """A hash of what is shown where."""
        found = blake2b(digest_size=12)
        found.update(repr((self.mode, self.box, self.lanes and [(one.id, one.y) for one in self.lanes])).encode())
        found.update(repr([(node.id, node.x, node.y) for node in self.nodes]).encode())
        found.update(repr([edge[:2] for edge in self.edges]).encode())
        return found.hexdigest()


def title_of(text: str) -> str:
    """On one line and harmless."""
    return " ".join((text if text.isprintable() and text.isascii() else clean(text)).split())


class Standing:
    """In which column each bead of a part of the graph stands, and what it waits for. `ready` are known to be so."""

    def __init__(self, links: Links, now: float, ready: Iterable[str] | None = None) -> None:
        self.links = links
        self._readiness = Readiness(links, now)
        self._ready = None if ready is None else frozenset(ready)

    def column(self, node: Node) -> str:
        """The column of a bead; of an epic, that of its own status."""
        if node.type == BeadType.EPIC:
            return column(node.status, False)
        return column(node.status, self._readiness.ready(node.id) if self._ready is None else node.id in self._ready)

    def waits_for(self, bead: str) -> int:
        """How many of its blockers are not done."""
        return len(self._readiness.unfinished_blockers(bead)) if self.links.live(bead) else 0

    def frees(self, bead: str) -> int:
        """How many live beads wait for it directly."""
        found = self.links.dependents.get(bead, ()) if self.links.live(bead) else ()
        return sum(self.links.live(one) for one in found)


def is_open(node: Node) -> bool:
    """Whether there is still something to do about it."""
    return node.status not in CLOSED
