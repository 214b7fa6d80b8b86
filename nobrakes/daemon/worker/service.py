"""A daemon in its own process: one a repository, controlled by signals, woken by the wake folder.

1. The first TERM or INT stops agents in order (their work is kept, nothing counts), then the process ends.
2. The second ends the process at once; its agents live on and the next daemon takes them up.
3. USR1 does the latter immediately: `daemon restart` hands over so.
4. A daemon whose database was removed ends in order; one whose repository or database was replaced ends at once.
5. A stop ends in bounded time (host.command), extended only by grace_seconds. What exceeds its closing time is named.
6. A background daemon leaves a mark until somebody stops it: a missing daemon with a mark is dead, and people are told
   (decisions.blockers). A hand-over keeps it.
"""

import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType

from ...agents.worker import launch
from ...decisions.blockers import BACKGROUND, RUN_SINCE
from ...errors import RepositoryReplaced
from ...events.kinds import Event, Kind
from ...files import keep_private, private_folder
from ...host.command import StopLimit
from ...host.confine import Confinement, describe
from ...host.locks import DaemonLock
from ...host.port import Notice
from ...host.proctable import become_subreaper
from ...host.watching import Waker
from ...ports import Ports
from ...trash import Trash
from ..model import Board
from ..service.control import STOPPING
from . import loop
from .loop import Daemon, View

DEFAULT_GRACE_SECONDS = 10.0
"""Part of a stop's time for agents to end."""
SERVANT_SECONDS = 10.0
"""Seconds for the channel server and the watcher to end."""
JOBS_SECONDS = 120.0
"""Seconds for background work at a normal end; at a stop the stop's time applies."""
SWITCH_SECONDS = 0.0005
"""Maximal seconds one thread may hold up another; the default is ten times as long."""


class _Signals:
    """Requests from outside."""

    def __init__(self, waker: Waker, limit: StopLimit) -> None:
        self.asked = 0
        self.hands_over = False
        self._waker = waker
        self._limit = limit
        self._woken = -1
        self._before: dict[int, Callable[[int, FrameType | None], object] | int | None] = {}

    def __enter__(self) -> "_Signals":
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
            self._before[number] = signal.signal(number, self._heard)
        # the system may give a signal to any thread of ours, and that alone does not wake the one that sleeps
        self._woken = signal.set_wakeup_fd(self._waker.writing, warn_on_full_buffer=False)
        return self

    def __exit__(self, *_: object) -> None:
        signal.set_wakeup_fd(self._woken)
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _heard(self, number: int, _: FrameType | None) -> None:
        self.hands_over |= number == signal.SIGUSR1
        self.asked += 2 if number == signal.SIGUSR1 else 1
        self._limit.asked(at_once=self.asked >= 2)
        self._waker.set()


