"""The red proof: do the Test Writer's tests fail on the base, and for a reason that a Doer can remove?

1. Every test check has run, and at least one of them fails. One that was not reached because an earlier one
   failed is no objection; one that is broken or collected nothing is.
2. They fail for an assertion or a missing symbol, never for a syntax error. Where nobody can tell the reason,
   a test that was counted as failed must be there.
3. Tests that the base has must not have become fewer. A missing symbol may hide tests, since a file or a
   build that cannot be loaded reports none of its tests: there the Reviewer's comparison (core.checks.contract.weaker)
   decides, on the tree that is to be merged.
4. A check that tells of no test says nothing of them, nor does one whose set-up failed. Where it ends in the same way
   without them, its runner or its set-up is broken, and whoever wrote the tests is not blamed.
5. Nor are they for tests that lie outside of the folders of all test checks: no check looks for them there.
"""

from collections.abc import Sequence

from .contract import Check, CheckOutcome, CheckResult, setup_failed
from .readers.reasons import Reason
from .test_counts import TestCounts


def judge_red(
    results: Sequence[CheckResult],
    counts_before: TestCounts | None,
    counts_after: TestCounts | None,
    reason: Reason,
) -> str | None:
    """None where the tests are proven red, else why they are not, in words for the next attempt.

    `results` are those of the checks of kind "test", with the new tests on the base. `counts_before` are the
    base's own, `counts_after` the sum over `results`; None where nobody could count.
    """
    if not results:
        return "the project has no check of kind test, so nothing can be proven"
    failed = any(result.outcome is CheckOutcome.FAIL for result in results)
    for result in results:
        not_reached = result.outcome is CheckOutcome.NOT_RUN and result.code is None and failed
        if result.outcome in (CheckOutcome.BROKEN, CheckOutcome.NOT_RUN) and not not_reached:
            return f"the check {result.name} proves nothing: {result.reason}"
    if not failed:
        return "the new tests pass already: they prove nothing"
    if counts_after is not None and counts_after.collected == 0:
        return "no test was collected"
    if reason is Reason.SYNTAX:
        return "the tests cannot be loaded: a syntax error is not a failing test"
    if reason is Reason.UNKNOWN and (counts_after is None or counts_after.failed == 0):
        return "the check failed, but no test that fails can be seen in its output"
    if reason is Reason.MISSING_SYMBOL or counts_before is None or counts_after is None:
        return None
    if counts_after.collected < counts_before.collected:
        gone = counts_before.collected - counts_after.collected
        return f"{gone} tests fewer are collected than without the new ones: tests are added, never removed"
    if counts_after.failed <= counts_before.failed:
        return f"no more tests fail than on the base, where {counts_before.failed} fail already"
    return None


def mute(results: Sequence[CheckResult]) -> tuple[CheckResult, ...]:
    """The checks that ran to their end, did not pass, and told of no test, or of too few to be a run; and those that
    were not started for a set-up that failed.
    """
    return tuple(
        result
        for result in results
        if setup_failed([result])
        or (
            result.code is not None
            and (
                result.outcome is CheckOutcome.NOT_RUN
                or (result.outcome is CheckOutcome.FAIL and result.counts is None)
            )
        )
    )


def mute_without_tests(results: Sequence[CheckResult], on_base: Sequence[CheckResult]) -> tuple[CheckResult, ...]:
    """The mute checks that end in the same way on the base, as they ended there."""
    ends = {_end(result) for result in mute(results)}
    return tuple(result for result in mute(on_base) if _end(result) in ends)


def _end(result: CheckResult) -> tuple[str, CheckOutcome, int | None, bool]:
    return result.name, result.outcome, result.code, result.counts is None


def looked_for_nowhere(paths: Sequence[str], checks: Sequence[Check]) -> str:
    """That no test check runs in a folder that holds one of these tests, in words; "": one does."""
    folders = [check.directory.strip("/") for check in checks if check.kind == "test"]
    if not paths or not folders or any(_holds(folder, path) for folder in folders for path in paths):
        return ""
    named, more = ", ".join(sorted(paths)[:5]), f" and {len(paths) - 5} more" if len(paths) > 5 else ""
    return (
        f"no check runs in a folder that holds these tests: {named}{more}. The test checks run in "
        f"{', '.join(sorted(set(folders)))}. Add a check for them to [[checks]], or set `directory` of one."
    )


def _holds(folder: str, path: str) -> bool:
    return folder in ("", ".") or path.startswith(f"{folder}/")
