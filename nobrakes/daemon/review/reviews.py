"""The Reviewer of each branch that work lands on: main's, that of each epic that people merge as a whole, and that of
each open request on which others stack.

1. They share nothing but the validators: each has its own queue, and its branch is main to it.
2. An epic's branch that is red by itself is held with its epic until a person looks: nobody reverts there. Where a
   request is, those that stack on it are.
"""

from collections.abc import Sequence
from functools import partial

from ...core.beads.attempt import Attempt, Run
from ...core.beads.bead import CLOSED
from ...core.board import Board
from ...core.checks.contract import CheckResult
from ...ports.git import EPICS
from ..checks.validation import Validation, explain
from ..epics import hold, lands_on, ports_of
from ..ports import Ports
from ..stacks import Stacks
from .driver import Review


class Reviews:
    """Leads each review on, with the Reviewer of the branch that its bead lands on."""

    def __init__(self, ports: Ports, validation: Validation) -> None:
        self.ports = ports
        self.validation = validation
        self.main = Review(ports, validation)
        self.stacks = Stacks(ports)
        self._others: dict[tuple[str, str], Review] = {}

    def of(self, bead: str) -> Review:
        """The Reviewer of the bead's branch."""
        if not self.ports.config().review.by_request:
            return self.main
        where = epic, below = lands_on(self.ports, self.ports.store.bead(bead))
        if where == ("", ""):
            return self.main
        if where not in self._others:
            pulls = self.main.pulls if below else None  # what is asked of the host goes on when that one is merged
            made = self._others[where] = Review(ports_of(self.ports, epic, below), self.validation, pulls)
            made.judging.watchman = partial(self._request_red, below) if below else partial(self._found_red, epic)
        return self._others[where]

    def advance(self, attempt: Attempt, board: Board) -> bool:
        """Do what can be done now; whether anything was."""
        return self.of(attempt.bead).advance(attempt, board)

    def ended(self, attempt: Attempt, run: Run, board: Board) -> Attempt | None:
        """A validation ended; the attempt to go on with, or None when there is nothing to do now."""
        return self.of(attempt.bead).ended(attempt, run, board)

    def stop(self, attempt: Attempt, board: Board) -> bool:
        """Give the review back; one whose merge has landed is brought to its end instead."""
        return self.of(attempt.bead).stop(attempt, board)

    def restart(self, attempt: Attempt) -> None:
        """Start the validation again that a crash may have cut off between its plan and its start."""
        self.of(attempt.bead).judging.restart(attempt)

    def settle(self, board: Board) -> bool:
        """Hear the ends of what a code host was asked for reviews that are over, and end what was read for them."""
        for where in [one for one in self._others if one[1] and self.ports.store.bead(one[1]).status in CLOSED]:
            del self._others[where]  # nobody is reviewed on top of it any more
        return self.main.settle(board)

    def measure_anew(self) -> None:
        """The clock jumped: that counts against no reading."""
        for one in (self.main, *self._others.values()):
            one.queueing.readings.waits.anew()

    def _found_red(self, epic: str, results: Sequence[CheckResult]) -> None:
        reason = (
            f"its branch does not pass the checks by itself: mend it (refs/nobrakes/{EPICS}/{epic}), or add a bead of "
            f"type repair to {epic}; then `nobrakes release {epic}`"
        )
        hold(self.ports, epic, reason, f"\n{explain(results)}")

    def _request_red(self, below: str, results: Sequence[CheckResult]) -> None:
        for bead, on in self.ports.store.stacked():
            if on == below and self.ports.store.bead(bead).status not in CLOSED:
                reason = (
                    f"it stacks on the pull request of {below}, which does not pass the checks by itself: see "
                    f"`nobrakes pr show {below}`, then type `nobrakes release {bead}` when it does or is merged"
                )
                hold(self.ports, bead, reason, f"\n{explain(results)}")
