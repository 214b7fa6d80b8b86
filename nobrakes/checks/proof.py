"""Proofs from runs of tests: the red proof, test rounds, assertions, and the trial of main before agents start.

The red proof: do the Test Writer's tests fail on the base, for a reason that a Doer can remove?

1. Every test check ran and at least one fails. One skipped because an earlier one failed is fine; one that is broken or
   collected nothing is not.
2. They fail for an assertion or a missing symbol, never a syntax error. For an unknown reason, a counted failed test is
   required.
3. The base's tests must not become fewer. A missing symbol may hide tests, as an unloadable file or build reports none:
   then the Reviewer compares (checks.contract.weaker) on the tree to be merged.
4. A check without any test, or with a failed set-up, proves nothing. If it ends the same without the new tests, its
   runner or set-up is broken, and the tests are not blamed.
5. Neither are tests outside of all test checks' folders.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from ..beads.model import BeadType
from ..records import frozen
from ..text.cleaning import count as counted
from ..text.cleaning import first_of
from .contract import Check, CheckOutcome, CheckResult, Reason, TestCounts, overall, setup_failed


def judge_red(
    results: Sequence[CheckResult], counts_before: TestCounts | None, counts_after: TestCounts | None, reason: Reason
) -> str | None:
    """Why the tests are not proven red, for the next attempt; None: they are. `results`: test checks with the new tests
    on the base. `counts_before`: the base's, `counts_after`: the sum of `results`; None: unknown."""
    if not results:
        return "the project has no check of kind test, so no test can be proven to fail"
    failed = any(result.outcome is CheckOutcome.FAIL for result in results)
    for result in results:
        not_reached = result.outcome is CheckOutcome.NOT_RUN and result.code is None and failed
        if result.outcome in (CheckOutcome.BROKEN, CheckOutcome.NOT_RUN) and not not_reached:
            return f"the check {result.name} gave no result: {result.reason}"
    if not failed:
        return "the new tests already pass without the new code, so they prove nothing"
    if counts_after is not None and counts_after.collected == 0:
        return "no test was collected"
    if reason is Reason.SYNTAX:
        return "the tests have a syntax error, which does not count as a failing test"
    if reason is Reason.UNKNOWN and (counts_after is None or counts_after.failed == 0):
        return "the check failed, but the check's output shows no failing test"
    if reason is Reason.MISSING_SYMBOL or counts_before is None or counts_after is None:
        return None
    if counts_after.collected < counts_before.collected:
        fewer = counted(counts_before.collected - counts_after.collected, "test fewer is", "tests fewer are")
        return f"{fewer} collected than without the new tests; a Test Writer must not remove tests"
    if counts_after.failed <= counts_before.failed:
        return f"the new tests add no failing test: {counts_before.failed} also fail without the new tests"
    return None


def mute(results: Sequence[CheckResult]) -> tuple[CheckResult, ...]:
    return tuple(
        one
        for one in results
        if setup_failed([one])
        or (
            one.code is not None
            and (one.outcome is CheckOutcome.NOT_RUN or (one.outcome is CheckOutcome.FAIL and one.counts is None))
        )
    )


def mute_without_tests(results: Sequence[CheckResult], on_base: Sequence[CheckResult]) -> tuple[CheckResult, ...]:
    """The mute checks that end equally on the base."""
    ends = {_end(result) for result in mute(results)}
    return tuple(result for result in mute(on_base) if _end(result) in ends)


def _end(result: CheckResult) -> tuple[str, CheckOutcome, int | None, bool]:
    return result.name, result.outcome, result.code, result.counts is None


def unsearched_tests(paths: Sequence[str], checks: Sequence[Check]) -> str:
    """Message that no test check runs in a folder with these tests; "": one does."""
    folders = [check.directory.strip("/") for check in checks if check.kind == "test"]
    inside = any(folder in ("", ".") or path.startswith(f"{folder}/") for folder in folders for path in paths)
    if inside or not paths or not folders:
        return ""
    return (
        f"no test check covers the folder of these tests: {first_of(sorted(paths), 5)}. The test checks run in "
        f"{', '.join(sorted(set(folders)))}. Add a check to [[checks]], or change the `directory` of a check."
    )


# Test rounds: a call is one where it runs the program of a test check, in whatever way and once; what merely names it
# (`pip install pytest`) is none. Rounds in a row that fail in the same way are a streak, which a pass, another failure
# or an explanation (`nobrakes agent log`) ends. `nobrakes agent test` is counted where it is reported.
ROUNDS = "rounds"

_RUNNERS = r"python[\d.]*|node|ruby|perl|php|bash|sh|deno"
_WRAPPERS = r"uv|poetry|pipenv|pdm|hatch|rye|bundle|env|exec|time|nice|run|xvfb-run|timeout|stdbuf|\d+[smh]?"
_WITH_VERB = frozenset(
    ("npm", "npx", "pnpm", "yarn", "bun", "bunx", "cargo", "go", "make", "gmake", "mvn", "mvnw", "gradle", "gradlew",
     "dotnet", "mix", "rake", "deno", "swift", "sbt", "just", "task", "bazel", "cabal", "stack", "flutter", "dart")
)  # fmt: skip
"""Programs whose next word names the action."""

