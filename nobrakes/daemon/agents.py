"""What becomes of an agent that ended: its verdict, the tree it left, the red proof, the hand-over.

1. The tree is the truth: what an agent says counts only where the tree bears it out.
2. A Test Writer's tests go to a Doer only after they were proven red; a Doer's work goes to the Reviewer.
"""

import os

from ..agents.adapter import AgentEnd, Verdict
from ..core.attempt import Attempt, AttemptLog, Run, RunKind
from ..core.bead import Bead, Role
from ..core.board import Limits
from ..core.boundaries import violations
from ..core.checks import CheckOutcome, overall
from ..core.events import Kind
from ..core.outcomes import Outcome
from ..core.redproof import judge_red
from ..core.testcounts import why_failed
from ..ports import StepEnd
from .closing import close, has_asked
from .doors import Doors
from .launch import STEP, tests_pin
from .validation import Validation, as_json, counts_of, explain, sum_counts

TAIL = 64_000_000
"""Bytes of an agent's output that are read for its verdict."""


class AgentEndings:
    """Deals with agents and red proofs that ended. Each may be dealt with again after a crash."""

    def __init__(self, doors: Doors, validation: Validation) -> None:
        self.doors = doors
        self.validation = validation

    def agent(self, attempt: Attempt, run: Run, limits: Limits) -> None:
        """Close the attempt, or go on with the red proof."""
        bead = self.doors.store.bead(attempt.bead)
        head = self.doors.git.take_in(bead, attempt.fence)
        verdict, log = self._verdict(attempt, run)
        if verdict.outcome is Outcome.COMPLETED:
            start = str(attempt.data["start"])
            fault = self._fault(bead, attempt.role, start, head)
            if fault is not None:
                verdict = Verdict(*fault)
        if verdict.outcome is not Outcome.COMPLETED:
            close(self.doors, limits, attempt, verdict.outcome, verdict.detail, head=head, log=log)
            return
        assert head is not None, "no work is a fault"
        if attempt.role is Role.TEST_WRITER:
            self.doors.store.journal(attempt.id, {**attempt.data, "phase": "proof", "head": head})
            self.doors.store.end_run(run.id)
            self.validation.start(attempt, head, RunKind.RED_PROOF, 1)
            return
        self.doors.store.close_attempt(
            attempt, Kind.WORK_SUBMITTED, Outcome.COMPLETED, detail=verdict.detail, head=head, log=log
        )

    def proof(self, attempt: Attempt, run: Run, limits: Limits) -> None:
        """Hand the tests over to a Doer when they are red for a good reason, else send them back."""
        doors = self.doors
        head = str(attempt.data["head"])
        results = self.validation.judge(run)
        if run.stopping is Outcome.INTERRUPTED:
            close(doors, limits, attempt, Outcome.INTERRUPTED, "stopped during the red proof", head=head)
            return
        evidence = {"red_proof": as_json(results)}
        if not results or overall(results) is CheckOutcome.BROKEN:
            detail = "The new tests could not be run.\n" + explain(results)
            close(doors, limits, attempt, Outcome.BROKEN_CHECKS, detail, head=head, evidence=evidence)
            return
        base = self.validation.passed(doors.git.tree(str(attempt.data["start"])))
        reason = why_failed("\n".join(r.tail for r in results if r.outcome is not CheckOutcome.PASS))
        why_not = judge_red(results, counts_of(base), sum_counts(results), reason)
        if why_not is not None:
            detail = why_not + "\n" + explain(results)
            close(doors, limits, attempt, Outcome.NOT_RED, detail, head=head, evidence=evidence)
            return
        doors.git.pin(tests_pin(attempt.bead), head)
        doors.store.close_attempt(
            attempt,
            Kind.TESTS_PROVEN_RED,
            Outcome.COMPLETED,
            detail="the new tests fail, as they should",
            head=head,
            log=attempt.log,
            data={**attempt.data, **evidence},
        )

    def _verdict(self, attempt: Attempt, run: Run) -> tuple[Verdict, AttemptLog]:
        doors = self.doors
        folder = os.path.join(doors.places.runs, run.id)
        ending = doors.processes.ending(folder, [STEP])
        step = ending.steps[0]
        if run.stopping is not None and step.code is None:
            return Verdict(run.stopping, _STOPPED.get(run.stopping, "")), attempt.log
        if ending.prologue_failed is not None:
            return Verdict(Outcome.WORKSPACE_FAILED, ending.prologue_failed[-4000:]), attempt.log
        if step.code is None:
            return Verdict(Outcome.KILLED, "the agent's process was killed"), attempt.log
        verdict = self._by_adapter(attempt, step, folder)
        return self._with_own_words(attempt, verdict, folder)

    def _by_adapter(self, attempt: Attempt, step: StepEnd, folder: str) -> Verdict:
        processes = self.doors.processes
        out = processes.output(step.output, TAIL)
        errors = processes.output(os.path.join(folder, f"{STEP}.err"), 20_000)
        lines = [line.encode() for line in out.split("\n")]
        return self.doors.adapter(attempt.agent).verdict(AgentEnd(step.code, lines, errors))

    def _with_own_words(self, attempt: Attempt, verdict: Verdict, folder: str) -> tuple[Verdict, AttemptLog]:
        """What the agent said with `nobrakes agent done` overrules its last words, but never an error."""
        log = attempt.log
        if not log.summary:
            handoff = self.doors.processes.output(os.path.join(folder, "handoff.md"), 8000)
            log = AttemptLog(handoff.strip(), log.blockers, log.learnings, log.keep_branch)
        said = attempt.data.get("said")
        clean_end = verdict.outcome in _BY_WORDS
        if said and clean_end:
            verdict = Verdict(Outcome(said), verdict.detail)
        if clean_end and verdict.outcome is not Outcome.COMPLETED and has_asked(self.doors, attempt):
            verdict = Verdict(Outcome.BLOCKED, "waits for an answer")
        return verdict, log

    def _fault(self, bead: Bead, role: Role, start: str, head: str | None) -> tuple[Outcome, str] | None:
        """Why a tree that was handed in as complete is not taken."""
        if head is None or head == start:
            return Outcome.NO_WORK, "the agent says that it is done, but its branch has no commit of its own"
        changes = self.doors.git.changes(start, head)
        if not changes:
            return Outcome.NO_WORK, "the agent's commits change nothing"
        found = violations(role, changes, self.doors.config().boundary(), bead.scaffolding)
        if found:
            return Outcome.BOUNDARY, "The branch changes what this role may not change:\n" + "\n".join(found[:50])
        return None


_STOPPED = {
    Outcome.STALLED: "no output, no changed file, no commit and no CPU for too long: stopped",
    Outcome.TIMED_OUT: "it ran longer than an attempt may: stopped",
    Outcome.INTERRUPTED: "stopped by a person or with the daemon",
    Outcome.CANCELLED: "the bead was taken away by a person",
}

_BY_WORDS = frozenset(
    {
        Outcome.COMPLETED,
        Outcome.GAVE_UP_CONTEXT,
        Outcome.GAVE_UP_TESTS,
        Outcome.FAILED,
        Outcome.BLOCKED,
        Outcome.CONTRADICTED_ITSELF,
    }
)
