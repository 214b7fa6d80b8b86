"""Checks: the commands of the project's contract, and what their endings mean.

1. An outcome is pass, fail, not-run or broken. Only pass merges; only fail is blamed on the bead.
2. Exit 126/127, a signal, a timeout or no test collected is never a pass and never the bead's fault.
3. Counting tests is `core.testcounts`; a command whose output nobody can count is judged by exit code alone,
   unless the check demands a count (`min_tests`).
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum

from .testcounts import TestCounts

TAIL = 20_000
"""Characters of a command's output that are kept with its result."""


class CheckOutcome(StrEnum):
    """What a command's ending says."""

    PASS = "pass"
    FAIL = "fail"
    NOT_RUN = "not-run"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Check:
    """One command of the contract. `kind` is test, lint, types or build; only tests are counted."""

    name: str
    command: str
    kind: str = "test"
    timeout: float = 1800.0
    min_tests: int = 1


@dataclass(frozen=True, slots=True)
class CheckEnd:
    """How a command ended. `code` None: it never wrote an exit code (killed, or not reached)."""

    check: Check
    code: int | None
    seconds: float = 0.0
    started: bool = True
    timed_out: bool = False
    output: str = ""  # its last part, bounded, untrusted


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The judged end of one command."""

    name: str
    outcome: CheckOutcome
    reason: str
    code: int | None
    seconds: float
    counts: TestCounts | None = None
    tail: str = ""


def contract_key(setup: str, checks: Sequence[Check]) -> str:
    """What a validation is keyed by beside the tree: the same commands in the same order."""
    text = json.dumps([setup, [asdict(c) for c in checks]], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def judge(end: CheckEnd, counts: TestCounts | None) -> CheckResult:
    """The outcome of one command, failing closed."""

    def result(outcome: CheckOutcome, reason: str) -> CheckResult:
        return CheckResult(end.check.name, outcome, reason, end.code, end.seconds, counts, end.output[-TAIL:])

    if not end.started:
        return result(CheckOutcome.NOT_RUN, "it was not started")
    if end.timed_out:
        return result(CheckOutcome.BROKEN, f"it ran longer than {end.check.timeout:.0f} s and was stopped")
    if end.code is None:
        return result(CheckOutcome.BROKEN, "it was killed before it could end")
    if end.code == 127:
        return result(CheckOutcome.BROKEN, f"the command was not found: {end.check.command}")
    if end.code == 126:
        return result(CheckOutcome.BROKEN, f"the command may not be executed: {end.check.command}")
    if end.code < 0 or end.code > 128:
        signal = -end.code if end.code < 0 else end.code - 128
        return result(CheckOutcome.BROKEN, f"it was killed by signal {signal}")
    if end.check.kind == "test":
        if counts is not None and counts.collected == 0 and end.check.min_tests > 0:
            return result(CheckOutcome.NOT_RUN, "it collected no test")
        if counts is not None and end.code == 0 and counts.failed:
            return result(CheckOutcome.FAIL, f"{counts.failed} failed, though it exited with 0")
        if counts is not None and end.code == 0 and counts.ran < end.check.min_tests:
            return result(CheckOutcome.NOT_RUN, f"only {counts.ran} tests ran, fewer than {end.check.min_tests}")
        if counts is None and end.check.min_tests > 1:
            return result(CheckOutcome.NOT_RUN, "its output tells no number of tests, and a minimum is set")
    if end.code == 0:
        return result(CheckOutcome.PASS, "it passed")
    return result(CheckOutcome.FAIL, f"it exited with {end.code}")


def overall(results: Sequence[CheckResult]) -> CheckOutcome:
    """The outcome of a whole validation: the worst of its parts; without a check, not-run."""
    outcomes = {r.outcome for r in results}
    for outcome in (CheckOutcome.BROKEN, CheckOutcome.NOT_RUN, CheckOutcome.FAIL):
        if outcome in outcomes:
            return outcome
    return CheckOutcome.PASS if outcomes else CheckOutcome.NOT_RUN


def weaker(before: TestCounts | None, after: TestCounts | None) -> str | None:
    """Why `after` proves less than `before` did, or None: fewer tests, or more skipped ones."""
    if before is None or after is None:
        return None
    if after.skipped > before.skipped:
        return f"{after.skipped - before.skipped} more tests are skipped than on main"
    if after.collected < before.collected:
        return f"{before.collected - after.collected} tests fewer are collected than on main"
    return None
