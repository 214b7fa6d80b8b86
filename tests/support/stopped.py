"""Why a run is asked to stop, for one run."""

from nobrakes.beads.model import Attempt, Outcome, Run
from nobrakes.daemon import deciders
from nobrakes.daemon.model import Board
from nobrakes.sessions.model import Talk


def why_stopped(board: Board, work: Attempt | Talk, run: Run) -> Outcome | None:
    return deciders.why_stopped(board, work, run, deciders.is_capped(board))
