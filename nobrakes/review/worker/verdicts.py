"""What the validations of a review mean, and landing and catching up with main, beside the loop where a remote
decides.

1. Slow questions to a remote are begun, and asked for again each turn.
2. A commit is pinned before its push, so that a push of an interrupted review is recognised by the bead's next review.
3. Before main moves the store is on disk, for a power cut.
4. Nothing lands if another repository or database took this one's place.
5. Where main is decided here, calls act at once.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...agents.worker.end import close
from ...beads.model import Attempt, BeadType, Outcome, Run, RunKind, bead_owner
from ...checks.contract import CheckOutcome, CheckResult, cannot_run, overall, setup_failed
from ...checks.worker.validation import MAX_CUT_OFF, Validation, as_json, explain, result_of
from ...decisions import causes
from ...decisions.model import EscalationType, NewEscalation
from ...errors import GitFailed
from ...events.kinds import Event, Kind
from ...git.port import Candidate
from ...parking import about
from ...ports import Ports
from ...records import frozen
from ...requests.model import own_base
from ...requests.worker import epics, exchange
from ...requests.worker.exchange import brought_since
from .. import machine
from ..journal import Journal, Step
from ..machine import Act, Fact, Next
from ..queue import Entry
from ..waits import Land, Landing
from . import chain
from .chain import AttemptEnd, Evidence, Report, blamed, unsure
from .culprits import Lost, question
from .merge_queue import Beside, Flaky, MergeQueue, ReviewContext, below

PINS = "pushed"


@frozen
class Pushed:
    """A candidate, its base, the key of its passed checks, and the candidate pushed with it."""

    base: str
    candidate: str
    contract: str
    tip: str


class Landings:
    """How reviews reach main."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._beside: Beside[Land] = Beside(ports.background)

    def catch_up(self, attempt: int) -> Land | None:
        return self._ask(attempt, _catching_up(attempt), self.ports.git.catch_up)

    def land(self, attempt: int, entries: Sequence[Entry], new: str, old: str) -> Land | None:
        """Move main from `old` to `new` with the beads of `entries`, if any; None: it goes on."""
        self.ports.in_place()
        git = self.ports.git
        if not self.is_pending(attempt):
            self.ports.store.sync()  # here, since beside the loop nobody may touch it
        if git.is_shared() and not self._beside.is_pending(_landing(attempt)):
            for entry in entries:
                journal = entry.journal
                name = f"{PINS}/{entry.bead}/{journal.build.base}-{journal.build.contract}-{journal.build.tip}"
                with about(self.ports, bead_owner(entry.bead)):
                    git.pin(name, journal.build.candidate)
        return self._ask(attempt, _landing(attempt), lambda: git.land(new, old))

    def settle(self, attempts: Collection[int]) -> None:
        self._beside.settle(attempts)

    def goes_on(self, attempt: int) -> bool:
        """Whether such work for this review is running."""
        background = self.ports.background
        return any(
            background.busy(name) and not background.over(name) for name in (_landing(attempt), _catching_up(attempt))
        )

    def is_pending(self, attempt: int) -> bool:
        return any(self._beside.is_pending(name) for name in (_landing(attempt), _catching_up(attempt)))

    def landed_before(self, bead: str) -> Pushed | None:
        """A push of this bead that landed without its review knowing."""
        git = self.ports.git
        if not git.is_shared():
            return None
        main = git.main()
        for name, commit in git.kept().items():
            if name.startswith(f"{PINS}/{bead}/") and git.contains(commit, main):
                base, contract, tip = name.rpartition("/")[2].split("-")
                return Pushed(base, commit, contract, tip)
        return None

    def forget(self, bead: str) -> None:
        git = self.ports.git
        if git.is_shared():
            for name in [name for name in git.kept() if name.startswith(f"{PINS}/{bead}/")]:
                git.pin(name, None)

    def _ask(self, attempt: int, name: str, ask: Callable[[], Land]) -> Land | None:
        return self._beside.ask(attempt, name, ask) if self.ports.git.is_shared() else ask()


def _landing(attempt: int) -> str:
    return f"land {attempt}"


def _catching_up(attempt: int) -> str:
    return f"catch up {attempt}"


LANDING = "landing"


# Written before each swap, so a kill between swap and record loses nothing, not even with the database. It goes with
# the bead's clone; what a start finds is dealt with by daemon.worker.recovery.
def landing_pin(bead: str) -> str:
    return f"{LANDING}/{bead}"


def hold(ports: Ports, evidence: Evidence, entries: Sequence[Entry]) -> None:
    store = ports.store
    ports.git.hold(
        {
            landing_pin(one.bead): evidence.prepared(store.attempt(one.attempt), store.bead(one.bead), one.journal)
            for one in entries
        }
    )


