"""What of this machine keeps agents from being started: settings, programs of checks, agents, logins, sandbox.

1. It is looked at from this process: its PATH, its keys, its home. A daemon that works has its own, so nobody looks
   while one does.
2. No agent is started and no token spent. Of a login only what shows it can be seen: a key, or the CLI's file. Whether
   it still holds is known when an agent works.
3. Where the setup may bring a program in, its absence is told and nothing is refused for it.
"""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ... import extras
from ...abilities import INSTALL
from ...core.errors import MachineShort
from ...core.hindrances import Hindrance, Kind
from ...paths import Paths
from .programs import Where, missing

if TYPE_CHECKING:
    from ...agents.adapter import Login
    from ...config.settings import Config

CONFIG = ".nobrakes/config.toml"
NOT_TRIED = "it was not tried"


@dataclass(frozen=True, slots=True)
class Here:
    """This process, as whoever starts agents from it. `environment` is what runs see, `credentials` all there is.

    `misconfigured`: what is wrong with config.toml, where the settings are those of before.
    """

    environment: Mapping[str, str]
    credentials: Mapping[str, str]
    in_main: Callable[[str], bool] = lambda _: False
    sandbox_trouble: Callable[[], str] = lambda: NOT_TRIED
    wall_trouble: Callable[[], str] = lambda: NOT_TRIED
    misconfigured: str = ""


def of_config(misconfigured: str) -> Iterator[Hindrance]:
    """That config.toml is wrong, and how."""
    if misconfigured:
        yield Hindrance(
            Kind.CONFIG,
            "config.toml is wrong, and nothing is started with it",
            misconfigured,
            ("nobrakes config --check",),
            f"mend {CONFIG}",
            refuses=True,
        )


def of_no_check(config: "Config") -> Iterator[Hindrance]:
    """That no check is named."""
    if not config.checks:
        yield Hindrance(
            Kind.NO_CHECK,
            "no check is configured: nothing can be merged",
            "only beads marked --scaffolding or of type repair start",
            ("nobrakes config --check", "nobrakes run"),
            f"name the command of your tests under [[checks]] in {CONFIG}",
            refuses=True,
        )


def of_checks(config: "Config", paths: Paths, here: Here) -> Iterator[Hindrance]:
    """Checks that are not there, or that cannot run."""
    yield from of_no_check(config)
    where = Where(paths.root, here.environment, here.in_main, config.sandbox.home == "own")
    commands = [("the setup", "setup", config.setup, "")] if config.checks else []
    commands += [(f"the check '{c.name}'", "command", c.command, c.directory) for c in config.checks]
    for what, key, command, directory in commands:
        lacking = missing(command, directory, where)
        if not lacking:
            continue
        by_setup = bool(config.setup) and key == "command"
        place = f"`{key}` under [[checks]] in {CONFIG}" if key == "command" else f"`setup` in {CONFIG}"
        yield Hindrance(
            Kind.NO_RUNNER,
            f"{what} cannot run: {lacking}",
            f"its command is `{command}`" + (" (the setup may bring it in)" if by_setup else ""),
            ("nobrakes init --trial", "nobrakes run"),
            f"install it, name what brings it in as `setup`, or mend {place}",
            refuses=not by_setup,
        )


def of_agents(config: "Config", here: Here) -> Iterator[tuple[str, Hindrance]]:
    """(agent, why it cannot be started), for each agent that the settings name and that cannot."""
    for name in config.agents.agent_choice().names():
        found = of_agent(name, config, here)
        if found is not None:
            yield name, found


