"""A graph of numbers, each with the numbers before it: in which generation each can stand, whatever circles there are.

Numbers stand for boxes in the order of their ids, so that the smaller number is the smaller id. networkx finds
the circles.
"""

from collections.abc import Collection, Sequence
from typing import Any

from ..core.graph.event_graph import order_of

Rows = list[list[int]]


def turned(before: Sequence[Sequence[int]]) -> Rows:
    """Who comes after each."""
    after: Rows = [[] for _ in before]
    for number, row in enumerate(before):
        for earlier in row:
            after[earlier].append(number)
    return after


def generations(before: Sequence[Sequence[int]]) -> Rows:
    """Each in the first generation after all that come before it; those in or behind a circle are left out."""
    found: Rows = []
    depth = [0] * len(before)
    for number in order_of(before):
        depth[number] = place = max([depth[earlier] + 1 for earlier in before[number]], default=0)
        if place == len(found):
            found.append([])
        found[place].append(number)
    return found


def break_circles(before: Rows, left: Collection[int]) -> None:
    """Take edges out of `before` until no circle is left; all circles are among `left`."""
    import networkx as nx

    while knots := [part for part in nx.strongly_connected_components(_graph(before, left)) if len(part) > 1]:
        for knot in knots:
            inside = {number: [n for n in before[number] if n in knot] for number in knot}
            balance = {number: len(row) for number, row in inside.items()}
            for row in inside.values():
                for earlier in row:
                    balance[earlier] -= 1
            # the one that least waits for the others begins
            first = min(knot, key=lambda number: (balance[number], number))
            before[first] = [n for n in before[first] if n not in knot]
        left = set().union(*knots)


def _graph(before: Sequence[Sequence[int]], among: Collection[int]) -> Any:
    """The numbers among these, with an arrow from each to what comes after it."""
    import networkx as nx

    graph: Any = nx.DiGraph()
    graph.add_nodes_from(among)
    graph.add_edges_from((earlier, number) for number in among for earlier in before[number] if earlier in graph)
    return graph
