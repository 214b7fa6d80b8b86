"""Who stands still until a person, or a time, lets them go on: at most so many of a kind are named, all are counted."""

from typing import Any

from nobrakes.beads.model import Dependency, Outcome, Status
from nobrakes.beads.work_status import STANDSTILL_SHOWN
from nobrakes.daemon.model import Limits
from nobrakes.events.kinds import Event, Kind
from nobrakes.store import Store
from tests.contracts.store.store_beads import bead, claim, epic


def test_each_kind_is_named_once_and_what_is_closed_holds_nobody_up(store: Store, clock: Any) -> None:
    names = ("held", "later", "rests", "gone", "behind", "over")
    store.put(
        [*map(bead, names), epic("empty"), epic("old"), bead("child", epic="old")],
        [Dependency("behind", "gone"), Dependency("over", "gone")],
        "me",
    )
    store.close_attempt(claim(store, "rests"), Kind.DOER_STOPPED, Outcome.NETWORK, retry_at=clock.time + 30)
    store.record(Event(Kind.HELD, "held", data={"reason": "think"}))
    store.record(Event(Kind.DEFERRED, "later", data={"until": clock.time + 50}))
    for one in ("over", "gone", "old"):
        store.record(Event(Kind.CANCELLED, one, data={"reason": "no"}))
    found = store.standstill()
    assert [(node.id, node.held) for node in found.held] == [("held", "think")]
    assert [node.id for node in found.deferred] == ["later"] and [node.id for node in found.resting] == ["rests"]
    assert found.cancelled_blockers == (("behind", "gone"),)
    assert found.empty_epics == ("empty",)
    assert set(found.counts.values()) <= {0, 1}
    clock.time += 60
    store.record(Event(Kind.RELEASED, "held"))
    store.record(Event(Kind.REOPENED, "gone"))
    after = store.standstill()
    assert (after.held, after.deferred, after.resting, after.cancelled_blockers) == ((), (), (), ())


def test_an_epic_whose_beads_are_all_cancelled_is_empty_and_one_with_a_done_or_open_bead_is_not(store: Store) -> None:
    children = [bead(f"{name}-{n}", epic=name) for name in ("dead", "ends", "goes") for n in (1, 2)]
    store.put([epic("dead"), epic("ends"), epic("goes"), *children], [], "me")
    for one in ("dead-1", "dead-2", "ends-1", "goes-1"):
        store.record(Event(Kind.CANCELLED, one, data={"reason": "no"}))
    store.record(Event(Kind.DONE_BY_HAND, "ends-2", data={"reason": "by hand"}))
    assert store.board(Limits(), 9).epics_done == ("ends",), "it ends by itself"
    found = store.standstill()
    assert found.empty_epics == ("dead",) and found.counts["empty_epics"] == 1
    store.record(Event(Kind.REOPENED, "dead-1"))
    assert store.standstill().empty_epics == ()


def test_many_are_counted_and_the_most_urgent_are_named(store: Store) -> None:
    store.put([bead(f"b{n:02}", priority=4 if n < 20 else 0) for n in range(STANDSTILL_SHOWN + 10)], [], "me")
    for n in range(STANDSTILL_SHOWN + 10):
        store.record(Event(Kind.HELD, f"b{n:02}", data={"reason": "think"}))
    found = store.standstill()
    assert len(found.held) == STANDSTILL_SHOWN and found.counts["held"] == STANDSTILL_SHOWN + 10
    assert [node.id for node in found.held[:2]] == ["b20", "b21"]


def test_what_agents_will_be_started_for_is_each_kind_once(store: Store) -> None:
    assert store.standstill().wanted == ()
    store.put([bead("a"), bead("b"), epic("e")], [], "me")
    assert store.standstill().wanted == ((store.bead("a").status, "task"),)
    assert store.bead("a").status in (Status.NEEDS_DOER, Status.NEEDS_TESTS)
