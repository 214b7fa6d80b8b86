"""Which files of a repository are tests, and which ones test runners' settings load. Pure.

1. Loaded files (set-up, reporters, plug-ins) decide whether tests pass, so a person is asked when one changes, as for a
   file named in a command (checks.policy.protected_files).
2. Settings are matched by patterns, so only plain forms are seen: a path from the settings' folder (`./a`,
   `<rootDir>/a`) or a dotted pytest module; no package names or globs.
3. A path without an ending may have any that the runner tries. The file's existence is not checked.
"""

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from ..globs import Globs, matching, plain, upwards
from ..records import frozen

_ENDINGS = ("js", "ts", "cjs", "mjs", "cts", "mts", "jsx", "tsx")
_CONFIGS = tuple(
    f"{name}.{ending}"
    for name in ("jest.config", "vitest.config", "vite.config", "vitest.workspace", "playwright.config", "ava.config",
                 "cypress.config", ".mocharc", "karma.conf")
    for ending in (*_ENDINGS[:6], "json")
)  # fmt: skip
PYTEST = ("pytest.ini", ".pytest.ini", "pytest.toml", "pyproject.toml", "tox.ini", "setup.cfg")
_CONFTESTS = ("conftest.py", "tests/conftest.py", "test/conftest.py")
_PHP = ("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml")
SETTINGS = (*_CONFIGS, "package.json", ".mocharc.yml", ".mocharc.yaml", *PYTEST, *_CONFTESTS, ".rspec", *_PHP)
"""The files in a check's folder that are read."""

MAX_CHARACTERS = 200_000

_KEYS = (
    r"(?:setupFiles(?:AfterEnv)?|globalSetup|globalTeardown|testEnvironment|environment|runner|testRunner|reporters?|"
    r"resolver|transform|snapshotSerializers|snapshotResolver|testSequencer|require|file|supportFile|plugins|"
    r"watchPlugins|prettierPath|processor|pool|ui|import|nodeArguments|snapshotEnvironment)"
)
_VALUE = re.compile(rf"""\b{_KEYS}["']?\s*[:=]\s*(\[[^\]]*\]|\{{[^}}]*\}}|["'][^"'\n]*["'])""")
_YAML = re.compile(rf"^{_KEYS}:[ \t]*([^\n]*(?:\n[ \t]*-[^\n]*)*)", re.MULTILINE)
_QUOTED = re.compile(r"""["']([^"'\n]+)["']""")
_LOCAL = re.compile(r"(?:<rootDir>/|\./|\.\./)[\w./@-]+")
_JSON_SECTIONS = re.compile(r'"(?:jest|ava|mocha|vitest|nyc|c8|tap|cypress)"\s*:\s*\{')
_PLUGINS = re.compile(r"^[ \t]*pytest_plugins\b[^=\n]*=\s*(\([^)]*\)|\[[^\]]*\]|[^\n]*)", re.MULTILINE)
_OPTION = re.compile(r"""(?:^|[\s"'])-p["']?[\s,]*["']?([A-Za-z_][\w.]*)""", re.MULTILINE)
_ADDOPTS = re.compile(r"^[ \t]*addopts[ \t]*=[ \t]*(\[[^\]]*\]|[^\n]*(?:\n[ \t][^\n=]*$)*)", re.MULTILINE)
_MODULE = re.compile(r"(?<!\w)[A-Za-z_]\w*+(?:\.\w+)++")
_REQUIRED = re.compile(r"(?:--require|-r)[ =]?\s*(\./\S+|\S*/\S+|\w+)")
_BOOTSTRAP = re.compile(r"""\b(?:bootstrap|file)\s*=\s*["']([^"']+\.php)["']""")


def taken_up(path: str, text: str) -> Iterator[str]:
    """The repository paths that the settings at `path` take up, as they may be written."""
    folder, _, name = path.rpartition("/")
    text = text[:MAX_CHARACTERS]
    if name in _CONFIGS or name == "package.json" or name.startswith(".mocharc"):
        for word in _scripted(name, text):
            yield from _below(folder, word.removeprefix("<rootDir>/"), _ENDINGS)
    elif name == "conftest.py":
        for value in _PLUGINS.findall(text):
            yield from _modules(_QUOTED.findall(value))
    elif name in PYTEST:
        for value in _ADDOPTS.findall(text):
            yield from _modules(_OPTION.findall(value))
    elif name == ".rspec":
        for word in _REQUIRED.findall(text):
            for base in ("", "lib", "spec"):
                yield from _below(posixpath.join(folder, base), word, ("rb",))
    elif name in _PHP:
        for word in _BOOTSTRAP.findall(text):
            yield from _below(folder, word, ())


