"""The Reviewer at work: one review, step by step, each journaled before the next.

1. Every step may be done again: it compares the journal with the world before it acts.
2. A step gives the next journal, or None when it has to wait (a validation runs, main is busy) or is over.
3. Main moves in one place only, by compare-and-swap from the commit that was validated against.
"""

from collections.abc import Callable
from dataclasses import replace

from ..core.attempt import Attempt, Run
from ..core.bead import Bead, Role
from ..core.board import Limits
from ..core.boundaries import violations
from ..core.checks import weaker
from ..core.events import Kind
from ..core.outcomes import Outcome
from ..core.reviewer import Journal, Step
from ..ports import Candidate, Conflict, Landing, Notice
from . import messages
from .closing import close
from .doors import Doors
from .judging import Judging
from .validation import Validation, counts_of

WAIT_FOR_CHECKOUT = 5.0
"""Seconds between two looks at a checked-out main that has edits in the way."""


class Review:
    """Leads reviews on."""

    def __init__(self, doors: Doors, validation: Validation) -> None:
        self.doors = doors
        self.validation = validation
        self.judging = Judging(doors, validation)
        self.steps: dict[Step, Callable[[Attempt, Bead, Journal, Limits], Journal | None]] = {
            Step.TAKE_IN: self._take_in,
            Step.BOUNDARIES: self._boundaries,
            Step.VALIDATE_BRANCH: self._validate_branch,
            Step.REBASE: self._rebase,
            Step.VALIDATE_REBASED: self._validate_rebased,
            Step.VALIDATE_BASE: self._validate_base,
            Step.SWAP: self._swap,
            Step.VALIDATE_MAIN: self._validate_main,
            Step.CLEAN_UP: self._clean_up,
        }

    def advance(self, attempt: Attempt, limits: Limits) -> bool:
        """Do what can be done now; whether anything was."""
        journal = Journal.of(attempt.data)
        if journal.waiting_until > self.doors.store.now():
            return False
        bead = self.doors.store.bead(attempt.bead)
        while True:
            following = self.steps[journal.step](attempt, bead, journal, limits)
            if following is None:
                return True
            journal = following
            self.doors.store.journal(attempt.id, journal.as_data())
            attempt = replace(attempt, data=journal.as_data())

    # --- the steps -------------------------------------------------------------------------------

    def _take_in(self, attempt: Attempt, bead: Bead, journal: Journal, limits: Limits) -> Journal | None:
        done = [
            a
            for a in self.doors.store.attempts(bead.id)
            if a.role is Role.DOER and a.outcome is Outcome.COMPLETED and a.head
        ]
        if not done:
            return self.judging.reject(attempt, limits, Outcome.NO_WORK, "there is no work to review")
        head = str(done[-1].head)
        main = self.doors.git.main()
        fork = self.doors.git.fork(main, head)
        if fork is None:
            return self.judging.reject(
                attempt, limits, Outcome.BOUNDARY, "the branch has no history in common with main"
            )
        return Journal(Step.BOUNDARIES, head=head, fork=fork, base=str(done[-1].data.get("start") or fork))

    def _boundaries(self, attempt: Attempt, bead: Bead, journal: Journal, limits: Limits) -> Journal | None:
        git = self.doors.git
        start = journal.base
        if not git.contains(journal.fork, start) or not git.contains(start, journal.head):
            detail = "the branch was rewritten: the commit it started from is not in it any more"
            return self.judging.reject(attempt, limits, Outcome.BOUNDARY, detail)
        boundary = self.doors.config().boundary()
        found = violations(Role.DOER, git.changes(start, journal.head), boundary, bead.scaffolding)
        if start != journal.fork:
            tests = git.changes(journal.fork, start)
            found += violations(Role.TEST_WRITER, tests, boundary, bead.scaffolding)
        if found:
            detail = "The branch changes what its role may not change:\n" + "\n".join(found[:50])
            return self.judging.reject(attempt, limits, Outcome.BOUNDARY, detail)
        if not git.changes(journal.fork, journal.head):
            return self.judging.reject(attempt, limits, Outcome.NO_WORK, "the branch changes nothing")
        return replace(journal, step=Step.VALIDATE_BRANCH, base="")

    def _validate_branch(self, attempt: Attempt, bead: Bead, journal: Journal, limits: Limits) -> Journal | None:
        return self.judging.passed(attempt, limits, journal, journal.head, replace(journal, step=Step.REBASE))

    def _rebase(self, attempt: Attempt, bead: Bead, journal: Journal, limits: Limits) -> Journal | None:
        doors = self.doors
        git = doors.git
        base = git.main()
        if journal.candidate and git.contains(journal.candidate, base):
            return replace(journal, step=Step.VALIDATE_MAIN)  # it landed, and a crash hid it
        message = messages.for_merge(doors, bead, attempt)
        if doors.config().review.merge == "rebase":
            made: tuple[Candidate, ...] | Candidate | Conflict = git.replay(base, journal.head, message)
        else:
            made = git.squash(base, journal.head, message)
        if isinstance(made, Conflict):
            detail = "The branch conflicts with main in:\n" + "\n".join(made.files) + "\n" + made.detail
            evidence = {"files": list(made.files), "main": base, "head": journal.head}
            close(doors, limits, attempt, Outcome.CONFLICT, detail, head=journal.head, evidence=evidence)
            return None
        chain = made if isinstance(made, tuple) else (made,)
        # no ref holds the candidate: git's own upkeep leaves objects alone for two weeks after they were made
        return replace(
            journal,
            step=Step.VALIDATE_REBASED,
            base=base,
            candidate=chain[-1].commit,
            chain=tuple(c.commit for c in chain[:-1]),
            checked=0,
            kept=(),
        )

    def _validate_rebased(self, attempt: Attempt, bead: Bead, journal: Journal, limits: Limits) -> Journal | None:
        git = self.doors.git
        main = self.validation.passed(git.tree(journal.base))
        mine = self.validation.passed(git.tree(journal.candidate))
        if mine is None:
            return self.judging.passed(attempt, limits, journal, journal.candidate, journal)
        less = weaker(counts_of(main), counts_of(mine))
        if less is not None and not bead.scaffolding:
            return self.judging.reject(
                attempt, limits, Outcome.FAILED_REVIEW, f"The tests prove less than before: {less}"
            )
        if journal.checked < len(journal.chain):
            commit = journal.chain[journal.checked]
            passed = self.validation.passed(git.tree(commit)) is not None
            following = replace(
                journal,
                checked=journal.checked + 1,
                kept=(*journal.kept, commit) if passed else journal.kept,
            )
            return (
                following if passed else self.judging.passed(attempt, limits, journal, commit, following, may_fail=True)
            )
        return replace(self._folded(attempt, bead, journal), step=Step.SWAP)

    def _folded(self, attempt: Attempt, bead: Bead, journal: Journal) -> Journal:
        """With merge = rebase: only commits that pass alone reach main, the others melt into the next."""
        git = self.doors.git
        if not journal.chain or len(journal.kept) == len(journal.chain):
            return journal
        steps = [Candidate(c, git.tree(c)) for c in (*journal.kept, journal.candidate)]
        last = git.fold(journal.base, steps, messages.for_merge(self.doors, bead, attempt))
        return replace(journal, candidate=last.commit, chain=(), kept=())

    def _swap(self, attempt: Attempt, bead: Bead, journal: Journal, limits: Limits) -> Journal | None:
        land = self.doors.git.land(journal.candidate, journal.base)
        if land.landing is Landing.MOVED:
            return replace(journal, step=Step.VALIDATE_MAIN, waiting="", waiting_until=0.0)
        if land.landing is Landing.LOST:
            return replace(journal, step=Step.REBASE, waiting="", waiting_until=0.0)
        if journal.waiting != land.reason:
            self.doors.notifier.tell(Notice(f"{bead.id} waits to be merged: {land.reason}", bead.id, urgent=True))
        until = self.doors.store.now() + WAIT_FOR_CHECKOUT
        waits = replace(journal, waiting=land.reason, waiting_until=until)
        self.doors.store.journal(attempt.id, waits.as_data())
        return None

    def _validate_main(self, attempt: Attempt, bead: Bead, journal: Journal, limits: Limits) -> Journal | None:
        if self.doors.config().review.after_merge == "cached" or journal.failure == "checked":
            return replace(journal, step=Step.CLEAN_UP)
        self.judging.start(attempt, journal, journal.candidate)
        return None

    def _clean_up(self, attempt: Attempt, bead: Bead, journal: Journal, limits: Limits) -> Journal | None:
        doors = self.doors
        passed = self.validation.passed(doors.git.tree(journal.candidate)) or {}
        doors.store.close_attempt(
            attempt,
            Kind.MERGED,
            Outcome.COMPLETED,
            detail="merged",
            head=journal.head,
            data={**journal.as_data(), "results": passed.get("results", [])},
            merged_commit=journal.candidate,
        )
        return None

    def _validate_base(self, attempt: Attempt, bead: Bead, journal: Journal, limits: Limits) -> Journal | None:
        """The candidate failed. Before it is blamed: does main pass by itself?"""
        base = journal.base or journal.fork
        known = self.validation.passed(self.doors.git.tree(base)) is not None
        if known or bead.scaffolding:
            return self.judging.reject(attempt, limits, Outcome.FAILED_REVIEW, journal.failure, journal)
        self.judging.start(attempt, journal, base)
        return None

    # --- from outside ----------------------------------------------------------------------------

    def ended(self, attempt: Attempt, run: Run, limits: Limits) -> Attempt | None:
        """A validation of this review ended; the attempt to go on with, or None when there is nothing to do now."""
        if run.stopping in (Outcome.INTERRUPTED, Outcome.CANCELLED):
            self.validation.judge(run)
            self.doors.store.end_run(run.id)
            self.stop(attempt, limits)
            return None
        return self.judging.ended(attempt, run, limits)

    def stop(self, attempt: Attempt, limits: Limits) -> None:
        """Give the review back; one whose merge has landed is brought to its end instead."""
        doors = self.doors
        journal = Journal.of(attempt.data)
        if journal.candidate and doors.git.contains(journal.candidate, doors.git.main()):
            last = replace(journal, step=Step.CLEAN_UP, validating="", waiting_until=0.0)
            doors.store.journal(attempt.id, last.as_data())
            self.advance(replace(attempt, data=last.as_data()), limits)
            return
        kind = Kind.REVIEW_INTERRUPTED
        close(doors, limits, attempt, Outcome.INTERRUPTED, "the review was stopped", kind=kind, head=journal.head)
