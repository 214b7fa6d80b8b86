"""The daemon in the background: started, asked to end, handed over. Its lock says whether there is one."""

import signal
import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...decisions.blockers import BACKGROUND
from ...errors import DaemonNotRunning, NobrakesError
from ...host import locks, proctable
from ...host.locks import holder
from ...host.runs.trees import send
from ...machine.place import OVERRIDE
from ...paths import Paths, process_environment
from ...text.cleaning import count

if TYPE_CHECKING:
    from ...store import Store


WANTED = "daemon_wanted"
"""The setting that says since when a person wants a daemon in the background, until they stop it."""


POLL_SECONDS = 0.02


STARTING_SECONDS = 20.0
"""So long a daemon may take until it works."""


OF_AGENTS = "NOBRAKES_"
"""Variables that begin so belong to an agent or to a daemon before this one."""


def running(paths: Paths) -> int | None:
    """The pid of the repository's daemon; None: there is none."""
    return holder(paths.lock)


def is_wanted(store: "Store") -> bool:
    """Whether a person started a daemon in the background and did not stop it since."""
    return store.setting(WANTED) is not None


def start(paths: Paths, store: "Store", wait: float = STARTING_SECONDS) -> int:
    """Start a daemon and wait at most `wait` seconds until it works; its pid. DaemonRunning, DaemonNotRunning.

    A person wants it from now on: the watchdog starts it again (daemon.deciders). One that fails to start is as wanted
    as it was before.
    """
    before = store.setting(WANTED)
    store.set_setting(WANTED, repr(store.now()))
    try:
        return _started(paths, wait)
    except NobrakesError:
        if holder(paths.lock) is None:
            store.set_setting(WANTED, before)
        raise


def start_again(paths: Paths, store: "Store") -> int | None:
    """`start` for the watchdog; None: a person stopped it meanwhile, and it does not work. DaemonNotRunning."""
    pid = _started(paths, STARTING_SECONDS)
    if is_wanted(store):
        return pid
    locks.stop_daemon(paths.lock, STARTING_SECONDS, paths.daemon_log)
    return None


def _started(paths: Paths, wait: float) -> int:
    return locks.start_daemon(
        [sys.executable, "-P", "-m", "nobrakes", "daemon", "run"],
        log=paths.daemon_log,
        lock=paths.lock,
        cwd=paths.root,
        env=_environment(),
        timeout=wait,
    )


def _environment() -> Mapping[str, str]:
    return {
        key: value for key, value in process_environment().items() if key == OVERRIDE or not key.startswith(OF_AGENTS)
    }


def stop_daemon(paths: Paths, store: "Store", wait: float) -> tuple[int, str]:
    """End the daemon in order, its agents too, and wait at most `wait` seconds; its pid, and what it left running.

    DaemonNotRunning; then it is not missed any more either (decisions.blockers). The watchdog starts it no more.
    """
    store.set_setting(WANTED, None)  # before it ends: whoever looks then finds that it is not wanted
    if holder(paths.lock) is None and store.setting(BACKGROUND) is not None:
        dead = store.setting(BACKGROUND)
        store.set_setting(BACKGROUND, None)
        raise DaemonNotRunning(
            f"the daemon (process {dead}) was dead already; it is not missed any more",
            "`nobrakes run` or `nobrakes daemon start` takes up what it left.",
        )
    return locks.stop_daemon(paths.lock, wait, paths.daemon_log)


def restart(paths: Paths, store: "Store", wait: float) -> int:
    """A new daemon in the old one's place, whose agents go on meanwhile; the new pid. As by `start` it is wanted."""
    pid = holder(paths.lock)
    process = proctable.look(pid) if pid is not None else None
    if process is not None and holder(paths.lock) == process.pid and send(process, signal.SIGUSR1):
        deadline = time.monotonic() + wait
        while holder(paths.lock) == process.pid:
            if time.monotonic() > deadline:
                raise NobrakesError(
                    f"the daemon (process {process.pid}) has not handed over within {count(round(wait), 'second')}",
                    "It may be ending a step that must not be cut; try again.",
                )
            time.sleep(POLL_SECONDS)
    return start(paths, store, wait)
