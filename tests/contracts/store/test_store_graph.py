"""What every store does with the graph: all or nothing, no circles, one truth about parents."""

import pytest

from nobrakes.beads.model import Bead, BeadType, Dependency, DependencyType, Status
from nobrakes.beads.readiness import deadlocks
from nobrakes.errors import BadBead, Deadlock, NoSuchBead
from nobrakes.events.kinds import Event, Kind
from nobrakes.store import Store
from tests.contracts.store.store_beads import PARENT, bead, epic, ready


def test_a_bead_comes_back_as_it_was_put(store: Store) -> None:
    given = Bead(
        "nb-1",
        "Title – ünïcode",
        BeadType.FIX,
        "text\nwith lines",
        ("one", "two"),
        1,
        ("a", "b"),
        None,
        45,
        True,
        True,
        ("src/**",),
        "notes",
        {"k": [1, {"x": None}]},
        created_at=5.0,
        updated_at=6.0,
    )
    store.put([given], [], "me")
    assert store.bead("nb-1") == given
    assert store.beads() == [given] == store.beads([Status.DRAFT]) == store.beads(ids=["nb-1"])
    assert store.beads([Status.DONE]) == store.beads(ids=["nb-2"]) == []
    assert [n.title for n in store.nodes()] == [given.title]


