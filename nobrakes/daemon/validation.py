"""Validations and red proofs: the contract's commands, run in a fresh checkout by a child process.

1. The commands come from the human's config, never from the candidate.
2. A tree that passed the same commands is not run again; only passes are remembered.
3. The checkout is removed when its run has been judged.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ..core.attempt import Attempt, Run, RunKind
from ..core.checks import Check, CheckEnd, CheckOutcome, CheckResult, contract_key, judge, overall
from ..core.outcomes import Outcome
from ..core.testcounts import TestCounts, count_tests
from ..ports import Command, Step
from .doors import Doors

OUTPUT_TAIL = 2_000_000
"""Bytes of a check's output that are read for counting."""

SETUP = 'cd -- "$1" && exec sh -c "$2"'


def setup_argv(path: str, setup: str) -> tuple[tuple[str, ...], ...]:
    """The prologue that runs the project's set-up command in `path`; empty without one."""
    return (("sh", "-c", SETUP, "sh", path, setup),) if setup else ()


class Validation:
    """Starts and judges the runs in which checks are executed."""

    def __init__(self, doors: Doors) -> None:
        self.doors = doors

    def contract(self) -> str:
        """The key of the present commands."""
        config = self.doors.config()
        return contract_key(config.setup, config.contract())

    def passed(self, tree: str) -> Mapping[str, Any] | None:
        """The remembered results of a tree that passed the present commands."""
        return self.doors.store.validation(tree, self.contract())

    def start(self, attempt: Attempt, commit: str, kind: RunKind, serial: int) -> Run:
        """Plan the run and start it; doing it twice starts it once."""
        doors = self.doors
        config = doors.config()
        checks = self.checks(kind)
        run_id = f"{attempt.id}-{'proof' if kind is RunKind.RED_PROOF else 'check'}{serial}"
        now = doors.store.now()
        seconds = sum(check.timeout for check in checks) + 1800.0
        run = Run(run_id, attempt.id, kind, now, hard_deadline=now + seconds, active_at=now)
        doors.store.plan_run(run)
        path = os.path.join(doors.places.scratch, run_id)
        environment = dict(doors.environment)
        environment["CI"] = "1"
        born = doors.processes.start(
            run_id,
            Command(
                folder=os.path.join(doors.places.runs, run_id),
                cwd=path,
                env=environment,
                steps=tuple(Step(c.name, ("sh", "-c", c.command), join_output=True) for c in checks),
                prologue=doors.git.scratch(commit, path) + setup_argv(path, config.setup),
                keep_going=True,
            ),
        )
        doors.store.update_run(run_id, pid=born.pid, born=born.mark)
        return run

    def checks(self, kind: RunKind) -> tuple[Check, ...]:
        """The commands of a run: all of them, or for a red proof just the tests."""
        checks = self.doors.config().contract()
        return tuple(c for c in checks if c.kind == "test") if kind is RunKind.RED_PROOF else checks

    def judge(self, run: Run) -> list[CheckResult]:
        """The results of a run that ended, and the end of its checkout."""
        doors = self.doors
        checks = self.checks(run.kind)
        folder = os.path.join(doors.places.runs, run.id)
        ending = doors.processes.ending(folder, [check.name for check in checks])
        results = []
        for check, end in zip(checks, ending.steps, strict=True):
            output = doors.processes.output(end.output, OUTPUT_TAIL)
            if ending.prologue_failed is not None:
                output = ending.prologue_failed
            timed_out = run.stopping is Outcome.TIMED_OUT and end.started and end.code is None
            result = judge(
                CheckEnd(check, end.code, end.seconds, end.started, timed_out, output),
                count_tests(output) if check.kind == "test" else None,
            )
            results.append(result)
        doors.git.drop_scratch(os.path.join(doors.places.scratch, run.id))
        return results

    def remember(self, tree: str, results: Sequence[CheckResult]) -> None:
        """Keep a pass, so that the same tree is not run again."""
        if overall(results) is CheckOutcome.PASS:
            self.doors.store.save_validation(tree, self.contract(), {"results": as_json(results)})


def as_json(results: Sequence[CheckResult]) -> list[dict[str, Any]]:
    """Results as JSON values, outputs cut to what a person reads."""
    rows = []
    for result in results:
        row = asdict(result)
        row["outcome"] = result.outcome.value
        row["tail"] = result.tail[-4000:] if result.outcome is not CheckOutcome.PASS else ""
        rows.append(row)
    return rows


def counts_of(recorded: Mapping[str, Any] | None) -> TestCounts | None:
    """The sum of the test counts in remembered results; None where nothing was counted."""
    total: TestCounts | None = None
    for row in (recorded or {}).get("results", []):
        if row.get("counts"):
            counts = TestCounts(**row["counts"])
            old = total or TestCounts(0, 0, 0)
            total = TestCounts(old.passed + counts.passed, old.failed + counts.failed, old.skipped + counts.skipped)
    return total


def sum_counts(results: Sequence[CheckResult]) -> TestCounts | None:
    """The sum of the test counts of results; None where nothing was counted."""
    return counts_of({"results": as_json(results)})


def explain(results: Sequence[CheckResult]) -> str:
    """What did not pass, for the log of the attempt: one line each, and the last lines of the output."""
    parts = []
    for result in results:
        if result.outcome is not CheckOutcome.PASS:
            tail = "\n".join(result.tail.strip().splitlines()[-30:])
            parts.append(f"{result.name}: {result.outcome.value}: {result.reason}" + (f"\n{tail}" if tail else ""))
    return "\n\n".join(parts) or "no check is configured"
