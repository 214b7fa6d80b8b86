"""The trial of the checks: before a run's first agent starts, main has to be known to pass them, or a person said so.

1. Until main's tip was tried nobody is started. A tree that passed the same checks before needs no trial.
2. On a main that is red only a bead of type `repair` is started: it turns main green.
3. Where there is no check, or the checks cannot be run, only beads that are scaffolding, or a repair, are started.
4. Where no file is a test and none is collected, agents start: the first bead brings tests.
5. A check that fails and tells of no test says nothing of main: its runner is missing, or cannot begin.
"""

from collections.abc import Sequence
from enum import StrEnum

from ..text.cleaning import count
from .contract import Check, CheckOutcome, CheckResult, overall, setup_failed
from .proof import mute

REPAIR = "repair"
"""The type of the beads that may start, and be merged, on a red main."""


class Starts(StrEnum):
    """Which beads may be started."""

    OPEN = "open"
    UNTRIED = "untried"  # none yet: main is being tried
    REPAIRS = "repairs"
    SCAFFOLDING = "scaffolding"  # and repairs


def is_unsure(results: Sequence[CheckResult], checks: Sequence[Check]) -> bool:
    """Whether a run of main that did not pass says nothing of main: every check that failed told of no test."""
    counted = {check.name for check in checks if check.kind == "test" and check.read_as != "exit"}
    failed = {result.name for result in results if result.outcome is CheckOutcome.FAIL}
    return overall(results) is not CheckOutcome.FAIL or failed <= {one.name for one in mute(results)} & counted


def is_empty(results: Sequence[CheckResult]) -> bool:
    """Whether all that main lacks are tests: what did not pass collected none."""
    rest = [result for result in results if result.outcome is not CheckOutcome.PASS]
    return all(
        one.outcome is CheckOutcome.NOT_RUN and one.counts is not None and not one.counts.collected for one in rest
    )


def advice(results: Sequence[CheckResult], checks: Sequence[Check]) -> list[str]:
    """What a person types, a line for each check that did not pass."""
    if setup_failed(results):
        return [
            "mend `setup` in .nobrakes/config.toml, or what it needs: it is run by itself in a fresh checkout of main"
        ]
    known = {check.name: check for check in checks}
    return [
        f"{result.name}: {_advice(result, known[result.name])}"
        for result in results
        if result.outcome is not CheckOutcome.PASS and result.name in known
    ]


def _advice(result: CheckResult, check: Check) -> str:
    where = "under [[checks]] in .nobrakes/config.toml"
    if result.outcome is CheckOutcome.BROKEN and result.code in (126, 127):
        return f"install what the command needs, name what brings it in as `setup`, or mend `command` {where}"
    if result.outcome is CheckOutcome.BROKEN:
        return f"mend it, or give it more time: `timeout_minutes` {where}"
    if result.outcome is CheckOutcome.NOT_RUN:
        if result.counts is not None:
            return f"add a first test (a bead of type {REPAIR} may), or write min_tests = 0 {where}"
        return f'say what it prints: `format`, `report` or format = "exit" {where}'
    if is_unsure([result], [check]):
        return (
            "it failed before it told of a test: install its runner, name what brings it in as `setup`, or mend "
            f"`command` {where}"
        )
    return f'mend main, or let an agent do it: nobrakes add "Mend main" --type {REPAIR} --no-tests'


def passed(results: Sequence[CheckResult]) -> str:
    """A main that lets agents start, in words: how many tests, and how long."""
    if overall(results) is not CheckOutcome.PASS:
        return "main has no test yet: the first bead that brings some is compared with nothing"
    tests = sum(result.counts.ran for result in results if result.counts is not None)
    seconds = sum(result.seconds for result in results)
    return f"main passes its checks ({count(tests, 'test') + ', ' if tests else ''}{seconds:.1f} s)"
