"""The Reviewer at work: one review, step by step, each journaled before the next.

1. Every step may be done again: it compares the journal with the world before it acts.
2. A step does what it is called after and reports what it saw; core.review.machine says how the review goes on, and
   daemon.review.verdicts does that.
3. The steps from the rebase until main has moved are daemon.review.steps's: there reviews meet.
"""

from collections.abc import Callable
from dataclasses import replace

from ...core.beads.attempt import FORK, Attempt, Run
from ...core.beads.bead import BeadType, Role
from ...core.beads.outcomes import Outcome
from ...core.beads.taking import is_by_person
from ...core.board import Board
from ...core.errors import GitFailed
from ...core.evidence.verify import NONE
from ...core.policy.boundaries import violations
from ...core.policy.ownership import CONTRACT
from ...core.review import machine
from ...core.review.journal import Journal, Step
from ...core.review.machine import Act, Fact, Next
from ..attempts.end import close
from ..boundary import boundary_at
from ..checks.validation import Validation
from ..ports import Ports
from . import messages, whole_epics
from .beside import NOBODY
from .lost import Lost, handed_in, pin_of
from .new_contract import NewContract
from .protected_files import ProtectedFiles
from .pulls import PullSteps
from .queue import ReviewContext, Train, is_paced
from .reports import AttemptEnd, Report, blamed, questioned, refused
from .steps import ReviewSteps
from .unusual import Unusual
from .verdicts import Verdicts

_TRIES = 3
"""So often a step is tried while git fails."""

_WITH_THE_NEXT = (Step.BOUNDARIES, Step.CLEAN_UP)
"""What leads to these changes nothing, and they begin at once: it is written down with what comes of them."""

MOST_STEPS = 100
"""Of one review in one turn: however many there are to do, others have their turn, and a stop is heard."""


