"""What of the machine nobrakes needs: the checks' programs, the agents' programs, its own compiled files."""

import os
import shutil
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ... import abilities
from ...core.errors import MachineShort
from ...core.hindrances import Hindrance, Kind
from ...environ import process_environment
from ...host.versions import Versions
from ...paths import Paths
from ...sandbox import none as no_sandbox
from ..hindrances.machine import Here, of_agent, of_checks
from ..setup.formats import what_to_write
from .findings import ERROR, OK, WARNING, Finding

if TYPE_CHECKING:
    from ...config.settings import Config

PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


_BROKEN = (Kind.NO_AGENT, Kind.NO_LOGIN, Kind.MAIN_RED, Kind.CHECKS_BROKEN, Kind.DAEMON_DEAD)


def examine(
    config: "Config",
    paths: Paths,
    sandbox_trouble: Callable[[], str],
    wall_trouble: Callable[[], str],
    here: Here | None = None,
) -> Iterator[Finding]:
    """The programs that the config names, and how agents are closed off, as seen from `here`."""
    seen = here or Here(process_environment(), process_environment())
    for one in of_checks(config, paths, seen):
        yield as_finding("checks", one)
    if config.checks and not any(check.kind == "test" for check in config.checks):
        yield Finding("checks", WARNING, "no check runs tests: what agents write is never tried out")
    for text in what_to_write(paths.root, config.checks).values():
        yield Finding("checks", WARNING, text)
    for name in config.agents.agent_choice().names():
        yield _agent(name, config, paths, seen)
    try:
        yield _sandbox(config, sandbox_trouble, wall_trouble)
    except MachineShort as error:
        yield Finding("sandbox", ERROR, f"nothing is started meanwhile: {error}")


def as_finding(name: str, one: Hindrance) -> Finding:
    """A hindrance as a finding: broken where a run would be refused for it, or would start nothing."""
    typed = " or ".join(f"`{command}`" for command in one.commands[:2])
    then = "; ".join(part for part in (one.why, one.cure, typed and f"type {typed}") if part)
    level = ERROR if one.refuses or one.kind in _BROKEN else WARNING
    return Finding(name, level, f"{one.what}: {then}" if then else one.what)


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


def _agent(name: str, config: "Config", paths: Paths, here: Here) -> Finding:
    hindered = of_agent(name, config, here)
    if hindered is not None:
        return as_finding("agent" if hindered.kind is Kind.NO_AGENT else "login", hindered)
    command = config.agents.command(name)
    seen = abilities.recall(paths)
    path = here.environment.get("PATH")
    standing = abilities.standing(name, command, seen, Versions(paths, path, writes=False))
    if standing.why:
        return Finding("agent", WARNING, standing.said)
    found = shutil.which(command[0], path=path)
    return Finding("agent", OK, f"the agent {name} is {found}" + (f", {standing.basis}" if standing.basis else ""))


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
