"""What becomes of an agent that ended: its verdict, the tree it left, the red proof, the hand-over.

1. The tree is the truth: an agent's claims count only if the tree confirms them.
2. Without an exit code its words and tree decide: no word is lost, which counts as failure only when it repeats on the
   bead; a torn or missing last line is unsure: its commits are handed in, with a note in history and evidence. An
   interrupted red proof is repeated. One that reports no test is compared with the checks without the new tests, if
   unknown: a runner that is broken there too is not a failure.
3. Tests go to a Doer only after they were proven red and a person accepted what in them bends the runner; a Doer's work
   goes to the Reviewer.
"""

import os
from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from functools import partial
from typing import Any

from ...beads.model import FORK, TABLE, UNSURE, Attempt, AttemptLog, Bead, BeadType, Outcome, Role, Run, RunKind
from ...checks.contract import CheckOutcome, CheckResult, cannot_run, setup_failed
from ...checks.policy import ownership
from ...checks.policy.boundaries import barred, fault, violations
from ...checks.proof import ROUNDS, judge_red, mute, mute_without_tests, unsearched_tests
from ...checks.runners import why_failed
from ...checks.worker import validation
from ...checks.worker.steps import boundary_at, clean
from ...checks.worker.validation import Strength, Validation, as_json, explain, fewer_assertions, times_cut_off
from ...daemon.model import Board, Limits
from ...decisions.model import NewEscalation
from ...errors import NobrakesError, Tampered
from ...events.kinds import Kind
from ...parking import parked, run_owner
from ...ports import Ports
from ...text.cleaning import count
from ..adapter import NOT_GUARDED, UNSEEN, Verdict
from .end import close, cool, has_asked, settle
from .launch import head_of, note_session, tests_pin
from .process import HANDOFF, How, how_it_ended, lost_with_node, unsure
from .watch import WorkWatch, files_changed

UNSEEN_IN_PEACE = 2
"""How often agents of one role may end unseen on a bead before it counts as killed."""

ON_BASE = "on_base"
"""In the journal: the red proof's result while the checks run on the base."""

LOST_NODE = "lost_node"
"""In the journal: the agent's node was lost, which counts for nothing."""

AGAIN = "again"
"""In the journal: the red proof runs once more, since it failed to run where the base could."""


