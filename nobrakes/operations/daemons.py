"""The daemon in the background: started, asked to end, handed over. Its lock says whether there is one."""

import os
import signal
import sys
import time
from collections.abc import Mapping

from ..core.errors import NobrakesError
from ..host import daemonise
from ..host.locks import holder
from ..host.runs.run_tree import send
from ..host.system import proctable
from ..paths import Places

POLL_SECONDS = 0.02
OF_AGENTS = "NOBRAKES_"
"""Variables that begin so belong to an agent or to a daemon before this one."""


def running(places: Places) -> int | None:
    """The pid of the repository's daemon; None: there is none."""
    return holder(places.lock)


def start(places: Places, wait: float) -> int:
    """Start a daemon and wait at most `wait` seconds until it works; its pid. DaemonRunning, DaemonNotRunning."""
    return daemonise.start_daemon(
        [sys.executable, "-m", "nobrakes", "daemon", "run"],
        log=places.daemon_log,
        lock=places.lock,
        cwd=places.root,
        env=_environment(),
        timeout=wait,
    )


def _environment() -> Mapping[str, str]:
    return {key: value for key, value in os.environ.items() if not key.startswith(OF_AGENTS)}


def stop(places: Places, wait: float) -> tuple[int, str]:
    """End the daemon in order, its agents too, and wait at most `wait` seconds; its pid, and what it left running.

    DaemonNotRunning.
    """
    return daemonise.stop_daemon(places.lock, wait, places.daemon_log)


def restart(places: Places, wait: float) -> int:
    """A new daemon in the old one's place, whose agents go on meanwhile; the new pid."""
    pid = holder(places.lock)
    process = proctable.look(pid) if pid is not None else None
    if process is not None and holder(places.lock) == process.pid and send(process, signal.SIGUSR1):
        deadline = time.monotonic() + wait
        while holder(places.lock) == process.pid:
            if time.monotonic() > deadline:
                raise NobrakesError(
                    f"the daemon (process {process.pid}) has not handed over within {wait:.0f} seconds",
                    "It may be ending a step that must not be cut; try again.",
                )
            time.sleep(POLL_SECONDS)
    return start(places, wait)
