"""The kind of project, the commands that check it, and what `nobrakes init` says of its tests. Reads files, runs
nothing.

1. A test command's format is known unless it names several runners, a foreign reporter or an output file.
2. A check without a format is read in every format; a person is told which line would fix it.
"""

import json
import os
import re
import shlex
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, cast

from ...checks.contract import Check
from ...checks.layout import LARGEST, layout, unclear
from ...checks.probes import listed, listing
from ...git.location import tracked
from ...globs import matches
from ...host.versions import output_of
from ...host.versions import probing_trouble as why_not
from ...records import frozen
from ...sandbox import closure
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
    """One kind of project: its word, (kind, command) of checks, and the set-up of a fresh checkout.
    `covers`: its test check also runs the packages of its kind below it."""

    word: str
    checks: tuple[tuple[str, str], ...] = ()
    setup: str = ""
    notes: tuple[str, ...] = ()
    covers: bool = False


def exists(root: str, name: str) -> bool:
    return os.path.isfile(os.path.join(root, name))


def read(root: str, name: str) -> str | None:
    """None: missing, not a file, or larger than a project file."""
    path = os.path.join(root, name)
    if not os.path.isfile(path) or os.path.getsize(path) > MAX_BYTES:
        return None
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


_NOT_ITS_OWN = ("node_modules", "vendor", "third_party", "site-packages", "__pycache__", "fixtures", "testdata")
_NO_SOURCE = frozenset((*_NOT_ITS_OWN, "docs", "doc", "examples", "example", "templates"))


def _walk(root: str, deepest: int, skipped: Collection[str] = ()) -> Iterator[tuple[str, list[str]]]:
    """(folder relative to `root`, names of its files) of those that hold the project's own source."""
    for folder, folders, names in os.walk(root):
        at = os.path.relpath(folder, root)
        if "pyvenv.cfg" in names or at in skipped:
            folders.clear()
            continue
        is_deepest = at != os.curdir and at.count(os.sep) + 1 >= deepest
        folders[:] = [] if is_deepest else sorted(n for n in folders if n[0] != "." and n not in _NO_SOURCE)
        yield at, names


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
_RUNS_ITSELF = {"bun:test": f"bun test --reporter=junit --reporter-outfile={JUNIT}", "node:test": "node --test"}
"""By what tests import that need no script, the command that runs them."""


def detect_javascript(root: str, top: str) -> Found | None:
    """None without a package.json. `top`: the repository, which may have the lock file."""
    text = read(root, "package.json")
    if text is None:
        return None
    try:
        package: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Found("js", notes=(f"package.json is not valid JSON ({error}), so nobrakes ignores it",))
    if not isinstance(package, dict):
        return Found("js", notes=("package.json is not a JSON object, so nobrakes ignores it",))
    scripts = package.get("scripts")
    scripts = scripts if isinstance(scripts, dict) else {}
    setup, run, note = _manager(root, top, package)
    checks = []
    notes = [note] if note else []
    for kind, names in _SCRIPTS:
        name = next((n for n in names if isinstance(scripts.get(n), str) and scripts[n].strip()), None)
        if name is None:
            continue
        if _PLACEHOLDER in scripts[name]:
            notes.append("the test script in package.json is npm's placeholder, so nobrakes ignores it")
            continue
        checks.append((kind, f"{run} {name}"))
    if "test" not in dict(checks) and (command := _without_script(root)):
        checks.insert(0, ("test", command))
    return Found("js", tuple(checks), setup, tuple(notes), "test" in dict(checks))


def _without_script(root: str) -> str | None:
    tests = [os.path.join(at, name) for at, names in _walk(root, 4) for name in names if _JS_TEST.fullmatch(name)]
    texts = [read(root, path) or "" for path in tests[:20]]
    return next((run for name, run in _RUNS_ITSELF.items() if any(name in text for text in texts)), None)


