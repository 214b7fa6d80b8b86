"""The kind of project, the commands that check it, and what `nobrakes init` says of its tests. Reads files, runs
nothing.

1. A test command's format is known unless it names several runners, a foreign reporter or an output file.
2. A check without a format is read in every format; a person is told which line would fix it.
"""

import json
import os
import re
import tomllib
from collections.abc import Collection, Iterable, Sequence
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
    """One kind of project: its word, (kind, command) of checks, and the set-up of a fresh checkout."""

    word: str
    checks: tuple[tuple[str, str], ...] = ()
    setup: str = ""
    notes: tuple[str, ...] = ()


def exists(root: str, name: str) -> bool:
    return os.path.isfile(os.path.join(root, name))


def read(root: str, name: str) -> str | None:
    """None: missing, not a file, or larger than a project file."""
    path = os.path.join(root, name)
    if not os.path.isfile(path) or os.path.getsize(path) > MAX_BYTES:
        return None
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


# JavaScript and TypeScript: the scripts of package.json, with the package manager of the lock file.
_SCRIPTS = (
    ("test", ("test",)),
    ("lint", ("lint",)),
    ("types", ("typecheck", "type-check", "types", "tsc", "check-types")),
    ("build", ("build",)),
)
_PLACEHOLDER = "no test specified"


def detect_javascript(root: str) -> Found | None:
    """None without a package.json."""
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
    setup, run, note = _manager(root, package)
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
    return Found("js", tuple(checks), setup, tuple(notes))


def _manager(root: str, package: dict[str, Any]) -> tuple[str, str, str]:
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
    return [one for one in (_ruby(root), _perl(root), _java(root), _php(root), _shell(root)) if one is not None]


def _ruby(root: str) -> Found | None:
    has_lock = exists(root, "Gemfile.lock")
    run = "bundle exec " if has_lock else ""
    rakefile = read(root, "Rakefile") or read(root, "rakefile") or ""
    if exists(root, ".rspec") or _has(root, "spec", "_spec.rb"):
        command = f"{run}rspec"
    elif _RAKE_TEST.search(rakefile):
        command = f"{run}rake test"
    else:
        return None
    return Found("ruby", (("test", command),), "bundle install" if has_lock else "")


def _perl(root: str) -> Found | None:
    if not any(exists(root, name) for name in _PERL) or not _has(root, "t", ".t"):
        return None
    return Found("perl", (("test", "prove -lrv t"),))


def _java(root: str) -> Found | None:
    if exists(root, "pom.xml"):
        return Found("java", (("test", "./mvnw -B test" if exists(root, "mvnw") else "mvn -B test"),))
    if exists(root, "build.gradle") or exists(root, "build.gradle.kts"):
        return Found("java", (("test", "./gradlew test" if exists(root, "gradlew") else "gradle test"),))
    return None


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
_MARKS = ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "tox.ini", "pytest.ini")
_TEST_FOLDERS = ("tests", "test")
_IS_TEST = re.compile(r"test_.*\.py|.*_test\.py")


