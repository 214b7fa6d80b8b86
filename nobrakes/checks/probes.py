"""Mutation probes: a test is altered so that it must fail, to see whether the runner still reports failures.

1. A passed check is run again with a test or two altered in place: exactly these must be reported as failed, by name. A
   bent runner (an exit in the code under test, a patched framework, a fake summary, a value that equals everything)
   does not do that.
2. An expected value becomes a similar one where the test plainly reaches it (Python, JavaScript, Ruby, Java, Perl): 90
   becomes 91, "abc" becomes "abd". Else the test fails at its start. Nothing reveals nobrakes (`checks.probes` has all
   but Python).
3. Only tests that plainly run are altered: no marks or calls that skip, no fixture with a test's name, no file that
   runs partly, no unreachable value.
4. Tests and values are drawn by the caller after the checks passed (host.runs.probing).
"""

import posixpath
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol, TypeVar

from ..globs import matches
from ..records import frozen
from .contract import UNREADABLE, Check
from .runners import count_tests, failing_tests, without_colours

if TYPE_CHECKING:
    import ast


# A value is altered where the test plainly comes to it: an assertion of one line, outside of loops, branches and
# functions. Else the test fails as the first thing that it does. What may be skipped is left alone.
Altered = tuple[str, str, bool]
"""(the runner's name of the test, the altered file, whether an expected value was altered)."""

SCRIPTS = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")

_LITERAL = r"""-?\d+(?:\.\d+)?|"[^"\\\n]*"|'[^'\\\n]*'|true|false|null"""
_QUOTED = re.compile(r"""//.*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`\n]*`""")
_LEAVES = re.compile(r"\b(?:return|throw|raise|skip|pending|next|assume\w*|rescue|catch|done|exit)\b")

One = TypeVar("One")


class Dice(Protocol):
    """Random choices (random.Random is not allowed in pure modules)."""

    def choice(self, seq: Sequence[One], /) -> One: ...


Alter = Callable[[str, Dice], Iterator[Altered]]


def near_number(text: str, draw: Dice) -> str:
    """A similar number: its last digit differs."""
    places = [place for place, one in enumerate(text.partition("e")[0]) if one.isdigit()]
    if not places or not re.fullmatch(r"[-0-9.e+]+", text):
        return "1"
    last = places[:12][-1]  # what comes later may be more than a number can tell apart
    return f"{text[:last]}{_other(text[last], '123456789', draw)}{text[last + 1 :]}"


def near_text(text: str, draw: Dice) -> str:
    """A similar text: one letter or digit differs."""
    places = [place for place, one in enumerate(text) if one.isascii() and one.isalnum()]
    if not places:
        return text + draw.choice("abcdefghijklmnopqrstuvwxyz")
    place = draw.choice(places)
    kind = next(kind for kind in ("0123456789", _LOWER, _LOWER.upper()) if text[place] in kind)
    return f"{text[:place]}{_other(text[place], kind, draw)}{text[place + 1 :]}"


def _altering_near(literal: str, draw: Dice) -> str:
    if literal[:1] in "\"'":
        return f"{literal[0]}{near_text(literal[1:-1], draw)}{literal[0]}"
    return _OPPOSITE.get(literal) or near_number(literal, draw)


def _other(one: str, kind: str, draw: Dice) -> str:
    return draw.choice([other for other in kind if other.lower() != one.lower()])


_LOWER = "abcdefghijklmnopqrstuvwxyz"
_OPPOSITE = {"true": "false", "false": "true", "null": "0"}


