"""What a look at the graph is made of: boxes with places, what connects them, lanes, circles.

1. Places are upper left corners, in pixels of a picture that is not scaled; `box` is the size of every box.
2. `structure` is the same as long as everything stands where it stood: then only columns and counts have changed.
3. Titles are data: cleaned and on one line here, and text for every surface.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from ..beads.graph import Links, Node, chains_ahead, needs_of, plain_needs
from ..beads.model import CLOSED, BeadType, Dependency, DependencyType, Status, blocked_by
from ..beads.readiness import Readiness, circles
from ..beads.work_status import COLUMNS, column
from ..errors import NoSuchBead, UsageError
from ..records import frozen
from .layout import Placement, Size, break_circles, components, generations, place, shelves, title_of

if TYPE_CHECKING:
    from ..store import Store


Mode = Literal["focus", "epics", "all"]
MODES: tuple[Mode, ...] = get_args(Mode)


@frozen
class GraphNode:
    """A bead or epic. `column`: of beads.work_status.COLUMNS, for an epic the most urgent one. `waits_for`: unfinished
    blockers, `frees`: live direct dependents, `counts`: an epic's beads by column."""

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
    """`target` waits for `source`; between epics `beads` times."""

    source: str
    target: str
    is_critical: bool = False
    beads: int = 1


@frozen
class Lane:
    """An epic's band in `all`; empty `id`: beads without an epic."""

    id: str
    title: str
    y: float
    height: float
    counts: Mapping[str, int]


@frozen
class Cycle:
    """Beads that wait for each other. `cut`: the dependency to remove; `stuck`: beads that can never start."""

    members: tuple[str, ...]
    cut: Dependency
    stuck: int


@frozen
class GraphView:
    """`beads`: all, without epics. `too_many`: so many were requested that epics are shown."""

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


class Standing:
    """Columns and blockers of a part of the graph. `ready`: known to be ready."""

    def __init__(self, links: Links, now: float, ready: Iterable[str] | None = None) -> None:
        self.links = links
        self._readiness = Readiness(links, now)
        self._ready = None if ready is None else frozenset(ready)

    def column(self, node: Node) -> str:
        if node.type == BeadType.EPIC:
            return column(node.status, False)
        return column(node.status, self._readiness.ready(node.id) if self._ready is None else node.id in self._ready)

    def waits_for(self, bead: str) -> int:
        return len(self._readiness.unfinished_blockers(bead)) if self.links.live(bead) else 0

    def frees(self, bead: str) -> int:
        found = self.links.dependents.get(bead, ()) if self.links.live(bead) else ()
        return sum(self.links.live(one) for one in found)


def is_open(node: Node) -> bool:
    return node.status not in CLOSED


# An epic is its lane. It is a box as well where beads wait for it, where it waits, and where nothing is in it: the box
# stands behind everything that the epic waits for. Lanes stand in the order of their epics' ids, as people count.
SIZE = Size()


def natural(bead: str) -> tuple[object, ...]:
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in bead.replace(".", "-").split("-"))


def drawn(
    links: Links, shown: Collection[str], standing: Standing, chain: Sequence[str]
) -> tuple[list[GraphNode], list[GraphEdge], list[Lane], float, float]:
    """The boxes with positions, edges, lanes, and the total size."""
    blocks = [(blocker, bead) for bead in sorted(shown) for blocker in links.blockers.get(bead, ()) if blocker in shown]
    ends = {end for pair in blocks for end in pair}
    boxes = [
        bead
        for bead in sorted(shown, key=natural)
        if links.nodes[bead].type != BeadType.EPIC or bead in ends or bead not in links.children
    ]
    if not boxes:
        return [], [], [], 0.0, 0.0
    lane_of = {bead: _lane(links.nodes[bead]) for bead in boxes}
    names = sorted(set(lane_of.values()), key=lambda one: (one == "", natural(one)))
    number = {name: at for at, name in enumerate(names)}
    at = {bead: place_ for place_, bead in enumerate(boxes)}
    found = place(
        _depths(links, shown, boxes),
        [number[lane_of[bead]] for bead in boxes],
        [(at[source], at[target]) for source, target in blocks],
        SIZE,
    )
    critical, path = set(chain), set(pairwise(chain))
    nodes = [
        _node(links.nodes[bead], lane_of[bead], found.x[place_], found.y[place_], standing, bead in critical)
        for bead, place_ in at.items()
    ]
    # where an epic stands between two beads of the path, the line goes on
    pairs = sorted({*blocks, *(pair for pair in path if pair[0] in at and pair[1] in at)})
    edges = [GraphEdge(source, target, (source, target) in path) for source, target in pairs]
    counts = _counts(nodes)
    lanes = [
        Lane(name, title_of(links.nodes[name].title) if name in links.nodes else "", top, high, counts[name])
        for name, (top, high) in zip(names, found.bands, strict=True)
    ]
    return nodes, edges, lanes, found.width, found.height


