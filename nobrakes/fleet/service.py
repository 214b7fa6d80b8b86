"""The nodes as people and the daemon see them, and the helper that talks to the nodes.

1. The helper runs by itself, confined, and is started when it is missed. It ends by itself.
2. Nobody waits for it: what it knows lies in a file.
"""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import NoSandbox, UsageError
from ..files import private_folder, read_tail, write_atomic
from ..git.port import Argv
from ..paths import Paths
from ..sandbox import system_paths
from ..sandbox.closure import Closure
from .model import LINE, Fleet, Node, folder_of, gateway_settings, parsed

if TYPE_CHECKING:
    from ..config.settings import Config
    from ..daemon.model import Limits

__all__ = ["Fleet", "Node", "Nodes"]

STATE = "state.json"
SETTINGS = "settings.json"
DRAINED = "drained.json"
LOG = "gateway.log"
OLD = 15.0
"""Seconds after which the helper's state counts as unknown."""
_LARGEST = 4_000_000
_AGAIN = 5.0


class Nodes:
    """The nodes of one repository's cluster."""

    def __init__(
        self,
        paths: Paths,
        config: "Callable[[], Config]",
        environment: Mapping[str, str],
        sandbox_trouble: Callable[[], str],
        confine: Callable[[Argv, Closure], Argv],
    ) -> None:
        self._paths = paths
        self._config = config
        self._environment = environment
        self._sandbox_trouble = sandbox_trouble
        self._confine = confine
        self._started_at = 0.0
        self.folder = folder_of(paths)

    @property
    def is_used(self) -> bool:
        return self._config().fleet.engine != "local"

    def look(self) -> Fleet:
        """What is known now; starts the helper where it is missing. Raises NoSandbox."""
        self.begin()
        try:
            found = parsed(
                read_tail(os.path.join(self.folder, STATE), _LARGEST).decode("utf-8", "replace"), self.drained()
            )
        except ValueError:
            return Fleet(0.0, "the nodes are not known yet")
        return replace(found, trouble="the nodes are not known now") if time.time() - found.at > OLD else found

    def begin(self) -> None:
        """Start the helper, unless it answers. Raises NoSandbox."""
        now = time.monotonic()
        if now - self._started_at < _AGAIN:
            return
        words = json.dumps(gateway_settings(self._config().fleet)).encode()
        settings = os.path.join(self.folder, SETTINGS)
        if read_tail(settings, _LARGEST) == words and self._answers():
            return
        self._started_at = now
        private_folder(self.folder)
        write_atomic(settings, words)  # a helper that was started with others ends when it reads them
        argv = self._confined((sys.executable, "-P", "-m", "nobrakes.fleet.gateway", self.folder))
        with open(os.path.join(self.folder, LOG), "ab") as log:
            subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                env={"PATH": self._environment.get("PATH", os.defpath), "LANG": "C.UTF-8"},
                start_new_session=True,
            )

    def _answers(self) -> bool:
        folder = os.open(self.folder, os.O_RDONLY) if os.path.isdir(self.folder) else -1
        if folder < 0:
            return False
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
                line.connect(f"/proc/self/fd/{folder}/{LINE}")
                return True
        except OSError:
            return False
        finally:
            os.close(folder)

    def _confined(self, argv: Argv) -> Argv:
        """Without home, repository and network, but the scheduler's address."""
        settings = self._config()
        if settings.sandbox.mode == "none":
            return argv
        if trouble := self._sandbox_trouble():
            raise NoSandbox(
                f"the program that talks to the nodes runs only in a sandbox, and bubblewrap does not work: {trouble}",
                'Install bubblewrap, or set sandbox.mode = "none" to run the program without a sandbox.',
            )
        fleet = settings.fleet
        closure = Closure(
            self.folder,
            system_paths.machine(self._environment),
            hidden=(self._paths.root,),
            read=tuple(path for path in (fleet.ca, fleet.certificate, fleet.key) if path),
            network="provider",
            hosts=_addresses(fleet.scheduler),
        )
        return self._confine(argv, closure)

    def drained(self) -> tuple[str, ...]:
        try:
            with open(os.path.join(self.folder, DRAINED), encoding="utf-8") as file:
                return tuple(json.load(file))
        except FileNotFoundError:
            return ()

    def drain(self, name: str, is_drained: bool) -> None:
        """Give the node no new work, or work again. Raises UsageError for an unknown node."""
        known = {one.name for one in self.look().nodes} | set(self.drained())
        if name not in known:
            raise UsageError(f"there is no node '{name[:100]}'", f"Known nodes: {', '.join(sorted(known)) or 'none'}")
        others = {one for one in self.drained() if one != name}
        names = sorted(others | {name}) if is_drained else sorted(others)
        private_folder(self.folder)
        write_atomic(os.path.join(self.folder, DRAINED), json.dumps(names).encode())

    def bounded(self, limits: "Limits") -> "Limits":
        """These limits, with no more agents than the nodes have places."""
        if not self.is_used:
            return limits
        settings, nodes = self._config().fleet, self.look().nodes
        usable = [one.places - settings.reserved_for_checks for one in nodes if not one.why and not one.is_drained]
        return replace(limits, doers=min(limits.doers, sum(max(0, one) // settings.agent_places for one in usable)))

    def degraded(self) -> list[str]:
        """What people should know of the nodes now."""
        if not self.is_used:
            return []
        found = self.look()
        if found.trouble:
            return [f"no agent or check starts on a node: {found.trouble}. `nobrakes fleet` shows the nodes"]
        return [f"the node {one.name} gets no work: {one.why}" for one in found.nodes if one.why]


def _addresses(scheduler: str) -> tuple[str, ...]:
    """The scheduler's `name:port`, and its present addresses, which need not be public."""
    host, _, port = scheduler.partition("://")[2].rpartition(":")
    try:
        found = {str(one[4][0]) for one in socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)}
    except OSError:
        found = set()
    return tuple(dict.fromkeys((f"{host}:{port}", *(f"{one}:{port}" for one in sorted(found) if ":" not in one))))