def _manager(root: str, top: str, package: dict[str, Any]) -> tuple[str, str, str]:
    """(setup, what runs a script, a note); what the lock file of the top brings in is set up there."""
    setup, run, note = _own_manager(root, package)
    if not setup and root != top and (above := _own_manager(top, {}))[0]:
        return "", above[1], ""
    return setup, run, note


def _own_manager(root: str, package: dict[str, Any]) -> tuple[str, str, str]:
    if exists(root, "pnpm-lock.yaml"):
        return "pnpm install --frozen-lockfile", "pnpm run", ""
    if exists(root, "yarn.lock"):
        modern = exists(root, ".yarnrc.yml")
        return ("yarn install --immutable" if modern else "yarn install --frozen-lockfile"), "yarn run", ""
    if exists(root, "bun.lock") or exists(root, "bun.lockb"):
        return "bun install --frozen-lockfile", "bun run", ""
    if exists(root, "package-lock.json") or exists(root, "npm-shrinkwrap.json"):
        return "npm ci", "npm run", ""
    needed = any(package.get(key) for key in ("dependencies", "devDependencies"))
    note = "package.json has dependencies but no lock file: set `setup` in .nobrakes/config.toml" if needed else ""
    return "", "npm run", note


# Ruby, Perl, Java, PHP and shell: a kind of project is there where its tests are, so that a Gemfile for the website
# beside a Python project is none. What a lock file holds is brought in by `setup`; else the checks use what is
# installed.
_PERL = ("Makefile.PL", "Build.PL", "cpanfile", "dist.ini", "minil.toml", "META.json")
_RAKE_TEST = re.compile(
    r"TestTask\.new(?!\s*\()|TestTask\.new\(\s*:?[\"']?test\b|^\s*task[ (]+:?[\"']?test\b", re.MULTILINE
)


def detect_others(root: str) -> list[Found]:
    found = (_ruby(root), _perl(root), _java(root), _php(root), _shell(root), _dotnet(root), _elixir(root), _deno(root))
    return [one for one in found if one is not None]


def _ruby(root: str) -> Found | None:
    has_lock = exists(root, "Gemfile.lock")
    run = "bundle exec " if has_lock else ""
    rakefile = read(root, "Rakefile") or read(root, "rakefile") or ""
    if exists(root, ".rspec") or _has(root, "spec", "_spec.rb"):
        command = f"{run}rspec"
    elif _RAKE_TEST.search(rakefile):
        command = f"{run}rake test"
    elif exists(root, "bin/rails") and _has(root, "test", "_test.rb"):
        command = "bin/rails test"
    else:
        return None
    return Found("ruby", (("test", command),), "bundle install" if has_lock else "")


def _perl(root: str) -> Found | None:
    if not any(exists(root, name) for name in _PERL) or not _has(root, "t", ".t"):
        return None
    return Found("perl", (("test", "prove -lrv t"),))


def _java(root: str) -> Found | None:
    if exists(root, "pom.xml"):
        return Found("java", (("test", "./mvnw -B test" if exists(root, "mvnw") else "mvn -B test"),), covers=True)
    if any(exists(root, f"{name}.gradle{ending}") for name in ("build", "settings") for ending in ("", ".kts")):
        return Found("java", (("test", "./gradlew test" if exists(root, "gradlew") else "gradle test"),), covers=True)
    return None


def _dotnet(root: str) -> Found | None:
    if not any(name.endswith((".sln", ".slnx", ".csproj", ".fsproj")) for name in os.listdir(root)):
        return None
    projects = [os.path.join(at, name) for at, names in _walk(root, 4) for name in names if name.endswith("proj")]
    has_tests = any("Microsoft.NET.Test.Sdk" in (read(root, path) or "") for path in projects[:200])
    return Found("dotnet", (("test", "dotnet test"),), covers=True) if has_tests else None


def _elixir(root: str) -> Found | None:
    if not exists(root, "mix.exs") or not (_has(root, "test", "_test.exs") or _has(root, "apps", "_test.exs")):
        return None
    return Found("elixir", (("test", "mix test"),), "mix deps.get" if exists(root, "mix.lock") else "", covers=True)


