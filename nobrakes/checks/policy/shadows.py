"""What a branch could plant that a check's interpreter or runner loads by itself, though no file names it. Pure.

1. A new module at the front of Python's path hides an installed or standard one of that name: a person is asked, unless
   the tree already had the name (as in a repository that *is* such a package).
2. The names are those that the check's interpreter resolves without the checkout (`programs`: whom to ask), and at
   least the standard library, usual runners and their plug-ins.
3. New files of Perl, Ruby or Java test frameworks are asked about unless the tree has the framework's source.
   JavaScript packages come only from `node_modules/`, which nobody may add.
4. Plug-in metadata, `.pth` files, others' packages in the tree etc. count anywhere.
5. A package or extension that Python loads instead of the test module beside it hides the test.
"""

import posixpath
import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby

from ...beads.model import ReadyBead
from ...globs import segments
from ...text.cleaning import is_seen
from ..contract import Check

PLANTED = (
    "**/*.egg-info/**", "**/*.dist-info/**", "entry_points.txt", "*.pth", "*.egg-link", "sitecustomize.py",
    "usercustomize.py", "**/node_modules/**", "pyvenv.cfg", "junit-platform.properties",
    "**/meta-inf/services/org.junit.*", "**/meta-inf/services/org.testng.*",
    "**/site-packages/**", "**/.venv/**", "**/venv/bin/**", "**/env/bin/**",
    "**/vendor/github.com/stretchr/testify/**", "**/vendor/github.com/onsi/**", "**/vendor/gotest.tools/**",
    "**/vendor/github.com/google/go-cmp/**", "**/vendor/github.com/frankban/quicktest/**",
    "**/vendor/go.uber.org/mock/**", "**/vendor/gopkg.in/check.v1/**", "**/vendor/github.com/matryer/is/**",
    "**/vendor/github.com/smartystreets/**",
    "**/vendor/autoload.php", "**/vendor/composer/**", "**/vendor/bin/**", "**/vendor/phpunit/**",
    "**/vendor/pestphp/**", "**/vendor/mockery/**", "**/vendor/sebastian/**",
)  # fmt: skip

_RUNNERS = (
    "pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "exceptiongroup", "tomli", "colorama", "attr",
    "attrs", "xdist", "execnet", "coverage", "hypothesis", "nose", "nose2", "tox", "nox", "virtualenv",
    "setuptools", "pip", "pkg_resources", "wheel", "mypy", "mypyc", "mypy_extensions", "typing_extensions", "ruff",
    "flake8", "pycodestyle", "pyflakes", "pylint", "astroid", "black", "isort", "pyright", "basedpyright",
    "django", "twisted", "trial", "behave", "green", "stestr", "testtools", "mock", "freezegun", "responses",
    "anyio", "trio", "numpy", "pygments", "rich", "click", "yaml", "requests",
)  # fmt: skip
_NEVER = frozenset(("test", "this", "antigravity", "idlelib", "turtledemo", "lib2to3", "__main__"))
NAMES = frozenset({*sys.stdlib_module_names, *_RUNNERS}) - _NEVER
_OTHERS = frozenset(
    (
        "node",
        "npm",
        "npx",
        "yarn",
        "pnpm",
        "jest",
        "@jest/globals",
        "expect",
        "jest-cli",
        "jest-circus",
        "vitest",
        "mocha",
        "chai",
        "ava",
        "tap",
        "tape",
        "uvu",
        "jasmine",
        "karma",
        "playwright",
        "@playwright/test",
        "cypress",
        "c8",
        "nyc",
        "sinon",
        "should",
        "assert",
        "power-assert",
        "ts-node",
        "tsx",
        "tsc",
        "typescript",
        "eslint",
        "biome",
        "prettier",
        "github.com/stretchr/testify",
        "github.com/onsi/gomega",
        "github.com/onsi/ginkgo/v2",
        "github.com/google/go-cmp",
        "gotest.tools/v3",
        "github.com/frankban/quicktest",
        "github.com/matryer/is",
        "proptest",
        "quickcheck",
        "rstest",
        "insta",
        "mockall",
        "pretty_assertions",
        "assert_cmd",
        "tokio-test",
        "test-case",
        "serial_test",
        "googletest",
        "predicates",
    )
)


def is_framework(name: str) -> bool:
    return name in _RUNNERS or name in _OTHERS


