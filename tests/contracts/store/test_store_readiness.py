"""Which beads every store calls ready, and in which order."""

from dataclasses import replace
from typing import Any

import pytest

from nobrakes.beads.model import BeadType, Dependency, Outcome, Role, Status
from nobrakes.daemon.model import Limits
from nobrakes.errors import NotAllowed
from nobrakes.events.kinds import Event, Kind
from nobrakes.store import Store
from tests.contracts.store.store_beads import NAMES, bead, claim, epic, finish, ready


def test_the_order_is_class_then_chain_then_who_waits_then_that_of_the_source(store: Store, clock: Any) -> None:
    store.put([bead("old")], [], "me")
    clock.time += 1
    store.put([bead("z"), bead("y"), bead("long", estimate=9), bead("first", priority=0)], [], "me")
    store.put([bead("w", estimate=9)], [], "me")
    for other in ("x1", "x2"):
        store.put([bead(other, status=Status.DRAFT)], [Dependency(other, "w")], "me")
    store.put([bead("x3", status=Status.DRAFT)], [Dependency("x3", "long")], "me")
    assert ready(store) == ["first", "w", "long", "old", "z", "y"]


def test_of_equals_the_one_whose_blocker_was_done_last_goes_first(store: Store, clock: Any) -> None:
    store.put([bead("free"), bead("z"), bead("y"), bead("late"), bead("one"), bead("two")], [], "me")
    for waiting, needed in (("late", "two"), ("y", "one"), ("z", "one")):
        store.add_dependency(Dependency(waiting, needed), "me")
    assert ready(store) == ["one", "two", "free"], "one blocks two"
    for needed in ("one", "two"):
        clock.time += 1
        finish(store, needed)
    assert ready(store) == ["late", "z", "y", "free"], "those that were freed together are in the source's order"
    clock.time += 1
    store.remove_dependency(Dependency("late", "two"), "me")
    store.record(Event(Kind.HELD, "late", data={"reason": "think"}))
    store.record(Event(Kind.RELEASED, "late"))
    store.put([bead("a")], [], "me")
    assert ready(store) == ["late", "z", "y", "free", "a"], "only work frees"


@pytest.mark.parametrize("many", [30, 300])
def test_beads_of_one_source_are_listed_and_begun_in_its_order(store: Store, clock: Any, many: int) -> None:
    ids = [f"b{(number * 7919) % 1000}" for number in range(many)]
    store.put([bead(id_, held="h" if number % 9 == 8 else None) for number, id_ in enumerate(ids)], [], "me")
    clock.time += many / 1e5
    store.put([bead("a", status=Status.DRAFT)], [], "me")
    free = [id_ for number, id_ in enumerate(ids) if number % 9 != 8]
    assert [one.id for one in store.ready(many)] == free == [node.id for node in store.column("ready", many)]
    assert sorted(store.ready_ids()) == sorted(free)
    assert store.listed() == [*ids, "a"] == [one.id for one in store.beads()]
    assert store.listed([Status.DRAFT]) == ["a"]
    assert [node.id for node in store.around([*ids])[0]] == ids


def test_each_bead_rises_a_class_a_day_after_it_became_ready(store: Store, clock: Any) -> None:
    """Not when it was made, not at midnight, and the longest chain decides inside of a class."""
    day = 24 * 3600
    store.put([bead("a", priority=2, estimate=5), bead("b", priority=2, estimate=5, status=Status.DRAFT)], [], "me")
    clock.time += day - 10
    store.record(Event(Kind.APPROVED, "b"))
    store.put([bead("c", priority=1, estimate=50)], [], "me")
    assert ready(store) == ["c", "a", "b"]
    clock.time += 10
    assert ready(store) == ["c", "a", "b"], "a competes with c, and c has more behind it"
    clock.time += day - 10
    assert ready(store) == ["c", "a", "b"]
    store.put([bead("new", priority=0, estimate=10)], [], "me")
    assert ready(store) == ["c", "new", "a", "b"], "c waited a day, and stands beside what is most urgent"


def test_done_lets_those_behind_in_and_cancelled_does_not(store: Store) -> None:
    store.put([bead("a"), bead("b"), bead("c")], [Dependency("b", "a"), Dependency("c", "b")], "me")
    finish(store, "a")
    assert ready(store) == ["b"]
    store.record(Event(Kind.CANCELLED, "b", data={"reason": "no"}))
    assert ready(store) == []
    store.record(Event(Kind.REOPENED, "b"))
    store.record(Event(Kind.DONE_BY_HAND, "b"))
    assert ready(store) == ["c"]


