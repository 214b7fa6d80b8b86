"""Chains of work: the longest one.

1. Only live beads count: what is closed waits for nothing.
2. Weights are estimates in minutes, or what is usual where nobody estimated (core.graph.usual).
3. Beads in a circle are in no chain; operations name circles on their own.
4. Of several longest chains it is the one that the store reads off its levels (store.beads.longest_chain): at each step
   the smallest id. Whole graphs are asked, so they stay plain numbers: networkx took 15 times as long.
"""

from collections.abc import Iterable, Iterator

from ..core.beads.bead import BeadType, Dependency
from ..core.graph.event_graph import levels_of
from ..core.graph.links import Links, Node
from ..core.graph.usual import Usual, usual_of, weight


def critical_path(
    nodes: Iterable[Node], dependencies: Iterable[Dependency], expected: Usual | None = None
) -> tuple[str, ...]:
    """The longest chain of live work by estimate, first bead first, epics left out; empty without live beads.

    `expected`: what a bead without an estimate takes; None: what the estimates of the others tell.
    """
    return chain_of(Links(nodes, dependencies), expected)


def chain_of(links: Links, expected: Usual | None = None) -> tuple[str, ...]:
    """`critical_path` of links that are already built."""
    expected = expected or usual_of(links.nodes.values())
    weights = [weight(node.type, node.estimate, expected) for node in links.alive]
    return tuple(_walked(links, weights, _reached(links, weights)))


def _reached(links: Links, weights: list[int]) -> list[int]:
    """The level of each moment; what is in or behind a circle is left out, and so is behind nothing."""
    needs, order = links.needs, links.order
    if len(order) == len(needs):
        return levels_of(needs, weights, order)
    stuck = set(range(len(needs))).difference(order)
    return levels_of([[] if moment in stuck else row for moment, row in enumerate(needs)], weights)


def _walked(links: Links, weights: list[int], reached: list[int]) -> Iterator[str]:
    """The chain from the largest level on: a following moment is one whose level is what is left."""
    live = links.alive
    place = {node.id: number for number, node in enumerate(live)}
    number = max(range(len(live)), key=lambda one: reached[2 * one], default=0)
    left = reached[2 * number] if live else 0
    ended = False
    while left:
        node = live[number]
        if not ended:
            done = reached[2 * number + 1]
            if weights[number] + done < left:
                number = next(
                    place[child]
                    for child in links.children.get(node.id, ())
                    if child in place and reached[2 * place[child]] == left
                )
                continue
            left = done
            if node.type != BeadType.EPIC:
                yield node.id
            if not left:
                return
        waiting = (place[bead] for bead in links.dependents.get(node.id, ()) if bead in place)
        following = next((one for one in waiting if reached[2 * one] == left), None)
        ended = following is None
        if following is None:
            following = next(
                place[epic]
                for epic in links.parents.get(node.id, ())
                if epic in place and links.nodes[epic].type == BeadType.EPIC and reached[2 * place[epic] + 1] == left
            )
        number = following
