"""How many tests a command ran, read from what it printed. (Placeholder types until the readers below.)"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TestCounts:
    """What a test command reported. `collected` = passed + failed + skipped."""

    passed: int
    failed: int
    skipped: int

    __test__ = False  # not a test class for pytest

    @property
    def ran(self) -> int:
        """The tests that were executed."""
        return self.passed + self.failed

    @property
    def collected(self) -> int:
        """The tests that were found."""
        return self.passed + self.failed + self.skipped