def of_agent(name: str, config: "Config", here: Here) -> Hindrance | None:
    """Why this agent cannot be started from here; None: nothing can be seen that speaks against it."""
    from ...agents.registry import ADAPTERS

    cure, commands = f"install it, or name another agent under [agents] in {CONFIG}", ("nobrakes doctor",)
    if name not in ADAPTERS:
        known = ", ".join(sorted(ADAPTERS))
        what = f"there is no agent '{name[:40]}'; known: {known}"
        return Hindrance(
            Kind.NO_AGENT, what, "", ("nobrakes config --check",), f"name another under [agents] in {CONFIG}"
        )
    extra = extras.OF_AGENTS.get(name, "")
    if extra and not extras.is_there(extra):
        what = f"the agent {name} needs the extra `{extra}`, which is not installed"
        cure = f"install it, or name another agent under [agents] in {CONFIG}"
        return Hindrance(Kind.NO_AGENT, what, "", (extras.command(extra),), cure, refuses=True)
    command = config.agents.command(name)
    if not command:
        what = f"the agent {name} has no command: agents.{name}.command is empty"
        line = f"nobrakes config set agents.{name}.command 'my-agent --its-options'"
        return Hindrance(Kind.NO_AGENT, what, "", (line,), f"name the command that is the agent in {CONFIG}")
    if shutil.which(command[0], path=here.environment.get("PATH", os.defpath)) is None:
        what = f"the agent {name} is not installed: `{command[0]}` is not on PATH"
        if name in INSTALL and command[0] == name:
            cure = f"install it (`{INSTALL[name]}`), or name another agent under [agents] in {CONFIG}"
        return Hindrance(Kind.NO_AGENT, what, "", commands, cure)
    if os.path.basename(command[0]) != name:
        return None  # a person's own command may bring its login along
    adapter = ADAPTERS[name]
    names = (*adapter.credentials, *config.agents.environment)
    seen = {**here.environment, **{key: here.credentials[key] for key in names if key in here.credentials}}
    login = adapter.login(seen, config.agents)
    if login is None or any(seen.get(key) for key in login.variables) or any(map(os.path.exists, login.files)):
        return None
    return _logged_out(name, login)


def _logged_out(name: str, login: "Login") -> Hindrance:
    shows = (
        f"none of {', '.join(login.variables)} is set"
        if len(login.variables) > 1
        else f"{login.variables[0]} is not set"
    )
    files = "".join(f", and {path} is not there" for path in login.files)
    return Hindrance(Kind.NO_LOGIN, f"nobody is logged in with the agent {name}", f"{shows}{files}", (login.command,))


def of_closure(config: "Config", here: Here) -> Iterator[Hindrance]:
    """That the settings ask for a sandbox or a wall, and there is none."""
    try:
        said = _closure(config, here)
    except MachineShort as error:
        said = str(error)
    if said:
        cure = f'mend that, or let `sandbox.mode` and `sandbox.wall` be "auto" in {CONFIG}'
        yield Hindrance(Kind.NO_SANDBOX, said, "", ("nobrakes doctor",), cure, refuses=True)


def _closure(config: "Config", here: Here) -> str:
    mode, wall = config.sandbox.mode, config.sandbox.wall
    if mode == "bubblewrap":
        trouble = here.sandbox_trouble()
        return f"nothing is started without a sandbox, and bubblewrap does not work here: {trouble}" if trouble else ""
    if wall == "landlock" and (mode == "none" or here.sandbox_trouble()):
        trouble = here.wall_trouble()
        return f"nothing is started without a wall, and Landlock does not work here: {trouble}" if trouble else ""
    return ""


def of_shapers(config: "Config", here: Here, is_alone: bool) -> list[Hindrance]:
    """What is wrong with the agents that plan features, one of which is planned now.

    `is_alone`: there is nothing else to do, so that none of them being there refuses.
    """
    names = dict.fromkeys(config.agents.shaper)
    found = [one for one in (of_agent(name, config, here) for name in names) if one is not None]
    return [replace(one, refuses=is_alone and len(found) == len(names)) for one in found]


def of_roles(config: "Config", here: Here, wanted: "tuple[tuple[bool, str], ...]") -> list[Hindrance]:
    """What is wrong with the agents. One refuses where no bead of `wanted` could be worked on without it.

    `wanted`: of each kind of bead for which agents will be started, whether it needs tests first, and its type.
    """
    found = dict(of_agents(config, here))
    choice = config.agents.agent_choice()
    from ...core.beads.bead import Role

    def can(role: Role, kind: str) -> bool:
        return any(name not in found for name in choice.agents(role, kind))

    possible = [
        kind
        for needs_tests, kind in wanted
        if can(Role.DOER, kind) and (not needs_tests or can(Role.TEST_WRITER, kind))
    ]
    refuses = bool(wanted) and not possible
    return [replace(one, refuses=refuses) for one in found.values()]
