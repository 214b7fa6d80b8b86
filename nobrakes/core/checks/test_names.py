"""How tests are called in each ecosystem: what tells that it is there, its globs, and the folders of its tests. Pure.

1. A glob here is a file that a runner of the ecosystem collects by itself, or that only tests have (a snapshot, a
   fixture file of the runner). A folder is here only where the tool itself gives its name that meaning.
2. COLLECTED says which files look like tests once they lie in a folder that is called like one: it decides about
   folders (core.checks.test_layout), and makes no file elsewhere a test.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

SCRIPTS = ("js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts")


@dataclass(frozen=True, slots=True)
class Ecosystem:
    """`marks`: the names (`x.toml`) or endings (`.py`) of files that tell of it. `folders`: where new tests go."""

    marks: tuple[str, ...]
    globs: tuple[str, ...]
    folders: tuple[str, ...] = ()


def _each(text: str) -> tuple[str, ...]:
    return tuple(f"{text}.{ending}" for ending in SCRIPTS)


_SOURCE_SETS = tuple(f"**/src/*Test/{language}/**" for language in ("java", "kotlin", "scala", "groovy", "resources"))

ECOSYSTEMS: Mapping[str, Ecosystem] = {
    "python": Ecosystem(
        ("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", ".py"),
        ("test_*.py", "*_test.py", "conftest.py", "*.ambr"),
        ("tests", "test"),
    ),
    "javascript": Ecosystem(
        ("package.json", "deno.json", "deno.jsonc", "bunfig.toml", *(f".{ending}" for ending in SCRIPTS)),
        (
            *_each("*.test"), *_each("*.spec"), *_each("*.cy"), *_each("*.e2e-spec"), *_each("*.tst"), "*.test-d.ts",
            "**/__tests__/**", "**/__snapshots__/**", "**/__mocks__/**", "**/__fixtures__/**",
        ),
        ("tests", "test", "__tests__", "spec", "e2e"),
    ),
    "deno": Ecosystem(("deno.json", "deno.jsonc", "deno.lock"), _each("*_test"), ("tests", "test")),
    "cypress": Ecosystem(("cypress.json", *_each("cypress.config")), ("**/cypress/**",)),
    "go": Ecosystem(("go.mod", ".go"), ("*_test.go", "**/testdata/**")),
    "rust": Ecosystem(("Cargo.toml", ".rs"), ("*.snap", "*.snap.new"), ("tests",)),
    "jvm": Ecosystem(
        ("pom.xml", "build.gradle", "build.gradle.kts", "build.sbt", ".java", ".kt", ".scala", ".groovy"),
        ("**/src/test/**", "**/src/testFixtures/**", "**/src/androidTest/**", *_SOURCE_SETS),
    ),
    "dotnet": Ecosystem(
        (".csproj", ".fsproj", ".vbproj", ".sln", ".cs", ".fs"), ("*.verified.*",), ("*.Tests", "*.UnitTests")
    ),
    "ruby": Ecosystem(
        ("Gemfile", "Rakefile", ".gemspec", ".rb"),
        ("**/spec/**/*_spec.rb", "**/test/**/*_test.rb", "**/test/**/test_*.rb"),
        ("spec", "test"),
    ),
    "elixir": Ecosystem(("mix.exs", ".ex", ".exs"), ("**/test/**/*_test.exs", "**/test/test_helper.exs"), ("test",)),
    "dart": Ecosystem(
        ("pubspec.yaml", ".dart"),
        ("**/test/**/*_test.dart", "**/integration_test/**/*_test.dart"),
        ("test", "integration_test"),
    ),
    "perl": Ecosystem(("Makefile.PL", "Build.PL", "cpanfile", "dist.ini", ".pm", ".t"), ("*.t",), ("t", "xt")),
    "bats": Ecosystem((".bats",), ("*.bats",), ("test", "tests")),
    "shell": Ecosystem((".sh",), (), ("tests", "test")),
    "php": Ecosystem(
        ("composer.json", "phpunit.xml", "phpunit.xml.dist", ".php"),
        ("**/tests/**/*Test.php", "**/test/**/*Test.php", "*.phpt"),
        ("tests",),
    ),
    "swift": Ecosystem(("Package.swift", ".swift"), ("**/Tests/**/*Tests.swift",), ("Tests",)),
    "native": Ecosystem(
        ("CMakeLists.txt", "meson.build", "configure.ac", ".c", ".cc", ".cpp", ".cxx", ".h", ".hpp"),
        tuple(f"{name}.{ending}" for name in ("*_test", "*_unittest") for ending in ("cc", "cpp", "cxx")),
        ("tests", "test"),
    ),
    "gherkin": Ecosystem((".feature",), ("*.feature",), ("features",)),
}  # fmt: skip

FRESH = ("tests", "test", "spec", "__tests__")
"""Where new tests may go in a repository of no known ecosystem."""

SNAPSHOTS = (
    "**/__snapshots__/**", "**/__image_snapshots__/**", "**/snapshots/**", "**/goldens/**", "**/golden/**",
    "*.snap", "*.ambr", "*.golden", "*.approved.*", "*.verified.*",
)  # fmt: skip
"""Outcomes that were recorded: where they belong to the tests, a Doer's change of them is shown to a person."""

