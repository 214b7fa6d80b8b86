"""The number of tests that a command ran, read from its output.

1. Every format that is found is read, and what they say is added up: `make test` may run two suites.
2. An output in which no reader finds anything gives None, which is not zero.
3. The output is untrusted and may be huge: escape codes go first, over-long lines are no summary, and the
   work is linear in its length.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import unescape

from . import runners
from .contract import FORMATS, Reason, TestCounts
from .runners import Reader, added, find_reason

MAX_LINE = 4000
"""A longer line is no summary. JUnit's XML is cut at its tags first, since it may come as one line."""

READERS: Mapping[str, Reader] = {
    "pytest": Reader((" in ",), runners.read_pytest),
    "unittest": Reader(("Ran ",), runners.read_unittest),
    "go test": Reader(("=== RUN ", "ok  \t", "FAIL\t", "?   \t", '"Action":"'), runners.read_go),
    "cargo test": Reader(("test result: ", " run: "), runners.read_cargo),
    "TAP and node --test": Reader(("1..", "# tests ", "ℹ tests ", "Bail out!"), runners.read_tap),
    "jest": Reader(("Tests: ",), runners.read_jest),
    "jest --json": Reader(('"numTotalTests"',), runners.read_jest_json),
    "vitest": Reader((" Tests  ",), runners.read_vitest),
    "mocha": Reader((" passing (",), runners.read_mocha),
    "ava": Reader(("  ─",), runners.read_ava),
    "ctest": Reader(("tests passed, ", "No tests were found!!!"), runners.read_ctest),
    "phpunit": Reader(("OK (", "Tests: ", "No tests executed!"), runners.read_phpunit),
    "rspec and minitest": Reader((" example", " assertions, "), runners.read_ruby),
    "JUnit XML": Reader(("<testsuite",), runners.read_xml),
    "Maven": Reader(("Tests run: ",), runners.read_maven),
}
"""To add a format: write its reader, add its line here and to FORMATS of contract.py, and add what it printed to
tests/unit/checks/test_test_counts.py."""

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])")


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


# A report that names fewer tests than it counts as failed tells nothing: who forgives the named ones would forgive the
# others unseen.
MAX_NAME = 300
MAX_FAILED_TESTS = 500
"""So many names are told of one check; a report with more of them is not forgiven anything."""

_PYTEST = re.compile(r"(?:FAILED|ERROR) (\S.*?)(?: - .*)?\Z")
_XML_CASE = re.compile(r"<testcase\b(.*)")
_ATTRIBUTE = re.compile(r"""\b(name|classname)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_TAP = re.compile(r"not ok +[0-9]*(?: +-)? *([^#]*)(#.*)?\Z")


def _pytest(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        match = _PYTEST.match(line)
        # unittest and logs speak of FAILED and ERROR too; pytest names a file or a test in one
        if match is not None and ("::" in match[1] or match[1].endswith(".py")):
            # a parameter may hold the dash that ends a name: then nobody can tell where it ends
            yield match[1] if match[1].count("[") == match[1].count("]") else ""


def _go(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        if not (line.startswith("{") and '"Action":"fail"' in line):
            continue
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if "Test" in event:
            yield f"{event.get('Package', '')}/{event['Test']}"


def _tap(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        match = _TAP.match(line)
        if match is not None and not (match[2] or "").lower().lstrip("# ").startswith(("todo", "skip")):
            yield match[1].strip()


def _jest(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        if '"numTotalTests"' not in line:
            continue
        try:
            told = json.loads(line)
        except ValueError:
            continue
        for suite in told.get("testResults", ()):
            cases = suite.get("assertionResults", ())
            yield from (str(case.get("fullName", "")) for case in cases if case.get("status") == "failed")


def _junit(lines: Sequence[str]) -> Iterator[str]:
    name = ""
    quoted = False
    for line in lines:  # each begins with a tag, or goes on with a text
        if quoted or line.startswith("<![CDATA["):
            quoted = "]]>" not in line
            continue
        if (case := _XML_CASE.match(line)) is not None:
            said = {key: unescape(one or other) for key, one, other in _ATTRIBUTE.findall(case[1])}
            name = f"{said['classname']}.{said.get('name', '')}" if said.get("classname") else said.get("name", "")
        elif line.startswith(("<failure", "<error")) and name:
            yield name
            name = ""  # a case may hold several failures
        elif line.startswith("</testcase"):
            name = ""


_NAMERS: Mapping[str, Callable[[Sequence[str]], Iterator[str]]] = {
    "pytest": _pytest,
    "go": _go,
    "tap": _tap,
    "jest": _jest,
    "junit": _junit,
}


def failing_tests(output: str, format_: str, counts: TestCounts | None) -> tuple[str, ...]:
    """The names of all tests that failed, sorted; empty where none did, or where the report does not name them all."""
    if counts is None or not counts.failed:
        return ()
    found_in = format_of(output) if format_ == "auto" else format_
    namer = _NAMERS.get(found_in or "")
    if namer is None:
        return ()
    whole = found_in == "jest"  # one line of JSON, however long
    names = {_clean(name) for name in namer(plain_lines(output, whole))}
    if "" in names or len(names) != counts.failed or len(names) > MAX_FAILED_TESTS:
        return ()
    return tuple(sorted(names))


def _clean(name: str) -> str:
    return "".join(c for c in name if c.isprintable()).strip()[:MAX_NAME]
