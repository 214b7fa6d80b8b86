"""What follows from a changed setting: since when it holds, what else it waits for, and what to type. It only looks."""

import os
import shlex
from typing import TYPE_CHECKING

from ...config.sections import FROM_THE_START
from ...config.setup.changing import Changed
from ...daemon.service import control, processes
from .hindrances import Here, of_agent

if TYPE_CHECKING:
    from ...config.settings import Config
    from ...paths import Paths
    from ...store import Store


_STARTS = frozenset(
    {*(f"limits.{name}" for name in FROM_THE_START), "review.land", "review.remote"}
    | {"review.remote_branch", "review.remote_seconds", "review.code_host", "review.code_host_repository"}
)
"""Settings that are read when nobrakes starts."""


def following(store: "Store", paths: "Paths", config: "Config", changed: Changed, here: Here) -> list[str]:
    """Lines for a person, the commands in them as they are typed."""
    if not changed.written:
        return ["nothing was written: the file says so already"]
    keys = [one.key for one in changed.changes]
    return [
        *_since(paths, keys),
        *_overridden(store, keys),
        *(of_agents(config, here) if any(key.startswith("agents.") for key in keys) else ()),
        *_of_checks(keys),
        *_committed(paths),
    ]


def _since(paths: "Paths", keys: list[str]) -> list[str]:
    pid = processes.running(paths)
    if _STARTS.isdisjoint(keys):
        return ["it holds from now on" + (f"; the daemon (process {pid}) takes it up by itself" if pid else "")]
    return ["it holds from the next start on" + (": nobrakes daemon restart" if pid else "")]


def _overridden(store: "Store", keys: list[str]) -> list[str]:
    return [
        f"meanwhile `nobrakes set` holds {name} = {value}; the file holds again after: nobrakes set {name}=default"
        for name, value in control.overrides(store).items()
        if f"limits.{name}" in keys
    ]


def of_agents(config: "Config", here: Here) -> list[str]:
    """Why agents that the settings name cannot be started from here, with what to do."""
    found = [of_agent(name, config, here) for name in config.agents.agent_choice().names()]
    return [f"{one.what}: {one.cure}" if one.cure else one.what for one in found if one is not None]


def _of_checks(keys: list[str]) -> list[str]:
    if not any(key == "setup" or key.startswith("checks.") for key in keys):
        return []
    return ["every merge has to pass this from now on; to try it on main: nobrakes init --trial"]


def _committed(paths: "Paths") -> list[str]:
    """git tracks the file: nothing waits for a commit, and others get it by one."""
    if not os.path.exists(os.path.join(paths.root, ".git")):
        return ["nothing waits for a commit of it; the next `nobrakes commit-strategy` commits it on main"]
    path = shlex.quote(os.path.relpath(paths.config))
    return [
        "nothing waits for a commit of it; the next `nobrakes commit-strategy` commits it on main, or you do:",
        f"  git add {path} && git commit -m 'Change settings' {path}",
    ]
