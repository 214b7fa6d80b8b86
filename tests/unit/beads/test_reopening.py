"""A closed bead comes back unless it closes a circle; whether it does is seen near it, in a graph of any size."""

import random
from itertools import pairwise

import pytest

from nobrakes.beads.db import importing, levels
from nobrakes.beads.graph import Links
from nobrakes.beads.model import CLOSED, Bead, BeadType, Dependency, DependencyType, Status
from nobrakes.beads.readiness import circles
from nobrakes.errors import Deadlock, NobrakesError
from nobrakes.events.kinds import Event, Kind
from nobrakes.store import open_memory
from tests.support.dose import everyday

CHILD = DependencyType.PARENT_CHILD


def tangled(rng):
    """A graph in which closed beads hide circles."""
    store = open_memory()
    names = [f"b{n:02}" for n in range(14)]
    store.put([Bead(n, n, BeadType.EPIC if int(n[1:]) % 4 == 0 else BeadType.TASK) for n in names], [], "me")
    store.approve(names, "me")
    for step in range(60):
        bead, needs = rng.sample(names, 2)
        try:
            if step % 9 == 8:
                store.record(Event(Kind.CANCELLED, bead, actor="me"))
            else:
                store.add_dependency(
                    Dependency(bead, needs, CHILD if rng.random() < 0.25 else DependencyType.BLOCKS), "me"
                )
        except NobrakesError:
            pass  # it closed a circle, or is in another epic
    return store


def refused(store, bead):
    try:
        importing.refuse_reopening(store, bead)
    except Deadlock:
        return True
    return False


@pytest.mark.parametrize("seed", everyday(*range(10), ci=range(10, 60)))
def test_what_closes_a_circle_is_refused_and_nothing_else(seed):
    store = tangled(random.Random(seed))
    nodes, edges = store.nodes(), store.dependencies()
    for node in nodes:
        if node.status in CLOSED:
            opened = [one._replace(status=Status.OPEN) if one.id == node.id else one for one in nodes]
            assert refused(store, node.id) is bool(circles(Links(opened, edges))), node.id


def test_while_levels_lag_it_is_looked_for_everywhere(monkeypatch):
    store = tangled(random.Random(7))
    found = [refused(store, node.id) for node in store.nodes() if node.status in CLOSED]
    assert True in found
    monkeypatch.setattr(levels, "is_due", lambda db: True)
    assert [refused(store, node.id) for node in store.nodes() if node.status in CLOSED] == found


def test_a_bead_at_the_end_of_a_long_graph_is_not_searched_for_in_all_of_it(monkeypatch):
    store = open_memory()
    names = [f"b{n:04}" for n in range(2000)]
    store.put([Bead(n, n) for n in names], [Dependency(b, a) for a, b in pairwise(names)], "me")
    store.put([Bead("after", "After")], [Dependency("after", names[-1])], "me")
    store.record(Event(Kind.CANCELLED, names[-1], actor="me"))
    asked = []
    real = importing._edges
    monkeypatch.setattr(importing, "_edges", lambda db, moment, own: asked.append(moment) or real(db, moment, own))
    store.record(Event(Kind.REOPENED, names[-1], actor="me"))
    assert len(asked) < 10
