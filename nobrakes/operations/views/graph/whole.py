"""Every bead in the lane of its epic, from left to right in the order in which it can be done.

1. An epic is its lane. It is a box as well where beads wait for it, where it waits, and where nothing is in it: the box
   stands behind everything that the epic waits for, its beads among them.
2. Lanes stand in the order of their epics' ids, as people count; beads without an epic come last.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from ....analysis.lanes import Size, place
from ....core.beads.bead import BeadType
from ....core.columns import COLUMNS
from ....core.graph.event_graph import chains_ahead
from ....core.graph.links import Links, Node, plain_needs
from ..listing import natural
from .view import GraphEdge, GraphNode, Lane, Standing, title_of

SIZE = Size()


def drawn(
    links: Links, shown: Collection[str], standing: Standing, chain: Sequence[str]
) -> tuple[list[GraphNode], list[GraphEdge], list[Lane], float, float]:
    """The boxes of the beads shown with their places, edges, lanes, and the size of it all."""
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
    """For each box how many boxes are in front of it at most; what waits for it is further on."""
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
