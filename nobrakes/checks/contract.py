"""Checks: the commands of the project's contract, and the meaning of their endings.

1. An outcome is pass, fail, not-run or broken. Only pass merges; only fail is blamed on the bead.
2. Exit 126/127, a signal, a timeout or no collected test is never a pass and never the bead's fault.
3. A test check whose tests cannot be counted (`checks.counts`) is not-run: exit code 0 does not prove that a test ran.
   Only `format = "exit"` relies on the exit code.
4. A tool of another version than wanted makes the check broken.
5. A failed set-up or checkout makes all checks broken: none was started.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING

from ..records import frozen
from ..text.cleaning import count

if TYPE_CHECKING:
    import ast

TOO_DEEP = (RecursionError, MemoryError)
UNREADABLE = (SyntaxError, ValueError, *TOO_DEEP)
"""What `ast` raises for code of others: no Python, null bytes, or nested deeper than it parses or prints."""

_SLOW = re.compile(rb"(?:[^\n]*\n)?[^\n]*coding[:=]\s*(?:puny|idna)", re.IGNORECASE)
"""Encodings that take quadratic time, where Python looks for one."""


def parse_python(content: bytes) -> "ast.Module":
    """The code as Python reads it: by its own encoding, which a comment may name. Raises UNREADABLE."""
    import ast  # few commands read code

    if _SLOW.match(content):
        raise MemoryError("the file's encoding takes quadratic time to read")
    return ast.parse(content)


TAIL = 20_000
"""Characters of a command's output that are stored with its result."""

SETUP_FAILED = "the set-up (`setup`) failed"
"""The beginning of the reason for an unstarted check, and of our shell's line about it."""

NO_CHECKOUT = "no checkout could be made for the checks"

_ERROR = re.compile(
    r"\b(error|err!|errno|fatal|failed|failure|cannot|can't|could not|couldn't|unable|denied|refused|missing|panic"
    r"|not found|no such|no matching|does not exist|not installed|[a-z]*(error|exception):)",
    re.IGNORECASE,
)
_NAMED_ERROR = re.compile(r"(?:Error|Exception|\berror|\bfatal): |not found")
_NO_ERROR = re.compile(r"\bwarn(ing)?\b|\b(0|no) (errors?|failures?)\b", re.IGNORECASE)

EXIT = "exit"

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
"""Values of a check's `format`, beside auto (every reader) and exit (none)."""


@frozen
class TestCounts:
    """What a test command reported. `collected` = passed + failed + skipped."""

    passed: int
    failed: int
    skipped: int

    __test__ = False  # not a test class for pytest

    @property
    def ran(self) -> int:
        return self.passed + self.failed

    @property
    def collected(self) -> int:
        return self.passed + self.failed + self.skipped


class Reason(StrEnum):
    """The kind of failure that an output shows."""

    ASSERTION = "assertion"
    MISSING_SYMBOL = "missing_symbol"
    SYNTAX = "syntax"
    UNKNOWN = "unknown"


class CheckOutcome(StrEnum):
    """What a command's ending says."""

    PASS = "pass"
    FAIL = "fail"
    NOT_RUN = "not-run"
    BROKEN = "broken"


@frozen
class Check:
    """One command of the contract. `kind`: test, lint, types or build; only tests are counted. `directory`: below the
    checkout's top. `cached`: a recorded pass of the same tree replaces a run. `retry`: maximal repeats of a failed run.
    `tools`: pairs of a tool and its wanted versions. Neighbouring `parallel` checks run together. `report`: a glob of
    result files; `format`: their format."""

    name: str
    command: str
    kind: str = "test"
    timeout: float = 1800.0
    min_tests: int = 1
    directory: str = ""
    cached: bool = True
    retry: int = 0
    tools: tuple[tuple[str, str], ...] = ()
    parallel: bool = False
    report: str = ""
    format: str = "auto"

    @property
    def read_as(self) -> str:
        return "junit" if self.report else self.format


