"""Output of test runners: the number of tests, and the reasons of failures.

Why tests failed, read from the output: the second half of a red proof.

1. SYNTAX dominates: a test file that does not parse proves nothing.
2. It means loading a file; a SyntaxError inside a running test, or by JSON.parse, does not count. JavaScript's "does
   not provide an export" is none either.
3. MISSING_SYMBOL: a name, module, field or signature that the tests use does not exist (yet). It precedes ASSERTION, as
   it may have hidden other tests.

Sources: CPython's exceptions, V8's and node's messages, TypeScript's diagnosticMessages.json (TS1xxx is syntax), `go
help build` and go/types' messages, rustc's error index, gcc, clang, javac, PHP, Ruby, Perl (perldiag), C# (CS…),
Kotlin, Scala, Swift, Dart and Elixir.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import unescape
from typing import Any, NamedTuple

from ..records import frozen
from .contract import FORMATS, UNREADABLE, Reason, TestCounts

_LOADING = re.compile(
    r"(?:# |E +|Exception during run: )?(?:SyntaxError|IndentationError|TabError): "
    r"|error: (?:expected |unexpected |mismatched closing |unknown start of token|unterminated )"
    r"|error: this file contains an un|syntax error, unexpected|syntax error at \S+ line [0-9]+, near"
)
"""Messages about an unparsable file, at a line's start."""

_SYNTAX = re.compile(
    r"Parse error: +syntax error|: syntax error[:,]? (?:near|unexpected)|error TS1[0-9]{3}: "
    r"|\.go:[0-9]+:[0-9]+: (?:syntax error|expected |missing ',' |string literal not|rune literal not)"
    r"|\.(?:c|cc|cpp|cxx|h|hpp|java|swift|kt):[0-9:]+ error: "
    r"(?:expected |unexpected |unterminated |unclosed |missing |illegal start |reached end of file|[^ ]{1,9} expected)"
    r"|Failed to parse source for import analysis|Transform failed with [0-9]+ error|\[PARSE_ERROR\]"
    r"|RollupError: Parse failure|Jest encountered an unexpected token"
)
_EXPORT = re.compile(
    r"The requested module .{1,300} (?:does not provide an export|is a CommonJS module)|Named export '"
)

_RUST_MISSING = (
    "0061|0107|0277|0369|0405|0407|0412|0422|0423|0424|0425|0426|0432|0433|0437|0438|0463|0559|0560|0574|0576|0583|"
    "0599|0603|0609|0616|0624"
)
_MISSING = re.compile(
    r"\b(?:ImportError|ModuleNotFoundError|NameError|AttributeError|NoMethodError|LoadError|ReferenceError)\b"
    r"|ERR_MODULE_NOT_FOUND|ERR_PACKAGE_PATH_NOT_EXPORTED"
    r"|\bis not (?:defined|a function|a constructor)\b"
    r"|[Cc]annot find (?:module|name|package|type|function|value|symbol|struct|trait|macro|crate)"
    r"|Failed to (?:resolve|load) (?:import|url)"
    r"|error TS(?:2304|2305|2307|2339|2551|2552|2554|2613|2614|2724): "
    r"|\bundefined: |undefined \(type |has no field or method|no required module provides|is not in (?:std|GOROOT)"
    r"|not enough arguments in call|too many arguments in call"
    r"|error\[E(?:" + _RUST_MISSING + r")\]|unresolved import"
    r"|was not declared in this scope|use of undeclared|undefined reference to|no member named"
    r"|fatal error: .{1,300}(?:No such file|not found)|error: package .{1,300} does not exist"
    r"|Call to undefined (?:function|method)|Class \".{1,300}\" not found|Undefined constant"
    r"|undefined (?:local variable or )?method|uninitialized constant"
    r"|Can't locate (?:\S+ in @INC|object method)|Undefined subroutine &"
    r"|error CS(?:0103|0117|0234|0246|1061|1501): |[Uu]nresolved reference|UndefinedFunctionError|undefined function "
    r"|[Cc]annot find '[^']{1,99}' in scope|not found: (?:value|type|object) |is not a member of "
    r"|isn't defined for the (?:class|type)|Error when reading '[^']{1,300}': No such file"
)
_ASSERTION = re.compile(
    r"Assertion(?:Failed)?Error|ERR_ASSERTION"
    r"|^E +assert |- assert |DID NOT RAISE|^E +Failed: "
    r"|assertion (?:`[^`]{1,99}` )?failed"
    r"|--- FAIL: |expect\(|Failed asserting that|Failure/Error: |^ *Failure:$|^FAIL: |^ *#   Failed test "
)