class AgentEndings:
    """Handles agents and red proofs that ended; each step may repeat after a crash."""

    def __init__(
        self,
        ports: Ports,
        validation: Validation,
        asks: Callable[[Bead, str, str], NewEscalation | None],
        watchman: Callable[[Sequence[CheckResult]], None],
        work: WorkWatch,
        refused: dict[int, Tampered],
    ) -> None:
        """`asks`: a person's question about proven tests, by bead, fork and commit. `watchman`: learns that checks
        cannot run on main. `refused`: by attempt, why its work was not fetched in the background."""
        self.watchman = watchman
        self.ports = ports
        self.validation = validation
        self.asks = asks
        self.strength = Strength(ports, validation, self._proven)
        self.work, self.refused = work, refused

    def agent(self, attempt: Attempt, run: Run, limits: Limits) -> None:
        """Close the attempt, or go on with the red proof."""
        bead = self.ports.store.bead(attempt.bead)
        attempt = note_session(self.ports, attempt, head_of(self.ports, run))
        attempt = replace(attempt, data={**attempt.data, ROUNDS: validation.count(self.ports, attempt, run)})
        try:
            if attempt.id in self.refused:
                raise self.refused.pop(attempt.id)
            head = self.ports.git.fetch_work(bead, attempt.fence)
        except Tampered as error:  # the agent's doing: it must not hold up the others
            self.ports.store.journal(attempt.id, attempt.data)
            settle(self.ports, attempt, self._verdict(attempt, run)[0])
            self._not_taken_in(attempt, limits, str(error))
            return
        self.work.ended(attempt, run)
        verdict, log = self._verdict(attempt, run)
        if verdict.outcome is Outcome.LOST and lost_with_node(self.ports, run):
            attempt = replace(attempt, data={**attempt.data, LOST_NODE: True})
        verdict = self._unless_of_git(self._unseen_too_often(attempt, verdict))
        settle(self.ports, attempt, verdict)
        if verdict.outcome is Outcome.COMPLETED or verdict.unsure:
            start = str(attempt.data["start"])
            fault = self._fault(bead, attempt.role, start, head)
            if fault is None and verdict.unsure:
                verdict = replace(verdict, outcome=Outcome.COMPLETED, detail=unsure(verdict))
                attempt = replace(attempt, data={**attempt.data, UNSURE: verdict.detail})
            elif fault is not None and not verdict.unsure:
                verdict = self._unless_of_git(Verdict(fault[0], fault[1] + self._beside(attempt)))
                if verdict.outcome is Outcome.WORKSPACE_FAILED:
                    cool(self.ports, attempt, verdict)
        if verdict.outcome is not Outcome.COMPLETED:
            self.ports.store.journal(attempt.id, attempt.data)
            evidence: dict[str, Any] = {}
            if verdict.outcome is Outcome.FILTER_NOT_ALLOWED and head is not None:
                evidence = {"base": (start := str(attempt.data["start"])), "head": head}
                evidence |= barred(self.ports.git.changes(start, head))
            close(self.ports, limits, attempt, verdict.outcome, verdict.detail, head=head, log=log, evidence=evidence)
            return
        assert head is not None, "an attempt without a commit ends as a fault"
        if attempt.role is Role.TEST_WRITER:
            self.ports.store.journal(attempt.id, {**attempt.data, "phase": "proof", "head": head})
            self.ports.store.end_run(run.id)
            self.start_proof(replace(attempt, data={**attempt.data, "head": head}))
            return
        self.ports.store.close_attempt(
            attempt,
            Kind.WORK_SUBMITTED,
            Outcome.COMPLETED,
            detail=verdict.detail,
            head=head,
            log=log,
            data=attempt.data,
        )

    def _unless_of_git(self, verdict: Verdict) -> Verdict:
        """Replace a verdict against the bead if git works for no agent of this account."""
        trouble = self.ports.git_trouble() if TABLE[verdict.outcome].counts else ""
        return replace(verdict, outcome=Outcome.WORKSPACE_FAILED, detail=trouble) if trouble else verdict

    def _unseen_too_often(self, attempt: Attempt, verdict: Verdict) -> Verdict:
        """`killed` if the bead's agents ended unseen before: some kill their supervisor."""
        if verdict.outcome is not Outcome.LOST or LOST_NODE in attempt.data:
            return verdict
        past = [one for one in self.ports.store.attempts(attempt.bead) if LOST_NODE not in one.data]
        before = sum(one.role is attempt.role and one.outcome is Outcome.LOST for one in past)
        if before < UNSEEN_IN_PEACE:
            return verdict
        often = f"and {count(before, 'earlier attempt')} on this bead ended in the same way"
        why = f"{verdict.detail}, {often}; one possible cause is an agent that kills its own supervisor"
        return replace(verdict, outcome=Outcome.KILLED, detail=why)

    def _not_taken_in(self, attempt: Attempt, limits: Limits, why: str) -> None:
        """The workspace is incomplete: the agent's fault, unless git lost its base."""
        start = str(attempt.data["start"])
        if self.ports.git.is_whole(start):
            close(self.ports, limits, attempt, Outcome.BOUNDARY, why)
            return
        why = f"git no longer has {start[:12]}, the workspace's base commit (perhaps after a prune): {why}"
        close(self.ports, limits, attempt, Outcome.WORKSPACE_FAILED, why, log=replace(attempt.log, keep_branch=False))

    def start_proof(self, attempt: Attempt) -> None:
        """Run the new tests where they must fail, or the base without them. Repeatable."""
        commit = str(attempt.data["start" if ON_BASE in attempt.data else "head"])
        self.validation.start(attempt, commit, RunKind.RED_PROOF, _serial(attempt))

    def proof(self, attempt: Attempt, run: Run, limits: Limits) -> None:
        """Pass red tests on to a Doer, else send them back."""
        ports = self.ports
        head = str(attempt.data["head"])
        cut_off = self.validation.was_cut_off(run)
        results = self.validation.judge(run)
        times = times_cut_off(attempt.data)
        known = run.id != validation.run_id(attempt, RunKind.RED_PROOF, _serial(attempt))  # counted, and a crash hid it
        if known or (cut_off and times < validation.MAX_CUT_OFF):
            again = attempt
            if not known:
                again = replace(attempt, data={**attempt.data, "cut_off": times + 1})
                ports.store.journal(attempt.id, again.data)
            ports.store.end_run(run.id)
            self.start_proof(again)
            return
        if run.stopping is Outcome.INTERRUPTED:
            close(ports, limits, attempt, Outcome.INTERRUPTED, "stopped while the new tests ran", head=head)
            return
        if ON_BASE in attempt.data:
            self._proof_on_base(attempt, run, results, limits)
            return
        rows = as_json(results)
        base = self.validation.recorded(ports.git.tree(str(attempt.data["start"])))
        reason = why_failed("\n".join(r.tail for r in results if r.outcome is not CheckOutcome.PASS))
        why_not = judge_red(results, validation.counts_of(base), validation.sum_counts(results), reason)
        detail = "" if why_not is None else why_not + "\n" + explain(results)
        if not results:
            self._not_run(attempt, limits, rows, rows, "The new tests could not be run.")
            return
        if cannot_run(results) or (base is None and mute(results)):  # it may fail today where it passed before
            attempt = replace(attempt, data={**attempt.data, ON_BASE: {"red_proof": rows, "why_not": detail}})
            ports.store.journal(attempt.id, attempt.data)
            ports.store.end_run(run.id)
            self.start_proof(attempt)
            return
        self._proof_judged(attempt, limits, rows, detail)

    def _proof_on_base(self, attempt: Attempt, run: Run, on_base: list[CheckResult], limits: Limits) -> None:
        """The proof counted no test: a run without the new tests shows whose fault that is."""
        kept = attempt.data[ON_BASE]
        with_tests = [validation.result_of(row) for row in kept["red_proof"]]
        neither = cannot_run(with_tests) and cannot_run(on_base)
        broken = on_base if neither else mute_without_tests(with_tests, on_base)
        if neither and self._is_of_main(attempt):  # one question, whichever proofs meet it
            self.watchman(on_base)
            why = "The check also fails without the new tests, so the work is not blamed. A Test Writer starts again. "
            why += explain(broken)
            close(self.ports, limits, attempt, Outcome.INTERRUPTED, why, head=str(attempt.data["head"]))
        elif broken:
            why = "The check also fails without the new tests."
            if not neither:
                why = "The checks report no tests, and their result is the same without the new tests."
            self._not_run(attempt, limits, kept["red_proof"], as_json(on_base), f"{why}\n{explain(broken)}")
        elif cannot_run(with_tests) and AGAIN not in attempt.data:  # perhaps a person fixed the machine in between
            data = {name: value for name, value in attempt.data.items() if name != ON_BASE}
            attempt = replace(attempt, data={**data, AGAIN: True})
            self.ports.store.journal(attempt.id, attempt.data)
            self.ports.store.end_run(run.id)
            self.start_proof(attempt)
        elif cannot_run(with_tests) and not setup_failed(with_tests):
            why = f"The new tests could not be run.\n{kept['why_not']}"
            self._not_run(attempt, limits, kept["red_proof"], as_json(on_base), why)
        else:
            self._proof_judged(attempt, limits, kept["red_proof"], str(kept["why_not"]))

    def _is_of_main(self, attempt: Attempt) -> bool:
        """Whether main's own checks decide when the proof can run: not for a repair, and not repeatedly."""
        past = self.ports.store.attempts(attempt.bead)
        cuts = sum(one.outcome is Outcome.INTERRUPTED and ON_BASE in one.data for one in past)
        is_repair = self.ports.store.bead(attempt.bead).type is BeadType.REPAIR
        git = self.ports.git
        return not is_repair and cuts < validation.MAX_CUT_OFF and git.contains(str(attempt.data["start"]), git.main())

    def _not_run(
        self, attempt: Attempt, limits: Limits, rows: list[dict[str, Any]], base: list[dict[str, Any]], why: str
    ) -> None:
        evidence, head = {"red_proof": rows, "base": base}, str(attempt.data["head"])
        close(self.ports, limits, attempt, Outcome.BROKEN_CHECKS, why, head=head, evidence=evidence)

    def _proof_judged(self, attempt: Attempt, limits: Limits, rows: list[dict[str, Any]], why_not: str) -> None:
        """Accept red tests (`why_not` ""), or send them back."""
        head = str(attempt.data["head"])
        paths = [change.path for change in self.ports.git.changes(str(attempt.data["start"]), head)] if why_not else []
        if nowhere := unsearched_tests(paths, self.validation.present().checks):
            detail, evidence = f"{nowhere}\n{why_not}", {"red_proof": rows}
            close(self.ports, limits, attempt, Outcome.BROKEN_CHECKS, detail, head=head, evidence=evidence)
            return
        if why_not:
            kind, head, evidence = Kind.TESTS_REJECTED, str(attempt.data["head"]), {"red_proof": rows}
            close(self.ports, limits, attempt, Outcome.NOT_RED, why_not, kind=kind, head=head, evidence=evidence)
            return
        self.strength.begin(attempt, limits, rows)

    def _proven(self, attempt: Attempt) -> None:
        head = str(attempt.data["head"])
        self.ports.git.pin(tests_pin(attempt.bead), head)
        fork = str(attempt.data.get(FORK) or attempt.data["start"])
        self.ports.store.close_attempt(
            attempt,
            Kind.TESTS_PROVEN_RED,
            Outcome.COMPLETED,
            detail="the new tests fail, as they should",
            head=head,
            log=attempt.log,
            data=attempt.data,
            escalation=self.asks(self.ports.store.bead(attempt.bead), fork, head),
        )

    def _verdict(self, attempt: Attempt, run: Run) -> tuple[Verdict, AttemptLog]:
        folder = os.path.join(self.ports.paths.runs, run.id)
        ended = how_it_ended(self.ports, attempt.agent, run)
        if ended.how is How.ENDED:
            return self._with_own_words(attempt, ended.verdict, folder)
        if ended.how is not How.STOPPED:
            return ended.verdict, attempt.log
        why = ended.verdict.outcome
        if attempt.data.get("said") and why is not Outcome.GUARD_FAILED:
            return self._with_own_words(attempt, Verdict(Outcome.LOST, UNSEEN), folder)
        log = self._handed_on(attempt, folder)
        if why is Outcome.GAVE_UP_CONTEXT and not log.summary:
            log = replace(log, summary=self._told(attempt))
        return Verdict(why, _STOPPED.get(why, "")), log

    def _with_own_words(self, attempt: Attempt, verdict: Verdict, folder: str) -> tuple[Verdict, AttemptLog]:
        """`nobrakes agent done` overrules the agent's last words, but never an error."""
        log = self._handed_on(attempt, folder)
        if verdict.outcome is Outcome.CONTEXT_OVERFLOW:
            if not log.summary:
                log = replace(log, summary=self._told(attempt))
            if log.summary:  # its own words are a hand-off, though it came to no end
                verdict = replace(verdict, outcome=Outcome.GAVE_UP_CONTEXT)
        said = attempt.data.get("said")
        clean_end = verdict.outcome in _BY_WORDS or verdict.outcome is Outcome.LOST or verdict.unsure
        if said and clean_end:
            unseen = "nobrakes does not know how the process ended" if verdict.detail == UNSEEN else verdict.detail
            detail = f"the agent reported this outcome; {unseen}" if verdict.outcome is Outcome.LOST else verdict.detail
            verdict = replace(verdict, outcome=Outcome(said), detail=detail, unsure=False)
        if clean_end and verdict.outcome is not Outcome.COMPLETED and has_asked(self.ports, attempt):
            verdict = replace(verdict, outcome=Outcome.BLOCKED, detail="waiting for a person's answer")
        if clean_end and ownership.waiting(self.ports.store.escalations(bead=attempt.bead)) is not None:
            verdict = replace(verdict, outcome=Outcome.BLOCKED, detail="waiting for approval of its plan")
        return verdict, log

    def _handed_on(self, attempt: Attempt, folder: str) -> AttemptLog:
        log = attempt.log
        if log.summary:
            return log
        written = self.ports.processes.output(os.path.join(folder, HANDOFF), 8000).strip()
        return replace(log, summary=clean(self.ports, written))

    def _told(self, attempt: Attempt) -> str:
        events = self.ports.store.events(0, 100_000, attempt.bead)
        own = [e for e in events if e.attempt == attempt.id and e.kind in (Kind.LOGGED, Kind.PROGRESSED)]
        return "\n".join(str(event.data.get("text", "")) for event in own)[-8000:].strip()

    def _fault(self, bead: Bead, role: Role, start: str, head: str | None) -> tuple[Outcome, str] | None:
        decided = self.ports.store.escalations(open_only=False, bead=bead.id)
        if ownership.needed(bead, role) and ownership.approved(decided) is None:
            return Outcome.FAILED, "This bead needs an approved plan before work starts, but no plan was approved."
        path = os.path.join(self.ports.paths.workspaces, bead.id)
        if head is None and not self.ports.git.has_workspace(bead.id) and not os.path.lexists(path):
            return Outcome.WORKSPACE_FAILED, "the workspace was removed while the agent worked: no work is left"
        if head is None or head == start:
            return Outcome.NO_WORK, "the agent reported that it is done, but its branch has no new commit"
        changes = self.ports.git.changes(start, head)
        if not changes:
            return Outcome.NO_WORK, "the agent's commits change nothing"
        # of a Doer's gates a person is asked in the review; a Test Writer has none to change
        boundary = boundary_at(self.ports, start, role, head, bead)
        if why := fault(violations(role, changes, boundary, bead.scaffolding, asks=role is Role.DOER), changes):
            return why
        less = fewer_assertions(self.ports, start, head) if role is Role.TEST_WRITER and not bead.scaffolding else None
        return (Outcome.WEAK_TESTS, f"The tests check less than before: {less}") if less is not None else None

    def _beside(self, attempt: Attempt) -> str:
        mark = f"/{attempt.fence}-head"
        kept = [ref for ref, _ in self.ports.git.archived(attempt.bead) if mark in ref]
        return (
            f"\nThe agent committed outside its branch. These unused commits are archived at {kept[0]}" if kept else ""
        )


