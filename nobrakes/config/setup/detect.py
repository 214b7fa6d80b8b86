"""The kind of project, the commands that check it, and what `nobrakes init` says of its tests. Reads files, runs
nothing.

1. A test command's format is known unless it names several runners, a foreign reporter or an output file.
2. A check without a format is read in every format; a person is told which line would fix it.
"""

import json
import os
import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatchcase as fnmatch
from itertools import islice
from pathlib import Path
from typing import Any, cast

from ...checks.contract import Check
from ...checks.probes import listed, listing
from ...checks.test_paths import LARGEST, PYTEST, layout, pytest_settings, unclear
from ...git.location import tracked
from ...globs import matches
from ...host.versions import output_of
from ...host.versions import probing_trouble as why_not
from ...records import frozen
from ...sandbox import closure
from ...text import toml
from ...text.cleaning import count
from ..sections import CheckSettings, Format, Kind
from ..settings import Config

# Files are read, nothing is run. Several kinds of project at once are all detected. What people wrote down as a command
# goes before what a tool's settings suggest: where a Makefile has a target for a kind of check, that target is the
# check, with a note. A command must work in a fresh checkout, and there is a setup only where a lock file says what to
# bring in.
MAX_BYTES = 2_000_000


@frozen
class Found:
    """A project's kind, (kind, command) of checks, set-up. `covers`: globs of the folders below it whose packages its
    test check runs too ("." all, "!" all but these). `is_apart`: no check above it runs its tests."""

    word: str
    checks: tuple[tuple[str, str], ...] = ()
    setup: str = ""
    notes: tuple[str, ...] = ()
    covers: tuple[str, ...] = ()
    is_apart: bool = False


def exists(root: str, *names: str) -> bool:
    return any(os.path.isfile(os.path.join(root, name)) for name in names)


def read(root: str, *names: str) -> str | None:
    """The first of the files that can be read, is not larger than a project file and not outside the repository."""
    for name in names:
        path = os.path.join(root, name)
        with suppress(OSError):
            if os.path.isfile(path) and os.path.getsize(path) <= MAX_BYTES and _is_inside(root, name):
                with open(path, encoding="utf-8", errors="replace") as file:
                    return file.read()
    return None


def _is_inside(root: str, name: str) -> bool:
    """No link leads out of the repository that `root` is in, or out of `root` where there is none."""
    own = Path(os.path.realpath(root))
    top = next((at for at in (own, *own.parents) if os.path.lexists(at / ".git")), own)
    return Path(os.path.realpath(own / name)).is_relative_to(top)


_NOT_ITS_OWN = ("node_modules", "vendor", "third_party", "site-packages", "__pycache__", "fixtures", "testdata")
_NO_SOURCE = frozenset((*_NOT_ITS_OWN, "docs", "doc", "examples", "example", "templates"))


def _walk(root: str, deepest: int, skipped: Collection[str] = ()) -> Iterator[tuple[str, list[str]]]:
    """(folder relative to `root`, names of its files) of those that hold the project's own source."""
    for folder, folders, names in os.walk(root):
        at = os.path.relpath(folder, root)
        if "pyvenv.cfg" in names or at in skipped:
            folders.clear()
            continue
        is_deepest = (0 if at == os.curdir else at.count(os.sep) + 1) >= deepest
        own = (n for n in folders if n[0] not in ".~" and n.isprintable() and n not in _NO_SOURCE)
        folders[:] = [] if is_deepest else sorted(own)
        yield at, names


def _files(root: str, folder: str, deepest: int, skipped: Collection[str] = ()) -> Iterator[str]:
    """The files of the folder, relative to it; none where a link leads out of the repository."""
    for at, names in _walk(os.path.join(root, folder), deepest, skipped) if _is_inside(root, folder) else ():
        yield from (os.path.normpath(os.path.join(at, name)) for name in sorted(names))


def _has(root: str, folder: str, *endings: str, deepest: int = 6) -> bool:
    return any(path.endswith(endings) for path in _files(root, folder, deepest))


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _quoted(path: str) -> str:
    """For a shell, and never an option."""
    return shlex.quote(f"./{path}" if path.startswith("-") else path)


# JavaScript and TypeScript: the scripts of package.json, with the package manager of the lock file.
_SCRIPTS = (
    ("test", ("test",)),
    ("lint", ("lint",)),
    ("types", ("typecheck", "type-check", "types", "tsc", "check-types")),
    ("build", ("build",)),
)
_PLACEHOLDER = "no test specified"
JUNIT = "junit.xml"
_JS_TEST = re.compile(r".*\.(?:test|spec)\.[cm]?[jt]sx?")
_RUNS_ALL = re.compile(
    r"(?:^|[\s;&|/])(?:vitest|jest|turbo|nx|lerna|rush|moon|wireit|ava|deno test|bun test|node (?:\S+ ){0,20}?--test"
    r"|-r|-ws|--recursive|--workspaces|--filter|workspaces (?:foreach|run))(?=$|[\s;&|=])"
)
"""In a test script, what runs the tests of the packages below it."""
_RUNS_ITSELF = {"bun:test": f"bun test --reporter=junit --reporter-outfile={JUNIT}", "node:test": "node --test"}
"""By what tests import that need no script, the command that runs them."""