_PYTEST_SECTION = re.compile(r"=+ ([A-Za-z ]+) =+\Z")
_UNITTEST_BLOCK = re.compile(r"(?:ERROR|FAIL): ")


def find_reason(lines: Sequence[str]) -> Reason:
    """The dominant reason in an output's plain lines."""
    found = Reason.UNKNOWN
    in_test = False  # inside of the report on a test that ran
    jest = False  # which indents what it reports
    for line in lines:
        if (section := _PYTEST_SECTION.match(line)) is not None:
            in_test = section[1] in ("FAILURES", "PASSES")
            continue
        if _UNITTEST_BLOCK.match(line):
            in_test = "_FailedTest" not in line
        elif line.lstrip().startswith("● "):  # jest's headline for a test or a file
            in_test = not line.endswith("Test suite failed to run")
            jest = True
        if _EXPORT.search(line):
            found = Reason.MISSING_SYMBOL
        elif (
            not in_test
            and "JSON" not in line
            and (_LOADING.match(line.lstrip(" ") if jest else line) or _SYNTAX.search(line))
        ):
            return Reason.SYNTAX
        elif found is not Reason.MISSING_SYMBOL:
            if _MISSING.search(line):
                found = Reason.MISSING_SYMBOL
            elif _ASSERTION.search(line):
                found = Reason.ASSERTION
    return found


# A reader gets the lines of one output, without escape codes and blank lines, and gives a Tally for each summary of its
# format. Several summaries (a monorepo) are added up. A pattern never scans a bounded line twice.
class Tally(NamedTuple):
    """Tests that passed, failed (or were not collected), and were skipped."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def plus(self, other: "Tally") -> "Tally":
        return Tally(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)


@frozen
class Reader:
    """`read` runs only if one of the `marks` occurs: a cheap test for long logs."""

    marks: tuple[str, ...]
    read: Callable[[Sequence[str]], Iterable[Tally]]


# ctest: CMake, Source/CTest/cmCTestTestHandler.cxx. A skipped test is among the passed ones, a disabled one in no
# number; both are listed as "did not run".
_SUMMARY = re.compile(r"[0-9]+% tests passed, ([0-9]+) tests? failed(?: out of ([0-9]+))?")
_NOT_RUN = re.compile(r"[ \t]+[0-9]+ - .*\((Skipped|Disabled)\)")


def read_ctest(lines: Sequence[str]) -> list[Tally]:
    found: list[Tally] = []
    for line in lines:
        if line.startswith("No tests were found!!!"):
            found.append(Tally())
            continue
        summary = _SUMMARY.match(line)
        if summary is not None and summary[2] is not None:
            failed, total = int(summary[1]), int(summary[2])
            found.append(Tally(total - failed, failed, 0))
            continue
        not_run = _NOT_RUN.match(line) if found else None
        if not_run is not None:
            was_passed = not_run[1] == "Skipped" and found[-1].passed > 0
            found[-1] = found[-1].plus(Tally(passed=-1 if was_passed else 0, skipped=1))
    return found


# go test: `go help test`, `go doc test2json`, src/cmd/go/internal/test/test.go. The plain form tells packages only: an
# `ok` one is one test that passed, a FAIL one that failed, a number that is never too high.
_TEST = re.compile(r"[ \t]*--- (PASS|FAIL|SKIP): \S+ \([0-9.]+s\)")
_PACKAGE = re.compile(r"(ok  |FAIL|\?   )\t(\S+)(.*)")


def read_go(lines: Sequence[str]) -> Iterator[Tally]:
    yield from filter(None, (_read_json(lines), _read_text(lines)))


def _read_text(lines: Sequence[str]) -> Tally | None:
    verbose = any(line.startswith("=== RUN ") for line in lines)
    passed = failed = skipped = 0
    found = verbose
    failed_before = 0
    for line in lines:
        if (package := _PACKAGE.match(line)) is not None:
            found = True
            if package[1] == "FAIL" and (not verbose or failed == failed_before):
                failed += 1
            elif package[1] == "ok  " and not verbose and "[no tests to run]" not in package[3]:
                passed += 1
            failed_before = failed
            continue
        test = _TEST.match(line) if verbose else None
        if test is not None:
            passed += test[1] == "PASS"
            failed += test[1] == "FAIL"
            skipped += test[1] == "SKIP"
    return Tally(passed, failed, skipped) if found else None


def _read_json(lines: Sequence[str]) -> Tally | None:
    ends = {"pass": 0, "fail": 0, "skip": 0}
    to_blame: set[str] = set()  # packages with a test that failed
    found = False
    for line in lines:
        if not (line.startswith("{") and '"Action":"' in line) or '"Action":"output"' in line:
            continue
        event = _object(line)
        action, package = _text(event.get("Action")), _text(event.get("Package"))
        found = found or "Package" in event
        if action not in ends or "Package" not in event:
            continue
        if "Test" in event:
            ends[action] += 1
            if action == "fail":
                to_blame.add(package)
        elif action == "fail" and package not in to_blame:
            ends["fail"] += 1
    return Tally(ends["pass"], ends["fail"], ends["skip"]) if found else None


def _object(line: str) -> dict[str, Any]:
    """The line's JSON object; empty if it is none."""
    try:
        told = json.loads(line)
    except UNREADABLE:
        return {}
    return told if isinstance(told, dict) else {}


