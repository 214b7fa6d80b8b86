"""Chains of work: the longest one.

1. Only live beads count: what is closed waits for nothing.
2. Weights are estimates in minutes, or what is usual where nobody estimated (core.graph.usual).
3. Beads in a circle are in no chain; operations name circles on their own.
"""

from collections.abc import Iterable
from typing import Any

from ..core.beads.bead import BeadType, Dependency
from ..core.graph.links import Links, Moments, Node
from ..core.graph.usual import Usual, usual_of, weight


def _graph(moments: Moments, expected: Usual) -> Any:
    """The moments as a networkx graph from what is needed to what waits for it, without those in or behind circles."""
    import networkx as nx

    graph: Any = nx.DiGraph()
    order = moments.order()
    possible = set(order)
    graph.add_nodes_from(order)
    for moment in order:
        for need in moments.needs[moment]:
            if need.what in possible:
                node = moments.links.nodes[moments.bead(moment)]
                cost = weight(node.type, node.estimate, expected) if need.by is None else 0
                graph.add_edge(need.what, moment, weight=cost)
    return graph


def critical_path(
    nodes: Iterable[Node], dependencies: Iterable[Dependency], expected: Usual | None = None
) -> tuple[str, ...]:
    """The longest chain of live work by estimate, first bead first, epics left out; empty without live beads.

    `expected`: what a bead without an estimate takes; None: what the estimates of the others tell.
    """
    import networkx as nx

    links = Links(nodes, dependencies)
    moments = Moments(links)
    graph = _graph(moments, expected or usual_of(links.nodes.values()))
    if not graph:
        return ()
    path = nx.dag_longest_path(graph, weight="weight")
    beads = dict.fromkeys(moments.bead(moment) for moment in path)
    return tuple(bead for bead in beads if links.nodes[bead].type != BeadType.EPIC)
