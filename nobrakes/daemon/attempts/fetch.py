"""Taking in what agents left, beside the loop: git copies and checks objects while others are being served.

1. It is help, not a step: whoever closes the run takes in again, finds the ref there, and meets the same troubles.
2. What cannot be taken in for what it is (Tampered, and too large) is not tried again: that took its time.
3. With it the files are counted that the agent left changed (daemon.attempts.work_watch).
4. Only for an attempt that is still open. One that a person ended is put away by the next turns.
"""

from collections.abc import Set
from dataclasses import replace
from functools import partial

from ...core.beads.attempt import Attempt, Run, RunKind
from ...core.beads.bead import Bead
from ...core.board import Board
from ...core.errors import NobrakesError, Tampered
from ..parking import of_run, parked
from ..ports import Ports
from .work_watch import files_changed


class Fetches:
    """Which agents' branches are being taken in. Forgotten over a restart, and then done again."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._begun: set[str] = set()
        self.refused: dict[int, Tampered] = {}
        """By attempt, why its work is not taken in; dropped with its run."""
        self.left: dict[str, int] = {}
        """By run, how many files its agent left changed."""
        self.unseen: set[str] = set()
        """The ids of the runs at which nobody has looked in this turn: they may be dead."""

    def is_over(self, run: Run) -> bool:
        """Whether the run, whose tree is dead, can be closed without waiting; the first question begins it."""
        if run.kind is not RunKind.AGENT or run.turn:
            return True
        background, name = self.ports.background, f"take in {run.id}"
        if run.id not in self._begun:
            attempt = self.ports.store.attempt(run.attempt)
            if attempt.ended_at is not None:
                return True
            self._begun.add(run.id)
            background.begin(name, partial(self._take_in, self.ports.store.bead(attempt.bead), attempt, run))
        return background.over(name)

    def _take_in(self, bead: Bead, attempt: Attempt, run: Run) -> None:
        try:
            self.ports.git.take_in(bead, attempt.fence)
        except Tampered as error:
            self.refused[attempt.id] = error
        except NobrakesError:
            return  # met again, and told, when the run is closed
        else:
            left = files_changed(self.ports, bead.id)
            if left is not None:
                self.left[run.id] = left

    @property
    def begun(self) -> Set[str]:
        """The ids of the runs whose tree was seen dead, and whose work is being taken in."""
        return self._begun

    @property
    def excused(self) -> Set[str]:
        """The ids of the runs whose silence is no fault of theirs: they are dead, or may be."""
        return self._begun | self.unseen

    def without_dead(self, board: Board) -> Board:
        """The board for who looks at what the living do. No plan can be made by it: an attempt there has no run."""
        excused = self.excused
        runs = {attempt: run for attempt, run in board.runs.items() if run.id not in excused}
        of_turns = {turn: run for turn, run in board.turn_runs.items() if run.id not in excused}
        same = len(runs) + len(of_turns) == len(board.all_runs)
        return board if same else replace(board, runs=runs, turn_runs=of_turns)

    def keep(self, runs: set[str]) -> None:
        """Forget the others, as soon as their work beside the loop has ended: unheard it would be waited for."""
        for run in tuple(self._begun - runs):
            with parked(self.ports, partial(of_run, self.ports, run)):
                if not self.ports.background.over(f"take in {run}"):
                    continue
            self._begun.discard(run)
            self.left.pop(run, None)
