"""The Reviewer of each branch that work lands on: main's, that of each other branch that people merge features to,
that of each epic that people merge as a whole, and that of each open request on which others stack.

1. They share nothing but the validators: each has its own queue, and its branch is main to it.
2. An epic's branch that is red by itself is held with its epic until it is elsewhere, or a person says so: nobody
   reverts there. Where a request is, those that stack on it are; where another branch than main is, those that are to
   be reviewed by it.
"""

from collections.abc import Sequence
from functools import partial

from ...core.beads.attempt import Attempt, Run
from ...core.beads.bead import CLOSED, BeadType, Status
from ...core.board import Board
from ...core.checks.contract import CheckResult
from ...core.pulls.delivery import Where
from ...ports.git import EPICS
from ...roles.delivery import git_at
from ..checks.validation import Validation, explain
from ..epics import lands_on, ports_of
from ..ports import Ports
from ..stacks import Stacks
from . import whole_epics
from .bases import Bases
from .driver import Review
from .merged_meanwhile import MergedMeanwhile
from .red_branches import RedBranches
from .verdicts import Watchman


class Reviews:
    """Leads each review on, with the Reviewer of the branch that its bead lands on."""

    def __init__(self, ports: Ports, validation: Validation) -> None:
        self.ports = ports
        self.validation = validation
        self.main = Review(ports, validation)
        self.stacks = Stacks(ports)
        self.bases = Bases(ports)
        self.red = RedBranches(ports, self.bases)
        self.meanwhile = MergedMeanwhile(ports)
        self._others: dict[Where, Review] = {}
        self._lands = ""  # how, when that was looked at last

    def turn(self, board: Board) -> bool:
        """Learn of other branches, and let beads stack, before anything is decided; whether something changed."""
        parts = (self.bases, self.stacks, self.red, self.meanwhile)
        return any([*(part.turn(board) for part in parts), self._lands_otherwise()])

    def _lands_otherwise(self) -> bool:
        """Hold the epics that people were to merge, before anybody goes on without what is on their branches."""
        config = self.ports.config().review
        if config.land == self._lands:
            return False
        self._lands = config.land
        landed = () if config.by_request else self.ports.store.beads(statuses=(Status.LANDED,))
        for epic in sorted({bead.epic for bead in landed if bead.epic}):
            whole_epics.hold_without_request(self.ports, epic)
        return bool(landed)

    def of(self, bead: str) -> Review:
        """The Reviewer of the bead's branch."""
        return self._by(lands_on(self.ports, self.ports.store.bead(bead)))

    def _by(self, where: Where) -> Review:
        if where == Where():
            return self.main
        if where not in self._others:
            # what is asked of the host for one that stacks goes on when the one below is merged
            pulls = self._by(Where(where.base)).pulls if where.below else None
            made = self._others[where] = Review(ports_of(self.ports, where), self.validation, pulls)
            made.judging.watchman = self._watchman(where)
        return self._others[where]

    def _watchman(self, where: Where) -> Watchman:
        if where.epic:
            return partial(self._found_red, where.epic)
        if where.below:
            return partial(self._request_red, where.below)
        return partial(self._base_red, where) if where.base else lambda results: self.main.judging.watchman(results)

    def advance(self, attempt: Attempt, board: Board) -> bool:
        """Do what can be done now; whether anything was."""
        review = self.of(attempt.bead)
        return self.bases.is_known(review.ports.where.base) and review.advance(attempt, board)

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
        for where in [one for one in self._others if one.below and self.ports.store.bead(one.below).status in CLOSED]:
            del self._others[where]  # nobody is reviewed on top of it any more
        changed = [one.settle(board) for where, one in self._others.items() if not where.epic and not where.below]
        return self.main.settle(board) or any(changed)

    def wake_at(self) -> list[float | None]:
        """When somebody else is to be asked."""
        return [self.bases.wake_at(), self.meanwhile.wake_at()]

    def measure_anew(self) -> None:
        """The clock jumped: that counts against no reading."""
        for one in (self.main, *self._others.values()):
            one.queueing.readings.waits.anew()

    def _found_red(self, epic: str, results: Sequence[CheckResult]) -> None:
        reason = (
            f"its branch does not pass the checks by itself: mend it (refs/nobrakes/{EPICS}/{epic}), and it goes on, "
            f"or add a bead of type repair to {epic} and type `nobrakes release {epic}`"
        )
        tip = self.ports.git.of_epic(epic).main()
        self.red.hold(epic, tip, reason, f"\n{explain(results)}")

    def _base_red(self, where: Where, results: Sequence[CheckResult]) -> None:
        tip = git_at(self.ports.git, where).main()
        for bead in self.ports.store.beads(statuses=(Status.NEEDS_REVIEW, Status.REVIEWING)):
            if lands_on(self.ports, bead) == where and bead.type is not BeadType.REPAIR:  # which may mend it
                reason = (
                    f"{where.base} does not pass the checks by itself, and nothing is brought to it: mend it there, "
                    f"and this goes on, or type `nobrakes release {bead.id}`"
                )
                self.red.hold(bead.id, tip, reason, f"\n{explain(results)}")

    def _request_red(self, below: str, results: Sequence[CheckResult]) -> None:
        tip = git_at(self.ports.git, Where(below=below)).main()
        for bead, on in self.ports.store.stacked():
            if on == below and self.ports.store.bead(bead).status not in CLOSED:
                reason = (
                    f"it stacks on the pull request of {below}, which does not pass the checks by itself: see "
                    f"`nobrakes pr show {below}`. It goes on when that brings something else or is merged, or when you "
                    f"type `nobrakes release {bead}`"
                )
                self.red.hold(bead, tip, reason, f"\n{explain(results)}")