def _serial(attempt: Attempt) -> int:
    """The red proof's number: 11 on the base; 21 and 31 when it repeats."""
    return times_cut_off(attempt.data) + (11 if ON_BASE in attempt.data else 1) + (20 if AGAIN in attempt.data else 0)


_STOPPED = {
    Outcome.GUARD_FAILED: f"{NOT_GUARDED}: stopped",
    Outcome.STALLED: "stopped: no output, file change, commit or CPU use for too long",
    Outcome.TIMED_OUT: "stopped: the agent ran longer than limits.agent_minutes",
    Outcome.INTERRUPTED: "stopped by a person or together with the daemon",
    Outcome.CAPPED: "stopped: a spending cap of the bead, the day or the run was reached; the work is saved",
    Outcome.TURN_LIMIT: "stopped: the attempt used up its tokens (caps.attempt.tokens); the work is saved",
    Outcome.GAVE_UP_CONTEXT: "stopped: the agent's context was nearly full (limits.context_share); the work is saved",
    Outcome.GAVE_UP_TESTS: "stopped: the agent's tests kept failing in the same way, without an explanation "
    "(limits.failed_rounds); the work is saved",
    Outcome.BLOCKED: "waiting for a person's answer",
    Outcome.CANCELLED: "a person cancelled, closed or took over the bead",
}

