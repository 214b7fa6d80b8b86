"""The Assigner: which bead gets an agent next. Same board, same answer.

1. Beads come in the store's order: priority class lowered by one for each ageing period waited, then b-level
   (the longest chain of work behind), then age, then id. The order is a static key, so it is an index.
2. Nothing is started while paused or stopping, or beyond the limit of Doers.
3. A review is never held back by agents: it has its own slot (core.reviewer).
"""

from .actions import Action, CompleteEpic, StartAgent
from .bead import Role, Status
from .board import Board

AGEING_SECONDS = 24 * 3600.0
"""A bead that waited this long competes one priority class higher, so nothing starves."""

ROLE_FOR = {Status.NEEDS_TESTS: Role.TEST_WRITER, Status.NEEDS_DOER: Role.DOER}


def rank(priority: int, ready_since: float) -> int:
    """The class a bead competes in, smaller first: comparing it never needs the present time.

    A bead of priority p that became ready k ageing periods earlier ranks with priority p - k of today. Ages
    are compared in whole periods, so within one period priority decides alone.
    """
    return priority + int(ready_since // AGEING_SECONDS)


def plan(board: Board) -> list[Action]:
    """The agents to start now, and the epics to close."""
    actions: list[Action] = [CompleteEpic(epic) for epic in board.epics_done]
    if board.paused or board.stopping:
        return actions
    agents = sum(1 for attempt in board.attempts if attempt.role is not Role.REVIEWER)
    free = board.limits.doers - agents
    for bead in board.ready:
        if free <= 0:
            break
        if bead.retry_at is not None and bead.retry_at > board.now:
            continue
        actions.append(StartAgent(bead.id, ROLE_FOR[bead.status]))
        free -= 1
    return actions
