"""How many tests a command ran, read from what it printed.

1. Every format that is found is read, and what they say is added up: `make test` may run two suites.
2. An output in which no reader finds anything gives None, which is not zero.
3. The output is untrusted and may be huge: escape codes go first, over-long lines are no summary, and the
   work is linear in its length.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from .readers import cmake, go, java, javascript, php, python, ruby, rust, tap
from .readers.reasons import Reason, find_reason
from .readers.tally import Reader, added

MAX_LINE = 4000
"""A longer line is no summary. JUnit's XML is cut at its tags first, since it may come as one line."""

READERS: Mapping[str, Reader] = {
    "pytest": Reader((" in ",), python.read_pytest),
    "unittest": Reader(("Ran ",), python.read_unittest),
    "go test": Reader(("=== RUN ", "ok  \t", "FAIL\t", "?   \t", '"Action":"'), go.read),
    "cargo test": Reader(("test result: ", " run: "), rust.read),
    "TAP and node --test": Reader(("1..", "# tests ", "ℹ tests ", "Bail out!"), tap.read),
    "jest": Reader(("Tests: ",), javascript.read_jest),
    "vitest": Reader((" Tests  ",), javascript.read_vitest),
    "mocha": Reader((" passing (",), javascript.read_mocha),
    "ctest": Reader(("tests passed, ", "No tests were found!!!"), cmake.read),
    "phpunit": Reader(("OK (", "Tests: ", "No tests executed!"), php.read),
    "rspec and minitest": Reader((" example", " assertions, "), ruby.read),
    "JUnit XML": Reader(("<testsuite",), java.read_xml),
    "Maven": Reader(("Tests run: ",), java.read_maven),
}
"""To add a format: write its reader, add its line here, and add what it printed to tests/unit/test_testcounts.py."""

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])")


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


def _plain(output: str) -> str:
    text = _ESCAPES.sub("", output) if "\x1b" in output else output
    if "\r" in text:
        text = text.replace("\r", "\n")
    return text


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.split("\n") if line and len(line) <= MAX_LINE and not line.isspace()]


def count_tests(output: str) -> TestCounts | None:
    """The sum of every summary in the output; None where there is no summary that a reader knows."""
    text = _plain(output)
    readers = [reader for reader in READERS.values() if any(mark in text for mark in reader.marks)]
    if not readers:
        return None
    if "<testsuite" in text:
        text = text.replace("<", "\n<")
    lines = _lines(text)
    total = added([tally for tally in (reader.read(lines) for reader in readers) if tally is not None])
    return None if total is None else TestCounts(*total)


def why_failed(output: str) -> Reason:
    """The reason that dominates in the output of a test command that failed; UNKNOWN where nothing tells."""
    return find_reason(_lines(_plain(output)))