def _javascript(root: str, top: str, packages: Collection[str]) -> Found | None:
    """The package.json in `root`, without the `packages` in it. `top`: the repository, which may have the lock file.

    One check is enough where its script runs those of the packages; a script that does not gets one beside theirs."""
    if (text := read(root, "package.json")) is None:
        return None
    try:
        package: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Found("js", notes=(f"package.json is not valid JSON ({error}), so nobrakes ignores it",))
    if not isinstance(package, dict):
        return Found("js", notes=("package.json is not a JSON object, so nobrakes ignores it",))
    scripts = _table(package.get("scripts"))
    checks, notes = [], list[str]()
    setup, run = _manager(root, top, package, notes)
    for kind, names in _SCRIPTS:
        name = next((n for n in names if isinstance(scripts.get(n), str) and scripts[n].strip()), None)
        if name and _PLACEHOLDER in scripts[name]:
            notes.append("the test script in package.json is npm's placeholder, so nobrakes ignores it")
        elif name:
            checks.append((kind, f"{run} {name}"))
    if "test" not in dict(checks) and (command := _without_script(root, packages)):
        checks.insert(0, ("test", command))
    covers = (".",) if any(map(_RUNS_ALL.search, _texts(root, dict(checks).get("test", "")))) else ()
    return Found("js", tuple(checks), setup, tuple(notes), covers)


def _without_script(root: str, packages: Collection[str]) -> str | None:
    tests = (path for path in _files(root, "", 4, packages) if _JS_TEST.fullmatch(path))
    texts = [read(root, path) or "" for path in islice(tests, 20)]
    return next((run for name, run in _RUNS_ITSELF.items() if any(name in text for text in texts)), None)


_MANAGERS = (
    ("pnpm install --frozen-lockfile", "pnpm run", "pnpm-lock.yaml"),
    ("yarn install --frozen-lockfile", "yarn run", "yarn.lock"),
    ("bun install --frozen-lockfile", "bun run", "bun.lock", "bun.lockb"),
    ("npm ci", "npm run", "package-lock.json", "npm-shrinkwrap.json"),
)


def _manager(root: str, top: str, package: dict[str, Any], notes: list[str]) -> tuple[str, str]:
    """(setup, what runs a script); what the lock file of the top brings in is set up there."""
    for at in (root, top):
        for setup, run, *locks in _MANAGERS:
            if exists(at, *locks):
                modern = run == "yarn run" and exists(at, ".yarnrc.yml")
                return ("yarn install --immutable" if modern else setup) if at == root else "", run
    if package.get("dependencies") or package.get("devDependencies"):
        notes.append("package.json has dependencies but no lock file: set `setup` in .nobrakes/config.toml")
    return "", "npm run"


# Ruby, Perl, Java, PHP and shell: a kind of project is there where its tests are, so that a Gemfile for the website
# beside a Python project is none. What a lock file holds is brought in by `setup`; else the checks use what is
# installed.
_PERL = ("Makefile.PL", "Build.PL", "cpanfile", "dist.ini", "minil.toml", "META.json")
_COMPOSER = "composer install --no-interaction"
_OTHERS: tuple[tuple[str, tuple[str, ...], tuple[tuple[str, str], ...], str, str, str], ...] = (
    ("perl", _PERL, (("t", ".t"),), "prove -lrv t", "", ""),
    ("php", ("phpunit.xml", "phpunit.xml.dist"), (), "vendor/bin/phpunit", "composer.lock", _COMPOSER),
    ("shell", (), (("test", ".bats"),), "bats -r test", "", ""),
    ("shell", (), (("tests", ".bats"),), "bats -r tests", "", ""),
    ("elixir", ("mix.exs",), (("test", "_test.exs"), ("apps", "_test.exs")), "mix test", "mix.lock", "mix deps.get"),
)
"""Word, files that mean it, folder and ending of its tests, command, lock file, and what sets it up."""
_RAKE_TEST = re.compile(
    r"TestTask\.new(?!\s*\()|TestTask\.new\(\s*:?[\"']?test\b|^[ \t]*task[ (]+:?[\"']?test\b", re.MULTILINE
)


