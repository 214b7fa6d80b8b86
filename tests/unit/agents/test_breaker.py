"""The circuit breaker: when a provider gets nowhere with a bead, and how a person lets it try again."""

import pytest

from nobrakes.agents.limits import Breaker, State, Thresholds, after, error_of, reset
from nobrakes.beads.model import TABLE, Outcome

LIMITS = Thresholds(without_progress=3, same_error=5)


def fails(breaker: Breaker, times: int, detail: str = "no", progress: bool = False) -> Breaker:
    for _ in range(times):
        breaker = after(breaker, Outcome.FAILED, detail, progress, LIMITS)
    return breaker


def test_three_failures_without_a_commit_open_it() -> None:
    assert fails(Breaker(), 2).state is State.CLOSED
    assert fails(Breaker(), 3).state is State.OPEN


def test_a_commit_is_progress() -> None:
    breaker = fails(fails(Breaker(), 2, "a"), 1, "b", progress=True)
    assert breaker.idle == 0 and fails(breaker, 2, "c").state is State.CLOSED


def test_the_same_error_five_times_opens_it_whatever_was_committed() -> None:
    assert fails(Breaker(), 4, progress=True).state is State.CLOSED
    assert fails(Breaker(), 5, progress=True).state is State.OPEN
    different = fails(fails(Breaker(), 4, "this", progress=True), 1, "that", progress=True)
    assert different.state is State.CLOSED and different.same == 1


def test_numbers_and_object_ids_do_not_make_errors_different() -> None:
    one, other = "line 12: 0xff3a at 1a2b3c4d\nmore", "line 7: 0x00 at 99aabbccdd\nother"
    assert error_of(Outcome.FAILED, one) == error_of(Outcome.FAILED, other)
    assert error_of(Outcome.FAILED, one) != error_of(Outcome.CRASHED, one)


def test_a_person_lets_one_more_try_through() -> None:
    half = reset(fails(Breaker(), 3))
    assert half.state is State.HALF_OPEN
    assert after(half, Outcome.FAILED, "other", True, LIMITS).state is State.OPEN
    assert after(half, Outcome.COMPLETED, "", True, LIMITS).state is State.CLOSED


@pytest.mark.parametrize("outcome", [o for o in Outcome if not TABLE[o].counts and o is not Outcome.COMPLETED])
def test_what_is_not_the_beads_failure_says_nothing(outcome: Outcome) -> None:
    for breaker in (Breaker(), fails(Breaker(), 2), fails(Breaker(), 3), reset(fails(Breaker(), 3))):
        assert after(breaker, outcome, "limit", False, LIMITS) == breaker


def test_there_is_nothing_to_reset_in_a_closed_one() -> None:
    assert reset(fails(Breaker(), 2)) == fails(Breaker(), 2)