def _deno(root: str) -> Found | None:
    text = read(root, "deno.json") or read(root, "deno.jsonc")
    if text is None:
        return None
    has_task = re.search(r'"tasks"\s*:\s*\{[^}]*"test"\s*:', text) is not None
    return Found("deno", (("test", "deno task test" if has_task else "deno test --reporter=tap"),), covers=True)


def _php(root: str) -> Found | None:
    if not exists(root, "phpunit.xml") and not exists(root, "phpunit.xml.dist"):
        return None
    setup = "composer install --no-interaction" if exists(root, "composer.lock") else ""
    return Found("php", (("test", "vendor/bin/phpunit"),), setup)


def _shell(root: str) -> Found | None:
    folder = next((name for name in ("test", "tests") if _has(root, name, ".bats")), None)
    return Found("shell", (("test", f"bats -r {folder}"),)) if folder else None


def _has(root: str, folder: str, ending: str) -> bool:
    return any(name.endswith(ending) for _, _, names in os.walk(os.path.join(root, folder)) for name in names)


# Python: pytest or unittest, ruff, mypy, build; with uv or poetry where their lock file is there.
_PYTEST_MARKS = ("pyproject.toml", "setup.cfg", "tox.ini", "pytest.ini")
_MARKS = (*_PYTEST_MARKS, "setup.py", "requirements.txt", "tox.toml", "noxfile.py")
_TEST_FOLDERS = ("tests", "test")
_IS_TEST = re.compile(r"test_.*\.py|.*_test\.py")


_IS_FOR_PYTEST = re.compile(r"^(?:async )?def test_|import pytest|^from pytest ", re.MULTILINE)


def detect_python(root: str, top: str, packages: Collection[str] = ()) -> Found | None:
    """The Python project in `root`, without the `packages` in it. `top`: the repository, which may have its lock file
    and its tools."""
    text = read(root, "pyproject.toml")
    tests = [
        os.path.normpath(os.path.join(at, name))
        for at, names in _walk(root, 6, packages)
        for name in sorted(names)
        if _IS_TEST.fullmatch(name)
    ]
    if text is None and not any(exists(root, name) for name in _MARKS) and not tests:
        return None
    notes: list[str] = []
    project = _project(root, notes)
    tool = project.get("tool")
    tools: dict[str, Any] = tool if isinstance(tool, dict) else {}
    needed = _needed(root, project) | (frozenset() if root == top else _needed(top, _project(top, [])))
    setup, run = _runner(root, top, needed, notes)
    checks: list[tuple[str, str]] = []
    covers = False
    if _uses_pytest(root, tools, needed) or any(_IS_FOR_PYTEST.search(read(root, path) or "") for path in tests[:50]):
        checks.append(("test", f"{run or 'python3 -m '}pytest -q"))
        covers = not any("testpaths" in (read(root, name) or "") for name in _PYTEST_MARKS)
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
    if "ruff" in tools or exists(root, "ruff.toml") or exists(root, ".ruff.toml"):
        checks.append(("lint", f"{run}ruff check ."))
    mypy = tools.get("mypy")
    if isinstance(mypy, dict) or exists(root, "mypy.ini") or exists(root, ".mypy.ini"):
        own = isinstance(mypy, dict) and any(key in mypy for key in ("files", "packages", "modules"))
        checks.append(("types", f"{run}mypy" if own else f"{run}mypy ."))
    if "build" in needed and "build-system" in project:
        checks.append(("build", f"{run or 'python3 -m '}{'python -m ' if run else ''}build"))
    return Found("python", tuple(checks), setup, tuple(notes), covers)


def _project(root: str, notes: list[str]) -> dict[str, Any]:
    try:
        return tomllib.loads(read(root, "pyproject.toml") or "")
    except tomllib.TOMLDecodeError as error:
        notes.append(f"pyproject.toml is not valid TOML ({error}), so nobrakes ignores it")
        return {}


