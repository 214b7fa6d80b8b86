"""The Reviewer at work: one review, step by step, each journaled before the next.

1. Every step may be done again: it compares the journal with the world before it acts.
2. A step gives the next journal; the same one when nothing can be done before something else happens; or None when it
   has begun what will be heard of (a validation runs, main is busy), or the review is over.
3. The steps from the rebase until main has moved are daemon.queueing's: there reviews meet.
"""

from collections.abc import Callable
from dataclasses import replace

from ..core.attempt import Attempt, Run
from ..core.bead import BeadType, Role
from ..core.board import Board
from ..core.boundaries import violations
from ..core.errors import GitFailed
from ..core.events import Kind
from ..core.outcomes import Outcome
from ..core.ownership import CONTRACT
from ..core.reviewer import Journal, Step, with_other_checks
from ..core.verifying import NONE
from .closing import close
from .doors import Doors
from .gatefiles import GateFiles
from .judging import Judging
from .launch import FORK
from .lost import Lost, handed_in, pin_of
from .queueing import Queueing
from .train import Case, Train, is_paced
from .unusual import Unusual
from .validation import Validation

_TRIES = 3
"""So often a step is tried while git fails."""

MOST_STEPS = 100
"""Of one review in one turn: however many there are to do, others have their turn, and a stop is heard."""


