"""What of the machine nobrakes needs: the checks' programs, the agents' programs, its own compiled files."""

import os
import shlex
import shutil
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ... import abilities
from ...core.errors import MachineShort
from ...host.versions import Versions
from ...paths import Paths
from ...sandbox import none as no_sandbox
from ..setup.formats import what_to_write
from .findings import ERROR, OK, WARNING, Finding

if TYPE_CHECKING:
    from ...config.settings import Config

PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_WORDS = "if for while case cd export set test true false echo exec eval source time [ [[ ( { ! ."
_OF_THE_SHELL = frozenset(_WORDS.split(" "))


def examine(
    config: "Config", paths: Paths, sandbox_trouble: Callable[[], str], wall_trouble: Callable[[], str]
) -> Iterator[Finding]:
    """The programs that the config names, and how agents are closed off."""
    if not config.checks:
        yield Finding("checks", WARNING, "there is no check, so nothing can be merged: name one in config.toml")
    elif not any(check.kind == "test" for check in config.checks):
        yield Finding("checks", WARNING, "no check runs tests: what agents write is never tried out")
    for what, command in [("setup", config.setup), *((f"check {c.name}", c.command) for c in config.checks)]:
        program = program_of(command)
        if program is not None and shutil.which(program) is None and os.path.sep not in program:
            yield Finding("checks", WARNING, f"{what}: `{program}` is not on PATH (the setup may bring it in)")
    for text in what_to_write(paths.root, config.checks).values():
        yield Finding("checks", WARNING, text)
    for name in config.agents.agent_choice().names():
        yield _agent(name, config, paths)
    try:
        yield _sandbox(config, sandbox_trouble, wall_trouble)
    except MachineShort as error:
        yield Finding("sandbox", ERROR, f"nothing is started meanwhile: {error}")


def _sandbox(config: "Config", sandbox_trouble: Callable[[], str], wall_trouble: Callable[[], str]) -> Finding:
    """How agents and checks are closed off, by setting and machine."""
    from ...sandbox import wall

    mode = config.sandbox.mode
    trouble = 'the setting sandbox.mode is "none"' if mode == "none" else sandbox_trouble()
    if not trouble:
        return Finding("sandbox", OK, "agents and checks run in a sandbox (bubblewrap)")
    if mode == "bubblewrap":
        return Finding(
            "sandbox", ERROR, f"nothing is started without a sandbox, and bubblewrap does not work: {trouble}"
        )
    setting = config.sandbox.wall
    no_wall = 'the setting sandbox.wall is "none"' if setting == "none" else wall_trouble()
    if not no_wall:
        return Finding("sandbox", WARNING if wall.lacking() else OK, f"{wall.describe()} The reason: {trouble}.")
    if setting == "landlock":
        return Finding("sandbox", ERROR, f"nothing is started without a wall, and Landlock does not work: {no_wall}")
    said = no_sandbox.describe(config.agents.agent_choice().names(), config.agents)
    return Finding("sandbox", WARNING, f"{said} The reason: {trouble}, and {no_wall}.")


def _agent(name: str, config: "Config", paths: Paths) -> Finding:
    from ...agents.registry import ADAPTERS

    if name not in ADAPTERS:
        return Finding("agent", ERROR, f"there is no agent '{name[:40]}'; known: {', '.join(sorted(ADAPTERS))}")
    command = config.agents.command(name)
    if not command:
        return Finding("agent", ERROR, f"agents.{name}.command is empty: name the command that is the agent")
    found = shutil.which(command[0])
    if found is None:
        return Finding("agent", ERROR, f"the agent {name} is not installed: `{command[0]}` is not on PATH")
    seen = abilities.recall(paths)
    standing = abilities.standing(name, command, seen, Versions(paths, os.environ.get("PATH"), writes=False))
    if standing.why:
        return Finding("agent", WARNING, standing.said)
    return Finding("agent", OK, f"the agent {name} is {found}" + (f", {standing.basis}" if standing.basis else ""))


def program_of(command: str) -> str | None:
    """The program that a shell command begins with; None where it begins with the shell's own words."""
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    for word in words:
        if "=" in word and word.split("=", 1)[0].isidentifier():
            continue
        plain = not set(word) & set("$`*?(){};&|<>")
        return word if plain and word not in _OF_THE_SHELL else None
    return None


def installation() -> Iterator[Finding]:
    """Whether Python's compiled files are there: without them each command pays for compiling."""
    missing = uncompiled()
    if not missing:
        yield Finding("start-up", OK, "every module is compiled")
    else:
        yield Finding("start-up", WARNING, f"{len(missing)} modules are compiled at every start", "compile")


def uncompiled() -> list[str]:
    """The modules without a compiled file."""
    from importlib.util import cache_from_source

    found = []
    for folder, folders, names in os.walk(PACKAGE):
        folders[:] = [name for name in folders if name not in ("__pycache__", "_data")]
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith(".py") and not os.path.exists(cache_from_source(path)):
                found.append(path)
    return found


def compile_package() -> list[str]:
    """Compile every module; what was done."""
    import compileall

    before = len(uncompiled())
    compileall.compile_dir(PACKAGE, quiet=2)
    left = len(uncompiled())
    lines = [f"{before - left} modules were compiled"]
    return lines if not left else [*lines, f"{left} could not be: is {PACKAGE} writable?"]