DATA = frozenset(
    ("fixtures", "__fixtures__", "snapshots", "__snapshots__", "__image_snapshots__", "testdata", "golden", "goldens",
     "data", "support", "helpers", "steps", "step_definitions", "resources", "mocks", "__mocks__", "lib")
)  # fmt: skip
"""Folders within tests whose files are no evidence for or against them."""
BESIDE = frozenset(
    ("fixtures", "__fixtures__", "snapshots", "__snapshots__", "__image_snapshots__", "testdata", "golden", "goldens")
)
"""Folders that belong to the tests that lie right beside them."""

SOURCES = frozenset(
    (*SCRIPTS, "py", "go", "rs", "java", "kt", "kts", "scala", "groovy", "clj", "cljs", "cljc", "cs", "fs", "vb", "rb",
     "ex", "exs", "erl", "hrl", "dart", "pl", "pm", "t", "bats", "sh", "php", "phpt", "swift", "c", "cc", "cpp", "cxx",
     "h", "hpp", "hs", "ml", "lua", "jl", "r", "nim", "zig", "cr", "vue", "svelte", "feature", "m", "mm", "coffee")
)  # fmt: skip

CERTAIN = re.compile(r"(?i:(?:.*[._-])?(?:tests|unittests)|__tests__)|.*[a-z]Tests", re.DOTALL)
"""A folder of this name is one of tests as soon as a test is in it."""
LIKELY = re.compile(
    r"(?i:(?:.*[._-])?(?:test|spec|specs|e2e)|tests?[._-].*|t|xt|testing|testsuite|integration|features)|.*[a-z]Test",
    re.DOTALL,
)
"""A folder of this name is one of tests when a large part of it is, or a file that only tests have."""

_STEM = re.compile(
    r"(?:test|tests|spec)[_-].+|.+[._-](?:test|tests|spec|specs|suite|SUITE|unittest|e2e|e2e-spec|cy|test-d)"
    r"|Test[A-Z].*|.*[a-z0-9](?:Test|Tests|TestCase|Spec|Suite|IT)|Spec|t\d{4}-.+",
    re.DOTALL,
)
_ALL = frozenset(("runtests", "run_tests", "run-tests", "run", "all", "tests", "test", "testthat"))
DECISIVE = frozenset(
    ("conftest.py", "spec_helper.rb", "rails_helper.rb", "test_helper.rb", "test_helper.exs", "test_helper.bash",
     "mocha.opts", "runtests.jl", "testthat.R", "test-lib.sh", "TestHelper.php", "bootstrap.php")
)  # fmt: skip

IDIOM = re.compile(
    r"""^\s*(?:from|import)\s+(?:pytest|nose|testtools|django\.test|rest_framework\.test|absl\.testing)\b
    | ^\s*class\s+\w+\([^)]*TestCase\b | ^\s*from\s+unittest\S*\s+import\b.*TestCase | ^\s*import\s+doctest\b
    | \b(?:describe|it|test|suite|context|specify)(?:\.\w+)?\s*\(\s*(?:['"`]|async\b|\(|t\b|function\b)
    | (?:require\(\s*|from\s+|import\s+)['"](?:node:)?
      (?:test|assert|assert/strict|ava|tape|tap|uvu|chai|vitest|mocha|bun:test|@jest/globals)['"]
    | Deno\.test\( | \#\[(?:\w+::)*test\b | \#\[cfg\(test\)\]
    | \bTEST(?:_F|_P|_CASE|_GROUP)?\s*\( | \bBOOST_(?:AUTO|FIXTURE)_TEST
    | \bgtest/gtest\.h | \bcatch2?/catch | \bcmocka\.h
    | ^\s*\#\s*include\s*<(?:assert\.h|cassert|check\.h|CUnit/.*)>
    | \b(?:add_test|gtest_discover_tests|catch_discover_tests|doctest_discover_tests)\s*\(
    | ^\s*require(?:_relative)?\s+['"](?:.*/)?(?:minitest|test/unit|rspec|spec_helper|test_helper|rails_helper)
    """,
    re.MULTILINE | re.VERBOSE,
)
"""What a text of tests has in it."""


def is_collected(folder: str, name: str) -> bool:
    """Whether a file of this name is a test where its folder, whose own name is `folder`, is one of tests."""
    if name in DECISIVE:
        return True
    stem, dot, ending = name.rpartition(".")
    if folder == "features":
        return ending == "feature"
    if folder in ("t", "xt"):
        return ending == "t" or re.fullmatch(r"t\d{4}-.+", stem) is not None
    if not dot or (ending not in SOURCES and ending.casefold() not in SOURCES):
        return False
    if ending in ("t", "bats", "feature", "phpt"):
        return True
    return _STEM.fullmatch(stem) is not None


def is_runner(name: str) -> bool:
    """Whether a file of this name, in a folder called tests, is what runs them all."""
    stem, _, ending = name.rpartition(".")
    return stem in _ALL and ending in SOURCES


def subject(stem: str) -> str:
    """The stem of what a test of this stem is about, as far as its name says: `test_a`, `a_test`, `a.spec` -> `a`."""
    text = re.sub(r"^(?:test|tests|spec)[_-]|[._-](?:test|tests|spec|specs)$|(?<=[a-z0-9])(?:Tests?|Spec)$", "", stem)
    return text or stem


def ecosystems(paths: frozenset[str]) -> tuple[str, ...]:
    """The ecosystems whose marks are among the paths, in the order of the table."""
    names = {path.rpartition("/")[2] for path in paths}
    seen = names | {f".{name.rpartition('.')[2]}" for name in names if "." in name}
    return tuple(name for name, one in ECOSYSTEMS.items() if any(mark in seen for mark in one.marks))