def _scripted(name: str, text: str) -> Iterator[str]:
    if name.endswith((".yml", ".yaml")):
        yield from (word for value in _YAML.findall(text) for word in value.split() if _LOCAL.fullmatch(word))
        return
    if name == "package.json":
        text = "\n".join(text[match.end() : _closing(text, match.end())] for match in _JSON_SECTIONS.finditer(text))
    for value in _VALUE.findall(text):
        yield from (word for word in _QUOTED.findall(value) if _LOCAL.fullmatch(word))


def _closing(text: str, begin: int) -> int:
    depth = 1
    for match in re.compile(r"[{}]").finditer(text, begin):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.start()
    return len(text)


def _modules(names: list[str]) -> Iterator[str]:
    for name in names:
        if _MODULE.fullmatch(name):  # pytest's own and installed ones are mostly plain words
            below = name.replace(".", "/")
            for root in ("", "src/", "lib/"):
                yield from (f"{root}{below}.py", f"{root}{below}/__init__.py")


def _below(folder: str, word: str, endings: tuple[str, ...]) -> Iterator[str]:
    path = posixpath.normpath(posixpath.join(folder, word))
    if path.startswith(("../", "/")) or path in (".", ".."):
        return
    yield path
    if "." not in path.rpartition("/")[2] or not path.endswith(tuple(f".{one}" for one in endings)):
        yield from (f"{path}.{ending}" for ending in endings)
        yield from (f"{path}/index.{ending}" for ending in endings if ending in _ENDINGS)


SCRIPTS = ("js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts")


# A glob here is a file that a runner of the ecosystem collects by itself, or that only tests have. COLLECTED decides
# about folders that are called like tests, and makes no file elsewhere a test.
@frozen
class Ecosystem:
    """`marks`: file names (`x.toml`) or endings (`.py`) that identify it. `folders`: where new tests go."""

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
"""Places for new tests in a repository of no known ecosystem."""

SNAPSHOTS = (
    "**/__snapshots__/**", "**/__image_snapshots__/**", "**/snapshots/**", "**/goldens/**", "**/golden/**",
    "*.snap", "*.ambr", "*.golden", "*.approved.*", "*.verified.*",
)  # fmt: skip
"""Recorded outcomes: if they belong to tests, a person sees a Doer's change of them."""

DATA = frozenset(
    ("fixtures", "__fixtures__", "snapshots", "__snapshots__", "__image_snapshots__", "testdata", "golden", "goldens",
     "data", "support", "helpers", "steps", "step_definitions", "resources", "mocks", "__mocks__", "lib")
)  # fmt: skip
"""Folders within tests whose files say nothing about them."""
FIXTURE_FOLDERS = frozenset(
    ("fixtures", "__fixtures__", "snapshots", "__snapshots__", "__image_snapshots__", "testdata", "golden", "goldens")
)
"""Folders that belong to tests right beside them."""

SOURCES = frozenset(
    (*SCRIPTS, "py", "go", "rs", "java", "kt", "kts", "scala", "groovy", "clj", "cljs", "cljc", "cs", "fs", "vb", "rb",
     "ex", "exs", "erl", "hrl", "dart", "pl", "pm", "t", "bats", "sh", "php", "phpt", "swift", "c", "cc", "cpp", "cxx",
     "h", "hpp", "hs", "ml", "lua", "jl", "r", "nim", "zig", "cr", "vue", "svelte", "feature", "m", "mm", "coffee")
)  # fmt: skip

