"""Which tests failed, by their names, where the report of a test command tells them all.

1. Names are what the tool itself calls a test, so a person can copy them: `tests/test_a.py::test_x`, `pkg/TestX`.
2. A report that names fewer tests than it counts as failed tells nothing: who forgives the named ones would forgive the
   others unseen.
3. The report is untrusted: names are cleaned and bounded, and there is one reader a format.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import unescape

from .test_counts import TestCounts, format_of, plain_lines

LONGEST = 300
MOST = 500
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
        case = _XML_CASE.match(line)
        if case is not None:
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
    if "" in names or len(names) != counts.failed or len(names) > MOST:
        return ()
    return tuple(sorted(names))


def _clean(name: str) -> str:
    return "".join(c for c in name if c.isprintable()).strip()[:LONGEST]
