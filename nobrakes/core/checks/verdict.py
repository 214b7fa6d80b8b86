"""What is known of a commit by the checks: one answer for reviews, the queue and main's monitor.

1. Only a pass is green, and only a failed check is red; whatever else could not say whether the work is good.
2. A red one that stayed red when it was run CONFIRMING times more (core.review.queue) is confirmed.
"""

from collections.abc import Sequence
from enum import StrEnum

from .contract import CheckOutcome, CheckResult, overall


class Verdict(StrEnum):
    """Of a commit: nobody has run it, it is being run, or what its runs said."""

    UNKNOWN = "unknown"
    RUNNING = "running"
    GREEN = "green"
    RED = "red"
    CONFIRMED = "confirmed"
    UNSURE = "unsure"


def verdict(results: Sequence[CheckResult]) -> Verdict:
    """What one run says."""
    outcome = overall(results)
    if outcome is CheckOutcome.PASS:
        return Verdict.GREEN
    return Verdict.RED if outcome is CheckOutcome.FAIL else Verdict.UNSURE
