"""Whether anything is left to do: when a run that ends when it is idle may end."""

from . import caps
from .bead import Role
from .board import Board
from .reviewer import Journal


def is_idle(board: Board) -> bool:
    """Whether nothing is left that this machine could do without a person."""
    if board.attempts or board.runs:
        waits = [Journal.of(a.data).waiting for a in board.attempts if a.role is Role.REVIEWER]
        only_waits = len(waits) == len(board.attempts) and any(waits) and not board.runs
        return only_waits and (not board.ready or board.paused)
    if board.paused or board.stopping:
        return True
    to_review = board.to_review and not board.frozen  # else they wait for main to be green
    if any(one.until is None for one in caps.reached(board.limits.caps, board.spent, board.now)):
        return not (to_review or board.epics_done)  # the run's cap never ends by itself
    return not (board.ready or to_review or board.epics_done or board.retry_at is not None)
