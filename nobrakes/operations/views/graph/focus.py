"""The part of the graph where something happens: about the same number of beads in every graph.

1. In this order: what waits for a person, what runs, what is in review; where that is little, what is ready first; the
   next of the critical path; then of each what it frees next.
2. Only these beads and what touches them are read.
3. Each connected part stands for itself; the one of the critical path comes first, then the larger ones.
"""

from collections.abc import Sequence
from itertools import pairwise

from ....analysis.lanes import Placement, Size, components, place, shelves
from ....core.beads.bead import BeadType, Dependency, DependencyType, blocked_by
from ....core.graph.event_graph import chains_ahead, needs_of
from ....core.graph.links import Links, Node
from ....ports.store import Store
from .view import GraphEdge, GraphNode, Standing, is_open, title_of

BUSY = ("escalated", "working", "review")
OF_EACH = 12
"""So many beads of a column are shown."""
FEW = 8
"""With fewer at work, beads that are ready are shown up to so many."""
NEXT = 5
"""Beads of the critical path."""
FREED = 3
"""So many of the beads that one frees are shown; the others are counted."""
MOST = 60
SIZE = Size()
ROOM = 28.0
"""Pixels between parts."""


def chosen(store: Store) -> tuple[list[str], list[str]]:
    """The beads where something happens, and the beginning of the critical path."""
    busy = [node.id for name in BUSY for node in store.column(name, OF_EACH)]
    if len(busy) < FEW:
        busy += [node.id for node in store.column("ready", FEW - len(busy))]
    chain = store.longest_chain(NEXT)
    return list(dict.fromkeys([*chain, *busy])), chain


def drawn(store: Store) -> tuple[list[GraphNode], list[GraphEdge], float, float]:
    """Boxes with their places, edges, and the size of it all."""
    front, chain = chosen(store)
    touching = {bead: store.dependencies(bead) for bead in front}
    freed = {bead: blocked_by(bead, found) for bead, found in touching.items()}
    nodes, dependencies = store.around([*front, *(one for row in freed.values() for one in row)])
    known = {node.id: node for node in nodes}
    shown = dict.fromkeys(bead for bead in front if bead in known)
    for bead in list(shown):
        following = [one for one in freed[bead] if one in known and is_open(known[one])]
        for one in following[:FREED]:
            if len(shown) < MOST:
                shown.setdefault(one)
    # who waits for what is shown may be outside of what decides about it
    links = Links(nodes, {*dependencies, *(one for row in touching.values() for one in row)})
    standing = Standing(links, store.now())
    edges = _edges(shown, dependencies, chain)
    places, width, height = _placed(list(shown), edges, set(chain))
    critical = set(chain)
    found = [_node(known[bead], places[bead], standing, bead in critical) for bead in shown]
    return found, edges, width, height


def _edges(shown: dict[str, None], dependencies: Sequence[Dependency], chain: Sequence[str]) -> list[GraphEdge]:
    """What waits for what of the beads shown. The path is one line, also where an epic stands in it."""
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
        needs_of([(bead, False) for bead in shown], ((e.target, e.source) for e in edges), ()), [1] * len(shown)
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
    return place(depth, [0] * len(part), edges, SIZE)


def _node(node: Node, at: tuple[float, float], standing: Standing, is_critical: bool) -> GraphNode:
    return GraphNode(
        node.id,
        title_of(node.title),
        standing.column(node),
        node.epic or "",
        *at,
        node.type == BeadType.EPIC,
        is_critical,
        standing.waits_for(node.id),
        standing.frees(node.id),
    )