def _by(pattern: str, first: str, skips: str, left_out: str, value: str = "") -> Alter:
    """Alters tests that match the pattern (group `name`) by adding `first`; `skips`: in a test that may not run;
    `left_out`: in a file with partly skipped tests. `value`: a line whose value is altered instead, if reached."""
    begin, skipped, partial = re.compile(pattern, re.MULTILINE), re.compile(skips), re.compile(left_out, re.MULTILINE)
    line = re.compile(value) if value else None

    def alter(text: str, draw: Dice) -> Iterator[Altered]:
        found = [] if partial.search(text) else list(begin.finditer(text))
        ends = [*(match.start() for match in found[1:]), len(text)][: len(found)]
        for match, end in zip(found, ends, strict=True):
            if skipped.search(match[0]) or skipped.search(text[match.end() : end]):
                continue
            name = match.groupdict().get("test") or match["name"]
            place = _value(text, match.end(), end, line) if line is not None else None
            if place is None:
                yield name, text[: match.end()] + match.expand(first) + text[match.end() :], False
            else:
                near = _altering_near(text[place[0] : place[1]], draw)
                yield name, text[: place[0]] + near + text[place[1] :], True

    return alter


def _value(text: str, begin: int, end: int, line: re.Pattern[str]) -> tuple[int, int] | None:
    """The value that a test's body certainly reaches."""
    at, depth, indent = begin, 0, None
    for row in text[begin:end].splitlines(keepends=True)[:50]:
        plain = _QUOTED.sub("", row)
        margin = len(row) - len(row.lstrip())
        if plain.strip() and at > begin:
            indent = margin if indent is None else indent
            if margin < indent or depth < 0:
                return None
            match = line.fullmatch(row.rstrip("\r\n")) if depth == 0 and margin == indent else None
            if match is not None and match.lastgroup:
                begins, ends = match.span(match.lastgroup)
                return at + begins, at + ends
        if _LEAVES.search(plain):
            return None
        depth += sum(map(plain.count, "({[")) - sum(map(plain.count, ")}]"))
        at += len(row)
    return None


_SCRIPT = _by(
    r"^[ \t]*(?:test|it)\(\s*(?P<quote>[\"'`])(?P<name>[A-Za-z0-9 _.,:-]+)(?P=quote)\s*,\s*"
    r"(?:async\s+)?(?:function\s*\w*\s*\([^)]*\)|\([^)]*\)\s*=>|\w+\s*=>)\s*\{",
    " throw new Error();",
    r"\.skip|\.todo|xit\(|xtest\(",
    r"\.only\b|\b(?:describe|suite|context)\.(?:skip|todo|runIf|each)|\b(?:xdescribe|xcontext|fdescribe|fit)\(",
    r"[ \t]*(?:await\s+)?(?:(?:[\w$]+\.)+(?:equals?|strictEquals?|is|same|deepEquals?|deepStrictEqual)\(.*?,\s*"
    rf"(?P<value>{_LITERAL})(?:,\s*(?:\"[^\"]*\"|'[^']*'))?"
    r"|expect\(.*\)\.(?:toBe|toEqual|toStrictEqual|to\.(?:be\.|deep\.)?(?:equal|eql|eq))\("
    rf"(?P<other>{_LITERAL}))\);?\s*",
)


def _perl(text: str, draw: Dice) -> Iterator[Altered]:
    """Unindented test points of Test::More in a file without skips."""
    if re.search(r"(?i:\bskip|\btodo\b)|\bexit\b", text):
        return
    quoted = r"""(?P<quote>["'])(?P<name>[A-Za-z0-9 _.,:-]+)(?P=quote)"""
    value = r"""-?\d+(?:\.\d+)?|"[^"\\\n$@]*"|'[^'\\\n]*'"""
    point = re.compile(rf"^is[ (].+?,\s*(?P<value>{value}),\s*{quoted}\)?;[ \t]*$", re.MULTILINE)
    for match in point.finditer(text):
        near = _altering_near(match["value"], draw)
        yield match["name"], f"{text[: match.start('value')]}{near}{text[match.end('value') :]}", True


