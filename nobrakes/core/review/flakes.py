"""Flakes: of the same tree and contract a pass and a failure. What the ledger says of a check, and when to ask again.

1. A flake names the tests that failed where the report told them all, else the check alone.
2. As installed, a red counts when it was seen TIMES times and no green between: only the checks that failed are
   repeated, with those of kind build that come before them, in a fresh checkout.
3. `confirm = "flaky"` asks about a failure only when the ledger knows of each check that failed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..beads.events import Event
from ..checks.contract import Check, CheckOutcome, CheckResult

TIMES = 3
"""So often in a row a check is red before anybody is blamed. Where one run in fifty fails for nothing, once wrongs one
good change in 50, twice one in 2,500, three times one in 125,000."""

LEDGER = 5000
"""So many of the latest flakes count."""


class Confirm(StrEnum):
    """Whether a failing validation is run once more before anybody is blamed."""

    FLAKY = "flaky"
    ALWAYS = "always"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Flake:
    """One time that a check said two things of one tree. `tests`: those that failed; empty: nobody knows which."""

    check: str
    tests: tuple[str, ...]
    tree: str
    bead: str | None = None
    at: float = 0.0
    seq: int = 0

    @staticmethod
    def of(event: Event) -> "Flake":
        """The flake that an event records."""
        data = event.data
        return Flake(str(data["check"]), tuple(data["tests"]), str(data["tree"]), event.bead, event.at, event.seq)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the ledger: a check or one of its tests, how often, and when for the last time."""

    check: str
    test: str
    times: int
    last: Flake


def failures(results: Sequence[CheckResult]) -> list[dict[str, Any]]:
    """What failed, as JSON values, to be remembered until the same tree passes."""
    return [
        {"check": r.name, "tests": list(r.failing)} for r in results if r.outcome is CheckOutcome.FAIL or r.quarantined
    ]


def found(
    tree: str, results: Sequence[CheckResult], failed: Sequence[Mapping[str, Any]], has_passed: bool
) -> list[Flake]:
    """The flakes that a validation shows: what failed and passed when it was repeated, what failed before (`failed`)
    and passes now, and what fails now where the tree has passed.
    """
    flakes = []
    before = {str(one["check"]): tuple(map(str, one["tests"])) for one in failed}
    for result in results:
        passes = result.outcome is CheckOutcome.PASS and not result.quarantined
        again = [one for one in result.repeated if one.outcome is CheckOutcome.FAIL]
        if passes and again:
            flakes.append(Flake(result.name, _tests(one.failing for one in again), tree))
        elif passes and result.name in before:
            flakes.append(Flake(result.name, before[result.name], tree))
        elif has_passed and result.outcome is CheckOutcome.FAIL:
            flakes.append(Flake(result.name, result.failing, tree))
    return flakes


def _tests(failing: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """The tests of several runs; none when one of them did not name its own."""
    runs = list(failing)
    return tuple(sorted({test for run in runs for test in run})) if all(runs) else ()


def is_flaky(result: CheckResult, ledger: Sequence[Flake]) -> bool:
    """Whether the ledger knows what failed here."""
    known = [flake for flake in ledger if flake.check == result.name]
    if not known or not result.failing or any(not flake.tests for flake in known):
        return bool(known)
    tests = {test for flake in known for test in flake.tests}
    return set(result.failing) <= tests


def wants_confirming(
    how: Confirm, results: Sequence[CheckResult], checks: Sequence[Check], ledger: Sequence[Flake]
) -> bool:
    """Whether what failed is to be run once more before anybody is blamed.

    A run in which each of the checks that failed was repeated often enough says it all.
    """
    failed = [result for result in results if result.outcome is CheckOutcome.FAIL]
    if how is Confirm.NEVER or all(len(result.repeated) + 1 >= TIMES for result in failed):
        return False
    repeated = {check.name for check in checks if check.retry}
    return how is Confirm.ALWAYS or all(r.name in repeated or is_flaky(r, ledger) for r in failed)


def carried(results: Sequence[CheckResult], checks: Sequence[Check]) -> list[CheckResult]:
    """The results that stand when what failed is repeated: passes, but not of a build that the others may need."""
    builds = {check.name for check in checks if check.kind == "build"}
    return [one for one in results if one.outcome is CheckOutcome.PASS and one.name not in builds]


def lines(ledger: Sequence[Flake]) -> list[Line]:
    """The ledger by check and test, the most frequent first."""
    by_name: dict[tuple[str, str], list[Flake]] = {}
    for flake in ledger:
        for test in flake.tests or ("",):
            by_name.setdefault((flake.check, test), []).append(flake)
    made = [Line(*name, len(some), max(some, key=lambda one: one.seq)) for name, some in by_name.items()]
    return sorted(made, key=lambda line: (-line.times, line.check, line.test))
