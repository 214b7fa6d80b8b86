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
    "jest --json": Reader(('"numTotalTests"',), javascript.read_jest_json),
    "vitest": Reader((" Tests  ",), javascript.read_vitest),
    "mocha": Reader((" passing (",), javascript.read_mocha),
    "ava": Reader(("  ─",), javascript.read_ava),
    "ctest": Reader(("tests passed, ", "No tests were found!!!"), cmake.read),
    "phpunit": Reader(("OK (", "Tests: ", "No tests executed!"), php.read),
    "rspec and minitest": Reader((" example", " assertions, "), ruby.read),
    "JUnit XML": Reader(("<testsuite",), java.read_xml),
    "Maven": Reader(("Tests run: ",), java.read_maven),
}
"""To add a format: write its reader, add its line here and to FORMATS, and add what it printed to
tests/unit/core/checks/test_test_counts.py."""

FORMATS: Mapping[str, tuple[str, ...]] = {
    "pytest": ("pytest",),
    "unittest": ("unittest",),
    "go": ("go test",),
    "cargo": ("cargo test",),
    "tap": ("TAP and node --test",),
    "jest": ("jest", "jest --json"),
    "vitest": ("vitest",),
    "mocha": ("mocha",),
    "ava": ("ava",),
    "ctest": ("ctest",),
    "phpunit": ("phpunit",),
    "ruby": ("rspec and minitest",),
    "junit": ("JUnit XML",),
    "maven": ("Maven",),
}
"""What a check's `format` may be, beside auto (every reader) and exit (none)."""

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
    text = without_colours(output)
    if "\r" in text:
        text = text.replace("\r", "\n")
    return text


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.split("\n") if line and len(line) <= MAX_LINE and not line.isspace()]


def _readers(text: str, format_: str) -> list[str]:
    """The readers that are asked: those of the format whose marks are in the text."""
    names = READERS if format_ == "auto" else FORMATS.get(format_, ())
    found = [name for name in names if any(mark in text for mark in READERS[name].marks)]
    return [name for name in found if name != "jest" or "jest --json" not in found]  # which prints its summary as well


def count_tests(output: str, format_: str = "auto") -> TestCounts | None:
    """The sum of every summary in the output, in this format or in any; None where no reader finds one."""
    text = _plain(output)
    readers = [READERS[name] for name in _readers(text, format_)]
    if not readers:
        return None
    lines = plain_lines(output, text=text)
    total = added([tally for tally in (reader.read(lines) for reader in readers) if tally is not None])
    return None if total is None else TestCounts(*total)


def format_of(output: str) -> str | None:
    """The one format whose reader finds a summary in the output; None: none does, or several do."""
    text = _plain(output)
    lines = plain_lines(output, text=text)
    found = [name for name in _readers(text, "auto") if READERS[name].read(lines) is not None]
    formats = {key for key, names in FORMATS.items() if set(names) & set(found)}
    return formats.pop() if len(formats) == 1 else None


def plain_lines(output: str, whole: bool = False, text: str | None = None) -> list[str]:
    """The lines of an output as readers get them: no escape codes, none empty, and unless `whole` none over-long."""
    text = _plain(output) if text is None else text
    if "<testsuite" in text:
        text = text.replace("<", "\n<")
    if whole:
        return [line.rstrip() for line in text.split("\n") if line and not line.isspace()]
    if '"numTotalTests"' in text:  # jest's JSON is one line, and its numbers are all that is wanted
        lines = text.split("\n")
        text = "\n".join(one.replace(',"', ',\n"') if '"numTotalTests"' in one else one for one in lines)
    return _lines(text)


def why_failed(output: str) -> Reason:
    """The reason that dominates in the output of a test command that failed; UNKNOWN where nothing tells."""
    return find_reason(_lines(_plain(output)))


def without_colours(output: str) -> str:
    """What a tool printed, without the codes that colour it."""
    return _ESCAPES.sub("", output) if "\x1b" in output else output