_PLUGIN = re.compile(r"pytest_\w+")
_CODE = (".py", ".pyc", ".pyd", ".so")
_FRAMEWORK = re.compile(
    r"(?:^|.*/)(lib/(?:Test/(?:More|Builder|Simple|Harness|Most|Deep|Exception|Fatal|Warn|Differences)|Test2|TAP|App/Prove)\b.*\.p[ml]"
    r"|lib/(?:minitest|rspec|test/unit)(?:/.*)?\.rb"
    r"|(?:org/(?:junit|testng|mockito|hamcrest|assertj|opentest4j|apache/maven/surefire)|junit/framework)/.*"
    r"\.(?:java|kt|groovy|scala|class))"
)
_SOURCES = (".pm", ".pl", ".rb", ".java", ".kt", ".groovy", ".scala", ".class")
_SETTINGS = ("pyproject.toml", "pytest.ini", ".pytest.ini", "pytest.toml", "tox.ini", "setup.cfg")
_PYTHONPATH = re.compile(r"^[ \t]*pythonpath[ \t]*=[ \t]*(\[[^\]]*\]|[^\n]*(?:\n[ \t]+[^\n=]*$)*)", re.MULTILINE)


def roots(checks: Sequence[Check], texts: Mapping[str, str]) -> tuple[str, ...]:
    """Possible beginnings of Python's path: the top, `src`, the checks' own, and those of settings."""
    found = ["", "src", "lib"]
    for check in checks:
        found += [check.directory, posixpath.join(check.directory, "src")]
        for value in re.findall(r"PYTHONPATH=(\S+)", check.command):
            found += [posixpath.join(check.directory, one) for one in value.strip("\"'").split(":")]
    for name in _SETTINGS:
        for value in _PYTHONPATH.findall(texts.get(name, "")):
            found += re.findall(r"[^\s\[\]\"',]+", value)
    plain = (posixpath.normpath(one) if one else "" for one in found)
    return tuple(dict.fromkeys("" if one == "." else one for one in plain if not one.startswith(("/", ".."))))


@lru_cache(maxsize=16)
def standing(paths: frozenset[str], folders: tuple[str, ...]) -> frozenset[str]:
    found: set[str] = set()
    for path in paths:
        if path.endswith(_CODE):
            found.update(module for folder in folders if (module := _module(path, folder)))
        elif path.endswith(_SOURCES) and (name := framework(path)):
            found.add(name)
    return frozenset(found)


def framework(path: str) -> str:
    """The Perl, Ruby or Java test framework that the file replaces; empty: none."""
    match = _FRAMEWORK.fullmatch(path) if path.endswith(_SOURCES) else None
    return "/".join(match[1].split("/")[:2]).partition(".")[0] + "/*" if match is not None else ""


def new_names(path: str, is_link: bool, folders: Sequence[str], known: frozenset[str]) -> frozenset[str]:
    """New modules at the start of a path. `known`: what was `standing` before."""
    if not (path.endswith(_CODE) or is_link):
        return frozenset()
    modules = [module for folder in folders if (module := _module(path, folder))]
    return frozenset(module.rpartition("/")[2] for module in modules if module not in known)


def hidden(path: str, is_link: bool) -> str:
    """The module's file that Python replaces by a new file or link at the path; empty: none."""
    folder, _, name = path.rpartition("/")
    stem, _, ending = name.partition(".")
    if stem == "__init__" and ending and folder:
        return f"{folder}.py"
    if is_link or name.endswith((".so", ".pyd")):
        return f"{folder}/{stem}.py" if folder else f"{stem}.py"
    return ""


def hides(names: Iterable[str], installed: frozenset[str]) -> bool:
    """`installed`: what the checks' interpreters resolve."""
    return any(name in NAMES or name in installed or _PLUGIN.fullmatch(name) for name in names)


def programs(checks: Sequence[Check]) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    for check in checks:
        for part in re.split(r"&&|\|\||[;|&\n]", check.command):
            words = _without_assignments(part)
            if not words or words[0] in ("cd", "tee", "true", "export"):
                continue
            own = words[0] in ("uv", "poetry", "pdm", "hatch", "pipenv") and "run" in words
            found.append((".venv/bin/python" if own else words[0], check.directory))
    return tuple(dict.fromkeys(found))


def _without_assignments(part: str) -> list[str]:
    try:
        words = shlex.split(part)
    except ValueError:  # a quote that is never closed
        words = part.split()
    while words and re.fullmatch(r"[A-Za-z_]\w*=.*", words[0]):
        words = words[1:]
    return words


def _module(path: str, folder: str) -> str:
    start = f"{folder}/" if folder else ""
    return start + path[len(start) :].split("/")[0].split(".")[0] if path.startswith(start) else ""


# A reason names the file, escaped, and the kind of secret, and never the secret.
def odd_name(path: str) -> str | None:
    """Why the path is suspicious."""
    if "\n" in path or "\t" in path or not is_seen(path):
        return f"{escaped(path)}: the file's name contains control, text-direction or invisible characters"
    return None