def serve(
    open_daemon: Callable[[], Daemon],
    view: View,
    *,
    until_idle: bool,
    ready: Callable[[], None] = lambda: None,
    is_background: bool = False,
) -> Board:
    """Hold the repository's lock and work until told to end or, with `until_idle`, until idle. Calls `ready` with the
    lock and after recovery, or after reporting what blocks it. Raises DaemonRunning."""
    sys.setswitchinterval(SWITCH_SECONDS)
    daemon = open_daemon()
    ports = daemon.ports
    store = ports.store
    confinement = Confinement(ports)
    why_not, nothing = confinement.why_not(), confinement.nothing()
    # known from the beginning: what hangs may be what the settings are read from
    longer = max(0.0, ports.limits().grace_seconds - DEFAULT_GRACE_SECONDS)
    with (
        StopLimit(longer) as limit,
        DaemonLock(ports.paths.lock),
        _temporary(ports.paths.temporary, Trash(ports.paths.trash)),
        Waker(ports.paths.wake) as waker,
        _Signals(waker, limit) as signals,
    ):
        become_subreaper()
        store.set_setting(STOPPING, None)
        if store.setting(RUN_SINCE) is None:  # else the one before was killed, and its run goes on
            store.set_setting(RUN_SINCE, repr(store.now()))
        store.set_setting(BACKGROUND, str(os.getpid()) if is_background else None)
        store.record(Event(Kind.DAEMON_STARTED, data={"pid": os.getpid()}))
        ports.notifier.tell(Notice(describe(why_not, nothing, ports.config().agents), urgent=bool(nothing)))
        if nothing:
            store.record(Event(Kind.UNCONFINED, data={"why": nothing}))
        launch.tell(ports)
        try:
            store.guard = ports.in_place  # so nothing of what fails in another repository is written down
            if not loop.recover(daemon, waker, ready, lambda: signals.asked > 0, until_idle):
                return store.board(ports.limits())
            ready()
            ports.channel.start()
            board = loop.run(daemon, waker, view, until_idle, partial(_should_end, signals, ports, waker, limit))
            if ports.states is not None:
                ports.states.require()
            return board
        except RepositoryReplaced:
            signals.asked = 2  # agents live on; whoever starts in the right place takes them up
            limit.asked(at_once=True)
            raise
        finally:
            store.guard = lambda: None  # what is told of its end
            with limit.part("notices that are being sent", SERVANT_SECONDS):
                daemon.sender.close(at_once=signals.asked >= 2)
            if ports.states is not None and signals.asked < 2:  # else the next daemon does it
                ports.states.begin(store.board(ports.limits()), "the last state")  # in the background work's time
            close(ports, waker, limit)  # while the lock is held: the next daemon finds nobody at work
            store.record(Event(Kind.DAEMON_STOPPED, data={"pid": os.getpid()}))
            ports.export()
            _forget_run(ports, signals)


def _forget_run(ports: Ports, signals: _Signals) -> None:
    store = ports.store
    if signals.asked < 2:
        store.set_setting(RUN_SINCE, None)
    if signals.asked:
        store.set_setting(STOPPING, None)
    if signals.asked and not signals.hands_over:
        store.set_setting(BACKGROUND, None)


def close(ports: Ports, waker: Waker, limit: StopLimit) -> None:
    """End the background work, each part in its time."""
    with limit.part("the channel, which answers agents", SERVANT_SECONDS):
        ports.channel.close()
    with limit.part("background work", JOBS_SECONDS):
        ports.background.close()
    with limit.part("limits shared with other repositories", SERVANT_SECONDS):
        ports.machine.close()
    with limit.part("the file watcher that wakes the daemon", SERVANT_SECONDS):
        waker.close_observer()


@contextmanager
def _temporary(folder: str, trash: Trash) -> Iterator[None]:
    """A private folder for temporary files: whoever writes them could impersonate the daemon."""
    trash.take(os.path.dirname(folder), folder)  # what a killed daemon left
    keep_private(os.path.dirname(folder), depth=2)
    private_folder(folder)
    tempfile.tempdir = folder
    try:
        yield
    finally:
        tempfile.tempdir = None


def _should_end(signals: _Signals, ports: Ports, waker: Waker, limit: StopLimit, board: Board) -> bool:
    """Whether to stop: by request, or since the repository is gone."""
    ports.in_place()
    if not signals.asked and not os.path.lexists(ports.paths.database):
        ports.notifier.tell(Notice("the database was removed: this daemon stops cleanly", urgent=True))
        signals.asked = 1
        limit.asked(at_once=False)
    if not signals.asked and ports.states is not None and (why := ports.states.lost()):
        ports.notifier.tell(Notice(f"{why}: this daemon stops cleanly, and nothing lands from here", urgent=True))
        signals.asked = 1
        limit.asked(at_once=False)
    if not signals.asked:
        return False
    if signals.asked >= 2:
        return True
    if not board.stopping:
        ports.store.set_setting(STOPPING, "1")
        waker.set()
        return False
    return not board.attempts and not board.all_runs and not board.talks