CERTAIN = re.compile(r"(?i:(?:.*[._-])?(?:tests|unittests)|__tests__)|.*[a-z]Tests", re.DOTALL)
"""Such a folder contains tests as soon as one is in it."""
LIKELY = re.compile(
    r"(?i:(?:.*[._-])?(?:test|spec|specs|e2e)|tests?[._-].*|t|xt|testing|testsuite|integration|features)|.*[a-z]Test",
    re.DOTALL,
)
"""Such a folder contains tests if a large part of it, or a file that only tests have, says so."""

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
    r"""^[ \t]*(?:from|import)\s+(?:pytest|nose|testtools|django\.test|rest_framework\.test|absl\.testing)\b
    | ^[ \t]*class\s+\w+\([^()]*TestCase\b | ^[ \t]*from\s+unittest\S*\s+import\b.*TestCase | ^[ \t]*import\s+doctest\b
    | \b(?:describe|it|test|suite|context|specify)(?:\.\w+)?\s*\(\s*(?:['"`]|async\b|\(|t\b|function\b)
    | (?:require\(\s*|from\s+|import\s+)['"](?:node:)?
      (?:test|assert|assert/strict|ava|tape|tap|uvu|chai|vitest|mocha|bun:test|@jest/globals)['"]
    | Deno\.test\( | \#\[(?:\w+::)*test\b | \#\[cfg\(test\)\]
    | \bTEST(?:_F|_P|_CASE|_GROUP)?\s*\( | \bBOOST_(?:AUTO|FIXTURE)_TEST
    | \bgtest/gtest\.h | \bcatch2?/catch | \bcmocka\.h
    | ^[ \t]*\#\s*include\s*<(?:assert\.h|cassert|check\.h|CUnit/.*)>
    | \b(?:add_test|gtest_discover_tests|catch_discover_tests|doctest_discover_tests)\s*\(
    | ^[ \t]*require(?:_relative)?\s+['"](?:.*/)?(?:minitest|test/unit|rspec|spec_helper|test_helper|rails_helper)
    """,
    re.MULTILINE | re.VERBOSE,
)
"""Typical for the text of tests."""


def is_collected(folder: str, name: str) -> bool:
    """Whether a file is a test in a folder of tests, whose own name is `folder`."""
    if name in DECISIVE:
        return True
    stem, dot, ending = name.rpartition(".")
    if folder == "features":
        return ending == "feature"
    if folder in ("t", "xt"):
        return ending == "t" or re.fullmatch(r"t\d{4}-.+", stem) is not None
    if not dot or (ending not in SOURCES and ending.casefold() not in SOURCES):
        return False
    return ending in ("t", "bats", "feature", "phpt") or _STEM.fullmatch(stem) is not None


def is_runner(name: str) -> bool:
    stem, _, ending = name.rpartition(".")
    return stem in _ALL and ending in SOURCES


def subject(stem: str) -> str:
    """The stem of a test's subject: `test_a`, `a_test`, `a.spec` -> `a`."""
    text = re.sub(r"^(?:test|tests|spec)[_-]|[._-](?:test|tests|spec|specs)$|(?<=[a-z0-9])(?:Tests?|Spec)$", "", stem)
    return text or stem


def ecosystems(paths: frozenset[str]) -> tuple[str, ...]:
    """The ecosystems whose marks are among the paths, in the order of the table."""
    names = {path.rpartition("/")[2] for path in paths}
    seen = names | {f".{name.rpartition('.')[2]}" for name in names if "." in name}
    return tuple(name for name, one in ECOSYSTEMS.items() if any(mark in seen for mark in one.marks))


MAX_READ = 300
"""Files of a tree that are read to recognize tests."""
SAMPLED = 8
LARGEST = 200_000

_PYTEST_SETTING = re.compile(
    r"^[ \t]*(testpaths|python_files)[ \t]*=[ \t]*(\[[^\]=]*\]|[^\n]*(?:\n[ \t][^\n=]*$)*)", re.MULTILINE
)
_SCRIPT = re.compile(r"\"test\"\s*:\s*\"(?!echo \\\"Error)[^\"]")
_FOUND_BY_TEXT = frozenset((*SCRIPTS, "rs", "c", "cc", "cpp", "cxx", "m", "mm", "coffee"))
"""Languages whose tests often have ordinary names."""
_BY_TEXT = re.compile(
    r"tests?\.(?:py|rs|[jt]sx?|[mc][jt]s)|(?:.+[-_]test|test-.+)\.(?:[jt]sx?|[mc][jt]s)|.+_tests?\.rs|(?:tests?|test_.+|.+_test)\.(?:c|cc|cpp|cxx)",
    re.DOTALL,
)
"""Files named like tests that may be anything: Django's tests.py, Jinja's."""
_PROGRAM = re.compile(r"^(?:[A-Za-z_]\w*[ \t]+)+main[ \t]*\(", re.MULTILINE)
_COMMANDS = ("true", "false", "echo", "expr")
_PROJECT = re.compile(
    r"(?:.*[._-])?(?:Unit|Integration|Functional|Acceptance)?Tests?\.(?:cs|fs|vb)proj|.*[a-z]Tests?\.(?:cs|fs|vb)proj",
    re.DOTALL,
)
_PROJECT_TEXT = re.compile(r"Microsoft\.NET\.Test\.Sdk|<IsTestProject>\s*true|Include=\"(?:xunit|NUnit|MSTest)", re.I)
_LARGE_PART = 1 / 3


