"""What has landed on its epic's branch counts as done inside of that epic, and nowhere else."""

import pytest

from nobrakes.beads.model import Bead, BeadType, Dependency, DependencyType, Outcome, Role, Status
from nobrakes.daemon.model import Limits
from nobrakes.errors import NotAllowed
from nobrakes.events.kinds import Event, Kind


def live(name, epic=None):
    return Bead(name, name, epic=epic, needs_tests=False, status=Status.NEEDS_DOER)


@pytest.fixture
def shop(store):
    """one <- two in the epic, and one <- after outside of it."""
    beads = [
        Bead("shop", "Shop", BeadType.EPIC, status=Status.OPEN),
        Bead("other", "O", BeadType.EPIC, status=Status.OPEN),
    ]
    beads += [live("one", "shop"), live("two", "shop"), live("after"), live("elsewhere", "other")]
    store.put(beads, [Dependency(name, "one") for name in ("two", "after", "elsewhere")], "me")
    return store


def land(store, bead, kind=Kind.LANDED):
    for role, end in ((Role.DOER, Kind.WORK_SUBMITTED), (Role.REVIEWER, kind)):
        attempt = store.open_attempt(bead, role, "script", ["Ada"], 60.0, None)
        store.close_attempt(attempt, end, Outcome.COMPLETED, merged_commit="c0de")


def ready(store):
    assert store.differences() == {}
    return sorted(bead.id for bead in store.ready(100))


def test_inside_of_the_epic_it_counts_and_outside_only_done_does(shop):
    assert ready(shop) == ["one"]
    land(shop, "one")
    assert shop.bead("one").status is Status.LANDED and shop.bead("one").merged_commit is None
    assert ready(shop) == ["two"]
    shop.record(Event(Kind.FOUND_MERGED, "one", data={"merged_commit": "f00d"}))
    assert ready(shop) == ["after", "elsewhere", "two"]
    assert shop.bead("one").merged_commit == "f00d"


def test_what_is_taken_off_the_branch_holds_them_up_again(shop):
    land(shop, "one")
    shop.record(Event(Kind.REVERTED, "one"))
    assert ready(shop) == ["one"]


def test_who_moves_between_epics_sees_what_counts_there(shop):
    land(shop, "one")
    shop.change("after", {"epic": "shop"}, "me")
    assert ready(shop) == ["after", "two"]
    shop.change("two", {"epic": "other"}, "me")
    assert ready(shop) == ["after"]
    shop.remove_dependency(Dependency("two", "other", DependencyType.PARENT_CHILD), "me")
    assert ready(shop) == ["after"]
    shop.add_dependency(Dependency("two", "shop", DependencyType.PARENT_CHILD), "me")
    shop.add_dependency(Dependency("after", "two"), "me")
    assert ready(shop) == ["two"]


def test_it_cannot_leave_its_epic_nor_be_given_up(shop):
    land(shop, "one")
    with pytest.raises(NotAllowed, match="is merged into the branch of shop"):
        shop.change("one", {"epic": None}, "me")
    for kind in (Kind.CANCELLED, Kind.DONE_BY_HAND):
        with pytest.raises(NotAllowed, match="landed"):
            shop.record(Event(kind, "one"))
    assert shop.bead("one").epic == "shop"


def test_the_epic_is_to_be_reviewed_when_all_that_is_open_in_it_has_landed(shop):
    def landed():
        board = shop.board(Limits())
        assert not board.epics_done
        return board.epics_landed

    land(shop, "one")
    assert landed() == ()
    land(shop, "two")
    assert landed() == ("shop",)
    shop.record(Event(Kind.HELD, "shop", data={"reason": "wait"}))
    assert landed() == ()
    shop.record(Event(Kind.RELEASED, "shop"))
    shop.record(Event(Kind.EPIC_LANDED, "shop"))
    assert shop.bead("shop").status is Status.NEEDS_REVIEW and landed() == ()
    assert [bead.id for bead in shop.board(Limits()).to_review] == ["shop"]
