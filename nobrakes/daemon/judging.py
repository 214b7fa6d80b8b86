"""What a validation means for its review: go on, reject the work, ask a person, or take a merge back.

1. Before work is blamed, what may be a flake is run once more (daemon.flaky), and main itself is validated once: a red
   main is nobody's attempt.
2. What could not be run is told as such; the bead waits for a person and keeps its count.
3. A validation that was cut off is done again.
4. Red after the swap: a revert lands, the bead is open again, a person is told.
5. Checks that a person edited while they ran decide nothing: the step is done again with those that there are now.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..core import hypotheses
from ..core.attempt import Attempt, Run, RunKind
from ..core.bead import BeadType
from ..core.checks import CheckOutcome, CheckResult, overall
from ..core.errors import GitFailed
from ..core.escalations import EscalationType
from ..core.events import Event, Kind
from ..core.outcomes import Outcome
from ..core.reviewer import Journal, Judgement, Step, judge, with_other_checks
from ..ports import Candidate, Landing, NewEscalation
from . import messages
from .closing import close
from .doors import Doors
from .evidence import Evidence
from .flaky import Flaky
from .lost import Lost
from .redmain import question
from .train import Case, Train
from .validation import MOST_CUT_OFF, Validation, as_json, explain

Watchman = Callable[[Sequence[CheckResult]], None]
"""Told that main is red: it sees that nothing is merged meanwhile, and that a person is asked."""


def _nobody(_: Sequence[CheckResult]) -> None:
    """Where no daemon turns, nothing is merged anyway."""


class Judging:
    """Starts a review's validations and draws the consequences of their ends."""

    def __init__(self, doors: Doors, validation: Validation, train: Train, lost: Lost) -> None:
        self.doors = doors
        self.validation = validation
        self.train = train
        self.lost = lost
        self.evidence = Evidence(doors)
        self.flaky = Flaky(doors, validation)
        self.watchman: Watchman = _nobody

    def passed(self, case: Case, journal: Journal, commit: str, following: Journal) -> Journal | None:
        """`following` when the commit's tree has passed before; else a validation is begun."""
        if self.doors.config().review.revalidate == "always":
            is_proven = journal.proven == self.train.proof(journal, commit)
        else:
            tree = self.doors.git.tree(commit)
            is_proven = self.validation.passed(tree, case.attempt.id, journal.brings) is not None
        return following if is_proven else self.begin(case, journal, commit)

    def begin(self, case: Case, journal: Journal, commit: str) -> Journal | None:
        """Start a validation, when a validator is free; else `journal`, as it is."""
        if not self.validation.present(journal.brings).checks:
            detail = "No check is configured, so nothing can be proven. Add [[checks]] to .nobrakes/config.toml."
            close(
                self.doors,
                case.limits,
                case.attempt,
                Outcome.BROKEN_CHECKS,
                detail,
                kind=Kind.REVIEW_INTERRUPTED,
                head=journal.head,
            )
            return None
        if not self.train.free(case.board):
            return journal
        self.start(case.attempt, journal, commit)
        return None

    def start(self, attempt: Attempt, journal: Journal, commit: str) -> None:
        """Validate `commit` in a child; the journal remembers which one, so that a crash loses nothing."""
        journal = replace(journal, serial=journal.serial + 1, validating=commit)
        self.train.changed()  # also for who comes after us in this turn when the start fails
        self.doors.store.journal(attempt.id, journal.as_data())
        self._start(attempt, journal)

    def _start(self, attempt: Attempt, journal: Journal) -> None:
        """Start the validation that the journal names: all checks, or those that are repeated."""
        commit, brings = journal.validating, journal.brings
        of_now = f"{commit} {self.validation.contract(brings)}"
        carried = journal.carried if journal.carried_for == of_now else ()
        self.validation.start(attempt, commit, RunKind.VALIDATION, journal.serial, carried=carried, brings=brings)

    def restart(self, attempt: Attempt) -> None:
        """Start the validation again that a crash may have cut off between its plan and its start."""
        self._start(attempt, Journal.of(attempt.data))

    def ended(self, case: Case, run: Run) -> Attempt | None:
        """A validation ended: reject, ask a person, or give the attempt to go on with."""
        doors, attempt = self.doors, case.attempt
        journal = Journal.of(attempt.data)
        commit = journal.validating
        if not commit:  # dealt with already, and a crash hid it
            doors.store.end_run(run.id)
            return None
        cut_off = self.validation.was_cut_off(run)
        results = self.validation.judge(run)
        if cut_off and journal.cut_off < MOST_CUT_OFF:  # the step that wanted it starts it again
            return self._goes_on(attempt, run, replace(journal, cut_off=journal.cut_off + 1, validating=""))
        if self._is_gone(commit, results):
            found = self.lost.look(attempt, journal, case.limits)
            if found is not None:
                return None if found.journal is None else self._goes_on(attempt, run, found.journal)
        tree = doors.git.tree(commit)
        self.flaky.hear(attempt, tree, run, results)
        self.validation.remember(tree, run, results)
        rows = tuple(as_json(results))
        doors.store.record(
            Event(
                Kind.REVIEW_STEP,
                attempt.bead,
                attempt.id,
                data={"step": journal.step.value, "commit": commit, "run": run.id, "results": list(rows)},
            )
        )
        journal = self.flaky.carried(replace(journal, validating=""), commit, run, results)
        if journal.step is Step.SWAP:  # what it lands with was proven meanwhile
            return self._goes_on(attempt, run, journal)
        if self._is_outdated(journal, run) and not _is_good_news(journal, results):
            following: Journal | None = replace(with_other_checks(journal), confirming="", again=0)
        elif journal.step is Step.COUNT_BASE:
            passed = overall(results) is CheckOutcome.PASS
            following = replace(
                journal, step=Step.VALIDATE_REBASED, counted=commit, before=() if passed else _counted(rows)
            )
        elif self.flaky.to_confirm(journal, commit, run, results):
            again = journal.again + 1 if journal.confirming == commit else 1
            following = replace(journal, confirming=commit, again=again)  # the step that wanted it runs it once more
        else:
            judged = replace(journal, results=_of_the_work(journal, rows), confirming="", again=0)
            suspect = journal.step is Step.VALIDATE_REBASED and self.flaky.is_suspect(run, results)
            following = self._after_validation(case, replace(judged, is_suspect=suspect), commit, results)
        return None if following is None else self._goes_on(attempt, run, following)

    def _is_gone(self, commit: str, results: Sequence[CheckResult]) -> bool:
        """Whether git lost what was to be run: then a run that could not check it out says nothing."""
        git = self.doors.git
        try:
            git.tree(commit)
        except GitFailed:
            return True
        return overall(results) in (CheckOutcome.BROKEN, CheckOutcome.NOT_RUN) and not git.is_whole(commit)

    def _goes_on(self, attempt: Attempt, run: Run, following: Journal) -> Attempt:
        self.doors.store.journal(attempt.id, following.as_data())
        self.doors.store.end_run(run.id)
        return replace(attempt, data=following.as_data())

    def _after_validation(
        self, case: Case, journal: Journal, commit: str, results: list[CheckResult]
    ) -> Journal | None:
        judgement = judge(results)
        if journal.step is Step.VALIDATE_MAIN:
            if judgement is Judgement.BROKEN:
                self._tell_unsure(case.attempt, journal, explain(results), as_json(results))
            if judgement is not Judgement.REJECT:
                return replace(journal, proven=self.train.proof(journal, commit))
            self._take_back(case.attempt, journal, results)
            return None
        if journal.step is Step.VALIDATE_BASE:
            return self._blame(case, journal, results)
        if journal.step is Step.VALIDATE_REBASED and commit in journal.chain:
            kept = (*journal.kept, commit) if judgement is Judgement.GO_ON else journal.kept
            return replace(journal, checked=journal.checked + 1, kept=kept)
        if judgement is Judgement.GO_ON:
            return replace(journal, proven=self.train.proof(journal, commit))
        journal = replace(journal, failure=explain(results), is_broken=judgement is Judgement.BROKEN)
        if journal.step is Step.VALIDATE_REBASED:  # whose fault it is depends on what it stands on
            return replace(journal, red=journal.red + 1)
        if journal.is_broken:
            return self.ask_about_checks(case, journal)
        return replace(journal, step=Step.VALIDATE_BASE, contract=self.validation.contract(journal.brings))

    def ask_about_checks(self, case: Case, journal: Journal) -> Journal | None:
        """A run that said neither yes nor no: a person looks, nobody is blamed, and the review is over."""
        close(
            self.doors,
            case.limits,
            case.attempt,
            Outcome.BROKEN_CHECKS,
            "The checks could not say whether the work is good.\n" + journal.failure,
            kind=Kind.REVIEW_INTERRUPTED,
            head=journal.head,
            evidence={"results": list(journal.results)},
        )
        return None

    def _is_outdated(self, journal: Journal, run: Run) -> bool:
        """Whether what was run, on main or on the candidate that it is compared with, is not what is to be run now."""
        of_now = self.validation.contract(journal.brings)
        compared = journal.step is Step.VALIDATE_BASE and journal.contract != of_now
        return compared or not self.validation.is_of_today(run.id, journal.brings)

    def _blame(self, case: Case, journal: Journal, results: list[CheckResult]) -> Journal | None:
        outcome = overall(results)
        if outcome in (CheckOutcome.BROKEN, CheckOutcome.NOT_RUN):
            why = (
                f"The work fails, and whether main fails too could not be told.\n{explain(results)}\n{journal.failure}"
            )
            return self.ask_about_checks(case, replace(journal, failure=why))
        is_repair = case.bead.type is BeadType.REPAIR  # which has to turn main green
        if outcome is CheckOutcome.PASS or is_repair or _fewer_failures(journal, results):
            return self.reject(case, Outcome.FAILED_REVIEW, journal.failure, journal)
        if self.doors.git.main() != (journal.base or journal.fork):
            # main was red where the branch left it, and has moved: what counts is how they do together
            return replace(journal, step=Step.REBASE, failure="")
        self.watchman(results)
        why = "main itself does not pass the checks; the review begins again when it does"
        kind, head = Kind.REVIEW_INTERRUPTED, journal.head
        close(self.doors, case.limits, case.attempt, Outcome.INTERRUPTED, why, kind=kind, head=head)
        return None

    def reject(self, case: Case, outcome: Outcome, detail: str, journal: Journal | None = None) -> Journal | None:
        """Send the work back, with what the checks said; gives None, since the review is over."""
        evidence = {"results": list(journal.results)} if journal else {}
        head = journal.head if journal else None
        close(self.doors, case.limits, case.attempt, outcome, detail, head=head, evidence=evidence)
        return None

    def stopped_on_main(self, attempt: Attempt, journal: Journal) -> None:
        """The review is over though main was to be run again: if its last run did not pass, a person is told."""
        last = self.doors.store.latest_events([Kind.REVIEW_STEP], limit=1, bead=attempt.bead)
        rows = last[0].data["results"] if last and last[0].attempt == attempt.id else []
        failed = [row for row in rows if row["outcome"] != CheckOutcome.PASS.value]
        is_told = journal.proven == self.train.proof(journal, journal.candidate)  # it was said already, or all is well
        if failed and not is_told and last[0].data["step"] == Step.VALIDATE_MAIN.value:
            why = "It was to be run once more" if journal.confirming else "The checks were edited meanwhile"
            why += ", and the daemon was stopped before that.\n"
            lines = [f"{row['name']}: {row['outcome']}: {row['reason']}" for row in failed]
            self._tell_unsure(attempt, journal, why + "\n".join(lines), rows)

    def _tell_unsure(self, attempt: Attempt, journal: Journal, why: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """The tree passed before the swap, and now nobody can tell: the merge stays, and a person looks."""
        new = NewEscalation(
            EscalationType.BROKEN_CHECKS,
            f"the checks could not be run again after {attempt.bead} was merged",
            why,
            {"commit": journal.candidate, "results": list(rows)},
        )
        self.doors.store.escalate(new, None, attempt.id, "nobrakes")

    def _take_back(self, attempt: Attempt, journal: Journal, results: list[CheckResult]) -> None:
        """Red after the swap: revert, reopen the bead, tell a person."""
        doors = self.doors
        bead = doors.store.bead(attempt.bead)
        self.evidence.merged(attempt, bead, journal)
        doors.git.catch_up()  # where it cannot, the revert does not land, and that is told
        main = doors.git.main()
        words = messages.for_revert(doors, bead, attempt)
        # with merge = rebase a review lands several commits: they are taken back as one
        whole = doors.git.squash(journal.base, journal.candidate, words)
        reverted = doors.git.revert(whole.commit, main, words) if isinstance(whole, Candidate) else whole
        landed = False
        if isinstance(reverted, Candidate) and reverted.tree == doors.git.tree(main):
            landed = True  # it is taken back already, and a crash hid it
        elif isinstance(reverted, Candidate):
            doors.store.sync()
            landed = doors.git.land(reverted.commit, main).landing is Landing.MOVED
        if landed:
            self.evidence.taken_back(bead, journal.base, journal.candidate, "main_red", "nobrakes", journal.contract)
            doors.git.pin(f"archive/{bead.id}/reverted-{journal.candidate[:12]}", journal.candidate)
        what = "It was reverted." if landed else "It could NOT be reverted by itself: please look at main."
        doors.store.close_attempt(
            attempt,
            Kind.REVIEW_REJECTED,
            Outcome.FAILED_REVIEW,
            detail=f"main was red after the merge. {what}",
            head=journal.head,
            counts=True,
            escalation=question(
                doors.store,
                f"main was red after {bead.id} was merged",
                f"{what}\n{explain(results)}",
                {"commit": journal.candidate, "reverted": landed, "results": as_json(results)},
                hypotheses.passed_before("this very tree passed before it was merged", explain(results)),
            ),
        )
        if not landed:
            self.watchman(results)


def _is_good_news(journal: Journal, results: list[CheckResult]) -> bool:
    """Whether main passed what it was merged under: what a person wants of it since is no reason to revert."""
    return journal.step is Step.VALIDATE_MAIN and judge(results) is Judgement.GO_ON


def _counted(rows: tuple[dict[str, Any], ...]) -> tuple[dict[str, Any], ...]:
    """The counts of the results, without what was printed."""
    return tuple({"name": row["name"], "counts": row["counts"]} for row in rows)


def _of_the_work(journal: Journal, rows: tuple[dict[str, Any], ...]) -> tuple[Mapping[str, Any], ...]:
    """The results that speak of the work: those of main, looked at for comparison, do not replace them."""
    return journal.results if journal.step is Step.VALIDATE_BASE else rows


def _fewer_failures(journal: Journal, base: list[CheckResult]) -> bool:
    """Whether main fails, but not in a check that the candidate failed in: then the branch made it worse."""
    failed_on_main = {r.name for r in base if r.outcome is not CheckOutcome.PASS}
    failed_here = {str(r["name"]) for r in journal.results if r["outcome"] != CheckOutcome.PASS.value}
    return bool(failed_here) and not failed_here & failed_on_main
