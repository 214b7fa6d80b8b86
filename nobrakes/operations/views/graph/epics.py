"""One box for each epic, from top to bottom: how far it is, and which epics its beads wait for.

1. An epic counts the beads in it at any depth; a dependency counts between the epics that its two ends are directly in.
2. An epic stands below those that it waits for. Where beads of two wait for each other's, the way of more beads counts.
3. The most urgent column of its beads colours it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

from ....analysis.lanes import Size, place
from ....analysis.layering import break_circles, generations
from ....core.beads.bead import BeadType, Status
from ....core.columns import COLUMNS
from ....core.graph.links import Links
from ..listing import natural
from .view import GraphEdge, GraphNode, Standing, title_of

SIZE = Size(width=196.0, height=56.0, below=24.0, right=40.0, beside=16.0)
URGENT = ("escalated", "working", "review", "ready", "blocked", "draft", "done", "cancelled")


def drawn(
    links: Links, standing: Standing, chain: Sequence[str]
) -> tuple[list[GraphNode], list[GraphEdge], float, float]:
    """The boxes of the epics with their places, edges, and the size of it all."""
    counts = _counts(links, standing)
    ids = sorted(counts, key=lambda one: (one == "", natural(one)))
    weights, critical = _between(links, set(ids), chain)
    number = {id_: at for at, id_ in enumerate(ids)}
    pairs = [
        (number[source], number[target])
        for source, target in sorted(weights)
        if (weights[source, target], source) > (weights.get((target, source), 0), target)
    ]
    waits, frees = Counter(target for _, target in weights), Counter(source for source, _ in weights)
    on_path = {_epic_of(links, bead) for bead in chain}
    turned = Size(SIZE.height, SIZE.width, SIZE.right, SIZE.beside, SIZE.below, 0.0)
    found = place(_depths(len(ids), pairs), [0] * len(ids), pairs, turned)
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


def _epic_of(links: Links, bead: str) -> str:
    node = links.nodes[bead]
    return bead if node.type == BeadType.EPIC else node.epic or ""


def _counts(links: Links, standing: Standing) -> dict[str, Mapping[str, int]]:
    """By epic, its beads by column; beads without an epic under the empty id, where there are some."""
    found: dict[str, Counter[str]] = {node.id: Counter() for node in links.nodes.values() if node.type == BeadType.EPIC}
    for node in links.nodes.values():
        if node.type == BeadType.EPIC:
            continue
        name, above = standing.column(node), _above(links, node.epic)
        for epic in above or [""]:
            found.setdefault(epic, Counter())[name] += 1
    return {epic: {name: counter[name] for name in COLUMNS} for epic, counter in found.items()}


def _above(links: Links, epic: str | None) -> list[str]:
    """The epics that a bead with this parent is in, from the nearest on."""
    found: list[str] = []
    seen: set[str] = set()
    while epic is not None and epic not in seen:
        seen.add(epic)
        node = links.nodes.get(epic)
        if node is None:
            break
        if node.type == BeadType.EPIC:
            found.append(epic)
        epic = node.epic
    return found


def _between(
    links: Links, ids: set[str], chain: Sequence[str]
) -> tuple[dict[tuple[str, str], int], set[tuple[str, str]]]:
    """How many dependencies lead from epic to epic, and between which of them the critical path goes.

    Beads without an epic are no epic: what they wait for is left out.
    """
    nearest = {
        node.id: node.id if node.type == BeadType.EPIC else next(iter(_above(links, node.epic)), "")
        for node in links.nodes.values()
    }
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


def _depths(count: int, pairs: Sequence[tuple[int, int]]) -> list[int]:
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
