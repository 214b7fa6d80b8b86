"""Which sessions begin their next turn now. Same board, same answer.

1. A person waits for what a session says, so sessions come before beads, and have places of their own
   (limits.sessions). What starts an hour, and what a day or a run may cost, holds for both together.
2. A turn begins at a provider that is not cooling down, behind whose end one goes ahead of the others.
3. A turn takes one of the places that all repositories of the machine share (core.limits.machine).
4. A session that is to be tried again later, and one whose breaker is open, waits.
"""

from .actions import StartTurn
from .board import Board
from .limits import caps, cooldowns, machine, memory
from .sessions.session import State


def plan(board: Board) -> list[StartTurn]:
    """The turns to begin, oldest session first."""
    if board.paused or board.stopping or caps.reached(board.limits.caps, board.spent, board.now):
        return []
    if machine.reached(board.machine, board.now) or memory.is_full(board.memory_mb, board.limits.agents_mb):
        return []
    free = board.limits.sessions - len(board.talks)
    left = caps.calls_left(board.limits.caps, board.spent, board.now)
    if left is not None:
        free = min(free, left)
    places = machine.free(board.machine)
    if places is not None:
        free = min(free, places)
    room = cooldowns.room(board.gates, board.agents, board.now)
    at_work = {talk.session.id for talk in board.talks}
    starts: list[StartTurn] = []
    for session in board.sessions:
        if len(starts) >= free:
            break
        if session.state is not State.READY or session.id in at_work:
            continue
        if session.retry_at is not None and session.retry_at > board.now:
            continue
        if room.get(session.provider, 1) <= 0:
            continue
        if session.provider in room:
            room[session.provider] -= 1
        starts.append(StartTurn(session.id))
    return starts


def wake_at(board: Board) -> float | None:
    """When the first session that waits for a time may go on."""
    times = [one.retry_at for one in board.sessions if one.retry_at is not None and one.retry_at > board.now]
    return min(times, default=None)
