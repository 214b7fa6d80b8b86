"""All installed CLIs, tried beside each other, and what was seen written down.

The network: where bubblewrap works each CLI has none but a loopback of its own; elsewhere proxies that nobody is keep
what goes by them on this machine. Which of the two it was is part of the answer.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass

from .. import abilities
from ..abilities import CHECKS, PROVEN, Seen, version_in
from ..config.settings import Config
from ..host import parallel
from ..host.probing import trouble
from ..paths import Paths, own_path, own_program
from ..trash import clear
from .dialects import ACP, AGENTS
from .suite import Check, not_so_far

SECONDS = 240.0
ALONE = (
    own_program("bwrap", os.getcwd()) or "bwrap",
    "--dev-bind",
    "/",
    "/",
    "--unshare-net",
    "--die-with-parent",
    "--",
)


@dataclass(frozen=True, slots=True)
class Tried:
    """What was found of one agent. `program` None: it is not installed."""

    agent: str
    program: str | None
    version: str
    known: bool
    checks: tuple[Check, ...]
    command: tuple[str, ...] = ()  # of an ACP agent: how it was called
    named: bool = True  # whether the settings name it; else it was tried only since it is there

    @property
    def ok(self) -> bool:
        """Whether nothing failed; what is not installed or not named did not fail."""
        return not self.named or all(check.passed is not False for check in self.checks)


@dataclass(frozen=True, slots=True)
class Report:
    """What was found of all, and how they were kept from the network."""

    network: str
    agents: tuple[Tried, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return all(one.ok for one in self.agents)


def run(config: Config, paths: Paths, environment: Mapping[str, str]) -> Report:
    """Try each CLI that is installed, and write down what it can do."""
    path = environment.get("PATH", os.defpath)
    called = _called(config, path)
    programs = {name: _program(command[0], paths, path) for name, command in called.items()}
    alone = not trouble([*ALONE, "true"])
    folder = tempfile.mkdtemp(prefix="nobrakes-conformance-")
    try:
        commands = {}
        env = _environment(environment, folder)
        prefix = ALONE if alone else ()
        for name, (word, *more) in called.items():
            if programs[name] is None:
                continue
            command = (own_program(word, paths.root, path) or word, *more)
            if name != ACP:
                commands[f"{name} version"] = (*prefix, command[0], "--version")
            own, auth = os.path.join(folder, name), _auth(config) if name == ACP else ""
            trial = (sys.executable, "-I", "-m", "nobrakes.conformance", name, own, auth, *command)
            commands[name] = (*prefix, *trial)
        printed = parallel.outputs(commands, env, SECONDS)
        named = bool(config.agents.acp.command)
        tried = [_tried(name, command, programs[name], printed, named) for name, command in called.items()]
    finally:
        clear(folder, time.monotonic() + SECONDS)
    abilities.keep(paths, {one.agent: _seen(one, one.program) for one in tried if one.program is not None})
    network = "no network but a loopback of their own" if alone else "the network is kept away by proxy variables only"
    return Report(network, tuple(tried))


def _program(word: str, paths: Paths, path: str) -> str | None:
    """The file that is started; None: there is none, or it lies in the repository, where an agent's work may be."""
    found = abilities.program_of(word, path)
    return None if found is None or own_program(word, paths.root, path) is None else found


def _called(config: Config, path: str) -> dict[str, tuple[str, ...]]:
    """Each agent's command. Gemini CLI speaks the Agent Client Protocol too: where it is there, that can be tried."""
    called = {name: config.agents.command(name) for name in AGENTS}
    own = config.agents.acp.command
    if own or abilities.program_of(called["gemini"][0], path) is not None:
        called[ACP] = own or (*called["gemini"], "--acp")
    return called


def _auth(config: Config) -> str:
    return config.agents.acp.auth if config.agents.acp.command else "gemini-api-key"


def _tried(
    name: str, command: tuple[str, ...], program: str | None, printed: Mapping[str, tuple[int, str]], named: bool
) -> Tried:
    if program is None:
        return Tried(name, None, "", False, ())
    about, checks = _found(*printed[name])
    if name == ACP:
        return Tried(name, program, version_in(about) or about[:40], False, checks, command, named)
    version = version_in(printed[f"{name} version"][1])
    return Tried(name, program, version, version in PROVEN[name], checks)


def _environment(environment: Mapping[str, str], folder: str) -> dict[str, str]:
    home = os.path.join(folder, "home")
    os.makedirs(home)
    return {
        "PATH": own_path(os.getcwd(), environment.get("PATH", os.defpath)),
        "HOME": home,
        "LANG": "C.UTF-8",
        "TMPDIR": folder,
    }


def _found(code: int, text: str) -> tuple[str, tuple[Check, ...]]:
    """What an ACP agent calls itself, and the checks."""
    last = text.strip().splitlines()[-1:]
    try:
        told = json.loads(last[0])
        return str(told["about"]), tuple(Check(**one) for one in told["checks"])
    except (IndexError, KeyError, ValueError, TypeError):
        said = last[0][:300] if last else "nothing"
        return "", tuple(not_so_far(Check(CHECKS[0], False, f"the trial itself ended with {code}: {said}")))


def _seen(one: Tried, program: str) -> Seen:
    can = {check.name: check.passed for check in one.checks if check.passed is not None}
    return Seen(program, abilities.stamp(program, one.command[1:]), one.version, one.known, can)
