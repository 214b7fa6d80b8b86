"""JUnit's XML where it is printed, and Maven's closing line.

Sources: the JUnit schema of Jenkins and of Ant's JUnitReport; surefire's DefaultReporterFactory.java.

1. Test cases are counted, not the suites' attributes: suites may be nested, cases never are.
2. Maven prints one line a class (with the time it took) and one for the module: only the last counts.
"""

import re
from collections.abc import Sequence

from .tally import Tally, added

_XML = re.compile(r"<(testcase|failure|error|skipped)\b|<(/testcase)>|(<!\[CDATA\[)|(\]\]>)")
_MAVEN = re.compile(
    r"(?:\[[A-Z]+\] )?Tests run: ([0-9]+), +Failures: ([0-9]+)(?:, +Errors: ([0-9]+), +Skipped: ([0-9]+))?\Z"
)


def read_xml(lines: Sequence[str]) -> Tally | None:
    """A JUnit report in the output, by whatever wrote it."""
    cases: list[str] = []
    inside = quoted = False
    for line in lines:
        for match in _XML.finditer(line) if "<" in line or "]]>" in line else ():
            word = match[1] or match[2] or match[3] or match[4]
            if quoted or word == "<![CDATA[":
                quoted = word != "]]>"
            elif word == "testcase":
                cases.append("passed")
                inside = True
            elif word == "/testcase":
                inside = False
            elif inside and word in ("failure", "error"):
                cases[-1] = "failed"
            elif inside and word == "skipped" and cases[-1] == "passed":
                cases[-1] = "skipped"
    if not cases:
        return None
    return Tally(cases.count("passed"), cases.count("failed"), cases.count("skipped"))


def read_maven(lines: Sequence[str]) -> Tally | None:
    """Maven's surefire and failsafe."""
    found = []
    for line in lines:
        match = _MAVEN.match(line)
        if match is not None:
            total, failures, errors, skipped = (int(part or 0) for part in match.groups())
            found.append(Tally(max(0, total - failures - errors - skipped), failures + errors, skipped))
    return added(found)
