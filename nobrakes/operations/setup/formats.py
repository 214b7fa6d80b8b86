"""What a test command prints, told from the command itself, and from the package script or make target that it names.

1. One format or none: where several runners are named, a reporter that is not the runner's own, or a file that the
   output goes to, nobody knows.
2. Files are read, nothing is run.
3. A check that says nothing of it is read in every format: that stays so, and a person is told which line says it.
"""

import json
import os
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from ...config.checks import CheckSettings, Format
from .detected import read

if TYPE_CHECKING:
    from ...ports.store import Store

TOLD = "formats_told"
"""The setting of the store with the checks of which a start has told that they say no format."""

_WHERE = "under its [[checks]] in .nobrakes/config.toml write"

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
"""What measures the coverage of a runner, with its options: its reporters are not the runner's."""
_ELSEWHERE = re.compile(r"(?:^|[\s;&|(])(?:cd|pushd) ")
_SCRIPT = re.compile(r"(?:^|[\s;&|])(?:npm|pnpm|yarn|bun) (?:run )?([A-Za-z0-9:_-]+)")
_MAKE = re.compile(r"(?:^|[\s;&|])make ([A-Za-z0-9_.-]+)")
_DEEPEST = 4


def with_format(root: str, check: CheckSettings) -> CheckSettings:
    """The check with the format of what it prints, where it has none and its command tells one."""
    if not lacks_format(check):
        return check
    found = _formats(os.path.join(root, check.directory), check.command, _DEEPEST)
    return replace(check, format=found.pop()) if len(found) == 1 else check


def lacks_format(check: CheckSettings) -> bool:
    """Whether nothing says what this check of kind test prints."""
    return check.kind == "test" and check.format == "auto" and not check.report


def what_to_write(root: str, checks: Iterable[CheckSettings]) -> dict[str, str]:
    """For each check that lacks a format, by its name: what a person writes, in a sentence."""
    found = {}
    for check in checks:
        format_ = with_format(root, check).format
        if not lacks_format(check):
            continue
        if format_ != "auto":
            text = f"the check '{check.name}' does not say what it prints: {_WHERE} format = \"{format_}\""
        else:
            text = (
                f"what the check '{check.name}' prints is not known: {_WHERE} format = \"…\" (pytest, unittest, go, "
                'cargo, tap, jest, vitest, mocha, ava, ctest, phpunit, ruby or maven), report = "…" for the JUnit XML '
                'that it writes, or format = "exit" to count on its exit code alone'
            )
        found[check.name] = text
    return found


def untold(store: "Store", root: str, checks: Iterable[CheckSettings]) -> list[str]:
    """The sentences of `what_to_write` that no start has told yet; from now on they are told."""
    lacking = {check.name: check.command for check in checks if lacks_format(check)}
    before = store.setting(TOLD)
    now = json.dumps(lacking, sort_keys=True) if lacking else None
    if now == before:
        return []
    known = json.loads(before) if before else {}
    store.set_setting(TOLD, now)
    return [text for name, text in what_to_write(root, checks).items() if known.get(name) != lacking[name]]


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
    """The package scripts that the command runs."""
    try:
        package = json.loads(read(root, "package.json") or "{}")
        scripts = package.get("scripts", {})
        named = [scripts.get(name) for name in _SCRIPT.findall(command)]
    except (ValueError, AttributeError, RecursionError):
        return []
    return [text for text in named if isinstance(text, str)]


def _recipes(root: str, command: str) -> list[str]:
    """The recipes of the make targets that the command names."""
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