def new_secrets(path: str, before: str, after: str) -> str | None:
    """Why the file's content is suspicious; None: it is not."""
    from ...text.redaction import secrets_in  # its patterns cost, and nobody who looks needs them

    known = {before[one.begin : one.end] for one in secrets_in(before) if one.sure} if before else set()
    kinds = [one.kind for one in secrets_in(after) if one.sure and after[one.begin : one.end] not in known]
    if not kinds:
        return None
    return f"{escaped(path)}: the file seems to contain a secret ({', '.join(dict.fromkeys(kinds))})"


def escaped(path: str) -> str:
    return "".join(
        c if c not in "\n\t" and is_seen(c) else c.encode("unicode_escape", "surrogatepass").decode("ascii")
        for c in path[:300]
    )


MAX_GLOBS = 200
"""Inspected globs of one bead."""
STEPS = 20_000
LONG = 2000
"""Two longer patterns, in pairs of characters, count as overlapping."""


class _Folder:
    """What busy globs have in one place: the names and patterns that come next."""

    __slots__ = ("is_deep", "is_end", "names", "patterns")

    def __init__(self) -> None:
        self.names: dict[str, _Folder] = {}
        self.patterns: dict[str, _Folder] = {}
        self.is_deep = False  # behind `**`: any folders may lie between
        self.is_end = False  # a glob covers all from here on


# Two globs collide when there can be a path that both cover; what is hard to tell is taken for anything. A bead that
# would collide with one at work stands back, but only behind beads of its own class: nobody idles for it. One of which
# nothing is known collides with nobody.
class Busy:
    """The globs of all that is at work, for one turn."""

    def __init__(self, globs: Iterable[Sequence[str]] = ()) -> None:
        self._top = _Folder()
        self._left = STEPS
        for some in globs:
            self.add(some)

    def add(self, globs: Sequence[str]) -> None:
        for glob in globs[:MAX_GLOBS]:
            place = self._top
            for part in _parts(glob):
                place = (place.patterns if set("*?") & {*part} else place.names).setdefault(part, _Folder())
                place.is_deep |= part == "**"
            place.is_end = True

    def meets(self, globs: Sequence[str]) -> bool:
        top = self._top
        if not (top.names or top.patterns or top.is_end):
            return False
        return any(self._meets(_parts(glob)) for glob in globs[:MAX_GLOBS])

    def _meets(self, parts: Sequence[str]) -> bool:
        ways, seen = [(self._top, 0)], set[tuple[int, int]]()
        while ways and self._left > 0:
            place, at = ways.pop()
            if place.is_end or at == len(parts):
                return True  # it covers what is in its folder
            self._left -= 1
            if (id(place), at) in seen:
                continue
            seen.add((id(place), at))
            part = parts[at]
            if place.is_deep or part == "**":
                ways.append((place, at + 1))
            if "**" in place.patterns:
                ways.append((place.patterns["**"], at))
            ways += [(next_, at + (part != "**")) for next_ in self._next(place, part)]
        return False

    def _next(self, place: _Folder, part: str) -> Iterator[_Folder]:
        if not set("*?") & {*part}:
            if part in place.names:
                yield place.names[part]
        else:
            yield from (found for name, found in place.names.items() if self._same_name(part, name))
        yield from (one for name, one in place.patterns.items() if name != "**" and self._same_name(part, name))

    def _same_name(self, one: str, other: str) -> bool:
        self._left -= 1
        if self._left <= 0:
            return False
        if one == "**" or len(one) * len(other) > LONG:
            return True
        for a, b in ((one[:1], other[:1]), (one[-1:], other[-1:])):
            if a != b and a not in "*?" and b not in "*?":
                return False
        reached, ways = set[tuple[int, int]](), [(0, 0)]
        while ways:
            i, j = way = ways.pop()
            if way == (len(one), len(other)):
                return True
            if way in reached:
                continue
            reached.add(way)
            self._left -= 1
            a, b = one[i : i + 1], other[j : j + 1]
            if a == "*":
                ways += [(i + 1, j), *([(i, j + 1)] if b else [])]
            if b == "*":
                ways += [(i, j + 1), *([(i + 1, j)] if a else [])]
            if a and b and (a == b or "?" in (a, b)) and "*" not in (a, b):
                ways.append((i + 1, j + 1))
        return False


def apart(ready: Sequence[ReadyBead], busy: Busy) -> Iterator[ReadyBead]:
    for _, group in groupby(ready, key=lambda bead: bead.rank):
        back: list[ReadyBead] = []
        for bead in group:
            if busy.meets(bead.touches):
                back.append(bead)
            else:
                yield bead
        yield from back


def _parts(glob: str) -> Sequence[str]:
    parts = segments(glob if set("/*?") & {*glob} else f"/{glob}")
    odd = (at for at, part in enumerate(parts) if "**" in part and part != "**")
    return parts[: next(odd, len(parts))]
