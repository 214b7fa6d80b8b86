"""Which beads are reviewed next. Several reviews may be open: their candidates stand on one another (core.train), and
what lands was tested as it lands (core.queue).
"""

from ..actions import Action, StartReview
from ..bead import Role
from ..board import Board
from ..train import at_once
from ..trial import REPAIR


def plan(board: Board) -> list[Action]:
    """The reviews to start now: the first of those that wait, as many as may be open; on a red main, of repairs."""
    if board.paused or board.stopping:
        return []
    waiting = [bead for bead in board.to_review if not board.frozen or bead.type == REPAIR]
    opened = sum(attempt.role is Role.REVIEWER for attempt in board.attempts)
    free = max(0, at_once(board.limits.queue, board.pace) - opened)
    return [StartReview(bead.id) for bead in waiting[:free]]