class Review:
    """Leads reviews on."""

    def __init__(self, doors: Doors, validation: Validation) -> None:
        self.doors = doors
        self.validation = validation
        self.train = Train(doors, validation)
        self.lost = Lost(doors)
        self.judging = Judging(doors, validation, self.train, self.lost)
        self.gates = GateFiles(doors)
        self.unusual = Unusual(doors)
        self.queueing = Queueing(doors, validation, self.train, self.judging)
        self.steps: dict[Step, Callable[[Case, Journal], Journal | None]] = {
            Step.TAKE_IN: self._take_in,
            Step.BOUNDARIES: self._boundaries,
            Step.VALIDATE_BRANCH: self._validate_branch,
            Step.REBASE: self.queueing.rebase,
            Step.VALIDATE_REBASED: self.queueing.validate_rebased,
            Step.VALIDATE_BASE: self._validate_base,
            Step.COUNT_BASE: self.queueing.count_base,
            Step.SWAP: self.queueing.swap,
            Step.VALIDATE_MAIN: self._validate_main,
            Step.CLEAN_UP: self._clean_up,
        }

    def advance(self, attempt: Attempt, board: Board) -> bool:
        """Do what can be done now; whether anything was."""
        # another one's turn may have moved it since the board was made
        attempt = self.train.look(board).attempts.get(attempt.id, attempt)
        journal = Journal.of(attempt.data)
        if journal.waiting_until > board.now:
            return False
        case = Case(self.doors, attempt, board)
        moved = False
        for _ in range(MOST_STEPS):
            following = self._step(case, journal)
            if following is None:
                self.train.changed()
                return True
            if following is journal:
                return moved
            has_joined = journal.step is Step.REBASE and following.step is Step.VALIDATE_REBASED
            journal, moved = following, True
            attempt = replace(attempt, data=journal.as_data())
            self.doors.store.journal(attempt.id, attempt.data)
            self.train.journaled(self.train.seen, attempt)
            if has_joined and is_paced(board.limits):
                return True  # a batch begins in the next turn, when all who can have joined it
            case = Case(self.doors, attempt, board)
        return moved

    def _step(self, case: Case, journal: Journal, tries: int = _TRIES) -> Journal | None:
        """Do the step; where git fails, look whether what it needs is gone, else try it again before it is told."""
        try:
            following = self.steps[journal.step](case, journal)
            if following is not None and following.candidate not in ("", journal.candidate):
                self.doors.git.pin(pin_of(case.attempt.bead), following.candidate)
            return following
        except GitFailed:
            self.train.changed()
            found = self.lost.look(case.attempt, journal, case.limits)
            if found is not None:
                return found.journal
            if tries == 1:
                raise
            return self._step(case, journal, tries - 1)

    # --- the steps -------------------------------------------------------------------------------

    def _take_in(self, case: Case, journal: Journal) -> Journal | None:
        done = handed_in(self.doors, case.attempt.bead)
        if done is None:
            return self.judging.reject(case, Outcome.NO_WORK, "there is no work to review")
        head = str(done.head)
        main = self.doors.git.main()
        fork = self.doors.git.fork(main, head, done.data.get(FORK))
        if fork is None:
            return self.judging.reject(case, Outcome.BOUNDARY, "the branch has no history in common with main")
        start = str(done.data.get("start") or fork)
        anchor = self.doors.git.evidence_tip() or NONE
        return replace(journal, step=Step.BOUNDARIES, head=head, fork=fork, base=start, anchor=anchor)

    def _boundaries(self, case: Case, journal: Journal) -> Journal | None:
        git = self.doors.git
        start = journal.base
        if not git.contains(journal.fork, start) or not git.contains(start, journal.head):
            detail = "the branch was rewritten: the commit it started from is not in it any more"
            return self.judging.reject(case, Outcome.BOUNDARY, detail)
        config = self.doors.config()
        own = config.boundary_at(git, start, Role.DOER)
        found = violations(Role.DOER, git.changes(start, journal.head), own, case.bead.scaffolding, asks=True)
        if start != journal.fork:
            tests = git.changes(journal.fork, start)
            writers = config.boundary_at(git, journal.fork, Role.TEST_WRITER, start)
            found += violations(Role.TEST_WRITER, tests, writers, case.bead.scaffolding)
        if found:
            detail = "The branch changes what its role may not change:\n" + "\n".join(found[:50])
            return self.judging.reject(case, Outcome.BOUNDARY, detail)
        if not git.changes(journal.fork, journal.head):
            return self.judging.reject(case, Outcome.NO_WORK, "the branch changes nothing")
        brought = self.validation.new_contract.brought(case.bead, journal)
        if brought is not None and brought.faults:
            return self.judging.reject(case, Outcome.BOUNDARY, "\n".join(brought.faults))
        gates = self.gates.judged(case.attempt, case.bead, journal, case.limits)
        if gates is None:
            return None
        if not self.unusual.is_accepted(case.attempt, case.bead, journal, case.limits):
            return None
        if brought is not None:
            if not self.validation.new_contract.is_accepted(case.bead, brought):
                asked, shown = self.validation.new_contract.question(journal, brought)
                outcome, head = Outcome.CHECKS_CHANGED, journal.head
                close(self.doors, case.limits, case.attempt, outcome, asked, head=head, evidence=shown)
                return None
            journal, gates = replace(journal, brings=journal.head), (*gates, CONTRACT)
        is_scaffolding = case.bead.scaffolding
        return replace(journal, step=Step.VALIDATE_BRANCH, base="", gates=gates, is_scaffolding=is_scaffolding)

    def _validate_branch(self, case: Case, journal: Journal) -> Journal | None:
        if is_paced(case.limits):  # the run of the batch that it lands with stands for this one
            return replace(journal, step=Step.REBASE)
        following = replace(journal, step=Step.REBASE, branch_contract=self.validation.contract(journal.brings))
        return self.judging.passed(case, journal, journal.head, following)

    def _validate_main(self, case: Case, journal: Journal) -> Journal | None:
        is_proven = journal.proven == self.train.proof(journal, journal.candidate)
        if is_proven or self.doors.config().review.revalidate == "cached":
            return replace(journal, step=Step.CLEAN_UP)
        return self.judging.begin(case, journal, journal.candidate)

    def _clean_up(self, case: Case, journal: Journal) -> Journal | None:
        doors = self.doors
        self.queueing.ways.forget(case.attempt.bead)
        if journal.brings:
            self.validation.new_contract.take_over(case.attempt.bead, journal)
        passed = doors.store.validation(doors.git.tree(journal.candidate), journal.contract) or {}
        self.judging.evidence.merged(case.attempt, case.bead, journal)
        doors.store.close_attempt(
            case.attempt,
            Kind.MERGED,
            Outcome.COMPLETED,
            detail="merged",
            head=journal.head,
            data={**journal.as_data(), "results": passed.get("results", [])},
            merged_commit=journal.candidate,
        )
        return None

    def _validate_base(self, case: Case, journal: Journal) -> Journal | None:
        """The candidate failed. Before it is blamed: does main pass by itself?"""
        if journal.contract != self.validation.contract(journal.brings):
            return with_other_checks(journal)
        base = journal.base or journal.fork
        known = self.validation.passed(self.doors.git.tree(base), case.attempt.id, journal.brings) is not None
        if known or journal.is_scaffolding or case.bead.type is BeadType.REPAIR:  # which has to turn main green
            return self.judging.reject(case, Outcome.FAILED_REVIEW, journal.failure, journal)
        return self.judging.begin(case, journal, base)

    # --- from outside ----------------------------------------------------------------------------

    def ended(self, attempt: Attempt, run: Run, board: Board) -> Attempt | None:
        """A validation of this review ended; the attempt to go on with, or None when there is nothing to do now."""
        seen = self.train.look(board)
        attempt = seen.attempts.get(attempt.id, attempt)
        self.train.changed()
        if run.stopping in (Outcome.INTERRUPTED, Outcome.CANCELLED):
            self.validation.judge(run)
            self.doors.store.end_run(run.id)
            self.stop(attempt, board)
            return None
        following = self.judging.ended(Case(self.doors, attempt, board), run)
        if following is not None:
            self.train.journaled(seen, following, ended=True)
        return following

    def stop(self, attempt: Attempt, board: Board) -> bool:
        """Give the review back; one whose merge has landed is brought to its end instead. False: it lands just now."""
        doors = self.doors
        if self.queueing.is_under_way(attempt.id, board):
            return False
        attempt = self.train.look(board).attempts.get(attempt.id, attempt)
        journal = Journal.of(attempt.data)
        self.train.changed()
        if self._has_landed(journal):
            if journal.step is Step.VALIDATE_MAIN:
                self.judging.stopped_on_main(attempt, journal)
            last = replace(journal, step=Step.CLEAN_UP, validating="", waiting_until=0.0)
            doors.store.journal(attempt.id, last.as_data())
            self.advance(replace(attempt, data=last.as_data()), board)
            return True
        if journal.step is Step.SWAP and not doors.git.is_shared():  # else nobody knows yet whether it landed
            doors.store.journal(attempt.id, replace(journal, step=Step.REBASE, tip="").as_data())
        kind, head = Kind.REVIEW_INTERRUPTED, journal.head
        close(doors, board.limits, attempt, Outcome.INTERRUPTED, "the review was stopped", kind=kind, head=head)
        return True

    def _has_landed(self, journal: Journal) -> bool:
        """Whether main contains the candidate; one that is gone from git is not on main."""
        git = self.doors.git
        try:
            return bool(journal.candidate) and git.contains(journal.candidate, git.main())
        except GitFailed:
            if git.is_whole(journal.candidate):
                raise
            return False
