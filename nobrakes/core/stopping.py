"""Which agents at work are asked to stop, though nothing is wrong: a cap is reached, or their context is nearly full.

1. It is a soft stop: TERM and the grace of any other, the work is kept, and what was written down is handed on.
2. A cap of bead, day or run, and a limit of the machine for a day, is nobody's failure (`capped`); the session goes on
   when there is room again.
3. Who has used up an attempt's own cap ends as at any limit of one run. Who has filled its context gives up for it, and
   the next attempt begins afresh with what is compiled for it.
4. The cap on starts an hour says nothing about who has started.
5. Who says that it cannot go on is asked to stop at once: the bead waits for a person, and its place is another's.
6. A Doer whose tests failed so often in a row in the same way, and that explained nothing, gives up for them (B22). A
   Test Writer's tests have to fail.
7. A session's turn has the caps of day, run and attempt; how full its context is, is its CLI's own matter.
"""

from .beads.attempt import Attempt, Run, RunKind
from .beads.bead import Role
from .beads.outcomes import Outcome
from .board import Board
from .limits import caps, machine
from .sessions.session import Talk


def why(board: Board, work: Attempt | Talk, run: Run) -> Outcome | None:
    """Why the run is asked to stop; None: it may go on."""
    if run.kind is not RunKind.AGENT:
        return None
    limits, spent = board.limits.caps, board.spent
    if limits.attempt.tokens is not None and work.tokens >= limits.attempt.tokens:
        return Outcome.TURN_LIMIT
    costs = [one for one in caps.reached(limits, spent, board.now) if one.name != caps.CALLS]
    if costs or machine.reached(board.machine, board.now):
        return Outcome.CAPPED
    if isinstance(work, Talk):
        return None
    if work.id in board.blocked:
        return Outcome.BLOCKED
    if caps.of_bead(limits, spent, work.bead) is not None:
        return Outcome.CAPPED
    if work.role is Role.DOER and 0 < board.limits.failed_rounds <= board.failed_rounds.get(work.id, 0):
        return Outcome.GAVE_UP_TESTS
    share = board.contexts.get(work.id, 0.0)
    return Outcome.GAVE_UP_CONTEXT if share >= board.limits.context_share else None