@frozen
class Layout:
    """The globs of a tree's tests: `names` by ecosystem, `found` files and folders, `fresh` new ones."""

    names: tuple[str, ...]
    found: tuple[str, ...] = ()
    fresh: tuple[str, ...] = ()

    @property
    def tests(self) -> tuple[str, ...]:
        return (*self.names, *self.found)


@dataclass(slots=True)
class _Folder:
    path: str
    own: list[str]  # the files in it and below it, but for those in folders called like tests within it
    nested: list[str]  # those in such folders


@lru_cache(maxsize=64)
def unclear(paths: frozenset[str]) -> tuple[str, ...]:
    """The paths whose texts `layout` needs, in order."""
    wanted = {path for path in paths if "test" in path and _BY_TEXT.fullmatch(path.rpartition("/")[2])}
    wanted.update({_manifest(path) for path in wanted} & paths)
    wanted.update(path for path in paths if path.endswith((".csproj", ".fsproj", ".vbproj")))
    wanted.update(paths.intersection(PYTEST))
    for folder in _folders(paths):
        wanted.update(_samples(folder))
        wanted.update({f"{folder.path}/CMakeLists.txt"} & paths)
    return tuple(sorted(wanted, key=lambda path: (path.count("/"), path))[:MAX_READ])


# A folder belongs to the tests when it is called like one and holds tests that say so by name or text: a name alone
# never suffices (`django/test/`). What a Doer may not touch is read off the tree that it started from, so nothing it
# moves makes a file less of a test; what a Test Writer may touch is read off both. No folder that held code becomes one
# of tests by what a branch adds. Tests within a file of code (`#[cfg(test)]`, doctests) are the Doer's.
@lru_cache(maxsize=64)
def layout(paths: frozenset[str], texts: frozenset[tuple[str, str]] = frozenset()) -> Layout:
    """The layout of a tree; `texts`: pairs of a path of `unclear` and its text."""
    known = dict(texts)
    there = ecosystems(paths)
    folders, own_names = _configured(known)
    names = tuple(dict.fromkeys((*(glob for one in there or ECOSYSTEMS for glob in ECOSYSTEMS[one].globs), *own_names)))
    found = [path for path in sorted(known) if path in paths and _is_test_file(path, known, paths)]
    found += _projects(paths, known)
    found += [f"{folder}/**" for folder in _collected(folders, paths, names)]
    accepted: set[str] = set()
    refused: set[str] = set()
    for folder in _folders(paths):
        if not accepted.isdisjoint(upwards(folder.path)):
            continue
        if _holds_tests(folder, known):
            accepted.add(folder.path)
        else:
            refused.add(folder.path.rpartition("/")[2])
    found += [f"{path}/**" for path in (*_beside(paths, (*names, *_anchored(found))), *accepted)]
    fresh = [folder for one in there for folder in ECOSYSTEMS[one].folders] or list(FRESH)
    fresh = [f"**/{name}/**" for name in dict.fromkeys(fresh) if name not in refused]
    return Layout(names, _small(_anchored(found), names), tuple(fresh))