_RUBY = _by(
    r"^[ \t]*(?:(?:it|specify|example|test) (?P<quote>['\"])(?P<name>[A-Za-z0-9 _.,:-]+)(?P=quote) do"
    r"|def (?P<test>test_\w+))[ \t]*$",
    "; raise",
    r"\bskip\b|\bpending\b",
    r"^[ \t]*(?:[fx](?:describe|context|it|specify)|(?:describe|context|it|specify)\b.*(?:, :\w|\w: ))|:focus|\bskip\b",
    rf"[ \t]*(?:expect\(.*\)\.to eql?[ (](?P<value>{_LITERAL})\)?|assert_equal\(? ?(?P<other>{_LITERAL}), .*"
    rf"|\S.*\.must_equal[ (](?P<spec>{_LITERAL})\)?)[ \t]*",
)
_JAVA = _by(
    r"@Test\s*(?:@DisplayName\([^)]*\)\s*)?(?:public |protected )?(?:final )?void (?P<name>\w+)\(\)[^{;]*\{",
    " if (true) { throw new AssertionError(); }",
    r"\bassum|\bAssum",
    r"@(?:Disabled|Ignore|Enabled|Tag|Category)|@Test\s*\(|@RunWith",
    rf"[ \t]*(?:Assert\w*\.)?assertEquals\((?P<value>{_LITERAL}), .*\);[ \t]*",
)

OTHERS: Mapping[str, Alter] = {
    **dict.fromkeys(SCRIPTS, _SCRIPT),
    ".go": _by(
        r"^func (?P<name>Test\w+)\((?P<t>\w+) \*testing\.T\) \{",
        r" \g<t>.FailNow();",
        r"\.Skip|testing\.Short",
        r"^//\s*\+build|^//go:build",
    ),
    ".rs": _by(
        r"#\[test\]\s*(?:#\[(?!ignore|should_panic)[^\]]*\]\s*)*(?:pub )?fn (?P<name>\w+)\(\)[^{;]*\{",
        " if true { panic!(); }",
        r"#\[ignore|should_panic",
        r"#!?\[cfg(?:_attr)?\((?!test\))",
    ),
    ".rb": _RUBY,
    ".java": _JAVA,
    ".t": _perl,
}
"""Alters each test, by file ending."""

LARGEST = 200_000


@frozen
class MutationProbe:
    """A test to alter: the file, the runner's name of the test, and the altered text. `by_value`: an expected value is
    altered; else it fails at its beginning."""

    path: str
    test: str
    text: str
    by_value: bool = False


def mutation_probes(path: str, text: str, draw: Dice) -> list[MutationProbe]:
    """Every alterable test of the file; empty for an unknown language or unreadable file."""
    ending = path[path.rfind(".") :]
    if len(text) > LARGEST or ending not in _READ:
        return []
    altered = _python(text, draw) if ending == ".py" else OTHERS[ending](text, draw)
    return [MutationProbe(path, *one) for one in altered]


def named(command: str, directory: str, paths: Sequence[str]) -> list[str]:
    """The files that a command names, alone, by folder or pattern; all if it names none. A check of one test file says
    nothing about others."""
    try:
        words = shlex.split(command)
    except ValueError:
        return list(paths)
    places = [
        posixpath.normpath(posixpath.join(directory, word.partition("::")[0].removesuffix("...")))
        for before, word in pairwise(["", *words])
        if not word.startswith("-") and not re.match(_LEFT_OUT, before)
    ]
    return [path for path in paths if any(_names(place, path) for place in places)] or list(paths)


_LEFT_OUT = r"--?(?:ignore|deselect|exclude|skip)[\w-]*$"


def _names(place: str, path: str) -> bool:
    return path == place or path.startswith(f"{place}/") or ("*" in place and matches(path, (place,)))


def is_reported(output: str, format_: str, test: str) -> bool:
    return _reports(output, format_, test) > 0


