"""What a validation means for its review: go on, reject the work, ask a person, or take a merge back.

1. Before work is blamed, main itself is validated once: a red main is nobody's attempt.
2. What could not be run is told as such; the bead waits for a person and keeps its count.
3. Red after the swap: a revert lands, the bead is open again, a person is told.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..core.attempt import Attempt, Run, RunKind
from ..core.board import Limits
from ..core.checks import CheckOutcome, CheckResult, overall
from ..core.escalations import EscalationType
from ..core.events import Event, Kind
from ..core.outcomes import Outcome
from ..core.reviewer import Journal, Judgement, Step, judge
from ..ports import Candidate, Landing, NewEscalation
from . import messages
from .closing import close
from .doors import Doors
from .validation import Validation, as_json, explain


class Judging:
    """Starts a review's validations and draws the consequences of their ends."""

    def __init__(self, doors: Doors, validation: Validation) -> None:
        self.doors = doors
        self.validation = validation

    def passed(
        self,
        attempt: Attempt,
        limits: Limits,
        journal: Journal,
        commit: str,
        following: Journal,
        may_fail: bool = False,
    ) -> Journal | None:
        """`following` when the commit's tree has passed before; else a validation is started."""
        if not may_fail and self.validation.passed(self.doors.git.tree(commit)) is not None:
            return following
        if not self.doors.config().checks:
            detail = "No check is configured, so nothing can be proven. Add [[checks]] to .nobrakes/config.toml."
            close(
                self.doors,
                limits,
                attempt,
                Outcome.BROKEN_CHECKS,
                detail,
                kind=Kind.REVIEW_INTERRUPTED,
                head=journal.head,
            )
            return None
        self.start(attempt, journal, commit)
        return None

    def start(self, attempt: Attempt, journal: Journal, commit: str) -> None:
        """Validate `commit` in a child; the journal remembers which one, so that a crash loses nothing."""
        journal = replace(journal, serial=journal.serial + 1, validating=commit)
        self.doors.store.journal(attempt.id, journal.as_data())
        self.validation.start(attempt, commit, RunKind.VALIDATION, journal.serial)

    def restart(self, attempt: Attempt) -> None:
        """Start the validation again that a crash may have cut off between its plan and its start."""
        journal = Journal.of(attempt.data)
        self.validation.start(attempt, journal.validating, RunKind.VALIDATION, journal.serial)

    def ended(self, attempt: Attempt, run: Run, limits: Limits) -> Attempt | None:
        """A validation ended: reject, ask a person, or give the attempt to go on with."""
        doors = self.doors
        journal = Journal.of(attempt.data)
        commit = journal.validating
        if not commit:  # dealt with already, and a crash hid it
            doors.store.end_run(run.id)
            return None
        results = self.validation.judge(run)
        self.validation.remember(doors.git.tree(commit), results)
        rows = tuple(as_json(results))
        doors.store.record(
            Event(
                Kind.REVIEW_STEP,
                attempt.bead,
                attempt.id,
                data={"step": journal.step.value, "commit": commit, "results": list(rows)},
            )
        )
        following = self._after_validation(
            attempt, replace(journal, results=_of_the_work(journal, rows), validating=""), commit, results, limits
        )
        if following is None:
            return None
        doors.store.journal(attempt.id, following.as_data())
        doors.store.end_run(run.id)
        return replace(attempt, data=following.as_data())

    def _after_validation(
        self, attempt: Attempt, journal: Journal, commit: str, results: list[CheckResult], limits: Limits
    ) -> Journal | None:
        judgement = judge(results)
        if journal.step is Step.VALIDATE_MAIN:
            if judgement is Judgement.BROKEN:
                self._tell_unsure(attempt, journal, results)
            if judgement is not Judgement.REJECT:
                return replace(journal, failure="checked")
            self._take_back(attempt, journal, results, limits)
            return None
        if journal.step is Step.VALIDATE_BASE:
            return self._blame(attempt, journal, results, limits)
        if journal.step is Step.VALIDATE_REBASED and commit != journal.candidate:
            kept = (*journal.kept, commit) if judgement is Judgement.GO_ON else journal.kept
            return replace(journal, checked=journal.checked + 1, kept=kept)
        if judgement is Judgement.GO_ON:
            return journal
        if judgement is Judgement.BROKEN:
            detail = "The checks could not say whether the work is good.\n" + explain(results)
            close(
                self.doors,
                limits,
                attempt,
                Outcome.BROKEN_CHECKS,
                detail,
                kind=Kind.REVIEW_INTERRUPTED,
                head=journal.head,
                evidence={"results": as_json(results)},
            )
            return None
        return replace(journal, step=Step.VALIDATE_BASE, failure=explain(results))

    def _blame(self, attempt: Attempt, journal: Journal, results: list[CheckResult], limits: Limits) -> Journal | None:
        if overall(results) is CheckOutcome.PASS or _fewer_failures(journal, results):
            return self.reject(attempt, limits, Outcome.FAILED_REVIEW, journal.failure, journal)
        if not journal.base and self.doors.git.main() != journal.fork:
            # main was red where the branch left it, and has moved: what counts is how they do together
            return replace(journal, step=Step.REBASE, failure="")
        self.doors.store.close_attempt(
            attempt,
            Kind.REVIEW_INTERRUPTED,
            Outcome.BROKEN_CHECKS,
            detail="main itself does not pass the checks",
            head=journal.head,
            escalation=NewEscalation(
                EscalationType.MAIN_RED,
                "main does not pass its own checks",
                "The branch failed, and so does main without it, so the branch is not blamed.\n" + explain(results),
                {"main": journal.base or journal.fork, "results": as_json(results), "branch": journal.failure},
                "a flawed contract or a broken main: mend main or the checks, then resolve with --retry",
            ),
        )
        return None

    def reject(
        self, attempt: Attempt, limits: Limits, outcome: Outcome, detail: str, journal: Journal | None = None
    ) -> Journal | None:
        """Send the work back, with what the checks said; gives None, since the review is over."""
        evidence = {"results": list(journal.results)} if journal else {}
        head = journal.head if journal else None
        close(self.doors, limits, attempt, outcome, detail, head=head, evidence=evidence)
        return None

    def _tell_unsure(self, attempt: Attempt, journal: Journal, results: list[CheckResult]) -> None:
        """The tree passed before the swap, and now nobody can tell: the merge stays, and a person looks."""
        new = NewEscalation(
            EscalationType.BROKEN_CHECKS,
            f"the checks could not be run again after {attempt.bead} was merged",
            explain(results),
            {"commit": journal.candidate, "results": as_json(results)},
        )
        self.doors.store.escalate(new, None, attempt.id, "nobrakes")

    def _take_back(self, attempt: Attempt, journal: Journal, results: list[CheckResult], limits: Limits) -> None:
        """Red after the swap: revert, reopen the bead, tell a person."""
        doors = self.doors
        bead = doors.store.bead(attempt.bead)
        main = doors.git.main()
        words = messages.for_revert(doors, bead, attempt)
        # with merge = rebase a review lands several commits: they are taken back as one
        whole = doors.git.squash(journal.base, journal.candidate, words)
        reverted = doors.git.revert(whole.commit, main, words) if isinstance(whole, Candidate) else whole
        landed = False
        if isinstance(reverted, Candidate) and reverted.tree == doors.git.tree(main):
            landed = True  # it is taken back already, and a crash hid it
        elif isinstance(reverted, Candidate):
            landed = doors.git.land(reverted.commit, main).landing is Landing.MOVED
        what = "It was reverted." if landed else "It could NOT be reverted by itself: please look at main."
        doors.store.close_attempt(
            attempt,
            Kind.REVIEW_REJECTED,
            Outcome.FAILED_REVIEW,
            detail=f"main was red after the merge. {what}",
            head=journal.head,
            counts=True,
            escalation=NewEscalation(
                EscalationType.MAIN_RED,
                f"main was red after {bead.id} was merged",
                f"{what}\n{explain(results)}",
                {"commit": journal.candidate, "reverted": landed, "results": as_json(results)},
                "a flaky check, or a check that depends on more than the tree",
            ),
        )


def _of_the_work(journal: Journal, rows: tuple[dict[str, Any], ...]) -> tuple[Mapping[str, Any], ...]:
    """The results that speak of the work: those of main, looked at for comparison, do not replace them."""
    return journal.results if journal.step is Step.VALIDATE_BASE else rows


def _fewer_failures(journal: Journal, base: list[CheckResult]) -> bool:
    """Whether main fails, but not in a check that the candidate failed in: then the branch made it worse."""
    failed_on_main = {r.name for r in base if r.outcome is not CheckOutcome.PASS}
    failed_here = {str(r["name"]) for r in journal.results if r["outcome"] != CheckOutcome.PASS.value}
    return bool(failed_here) and not failed_here & failed_on_main
