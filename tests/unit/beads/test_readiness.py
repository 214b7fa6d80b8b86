"""Readiness, deadlock and b-levels, as rules over plain values."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobrakes.beads.graph import Node
from nobrakes.beads.model import Dependency, DependencyType, Status
from nobrakes.beads.readiness import Why, deadlocks, explain
from tests.world.graph import b_levels, ready_beads

NOW = 1_000.0
LONG = 100_000


def node(id_: str, status: Status = Status.NEEDS_DOER, type_: str = "task", **more: Any) -> Node:
    fields: dict[str, Any] = {
        "title": id_,
        "priority": 2,
        "estimate": None,
        "epic": None,
        "held": None,
        "defer_until": None,
        "retry_at": None,
        "assignee": None,
    }
    return Node(id_, status, type_, **(fields | more))


def epic(id_: str, status: Status = Status.OPEN, **more: Any) -> Node:
    return node(id_, status, "epic", **more)


def child(bead: str, parent: str) -> Dependency:
    return Dependency(bead, parent, DependencyType.PARENT_CHILD)


def whys(nodes: list[Node], edges: list[Dependency], bead: str) -> list[Why]:
    return [reason.why for reason in explain(nodes, edges, NOW)[bead].reasons]


@pytest.mark.parametrize(
    ("bead", "reasons"),
    [
        (node("x"), []),
        (node("x", Status.NEEDS_TESTS), []),
        (node("x", retry_at=NOW, defer_until=NOW), []),
        (node("x", Status.DRAFT), [Why.DRAFT]),
        (epic("x"), [Why.EPIC]),
        (node("x", held="think"), [Why.HELD]),
        (node("x", defer_until=NOW + 1), [Why.DEFERRED]),
        (node("x", retry_at=NOW + 1), [Why.RETRY]),
        (node("x", Status.DOING, assignee="Ada"), [Why.ASSIGNED, Why.ASSIGNED]),
        (node("x", Status.NEEDS_REVIEW), [Why.IN_REVIEW]),
        (node("x", Status.REVIEWING), [Why.IN_REVIEW]),
        (node("x", Status.ESCALATED), [Why.ESCALATED]),
        (node("x", Status.DONE, held="old"), [Why.DONE]),
        (node("x", Status.CANCELLED), [Why.CANCELLED]),
        (node("x", Status.DRAFT, held="a", retry_at=NOW + 9), [Why.DRAFT, Why.HELD, Why.RETRY]),
    ],
)
def test_every_reason_is_named(bead: Node, reasons: list[Why]) -> None:
    assert whys([bead], [], "x") == reasons
    assert ready_beads([bead], [], NOW) == ([] if reasons else ["x"])


@pytest.mark.parametrize("status", list(Status))
def test_only_a_done_blocker_counts_as_done(status: Status) -> None:
    found = whys([node("x"), node("b", status)], [Dependency("x", "b")], "x")
    expected = {Status.DONE: [], Status.CANCELLED: [Why.BLOCKED_FOR_EVER]}.get(status, [Why.BLOCKED])
    assert found == expected


def test_a_missing_blocker_blocks_for_ever_and_says_so() -> None:
    (reason,) = explain([node("x")], [Dependency("x", "ghost")], NOW)["x"].reasons
    assert reason.why is Why.BLOCKED_FOR_EVER
    assert "ghost" in reason.text and "does not exist" in reason.text and "remove or replace" in reason.text


def test_other_types_of_dependency_block_nothing() -> None:
    edges = [Dependency("x", "b", type_) for type_ in (DependencyType.RELATED, DependencyType.DISCOVERED_FROM)]
    assert ready_beads([node("x"), node("b")], edges, NOW) == ["b", "x"]


@pytest.mark.parametrize(
    "parent",
    [
        epic("p", Status.DRAFT),
        epic("p", Status.CANCELLED),
        epic("p", held="budget"),
        epic("p", defer_until=NOW + 1),
        epic("p", epic="nowhere"),
    ],
)
def test_a_closed_off_parent_closes_off_all_below(parent: Node) -> None:
    nodes = [parent, epic("q", epic="p"), node("x", epic="q")]
    assert whys(nodes, [], "x") == [Why.PARENT]
    assert ready_beads(nodes, [], NOW) == []


def test_a_blocked_parent_is_named_with_its_cause() -> None:
    nodes = [node("b", Status.DOING), epic("p"), epic("q", epic="p"), node("x", epic="q")]
    (reason,) = explain(nodes, [Dependency("p", "b")], NOW)["x"].reasons
    assert reason.why is Why.PARENT
    assert reason.text == "its parent q cannot continue: p is blocked by b (doing)"


@pytest.mark.parametrize("status", [Status.OPEN, Status.DONE])
def test_an_open_or_done_parent_closes_nothing_off(status: Status) -> None:
    assert ready_beads([epic("p", status), node("x", epic="p")], [], NOW) == ["x"]


def test_a_parent_child_dependency_and_the_epic_field_are_one_fact() -> None:
    by_row = ([epic("p", held="h"), node("x")], [child("x", "p")])
    by_field = ([epic("p", held="h"), node("x", epic="p")], [])
    both = ([epic("p", held="h"), node("x", epic="p")], [child("x", "p")])
    assert whys(*by_row, "x") == whys(*by_field, "x") == whys(*both, "x") == [Why.PARENT]


# --- deadlock ------------------------------------------------------------------------------------


def test_beads_that_wait_for_each_other() -> None:
    (circle,) = deadlocks([node("a"), node("b"), node("c")], [Dependency("a", "b"), Dependency("b", "a")])
    assert set(circle.members) == {"a", "b"}
    assert circle.cut == Dependency("a", "b")
    assert circle.stuck == ("a", "b")


def test_an_epic_that_needs_its_own_child() -> None:
    nodes = [epic("e"), node("c", epic="e"), node("d", epic="e"), node("after")]
    (circle,) = deadlocks(nodes, [Dependency("e", "c"), Dependency("after", "e")])
    assert circle.cut == Dependency("e", "c")
    assert circle.stuck == ("after", "c", "d", "e")


def test_a_child_that_needs_its_own_epic() -> None:
    (circle,) = deadlocks([epic("e"), node("c", epic="e")], [Dependency("c", "e")])
    assert circle.cut == Dependency("c", "e")


def test_a_parent_that_is_no_epic_ends_without_its_children() -> None:
    assert deadlocks([node("p"), node("c", epic="p")], [Dependency("c", "p")]) == []


@pytest.mark.parametrize("status", [Status.DONE, Status.CANCELLED])
def test_closed_beads_deadlock_nobody(status: Status) -> None:
    assert deadlocks([node("a"), node("b", status)], [Dependency("a", "b"), Dependency("b", "a")]) == []


def test_the_cut_frees_the_most() -> None:
    # two circles share the edge a -> b: one cut opens both
    edges = [Dependency(x, y) for x, y in ("ab", "bc", "ca", "bd", "da")]
    (circle,) = deadlocks([node(x) for x in "abcd"], edges)
    assert circle.cut == Dependency("a", "b")


def test_a_blocks_edge_is_cut_before_a_parent() -> None:
    (circle,) = deadlocks([epic("a"), node("z", epic="a")], [Dependency("a", "z")])
    assert circle.cut.type is DependencyType.BLOCKS


def test_a_deadlocked_bead_is_told_what_to_remove() -> None:
    nodes = [node("a"), node("b"), node("behind")]
    edges = [Dependency("a", "b"), Dependency("b", "a"), Dependency("behind", "a")]
    reason = explain(nodes, edges, NOW)["behind"].reasons[-1]
    assert reason.why is Why.DEADLOCKED and reason.cut == Dependency("a", "b")
    assert "remove 'a depends on b'" in reason.text


graphs = st.lists(
    st.tuples(
        st.integers(0, 7), st.integers(0, 7), st.sampled_from([DependencyType.BLOCKS, DependencyType.PARENT_CHILD])
    ),
    max_size=14,
)


def _worked_off(nodes: list[Node], edges: list[Dependency]) -> set[str]:
    """By doing it: start and end whatever can be, until nothing moves; the beads that never start."""
    epics = {n.id for n in nodes if n.type == "epic"}
    started: set[str] = set()
    done: set[str] = set()
    blocks = [(e.bead, e.needs) for e in edges if e.type is DependencyType.BLOCKS]
    inside = [(e.bead, e.needs) for e in edges if e.type is DependencyType.PARENT_CHILD]
    moved = True
    while moved:
        moved = False
        for bead in {n.id for n in nodes}:
            free = all(y in done for x, y in blocks if x == bead) and all(y in started for x, y in inside if x == bead)
            if bead not in started and free:
                started.add(bead)
                moved = True
            whole = bead not in epics or all(x in done for x, y in inside if y == bead)
            if bead in started and bead not in done and whole:
                done.add(bead)
                moved = True
    return {n.id for n in nodes} - started


@given(graphs, st.sets(st.integers(0, 7)))
def test_stuck_is_what_working_it_off_leaves_and_the_cuts_free_it(raw: Any, epics: set[int]) -> None:
    nodes = [epic(f"n{i}") if i in epics else node(f"n{i}") for i in range(8)]
    edges = list(dict.fromkeys(Dependency(f"n{a}", f"n{b}", type_) for a, b, type_ in raw))
    found = deadlocks(nodes, edges)
    stuck = {bead for circle in found for bead in circle.stuck}
    assert stuck == _worked_off(nodes, edges)
    assert all(circle.cut in circle.edges and set(circle.edges) <= set(edges) for circle in found)
    cuts = {circle.cut for circle in found}
    assert len(cuts) == len(found)
    assert deadlocks(nodes, [edge for edge in edges if edge not in cuts]) == []
    assert deadlocks(nodes[::-1], edges[::-1]) == found


# --- b-levels ------------------------------------------------------------------------------------


def test_b_level_is_the_critical_path_of_minutes_behind() -> None:
    nodes = [node("a", estimate=30), node("b"), node("c", estimate=60), node("d", estimate=5)]
    edges = [Dependency("b", "a"), Dependency("c", "b"), Dependency("d", "a")]
    assert b_levels(nodes, edges) == {"a": 122, "b": 92, "c": 60, "d": 5}, "b takes the mean of the others"


def test_epics_pass_through_to_what_they_block() -> None:
    nodes = [node("b"), epic("e"), node("c", epic="e", estimate=10), node("after", estimate=7)]
    levels = b_levels(nodes, [Dependency("after", "e"), Dependency("e", "b")])
    assert levels == {"after": 7, "c": 17, "e": 17, "b": 26}


def test_what_is_closed_weighs_nothing() -> None:
    nodes = [node("a"), node("b", Status.DONE, estimate=50), node("c", estimate=20)]
    assert b_levels(nodes, [Dependency("b", "a"), Dependency("c", "b")]) == {"a": 35, "b": 0, "c": 20}


@pytest.mark.slow
def test_a_chain_of_a_hundred_thousand_beads() -> None:
    nodes = [node(f"n{i:06}") for i in range(LONG)]
    edges = [Dependency(f"n{i + 1:06}", f"n{i:06}") for i in range(LONG - 1)]
    assert b_levels(nodes, edges)["n000000"] == LONG
    assert deadlocks(nodes, edges) == []


@pytest.mark.slow
def test_a_circle_of_twenty_thousand_beads() -> None:
    nodes = [node(f"n{i:06}") for i in range(20_000)]
    edges = [Dependency(f"n{(i + 1) % 20_000:06}", f"n{i:06}") for i in range(20_000)]
    (circle,) = deadlocks(nodes, edges)
    assert len(circle.stuck) == len(circle.members) == 20_000


@pytest.mark.slow
def test_epics_nested_a_hundred_thousand_deep() -> None:
    nodes = [epic("n000000", held="wait")] + [epic(f"n{i:06}", epic=f"n{i - 1:06}") for i in range(1, LONG)]
    assert whys(nodes, [], f"n{LONG - 1:06}") == [Why.EPIC, Why.PARENT]