def writers(before: Layout, after: Layout, paths: Collection[str]) -> tuple[str, ...]:
    """What a Test Writer may change, by the trees `before` (with `paths`) and `after` its work."""
    known = set(before.found)
    new = [glob for glob in after.found if glob not in known]
    tests = set(matching(paths, before.tests)) if new else set()
    code = [path for path in paths if path not in tests] if new else []
    above = {folder for path in code for folder in upwards(path)}
    free = [glob for glob in new if not (matching(code, (glob,)) if (path := plain(glob)) is None else path in above)]
    return tuple(dict.fromkeys((*before.tests, *before.fresh, *after.names, *free)))


def _folders(paths: frozenset[str]) -> list[_Folder]:
    found: dict[str, _Folder] = {}
    named = {above: _called_like_tests(above) for above in {path.rpartition("/")[0] for path in paths}}
    for path in sorted(path for path in paths if named[path.rpartition("/")[0]]):
        *outer, last = named[path.rpartition("/")[0]]
        found.setdefault(last, _Folder(last, [], [])).own.append(path)
        for name in outer:
            found.setdefault(name, _Folder(name, [], [])).nested.append(path)
    return sorted(found.values(), key=lambda folder: (folder.path.count("/"), folder.path))


def _called_like_tests(folder: str) -> list[str]:
    """The folder and those above it that are called so, from the top."""
    parts = folder.split("/")
    return [
        "/".join(parts[:end])
        for end in range(1, len(parts) + 1)
        if (CERTAIN.fullmatch(parts[end - 1]) or LIKELY.fullmatch(parts[end - 1]))
        and ("src", "main") not in pairwise(parts[:end])  # Maven: the source set of the product
    ]


def _evidence(folder: _Folder, paths: Iterable[str]) -> list[str]:
    start = len(folder.path) + 1
    return [
        path
        for path in paths
        if path.rpartition(".")[2].casefold() in SOURCES
        and not any(part in DATA for part in path[start:].split("/")[:-1])
        and not path.endswith("/__init__.py")
    ]


def _tests_of(folder: _Folder, paths: list[str]) -> list[str]:
    """Those of the paths that are tests by name, and have nothing of their own name beside them."""
    name = folder.path.rpartition("/")[2]
    stems = {path.rpartition(".")[0] for path in paths}
    found = []
    for path in paths:
        above, _, file = path.rpartition("/")
        stem = file.rpartition(".")[0]
        other = subject(stem)
        if is_collected(name, file) and (other == stem or f"{above}/{other}" not in stems):
            found.append(path)
    return found


def _samples(folder: _Folder) -> list[str]:
    """The files whose texts decide about a folder that names do not decide about."""
    own = _evidence(folder, folder.own)
    if not own or _tests_of(folder, own):
        return []
    told = [path for path in own if path.rpartition(".")[2] in _FOUND_BY_TEXT]
    return sorted(told, key=lambda path: (path.count("/"), path))[:SAMPLED]


def _holds_tests(folder: _Folder, texts: Mapping[str, str]) -> bool:
    name = folder.path.rpartition("/")[2]
    own, nested = _evidence(folder, folder.own), _evidence(folder, folder.nested)
    by_name, below = _tests_of(folder, own), _tests_of(folder, nested)
    direct = {path.rpartition("/")[2] for path in folder.own if path.rpartition("/")[0] == folder.path}
    if name != "features" and direct & DECISIVE:
        return True
    if "CMakeLists.txt" in direct and IDIOM.search(texts.get(f"{folder.path}/CMakeLists.txt", "")):
        return True
    sampled = [path for path in _samples(folder) if path in texts]
    told = [path for path in sampled if IDIOM.search(texts[path][:LARGEST])]
    if CERTAIN.fullmatch(name):
        return bool(by_name or below or told or any(is_runner(file) for file in direct))
    if sampled and len(told) * 2 >= len(sampled):
        return True
    share = len(by_name) / len(own) if own else 0.0
    if name == "testing":
        return share > 1 / 2
    every = len(own) + len(nested)
    return share >= _LARGE_PART or (bool(below) and (len(by_name) + len(below)) * 2 >= every)


def _is_test_file(path: str, texts: Mapping[str, str], paths: frozenset[str]) -> bool:
    """Whether a file named like a test is one: by its text, or by the test script of its package."""
    name = path.rpartition("/")[2]
    if _BY_TEXT.fullmatch(name) is None:
        return False
    if name.rpartition(".")[2] in ("c", "cc", "cpp", "cxx"):
        return _PROGRAM.search(texts[path][:LARGEST]) is not None and _is_test_program(path, paths)
    is_script = name.partition(".")[0] in ("test", "tests") and name.rpartition(".")[2] in SCRIPTS
    scripts = _SCRIPT.search(texts.get(_manifest(path), "")) if is_script else None
    return scripts is not None or IDIOM.search(texts[path][:LARGEST]) is not None


