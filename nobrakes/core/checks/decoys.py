"""Decoys: a test that is altered so that it has to fail, to see whether the runner still tells.

1. A check that passed is asked once more with one test altered in its place; that test's own name has to be reported
   as failed, whatever the exit code says. A runner that was bent (an exit in the code under test, a patched test
   framework, a summary that is printed by hand, an object that equals everything) does not report it.
2. The value that the test expects becomes one that nothing equals, where it plainly comes to it (Python, JavaScript,
   Ruby, Java, Perl; in Python another number for a number, another text for a text, and one that nobody knows before):
   assertions that were bent to say yes are seen by that alone. Else it raises, throws, `t.Fatal` or
   `panic!` as the first thing that it does (`core.checks.altering` has all but Python).
3. Only what plainly runs is altered: no test with a mark or a call that skips it, no fixture that is called like a
   test, nothing in a file of which only some tests are run, and no value that a test may not come to. Which one is
   drawn by whoever asks.
4. The command is narrowed to the test where it is a plain call of the runner; else all of it runs.
"""

import posixpath
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from ..globs import matches
from .altering import OTHERS, RAISES, SCRIPTS, Altered
from .contract import Check
from .test_counts import without_colours

if TYPE_CHECKING:
    import ast

LARGEST = 200_000
"""Characters of a test file that is altered."""


@dataclass(frozen=True, slots=True)
class Decoy:
    """A test to alter: the file, what the runner calls the test, and the file's altered text.

    `by_value`: the value that it expects is altered; else it raises.
    """

    path: str
    test: str
    text: str
    by_value: bool = False


def decoys(path: str, text: str, secret: int = 0) -> list[Decoy]:
    """Every test of the file that can be altered; empty where its language is not known or nothing can be read.

    `secret`: what makes an expected value one that nobody knows beforehand.
    """
    ending = path[path.rfind(".") :]
    if len(text) > LARGEST or ending not in _READ:
        return []
    return [Decoy(path, *altered) for altered in (_python(text, secret) if ending == ".py" else OTHERS[ending](text))]


