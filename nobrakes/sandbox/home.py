"""The home that checks get: an empty one for each run, so that what one run leaves there bends no later one.

1. What lives in the person's home and holds toolchains is named by its own variable, where nobody named it.
2. Nothing that is read or run by itself comes from the person's home: no user site, settings or start-up files.
3. In a sandbox the home is one of its own already, in memory.
"""

import os
from collections.abc import Mapping

from .machine import TOOLCHAINS

HOME = "home"
"""The folder in a run's folder that is its home."""

MADE = f"{HOME}/.nobrakes-run"
"""The empty file in a run's folder that its home begins with."""

_TOOLS = {".cargo": "CARGO_HOME", "go": "GOPATH", ".pyenv": "PYENV_ROOT", ".rbenv": "RBENV_ROOT"}
_BELOW = {
    "XDG_CACHE_HOME": ".cache",
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
    "GRADLE_USER_HOME": ".gradle",
}
"""Folders that lie below the home, and the variables that say so."""

NO_USER_SITE = {"PYTHONNOUSERSITE": "1"}


def variables(home: str, environment: Mapping[str, str]) -> dict[str, str]:
    """What a run is told that has `home` for its own, where the person's environment is this one."""
    persons = environment.get("HOME") or os.path.expanduser("~")
    found = {
        variable: os.path.join(persons, name, "python") if name.endswith("/uv") else os.path.join(persons, name)
        for name, variable in {**TOOLCHAINS, **_TOOLS}.items()
        if variable not in environment and os.path.isdir(os.path.join(persons, name))
    }
    below = {variable: os.path.join(home, name) for variable, name in _BELOW.items()}
    return {**found, **below, **NO_USER_SITE, "HOME": home}


def steady(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of runs that have homes of their own, without what differs from run to run."""
    return {**environment, **NO_USER_SITE, "HOME": HOME}