def _starts(root: str, tests: Iterable[str]) -> list[str]:
    """The ways to start unittest that find these tests: it enters packages, and no other folder."""
    found: dict[str, None] = {}
    for path in tests:
        at = os.path.dirname(path)
        while at and exists(os.path.join(root, at), "__init__.py"):
            at = os.path.dirname(at)
        found[f"discover -v -s {shlex.quote(at)}" if at else "-v"] = None
    return list(found)


def _runner(root: str, top: str, needed: frozenset[str], notes: list[str]) -> tuple[str, str]:
    if exists(root, "uv.lock"):
        members = " --all-packages" if "[tool.uv.workspace]" in (read(root, "pyproject.toml") or "") else ""
        return f"uv sync --locked --all-extras --all-groups{members}", "uv run "
    if exists(top, "uv.lock"):
        return "", "uv run "
    if exists(root, "poetry.lock"):
        return "poetry install --all-extras", "poetry run "
    if exists(root, "pdm.lock"):
        return "pdm sync", "pdm run "
    if needed:
        notes.append("there is no lock file: the checks use the packages installed on this machine")
    return "", ""


def _needed(root: str, project: dict[str, Any]) -> frozenset[str]:
    texts: list[Any] = []
    own = project.get("project")
    if isinstance(own, dict):
        texts += _list(own.get("dependencies"))
        extras = own.get("optional-dependencies")
        for group in extras.values() if isinstance(extras, dict) else ():
            texts += _list(group)
    groups = project.get("dependency-groups")
    for group in groups.values() if isinstance(groups, dict) else ():
        texts += _list(group)
    poetry = project.get("tool", {}).get("poetry", {}) if isinstance(project.get("tool"), dict) else {}
    if isinstance(poetry, dict):
        tables = [poetry.get("dependencies"), poetry.get("dev-dependencies")]
        in_groups = poetry.get("group")
        for group in in_groups.values() if isinstance(in_groups, dict) else ():
            tables.append(group.get("dependencies") if isinstance(group, dict) else None)
        for table in tables:
            texts += list(table) if isinstance(table, dict) else []
    for name in ("requirements.txt", "requirements-dev.txt", "dev-requirements.txt", "test-requirements.txt"):
        texts += (read(root, name) or "").splitlines()
    names = (re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*", text.strip()) for text in texts if isinstance(text, str))
    return frozenset(name[0].lower() for name in names if name)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _uses_pytest(root: str, tools: dict[str, Any], needed: frozenset[str]) -> bool:
    return (
        "pytest" in tools
        or "pytest" in needed
        or exists(root, "pytest.ini")
        or exists(root, "conftest.py")
        or exists(root, os.path.join("tests", "conftest.py"))
        or "[tool:pytest]" in (read(root, "setup.cfg") or "")
        or "[pytest]" in (read(root, "tox.ini") or "")
    )


KINDS: tuple[Kind, ...] = ("test", "lint", "types", "build")
_TARGETS = {"test": ("test", "tests", "check"), "lint": ("lint",), "types": ("typecheck", "types"), "build": ("build",)}


@frozen
class Detected:
    """`notes` are for a person."""

    setup: str = ""
    checks: tuple[CheckSettings, ...] = ()
    notes: tuple[str, ...] = field(default=())


def detect(root: str, given: Collection[str] = ()) -> Detected:
    """Setup and checks of the project in `root`; empty: unknown. `given`: kinds with a command by a person, not
    detected."""
    packages = _packages(root)
    found = _kinds(root, root, packages)
    notes = [note for one in found for note in one.notes]
    checks = [check for check in _named(found) if check.kind not in given]
    targets = make_targets(read(root, "Makefile") or read(root, "makefile") or read(root, "GNUmakefile") or "")
    for kind in reversed(KINDS):
        target = next((name for name in _TARGETS[kind] if name in targets and kind not in given), None)
        if target is not None:
            dropped = [check for check in checks if check.kind == kind]
            checks = [check for check in checks if check.kind != kind]
            checks.insert(0, CheckSettings(name=kind, command=f"make {target}", kind=kind))
            if dropped:
                left_out = ", ".join(f"`{check.command}`" for check in dropped)
                notes.append(f"the {kind} check is the Makefile's target {target}; left out: {left_out}")
    setups = [one.setup for one in found if one.setup]
    if "test" not in given and not any(check.command.startswith("make ") for check in checks if check.kind == "test"):
        below, more, told = _below(root, packages, found, checks)
        checks += below[:MAX_PACKAGES]
        setups += more
        notes += told
        if left := below[MAX_PACKAGES:]:
            notes.append(f"{count(len(left), 'more package has', 'more packages have')} tests: {left[0].directory}, …")
    checks.sort(key=lambda check: KINDS.index(check.kind))
    return Detected(" && ".join(setups), tuple(checks), tuple(dict.fromkeys(notes)))


MAX_PACKAGES = 20
"""So many packages get a check each."""
_DEEPEST_PACKAGE = 4
_MARKERS = frozenset(
    ("package.json", "pyproject.toml", "setup.py", "tox.ini", "manage.py", "go.mod", "Cargo.toml", "pom.xml", "mix.exs")
) | {"build.gradle", "build.gradle.kts", "Gemfile", "Rakefile", "composer.json", "deno.json", "deno.jsonc"}
_NO_PACKAGES = frozenset(("tests", "test", "spec", "t"))


def _kinds(root: str, top: str, packages: Collection[str]) -> list[Found]:
    found = [detect_python(root, top, packages), detect_javascript(root, top), _rust(root), _go(root)]
    return [*(one for one in found if one), *detect_others(root)]


def _packages(root: str) -> list[str]:
    """The folders below `root` that are projects of their own: by a project file, or Python tests beside no package."""
    found = []
    for at, names in _walk(root, _DEEPEST_PACKAGE):
        if at == os.curdir or not _NO_PACKAGES.isdisjoint(at.split(os.sep)):
            continue
        tests = (os.path.join(root, at, name) for name in _TEST_FOLDERS if "__init__.py" not in names)
        if not _MARKERS.isdisjoint(names) or any(
            _IS_TEST.fullmatch(name) for folder in tests if os.path.isdir(folder) for name in os.listdir(folder)
        ):
            found.append(at)
    return found


def _below(
    root: str, packages: Sequence[str], above: Iterable[Found], others: Sequence[CheckSettings]
) -> tuple[list[CheckSettings], list[str], list[str]]:
    """(the test check of each package that no check above it covers, what sets them up, notes)."""
    covered = [("", one.word) for one in above if one.covers]
    checks: list[CheckSettings] = []
    setups, notes = [], []
    for at in packages:
        name = re.sub(r"[^A-Za-z0-9_.-]+", "-", os.path.basename(at)).lstrip("-_.")[:36] or "package"
        inside = [os.path.relpath(other, at) for other in packages if other.startswith(f"{at}{os.sep}")]
        for one in _kinds(os.path.join(root, at), root, inside):
            if any(one.word == word and f"{at}/".startswith(folder) for folder, word in covered):
                continue
            for command in (command for kind, command in one.checks if kind == "test"):
                check = _check(name, "test", command)
                checks.append(replace(_unlike(check, [*others, *checks]), directory=at))
                setups += [f"(cd {shlex.quote(at)} && {one.setup})"] if one.setup else []
                notes += [f"{at}: {note}" for note in one.notes]
            covered += [(f"{at}/", one.word)] if one.covers else []
    return checks, setups, notes


_OUTPUT: Mapping[str, Mapping[str, Any]] = {
    "deno test --reporter=tap": {"format": "tap"},
    _RUNS_ITSELF["bun:test"]: {"report": JUNIT},
    **{run: {"report": "**/build/test-results/test/*.xml"} for run in ("./gradlew test", "gradle test")},
}
"""By command that is ours, what its tests are read from."""


def _check(name: str, kind: str, command: str) -> CheckSettings:
    return CheckSettings(name=name, command=command, kind=cast(Kind, kind), **_OUTPUT.get(command, {}))


def _named(found: list[Found]) -> list[CheckSettings]:
    checks: list[CheckSettings] = []
    for one in found:
        for kind, command in one.checks:
            name = kind if len(found) == 1 else f"{one.word}-{kind}"
            checks.append(_unlike(_check(name, kind, command), checks))
    return checks


def _unlike(check: CheckSettings, others: Sequence[CheckSettings]) -> CheckSettings:
    """The check, with a number where its name is taken."""
    taken, name, number = {other.name for other in others}, check.name, 2
    while check.name in taken:
        check, number = replace(check, name=f"{name}-{number}"), number + 1
    return check


def make_targets(text: str) -> frozenset[str]:
    names: set[str] = set()
    for line in text.splitlines():
        found = re.match(r"([A-Za-z0-9_. -]+?)\s*::?(?!=)", line)
        if found and not line.startswith((" ", "\t")):
            names.update(name for name in found[1].split() if not name.startswith("."))
    return frozenset(names)


def _rust(root: str) -> Found | None:
    if not exists(root, "Cargo.toml"):
        return None
    is_workspace = re.search(r"^\[workspace\]", read(root, "Cargo.toml") or "", re.MULTILINE) is not None
    command = f"cargo test{' --workspace' if is_workspace else ''}{' --locked' if exists(root, 'Cargo.lock') else ''}"
    checks = [("test", command)]
    if exists(root, "clippy.toml") or exists(root, ".clippy.toml"):
        checks.append(("lint", "cargo clippy --all-targets -- -D warnings"))
    if exists(root, "rustfmt.toml") or exists(root, ".rustfmt.toml"):
        checks.append(("lint", "cargo fmt --check"))
    return Found("rust", tuple(checks), covers=is_workspace)


def _go(root: str) -> Found | None:
    if not exists(root, "go.mod"):
        return None
    checks = [("test", "go test -v ./..."), ("lint", "go vet ./..."), ("build", "go build ./...")]
    if any(exists(root, name) for name in (".golangci.yml", ".golangci.yaml", ".golangci.toml")):
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
    globs = config.boundaries.tests
    if not globs:
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
    how = listing(check)
    if how is None:
        return []
    text, trouble = "", closure.platform_trouble() or why_not(closure.probe(root))
    if not trouble:
        text, trouble = output_of(
            closure.wall_wrap(how.argv, closure.Wall((root,), ())), os.path.join(root, how.directory)
        )
    if trouble:
        return [f"cannot list the tests of the check '{check.name}': {trouble}"]
    collected = listed(how.runner, text, os.path.realpath(root), how.directory)
    if not collected:
        return [f"the check '{check.name}' finds no tests"]
    left = [path for path in collected if not matches(path, globs)]
    warnings = [f"the check '{check.name}' runs {path}, but boundaries.tests does not match it" for path in left]
    more = len(left) - SHOWN
    return warnings[:SHOWN] + ([f"the same for {count(more, 'more file')}"] if more > 0 else [])


_WHERE = "under its [[checks]] in .nobrakes/config.toml set"

_RUNNERS: tuple[tuple[str, Format], ...] = (
    (r"(?:pytest|py\.test)", "pytest"),
    (r"-m unittest|manage\.py test", "unittest"),
    (r"go test", "go"),
    (r"cargo (?:test|nextest run)", "cargo"),
    (r"node (?:\S+ )*?--test", "tap"),
    (r"(?:jest|react-scripts test)", "jest"),
    (r"vitest", "vitest"),
    (r"mocha", "mocha"),
    (r"(?:tape|ava (?:\S+ )*?(?:--tap|-t))", "tap"),
    (r"ava(?! (?:\S+ )*?(?:--tap|-t)(?: |$))", "ava"),
    (r"ctest", "ctest"),
    (r"phpunit", "phpunit"),
    (r"(?:rspec|minitest|rails test)", "ruby"),
    (r"rake (?:\S+ )*?test(?::\S+)?", "ruby"),
    (r"(?:prove (?:-\S+ )*?-[a-zA-Z]*v[a-zA-Z]*|bats)", "tap"),
    (r"(?:mvn|mvnw)", "maven"),
)
_WORD = r"(?:^|[\s;&|('\"/])(?:%s)(?=$|[\s;&|)'\"])"
_REPORTER = re.compile(r"--(?:test-)?reporters?\b|\s-R\s|--formatter?\b|--testdox\b|(?<![0-9&])>(?!&)")
_INSTALLED = re.compile(r"\binstall\b[^;&|]*")
_MEASURED = re.compile(
    r"(?:^|(?<=[\s;&|]))(?:nyc|c8)\s+(?:-\S+\s+(?:(?:[0-9]+|text|lcov|html|json|cobertura|clover)[\w-]*\s+)?)*"
)
_ELSEWHERE = re.compile(r"(?:^|[\s;&|(])(?:cd|pushd) ")
_SCRIPT = re.compile(r"(?:^|[\s;&|])(?:npm|pnpm|yarn|bun) (?:run )?([A-Za-z0-9:_-]+)")
_MAKE = re.compile(r"(?:^|[\s;&|])make ([A-Za-z0-9_.-]+)")
_DEEPEST = 4


def with_format(root: str, check: CheckSettings) -> CheckSettings:
    """Add the format that the command reveals."""
    if not check.lacks_format:
        return check
    found = _formats(os.path.join(root, check.directory), check.command, _DEEPEST)
    return replace(check, format=found.pop()) if len(found) == 1 else check


def what_to_write(root: str, checks: Iterable[CheckSettings]) -> dict[str, str]:
    """By check without a format, the advice for a person."""
    found = {}
    for check in checks:
        format_ = with_format(root, check).format
        if not check.lacks_format:
            continue
        if format_ != "auto":
            text = f"the check '{check.name}' has no output format: {_WHERE} format = \"{format_}\""
        else:
            text = (
                f"unknown output format of the check '{check.name}': {_WHERE} format = \"…\" (pytest, unittest, "
                'go, cargo, tap, jest, vitest, mocha, ava, ctest, phpunit, ruby or maven), report = "…" for its JUnit '
                'XML files, or format = "exit" to trust its exit code alone'
            )
        found[check.name] = text
    return found


def _formats(root: str, command: str, deepest: int) -> set[Format]:
    command = _MEASURED.sub("", command)
    if _REPORTER.search(command):
        return set()
    run = _INSTALLED.sub("", command)
    found = {name for words, name in _RUNNERS if re.search(_WORD % words, run)}
    if deepest and not _ELSEWHERE.search(command):
        for text in (*_scripts(root, command), *_recipes(root, command), *_sessions(root, command)):
            found |= _formats(root, text, deepest - 1)
    return found


def _sessions(root: str, command: str) -> list[str]:
    """What tox or nox runs."""
    if re.search(_WORD % "tox", command):
        text = read(root, "tox.ini") or read(root, "tox.toml") or ""
        return re.findall(r"^commands\s*=(.*(?:\n[ \t]+.*)*)", text, re.MULTILINE)
    found = re.findall(r"session\.run(?:_always)?\(([^)]*)", read(root, "noxfile.py") or "")
    return [re.sub(r"[\"',\s]+", " ", one) for one in found] if re.search(_WORD % "nox", command) else []


def _scripts(root: str, command: str) -> list[str]:
    try:
        package = json.loads(read(root, "package.json") or "{}")
        scripts = package.get("scripts", {})
        named = [scripts.get(name) for name in _SCRIPT.findall(command)]
    except (ValueError, AttributeError, RecursionError):
        return []
    return [text for text in named if isinstance(text, str)]


def _recipes(root: str, command: str) -> list[str]:
    lines = (read(root, "Makefile") or read(root, "makefile") or read(root, "GNUmakefile") or "").splitlines()
    found = []
    for name in _MAKE.findall(command):
        inside = False
        for line in lines:
            if line.startswith("\t"):
                found += [line.strip("\t @-+")] if inside else []
            elif line.strip():
                inside = re.match(rf"(?:[^:=#]* )?{re.escape(name)}(?: [^:=]*)?\s*::?(?!=)", line) is not None
    return found
