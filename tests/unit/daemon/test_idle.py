"""When a run that ends when it is idle may end: what waits with a time of its own is work to come."""

from typing import Any

import pytest

from nobrakes.beads.model import Attempt, Bead, Role, Status
from nobrakes.daemon.deciders import is_idle, look_again, may_pass
from nobrakes.daemon.model import Board
from nobrakes.review.journal import Journal, Step


def review(number: int, **journal: Any) -> Attempt:
    data = Journal(Step.VALIDATE_REBASED).with_values(**journal).as_data()
    return Attempt(number, f"b{number}", 1, Role.REVIEWER, f"r{number}", number, "", 0.0, data=data)


def board(*attempts: Attempt, **more: Any) -> Board:
    return Board(100.0, attempts=attempts, **more)


LOCK = {"waiting": "index.lock is held", "waiting_until": 101.0, "passing": True}
EDITS = {"waiting": "edits would be lost", "waiting_until": 105.0}


def test_what_may_pass_is_waited_for() -> None:
    assert not is_idle(board(review(1, **LOCK)))
    assert not is_idle(board(review(1, **LOCK), review(2)))
    assert not is_idle(board(review(1, **EDITS), review(2, **LOCK)))
    assert not is_idle(board(review(1, **LOCK), paused=True))


def test_what_only_a_person_can_end_is_idle_when_all_else_is_done() -> None:
    assert is_idle(board(review(1, **EDITS)))
    assert is_idle(board(review(1, **EDITS), review(2))), "who stands behind it cannot land either"
    waits = Bead("b9", "Nine", status=Status.NEEDS_REVIEW)
    assert is_idle(board(review(1, **EDITS), to_review=(waits,)))


def test_other_work_is_done_before_a_run_ends_for_a_person() -> None:
    ready = Bead("b9", "Nine", status=Status.NEEDS_DOER)
    assert not is_idle(board(review(1, **EDITS), ready=(ready,)))
    assert is_idle(board(review(1, **EDITS), ready=(ready,), paused=True))
    assert not is_idle(board(review(1, **EDITS), retry_at=130.0)), "a retry has a time of its own"


def test_reviews_that_wait_for_nothing_are_at_work() -> None:
    assert not is_idle(board(review(1)))


@pytest.mark.parametrize(("timeout", "now", "passes"), [(60.0, 100.0, True), (60.0, 160.0, False), (0.0, 100.0, False)])
def test_the_timeout_ends(timeout: float, now: float, passes: bool) -> None:
    assert may_pass(timeout, 100.0, now) is passes


def test_an_obstacle_is_looked_at_soon_and_then_less_often() -> None:
    assert [look_again(100.0, now, 60.0) for now in (100.0, 101.0, 108.0, 400.0)] == [1.0, 1.0, 8.0, 60.0]
