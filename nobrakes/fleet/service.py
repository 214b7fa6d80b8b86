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

from .. import extras
from ..errors import UsageError
from ..files import private_folder, read_tail, write_atomic
from ..git.port import Argv
from ..paths import PACKAGE, Paths
from ..sandbox import system_paths
from ..sandbox.closure import Closure
from . import parcel
from .model import (
    DRAINED,
    LINE,
    NOT_YET,
    OLD,
    OWN,
    SETTINGS,
    Fleet,
    FleetView,
    Loss,
    Node,
    NodeRun,
    NodesLine,
    drained,
    file_troubles,
    folder_of,
    gateway_settings,
    is_own,
    known,
    line_of,
    run_of,
)

if TYPE_CHECKING:
    from ..config.sections import FleetSettings
    from ..config.settings import Config

__all__ = ["Fleet", "FleetView", "Loss", "Node", "NodeRun", "Nodes", "NodesLine", "is_own", "line_of", "run_of"]

LOG = "gateway.log"
_AGAIN = 5.0
ANSWER_SECONDS = 12.0
"""Seconds that a person waits for the scheduler's answer."""
_REACH_SECONDS = 5.0


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
        self._unknown_since: float | None = None
        self._troubles: list[str] = []
        self.folder = folder_of(paths)

    @property
    def is_used(self) -> bool:
        return self._config().fleet.engine != "local"

    def look(self, timeout: float = 0.0) -> Fleet:
        """What is known now; starts the helper where it is missing. `timeout`: seconds to wait for an answer."""
        end = time.monotonic() + timeout
        while True:
            why, found, now = self._begin(), known(self._paths), time.monotonic()
            if found.is_known:
                self._unknown_since = None
                return found
            self._unknown_since = now if self._unknown_since is None else self._unknown_since
            if why:
                return replace(found, trouble=why)
            if now - self._unknown_since > OLD:
                said = read_tail(os.path.join(self.folder, LOG), 2000).decode("utf-8", "replace").strip()
                last = f": {said.splitlines()[-1][:300]}" if said else ""
                return replace(found, trouble=f"the program that talks to the nodes does not work{last}")
            if now >= end:
                return replace(found, trouble=NOT_YET)
            time.sleep(0.1)

    def _begin(self) -> str:
        """Start the helper, unless it answers; returns why it cannot start."""
        now = time.monotonic()
        if now - self._started_at < _AGAIN:
            return ""
        words = json.dumps(gateway_settings(self._config(), self._paths)).encode()
        settings = os.path.join(self.folder, SETTINGS)
        if read_tail(settings, len(words) + 1) == words and self._answers():
            return ""
        if why := self.why_not():
            return why
        self._started_at = now
        private_folder(os.path.join(self.folder, OWN))
        write_atomic(settings, words)  # a helper that was started with others ends when it reads them
        argv = self._confined((sys.executable, "-P", "-m", "nobrakes.fleet.gateway", self.folder))
        with open(os.path.join(self.folder, LOG), "ab") as log:
            log.truncate(0)
            subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                env={"PATH": self._environment.get("PATH", os.defpath), "LANG": "C.UTF-8"},
                start_new_session=True,
            )
        return ""

    def why_not(self) -> str:
        """Why the helper cannot start here; empty: nothing is known to be missing."""
        config = self._config()
        if missing := extras.missing("fleet"):
            return missing
        if wrong := file_troubles(config.fleet):
            return wrong[0]
        trouble = "" if config.sandbox.mode == "none" else self._sandbox_trouble()
        return f"the program that talks to the nodes runs only in a sandbox, and {trouble}" if trouble else ""

    def _answers(self) -> bool:
        try:
            parcel.connected(os.path.join(self.folder, LINE)).close()
        except OSError:
            return False
        return True

    def _confined(self, argv: Argv) -> Argv:
        """Without home, repository and network, but the scheduler's address. It can write one folder, in which no other
        program writes: else a link in there could lead that program elsewhere."""
        settings = self._config()
        if settings.sandbox.mode == "none":
            return argv
        fleet = settings.fleet
        closure = Closure(
            os.path.join(self.folder, OWN),
            system_paths.machine(self._environment),
            hidden=(self._paths.root,),
            inner=(self.folder,),
            read=tuple(path for path in (PACKAGE, fleet.ca, fleet.certificate, fleet.key) if path),
            network="provider",
            hosts=_addresses(fleet.scheduler),
        )
        return self._confine(argv, closure)

    def drain(self, name: str, is_drained: bool) -> None:
        """Give the node no new work, or work again. Raises UsageError for an unknown node."""
        before = set(drained(self.folder))
        some = sorted({one.name for one in self.look(ANSWER_SECONDS).nodes} | before)
        if name not in some:
            raise UsageError(f"there is no node '{name[:100]}'", f"Known nodes: {', '.join(some) or 'none'}")
        others = before - {name}
        names = sorted(others | {name}) if is_drained else sorted(others)
        private_folder(self.folder)
        write_atomic(os.path.join(self.folder, DRAINED), json.dumps(names).encode())

    def troubles(self, found: Fleet, why: str) -> list[str]:
        """What people should know of the nodes, as they were known last. `why`: why nothing starts there."""
        if found.is_complete:  # else a helper that began just now, or a new node, would be news each time
            refused = [f"the node {one.name} gets no work: {one.why}" for one in found.nodes if one.why]
            self._troubles = [why, *refused] if why else refused
        return self._troubles


def reach_trouble(settings: "FleetSettings") -> str:
    """Why the scheduler's address does not answer a connection with the TLS files; empty: it does."""
    kind, _, address = settings.scheduler.partition("://")
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _REACH_SECONDS) as line:
            if kind == "tls":
                import ssl  # only the doctor asks, and only for nodes

                context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                context.check_hostname = False  # as Dask does: the certificate authority is the cluster's own
                context.load_verify_locations(settings.ca)
                context.load_cert_chain(settings.certificate, settings.key)
                line = context.wrap_socket(line)
            return "" if line.recv(1) else "the connection was closed"  # Dask speaks first
    except (OSError, ValueError) as error:
        return str(error)[:300]
    return ""


def _addresses(scheduler: str) -> tuple[str, ...]:
    """The scheduler's `name:port`, and its present addresses, which need not be public."""
    host, _, port = scheduler.partition("://")[2].rpartition(":")
    try:
        found = {str(one[4][0]) for one in socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)}
    except OSError:
        found = set()
    return tuple(dict.fromkeys((f"{host}:{port}", *(f"{one}:{port}" for one in sorted(found) if ":" not in one))))