_START = r"""(?:^(?:[\w .-]{1,30}:\s)?|[;&|(\n`]|-l?c\s+['"]?|\$\()\s*"""
_BEFORE = rf"""(?:(?:\w+=\S*|(?:\S*/)?(?:{_RUNNERS}|{_WRAPPERS})|-\S+)\s+)*(?:\S*/)?"""
_AFTER = r"""(?=$|[\s;&|)'"`])"""


@frozen
class Streak:
    """Consecutive failed rounds, and how they failed."""

    rounds: int = 0
    how: str = ""


def after(streak: Streak, how: str | None) -> Streak:
    return Streak() if how is None else Streak(streak.rounds + 1 if how == streak.how else 1, how)


def how_failed(text: str, checks: Iterable[Check]) -> str | None:
    tests = tuple(f"{check.name}: " for check in checks if check.kind == "test")
    failed = [one for one in text.split("; ") if one.startswith(tests) and not one.endswith(": pass")] if tests else []
    return "; ".join(failed) or None


def program(command: str) -> tuple[str, ...]:
    """The program of a check's last command, with its verb if needed; empty: unknown."""
    last = re.split(r"[;&|\n]+", command.strip().rstrip(";&|"))[-1]
    words = [word for word in last.replace("'", " ").replace('"', " ").split() if not re.match(r"\w+=", word)]
    passed = re.compile(rf"(?:\S*/)?(?:{_RUNNERS}|{_WRAPPERS})")
    options = [word for word in words if word.startswith("-")]
    words = [word for word in words if not word.startswith("-")]
    while len(words) > 1 and passed.fullmatch(words[0]):
        words.pop(0)
    if not words:
        return ()
    first = words[0].rpartition("/")[2]
    if options and re.fullmatch(_RUNNERS, first):  # `node --test`: it runs many things
        return (first, options[0])
    return (first, *[w for w in words[1:] if w != "run"][:1]) if first in _WITH_VERB else (first,)


def runs(checks: Iterable[Check]) -> re.Pattern[str] | None:
    """Matches a call that runs the tests; None: no such check."""
    wanted = sorted({found for check in checks if check.kind == "test" and (found := program(check.command))})
    if not wanted:
        return None
    between = r"(?:\s+(?:-\S+|run))*\s+"
    either = "|".join(between.join(map(re.escape, words)) for words in wanted)
    return re.compile(f"{_START}{_BEFORE}(?:{either}){_AFTER}")


def words(checks: Iterable[Check]) -> tuple[str, ...]:
    return tuple(sorted({program(check.command)[0] for check in checks if check.kind == "test" and check.command}))


def count(calls: Sequence[str], pattern: re.Pattern[str] | None) -> int:
    return sum(1 for call in calls if pattern is not None and pattern.search(call))


# Assertions are counted by lines, not understood: what is lost between two versions counts. A language that is not
# known has no number. What a removed file asserted has to be found in the files that are new.
_PYTHON = re.compile(
    r"^[ \t]*assert\b|\bself\.(?:assert[A-Z_]\w*|fail)\(|\b(?:raises|warns|deprecated_call|approx)\(|\.assert_[a-z_]+\("
)
_SCRIPT = re.compile(r"\b(?:expect|assert)(?:\.\w+)*\s*\(|\bt\.(?!test|plan|end|log)\w+\(|\.should\b|\bshould\(")
_GO = re.compile(r"\b[tbf]\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(|\b(?:assert|require|is|qt)\.\w+\(")
_RUST = re.compile(r"\b(?:debug_)?assert\w*!|\bpanic!|\bunreachable!|#\[should_panic|\bprop_assert\w*!")
_JAVA = re.compile(
    r"\b(?:assert\w*|fail|verify\w*|expect\w*)\s*\(|^[ \t]*assert\b|\bexpected\s*=|\b(?:shouldBe|shouldThrow)\b"
)

_BY_ENDING: Mapping[str, tuple[re.Pattern[str], tuple[str, ...]]] = {
    **dict.fromkeys(("py", "pyi"), (_PYTHON, ("#",))),
    **dict.fromkeys(("js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"), (_SCRIPT, ("//", "*", "/*"))),
    "go": (_GO, ("//", "*", "/*")),
    "rs": (_RUST, ("//", "*", "/*")),
    **dict.fromkeys(("java", "kt", "kts", "groovy", "scala"), (_JAVA, ("//", "*", "/*"))),
}

MAX_LINE = 2_000


@frozen
class Fewer:
    """Files with fewer assertions: path, lines before and after."""

    paths: tuple[str, ...]
    before: int
    after: int

    def __str__(self) -> str:
        lines = counted(self.after, "line asserts", "lines assert")
        return f"{first_of(self.paths, 3)}: {lines} something, and before the change {self.before} did"


def assertions_count(path: str, text: str) -> int | None:
    """The number of asserting lines; None: unknown language."""
    known = _BY_ENDING.get(path.rpartition(".")[2].lower())
    if known is None:
        return None
    pattern, comments = known
    lines = (line[:MAX_LINE] for line in text.splitlines())
    return sum(1 for line in lines if pattern.search(line) and not line.lstrip().startswith(comments))


