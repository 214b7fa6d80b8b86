"""Whether anything is left to do: when a run that ends when it is idle may end.

1. What waits with a time of its own is not idle: a retry, a remote that did not answer, somebody's index.lock.
2. What only a person can end is idle as soon as there is nothing else to do.
3. What waits for a place that another repository holds is not idle: its agents end by themselves.
4. Whatever may pass by itself is waited for until its patience is over. From then on it is a person's matter.
"""

from dataclasses import replace

from . import turns
from .beads.bead import Role
from .board import Board
from .limits import caps, machine
from .review.journal import Journal

SOON = 1.0
"""Seconds after which an obstacle that may pass is looked at again for the first time."""


def is_idle(board: Board) -> bool:
    """Whether nothing is left that this machine could do without a person."""
    if board.talks or board.turn_runs:
        return False
    if board.attempts or board.runs:
        # who is to be reviewed stands behind those that wait
        return _wait_for_a_person(board) and is_idle(replace(board, attempts=(), runs={}, to_review=()))
    if board.paused or board.stopping:
        return True
    to_review = bool(board.reviewable)  # while main is red the others wait for it to be green
    epics = board.epics_done or board.epics_landed
    if machine.needs_person(board.machine):
        return not (to_review or epics)
    unlimited = replace(board, machine=machine.without_places(board.machine))
    if turns.plan(unlimited) or any(one.retry_at is not None for one in board.sessions):
        return False
    if any(one.until is None for one in caps.reached(board.limits.caps, board.spent, board.now)):
        return not (to_review or epics)  # the run's cap never ends by itself
    return not (board.ready or to_review or epics or board.retry_at is not None)


def _wait_for_a_person(board: Board) -> bool:
    """Whether all that is open are reviews that cannot go on before a person did something."""
    reviews = [Journal.of(a.data) for a in board.attempts if a.role is Role.REVIEWER]
    waits = [journal for journal in reviews if journal.waiting]
    is_all = len(reviews) == len(board.attempts) and not board.runs
    return is_all and bool(waits) and not any(journal.passing for journal in waits)


def may_pass(patience: float, since: float, now: float) -> bool:
    """Whether an obstacle that is there since then, and may pass for so many seconds, needs no person so far."""
    return patience > 0 and now < since + patience


def look_again(since: float, now: float, most: float) -> float:
    """Seconds until an obstacle that may pass is looked at again: soon at first, then as long as it lasts already."""
    return min(most, max(SOON, now - since))