def _reports(output: str, format_: str, test: str) -> int:
    patterns = [_FAILED[format_]] if format_ in _FAILED else _FAILED.values()
    name = rf"(?:(?<!\w)|(?<=#test_\d\d\d\d_)){re.escape(test)}(?!\w)"  # minitest numbers its examples
    text = without_colours(output)
    return max(len(re.findall(pattern.replace("NAME", name), text, re.MULTILINE)) for pattern in patterns)


def unseen(told: str, format_: str, altered: Sequence[Sequence[str]], exempt: Sequence[str] = ()) -> list[int]:
    """The groups without an altered test that failed; all of them if others than altered tests and `exempt` failed."""
    has_others = others(told, format_, [test for group in altered for test in group], exempt)
    return [
        number
        for number, group in enumerate(altered)
        if has_others or not any(is_reported(told, format_, test) for test in group)
    ]


def others(told: str, format_: str, altered: Sequence[str], exempt: Sequence[str] = ()) -> list[str]:
    """Failed tests beside the altered ones, if the report names all."""
    counts = count_tests(told, format_)
    names = failing_tests(told, format_, counts)
    own = re.compile("|".join(rf"(?<!\w){re.escape(test)}(?!\w)" for test in altered))
    found = [name for name in names if not own.search(name) and name not in exempt]
    if names or counts is None or exempt:
        return found
    reported = sum(_reports(told, format_, test) for test in altered)
    return ["tests that the report does not name"] if counts.failed > reported else []


def endings(check: Check) -> tuple[str, ...]:
    """Endings of files that the check may run, by format or command; else any."""
    words = _ENDINGS_BY_FORMAT.get(check.read_as) or next(
        (known for pattern, known in _ENDINGS_BY_COMMAND if re.search(pattern, check.command)), None
    )
    return words or tuple(_READ)


_PY = (".py",)
_ENDINGS_BY_FORMAT: Mapping[str, tuple[str, ...]] = {
    "pytest": _PY,
    "unittest": _PY,
    "go": (".go",),
    "cargo": (".rs",),
    "ruby": (".rb",),
    "maven": (".java",),
    "tap": (*SCRIPTS, ".t"),
    **dict.fromkeys(("jest", "vitest", "mocha", "ava"), SCRIPTS),
}
_ENDINGS_BY_COMMAND = (
    (r"\b(?:pytest|unittest|python[0-9.]*|tox|nox)\b", _PY),
    (r"\bgo test\b", (".go",)),
    (r"\bcargo\b", (".rs",)),
    (r"\b(?:jest|vitest|mocha|ava|node|npm|npx|yarn|pnpm|bun|deno)\b", SCRIPTS),
    (r"\b(?:rspec|rake)\b", (".rb",)),
    (r"\bprove\b", (".t",)),
    (r"\b(?:mvnw?|gradlew?)\b", (".java",)),
)


def likely(path: str) -> bool:
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
    "go": r"^[ \t]*--- FAIL: NAME |\"Action\":\"fail\".*\"Test\":\"NAME\"|\"Test\":\"NAME\".*\"Action\":\"fail\"",
    "cargo": r"^test (?:\S*::)?NAME \.\.\. FAILED|^[ \t]+FAIL \[.*NAME$",
    "jest": r"^[ \t]*(?:●|✕|✗) .*NAME|\"status\":\"failed\".*NAME|NAME.*\"status\":\"failed\"",
    "vitest": r"^[ \t]*(?:FAIL|×|✗|❯) .*NAME",
    "tap": r"^[ \t]*(?:not ok \d+ - |✖ )(?:.* › )?NAME|^[ \t]*#\s+Failed test 'NAME'"
    r"|^# NAME\n(?:(?!# |1\.\.).*\n)*?not ok ",
    "ruby": r"^rspec \S+ # .*NAME$|^\w.*#(?:test_\d{4}_)?NAME(?: \[|:)",
    "maven": r"^\[ERROR\] .*\.NAME\b.* <<< (?:FAILURE|ERROR)!|^\[ERROR\] +\S+\.NAME:",
    "mocha": r"^[ \t]*\d+\) .*NAME",
    "ava": r"^[ \t]*✘ \[fail\]: (?:.* › )?NAME",
    "junit": r"<testcase[^>]*NAME[^>]*>\s*<(?:failure|error)",
}