def _lane(node: Node) -> str:
    return node.id if node.type == BeadType.EPIC else node.epic or ""


def _depths(links: Links, shown: Collection[str], boxes: Sequence[str]) -> list[int]:
    nodes = [links.nodes[bead] for bead in sorted(shown)]
    # a bead takes two steps, so that an epic's box fits between its last bead and what waits for the epic
    ahead = chains_ahead(plain_needs(links, nodes), [2] * len(nodes))
    number = {node.id: at for at, node in enumerate(nodes)}
    raw = [
        ahead[2 * number[bead] + 1] - 1 if links.nodes[bead].type == BeadType.EPIC else ahead[2 * number[bead]]
        for bead in boxes
    ]
    rank = {depth: at for at, depth in enumerate(sorted(set(raw)))}
    return [rank[depth] for depth in raw]


def _node(node: Node, lane: str, x: float, y: float, standing: Standing, is_critical: bool) -> GraphNode:
    return GraphNode(
        node.id,
        title_of(node.title),
        standing.column(node),
        lane,
        x,
        y,
        node.type == BeadType.EPIC,
        is_critical,
        standing.waits_for(node.id),
        standing.frees(node.id),
    )


def _counts(nodes: Sequence[GraphNode]) -> Mapping[str, Mapping[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for node in nodes:
        of_lane = found.setdefault(node.lane, dict.fromkeys(COLUMNS, 0))
        if not node.is_epic:
            of_lane[node.column] += 1
    return found


# Epics as boxes. An epic counts the beads in it at any depth; a dependency counts between the epics that its two ends
# are directly in. Where beads of two wait for each other's, the way of more beads counts. The most urgent column of its
# beads colours it.
EPICS_SIZE = Size(width=196.0, height=56.0, below=24.0, right=40.0, beside=16.0)
URGENT = ("escalated", "working", "review", "ready", "blocked", "draft", "done", "cancelled")


def epics_drawn(
    links: Links, standing: Standing, chain: Sequence[str]
) -> tuple[list[GraphNode], list[GraphEdge], float, float]:
    """The epics' boxes with positions, edges, and the total size."""
    counts = _epics_counts(links, standing)
    ids = sorted(counts, key=lambda one: (one == "", natural(one)))
    weights, critical = _between(links, set(ids), chain)
    number = {id_: at for at, id_ in enumerate(ids)}
    pairs = [
        (number[source], number[target])
        for source, target in sorted(weights)
        if (weights[source, target], source) > (weights.get((target, source), 0), target)
    ]
    waits, frees = Counter(target for _, target in weights), Counter(source for source, _ in weights)
    on_path = {_lane(links.nodes[bead]) for bead in chain}
    turned = Size(EPICS_SIZE.height, EPICS_SIZE.width, EPICS_SIZE.right, EPICS_SIZE.beside, EPICS_SIZE.below, 0.0)
    found = place(_epics_depths(len(ids), pairs), [0] * len(ids), pairs, turned)
    nodes = []
    for at, id_ in enumerate(ids):
        node = links.nodes.get(id_)
        nodes.append(
            GraphNode(
                id_,
                title_of(node.title) if node else "",
                next((name for name in URGENT if counts[id_].get(name)), _own(links, id_)),
                id_,
                found.y[at],
                found.x[at],
                True,
                id_ in on_path,
                waits[id_],
                frees[id_],
                counts[id_],
            )
        )
    edges = [GraphEdge(*pair, pair in critical, weights[pair]) for pair in sorted(weights)]
    return nodes, edges, found.height, found.width


def _own(links: Links, id_: str) -> str:
    node = links.nodes.get(id_)
    return {Status.DONE: "done", Status.CANCELLED: "cancelled", Status.DRAFT: "draft"}.get(
        node.status if node else Status.DRAFT, "blocked"
    )


def _epics_counts(links: Links, standing: Standing) -> dict[str, Mapping[str, int]]:
    found: dict[str, Counter[str]] = {node.id: Counter() for node in links.nodes.values() if node.type == BeadType.EPIC}
    beads = (node for node in links.nodes.values() if node.type != BeadType.EPIC)
    for (parent, name), number in Counter((node.epic, standing.column(node)) for node in beads).items():
        for epic in _above(links, parent) or [""]:
            found.setdefault(epic, Counter())[name] += number
    return {epic: {name: counter[name] for name in COLUMNS} for epic, counter in found.items()}


def _above(links: Links, epic: str | None) -> list[str]:
    """The epics around a bead with this parent, nearest first."""
    found: list[str] = []
    seen: set[str] = set()
    while epic is not None and epic not in seen:
        seen.add(epic)
        if (node := links.nodes.get(epic)) is None:
            break
        if node.type == BeadType.EPIC:
            found.append(epic)
        epic = node.epic
    return found


def _between(
    links: Links, ids: set[str], chain: Sequence[str]
) -> tuple[dict[tuple[str, str], int], set[tuple[str, str]]]:
    """Dependencies between epics, and those on the critical path; beads without an epic are left out."""
    around = {epic: next(iter(_above(links, epic)), "") for epic in {node.epic for node in links.nodes.values()}}
    nearest = {node.id: node.id if node.type == BeadType.EPIC else around[node.epic] for node in links.nodes.values()}
    found: Counter[tuple[str, str]] = Counter()
    for bead, blockers in links.blockers.items():
        for blocker in blockers:
            if blocker in nearest and nearest[blocker] != nearest[bead]:
                found[nearest[blocker], nearest[bead]] += 1
    path = [nearest[bead] for bead in chain if bead in nearest]
    critical = {pair for pair in pairwise(path) if pair[0] != pair[1] and "" not in pair}
    for pair in critical:
        found.setdefault(pair, 1)
    return {pair: number for pair, number in found.items() if "" not in pair and ids.issuperset(pair)}, critical


def _epics_depths(count: int, pairs: Sequence[tuple[int, int]]) -> list[int]:
    before: list[list[int]] = [[] for _ in range(count)]
    for source, target in pairs:
        before[target].append(source)
    rows = generations(before)
    if sum(map(len, rows)) < count:
        break_circles(before, set(range(count)).difference(*rows))
        rows = generations(before)
    found = [0] * count
    for depth, row in enumerate(rows):
        for number in row:
            found[number] = depth
    return found


# The part where something happens, of about the same number of beads in every graph: what waits for a person, what
# runs, what is in review; where that is little, what is ready first; the next of the critical path; then of each what
# it frees. Each connected part stands for itself; the one of the critical path comes first, then the larger ones.
BUSY = ("escalated", "working", "review")
MAX_PER_COLUMN = 12
FEW = 8
"""Ready beads are added up to this number."""
NEXT = 5
FREED = 3
MAX_SHOWN = 60
FOCUS_SIZE = Size()
ROOM = 28.0


def chosen(store: "Store") -> tuple[list[str], list[str]]:
    """Active beads, and the beginning of the critical path."""
    busy = [node.id for name in BUSY for node in store.column(name, MAX_PER_COLUMN)]
    if len(busy) < FEW:
        busy += [node.id for node in store.column("ready", FEW - len(busy))]
    chain = store.critical_path(NEXT)
    return list(dict.fromkeys([*chain, *busy])), chain


def focus_drawn(store: "Store") -> tuple[list[GraphNode], list[GraphEdge], float, float]:
    """Boxes with positions, edges, and the total size."""
    front, chain = chosen(store)
    touching = {bead: store.dependencies(bead) for bead in front}
    freed = {bead: blocked_by(bead, found) for bead, found in touching.items()}
    nodes, dependencies = store.around([*front, *(one for row in freed.values() for one in row)])
    known = {node.id: node for node in nodes}
    shown = dict.fromkeys(bead for bead in front if bead in known)
    for bead in list(shown):
        following = [one for one in freed[bead] if one in known and is_open(known[one])]
        for one in following[:FREED]:
            if len(shown) < MAX_SHOWN:
                shown.setdefault(one)
    # who waits for what is shown may be outside of what decides about it
    links = Links(nodes, {*dependencies, *(one for row in touching.values() for one in row)})
    standing = Standing(links, store.now())
    edges = _edges(shown, dependencies, chain)
    places, width, height = _placed(list(shown), edges, set(chain))
    critical = set(chain)
    found = [_node(known[bead], known[bead].epic or "", *places[bead], standing, bead in critical) for bead in shown]
    return found, edges, width, height


def _edges(shown: dict[str, None], dependencies: Sequence[Dependency], chain: Sequence[str]) -> list[GraphEdge]:
    """Dependencies of shown beads; the path stays connected through epics."""
    critical = set(pairwise(chain))
    found = {
        (one.needs, one.bead)
        for one in dependencies
        if one.type is DependencyType.BLOCKS and one.bead in shown and one.needs in shown
    }
    return [GraphEdge(*pair, pair in critical) for pair in sorted(found | critical)]


def _placed(
    shown: Sequence[str], edges: Sequence[GraphEdge], critical: set[str]
) -> tuple[dict[str, tuple[float, float]], float, float]:
    number = {bead: at for at, bead in enumerate(shown)}
    pairs = [(number[edge.source], number[edge.target]) for edge in edges]
    ahead = chains_ahead(
        needs_of([(bead, False) for bead in shown], ((e.target, (e.source,)) for e in edges), ()), [1] * len(shown)
    )
    parts = components(len(shown), pairs)
    parts.sort(key=lambda part: (not any(shown[one] in critical for one in part), -len(part), part[0]))
    placements = [_part(part, [ahead[2 * one] for one in part], pairs) for part in parts]
    sizes = [(one.width, one.height) for one in placements]
    area = sum((wide + ROOM) * (high + ROOM) for wide, high in sizes)
    corners = shelves(sizes, max([float((area * 1.7) ** 0.5), *(wide for wide, _ in sizes)], default=0.0), ROOM)
    places = {}
    for part, placement, (left, top) in zip(parts, placements, corners, strict=True):
        for one, x, y in zip(part, placement.x, placement.y, strict=True):
            places[shown[one]] = (left + x, top + y)
    width = max((left + wide for (left, _), (wide, _) in zip(corners, sizes, strict=True)), default=0.0)
    height = max((top + high for (_, top), (_, high) in zip(corners, sizes, strict=True)), default=0.0)
    return places, width, height


def _part(part: Sequence[int], depth: Sequence[int], pairs: Sequence[tuple[int, int]]) -> Placement:
    inside = {one: at for at, one in enumerate(part)}
    edges = [(inside[source], inside[target]) for source, target in pairs if source in inside]
    return place(depth, [0] * len(part), edges, FOCUS_SIZE)


# More than MAX_BEADS are drawn for one epic or search only: without, `epics` is shown, and the view says so. A focus
# on a graph that is not read whole does not look for circles.
MAX_BEADS = 5000
MAX_CHAIN = 1000
SEARCH = 200


def graph_view(
    store: "Store", mode: Mode | str = "focus", *, epic: str = "", match: str = "", is_live_only: bool = False
) -> GraphView:
    """The graph in a mode. UsageError; NoSuchBead: unknown epic. `epic` (at any depth), `match` (part of id or title)
    and `is_live_only` filter `all`."""
    if mode not in get_args(Mode):
        raise UsageError(f"'{mode[:40]}' is not a known view of the graph", f"Use one of: {', '.join(get_args(Mode))}.")
    counts = store.counts()
    beads = sum(counts[name] for name in COLUMNS)
    match = " ".join(match.split())[:SEARCH]
    if mode == "focus":
        nodes, edges, width, height = focus_drawn(store)
        cycles = _cycles(Links(store.nodes(), store.dependencies())) if beads <= MAX_BEADS else ()
        box = (FOCUS_SIZE.width, FOCUS_SIZE.height)
        return GraphView("focus", tuple(nodes), tuple(edges), (), cycles, width, height, box, beads)
    links = Links(store.nodes(), store.dependencies())
    standing = Standing(links, store.now(), store.ready_ids())
    chain = store.critical_path(MAX_CHAIN)
    cycles = _cycles(links)
    shown = _narrowed(links, epic, match, is_live_only) if mode == "all" else set()
    many = sum(links.nodes[one].type != BeadType.EPIC for one in shown)
    if mode == "epics" or many > MAX_BEADS:
        nodes, edges, width, height = epics_drawn(links, standing, chain)
        box = (EPICS_SIZE.width, EPICS_SIZE.height)
        return GraphView(
            "epics", tuple(nodes), tuple(edges), (), cycles, width, height, box, beads, epic, match, is_live_only, many
        )
    nodes, edges, lanes, width, height = drawn(links, shown, standing, chain)
    box = (SIZE.width, SIZE.height)
    return GraphView(
        "all", tuple(nodes), tuple(edges), tuple(lanes), cycles, width, height, box, beads, epic, match, is_live_only
    )


def _narrowed(links: Links, epic: str, match: str, is_live_only: bool) -> set[str]:
    if epic and epic not in links.nodes:
        raise NoSuchBead(f"there is no bead '{epic[:80]}'")
    found = set(links.inside(epic) if epic else links.nodes)
    if match:
        part = match.casefold()
        found = {one for one in found if part in one.casefold() or part in links.nodes[one].title.casefold()}
    return {one for one in found if is_open(links.nodes[one])} if is_live_only else found


def _cycles(links: Links) -> tuple[Cycle, ...]:
    return tuple(Cycle(one.members, one.cut, len(one.stuck)) for one in circles(links))