def _is_test_program(path: str, paths: frozenset[str]) -> bool:
    """A C program named like a test is one at the top, or beside its subject."""
    folder, _, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    if not folder:
        return not (stem == "test" and any(f"{one}{dot}{ending}" in paths for one in _COMMANDS))
    about = subject(stem)
    return about != stem and f"{folder}/{about}{dot}{ending}" in paths


def _manifest(path: str) -> str:
    folder = path.rpartition("/")[0]
    return f"{folder}/package.json" if folder else "package.json"


def pytest_settings(text: str) -> list[tuple[str, list[str]]]:
    return [(key, re.findall(r"[^\s\[\]\"',#]+", value)) for key, value in _PYTEST_SETTING.findall(text)]


def _configured(texts: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """(folders, names) of tests in pytest's settings. A name that fits any file says nothing."""
    folders: list[str] = []
    names: list[str] = []
    for path in PYTEST:
        for key, words in pytest_settings(texts.get(path, "")):
            if key == "testpaths":
                folders += [word.strip("/").removeprefix("./") for word in words if not re.search(r"[*?.]", word[1:])]
            else:
                names += [word for word in words if re.fullmatch(r"(?=[\w*-]*[A-Za-z]{3})[\w*-]+\.py", word)]
    return [folder for folder in folders if folder and folder != "."], names


def _collected(folders: Iterable[str], paths: Iterable[str], names: tuple[str, ...]) -> list[str]:
    """The folders given to the runner that consist mostly of tests by name. Subfolders of tests (`money/tests/`) count
    only for themselves, and tests beside their code not at all."""
    inside: dict[str, list[str]] = {folder: [] for folder in folders}
    for path in paths if inside else ():
        for folder in upwards(path.rpartition("/")[0]):
            if folder in inside:
                inside[folder].append(path)
            name = folder.rpartition("/")[2]
            if CERTAIN.fullmatch(name) or LIKELY.fullmatch(name):
                break
    return [folder for folder, found in inside.items() if _is_collected(folder, found, names)]


def _is_collected(folder: str, inside: list[str], names: tuple[str, ...]) -> bool:
    own = _evidence(_Folder(folder, inside, []), inside)
    stems = {path.rpartition(".")[0] for path in own}
    named = [path.rpartition(".")[0].rpartition("/") for path in matching(own, names)]
    alone = [stem for above, _, stem in named if subject(stem) == stem or f"{above}/{subject(stem)}" not in stems]
    return len(alone) * 2 > len(own)


def _projects(paths: frozenset[str], texts: Mapping[str, str]) -> list[str]:
    found = []
    for path in sorted(path for path in paths if path.endswith("proj")):
        folder, _, name = path.rpartition("/")
        if not folder or not name.endswith("proj"):
            continue
        if _PROJECT.fullmatch(name) or _PROJECT_TEXT.search(texts.get(path, "")):
            found.append(f"{folder}/**")
    return found


def _beside(paths: frozenset[str], names: tuple[str, ...]) -> list[str]:
    """The folders of fixtures and snapshots right beside tests."""
    folders: set[str] = set()
    for inner in {path.rpartition("/")[0] for path in paths}:
        parts = inner.split("/")
        folders.update("/".join(parts[: end + 1]) for end, part in enumerate(parts) if part in FIXTURE_FOLDERS)
    if not folders:
        return []
    homes = {path.rpartition("/")[0] for path in matching(paths, names)}
    return sorted(folder for folder in folders if folder.rpartition("/")[0] in homes)


def _anchored(found: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one if "/" in one else f"/{one}" for one in found))


def _small(globs: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    kept: list[str] = []
    known = Globs(names)
    for glob in sorted(globs, key=lambda one: (one.count("/"), one)):
        if not known.cover(glob.strip("/").removesuffix("/**")):
            known.add(glob)
            kept.append(glob)
    return tuple(kept)


EMPTY = layout(frozenset())