def test_a_parent_that_is_held_deferred_or_blocked_closes_its_children_off(store: Store, clock: Any) -> None:
    store.put([bead("b"), epic("e"), epic("f", epic="e"), bead("a", epic="f")], [], "me")
    store.record(Event(Kind.HELD, "e", data={"reason": "think"}))
    assert ready(store) == ["b"]
    store.record(Event(Kind.RELEASED, "e"))
    assert ready(store) == ["b", "a"]
    store.record(Event(Kind.DEFERRED, "e", data={"until": clock.time + 50}))
    assert ready(store) == ["b"]
    assert store.board(Limits()).wake_at == clock.time + 50
    clock.time += 50
    assert ready(store) == ["b", "a"]
    store.add_dependency(Dependency("e", "b"), "me")
    assert ready(store) == ["b"]
    finish(store, "b")
    assert ready(store) == ["a"]


def test_a_red_main_shows_what_repairs_it_and_what_is_for_another_branch(store: Store) -> None:
    waits = Status.NEEDS_REVIEW
    store.put([epic("old"), epic("within", epic="old"), epic("shop")], [], "me")
    beads = [bead("a", epic="old"), bead("b", epic="within"), bead("c", epic="shop"), bead("d")]
    store.put([replace(one, status=waits) for one in (*beads, bead("r", type=BeadType.REPAIR))], [], "me")

    def seen(*elsewhere: str) -> tuple[list[str], list[str]]:
        board = store.board(Limits(elsewhere=elsewhere))
        return sorted(one.id for one in board.reviewable), sorted(board.elsewhere)

    assert seen("old") == (["a", "b", "c", "d", "r"], [])
    store.set_setting("frozen", "0" * 40)
    assert seen() == (["r"], [])
    assert seen("old") == (["a", "b", "r"], ["a", "b"]), "whatever stands before them"


def test_a_retry_is_waited_for(store: Store, clock: Any) -> None:
    store.put([bead("a")], [], "me")
    store.close_attempt(claim(store, "a"), Kind.DOER_STOPPED, Outcome.NETWORK, retry_at=clock.time + 30)
    board = store.board(Limits())
    assert (board.ready, board.wake_at, board.retry_at) == ((), clock.time + 30, clock.time + 30)
    assert store.open_attempt("a", Role.DOER, "script", NAMES, 60.0, None) is None
    clock.time += 30
    assert [one.id for one in store.board(Limits()).ready] == ["a"]
    assert store.board(Limits()).wake_at is None


def test_approve_makes_all_or_none_live(store: Store) -> None:
    store.put([bead("a", status=Status.DRAFT), bead("b", status=Status.DRAFT), bead("c")], [], "me")
    with pytest.raises(NotAllowed):
        store.approve(["a", "c"], "me")
    assert store.bead("a").status is Status.DRAFT
    store.approve(["a", "b"], "me")
    assert ready(store) == ["c", "a", "b"] or ready(store) == ["a", "b", "c"]


def test_epics_are_complete_when_their_children_are_closed(store: Store) -> None:
    store.put([epic("empty"), epic("e"), bead("a", epic="e"), bead("b", epic="e")], [], "me")
    store.put([epic("dropped"), bead("c", epic="dropped")], [], "me")
    finish(store, "a")
    store.record(Event(Kind.CANCELLED, "c"))
    assert store.board(Limits()).epics_done == ()
    with pytest.raises(NotAllowed):
        store.record(Event(Kind.EPIC_COMPLETED, "e"))
    store.record(Event(Kind.CANCELLED, "b"))
    assert store.board(Limits()).epics_done == ("e",)
    store.record(Event(Kind.EPIC_COMPLETED, "e"))
    assert store.bead("e").status is Status.DONE
    assert store.board(Limits()).epics_done == ()


def test_what_those_at_work_may_change_is_told_while_others_touch_something(store: Store) -> None:
    store.put([bead("a", touches=("src/till/**",)), bead("b", touches=("docs/**",)), bead("c")], [], "me")
    assert store.board(Limits()).taken == {}
    claim(store, "a")
    claim(store, "c")
    assert store.board(Limits()).taken == {"a": ("src/till/**",)}
