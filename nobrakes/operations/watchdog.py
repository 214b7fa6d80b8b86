"""One look of the watchdog: a daemon that is wanted and gone is started again, once the network and a provider answer.

1. It is called from outside (a timer of systemd, cron, a person), remembers in one file of the person's own place how
   long it waits, and ends. It asks no model, and sends no key.
2. What `daemon start` refuses, it refuses, too; a start that failed is tried again like a network that is down.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING

from ..core.errors import ConfigError, DaemonRunning, NobrakesError, PlaceUnusable
from ..core.watchdog import Facts, Waiting, after_failure, at_rest, still_waits
from ..host import reachable
from ..host.files import write_atomic
from ..paths import Paths
from ..place import make, user_place
from . import control, daemons
from .machine_wide.own_settings import own_settings

if TYPE_CHECKING:
    from ..agents.adapter import Adapter
    from ..config.settings import Config
    from ..ports.store import Store

Reach = Callable[[Sequence[str]], Mapping[str, str]]
"""By address: why nobody answers there; empty: somebody does."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What a look came to. `started`: the pid of a new daemon. `down`: what did not answer, or why a start failed.

    `until`: nobody is asked again before that time; 0: the next look asks.
    """

    said: str
    started: int | None = None
    down: tuple[str, ...] = ()
    until: float = 0.0


def look(
    store: "Store",
    paths: Paths,
    config: "Config",
    env: Mapping[str, str],
    require: Callable[[], None] = lambda: None,
    reach: Reach = reachable.reach,
) -> Looked:
    """One look at this repository. `require` raises where `daemon start` would refuse. PlaceUnusable, ConfigError."""
    file = _file(paths)
    resting = at_rest(_facts(store, paths))
    if resting:
        with suppress(FileNotFoundError):
            os.unlink(file)
        return Looked(resting)
    now, waiting = store.now(), _read(file)
    if still_waits(waiting, now):
        return Looked("it is too early to look again", until=waiting.until)
    down = _down(config, env, reach)
    if down:
        return _failed("down, so no daemon is started", down, file, waiting, now)
    try:
        require()
        pid = daemons.start_again(paths, store)
    except DaemonRunning:  # somebody was quicker
        return Looked(at_rest(_facts(store, paths)))
    except NobrakesError as error:
        return _failed("the daemon could not be started", (f"{error} {error.hint}".strip(),), file, waiting, now)
    if pid is None:
        return Looked(at_rest(replace(_facts(store, paths), works=None)))
    with suppress(FileNotFoundError):
        os.unlink(file)
    return Looked(f"the daemon was gone and was started again (process {pid})", pid)


def _facts(store: "Store", paths: Paths) -> Facts:
    return Facts(daemons.running(paths), daemons.is_wanted(store), store.setting(control.PAUSED) is not None)


def _failed(said: str, down: Sequence[str], file: str, waiting: Waiting, now: float) -> Looked:
    after = after_failure(waiting, now)
    make(os.path.dirname(os.path.dirname(file)))
    make(os.path.dirname(file))
    write_atomic(file, json.dumps(asdict(after)).encode())
    return Looked(said, down=tuple(down), until=after.until)


def _down(config: "Config", env: Mapping[str, str], reach: Reach) -> list[str]:
    """What of the network and the provider does not answer, in words. One address of each that answers is enough."""
    own = own_settings().watchdog
    asked = {"the network": own.network, "the provider": own.provider or providers(config, env)}
    answers = reach(list(dict.fromkeys(url for urls in asked.values() for url in urls)))
    return [
        f"{what}: {'; '.join(f'{url} ({answers[url]})' for url in urls)}"
        for what, urls in asked.items()
        if urls and all(answers[url] for url in urls)
    ]


def providers(config: "Config", env: Mapping[str, str]) -> tuple[str, ...]:
    """Where the agents of these settings reach their providers; empty: nobody knows, as for a script."""
    from ..agents.adapter import Assignment
    from ..core.beads.bead import Role

    nobody = Assignment(
        role=Role.DOER,
        bead="",
        worker="",
        attempt=1,
        prompt="",
        prompt_file="",
        workspace="/",
        folder="/",
        session="",
        resume=False,
        env={**env, "NOBRAKES_HOME": "/"},
        settings=config.agents,
        system_prompt="",
        guard=("true",),
    )
    found: dict[str, None] = {}
    for agent in _agents(config):
        with suppress(ConfigError):
            found.update(dict.fromkeys(agent.launch(nobody).hosts[:1]))  # the others renew logins
    return tuple(found)


def keys(config: "Config") -> tuple[str, ...]:
    """The variables of the environment by which the agents of these settings may prove who they are."""
    found = (name for agent in _agents(config) for name in agent.credentials)
    return tuple(dict.fromkeys((*found, *config.agents.environment)))


def _agents(config: "Config") -> "list[Adapter]":
    """The adapters of all agents that these settings start, each once; one that there is not is left out."""
    from ..agents.registry import ADAPTERS, adapter

    names = dict.fromkeys((*config.agents.agent_choice().names(), *config.agents.shaper))
    return [adapter(name) for name in names if name in ADAPTERS]


def _file(paths: Paths) -> str:
    name = sha256(os.fsencode(os.path.realpath(paths.root))).hexdigest()[:16]
    return os.path.join(user_place().state, "watchdog", f"{name}.json")


def _read(file: str) -> Waiting:
    try:
        with open(file, encoding="utf-8") as opened:
            found = json.load(opened)
        return Waiting(int(found["failures"]), float(found["until"]))
    except FileNotFoundError:
        return Waiting()
    except (OSError, ValueError, TypeError, KeyError) as error:  # how long it waits may be in it
        text = f"how long the watchdog waits cannot be read from {file}: {error}"
        raise PlaceUnusable(text, "Move this file away; the next look then starts the daemon.") from None