def _python(text: str, draw: Dice) -> Iterator[Altered]:
    try:
        yield from _python_tests(text, draw)
    except UNREADABLE:
        return


def _python_tests(text: str, draw: Dice) -> Iterator[Altered]:
    import ast

    module = ast.parse(text)
    scopes = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    if any(_skips(ast.unparse(node)) for node in module.body if not isinstance(node, scopes)):
        return
    rows = text.split("\n")
    classes = [node for node in module.body if isinstance(node, ast.ClassDef)]
    is_unittest = any(ast.unparse(base).endswith("TestCase") for node in classes for base in node.bases)
    loose: list[ast.stmt] = [] if is_unittest else module.body  # unittest runs no plain function
    for scope in (loose, *(node.body for node in classes if _is_run(node))):
        functions = [node for node in scope if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        names = [node.name for node in functions]
        for node in functions:
            if node.name.startswith("test") and names.count(node.name) == 1 and _plainly_runs(node):
                altered, by_value = _altered_python(rows, node, draw)
                if altered is not None:
                    yield node.name, altered, by_value


_MARKS = frozenset(
    ("parametrize", "usefixtures", "asyncio", "anyio", "trio", "django_db", "filterwarnings", "timeout", "flaky")
)
"""Marks of pytest and its plug-ins that do not deselect a test; others may."""


def _is_run(node: "ast.ClassDef") -> bool:
    import ast

    names = [ast.unparse(base) for base in node.bases]
    if not node.name.startswith("Test") and not any(re.search(r"Tests?$|Case$", name) for name in names):
        return False
    if not all(map(_is_harmless, node.decorator_list)):
        return False
    own = [one for one in node.body if not isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
    made = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name in ("__init__", "setUpClass")]
    return not any(re.search(r"__test__|skip|pytestmark", ast.unparse(one)) for one in (*own, *made)) and not any(
        one.name == "__init__" for one in made
    )


def _plainly_runs(node: "ast.FunctionDef | ast.AsyncFunctionDef") -> bool:
    import ast

    yields = any(isinstance(part, ast.Yield | ast.YieldFrom) for part in ast.walk(node))
    return not yields and not _skips(ast.unparse(node)) and all(map(_is_harmless, node.decorator_list))


def _is_harmless(mark: "ast.expr") -> bool:
    import ast

    source = ast.unparse(mark)
    if (called := re.search(r"\bmark\.(\w+)", source)) is not None:
        return called[1] in _MARKS
    others = r"fixture|skip|expectedFailure|requires?|only|slow|tag|property|staticmethod"
    return re.search(others, source, re.I) is None


def _skips(source: str) -> bool:
    return re.search(r"skip|xfail|expectedFailure|importorskip|pytestmark", source) is not None


def _altered_python(
    rows: Sequence[str], node: "ast.FunctionDef | ast.AsyncFunctionDef", draw: Dice
) -> tuple[str | None, bool]:
    """The file with this test made to fail, and whether by the last value that it reaches: earlier steps then still
    happen for later tests. Else at its beginning."""
    import ast

    returns = any(isinstance(part, ast.Return) for part in ast.walk(node))
    for part in () if returns else reversed(node.body):
        for literal in map(_literal, _compared(part)):
            if literal is not None:
                begin, end = literal.col_offset, literal.end_col_offset or 0
                return _put(rows, literal.lineno, begin, end, _near(literal.value, draw)), True
    first = node.body[0]
    place = "raise AssertionError; "
    compound = (ast.For, ast.AsyncFor, ast.While, ast.If, ast.With, ast.AsyncWith, ast.Try, ast.Match)
    if isinstance(first, (*compound, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        if getattr(first, "decorator_list", None):
            return None, False
        place = place.rstrip("; ") + "\n" + " " * first.col_offset
        if rows[first.lineno - 1][: first.col_offset].strip(" "):
            return None, False
    return _put(rows, first.lineno, first.col_offset, first.col_offset, place), False


def _compared(node: "ast.stmt") -> "list[ast.expr]":
    """The compared values of a statement, the expected one first."""
    import ast

    call = node.value if isinstance(node, ast.Expr) else None
    if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare) and len(node.test.ops) == 1:
        return [node.test.comparators[0], node.test.left] if isinstance(node.test.ops[0], ast.Eq) else []
    if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "assertEqual" and len(call.args) > 1:
        return [call.args[1], call.args[0]]
    return []


def _literal(node: "ast.expr | None") -> "ast.Constant | None":
    import ast

    while isinstance(node, ast.List | ast.Tuple | ast.UnaryOp):
        node = node.operand if isinstance(node, ast.UnaryOp) else next(iter(node.elts), None)
    is_plain = isinstance(node, ast.Constant) and isinstance(node.value, str | int | float)
    return node if is_plain and isinstance(node, ast.Constant) and node.lineno == node.end_lineno else None


def _near(value: object, draw: Dice) -> str:
    if isinstance(value, bool):
        return repr(not value)
    if isinstance(value, str):
        return repr(near_text(value, draw))
    return near_number(repr(value), draw)


def _put(rows: Sequence[str], line: int, begin: int, end: int, text: str) -> str:
    row = rows[line - 1].encode()
    changed = (row[:begin] + text.encode() + row[end:]).decode()
    return "\n".join([*rows[: line - 1], changed, *rows[line:]])


_READ = (".py", *OTHERS)

_GO = "{{$d := .Dir}}{{range .TestGoFiles}}{{$d}}/{{.}}\n{{end}}{{range .XTestGoFiles}}{{$d}}/{{.}}\n{{end}}"


@frozen
class Listing:
    """A listing command for the check's `directory`, and the reader of its output."""

    runner: str
    argv: tuple[str, ...]
    directory: str


# Only runners that list without running tests; a listing may still import the project's code, so it is made when a
# person asks.
def listing(check: Check) -> Listing | None:
    """How to list what the check collects; None: unknown runner, or a longer command."""
    if check.kind != "test":
        return None
    try:
        words = shlex.split(check.command)
    except ValueError:
        return None
    if any(re.search(r"[|&;<>$`]", word) for word in words):
        return None
    bare = [posixpath.basename(word) for word in words]
    if "pytest" in bare or "py.test" in bare:
        kept = [word for word in words if not re.fullmatch(r"-[qv]+|--(?:verbose|quiet)", word)]
        return Listing("pytest", (*kept, "--collect-only", "-q"), check.directory)
    if "jest" in bare:
        return Listing("jest", (*words, "--listTests"), check.directory)
    if bare[:2] == ["go", "test"]:
        packages = [word for word in words[2:] if not word.startswith("-")] or ["."]
        return Listing("go", ("go", "list", "-f", _GO, *packages), check.directory)
    return None


def listed(runner: str, output: str, root: str, directory: str) -> tuple[str, ...]:
    found = {_READERS[runner](line.strip()) for line in output.splitlines()}
    return tuple(sorted(path for one in found if one and (path := _inside(one, root, directory))))


def _pytest(line: str) -> str:
    path, sign, _ = line.partition("::")
    return path if sign and not re.search(r"\s", path) else ""


def _path(line: str) -> str:
    return line if line.startswith("/") else ""


_READERS: Mapping[str, Callable[[str], str]] = {"pytest": _pytest, "jest": _path, "go": _path}


def _inside(path: str, root: str, directory: str) -> str:
    whole = posixpath.normpath(posixpath.join(root, directory, path))
    return whole[len(root) + 1 :] if whole.startswith(f"{root}/") else ""
