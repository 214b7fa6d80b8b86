"""Epics that are merged as a whole may wait for each other though their beads do not."""

from nobrakes.beads.graph import lift_to_epics, node_of
from nobrakes.beads.model import Bead, BeadType, Dependency, DependencyType, Status
from nobrakes.beads.readiness import deadlocks


def epic(name, above=None):
    return node_of(Bead(name, name, BeadType.EPIC, epic=above, status=Status.OPEN))


def task(name, above=None):
    return node_of(Bead(name, name, epic=above, status=Status.NEEDS_DOER))


def circles(nodes, *edges):
    inside = [Dependency(n.id, n.epic, DependencyType.PARENT_CHILD) for n in nodes if n.epic]
    dependencies = [*(Dependency(*edge) for edge in edges), *inside]
    assert not deadlocks(nodes, dependencies), "as beads they wait for nobody who waits for them"
    seen = lift_to_epics(nodes, dependencies)
    return [(circle, seen) for circle in deadlocks(nodes, list(seen))]


SHOP = [epic("shop"), task("s1", "shop"), task("s2", "shop"), epic("office"), task("o1", "office"), task("x")]


def test_one_direction_is_no_circle():
    assert circles(SHOP, ("s2", "s1"), ("o1", "s1"), ("x", "s2"), ("o1", "x")) == []


def test_both_directions_are_one_and_the_dependency_that_is_meant_is_told():
    ((found, seen),) = circles(SHOP, ("o1", "s1"), ("s2", "o1"))
    assert {*found.members} >= {"o1", "s2"} or {*found.members} >= {"shop", "office"}
    assert seen[found.cut] in {Dependency("o1", "s1"), Dependency("s2", "o1")}


def test_through_a_bead_of_no_epic_too():
    assert circles(SHOP, ("x", "s1"), ("s2", "x"))


def test_an_epic_within_waits_for_the_one_round_it():
    nodes = [epic("all"), task("a", "all"), epic("part", "all"), task("p", "part")]
    assert circles(nodes, ("p", "a"))
    assert circles(nodes, ("a", "p")) == []