def _objects(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


# phpunit: src/TextUI/Output/SummaryPrinter.php. Incomplete tests are skipped; warnings, notices and deprecations are
# remarks on tests that are counted already; a risky test has passed.
_OK = re.compile(r"OK \(([0-9]+) tests?, [0-9]+ assertions?\)\Z")
_COUNTS = re.compile(r"Tests: [0-9]+, Assertions: [0-9]+(?:, [A-Za-z ]+: [0-9]+)*\.\Z")
_NUMBER = re.compile(r"(?<![A-Za-z ])([A-Za-z ]++): ([0-9]+)")


def read_phpunit(lines: Sequence[str]) -> Iterator[Tally]:
    for line in lines:
        if (fine := _OK.match(line)) is not None:
            yield Tally(passed=int(fine[1]))
        elif line.startswith("No tests executed!"):
            yield Tally()
        elif _COUNTS.match(line):
            number = {word.strip(): int(count) for word, count in _NUMBER.findall(line)}
            failed = number.get("Errors", 0) + number.get("Failures", 0)
            skipped = number.get("Skipped", 0) + number.get("Incomplete", 0)
            yield Tally(max(0, number["Tests"] - failed - skipped), failed, skipped)


# pytest: _pytest/terminal.py (`build_summary_stats_line`); unittest: CPython's Lib/unittest/runner.py. An expected
# failure is skipped; an unexpected success has passed for pytest and failed for unittest, which counts each failing
# subtest but runs one test.
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

_RAN_TESTS = re.compile(r"Ran ([0-9]+) tests? in [0-9.]+s\Z")
_PART = r"[a-z]+(?: [a-z]+)?=[0-9]+"
_VERDICT = re.compile(rf"(?:OK|FAILED|NO TESTS RAN)(?: \(({_PART}(?:, {_PART})*)\))?\Z")


def read_pytest(lines: Sequence[str]) -> Iterator[Tally]:
    for line in lines:
        match = _PYTEST.match(line) if " in " in line else None
        if match is None:
            continue
        counts = {"passed": 0, "failed": 0, "skipped": 0}
        parts = [] if match[1] == "no tests ran" else [part.split(" ", 1) for part in match[1].split(", ")]
        if any(word not in _PYTEST_WORDS for _, word in parts):
            continue
        for number, word in parts:
            if (kind := _PYTEST_WORDS[word]) is not None:
                counts[kind] += int(number)
        yield Tally(**counts)


def read_unittest(lines: Sequence[str]) -> Iterator[Tally]:
    for place, line in enumerate(lines):
        ran = _RAN_TESTS.match(line)
        verdict = _VERDICT.match(lines[place + 1]) if ran and place + 1 < len(lines) else None
        if ran is None or verdict is None:
            continue
        said = dict(part.rsplit("=", 1) for part in verdict[1].split(", ")) if verdict[1] else {}
        number = {key: int(value) for key, value in said.items()}
        skipped = number.get("skipped", 0) + number.get("expected failures", 0)
        failed = number.get("failures", 0) + number.get("errors", 0) + number.get("unexpected successes", 0)
        failed = min(failed, max(1, int(ran[1]) - skipped))
        yield Tally(max(0, int(ran[1]) - failed - skipped), failed, skipped)


# rspec-core, lib/rspec/core/notifications.rb (`totals_line`); minitest, lib/minitest.rb (`SummaryReporter#summary`). An
# error outside of the examples is a file that could not be loaded: a failure.
_RSPEC = re.compile(
    r"([0-9]+) examples?, ([0-9]+) failures?(?:, ([0-9]+) pending)?"
    r"(?:, ([0-9]+) errors? occurred outside of examples)?\Z"
)
_MINITEST = re.compile(
    r"([0-9]+) (?:runs|tests), [0-9]+ assertions, ([0-9]+) failures, ([0-9]+) errors,"
    r"(?: [0-9]+ pendings, ([0-9]+) omissions,| ([0-9]+) skips)"
)


def read_ruby(lines: Sequence[str]) -> Iterator[Tally]:
    for line in lines:
        if (spec := _RSPEC.match(line)) is not None:
            total, failed, pending, outside = (int(part or 0) for part in spec.groups())
            yield Tally(max(0, total - failed - pending), failed + outside, pending)
            continue
        if (mini := _MINITEST.match(line)) is not None:
            total, failures, errors, omitted, skips = (int(part or 0) for part in mini.groups())
            failed, skipped = failures + errors, omitted + skips
            yield Tally(max(0, total - failed - skipped), failed, skipped)


# cargo test: library/test/src/formatters/pretty.rs (`write_run_finish`). Ignored tests are skipped; filtered ones were
# not asked for.
_RESULT = re.compile(r"test result: (?:ok|FAILED)\. ([0-9]+) passed; ([0-9]+) failed; ([0-9]+) ignored;")
_NEXTEST = re.compile(r" +Summary \[ *[0-9.]+s\] [0-9/]+ tests? run: ([^\n]*)")
_NEXTEST_PART = re.compile(r"(?<![0-9])([0-9]++) (passed|failed|timed out|exec failed|skipped)")


def read_cargo(lines: Sequence[str]) -> Iterator[Tally]:
    for line in lines:
        if (result := _RESULT.match(line)) is not None:
            yield Tally(int(result[1]), int(result[2]), int(result[3]))
            continue
        if (summary := _NEXTEST.match(line)) is not None:
            number = {"passed": 0, "failed": 0, "timed out": 0, "exec failed": 0, "skipped": 0}
            number |= {word: int(count) for count, word in _NEXTEST_PART.findall(summary[1])}
            failed = number["failed"] + number["timed out"] + number["exec failed"]
            yield Tally(number["passed"], failed, number["skipped"])


# JUnit's XML (the schemas of Jenkins and Ant), and Maven's closing line (surefire's DefaultReporterFactory.java). Test
# cases are counted, since suites may be nested. Maven prints a line a class and one for the module: only the last
# counts.
_XML = re.compile(r"<(testcase|failure|error|skipped)\b|<(/testcase)>|(<!\[CDATA\[)|(\]\]>)")
_MAVEN = re.compile(
    r"(?:\[[A-Z]+\] )?Tests run: ([0-9]+), +Failures: ([0-9]+)(?:, +Errors: ([0-9]+), +Skipped: ([0-9]+))?\Z"
)


def read_xml(lines: Sequence[str]) -> Iterator[Tally]:
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
    if cases:
        yield Tally(cases.count("passed"), cases.count("failed"), cases.count("skipped"))


def read_maven(lines: Sequence[str]) -> Iterator[Tally]:
    for line in lines:
        if (match := _MAVEN.match(line)) is not None:
            total, failures, errors, skipped = (int(part or 0) for part in match.groups())
            yield Tally(max(0, total - failures - errors - skipped), failures + errors, skipped)


# jest-reporters' getSummary.ts and @jest/test-result; vitest's reporters/renderers/utils.ts; mocha's
# lib/reporters/base.js; ava's lib/reporters/default.js. A test that is to be written, or known to fail, is skipped; a
# file that could not be loaded is one failure.
_JEST = re.compile(r"Tests: +((?:[0-9]+ [a-z]+, )*)([0-9]+) total\Z")
_JEST_SUITES = re.compile(r"Test Suites: (?:[0-9]+ [a-z]+, )*[0-9]+")
_VITEST = re.compile(r" +Tests  (no tests|[0-9]+ [a-z ]+(?: \| [0-9]+ [a-z ]+)*\([0-9]+\))")
_FAILED_SUITES = re.compile(r"⎯+ *Failed Suites ([0-9]+) *⎯+")
_JEST_NUMBER = re.compile(r"""\{?"num(Passed|Failed|Pending|Todo|Total)Tests":([0-9]+)""")
_JEST_UNLOADED = re.compile(r"""\{?"numRuntimeErrorTestSuites":([0-9]+)""")
_FORMATS_NUMBER = re.compile(r"(?<![0-9])([0-9]++) ([a-z]+)")
_MOCHA = re.compile(r" +([0-9]+) (passing \([0-9a-z.]+\)|pending|failing)\Z")
_AVA = re.compile(
    r" +([0-9]+) (?:(?:test|hook)s? (passed|failed|skipped|todo)|known (failure)|(?:uncaught|unhandled) (\w+))s?\Z"
)


def read_jest(lines: Sequence[str]) -> Iterator[Tally]:
    """jest, also run through react-scripts and the like."""
    unloaded = suites = 0
    for line in lines:
        if line.strip() == "● Test suite failed to run":
            unloaded += 1
        elif _JEST_SUITES.match(line):
            numbers = {word: int(number) for number, word in _FORMATS_NUMBER.findall(line)}
            suites = numbers.get("failed", 0)
        else:
            match = _JEST.match(line)
            if match is None:
                continue
            numbers = {word: int(number) for number, word in _FORMATS_NUMBER.findall(match[1])}
            # jest repeats failures below a long run, but never has more files that failed than it says
            failed = numbers.get("failed", 0) + min(unloaded, suites)
            skipped = numbers.get("skipped", 0) + numbers.get("todo", 0) + numbers.get("pending", 0)
            yield Tally(numbers.get("passed", 0), failed, skipped)
            unloaded = suites = 0


def read_jest_json(lines: Sequence[str]) -> Iterator[Tally]:
    """jest --json and vitest --reporter=json, cut at the commas before its keys."""
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
                yield Tally(number.get("Passed", 0), number.get("Failed", 0) + unloaded, skipped)
                number, unloaded = {}, 0


def read_vitest(lines: Sequence[str]) -> Iterator[Tally]:
    """vitest run."""
    unloaded = 0
    for line in lines:
        if (suites := _FAILED_SUITES.match(line.strip())) is not None:
            unloaded = int(suites[1])
            continue
        match = _VITEST.match(line)
        if match is None:
            continue
        numbers = {word: int(number) for number, word in _FORMATS_NUMBER.findall(match[1])}
        skipped = numbers.get("skipped", 0) + numbers.get("todo", 0)
        yield Tally(numbers.get("passed", 0), numbers.get("failed", 0) + unloaded, skipped)
        unloaded = 0


def read_mocha(lines: Sequence[str]) -> list[Tally]:
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
    return found


def read_ava(lines: Sequence[str]) -> list[Tally]:
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
    return found


# TAP 14 (testanything.org); node's lib/internal/test_runner/reporter/{tap,spec}.js. Only top-level points count, and
# only with a plan: what was planned and never reported has failed, and so has a `Bail out!`. A summary below is
# believed instead.
_PLAN = re.compile(r"1\.\.([0-9]+)(?: *#.*)?\Z")
_POINT = re.compile(r"(not )?ok +(?:[0-9]|-|#)")
_DIRECTIVE = re.compile(r"# *(skip|todo)", re.IGNORECASE)
_FORMATS_SUMMARY = re.compile(
    r"[#ℹ] (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) +([0-9]+)(?:\.[0-9]+)?\Z"
)


class _Document:
    """One run's test points, as they come."""

    def __init__(self) -> None:
        self.planned: int | None = None
        self.points: list[Tally] = []

    @property
    def complete(self) -> bool:
        return self.planned is not None and len(self.points) >= self.planned

    def tally(self) -> list[Tally]:
        """Without a plan it was no TAP."""
        if self.planned is None:
            return []
        return [Tally(failed=max(0, self.planned - len(self.points))), *self.points]


def _point(line: str, failed: bool) -> Tally:
    directive = _DIRECTIVE.search(line)
    if directive is not None and (failed or directive[1].lower() == "skip"):
        return Tally(skipped=1)
    return Tally(failed=1) if failed else Tally(passed=1)


def read_tap(lines: Sequence[str]) -> list[Tally]:
    """TAP from bats, prove -v, tape, and node --test in both of its forms."""
    found: list[Tally] = []
    document = _Document()
    summary: dict[str, int] | None = None
    for line in lines:
        if (said := _FORMATS_SUMMARY.match(line)) is not None:
            if said[1] == "tests":
                found += _believed(summary)
                summary = {}
            elif said[1] == "pass" and summary is not None:
                document = _Document()
            if summary is not None:
                summary[said[1]] = int(said[2])
            continue
        if (plan := _PLAN.match(line)) is not None:
            if document.planned is not None:
                found += document.tally()
                document = _Document()
            document.planned = int(plan[1])
            continue
        if (point := _POINT.match(line)) is not None:
            if document.complete:
                found += document.tally()
                document = _Document()
            document.points.append(_point(line, failed=point[1] is not None))
        elif line.startswith("Bail out!"):
            document.planned = document.planned or 0
            document.points.append(Tally(failed=1))
    return [*found, *document.tally(), *_believed(summary)]


def _believed(summary: dict[str, int] | None) -> list[Tally]:
    if summary is None or "pass" not in summary:
        return []
    failed = summary.get("fail", 0) + summary.get("cancelled", 0)
    return [Tally(summary["pass"], failed, summary.get("skipped", 0) + summary.get("todo", 0))]


# The number of tests that a command ran, read from its output.
#
# 1. Every format that is found is read, and what they say is added up: `make test` may run two suites.
# 2. An output in which no reader finds anything gives None, which is not zero.
# 3. The output is untrusted and may be huge: escape codes go first, over-long lines are not a summary, and the
#    work is linear in its length.

MAX_LINE = 4000
"""A longer line is not a summary. JUnit's XML is split at its tags first, since it may be one line."""

READERS: Mapping[str, Reader] = {
    "pytest": Reader((" in ",), read_pytest),
    "unittest": Reader(("Ran ",), read_unittest),
    "go test": Reader(("=== RUN ", "ok  \t", "FAIL\t", "?   \t", '"Action":"'), read_go),
    "cargo test": Reader(("test result: ", " run: "), read_cargo),
    "TAP and node --test": Reader(("1..", "# tests ", "ℹ tests ", "Bail out!"), read_tap),
    "jest": Reader(("Tests: ",), read_jest),
    "jest --json": Reader(('"numTotalTests"',), read_jest_json),
    "vitest": Reader((" Tests  ",), read_vitest),
    "mocha": Reader((" passing (",), read_mocha),
    "ava": Reader(("  ─",), read_ava),
    "ctest": Reader(("tests passed, ", "No tests were found!!!"), read_ctest),
    "phpunit": Reader(("OK (", "Tests: ", "No tests executed!"), read_phpunit),
    "rspec and minitest": Reader((" example", " assertions, "), read_ruby),
    "JUnit XML": Reader(("<testsuite",), read_xml),
    "Maven": Reader(("Tests run: ",), read_maven),
}
"""To add a format: write its reader, add its line here and to FORMATS of contract.py, and add what it printed to
tests/unit/checks/test_test_counts.py."""

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])")