Watchman = Callable[[Sequence[CheckResult]], None]
"""Reports a red main: stops merging and asks a person."""


# What a run means is said by review.machine, and by review.worker.merge_queue for what may be a flake. What could not
# run is told as such: the bead waits for a person and keeps its count. Red after the swap: a revert lands, the bead is
# open again.
class Verdicts:
    """Starts a review's validations, reports their results, and ends the review."""

    def __init__(self, ports: Ports, validation: Validation, queue: MergeQueue, lost: Lost, watchman: Watchman) -> None:
        self.ports = ports
        self.validation = validation
        self.queue = queue
        self.lost = lost
        self.evidence = Evidence(ports)
        self.flaky = Flaky(ports, validation)
        self.watchman = watchman

    def to_validate(self, context: ReviewContext, journal: Journal, commit: str) -> Report:
        if not self.validation.present(journal.change.brings).checks:
            detail = "No check is configured, so no work can be validated. Add [[checks]] to .nobrakes/config.toml."
            return Report(Fact.NO_CHECKS, ending=AttemptEnd(Outcome.BROKEN_CHECKS, detail, journal.change.head))
        if not self.queue.free(context.board):
            return Report(Fact.NOT_YET)
        return Report(Fact.UNPROVEN, {"validating": commit})

    def perform(self, context: ReviewContext, following: Next, report: Report) -> None:
        journal = following.journal
        if following.act is Act.VALIDATE:
            self.start(context.attempt, journal)
            is_new = journal.step is Step.VALIDATE_REBASED and journal.runs.validating == journal.build.candidate
            if is_new and not journal.runs.red:  # what is confirmed was counted
                self.queue.ran(context.board)
        elif following.act is Act.FINISH:
            self._finish(context, journal)
        elif following.act is Act.REVERT:
            self._take_back(context.attempt, journal, report.results)
        else:
            assert report.ending is not None, f"a review that ends with '{report.fact.value}' has to say why"
            self._close(context, journal, machine.GOES_TO[following.act], report.ending)

    def _close(self, context: ReviewContext, journal: Journal, kind: Kind, ending: AttemptEnd) -> None:
        with self.ports.store.write():
            close(
                self.ports,
                context.limits,
                context.attempt,
                ending.outcome,
                ending.detail,
                kind=kind,
                head=ending.head,
                evidence=ending.evidence,
                form=ending.form,
            )
            if epics.is_epic(context.bead):
                epics.sent_back(self.ports, context.bead, journal, ending)

    def _finish(self, context: ReviewContext, journal: Journal) -> None:
        build = journal.build
        ports = self.ports
        passed = ports.store.validation(ports.git.tree(build.candidate), build.contract) or {}
        merged = journal.merging.merged_as or build.candidate
        if not epics.is_a_landing(ports, context.bead, merged):
            self.evidence.merged(context.attempt, context.bead, journal)
        kind = Kind.LANDED if ports.where.epic else Kind.MERGED
        since = brought_since(ports.git, build.base, build.candidate, merged) if journal.merging.merged_as else ""
        with ports.store.write():
            if epics.is_epic(context.bead):
                kind = epics.end(ports, context.bead, journal, merged)
            ports.store.close_attempt(
                context.attempt,
                kind,
                Outcome.COMPLETED,
                detail="landed" if ports.where.epic else "merged",
                head=journal.change.head,
                data={**journal.as_data(), "results": passed.get("results", []), **({"since": since} if since else {})},
                merged_commit=merged,
            )
            if ports.where.direct:  # no request tells where it went
                ports.store.set_setting(own_base(context.bead.id), ports.where.base or None)
            exchange.settle(ports.store, context.bead.id, merged)

    def start(self, attempt: Attempt, journal: Journal) -> None:
        self.queue.changed()  # also for who comes after us in this turn when the start fails
        self.ports.store.journal(attempt.id, journal.as_data())
        self._start(attempt, journal)

    def _start(self, attempt: Attempt, journal: Journal) -> None:
        runs = journal.runs
        commit, brings = runs.validating, journal.change.brings
        carried = runs.carried if runs.carried_for == f"{commit} {self.validation.contract(brings)}" else ()
        stands_on = below(self.ports, journal)
        self.validation.start(
            attempt, commit, RunKind.VALIDATION, runs.serial, carried=carried, brings=brings, below=stands_on
        )

    def restart(self, attempt: Attempt) -> None:
        self._start(attempt, Journal.of(attempt.data))

    def ended(self, context: ReviewContext, run: Run) -> Attempt | None:
        """Judge the run and record it; the attempt if its review goes on."""
        ports, attempt = self.ports, context.attempt
        journal = Journal.of(attempt.data)
        commit = journal.runs.validating
        if not commit:  # dealt with already, and a crash hid it
            ports.store.end_run(run.id)
            return None
        cut_off = self.validation.was_cut_off(run)
        results = self.validation.judge(run)
        if cut_off and journal.runs.cut_off < MAX_CUT_OFF:  # the step that wanted it starts it again
            return self._goes_on(attempt, run, machine.advance(journal, Fact.CUT_OFF).journal)
        found = self.lost.look(attempt, journal, context.limits) if self._is_gone(commit, results) else None
        if found is not None:
            return self._goes_on(attempt, run, found.journal) if found.act is Act.GO_ON else None
        tree = ports.git.tree(commit)
        self.flaky.hear(attempt, tree, run, results)
        self.validation.remember(tree, run, results)
        rows = tuple(as_json(results))
        told = {"step": journal.step.value, "commit": commit, "run": run.id, "results": list(rows)}
        told |= {"epic": ports.where.epic} if ports.where.epic else {}
        ports.store.record(Event(Kind.REVIEW_STEP, attempt.bead, attempt.id, data=told))
        journal = self.flaky.carried(journal.with_values(validating=""), commit, run, results)
        report = self._report_of_run(context, journal, commit, run, results, rows)
        following = machine.advance(journal, report.fact, **report.brought)
        if following.act is Act.GO_ON:
            return self._goes_on(attempt, run, following.journal)
        self.perform(context, following, report)
        return None

    def _report_of_run(
        self,
        context: ReviewContext,
        journal: Journal,
        commit: str,
        run: Run,
        results: list[CheckResult],
        rows: tuple[dict[str, Any], ...],
    ) -> Report:
        build = journal.build
        if journal.step is Step.SWAP:  # what it lands with was proven meanwhile
            return Report(Fact.RAN_BESIDE)
        outdated = machine.outdated(journal, results, self._were_edited(journal, run))
        if outdated is not None:
            return Report(outdated)
        if journal.step is Step.COUNT_BASE:
            known = () if overall(results) is CheckOutcome.PASS else rows
            before = tuple({"name": row["name"], "counts": row["counts"]} for row in known)
            return Report(Fact.RAN_COUNTED, {"counted": commit, "before": before})
        if self.flaky.to_confirm(journal, commit, run, results):
            again = journal.runs.again + 1 if journal.runs.confirming == commit else 1
            return Report(Fact.RAN_SUSPECT, {"confirming": commit, "again": again})  # the step runs it once more
        if journal.step is Step.VALIDATE_BASE:
            return self._report_of_main(context, journal, results)
        fact = machine.run_fact(results)
        if journal.step is Step.VALIDATE_MAIN:
            judged: dict[str, Any] = {"results": rows, "is_suspect": False}
            if fact is Fact.RAN_RED:
                return Report(fact, judged, results=results)
            of_main = not (self.ports.where.epic or self.ports.where.base)
            if fact is Fact.RAN_UNSURE and of_main and cannot_run(results):  # one question, whichever merges meet it
                self.watchman(results)
            elif fact is Fact.RAN_UNSURE:
                self._tell_unsure(context.attempt, journal, explain(results), judged["results"])
            return Report(fact, {**judged, "proven": self.queue.proof(journal, commit)})
        judged = {"results": rows, "is_suspect": self.flaky.is_suspect(run, results)}
        if commit in build.chain:
            kept = (*build.kept, commit) if fact is Fact.RAN_GREEN else build.kept
            return Report(Fact.RAN_COMMIT, {**judged, "kept": kept})
        if fact is Fact.RAN_GREEN:
            return Report(fact, {**judged, "proven": self.queue.proof(journal, commit)})
        judged["failure"] = explain(results)  # whose fault it is depends on what it stands on
        is_broken = not cannot_run(results)  # else it is held against main, where it may fail as well
        return Report(fact, judged | ({"is_broken": is_broken} if fact is Fact.RAN_UNSURE else {}))

    def _report_of_main(self, context: ReviewContext, journal: Journal, results: list[CheckResult]) -> Report:
        runs = journal.runs
        broken = cannot_run(results)
        if (fact := machine.run_fact(results)) is Fact.RAN_UNSURE and not broken:
            told = f"{explain(results)}\n{runs.failure}"
            why = f"The work fails. The checks could not tell whether {chain.main_of(self.ports)} fails too.\n{told}"
            return Report(fact, ending=unsure(journal.with_values(failure=why)))
        own = [result_of(row) for row in runs.results]
        neither_runs = bool(broken and cannot_run(own))
        fact = machine.main_fact(journal, results, context.bead.type is BeadType.REPAIR, neither_runs)
        if fact is Fact.MAIN_PASSES:
            if cannot_run(own) and not runs.mended:
                return Report(Fact.MENDED)
            is_unsure = cannot_run(own) and not setup_failed(own)  # it ended neither green nor red, on this work alone
            return Report(Fact.RAN_UNSURE, ending=unsure(journal)) if is_unsure else blamed(journal)
        if self.ports.git.main() != journal.build.base:
            # main was red where the candidate stands, and has moved: only their joint result counts
            return Report(Fact.MAIN_MOVED)
        self.watchman(results)
        onto = chain.main_of(self.ports)
        why = f"{onto} itself fails the checks; the review starts again when {onto} passes"
        if broken:
            why = f"The checks fail on {onto} too, so the work is not blamed. Its review starts again. {broken}"
        return Report(fact, ending=AttemptEnd(Outcome.INTERRUPTED, why, journal.change.head))

    def _is_gone(self, commit: str, results: Sequence[CheckResult]) -> bool:
        """Git lost the commit: a failed checkout then says nothing."""
        git = self.ports.git
        try:
            git.tree(commit)
        except GitFailed:
            return True
        return overall(results) in (CheckOutcome.BROKEN, CheckOutcome.NOT_RUN) and not git.is_whole(commit)

    def _goes_on(self, attempt: Attempt, run: Run, following: Journal) -> Attempt:
        self.ports.store.journal(attempt.id, following.as_data())
        self.ports.store.end_run(run.id)
        return replace(attempt, data=following.as_data())

    def _were_edited(self, journal: Journal, run: Run) -> bool:
        """Whether other checks ran than today's."""
        of_now = self.validation.contract(journal.change.brings)
        compared = journal.step is Step.VALIDATE_BASE and journal.build.contract != of_now
        return compared or not self.validation.is_of_today(run.id, journal.change.brings)

    def stopped_on_main(self, attempt: Attempt, journal: Journal) -> None:
        """The review ended before main ran again: report if its last run did not pass."""
        last = self.ports.store.latest_events([Kind.REVIEW_STEP], limit=1, bead=attempt.bead)
        rows = last[0].data["results"] if last and last[0].attempt == attempt.id else []
        failed = [row for row in rows if row["outcome"] != CheckOutcome.PASS.value]
        # it was said already, or all is well
        is_told = journal.runs.proven == self.queue.proof(journal, journal.build.candidate)
        if failed and not is_told and last[0].data["step"] == Step.VALIDATE_MAIN.value:
            why = "The checks had to run once more" if journal.runs.confirming else "Somebody edited the checks"
            why += ", but the daemon was stopped before the checks ran again.\n"
            lines = [f"{row['name']}: {row['outcome']}: {row['reason']}" for row in failed]
            self._tell_unsure(attempt, journal, why + "\n".join(lines), rows)

    def _tell_unsure(self, attempt: Attempt, journal: Journal, why: str, rows: Sequence[Mapping[str, Any]]) -> None:
        new = NewEscalation(
            EscalationType.BROKEN_CHECKS,
            f"the checks could not run again after {attempt.bead} was merged",
            why,
            {"commit": journal.build.candidate, "results": list(rows)},
        )
        self.ports.store.escalate(new, None, attempt.id, "nobrakes")

    def _take_back(self, attempt: Attempt, journal: Journal, results: Sequence[CheckResult]) -> None:
        build = journal.build
        ports = self.ports
        bead = ports.store.bead(attempt.bead)
        self.evidence.merged(attempt, bead, journal)
        ports.git.catch_up()  # where it cannot, the revert does not land, and that is told
        main = ports.git.main()
        words = chain.for_revert(ports, bead, attempt)
        # with merge = rebase a review lands several commits: they are taken back as one
        whole = ports.git.squash(build.base, build.candidate, words)
        reverted = ports.git.revert(whole.commit, main, words) if isinstance(whole, Candidate) else whole
        landed = False
        if isinstance(reverted, Candidate) and reverted.tree == ports.git.tree(main):
            landed = True  # it is taken back already, and a crash hid it
        elif isinstance(reverted, Candidate):
            ports.store.sync()
            landed = ports.git.land(reverted.commit, main).landing is Landing.MOVED
        if landed:
            self.evidence.taken_back(bead, build.base, build.candidate, "main_red", "nobrakes", build.contract)
            ports.git.pin(f"archive/{bead.id}/reverted-{build.candidate[:12]}", build.candidate)
        what = "nobrakes reverted the merge." if landed else "nobrakes could NOT revert the merge: check main."
        ports.store.close_attempt(
            attempt,
            Kind.REVIEW_REJECTED,
            Outcome.FAILED_REVIEW,
            detail=f"main failed its checks after the merge. {what}",
            head=journal.change.head,
            counts=True,
            escalation=question(
                ports.store,
                f"main failed its checks after {bead.id} was merged",
                f"{what}\n{explain(results)}",
                {"commit": build.candidate, "reverted": landed, "results": as_json(results)},
                causes.passed_before("exactly this tree passed before the merge", explain(results)),
            ),
        )
        if not landed:
            self.watchman(results)