def fewer(before: Mapping[str, str], after: Mapping[str, str]) -> list[Fewer]:
    """What the touched test files lost; a missing path is deleted or new."""
    found = []
    for path in sorted(before.keys() & after.keys()):
        was, now = assertions_count(path, before[path]) or 0, assertions_count(path, after[path]) or 0
        if now < was:
            found.append(Fewer((path,), was, now))
    gone = {path: assertions_count(path, before[path]) or 0 for path in sorted(before.keys() - after.keys())}
    moved = sum(assertions_count(path, after[path]) or 0 for path in after.keys() - before.keys())
    lost = sum(gone.values())
    if moved < lost:
        found.append(Fewer(tuple(path for path, number in gone.items() if number), lost, moved))
    return found


def is_unsure(results: Sequence[CheckResult], checks: Sequence[Check]) -> bool:
    counted = {check.name for check in checks if check.kind == "test" and check.read_as != "exit"}
    failed = {result.name for result in results if result.outcome is CheckOutcome.FAIL}
    return overall(results) is not CheckOutcome.FAIL or failed <= {one.name for one in mute(results)} & counted


def is_empty(results: Sequence[CheckResult]) -> bool:
    rest = [result for result in results if result.outcome is not CheckOutcome.PASS]
    return all(
        one.outcome is CheckOutcome.NOT_RUN and one.counts is not None and not one.counts.collected for one in rest
    )


def advice(results: Sequence[CheckResult], checks: Sequence[Check]) -> list[str]:
    if setup_failed(results):
        return ["fix `setup` in .nobrakes/config.toml, or install what it needs; it runs in a fresh checkout of main"]
    known = {check.name: check for check in checks}
    return [
        f"{result.name}: {_advice(result, known[result.name])}"
        for result in results
        if result.outcome is not CheckOutcome.PASS and result.name in known and not missing_program(result)
    ]


_PRODUCTS = {"npm": "Node.js", "npx": "Node.js", "node": "Node.js", "cargo": "Rust", "go": "Go", "mvn": "Maven"}
_PRODUCTS |= {"gradle": "Gradle", "dotnet": "the .NET SDK", "mix": "Elixir", "prove": "Perl", "composer": "Composer"}
_COMMANDS = {
    "pip install": ("pytest", "tox", "nox", "uv", "poetry", "pdm", "ruff", "mypy", "build"),
    "npm install -g": ("pnpm", "yarn", "bun", "deno", "bats"),
    "gem install": ("bundler", "rspec", "rake"),
}
_GET = {name: f"install the program (`{command} {name}`)" for command, names in _COMMANDS.items() for name in names}
_GET |= {name: f"install {product}" for name, product in _PRODUCTS.items()} | {"bundle": _GET["bundler"]}


def installing(program: str) -> str:
    return _GET.get(program, "install the program")


_NOT_FOUND = re.compile(
    r"(?:^|: )([A-Za-z0-9_.+-]+): (?:command )?not found\Z|: No module named ([A-Za-z0-9_]+)\Z", re.M
)


def missing_program(result: CheckResult) -> str:
    """That a program was missing, so that the check ran nothing, and how to get it; empty: there were all."""
    found = (
        _NOT_FOUND.search(result.tail.strip().rpartition("\n")[2]) if result.counts is None and result.code else None
    )
    program = found[2] or (found[1] if result.code == 127 else "") if found else ""
    what = f"`{program}` is not installed: {installing(program)}, or add the install command as `setup`"
    return f"{what} in .nobrakes/config.toml" if program else ""


def _advice(result: CheckResult, check: Check) -> str:
    where = "under [[checks]] in .nobrakes/config.toml"
    if result.outcome is CheckOutcome.BROKEN and result.code in (126, 127):
        return f"install what the command needs, let `setup` install it, or fix `command` {where}"
    if result.outcome is CheckOutcome.BROKEN:
        return f"fix the check, or give the check more time: `timeout_minutes` {where}"
    if result.outcome is CheckOutcome.NOT_RUN:
        if result.counts is not None:
            return f"add a first test, perhaps with a bead of type {BeadType.REPAIR}, or write min_tests = 0 {where}"
        return f'name the output format: `format`, `report` or format = "exit" {where}'
    if is_unsure([result], [check]):
        return (
            "the check failed before it ran a test: install its test runner, let `setup` install it, or fix "
            f"`command` {where}"
        )
    return f'fix main, or let an agent fix main: nobrakes add "Fix main" --type {BeadType.REPAIR} --no-tests'


def passed(results: Sequence[CheckResult]) -> str:
    """A main that lets agents start: how many tests, and how long."""
    if overall(results) is not CheckOutcome.PASS:
        return "main has no test yet, so nobrakes cannot compare the first bead's tests with main"
    tests = sum(result.counts.ran for result in results if result.counts is not None)
    seconds = sum(result.seconds for result in results)
    return f"main passes its checks ({counted(tests, 'test') + ', ' if tests else ''}{seconds:.1f} s)"