def test_put_writes_all_or_nothing(store: Store) -> None:
    store.put([bead("a")], [], "me")
    for beads, edges, error in (
        ([bead("b"), bead("a")], [], BadBead),
        ([bead("b"), bead("b")], [], BadBead),
        ([bead("b"), bead("x y")], [], BadBead),
        ([bead("b")], [Dependency("b", "ghost")], NoSuchBead),
        ([bead("b", epic="ghost")], [], NoSuchBead),
        ([bead("b")], [Dependency("b", "a"), Dependency("a", "b")], Deadlock),
        ([bead("b")], [Dependency("b", "b")], Deadlock),
        ([epic("b"), bead("c", epic="b")], [Dependency("c", "a"), Dependency("a", "b")], Deadlock),
        ([epic("e"), epic("f"), bead("b", epic="e")], [Dependency("b", "f", PARENT)], BadBead),
    ):
        with pytest.raises(error):
            store.put(beads, edges, "me")
    assert [one.id for one in store.beads()] == ["a"]
    assert len(store.events()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("count", [20, 400])
def test_a_small_and_a_large_import_count_alike(store: Store, count: int) -> None:
    beads = [epic("e")] + [bead(f"b{i:03}", epic="e", estimate=2) for i in range(count)]
    store.put(beads[::-1], [Dependency(f"b{i:03}", f"b{i - 1:03}") for i in range(1, count)], "me")
    assert ready(store) == ["b000"]
    circle = [Dependency("b000", f"b{count - 1:03}")]
    with pytest.raises(Deadlock):
        store.put([bead(f"more{i}") for i in range(count)], circle, "me")
    assert len(store.beads()) == count + 1


def test_a_bead_put_as_worked_on_waits_again(store: Store) -> None:
    store.put([bead("a", status=Status.DOING, assignee="Zoe", lease_until=9.0, fence=7)], [], "me")
    found = store.bead("a")
    assert (found.status, found.assignee, found.fence) == (Status.NEEDS_DOER, None, 7)
    assert ready(store) == ["a"]


def test_change_sets_fields_and_says_what_differed(store: Store) -> None:
    store.put([bead("a", labels=("x",))], [], "me")
    after = store.change("a", {"title": "New", "labels": ("x", "y"), "priority": 2}, "me")
    assert (after.title, after.labels) == ("New", ("x", "y")) == (store.bead("a").title, store.bead("a").labels)
    assert store.events()[-1].data == {
        "fields": {"title": {"before": "Do a", "after": "New"}, "labels": {"before": ["x"], "after": ["x", "y"]}}
    }
    store.change("a", {"title": "New"}, "me")
    assert len(store.events()) == 2
    for fields, error in (({"status": "done"}, BadBead), ({"priority": 9}, BadBead), ({"epic": "ghost"}, NoSuchBead)):
        with pytest.raises(error):
            store.change("a", fields, "me")


def test_epic_and_parent_child_are_one_fact(store: Store) -> None:
    store.put([epic("e"), epic("f"), bead("a"), bead("b", epic="e")], [Dependency("a", "e", PARENT)], "me")
    assert store.bead("a").epic == "e"
    assert store.dependencies("b") == [Dependency("b", "e", PARENT)]
    assert store.dependencies("e") == [Dependency("a", "e", PARENT), Dependency("b", "e", PARENT)]
    with pytest.raises(BadBead):
        store.add_dependency(Dependency("a", "f", PARENT), "me")
    store.remove_dependency(Dependency("a", "e", PARENT), "me")
    assert store.bead("a").epic is None
    store.change("a", {"epic": "f"}, "me")
    assert store.dependencies("a") == [Dependency("a", "f", PARENT)]
    with pytest.raises(Deadlock):
        store.change("f", {"epic": "a"}, "me")


def test_dependencies_come_and_go(store: Store) -> None:
    store.put([bead("a"), bead("b"), bead("c")], [Dependency("b", "a")], "me")
    store.add_dependency(Dependency("c", "b"), "me")
    store.add_dependency(Dependency("c", "a", DependencyType.RELATED), "me")
    store.add_dependency(Dependency("c", "b"), "me")
    before = store.dependencies()
    assert before == [Dependency("b", "a"), Dependency("c", "a", DependencyType.RELATED), Dependency("c", "b")]
    with pytest.raises(Deadlock, match="a -> c -> b -> a"):
        store.add_dependency(Dependency("a", "c"), "me")
    with pytest.raises(NoSuchBead):
        store.add_dependency(Dependency("a", "ghost"), "me")
    assert store.dependencies() == before
    store.remove_dependency(Dependency("b", "a"), "me")
    store.remove_dependency(Dependency("b", "a"), "me")
    assert ready(store) == ["b", "a"]
    kinds = [event.kind for event in store.events() if event.kind is not Kind.PROPOSED]
    assert kinds == [Kind.DEPENDENCY_ADDED] * 2 + [Kind.DEPENDENCY_REMOVED]


def test_reopening_may_not_close_a_circle(store: Store) -> None:
    store.put([bead("a"), bead("b", status=Status.DONE)], [Dependency("a", "b"), Dependency("b", "a")], "me")
    with pytest.raises(Deadlock):
        store.record(Event(Kind.REOPENED, "b"))
    assert store.bead("b").status is Status.DONE


def test_epics_that_weigh_nothing_may_not_wait_for_each_other(store: Store) -> None:
    store.put([epic("e"), epic("f"), epic("g", epic="e")], [Dependency("f", "e")], "me")
    for circle in (Dependency("e", "f"), Dependency("g", "f"), Dependency("e", "g"), Dependency("g", "e")):
        with pytest.raises(Deadlock):
            store.add_dependency(circle, "me")


def test_levels_and_events_of_some_kinds(store: Store) -> None:
    store.put([bead("a", estimate=30), bead("b", estimate=12), bead("c")], [Dependency("b", "a")], "me")
    assert store.levels(["a", "b"]) == {"a": 42, "b": 12} and store.levels([]) == {}
    store.change("a", {"title": "Another"}, "me")
    assert [event.kind for event in store.events(kinds=[Kind.CHANGED])] == [Kind.CHANGED]
    assert len(store.events(kinds=[Kind.PROPOSED], limit=2)) == 2 and len(store.events()) == 4


def test_what_was_connected_while_its_bead_was_done_is_cut_where_a_revert_makes_it_a_circle(store: Store) -> None:
    """A revert is a fact and is never refused; who is asked to reopen the bead by hand is."""
    store.put([bead("a"), bead("b"), bead("c")], [Dependency("b", "a"), Dependency("c", "b")], "me")
    store.record(Event(Kind.DONE_BY_HAND, "a"))
    store.add_dependency(Dependency("a", "c"), "me")
    with pytest.raises(Deadlock):
        store.record(Event(Kind.REOPENED, "a"))
    store.record(Event(Kind.REVERTED, "a"))
    assert deadlocks(store.nodes(), store.dependencies()) == []
    assert len(store.dependencies()) == 2 and store.differences() == {}
    told = [event for event in store.events(0, 100) if event.kind is Kind.DEPENDENCY_REMOVED]
    assert [event.actor for event in told] == ["nobrakes"]
    assert len(store.ready(10)) == 1, "and one of them can start"