def _plain(output: str) -> str:
    return without_colours(output).replace("\r", "\n")


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.split("\n") if line and len(line) <= MAX_LINE and not line.isspace()]


def _readers(text: str, format_: str) -> list[str]:
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
    tallies = [tally for reader in readers for tally in reader.read(lines)]
    return TestCounts(*map(sum, zip(*tallies, strict=True))) if tallies else None


def format_of(output: str) -> str | None:
    """The one format whose reader finds a summary in the output; None: none does, or several do."""
    text = _plain(output)
    lines = plain_lines(output, text=text)
    found = [name for name in _readers(text, "auto") if any(True for _ in READERS[name].read(lines))]
    formats = {key for key, names in FORMATS.items() if set(names) & set(found)}
    return formats.pop() if len(formats) == 1 else None


def plain_lines(output: str, whole: bool = False, text: str | None = None) -> list[str]:
    """An output's lines for readers, without escape codes, empty lines and, unless `whole`, over-long ones."""
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
    return find_reason(_lines(_plain(output)))


def without_colours(output: str) -> str:
    return _ESCAPES.sub("", output) if "\x1b" in output else output


# A report that names fewer tests than it counts as failed tells nothing: who forgives the named ones would forgive the
# others unseen.
MAX_NAME = 300
MAX_FAILED_TESTS = 500
"""Names reported of one check; a report with more is not forgiven."""