class Review:
    """Leads reviews on."""

    def __init__(self, ports: Ports, validation: Validation, pulls: PullSteps | None = None) -> None:
        """`pulls`: another one's, who asks the code host for all."""
        self.ports = ports
        self.validation = validation
        self.new_contract = NewContract(ports)
        self.train = Train(ports, validation)
        self.lost = Lost(ports)
        self.judging = Verdicts(ports, validation, self.train, self.lost)
        self.gates = ProtectedFiles(ports)
        self.unusual = Unusual(ports)
        self.pulls = pulls or PullSteps(ports)
        self.queueing = ReviewSteps(ports, validation, self.train, self.judging, self.pulls)
        self.steps: dict[Step, Callable[[ReviewContext, Journal], Report]] = {
            Step.TAKE_IN: self._take_in,
            Step.BOUNDARIES: self._boundaries,
            Step.REBASE: self.queueing.rebase,
            Step.VALIDATE_REBASED: self.queueing.validate_rebased,
            Step.VALIDATE_BASE: self._validate_base,
            Step.COUNT_BASE: self.queueing.count_base,
            Step.SWAP: self.queueing.swap,
            Step.VALIDATE_MAIN: self._validate_main,
            Step.READING: self.queueing.readings.turn,
            Step.PULL_REQUEST: self.pulls.turn,
            Step.CLEAN_UP: self._clean_up,
        }

    def advance(self, attempt: Attempt, board: Board) -> bool:
        """Do what can be done now; whether anything was."""
        # another one's turn may have moved it since the board was made
        attempt = self.train.look(board).attempts.get(attempt.id, attempt)
        journal = Journal.of(attempt.data)
        is_read = journal.step is Step.READING  # its end is heard whenever it comes
        if journal.waiting_until > board.now and not is_read and not self.pulls.is_due(attempt, journal):
            return False
        context = ReviewContext(self.ports, attempt, board)
        moved = False
        for _ in range(MOST_STEPS):
            following = self._step(context, journal)
            if following is None:
                self.train.changed()
                return True
            if following.act is Act.WAIT:
                return moved
            has_joined = journal.step is Step.REBASE and following.journal.step is Step.VALIDATE_REBASED
            journal, moved = following.journal, True
            attempt = replace(attempt, data=journal.as_data())
            if journal.step not in _WITH_THE_NEXT or journal.merged_as:  # a merge by people is written down already
                self.ports.store.journal(attempt.id, attempt.data)
            self.train.journaled(self.train.seen, attempt)
            if has_joined and is_paced(board.limits):
                return True  # a batch begins in the next turn, when all who can have joined it
            context = ReviewContext(self.ports, attempt, board)
        return moved

    def _step(self, context: ReviewContext, journal: Journal, tries: int = _TRIES) -> Next | None:
        """Do the step, and what follows from what it saw; None: something was begun that will be heard of, or the
        review is over.

        Where git fails, look whether what it needs is gone, else try it again before it is told.
        """
        try:
            report = self.steps[journal.step](context, journal)
            following = _after(journal, report)
            if following.act is Act.GO_ON and following.journal.candidate not in ("", journal.candidate):
                self.ports.git.pin(pin_of(context.attempt.bead), following.journal.candidate)
            if following.act is Act.GO_ON or (following.act is Act.WAIT and following.journal is journal):
                return following
            if journal.step is Step.BOUNDARIES:
                self.ports.store.journal(context.attempt.id, journal.as_data())
            if following.act is Act.WAIT:
                self.train.wait(context.attempt.id, following.journal, report.train)
            else:
                self.judging.perform(context, following, report)
            return None
        except GitFailed:
            self.train.changed()
            found = self.lost.look(context.attempt, journal, context.limits)
            if found is not None:
                return found if found.act is Act.GO_ON else None
            if tries == 1:
                raise
            return self._step(context, journal, tries - 1)

    # --- the steps -------------------------------------------------------------------------------

    def _take_in(self, context: ReviewContext, journal: Journal) -> Report:
        if whole_epics.is_whole_epic(context.bead):
            return whole_epics.taken_in(self.ports, context.bead)
        done = handed_in(self.ports, context.attempt.bead)
        if done is None:
            return refused(Outcome.NO_WORK, "there is no work to review")
        head = str(done.head)
        main = self.ports.git.main()
        fork = self.ports.git.fork(main, head, done.data.get(FORK))
        if fork is None:
            what = messages.main_of(self.ports)
            return refused(Outcome.BOUNDARY, f"the branch has no history in common with {what}")
        start = str(done.data.get("start") or fork)
        anchor = self.ports.git.evidence_tip() or NONE
        taken = {"head": head, "fork": fork, "epic": self.ports.where.epic, "base": start, "anchor": anchor}
        return Report(Fact.TAKEN_IN, taken)

    def _boundaries(self, context: ReviewContext, journal: Journal) -> Report:
        if whole_epics.is_whole_epic(context.bead):  # each of its beads kept them
            return Report(Fact.IN_BOUNDS, {"gates": (), "is_scaffolding": False, "brings": ""})
        against = self._against_the_rules(context, journal)
        if against is not None:
            return against
        brought = self.new_contract.brought(context.bead, journal)
        if brought is not None and brought.faults:
            return refused(Outcome.BOUNDARY, "\n".join(brought.faults))
        gates = self.gates.judged(context.bead, journal)
        if isinstance(gates, AttemptEnd):
            return questioned(gates)
        unusual = self.unusual.question(context.bead, journal)
        if unusual is not None:
            return questioned(unusual)
        brings = journal.brings
        if brought is not None:
            if not self.new_contract.is_accepted(context.bead, brought):
                return questioned(self.new_contract.question(journal, brought))
            brings, gates = journal.head, (*gates, CONTRACT)
        return Report(Fact.IN_BOUNDS, {"gates": gates, "is_scaffolding": context.bead.scaffolding, "brings": brings})

    def _against_the_rules(self, context: ReviewContext, journal: Journal) -> Report | None:
        """What the branch changes that nobody may let through; None: nothing."""
        git = self.ports.git
        start = journal.base
        if not git.contains(journal.fork, start) or not git.contains(start, journal.head):
            detail = "the branch was rewritten: the commit it started from is not in it any more"
            return refused(Outcome.BOUNDARY, detail)
        own = boundary_at(self.ports, start, Role.DOER)
        if is_by_person(self.ports.store.attempts(context.bead.id)):
            own = replace(own, tests=())  # tests and code alike are a person's to change
        found = violations(Role.DOER, git.changes(start, journal.head), own, context.bead.scaffolding, asks=True)
        if start != journal.fork:
            tests = git.changes(journal.fork, start)
            writers = boundary_at(self.ports, journal.fork, Role.TEST_WRITER, start)
            found += violations(Role.TEST_WRITER, tests, writers, context.bead.scaffolding)
        if found:
            detail = "The branch changes what its role may not change:\n" + "\n".join(found[:50])
            return refused(Outcome.BOUNDARY, detail)
        if not git.changes(journal.fork, journal.head):
            return refused(Outcome.NO_WORK, "the branch changes nothing")
        return None

    def _validate_main(self, context: ReviewContext, journal: Journal) -> Report:
        is_proven = journal.proven == self.train.proof(journal, journal.candidate)
        if is_proven or self.ports.config().review.revalidate == "cached":
            return Report(Fact.PROVEN)
        return self.judging.to_validate(context, journal, journal.candidate)

    def _clean_up(self, context: ReviewContext, journal: Journal) -> Report:
        self.queueing.landings.forget(context.attempt.bead)
        self.pulls.forget(context.attempt.bead)
        if whole_epics.is_whole_epic(context.bead):
            whole_epics.let_go(self.ports, context.bead, journal)
        if journal.brings:
            self.new_contract.take_over(context.attempt.bead, journal)
        return Report(Fact.MERGED)

    def _validate_base(self, context: ReviewContext, journal: Journal) -> Report:
        """The candidate failed. Before it is blamed: does main pass by itself?"""
        if journal.contract != self.validation.contract(journal.brings):
            return Report(Fact.CHECKS_EDITED)
        tree = self.ports.git.tree(journal.base)
        known = self.validation.passed(tree, context.attempt.id, journal.brings) is not None
        if known or journal.is_scaffolding or context.bead.type is BeadType.REPAIR:  # which has to turn main green
            return blamed(journal)
        return self.judging.to_validate(context, journal, journal.base)

    # --- from outside ----------------------------------------------------------------------------

    def settle(self, board: Board) -> bool:
        """Hear the ends of what a code host or a remote was asked for reviews that are over, and end what was read for
        them.
        """
        going = {attempt.id for attempt in board.attempts}
        self.pulls.settle(going)
        self.queueing.landings.settle({NOBODY, *going})
        reviews = (attempt for attempt in board.attempts if attempt.role is Role.REVIEWER)
        self.queueing.readings.settle({one.id for one in reviews if Journal.of(one.data).step is Step.READING})
        return False

    def ended(self, attempt: Attempt, run: Run, board: Board) -> Attempt | None:
        """A validation of this review ended; the attempt to go on with, or None when there is nothing to do now."""
        seen = self.train.look(board)
        attempt = seen.attempts.get(attempt.id, attempt)
        self.train.changed()
        if run.stopping in (Outcome.INTERRUPTED, Outcome.CANCELLED):
            self.validation.judge(run)
            self.ports.store.end_run(run.id)
            self.stop(attempt, board)
            return None
        following = self.judging.ended(ReviewContext(self.ports, attempt, board), run)
        if following is not None:
            self.train.journaled(seen, following, ended=True)
        return following

    def stop(self, attempt: Attempt, board: Board) -> bool:
        """Give the review back; one whose merge has landed is brought to its end instead. False: it lands just now."""
        ports = self.ports
        if self.queueing.is_under_way(attempt.id, board):
            return False
        attempt = self.train.look(board).attempts.get(attempt.id, attempt)
        journal = Journal.of(attempt.data)
        self.train.changed()
        if self._has_landed(journal):
            if journal.step is Step.VALIDATE_MAIN:
                self.judging.stopped_on_main(attempt, journal)
            last = machine.advance(journal, Fact.STOPPED_AFTER_LANDING).journal
            ports.store.journal(attempt.id, last.as_data())
            self.advance(replace(attempt, data=last.as_data()), board)
            return True
        # where a remote decides nobody knows yet whether it landed
        is_known = journal.step is Step.SWAP and not ports.git.is_shared()
        stopped = machine.advance(journal, Fact.STOPPED_BEFORE_LANDING if is_known else Fact.STOPPED)
        if stopped.journal is not journal:
            ports.store.journal(attempt.id, stopped.journal.as_data())
        kind, head = machine.GOES_TO[stopped.act], journal.head
        close(ports, board.limits, attempt, Outcome.INTERRUPTED, "the review was stopped", kind=kind, head=head)
        return True

    def _has_landed(self, journal: Journal) -> bool:
        """Whether main contains the candidate; one that is gone from git is not on main."""
        git = self.ports.git
        try:
            return bool(journal.candidate) and git.contains(journal.candidate, git.main())
        except GitFailed:
            if git.is_whole(journal.candidate):
                raise
            return False


def _after(journal: Journal, report: Report) -> Next:
    """What follows from a report. A wait that came to an end is written down, whatever else there is to wait for."""
    freed = machine.advance(journal, Fact.FREED).journal if report.was_freed else journal
    following = machine.advance(freed, report.fact, **report.brought)
    return Next(freed, Act.GO_ON) if report.was_freed and following.act is Act.WAIT else following
