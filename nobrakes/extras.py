"""The extras of the package: which there are, whether one is installed, and what to type to install it.

1. The base install carries what every command and the web pages need; an extra is a library that only some people use.
2. Whoever is about to use one asks `need` first, so that nobody meets an ImportError.
3. What to type holds for the way in which this very nobrakes was installed: by pipx, by uv or by pip.
"""

import os
import shlex
import sys
from importlib.util import find_spec

from .errors import MissingExtra

EXTRAS = {
    "acp": ("acp", "agent-client-protocol"),  # agents that speak the Agent Client Protocol
    "fleet": ("distributed", "distributed"),  # runs on other machines
    "notify": ("apprise", "apprise"),  # channels of type `apprise`
    "tui": ("textual", "textual"),  # `nobrakes board --live`
}
"""By extra the module that it brings, and its distribution."""
EXTRA_BY_AGENT = {"acp": "acp"}
EXTRA_BY_ENGINE = {"dask": "fleet"}


def is_there(extra: str) -> bool:
    return find_spec(EXTRAS[extra][0]) is not None


def need(extra: str, what: str) -> None:
    """Raises MissingExtra with the install command."""
    if not is_there(extra):
        raise MissingExtra(f"{what} needs the extra `{extra}`, which is not installed", f"Type: {command(extra)}")


def need_of_agent(name: str) -> None:
    if name in EXTRA_BY_AGENT:
        need(EXTRA_BY_AGENT[name], f"the agent '{name}'")


def need_of_engine(name: str) -> None:
    if name in EXTRA_BY_ENGINE:
        need(EXTRA_BY_ENGINE[name], f'fleet.engine = "{name}"')


def missing(extra: str) -> str:
    return "" if is_there(extra) else f"the extra `{extra}` is not installed; type: {command(extra)}"


def command(extra: str, prefix: str = sys.prefix, python: str = sys.executable, has_pip: bool | None = None) -> str:
    """The install command for this nobrakes. `prefix`, `python`: of the environment, `has_pip`: in it."""
    if os.path.exists(os.path.join(prefix, "pipx_metadata.json")):  # what pipx injects stays when it upgrades
        return shlex.join(["pipx", "inject", os.path.basename(prefix), requirement(extra)])
    of_pip = find_spec("pip") is not None if has_pip is None else has_pip
    if os.path.exists(os.path.join(prefix, "uv-receipt.toml")) or not of_pip:
        return shlex.join(["uv", "pip", "install", "--python", python, requirement(extra)])
    return shlex.join([python, "-m", "pip", "install", f"nobrakes[{extra}]"])


def requirement(extra: str) -> str:
    """The distribution with the required versions."""
    from importlib.metadata import PackageNotFoundError, requires  # with it come forty modules, for a message

    wanted = EXTRAS[extra][1]
    try:
        found = requires("nobrakes") or []
    except PackageNotFoundError:  # run from a checkout
        found = []
    for line in found:
        name, _, condition = line.partition(";")
        if condition.strip().replace("'", '"') == f'extra == "{extra}"':
            return "".join(name.split())
    return wanted