_BY_WORDS = frozenset(
    {
        Outcome.COMPLETED,
        Outcome.GAVE_UP_CONTEXT,
        Outcome.GAVE_UP_TESTS,
        Outcome.FAILED,
        Outcome.BLOCKED,
        Outcome.CONTRADICTED_ITSELF,
        Outcome.EMPTY_OUTPUT,  # who has handed in need not say so again
    }
)


class Fetches:
    """Fetches agents' branches in the background. Forgotten over a restart, then repeated: closing the run fetches
    again and meets the same errors. Tampered or too large work is not retried. Only for open attempts."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._begun: set[str] = set()
        self.refused: dict[int, Tampered] = {}
        """By attempt, why its work is not fetched; dropped with its run."""
        self.left: dict[str, int] = {}
        """By run, how many files its agent left changed."""
        self.unseen: set[str] = set()
        """Ids of runs not inspected in this turn: they may be dead."""

    def is_over(self, run: Run) -> bool:
        """Whether the dead run can be closed without waiting; the first call starts the fetch."""
        if run.kind is not RunKind.AGENT or run.turn:
            return True
        background, name = self.ports.background, f"take in {run.id}"
        if run.id not in self._begun:
            attempt = self.ports.store.attempt(run.attempt)
            if attempt.ended_at is not None:
                return True
            self._begun.add(run.id)
            background.begin(name, partial(self._fetch, self.ports.store.bead(attempt.bead), attempt, run))
        return background.over(name)

    def _fetch(self, bead: Bead, attempt: Attempt, run: Run) -> None:
        try:
            self.ports.git.fetch_work(bead, attempt.fence)
        except Tampered as error:
            self.refused[attempt.id] = error
        except NobrakesError:
            return  # met again, and told, when the run is closed
        else:
            if (left := files_changed(self.ports, bead.id)) is not None:
                self.left[run.id] = left

    @property
    def begun(self) -> Set[str]:
        return self._begun

    @property
    def exempt(self) -> Set[str]:
        return self._begun | self.unseen

    def without_dead(self, board: Board) -> Board:
        """For deciders about living agents; not for plans, since its dead attempts have no run."""
        if not (exempt := self.exempt):
            return board
        runs = {attempt: run for attempt, run in board.runs.items() if run.id not in exempt}
        of_turns = {turn: run for turn, run in board.turn_runs.items() if run.id not in exempt}
        same = len(runs) + len(of_turns) == len(board.all_runs)
        return board if same else replace(board, runs=runs, turn_runs=of_turns)

    def keep(self, runs: set[str]) -> None:
        """Forget the other runs once their background work has ended."""
        for run in tuple(self._begun - runs):
            with parked(self.ports, partial(run_owner, self.ports, run)):
                if not self.ports.background.over(f"take in {run}"):
                    continue
            self._begun.discard(run)
            self.left.pop(run, None)