def _ruby(root: str, top: str) -> Found | None:
    """Bundler takes the nearest Gemfile: the package's own, else the one at the top."""
    at = root if exists(root, "Gemfile", "Gemfile.lock") else top
    has_lock = exists(at, "Gemfile.lock")
    run = "bundle exec " if has_lock else ""
    rakefile = read(root, "Rakefile", "rakefile") or ""
    if exists(root, ".rspec") or _has(root, "spec", "_spec.rb"):
        command = f"{run}rspec"
    elif _RAKE_TEST.search(rakefile):
        command = f"{run}rake test"
    elif exists(root, "bin/rails") and _has(root, "test", "_test.rb"):
        command = "bin/rails test"
    else:
        return None
    is_set_up = not has_lock or (at != root and _ruby(top, top))
    return Found("ruby", (("test", command),), "" if is_set_up else "bundle install")


def _java(root: str) -> Found | None:
    """The modules of a build run with it; a Gradle build in it, with settings of its own, does not."""
    if (pom := read(root, "pom.xml")) is not None:
        command = "./mvnw -B test" if exists(root, "mvnw") else "mvn -B test"
        return Found("java", (("test", command),), covers=(".",) if "<module>" in pom else ())
    settings = read(root, "settings.gradle", "settings.gradle.kts")
    if settings is None and not exists(root, "build.gradle", "build.gradle.kts"):
        return None
    command = "./gradlew test" if exists(root, "gradlew") else "gradle test"
    covers = (".",) if "include" in (settings or "") else ()
    return Found("java", (("test", command),), covers=covers, is_apart=settings is not None)


def _dotnet(root: str) -> Found | None:
    if not _has(root, "", ".sln", ".slnx", ".csproj", ".fsproj", deepest=0):
        return None
    projects = islice((path for path in _files(root, "", 4) if path.endswith("proj")), 200)
    has_tests = any("Microsoft.NET.Test.Sdk" in (read(root, path) or "") for path in projects)
    return Found("dotnet", (("test", "dotnet test"),), covers=(".",)) if has_tests else None


_STRING = r'("(?:[^"\\]|\\.)*"?)'
_COMMENT = re.compile(_STRING + r"|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_LAST_COMMA = re.compile(_STRING + r"|,(?=\s*[}\]])", re.DOTALL)
"""Both match even where a string or comment does not end, so that no text takes long."""


def _deno(root: str) -> Found | None:
    if (text := read(root, "deno.json", "deno.jsonc")) is None:
        return None
    for pattern in (_COMMENT, _LAST_COMMA):
        text = pattern.sub(r"\1", text)
    try:
        has_task = bool(json.loads(text)["tasks"]["test"])
    except (ValueError, LookupError, TypeError, RecursionError):
        has_task = False
    return Found("deno", (("test", "deno task test" if has_task else "deno test --reporter=tap"),), covers=(".",))


def _others(root: str) -> Iterator[Found]:
    for word, files, tests, command, lock, setup in _OTHERS:
        if (not files or exists(root, *files)) and (not tests or any(_has(root, *one) for one in tests)):
            covers = (".",) if word == "elixir" else ()
            yield Found(word, (("test", command),), setup if lock and exists(root, lock) else "", covers=covers)


# Python: pytest or unittest, ruff, mypy, build; with uv or poetry where their lock file is there.
_MARKS = (*PYTEST, "setup.py", "requirements.txt", "tox.toml", "noxfile.py")
_TEST_FOLDERS = ("tests", "test")
_IS_TEST = re.compile(r"test_.*\.py|.*_test\.py")
_IS_FOR_PYTEST = re.compile(r"^(?:async )?def test_|import pytest|^from pytest ", re.MULTILINE)