_PYTEST_FAILED = re.compile(r"(?:FAILED|ERROR) (\S.*?)(?: - .*)?\Z")
_XML_CASE = re.compile(r"<testcase\b(.*)")
_ATTRIBUTE = re.compile(r"""\b(name|classname)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_TAP = re.compile(r"not ok +[0-9]*(?: +-)? *([^#]*)(#.*)?\Z")


def _pytest(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        match = _PYTEST_FAILED.match(line)
        # unittest and logs speak of FAILED and ERROR too; pytest names a file or a test in one
        if match is not None and ("::" in match[1] or match[1].endswith(".py")):
            # a parameter may hold the dash that ends a name: then nobody can tell where it ends
            yield match[1] if match[1].count("[") == match[1].count("]") else ""


def _go(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        event = _object(line) if line.startswith("{") and '"Action":"fail"' in line else {}
        if test := _text(event.get("Test")):
            yield f"{_text(event.get('Package'))}/{test}"


def _tap(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        match = _TAP.match(line)
        if match is not None and not (match[2] or "").lower().lstrip("# ").startswith(("todo", "skip")):
            yield match[1].strip()


def _jest(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        told = _object(line) if '"numTotalTests"' in line else {}
        for suite in _objects(told.get("testResults")):
            cases = _objects(suite.get("assertionResults"))
            yield from (_text(case.get("fullName")) for case in cases if case.get("status") == "failed")


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


_NAMERS = {"pytest": _pytest, "go": _go, "tap": _tap, "jest": _jest, "junit": _junit}


def failing_tests(output: str, format_: str, counts: TestCounts | None) -> tuple[str, ...]:
    """The names of all failed tests, sorted; empty if none failed or the report is incomplete."""
    if counts is None or not counts.failed:
        return ()
    found_in = format_of(output) if format_ == "auto" else format_
    namer = _NAMERS.get(found_in or "")
    if namer is None:
        return ()
    whole = found_in == "jest"  # one line of JSON, however long
    names = {
        "".join(c for c in name if c.isprintable()).strip()[:MAX_NAME] for name in namer(plain_lines(output, whole))
    }
    return () if "" in names or len(names) != counts.failed or len(names) > MAX_FAILED_TESTS else tuple(sorted(names))
