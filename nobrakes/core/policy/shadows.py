"""What a branch could plant that a check's interpreter or runner takes up by itself, though no file names it. Pure.

1. A new module at the top of what Python's path begins with hides the one of the same name that is installed, or the
   standard library's: a person is asked. What the tree has of that name already hides nothing new, and so it is for a
   repository that *is* one of these packages.
2. The names are those that the check's own interpreter resolves without the checkout (`programs` tells whom to ask).
   Those of the standard library and of the usual runners and their plug-ins are the floor, whatever it answers.
3. A new file of a test framework in Perl, Ruby or Java is asked about, too, unless the tree has that framework's
   source. In JavaScript a package is found in `node_modules/` alone, which nobody may add.
4. Metadata of plug-ins, `.pth` files, others' packages in the tree and the like are gates wherever they lie.
5. A package or an extension that Python takes in the place of a test's module beside it hides the test.
"""

import posixpath
import re
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from ..checks.contract import Check

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
"""Gates whatever the settings say: nobody writes them by hand."""

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
    """Whether a package of this name, of whatever ecosystem, is taken for a runner or a test framework."""
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
    """The folders that Python's path may begin with: the top, `src`, the checks' own, and what settings name."""
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
    """The modules that the tree has at the top of these folders, as `folder/name`, and the frameworks that it is."""
    found: set[str] = set()
    for path in paths:
        if path.endswith(_CODE):
            found.update(module for folder in folders if (module := _module(path, folder)))
        elif path.endswith(_SOURCES) and (name := framework(path)):
            found.add(name)
    return frozenset(found)


def framework(path: str) -> str:
    """The test framework in Perl, Ruby or Java whose place the file takes; empty: none."""
    match = _FRAMEWORK.fullmatch(path) if path.endswith(_SOURCES) else None
    return "/".join(match[1].split("/")[:2]).partition(".")[0] + "/*" if match is not None else ""


def new_names(path: str, is_link: bool, folders: Sequence[str], known: frozenset[str]) -> frozenset[str]:
    """The modules that a new file at the path makes where a path begins. `known`: what was `standing` before."""
    if not (path.endswith(_CODE) or is_link):
        return frozenset()
    modules = [module for folder in folders if (module := _module(path, folder))]
    return frozenset(module.rpartition("/")[2] for module in modules if module not in known)


def hidden(path: str, is_link: bool) -> str:
    """The module's file in whose place Python takes a new file or link at the path; empty: it takes none's."""
    folder, _, name = path.rpartition("/")
    stem, _, ending = name.partition(".")
    if stem == "__init__" and ending and folder:
        return f"{folder}.py"
    if is_link or name.endswith((".so", ".pyd")):
        return f"{folder}/{stem}.py" if folder else f"{stem}.py"
    return ""


def hides(names: Iterable[str], installed: frozenset[str]) -> bool:
    """Whether one of these modules hides another. `installed`: what the checks' interpreters resolve."""
    return any(name in NAMES or name in installed or _PLUGIN.fullmatch(name) for name in names)


def programs(checks: Sequence[Check]) -> tuple[tuple[str, str], ...]:
    """(what is started, in which folder), for each part of the checks' commands."""
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
    """`folder/name` of the module that the file is or lies in; empty: it lies elsewhere."""
    start = f"{folder}/" if folder else ""
    if not path.startswith(start):
        return ""
    return start + path[len(start) :].split("/")[0].split(".")[0]
