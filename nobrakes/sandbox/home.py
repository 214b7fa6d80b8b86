"""The home that checks get: an empty one for each run, so that what one run leaves there bends no later one.

1. What lives in the person's home and holds toolchains is named by its own variable, where nobody named it.
2. Nothing that is read or run by itself comes from the person's home: no user site, settings or start-up files.
3. In a sandbox the home is one of its own already, in memory.
4. Behind the wall the person's home is read-only. So tools are told of caches of their own there, which go with the run
   or the workspace, unless the person let in the usual ones.
"""

import os
from collections.abc import Mapping

from .bubblewrap import lies_in
from .machine import TOOLCHAINS

HOME = "home"
"""The folder in a run's folder that is its home."""

MADE = f"{HOME}/.nobrakes-run"
"""The empty file in a run's folder that its home begins with."""

_TOOLS = {".pyenv": "PYENV_ROOT", ".rbenv": "RBENV_ROOT"}
_WRITTEN = {".cargo": "CARGO_HOME", "go": "GOPATH"}
"""Folders of toolchains that are written whenever they are used."""
_OF_MANY = "XDG_CACHE_HOME"
_CACHES = {
    _OF_MANY: ".cache",
    "PIP_CACHE_DIR": ".cache/pip",
    "UV_CACHE_DIR": ".cache/uv",
    "GOCACHE": ".cache/go-build",
    "npm_config_cache": ".npm",
    "YARN_GLOBAL_FOLDER": ".yarn/berry",
    "PNPM_HOME": ".local/share/pnpm",
    "BUN_INSTALL_CACHE_DIR": ".bun/install/cache",
    "CARGO_HOME": ".cargo",
    "GOPATH": "go",
    "GRADLE_USER_HOME": ".gradle",
    "NUGET_PACKAGES": ".nuget/packages",
    "DOTNET_CLI_HOME": ".dotnet",
    "BUNDLE_USER_HOME": ".bundle",
    "MIX_HOME": ".mix",
    "HEX_HOME": ".hex",
    "PUB_CACHE": ".pub-cache",
}
"""The variables by which tools find their caches, and where these lie in a home when nobody says so."""
_MAVEN = ".m2/repository"
_BELOW = {
    "XDG_CACHE_HOME": ".cache",
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
    "GRADLE_USER_HOME": ".gradle",
}
"""Folders that lie below the home, and the variables that say so."""

NO_USER_SITE = {"PYTHONNOUSERSITE": "1"}


def caches(folder: str, environment: Mapping[str, str], let_in: tuple[str, ...]) -> dict[str, str]:
    """What tools are told of their caches: those of the person that are `let_in`, the others below `folder`."""
    persons = _persons(environment)
    usual = {variable: environment.get(variable) or os.path.join(persons, place) for variable, place in _CACHES.items()}
    found = {
        variable: usual[variable] if _reaches(let_in, usual[variable], variable) else os.path.join(folder, place)
        for variable, place in _CACHES.items()
    }
    artifacts = os.path.join(persons, _MAVEN)
    if _reaches(let_in, artifacts) or any(map(str.isspace, artifacts + folder)):  # its start script splits the words
        return found
    # Java takes the home from the account. What lies there already is read, by Maven 3.9 on
    words = f"-Dmaven.repo.local={os.path.join(folder, _MAVEN)} -Dmaven.repo.local.tail={artifacts}"
    return {**found, "MAVEN_OPTS": f"{environment.get('MAVEN_OPTS', '')} {words}".strip()}


def _persons(environment: Mapping[str, str]) -> str:
    return environment.get("HOME") or os.path.expanduser("~")


def _reaches(let_in: tuple[str, ...], place: str, variable: str = "") -> bool:
    """Whether the place may be written, or a part of it; of the folder of many tools' caches, all of it."""
    real = os.path.realpath(place)
    return any(lies_in(real, path) or (variable != _OF_MANY and lies_in(path, real)) for path in let_in)


def variables(home: str, environment: Mapping[str, str], let_in: tuple[str, ...] | None = None) -> dict[str, str]:
    """What a run is told that has `home` for its own, where the person's environment is this one.

    Behind the wall: `let_in` is what it may write of the person's. None: it is not behind one.
    """
    persons = _persons(environment)
    tools = {**TOOLCHAINS, **_TOOLS, **(_WRITTEN if let_in is None else {})}
    found = {
        variable: os.path.join(persons, name, "python") if name.endswith("/uv") else os.path.join(persons, name)
        for name, variable in tools.items()
        if variable not in environment and os.path.isdir(os.path.join(persons, name))
    }
    stored = {} if let_in is None else caches(home, environment, let_in)
    below = {variable: os.path.join(home, name) for variable, name in _BELOW.items()}
    return {**found, **below, **stored, **NO_USER_SITE, "HOME": home}


def steady(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of runs that have homes of their own, without what differs from run to run."""
    return {**environment, **NO_USER_SITE, "HOME": HOME}
