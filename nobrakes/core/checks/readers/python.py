"""pytest's last line and unittest's last two.

Sources: docs.pytest.org "Managing pytest's output" and _pytest/terminal.py (`build_summary_stats_line`);
CPython's Lib/unittest/runner.py (`TextTestRunner.run`).

1. An error of pytest (a fixture, or a file that cannot be collected) is a failure.
2. An expected failure proves nothing and counts as skipped; an unexpected success has passed for pytest
   (which fails it itself where it is strict) and has failed for unittest.
3. unittest counts each failing subtest, but runs one test: no more tests fail than ran, or one where a
   class or module could not be set up.
"""

import re
from collections.abc import Sequence

from .tally import Tally, added

_PYTEST = re.compile(
    r"(?:=+ )?(no tests ran|[0-9]+ [a-z]+(?: [a-z]+)?(?:, [0-9]+ [a-z]+(?: [a-z]+)?)*)"
    r" in [0-9.]+ ?s(?:econds)?(?: \([0-9a-z, :.]+\))?(?: =+)?\Z"
)
_PYTEST_WORDS = {
    "passed": "passed",
    "xpassed": "passed",
    "failed": "failed",
    "error": "failed",
    "errors": "failed",
    "skipped": "skipped",
    "xfailed": "skipped",
    "deselected": None,
    "warning": None,
    "warnings": None,
    "rerun": None,
    "subtests passed": None,
    "subtests failed": None,
    "subtests skipped": None,
}

_RAN = re.compile(r"Ran ([0-9]+) tests? in [0-9.]+s\Z")
_PART = r"[a-z]+(?: [a-z]+)?=[0-9]+"
_VERDICT = re.compile(rf"(?:OK|FAILED|NO TESTS RAN)(?: \(({_PART}(?:, {_PART})*)\))?\Z")


def read_pytest(lines: Sequence[str]) -> Tally | None:
    """pytest, with or without -q, and with pytest-xdist."""
    found = []
    for line in lines:
        match = _PYTEST.match(line) if " in " in line else None
        if match is None:
            continue
        counts = {"passed": 0, "failed": 0, "skipped": 0}
        parts = [] if match[1] == "no tests ran" else [part.split(" ", 1) for part in match[1].split(", ")]
        if any(word not in _PYTEST_WORDS for _, word in parts):
            continue
        for number, word in parts:
            kind = _PYTEST_WORDS[word]
            if kind is not None:
                counts[kind] += int(number)
        found.append(Tally(**counts))
    return added(found)


def read_unittest(lines: Sequence[str]) -> Tally | None:
    """python -m unittest, and whatever prints like it (Django, nose)."""
    found = []
    for place, line in enumerate(lines):
        ran = _RAN.match(line)
        verdict = _VERDICT.match(lines[place + 1]) if ran and place + 1 < len(lines) else None
        if ran is None or verdict is None:
            continue
        said = dict(part.rsplit("=", 1) for part in verdict[1].split(", ")) if verdict[1] else {}
        number = {key: int(value) for key, value in said.items()}
        skipped = number.get("skipped", 0) + number.get("expected failures", 0)
        failed = number.get("failures", 0) + number.get("errors", 0) + number.get("unexpected successes", 0)
        failed = min(failed, max(1, int(ran[1]) - skipped))
        found.append(Tally(max(0, int(ran[1]) - failed - skipped), failed, skipped))
    return added(found)