def detect_python(root: str) -> Found | None:
    """The Python project in `root`."""
    text = read(root, "pyproject.toml")
    folders = [
        name
        for name in _TEST_FOLDERS
        if os.path.isdir(os.path.join(root, name)) and _test_files(os.path.join(root, name))
    ]
    if text is None and not any(exists(root, name) for name in _MARKS) and not _test_files(root) and not folders:
        return None
    notes: list[str] = []
    try:
        project: dict[str, Any] = tomllib.loads(text or "")
    except tomllib.TOMLDecodeError as error:
        project = {}
        notes.append(f"pyproject.toml is not valid TOML ({error}), so nobrakes ignores it")
    tool = project.get("tool")
    tools: dict[str, Any] = tool if isinstance(tool, dict) else {}
    needed = _needed(root, project)
    setup, run = _runner(root, needed, notes)
    checks: list[tuple[str, str]] = []
    if _uses_pytest(root, tools, needed) or any(_imports_pytest(root, name) for name in ("", *folders)):
        checks.append(("test", f"{run or 'python3 -m '}pytest -q"))
    elif "django" in (read(root, "manage.py") or ""):
        checks.append(("test", f"{run}python3 manage.py test"))
    elif any(os.path.isdir(os.path.join(root, folder)) for folder in _TEST_FOLDERS) or _has_tests(root):
        # without an __init__.py a folder is found only when it is named
        alone = [name for name in folders if not exists(os.path.join(root, name), "__init__.py")]
        checks.append(("test", f"{run}python3 -m unittest " + (f"discover -v -s {alone[0]}" if alone else "-v")))
    if "ruff" in tools or exists(root, "ruff.toml") or exists(root, ".ruff.toml"):
        checks.append(("lint", f"{run}ruff check ."))
    mypy = tools.get("mypy")
    if isinstance(mypy, dict) or exists(root, "mypy.ini") or exists(root, ".mypy.ini"):
        own = isinstance(mypy, dict) and any(key in mypy for key in ("files", "packages", "modules"))
        checks.append(("types", f"{run}mypy" if own else f"{run}mypy ."))
    if "build" in needed and "build-system" in project:
        checks.append(("build", f"{run or 'python3 -m '}{'python -m ' if run else ''}build"))
    return Found("python", tuple(checks), setup, tuple(notes))


def _runner(root: str, needed: frozenset[str], notes: list[str]) -> tuple[str, str]:
    if exists(root, "uv.lock"):
        return "uv sync --locked --all-extras --all-groups", "uv run "
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


def _imports_pytest(root: str, folder: str) -> bool:
    names = sorted(name for name in os.listdir(os.path.join(root, folder)) if _IS_TEST.fullmatch(name))
    return any("import pytest" in (read(root, os.path.join(folder, name)) or "") for name in names[:20])


def _has_tests(root: str) -> bool:
    packages = [entry.path for entry in os.scandir(root) if exists(entry.path, "__init__.py")]
    below = [os.path.join(package, folder) for package in packages for folder in _TEST_FOLDERS]
    return any(map(_test_files, (root, *packages, *(folder for folder in below if exists(folder, "__init__.py")))))


def _test_files(root: str) -> bool:
    return any(_IS_TEST.fullmatch(name) for name in os.listdir(root))


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
    found = [one for one in (detect_python(root), detect_javascript(root), _rust(root), _go(root)) if one]
    found += detect_others(root)
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
    checks.sort(key=lambda check: KINDS.index(check.kind))
    setup = " && ".join(one.setup for one in found if one.setup)
    return Detected(setup, tuple(checks), tuple(notes))


def _named(found: list[Found]) -> list[CheckSettings]:
    checks: list[CheckSettings] = []
    for one in found:
        for kind, command in one.checks:
            name = kind if len(found) == 1 else f"{one.word}-{kind}"
            check = CheckSettings(name=name, command=command, kind=cast(Kind, kind))
            taken = [other.name for other in checks]
            number = 2
            while check.name in taken:
                check = replace_name(check, f"{name}-{number}")
                number += 1
            checks.append(check)
    return checks


def replace_name(check: CheckSettings, name: str) -> CheckSettings:
    return replace(check, name=name)


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
    checks = [("test", "cargo test --locked" if exists(root, "Cargo.lock") else "cargo test")]
    if exists(root, "clippy.toml") or exists(root, ".clippy.toml"):
        checks.append(("lint", "cargo clippy --all-targets -- -D warnings"))
    if exists(root, "rustfmt.toml") or exists(root, ".rustfmt.toml"):
        checks.append(("lint", "cargo fmt --check"))
    return Found("rust", tuple(checks))


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
    (r"(?:rspec|minitest)", "ruby"),
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
        for text in (*_scripts(root, command), *_recipes(root, command)):
            found |= _formats(root, text, deepest - 1)
    return found


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