def _python(root: str, top: str, packages: Collection[str]) -> Found | None:
    """The Python project in `root` without `packages`. `top`: the repository, perhaps with its lock file and tools.

    One pytest collects all that is below it, so one check is enough, but of a uv workspace: its members have settings
    of their own, and test files of one name, which a single pytest refuses. There it runs what no member has."""
    text = read(root, "pyproject.toml")
    tests = [path for path in _files(root, "", 6, packages) if _IS_TEST.fullmatch(os.path.basename(path))]
    if text is None and not exists(root, *_MARKS) and not tests:
        return None
    notes: list[str] = []
    project = _toml(root, "pyproject.toml", notes)
    tools = _table(project.get("tool"))
    above = frozenset() if root == top else _needed(top, _toml(top, "pyproject.toml", []))
    needed = _needed(root, project) | above
    setup, run = _runner(root, top, needed, notes)
    checks: list[tuple[str, str]] = []
    covers: tuple[str, ...] = ()
    if _uses_pytest(root, tools, needed) or any(_IS_FOR_PYTEST.search(read(root, path) or "") for path in tests[:50]):
        own, covers = "", tuple(_testpaths(root)) or (".",)
        if covers == (".",) and "workspace" in _table(tools.get("uv")):
            own, covers = "".join(f" {_quoted(name)}" for name in sorted({path.split("/")[0] for path in tests})), ()
        if own or covers:
            checks.append(("test", f"{run or 'python3 -m '}pytest -q{own}"))
    elif "django" in (read(root, "manage.py") or ""):
        checks.append(("test", f"{run}python3 manage.py test"))
    elif starts := _starts(root, tests):
        checks.append(("test", " && ".join(f"{run}python3 -m unittest {start}" for start in starts)))
    elif any(os.path.isdir(os.path.join(root, folder)) for folder in _TEST_FOLDERS):
        checks.append(("test", f"{run}python3 -m unittest -v"))
    elif "[testenv" in (read(root, "tox.ini") or "") or exists(root, "tox.toml") or "tox" in tools:
        checks.append(("test", f"{run}tox"))
    elif exists(root, "noxfile.py"):
        checks.append(("test", f"{run}nox"))
    if "ruff" in tools or exists(root, "ruff.toml", ".ruff.toml"):
        checks.append(("lint", f"{run}ruff check ."))
    mypy = tools.get("mypy")
    if isinstance(mypy, dict) or exists(root, "mypy.ini", ".mypy.ini"):
        names_files = any(key in _table(mypy) for key in ("files", "packages", "modules"))
        checks.append(("types", f"{run}mypy" if names_files else f"{run}mypy ."))
    if "build" in needed and "build-system" in project:
        checks.append(("build", f"{run or 'python3 -m '}{'python -m ' if run else ''}build"))
    return Found("python", tuple(checks), setup, tuple(notes), covers)


def _testpaths(root: str) -> Iterator[str]:
    for name in PYTEST:
        for key, words in pytest_settings(read(root, name) or ""):
            yield from map(os.path.normpath, words if key == "testpaths" else ())


def _toml(root: str, name: str, notes: list[str]) -> dict[str, Any]:
    try:
        return toml.loads(read(root, name) or "")
    except ValueError as error:
        notes.append(f"{name} is not valid TOML ({error}), so nobrakes ignores it")
        return {}


def _starts(root: str, tests: Iterable[str]) -> list[str]:
    """The ways to start unittest that find these tests: it enters packages, and no other folder."""
    found: dict[str, None] = {}
    for path in tests:
        at = os.path.dirname(path)
        while at and exists(os.path.join(root, at), "__init__.py"):
            at = os.path.dirname(at)
        found[f"discover -v -s {_quoted(at)}" if at else "-v"] = None
    return list(found)


_SETUPS = {
    "uv": "uv sync --locked --all-extras --all-groups",
    "poetry": "poetry install --all-extras",
    "pdm": "pdm sync",
}
"""By the tool whose lock file is there."""


def _runner(root: str, top: str, needed: frozenset[str], notes: list[str]) -> tuple[str, str]:
    for at in (root, top):
        is_near = at == root or not exists(root, "pyproject.toml")
        for tool in _SETUPS if is_near else ("uv",):  # the others run in the environment of the nearest pyproject.toml
            if exists(at, f"{tool}.lock"):
                tools = _table(_toml(at, "pyproject.toml", []).get("tool"))
                is_workspace = tool == "uv" and "workspace" in _table(tools.get("uv"))
                setup = _SETUPS[tool] + (" --all-packages" if is_workspace else "")
                return setup if at == root else "", f"{tool} run "
    if needed:
        notes.append("there is no lock file: the checks use the packages installed on this machine")
    return "", ""


