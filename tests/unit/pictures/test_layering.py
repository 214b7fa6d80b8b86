"""Generations and circles are what networkx says of the same graph, and a layout is the same as by plain search."""

import random

import networkx as nx
import pytest

from nobrakes.beads.graph import Node
from nobrakes.beads.model import Dependency, DependencyType, Status
from nobrakes.pictures.layout import break_circles, generations, layout, picture
from tests.support.dose import everyday


def as_networkx(before):
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(before)))
    graph.add_edges_from((earlier, number) for number, row in enumerate(before) for earlier in row)
    return graph


def without_circles(graph):
    """The rule, said with networkx: of each knot, the one that least waits for the others begins."""
    while True:
        knots = [sorted(part) for part in nx.strongly_connected_components(graph) if len(part) > 1]
        if not knots:
            return graph
        for knot in knots:
            inside = graph.subgraph(knot)
            first = min(knot, key=lambda n: (inside.in_degree(n) - inside.out_degree(n), n))
            graph.remove_edges_from(list(inside.in_edges(first)))


@pytest.mark.parametrize("seed", everyday(*range(20), ci=range(20, 150)))
def test_circles_are_broken_where_the_rule_says(seed):
    rng = random.Random(seed)
    size = rng.randint(1, 30)
    pairs = {(rng.randrange(size), rng.randrange(size)) for _ in range(rng.randint(0, 3 * size))}
    before = [[a for a, b in sorted(pairs) if b == number and a != b] for number in range(size)]
    wanted = without_circles(as_networkx(before))
    rows = generations(before)
    break_circles(before, set(range(size)).difference(*rows))
    assert set(as_networkx(before).edges) == set(wanted.edges)
    rows = generations(before)
    assert [set(row) for row in rows] == [set(row) for row in nx.topological_generations(wanted)]


def by_medians(found, rows):
    """The order inside the layers of a picture without epics, said as plainly as it can be."""
    needs = [(arrow.source, arrow.target) for arrow in found.arrows]
    for forward in (True, False) * 3:
        for number in range(1, len(rows)) if forward else range(len(rows) - 2, -1, -1):
            place = {id_: step for step, id_ in enumerate(rows[number - 1 if forward else number + 1])}
            middle = {}
            for step, id_ in enumerate(rows[number]):
                near = [s if forward else t for s, t in needs if (t if forward else s) == id_]
                at = sorted(place[n] for n in near if n in place)
                middle[id_] = (at[(len(at) - 1) // 2] + at[len(at) // 2]) / 2 if at else step
            rows[number] = sorted(rows[number], key=lambda id_: (middle[id_], id_))
    return rows


@pytest.mark.parametrize("seed", everyday(*range(10), ci=range(10, 40)))
def test_the_order_in_a_layer_is_by_medians(seed):
    rng = random.Random(seed)
    ids = [f"b{n:02}" for n in range(rng.randint(2, 40))]
    nodes = [Node(i, Status.NEEDS_DOER, "task", i, 2, None, None, None, None, None, None) for i in ids]
    pairs = {tuple(sorted(rng.sample(ids, 2))) for _ in range(rng.randint(1, 60))}
    found = picture(nodes, [Dependency(b, a, DependencyType.BLOCKS) for a, b in pairs], frozenset())
    graph = nx.DiGraph(pairs)
    graph.add_nodes_from(ids)
    rows = [sorted(row) for row in nx.topological_generations(graph)]
    assert layout(found).layers == tuple(map(tuple, by_medians(found, rows)))
