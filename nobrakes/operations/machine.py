"""What of the machine nobrakes needs: the checks' programs, the agents' programs, its own compiled files."""

import os
import shlex
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..sandbox import none as no_sandbox
from .findings import ERROR, OK, WARNING, Finding

if TYPE_CHECKING:
    from ..config import Config

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_WORDS = "if for while case cd export set test true false echo exec eval source time [ [[ ( { ! ."
_OF_THE_SHELL = frozenset(_WORDS.split(" "))


def examine(config: "Config") -> Iterator[Finding]:
    """The programs that the config names, and how agents are closed off."""
    if not config.checks:
        yield Finding("checks", WARNING, "there is no check, so nothing can be merged: name one in config.toml")
    elif not any(check.kind == "test" for check in config.checks):
        yield Finding("checks", WARNING, "no check runs tests: what agents write is never tried out")
    for what, command in [("setup", config.setup), *((f"check {c.name}", c.command) for c in config.checks)]:
        program = program_of(command)
        if program is not None and shutil.which(program) is None and os.path.sep not in program:
            yield Finding("checks", WARNING, f"{what}: `{program}` is not on PATH (the setup may bring it in)")
    for name in dict.fromkeys((config.agents.test_writer, config.agents.doer)):
        yield _agent(name, config)
    yield Finding("sandbox", WARNING, no_sandbox.describe())


def _agent(name: str, config: "Config") -> Finding:
    from ..agents.registry import ADAPTERS

    if name not in ADAPTERS:
        return Finding("agent", ERROR, f"there is no agent '{name[:40]}'; known: {', '.join(sorted(ADAPTERS))}")
    if name == "script":
        command = config.agents.script.command
        if not command:
            return Finding("agent", ERROR, "agents.script.command is empty: name the command that is the agent")
        program = command[0]
    else:
        program = config.agents.claude.executable
    found = shutil.which(program)
    if found is None:
        return Finding("agent", ERROR, f"the agent {name} is not installed: `{program}` is not on PATH")
    return Finding("agent", OK, f"the agent {name} is {found}")


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
