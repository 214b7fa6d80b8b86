"""When a bead may stand on the open request of one that it needs."""

import pytest

from nobrakes.beads.model import Bead, BeadType, Status
from nobrakes.requests.model import Blocker, between_looks, may_stack, next_look, waits_again

OPEN = Blocker("one", Status.REVIEWING)


def bead(status: Status = Status.NEEDS_DOER, stacks_on: str | None = None, type_: BeadType = BeadType.TASK) -> Bead:
    return Bead("two", "Two", type_, status=status, stacks_on=stacks_on)


def test_it_may_where_that_is_all_it_waits_for() -> None:
    assert may_stack(bead(), "one", [OPEN])
    assert may_stack(bead(Status.NEEDS_TESTS), "one", [OPEN, Blocker("old", Status.DONE, is_in=True)])
    assert may_stack(bead(Status.NEEDS_REVIEW), "one", [OPEN]), "a database that was lost does not know that it did"


@pytest.mark.parametrize(
    "other",
    [
        Blocker("other", Status.REVIEWING, is_in=True),
        Blocker("other", Status.NEEDS_DOER),
        Blocker("other", Status.LANDED, is_in=True),
        Blocker("other", Status.CANCELLED),
        Blocker("other", Status.DONE, is_in=False),
    ],
)
def test_it_waits_for_whatever_is_not_in_that_request(other: Blocker) -> None:
    assert not may_stack(bead(), "one", [OPEN, other])


def test_nobody_begins_on_what_was_given_up_though_its_request_is_open() -> None:
    assert not may_stack(bead(), "one", [Blocker("one", Status.CANCELLED)])


def test_nobody_stacks_twice_or_on_what_they_do_not_need() -> None:
    assert not may_stack(bead(stacks_on="old"), "one", [OPEN])
    assert not may_stack(bead(), "one", [Blocker("old", Status.DONE, is_in=True)])
    assert not may_stack(bead(type_=BeadType.EPIC), "one", [OPEN])


@pytest.mark.parametrize("status", [Status.DRAFT, Status.DOING, Status.REVIEWING, Status.ESCALATED, Status.DONE])
def test_it_begins_with_what_can_begin(status: Status) -> None:
    assert not may_stack(bead(status), "one", [OPEN])


def test_who_has_not_begun_waits_again_when_the_request_is_gone() -> None:
    assert waits_again(bead(stacks_on="one"), {"other"})
    assert not waits_again(bead(stacks_on="one"), {"one"})
    assert not waits_again(bead(Status.REVIEWING, stacks_on="one"), set()), "what was made on it comes to its end"


def test_the_looks_at_all_requests_fit_into_the_hosts_calls() -> None:
    assert between_looks(60.0, 1) == between_looks(60.0, 5) == 60.0
    assert between_looks(1.0, 1) == 1.0
    assert between_looks(60.0, 20) > 200.0


def test_where_nothing_happens_looks_are_rarer_and_never_more_often_than_is_set() -> None:
    assert next_look(60.0, 0.0) == next_look(60.0, 600.0) == 60.0
    assert next_look(60.0, 3000.0) == 300.0 and next_look(60.0, 90_000.0) == 600.0
    assert next_look(3600.0, 0.0) == next_look(3600.0, 90_000.0) == 3600.0