def narrowed(command: str, test: str) -> str:
    """The command for this test alone, where it is a plain call of a runner; else the command as it is."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    if re.search(r"[|&;<>()$`\n*?]", command):
        return command
    calls = (narrow(command, words, shlex.quote(test)) for narrow in _NARROW)
    return next((call for call in calls if call != command), command)


def named(command: str, directory: str, paths: Sequence[str]) -> list[str]:
    """Of these files those that a command names, alone, by a folder or by a pattern; all, where it names none of them.

    A check that runs one file of tests reports nothing of an altered test in another one.
    """
    try:
        words = shlex.split(command)
    except ValueError:
        return list(paths)
    places = [
        posixpath.normpath(posixpath.join(directory, word.partition("::")[0].removesuffix("...")))
        for before, word in pairwise(["", *words])
        if not word.startswith("-") and not re.match(_LEFT_OUT, before)
    ]
    found = [path for path in paths if any(_names(place, path) for place in places)]
    return found or list(paths)


_LEFT_OUT = r"--?(?:ignore|deselect|exclude|skip)[\w-]*$"


def _names(place: str, path: str) -> bool:
    return path == place or path.startswith(f"{place}/") or ("*" in place and matches(path, (place,)))


def is_reported(output: str, format_: str, test: str) -> bool:
    """Whether the runner says that the test failed, by its own name. `format_` auto: in whatever format."""
    patterns = [_FAILED[format_]] if format_ in _FAILED else _FAILED.values()
    name = rf"(?:(?<!\w)|(?<=#test_\d\d\d\d_)){re.escape(test)}(?!\w)"  # minitest numbers its examples
    text = without_colours(output)
    return any(re.search(pattern.replace("NAME", name), text, re.MULTILINE) for pattern in patterns)


def endings(check: Check) -> tuple[str, ...]:
    """How the names of files end that the check may run, as its format or its command tells; else any that can be."""
    words = _OF_FORMAT.get(check.read_as) or next(
        (known for pattern, known in _OF_COMMAND if re.search(pattern, check.command)), None
    )
    return words or tuple(_READ)


_PY = (".py",)
_OF_FORMAT: Mapping[str, tuple[str, ...]] = {
    "pytest": _PY,
    "unittest": _PY,
    "go": (".go",),
    "cargo": (".rs",),
    "ruby": (".rb",),
    "maven": (".java",),
    "tap": (*SCRIPTS, ".t"),
    **dict.fromkeys(("jest", "vitest", "mocha", "ava"), SCRIPTS),
}
_OF_COMMAND = (
    (r"\b(?:pytest|unittest|python[0-9.]*|tox|nox)\b", _PY),
    (r"\bgo test\b", (".go",)),
    (r"\bcargo\b", (".rs",)),
    (r"\b(?:jest|vitest|mocha|ava|node|npm|npx|yarn|pnpm|bun|deno)\b", SCRIPTS),
    (r"\b(?:rspec|rake)\b", (".rb",)),
    (r"\bprove\b", (".t",)),
    (r"\b(?:mvnw?|gradlew?)\b", (".java",)),
)


def likely(path: str) -> bool:
    """Whether a file is called as test files are."""
    return _LIKELY.search(path) is not None


_LIKELY = re.compile(
    r"(?:^|/)(?:test_[^/]*|[^/]*_test|tests?)\.py$|\.(?:test|spec)\.[cm]?[jt]sx?$"
    r"|(?:^|/)(?:tests?|test[-_][^/]*|[^/]*[-_]test)\.[cm]?[jt]sx?$|(?:^|/)(?:__tests__|tests?|spec)/[^/]*\.[cm]?[jt]sx?$"
    r"|_test\.go$|(?:^|/)tests/[^/]*\.rs$|(?:^|/)src/.*\.rs$|_(?:spec|test)\.rb$|(?:^|/)(?:test|spec)_[^/]*\.rb$|\.t$"
    r"|(?:^|/)src/test/.*\.java$"
)


_FAILED: Mapping[str, str] = {
    "pytest": r"^(?:FAILED|ERROR) \S*::NAME|^_{3,} (?:\S*\.)?NAME(?:\[.*\])? _{3,}",
    "unittest": r"^(?:FAIL|ERROR): NAME ",
    "go": r"^\s*--- FAIL: NAME |\"Action\":\"fail\".*\"Test\":\"NAME\"|\"Test\":\"NAME\".*\"Action\":\"fail\"",
    "cargo": r"^test (?:\S*::)?NAME \.\.\. FAILED|^\s+FAIL \[.*NAME$",
    "jest": r"^\s*(?:●|✕|✗) .*NAME|\"status\":\"failed\".*NAME|NAME.*\"status\":\"failed\"",
    "vitest": r"^\s*(?:FAIL|×|✗|❯) .*NAME",
    "tap": r"^\s*(?:not ok \d+ - |✖ )(?:.* › )?NAME|^\s*#\s+Failed test 'NAME'"
    r"|^# NAME\n(?:(?!# |1\.\.).*\n)*?not ok ",
    "ruby": r"^rspec \S+ # .*NAME$|^\w.*#(?:test_\d{4}_)?NAME(?: \[|:)",
    "maven": r"^\[ERROR\] .*\.NAME\b.* <<< (?:FAILURE|ERROR)!|^\[ERROR\] +\S+\.NAME:",
    "mocha": r"^\s*\d+\) .*NAME",
    "ava": r"^\s*✘ \[fail\]: (?:.* › )?NAME",
    "junit": r"<testcase[^>]*NAME[^>]*>\s*<(?:failure|error)",
}


# --- narrowing ----------------------------------------------------------------------------------------


def _runs(words: Sequence[str], *names: str) -> bool:
    """Whether a plain call runs one of these, by itself, as a module of Python, or through a launcher."""
    left = [word for word in words if not re.fullmatch(r"[A-Za-z_]\w*=.*", word)]
    while left and left[0] in ("npx", "uv", "poetry", "pdm", "run", "hatch", "pnpm", "exec", "yarn", "bunx"):
        left = left[1:]
    if len(left) > 2 and re.fullmatch(r"(?:.*/)?python[0-9.]*", left[0]) and left[1] == "-m":
        left = left[2:]
    return bool(left) and left[0].rpartition("/")[2] in names


def _pytest(command: str, words: Sequence[str], test: str) -> str:
    plain = _runs(words, "pytest", "py.test") and "-k" not in words
    return f"{command} -k {test}" if plain else command


def _unittest(command: str, words: Sequence[str], test: str) -> str:
    return f"{command} -k {test}" if _runs(words, "unittest") and "-k" not in words else command


def _go(command: str, words: Sequence[str], test: str) -> str:
    plain = list(words[:2]) == ["go", "test"] and not any(word.startswith(("-run", "-args")) for word in words)
    return f"{command} -run ^{test}$" if plain else command


def _cargo(command: str, words: Sequence[str], test: str) -> str:
    return f"{command} {test}" if list(words[:2]) == ["cargo", "test"] and "--" not in words else command


def _titled(*runners: str) -> Callable[[str, Sequence[str], str], str]:
    def narrow(command: str, words: Sequence[str], test: str) -> str:
        return f"{command} -t {test}" if _runs(words, *runners) and "-t" not in words else command

    return narrow


_NARROW = (_pytest, _unittest, _go, _cargo, _titled("jest", "vitest"))


# --- altering -----------------------------------------------------------------------------------------


def _python(text: str, secret: int) -> Iterator[Altered]:
    import ast

    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    scopes = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    if any(_skips(ast.unparse(node)) for node in module.body if not isinstance(node, scopes)):
        return
    rows = text.split("\n")
    classes = [node for node in module.body if isinstance(node, ast.ClassDef)]
    is_unittest = any(_is_case(base) for node in classes for base in node.bases)
    loose: list[ast.stmt] = [] if is_unittest else module.body  # unittest runs no plain function
    for scope in (loose, *(node.body for node in classes if _is_run(node))):
        functions = [node for node in scope if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        names = [node.name for node in functions]
        for node in functions:
            if node.name.startswith("test") and names.count(node.name) == 1 and _plainly_runs(node):
                altered, by_value = _altered_python(rows, node, secret)
                if altered is not None:
                    yield node.name, altered, by_value


_MARKS = frozenset(
    ("parametrize", "usefixtures", "asyncio", "anyio", "trio", "django_db", "filterwarnings", "timeout", "flaky")
)
"""Marks of pytest's and its plug-ins' that leave a test in the run; another one may be one that settings leave out."""


def _is_case(base: "ast.expr") -> bool:
    import ast

    return ast.unparse(base).endswith("TestCase")


def _is_run(node: "ast.ClassDef") -> bool:
    """Whether a runner takes the tests of the class: called as pytest wants it, or one of unittest's."""
    import ast

    names = [ast.unparse(base) for base in node.bases]
    if not node.name.startswith("Test") and not any(re.search(r"Tests?$|Case$", name) for name in names):
        return False
    if not all(map(_is_kept, node.decorator_list)):
        return False
    own = [one for one in node.body if not isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
    made = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name in ("__init__", "setUpClass")]
    return not any(re.search(r"__test__|skip|pytestmark", ast.unparse(one)) for one in (*own, *made)) and not any(
        one.name == "__init__" for one in made
    )


