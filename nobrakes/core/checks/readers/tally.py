"""What a reader returns, and how a reader is listed in `core.checks.test_counts.READERS`.

1. A reader gets the lines of one output, escape codes and blank lines removed, and returns None when it
   finds no summary of its own format; a summary that says "none" is a Tally of zeros.
2. Several summaries in one output (a monorepo runs two suites) are added up.
3. A pattern is matched against one bounded line at a time and never scans a line twice.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Tally(NamedTuple):
    """Tests that passed, failed (or could not even be collected), and were skipped."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def plus(self, other: "Tally") -> "Tally":
        """Both together."""
        return Tally(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)


@dataclass(frozen=True, slots=True)
class Reader:
    """`read` is called only where one of the `marks` occurs in the output: a cheap test for long logs."""

    marks: tuple[str, ...]
    read: Callable[[Sequence[str]], Tally | None]


def added(tallies: Sequence[Tally]) -> Tally | None:
    """The sum; None where there is nothing to add up."""
    if not tallies:
        return None
    total = Tally()
    for tally in tallies:
        total = total.plus(tally)
    return total
