"""A daemon in a process of its own: one a repository, told by signals, woken by the wake folder.

1. The first TERM or INT stops agents in order (their work is kept, nothing counts), then the process ends.
2. The second one ends the process at once; its agents live on and the next daemon takes them up.
3. USR1 is the same as the second at once: that is how `daemon restart` hands over.
"""

import os
import signal
from collections.abc import Callable
from types import FrameType
from typing import Protocol

from ..core.board import Board
from ..core.events import Event, Kind
from ..host.locks import DaemonLock
from ..host.reaper import become_subreaper
from ..host.watching import Waker
from ..ports import Notice, Store
from ..sandbox import none as sandbox
from . import loop
from .loop import Daemon, View

STOPPING = "stopping"


class _Signals:
    """What the outside asked for."""

    def __init__(self, waker: Waker) -> None:
        self.asked = 0
        self._waker = waker
        self._before: dict[int, Callable[[int, FrameType | None], object] | int | None] = {}

    def __enter__(self) -> "_Signals":
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
            self._before[number] = signal.signal(number, self._heard)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _heard(self, number: int, _: FrameType | None) -> None:
        self.asked += 2 if number == signal.SIGUSR1 else 1
        self._waker.set()


class Opens(Protocol):
    """Makes the daemon once the lock is held."""

    def __call__(self) -> Daemon:
        """The daemon on its real doors."""
        ...


def serve(open_daemon: Opens, view: View, *, until_idle: bool, ready: Callable[[], None] = lambda: None) -> Board:
    """Hold the repository's lock and work until told to end or, with `until_idle`, until nothing is left to do.

    `ready` is called once when the daemon has the lock and has recovered. Raises DaemonRunning.
    """
    daemon = open_daemon()
    doors = daemon.doors
    store = doors.store
    with DaemonLock(doors.places.lock), Waker(doors.places.wake) as waker, _Signals(waker) as signals:
        become_subreaper()
        store.set_setting(STOPPING, None)
        store.record(Event(Kind.DAEMON_STARTED, data={"pid": os.getpid()}))
        doors.notifier.tell(Notice(sandbox.describe()))
        daemon.recover()
        ready()
        try:
            return loop.run(daemon, waker, view, until_idle, lambda board: _should_end(signals, store, waker, board))
        finally:
            store.record(Event(Kind.DAEMON_STOPPED, data={"pid": os.getpid()}))
            if signals.asked:
                store.set_setting(STOPPING, None)


def _should_end(signals: _Signals, store: Store, waker: Waker, board: Board) -> bool:
    if not signals.asked:
        return False
    if signals.asked >= 2:
        return True
    if not board.stopping:
        store.set_setting(STOPPING, "1")
        waker.set()
        return False
    return not board.attempts and not board.runs