@frozen
class CheckEnd:
    """How a command ended. `code` None: it never wrote an exit code (killed, or not reached)."""

    check: Check
    code: int | None
    seconds: float = 0.0
    started: bool = True
    timed_out: bool = False
    output: str = ""  # its last part, bounded, untrusted
    setup: str = ""  # what was printed by the set-up, or by what comes before it, and how that failed
    unmet: str = ""  # which tool is not as it has to be
    trouble: str = ""  # why its files cannot be counted on
    left_out: int = 0  # bytes that it printed and that were not kept
    unreadable: str = ""  # why no tests are counted: a reader failed


@frozen
class CheckResult:
    """The judged end of one command."""

    name: str
    outcome: CheckOutcome
    reason: str
    code: int | None
    seconds: float
    counts: TestCounts | None = None
    tail: str = ""
    failing: tuple[str, ...] = ()  # all tests that failed, where its report names them
    repeated: tuple["CheckResult", ...] = ()  # the runs before this one, which failed
    quarantined: tuple[str, ...] = ()  # what failed, and a person lets it
    decoy: str = ""  # "seen" or "unseen", and the test that was altered; empty: none was (checks.probes)
    missed: tuple[str, ...] = ()  # the commits of the changes whose altered tests were unseen


@dataclass(frozen=True)
class Contract:
    """A tree's commands in order, and a digest of their environment. `quarantined`: (check, test) (review.queue)."""

    setup: str
    checks: tuple[Check, ...]
    environment: str = ""
    quarantined: tuple[tuple[str, str], ...] = ()

    @property
    def cached(self) -> bool:
        return all(check.cached for check in self.checks)

    @cached_property
    def key(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    @cached_property
    def text(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)

    @staticmethod
    def parse(text: str) -> "Contract | None":
        """None: missing, or incomplete."""
        try:
            kept = json.loads(text)
        except ValueError:
            return None
        checks = ({**check, "tools": tuple(map(tuple, check.get("tools", ())))} for check in kept["checks"])
        pairs = tuple((check, test) for check, test in kept.get("quarantined", ()))
        return Contract(kept["setup"], tuple(Check(**check) for check in checks), kept["environment"], pairs)


def digest(environment: Mapping[str, str]) -> str:
    """Without TERM: no check runs in a terminal, and people change theirs."""
    pairs = sorted((name, value) for name, value in environment.items() if name != "TERM")
    return hashlib.sha256(json.dumps(pairs).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def judge(end: CheckEnd, counts: TestCounts | None, failing: tuple[str, ...] = ()) -> CheckResult:
    """The outcome of one command, failing closed."""

    def result(outcome: CheckOutcome, reason: str) -> CheckResult:
        if end.left_out:
            left = f"{count(end.left_out, 'byte')} of it {'was' if end.left_out == 1 else 'were'}"
            reason += f"; the output was too long: {left} not stored"
        return CheckResult(end.check.name, outcome, reason, end.code, end.seconds, counts, end.output[-TAIL:], failing)

    if end.setup:
        what = SETUP_FAILED if is_of_setup(end.setup) else NO_CHECKOUT
        return result(CheckOutcome.BROKEN, f"{what}: {first_error(end.setup)}")
    if end.unmet:
        return result(CheckOutcome.BROKEN, end.unmet)
    if not end.started:
        return result(CheckOutcome.NOT_RUN, "the check was not started")
    if end.timed_out:
        return result(CheckOutcome.BROKEN, f"the check ran longer than {end.check.timeout:.0f} s and was stopped")
    if end.code is None:
        return result(CheckOutcome.BROKEN, "the check was killed before it ended")
    if end.code == 127:
        return result(CheckOutcome.BROKEN, f"the command was not found: {end.check.command}")
    if end.code == 126:
        where = f"the checkout has no folder {end.check.directory}, or " if end.check.directory else ""
        return result(CheckOutcome.BROKEN, f"{where}the command is not executable: {end.check.command}")
    if end.code < 0 or end.code > 128:
        signal = -end.code if end.code < 0 else end.code - 128
        return result(CheckOutcome.BROKEN, f"the check was killed by signal {signal}")
    if end.check.kind == "test":
        if end.trouble:
            return result(CheckOutcome.NOT_RUN, f"nobrakes could not read the check's reports: {end.trouble}")
        uncounted = end.unreadable or (_uncounted(end.check) if counts is None else "")
        if uncounted and end.code == 0:
            return result(CheckOutcome.NOT_RUN, uncounted)
        if counts is not None and counts.collected == 0 and end.check.min_tests > 0:
            return result(CheckOutcome.NOT_RUN, "the check collected no test")
        if counts is not None and end.code == 0 and counts.failed:
            return result(CheckOutcome.FAIL, f"{count(counts.failed, 'test')} failed, but the exit code was 0")
        if counts is not None and end.code == 0 and counts.ran < end.check.min_tests:
            return result(
                CheckOutcome.NOT_RUN, f"only {count(counts.ran, 'test')} ran, fewer than {end.check.min_tests}"
            )
    if end.code == 0:
        return result(CheckOutcome.PASS, "it passed")
    return result(CheckOutcome.FAIL, f"exit code {end.code}" + (end.unreadable and f"; {end.unreadable}"))


def is_of_setup(printed: str) -> bool:
    return any(line.startswith(SETUP_FAILED) for line in printed.splitlines())


def setup_failed(results: Sequence[CheckResult]) -> str:
    """Why the set-up failed, so that no check started; "": it did not."""
    return next((one.reason for one in results if one.reason.startswith(SETUP_FAILED)), "")


def cannot_run(results: Sequence[CheckResult]) -> str:
    """Why this run says nothing of the commit: a failed set-up or unrunnable check; "": it says something."""
    if overall(results) is not CheckOutcome.BROKEN:
        return ""
    broken = (f"{one.name}: {one.reason}" for one in results if one.outcome is CheckOutcome.BROKEN)
    return setup_failed(results) or next(broken, "")


def first_error(printed: str) -> str:
    """The first line with an error, else the last line."""
    lines = [line.strip() for line in printed.strip().splitlines() if line.strip()]
    own = [line for line in lines if not line.startswith(SETUP_FAILED)]
    errors = (line for line in own if _ERROR.search(line) and not _NO_ERROR.search(line))
    return next(errors, (own or lines or [""])[-1])[:200]


def last_error(printed: str) -> str:
    """The last line that names an error as a program's end does; empty: none."""
    return next((line for line in reversed(printed.splitlines()) if _NAMED_ERROR.search(line)), "")


def _uncounted(check: Check) -> str:
    """Why a test command without a count proves nothing; "": its contract trusts the exit code."""
    if check.read_as == EXIT:
        return ""
    if check.read_as in FORMATS:
        where = f"no file that matches {check.report} contains" if check.report else "the output contains no"
        return f"{where} results in the format {check.read_as}"
    return (
        "nobrakes cannot tell how many tests ran; in [[checks]], set `format` to your test "
        'runner, `report` to the files that it writes, or format = "exit" to trust the exit code alone'
    )


def overall(results: Sequence[CheckResult]) -> CheckOutcome:
    """The outcome of a whole validation: the worst of its parts; without a check, not-run."""
    outcomes = {r.outcome for r in results}
    for outcome in (CheckOutcome.BROKEN, CheckOutcome.NOT_RUN, CheckOutcome.FAIL):
        if outcome in outcomes:
            return outcome
    return CheckOutcome.PASS if outcomes else CheckOutcome.NOT_RUN


def weaker(before: TestCounts | None, after: TestCounts | None) -> str | None:
    """Why `after` proves less than `before` did, or None: fewer tests, or more skipped ones."""
    if before is None or after is None:
        return None
    if after.skipped > before.skipped:
        return f"the branch skips {count(after.skipped - before.skipped, 'more test', 'more tests')} than main"
    if after.collected < before.collected:
        return f"the branch has {count(before.collected - after.collected, 'test fewer', 'tests fewer')} than main"
    return None


# Only a pass is green and only a failed check is red; whatever else could not say. A red one that stayed red CONFIRMING
# times more (review.queue) is confirmed.
class Verdict(StrEnum):
    """Of a commit: not run, running, or the result of its runs."""

    UNKNOWN = "unknown"
    RUNNING = "running"
    GREEN = "green"
    RED = "red"
    CONFIRMED = "confirmed"
    UNSURE = "unsure"


def verdict(results: Sequence[CheckResult]) -> Verdict:
    outcome = overall(results)
    if outcome is CheckOutcome.PASS:
        return Verdict.GREEN
    return Verdict.RED if outcome is CheckOutcome.FAIL else Verdict.UNSURE


# What is wanted is a list with commas: `>=3.11`, `<4`, `==1.2.3`, `!=2.0`, or `20`, which is any 20. Missing parts are
# zeros; what follows a `-` or `+` in a tool's version is left out.
Version = tuple[int, ...]

_ONE = re.compile(r"(>=|<=|==|!=|>|<|)\s*v?([0-9]{1,9}(?:\.[0-9]{1,9}){0,4})")
_FOUND = re.compile(r"(?<![0-9.])v?([0-9]{1,9}(?:\.[0-9]{1,9}){1,4})|(?<![0-9.\w-])v?([0-9]{1,9})(?![\w.])")

ASKED_WITH: Mapping[str, str] = {"go": "version"}


def mistake(wanted: str) -> str | None:
    if all(_ONE.fullmatch(part.strip()) for part in wanted.split(",")):
        return None
    return f"'{wanted[:40]}' is not a version: write '>=3.11', '>=3.11,<4', '==1.2.3', or '20' for any 20"


def found_in(said: str) -> Version | None:
    match = _FOUND.search(said)
    return tuple(map(int, (match[1] or match[2]).split("."))) if match is not None else None


def as_text(version: Version) -> str:
    return ".".join(map(str, version))


def meets(version: Version, wanted: str) -> bool:
    return all(_holds(version, part.strip()) for part in wanted.split(","))


def unmet(tool: str, wanted: str, code: int | None, said: str) -> str | None:
    """Why a tool's version does not satisfy a check; None: it does."""
    if code == 127:
        return f"the check needs {tool} {wanted}, but {tool} is not installed"
    if code is None:
        return f"the check needs {tool} {wanted}, but {tool} did not print its version"
    version = found_in(said)
    if version is None or code != 0:
        first = next((line.strip()[:80] for line in said.splitlines() if line.strip()), "nothing")
        return f"the check needs {tool} {wanted}, but instead of its version {tool} printed: {first}"
    return None if meets(version, wanted) else f"the check needs {tool} {wanted}, but found {as_text(version)}"


_OPERATORS: Mapping[str, Callable[[int], bool]] = {
    ">=": lambda order: order >= 0,
    "<=": lambda order: order <= 0,
    "==": lambda order: order == 0,
    "!=": lambda order: order != 0,
    ">": lambda order: order > 0,
    "<": lambda order: order < 0,
}


def _holds(version: Version, part: str) -> bool:
    match = _ONE.fullmatch(part)
    if match is None:
        return False
    bound = tuple(map(int, match[2].split(".")))
    return _OPERATORS[match[1]](_order(version, bound)) if match[1] else version[: len(bound)] == bound


def _order(one: Version, other: Version) -> int:
    return next((1 if a > b else -1 for a, b in zip_longest(one, other, fillvalue=0) if a != b), 0)
