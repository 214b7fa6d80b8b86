"""jest, vitest, mocha and ava. (node --test speaks TAP or a variant of its summary: see `tap`.)

Sources: jest-reporters' getSummary.ts; vitest's reporters/renderers/utils.ts (`getStateString`);
mocha's lib/reporters/base.js (`epilogue`); ava's lib/reporters/default.js (`endRun`);
jest's @jest/test-result, AggregatedResult.

1. A test that is still to be written (todo, pending) is skipped.
2. A file that could not be loaded has no tests to report: each counts as one failure.
3. A test that is known to fail (ava's `test.failing`) is skipped: it says nothing of the code.
"""

import re
from collections.abc import Sequence

from .tally import Tally, added

_JEST = re.compile(r"Tests: +((?:[0-9]+ [a-z]+, )*)([0-9]+) total\Z")
_JEST_SUITES = re.compile(r"Test Suites: (?:[0-9]+ [a-z]+, )*[0-9]+")
_VITEST = re.compile(r" +Tests  (no tests|[0-9]+ [a-z ]+(?: \| [0-9]+ [a-z ]+)*\([0-9]+\))")
_FAILED_SUITES = re.compile(r"⎯+ *Failed Suites ([0-9]+) *⎯+")
_JEST_NUMBER = re.compile(r"""\{?"num(Passed|Failed|Pending|Todo|Total)Tests":([0-9]+)""")
_JEST_UNLOADED = re.compile(r"""\{?"numRuntimeErrorTestSuites":([0-9]+)""")
_NUMBER = re.compile(r"([0-9]+) ([a-z]+)")
_MOCHA = re.compile(r" +([0-9]+) (passing \([0-9a-z.]+\)|pending|failing)\Z")
_AVA = re.compile(
    r" +([0-9]+) (?:(?:test|hook)s? (passed|failed|skipped|todo)|known (failure)|(?:uncaught|unhandled) (\w+))s?\Z"
)


def read_jest(lines: Sequence[str]) -> Tally | None:
    """jest, also run through react-scripts and the like."""
    found = []
    unloaded = suites = 0
    for line in lines:
        if line.strip() == "● Test suite failed to run":
            unloaded += 1
        elif _JEST_SUITES.match(line):
            numbers = {word: int(number) for number, word in _NUMBER.findall(line)}
            suites = numbers.get("failed", 0)
        else:
            match = _JEST.match(line)
            if match is None:
                continue
            numbers = {word: int(number) for number, word in _NUMBER.findall(match[1])}
            # jest repeats failures below a long run, but never has more files that failed than it says
            failed = numbers.get("failed", 0) + min(unloaded, suites)
            skipped = numbers.get("skipped", 0) + numbers.get("todo", 0) + numbers.get("pending", 0)
            found.append(Tally(numbers.get("passed", 0), failed, skipped))
            unloaded = suites = 0
    return added(found)


def read_jest_json(lines: Sequence[str]) -> Tally | None:
    """jest --json and vitest --reporter=json, cut at the commas before its keys."""
    found = []
    number: dict[str, int] = {}
    unloaded = 0
    for line in lines:
        suites = _JEST_UNLOADED.match(line)
        match = _JEST_NUMBER.match(line)
        if suites is not None:
            unloaded = int(suites[1])
        elif match is not None:
            number[match[1]] = int(match[2])
            if match[1] == "Total":  # the last of them: the keys are sorted
                skipped = number.get("Pending", 0) + number.get("Todo", 0)
                found.append(Tally(number.get("Passed", 0), number.get("Failed", 0) + unloaded, skipped))
                number, unloaded = {}, 0
    return added(found)


def read_vitest(lines: Sequence[str]) -> Tally | None:
    """vitest run."""
    found = []
    unloaded = 0
    for line in lines:
        suites = _FAILED_SUITES.match(line.strip())
        if suites is not None:
            unloaded = int(suites[1])
            continue
        match = _VITEST.match(line)
        if match is None:
            continue
        numbers = {word: int(number) for number, word in _NUMBER.findall(match[1])}
        skipped = numbers.get("skipped", 0) + numbers.get("todo", 0)
        found.append(Tally(numbers.get("passed", 0), numbers.get("failed", 0) + unloaded, skipped))
        unloaded = 0
    return added(found)


def read_mocha(lines: Sequence[str]) -> Tally | None:
    """mocha's spec, dot, min and list reporters."""
    found: list[Tally] = []
    since = 9
    for line in lines:
        match = _MOCHA.match(line)
        since += 1
        if match is None:
            continue
        if match[2].startswith("passing"):
            found.append(Tally(passed=int(match[1])))
            since = 0
        elif found and since <= 2:
            more = Tally(skipped=int(match[1])) if match[2] == "pending" else Tally(failed=int(match[1]))
            found[-1] = found[-1].plus(more)
    return added(found)


def read_ava(lines: Sequence[str]) -> Tally | None:
    """ava's own reporter: what it counts below its last rule."""
    found: list[Tally] = []
    is_below = False
    for line in lines:
        if line.strip() == "─":
            is_below = True
            continue
        match = _AVA.match(line) if is_below else None
        if match is None:
            is_below = False
            continue
        number = int(match[1])
        if match[2] == "passed":
            found.append(Tally(passed=number))
        elif match[2] == "failed" or match[4]:
            found.append(Tally(failed=number))
        else:
            found.append(Tally(skipped=number))
    return added(found)