def _plainly_runs(node: "ast.FunctionDef | ast.AsyncFunctionDef") -> bool:
    """Whether it is a test that nothing skips: no fixture, no mark that may leave it out, no generator."""
    import ast

    yields = any(isinstance(part, ast.Yield | ast.YieldFrom) for part in ast.walk(node))
    return not yields and not _skips(ast.unparse(node)) and all(map(_is_kept, node.decorator_list))


def _is_kept(mark: "ast.expr") -> bool:
    """Whether a test with this decorator is still run."""
    import ast

    source = ast.unparse(mark)
    called = re.search(r"\bmark\.(\w+)", source)
    if called is not None:
        return called[1] in _MARKS
    return (
        re.search(r"fixture|skip|expectedFailure|requires?|only|slow|tag|property|staticmethod", source, re.I) is None
    )


def _skips(source: str) -> bool:
    return re.search(r"skip|xfail|expectedFailure|importorskip|pytestmark", source) is not None


def _altered_python(
    rows: Sequence[str], node: "ast.FunctionDef | ast.AsyncFunctionDef", secret: int
) -> tuple[str | None, bool]:
    """The file with this test made to fail, and whether by a value that it comes to: else at its beginning."""
    import ast

    returns = any(isinstance(part, ast.Return) for part in ast.walk(node))
    for part in () if returns else node.body:
        wanted: ast.expr | None = None
        call = part.value if isinstance(part, ast.Expr) else None
        if isinstance(part, ast.Assert) and isinstance(part.test, ast.Compare) and len(part.test.ops) == 1:
            wanted = part.test.comparators[0] if isinstance(part.test.ops[0], ast.Eq) else None
        elif isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "assertEqual" and len(call.args) > 1:
            wanted = call.args[1]
        if wanted is not None and wanted.lineno == wanted.end_lineno:
            begin, end = wanted.col_offset, wanted.end_col_offset or 0
            return _put(rows, wanted.lineno, begin, end, _unknown(wanted, end - begin, secret)), True
    first = node.body[0]
    place = f"raise AssertionError('{RAISES}'); "
    if not _is_simple(first):
        if getattr(first, "decorator_list", None):
            return None, False
        place = place.rstrip("; ") + "\n" + " " * first.col_offset
        if rows[first.lineno - 1][: first.col_offset].strip(" "):
            return None, False
    return _put(rows, first.lineno, first.col_offset, first.col_offset, place), False


def _unknown(wanted: "ast.expr", length: int, secret: int) -> str:
    """A value that nothing equals: of the kind that is expected, so that what equals everything else gives itself away.

    It is of another length than before, since what was compiled is told by its size and the second it was made in.
    """
    import ast

    value = wanted.value if isinstance(wanted, ast.Constant) else None
    if isinstance(value, str):
        unknown = repr(f"{secret:011d}")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        unknown = str(10**11 + secret)
    else:
        unknown = "object()"
    return unknown if len(unknown) != length else f"({unknown})"


def _is_simple(node: "ast.stmt") -> bool:
    """Whether another statement may stand before it on its line."""
    import ast

    compound = (ast.For, ast.AsyncFor, ast.While, ast.If, ast.With, ast.AsyncWith, ast.Try, ast.Match)
    return not isinstance(node, (*compound, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))


def _put(rows: Sequence[str], line: int, begin: int, end: int, text: str) -> str:
    """The rows with the bytes `begin` to `end` of a line (from 1) replaced."""
    row = rows[line - 1].encode()
    changed = (row[:begin] + text.encode() + row[end:]).decode()
    return "\n".join([*rows[: line - 1], changed, *rows[line:]])


_READ = (".py", *OTHERS)