def _needed(root: str, project: dict[str, Any]) -> frozenset[str]:
    own, poetry = _table(project.get("project")), _table(_table(project.get("tool")).get("poetry"))
    groups = (own.get("optional-dependencies"), project.get("dependency-groups"))
    lists = [own.get("dependencies"), *(one for group in groups for one in _table(group).values())]
    texts: list[Any] = [text for one in lists if isinstance(one, list) for text in one]
    in_groups = (_table(group).get("dependencies") for group in _table(poetry.get("group")).values())
    for table in (poetry.get("dependencies"), poetry.get("dev-dependencies"), *in_groups):
        texts += _table(table)
    for name in ("requirements.txt", "requirements-dev.txt", "dev-requirements.txt", "test-requirements.txt"):
        texts += (read(root, name) or "").splitlines()
    names = (re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*", text.strip()) for text in texts if isinstance(text, str))
    return frozenset(name[0].lower() for name in names if name)


def _uses_pytest(root: str, tools: dict[str, Any], needed: frozenset[str]) -> bool:
    has_table = "[tool:pytest]" in (read(root, "setup.cfg") or "") or "[pytest]" in (read(root, "tox.ini") or "")
    return has_table or "pytest" in {*tools, *needed} or exists(root, "pytest.ini", "conftest.py", "tests/conftest.py")


_MAKEFILES = ("Makefile", "makefile", "GNUmakefile")
KINDS: tuple[Kind, ...] = ("test", "lint", "types", "build")
_TARGETS = {"test": ("test", "tests", "check"), "lint": ("lint",), "types": ("typecheck", "types"), "build": ("build",)}


@frozen
class Detected:
    """`notes` are for a person."""

    setup: str = ""
    checks: tuple[CheckSettings, ...] = ()
    notes: tuple[str, ...] = ()


def detect(root: str, given: Collection[str] = ()) -> Detected:
    """Setup and checks of the project in `root`; empty: unknown. `given`: kinds that a person gave a command."""
    packages = _packages(root)
    found = _kinds(root, root, frozenset(packages))
    notes = [note for one in found for note in one.notes]
    taken: set[str] = set()
    named = [
        (kind if len(found) == 1 else f"{one.word}-{kind}", kind, run) for one in found for kind, run in one.checks
    ]
    checks = [_check(*one, taken) for one in named if one[1] not in given]
    targets = make_targets(read(root, *_MAKEFILES) or "")
    for kind in reversed(KINDS):
        target = next((name for name in _TARGETS[kind] if name in targets and kind not in given), None)
        if target is not None:
            dropped = [check for check in checks if check.kind == kind]
            made = CheckSettings(name=kind, command=f"make {target}", kind=kind)
            checks = [made, *(check for check in checks if check.kind != kind)]
            if dropped:
                left_out = ", ".join(f"`{check.command}`" for check in dropped)
                notes.append(f"the {kind} check is the Makefile's target {target}; left out: {left_out}")
    setups = [one.setup for one in found if one.setup]
    if "test" not in given and not any(check.command.startswith("make ") for check in checks if check.kind == "test"):
        below = _below(root, packages, found, taken | {*KINDS})  # a person's check is named as its kind
        for package in below[:MAX_PACKAGES]:
            checks += package.checks
            setups += [package.setup] if package.setup else []
            notes += (note for note in package.notes if note.partition(": ")[2] not in notes)
        if left := below[MAX_PACKAGES:]:
            first = left[0].checks[0].directory
            notes.append(f"{count(len(left), 'more package has', 'more packages have')} tests: {first}, …")
        if len(packages) > MAX_EXAMINED:
            notes.append(f"nobrakes examined {MAX_EXAMINED} of {count(len(packages), 'folder')} that may be packages")
    if "test" not in given and not any(check.kind == "test" for check in checks) and (command := _plain_script(root)):
        checks.append(_check("test", "test", command, taken))
        notes.append(f"no test runner was found, so the test check is `{command}`")
    checks.sort(key=lambda check: KINDS.index(check.kind))
    return Detected(" && ".join(setups), tuple(checks), tuple(dict.fromkeys(notes)))


_TASKS = (
    ("just test", r"^@?test\b[^:=\n]*:(?!=)", ("justfile", "Justfile", ".justfile")),
    ("task test", r"^[ \t]+test:", ("Taskfile.yml", "Taskfile.yaml")),
    (
        "cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure",
        r"^[ \t]*(?:enable_testing[ \t]*\(|include[ \t]*\([ \t]*CTest\b)",
        ("CMakeLists.txt",),
    ),
)
_SCRIPT_FOLDERS = ("", "script", "scripts", "bin", "tools", "ci", "tests", "test")
_PLAIN_SCRIPT = re.compile(
    r"(?:(?:scripts?|bin|tools|ci|tests|test)/)?(?:(?:run[-_]?)?(?:all[-_]?|unit[-_]?)?tests?|run[-_]?checks)(?:\.(?:sh|bash))?"
    r"|(?:.+/)?run[-_]?(?:all[-_]?)?tests?\.py|tests?/(?:run|run[-_]?all|all)(?:\.(?:sh|bash|py))?"
)
_SHEBANG = re.compile(r"#![ \t]*(?:\S*/env[ \t]+(?:-S[ \t]+)?)?(?:\S*/)?([\w.-]+)")


def _plain_script(root: str) -> str:
    """What runs the tests where no tool does: a task of a file of tasks, or a script that is called so."""
    for command, pattern, names in _TASKS:
        if re.search(pattern, read(root, *names) or "", re.MULTILINE | re.IGNORECASE):
            return command
    paths = (os.path.join(folder, name) for folder in _SCRIPT_FOLDERS for name in _files(root, folder, 0))
    for path in filter(_PLAIN_SCRIPT.fullmatch, paths):
        found = _SHEBANG.match(read(root, path) or "")
        name = found[1] if found else {"sh": "sh", "bash": "bash", "py": "python3"}.get(path.rpartition(".")[2])
        if name:
            return f"./{path}" if found and os.access(os.path.join(root, path), os.X_OK) else f"{name} {path}"
    return ""


MAX_PACKAGES = 20
"""So many packages get checks."""
MAX_EXAMINED = 200
_DEEPEST_PACKAGE = 4
_MARKERS = frozenset(
    ("package.json", "pyproject.toml", "setup.py", "tox.ini", "manage.py", "go.mod", "Cargo.toml", "pom.xml", "mix.exs")
) | {
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
    "Gemfile",
    "Rakefile",
    "composer.json",
    "deno.json",
    "deno.jsonc",
}
_NO_PACKAGES = frozenset(("tests", "test", "spec", "t"))


def _kinds(root: str, top: str, packages: Collection[str]) -> list[Found]:
    found = [_python(root, top, packages), _javascript(root, top, packages), _ruby(root, top)]
    found += [kind(root) for kind in (_rust, _go, _java, _dotnet, _deno)]
    return [*filter(None, found), *_others(root)]


def _packages(root: str) -> list[str]:
    """The folders below `root` that are projects of their own: by a project file, or Python tests beside no package."""
    found = []
    for at, names in _walk(root, _DEEPEST_PACKAGE):
        if at == os.curdir or not _NO_PACKAGES.isdisjoint(at.split(os.sep)):
            continue
        tests = (os.path.join(at, name) for name in _TEST_FOLDERS if "__init__.py" not in names)
        files = (name for folder in tests for name in _files(root, folder, 0))
        if not _MARKERS.isdisjoint(names) or any(map(_IS_TEST.fullmatch, files)):
            found.append(at)
    return found


def _below(root: str, packages: Sequence[str], above: Iterable[Found], taken: set[str]) -> list[Detected]:
    """By package, its test checks that no check above it covers, what sets them up, and notes."""
    covered = [("", one) for one in above]
    found = []
    for at in packages[:MAX_EXAMINED]:
        name = re.sub(r"[^A-Za-z0-9_.-]+", "-", os.path.basename(at)).lstrip("-_.")[:36] or "package"
        inside = frozenset(os.path.relpath(other, at) for other in packages if other.startswith(f"{at}{os.sep}"))
        done = {one.word for folder, one in covered if _runs(one, folder, at)}
        kinds = _kinds(os.path.join(root, at), root, inside)
        kinds = [one for one in kinds if one.is_apart or one.word not in done]
        covered += [(f"{at}/", one) for one in kinds]
        tested = [(one, command) for one in kinds for kind, command in one.checks if kind == "test"]
        checks = tuple(_check(name, "test", command, taken, at) for _, command in tested)
        setup = " && ".join(f"(cd {_quoted(at)} && {one.setup})" for one, _ in tested if one.setup)
        notes = tuple(f"{at}: {note}" for one, _ in tested for note in one.notes)
        found += [Detected(setup, checks, notes)] if checks else []
    return found


def _runs(above: Found, folder: str, at: str) -> bool:
    """Whether the test check of the project in a folder runs the tests of the package `at`."""
    if not at.startswith(folder):
        return False
    found = []
    for glob in above.covers:
        parts = [] if (path := glob.lstrip("!").partition("**")[0].strip("/")) in ("", ".") else path.split("/")
        if all(map(fnmatch, at[len(folder) :].split("/"), parts)):
            found.append(glob)
    return bool(found) and found[-1][0] != "!"


_OUTPUT: Mapping[str, Mapping[str, Any]] = {
    "deno test --reporter=tap": {"format": "tap"},
    _RUNS_ITSELF["bun:test"]: {"report": JUNIT},
    **{run: {"report": "**/build/test-results/test/*.xml"} for run in ("./gradlew test", "gradle test")},
}
"""By command that is ours, what its tests are read from."""


def _check(name: str, kind: str, command: str, taken: set[str], folder: str = "") -> CheckSettings:
    """With a number where its name is taken; takes its name."""
    free, number = name, 2
    while free in taken:
        free, number = f"{name}-{number}", number + 1
    taken.add(free)
    output = _OUTPUT.get(command, {})
    return CheckSettings(name=free, command=command, kind=cast(Kind, kind), directory=folder, **output)


def make_targets(text: str) -> frozenset[str]:
    names: set[str] = set()
    for line in text.splitlines():
        if (found := re.match(r"([A-Za-z0-9_./% \t-]+)::?(?!=)", line)) and not line.startswith((" ", "\t")):
            names.update(name for name in found[1].split() if not name.startswith("."))
    return frozenset(names)


def _rust(root: str) -> Found | None:
    """One check for a workspace, as cargo runs its members; those that it excludes have their own."""
    if not exists(root, "Cargo.toml"):
        return None
    notes: list[str] = []
    cargo = _toml(root, "Cargo.toml", notes)
    is_workspace, excluded = "workspace" in cargo, _table(cargo.get("workspace")).get("exclude")
    command = f"cargo test{' --workspace' if is_workspace else ''}{' --locked' if exists(root, 'Cargo.lock') else ''}"
    checks = [("test", command)]
    if exists(root, "clippy.toml", ".clippy.toml"):
        checks.append(("lint", "cargo clippy --all-targets -- -D warnings"))
    if exists(root, "rustfmt.toml", ".rustfmt.toml"):
        checks.append(("lint", "cargo fmt --check"))
    apart = [f"!{folder}" for folder in excluded if isinstance(folder, str)] if isinstance(excluded, list) else []
    covers = (".", *apart) if is_workspace else ()
    return Found("rust", tuple(checks), "", tuple(notes), covers, is_workspace)


def _go(root: str) -> Found | None:
    if not exists(root, "go.mod"):
        return None
    checks = [("test", "go test -v ./..."), ("lint", "go vet ./..."), ("build", "go build ./...")]
    if exists(root, ".golangci.yml", ".golangci.yaml", ".golangci.toml"):
        checks.insert(2, ("lint", "golangci-lint run"))
    return Found("go", tuple(checks))


# Nothing is run unless a person asked for it: a runner that lists its tests imports the project. It runs behind the
# wall, writes nothing of the repository, and is not started where there is no wall.
SHOWN = 5


@frozen
class TestsFound:
    """The number of tracked test files, their globs, and messages."""

    count: int
    globs: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    def told(self) -> str:
        """One line: tests: 14 files (tests/**, *_test.go)."""
        shown = ", ".join(self.globs[:SHOWN]) + (", …" if len(self.globs) > SHOWN else "")
        return f"tests: {count(self.count, 'file')}" + (f" ({shown})" if shown else "")


def find_tests(root: str, config: Config, checks: Sequence[Check], collect: bool = False) -> TestsFound:
    """The tests of the repository in `root`. `collect`: also as its runners list them."""
    paths = frozenset(tracked(root))
    if not (globs := config.boundaries.tests):
        texts = {path: text for path in unclear(paths) if (text := read(root, path)) is not None}
        globs = layout(paths, frozenset((path, text[:LARGEST]) for path, text in texts.items())).tests
    found = {path for path in paths if matches(path, globs)}
    used = tuple(glob for glob in globs if any(matches(path, (glob,)) for path in found))
    warnings = []
    if paths and not found and any(check.kind == "test" for check in checks):
        warnings.append("found no test files: if there are some, set boundaries.tests in config.toml")
    for check in checks if collect else ():
        warnings += _outside(root, check, globs)
    return TestsFound(len(found), used, tuple(warnings))


def _outside(root: str, check: Check, globs: tuple[str, ...]) -> list[str]:
    if (how := listing(check)) is None:
        return []
    text, trouble = "", closure.platform_trouble() or why_not(closure.probe(root))
    if not trouble:
        text, trouble = output_of(
            closure.wall_wrap(how.argv, closure.Wall((root,), ())), os.path.join(root, how.directory)
        )
    if trouble:
        return [f"cannot list the tests of the check '{check.name}': {trouble}"]
    if not (collected := listed(how.runner, text, os.path.realpath(root), how.directory)):
        return [f"the check '{check.name}' finds no tests"]
    left = [path for path in collected if not matches(path, globs)]
    warnings = [f"the check '{check.name}' runs {path}, but boundaries.tests does not match it" for path in left]
    more = len(left) - SHOWN
    return warnings[:SHOWN] + ([f"{count(more, 'more file')}: not matched either"] if more > 0 else [])


_WHERE = "in the check's [[checks]] in .nobrakes/config.toml, set"

_RUNNERS: tuple[tuple[str, Format], ...] = (
    (r"(?:pytest|py\.test)", "pytest"),
    (r"-m unittest|manage\.py test", "unittest"),
    (r"go test", "go"),
    (r"cargo (?:test|nextest run)", "cargo"),
    (r"node (?:\S+ ){0,20}?--test", "tap"),
    (r"(?:jest|react-scripts test)", "jest"),
    (r"vitest", "vitest"),
    (r"mocha", "mocha"),
    (r"(?:tape|ava (?:\S+ ){0,20}?(?:--tap|-t))", "tap"),
    (r"ava(?! (?:\S+ ){0,20}?(?:--tap|-t)(?: |$))", "ava"),
    (r"ctest", "ctest"),
    (r"phpunit", "phpunit"),
    (r"(?:rspec|minitest|rails test)", "ruby"),
    (r"rake (?:\S+ ){0,20}?test(?::\S+)?", "ruby"),
    (r"(?:prove (?:-\S+ ){0,20}?-[a-uw-zA-Z]*v[a-zA-Z]*|bats)", "tap"),
    (r"(?:mvn|mvnw)", "maven"),
)
_WORD = r"(?:^|[\s;&|('\"/])(?:%s)(?=$|[\s;&|)'\"])"
_REPORTER = re.compile(r"--(?:test-)?reporters?\b|\s-R\s|--formatter?\b|--testdox\b|(?<![0-9&])>(?!&)")
_INSTALLED = re.compile(r"\binstall\b[^;&|]*")
_MEASURED = re.compile(
    r"(?:^|(?<=[\s;&|]))(?:nyc|c8)\s+(?:-\S+\s+(?:(?:[0-9]|text|lcov|html|json|cobertura|clover)[\w-]*\s+)?)*"
)
_ELSEWHERE = re.compile(r"(?:^|[\s;&|(])(?:cd|pushd) ")
_SCRIPT = re.compile(r"(?:^|[\s;&|])(?:npm|pnpm|yarn|bun) (?:run )?([A-Za-z0-9:_-]+)")
_MAKE = re.compile(r"(?:^|[\s;&|])make ([A-Za-z0-9_.-]+)")
_MAX_COMMANDS = 300


def with_format(root: str, check: CheckSettings) -> CheckSettings:
    """Add the format that the command reveals."""
    if not check.lacks_format:
        return check
    found = _formats(os.path.join(root, check.directory), check.command)
    return replace(check, format=found.pop()) if len(found) == 1 else check


def what_to_write(root: str, checks: Iterable[CheckSettings]) -> dict[str, str]:
    """By check without a format, the advice for a person."""
    found = {}
    for check in (one for one in checks if one.lacks_format):
        if (format_ := with_format(root, check).format) != "auto":
            text = f"the check '{check.name}' has no output format: {_WHERE} format = \"{format_}\""
        else:
            text = (
                f"unknown output format of the check '{check.name}': {_WHERE} format = \"…\" (pytest, unittest, "
                'go, cargo, tap, jest, vitest, mocha, ava, ctest, phpunit, ruby or maven), report = "…" for its JUnit '
                'XML files, or format = "exit" to trust its exit code alone'
            )
        found[check.name] = text
    return found


def _formats(root: str, command: str) -> set[Format]:
    texts = (_INSTALLED.sub("", one) for one in _texts(root, command) if not _REPORTER.search(one))
    return {name for text in texts for words, name in _RUNNERS if re.search(_WORD % words, text)}


def _texts(root: str, command: str) -> Iterator[str]:
    """The command, and those that it runs by name, as far as they can be followed."""
    waiting = [command]
    for text in waiting:
        yield (text := _MEASURED.sub("", text))
        if len(waiting) < _MAX_COMMANDS and not (_ELSEWHERE.search(text) or _REPORTER.search(text)):
            found = (*_scripts(root, text), *_recipes(root, text), *_sessions(root, text), *_lines(root, text))
            waiting += [one for one in dict.fromkeys(found) if one not in waiting][: _MAX_COMMANDS - len(waiting)]


def _lines(root: str, command: str) -> list[str]:
    """Of the plain script that the command is."""
    path = command.split(" ")[-1].removeprefix("./")
    text = (read(root, path) or "") if _PLAIN_SCRIPT.fullmatch(path) else ""
    return [line for line in text.splitlines() if not line.lstrip().startswith("#")]


def _sessions(root: str, command: str) -> list[str]:
    """What tox or nox runs."""
    if re.search(_WORD % "tox", command):
        text = read(root, "tox.ini", "tox.toml") or ""
        return re.findall(r"^commands\s*=(.*(?:\n[ \t]+.*)*)", text, re.MULTILINE)
    found = re.findall(r"session\.run(?:_always)?\(([^)]*)", read(root, "noxfile.py") or "")
    return [re.sub(r"[\"',\s]+", " ", one) for one in found] if re.search(_WORD % "nox", command) else []


def _scripts(root: str, command: str) -> list[str]:
    try:
        scripts = json.loads(read(root, "package.json") or "{}").get("scripts", {})
        named = [scripts.get(name) for name in _SCRIPT.findall(command)]
    except (ValueError, AttributeError, RecursionError):
        return []
    return [text for text in named if isinstance(text, str)]


def _recipes(root: str, command: str) -> list[str]:
    names, inside, found = {*_MAKE.findall(command)}, False, list[str]()
    for line in (read(root, *_MAKEFILES) or "").splitlines() if names else ():
        if line.startswith("\t"):
            found += [line.strip("\t @-+")] if inside else []
        elif line.strip():
            inside = not names.isdisjoint(make_targets(line))
    return found
