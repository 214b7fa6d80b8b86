"""Being told when a process ends that is not our child: one thread, asleep in the kernel until one of them does.

1. A help, and Linux only: whoever is not told finds out at its next look.
2. A process that has ended before it could be watched is told at once.
"""

import errno
import os
import select
import threading

from ..system import proctable
from ..system.process import Process
from ..watching import poke

MOST = 256
"""So many processes are watched at a time; of a larger tree, those that were looked at first."""


class Exits:
    """Touches a file in the wake folder when a process ends."""

    def __init__(self, wake_folder: str) -> None:
        self._wake = wake_folder
        self._watched: set[tuple[int, int]] = set()
        self._names: dict[int, tuple[tuple[int, int], str]] = {}
        self._sleeper: select.epoll | None = None

    def watch(self, process: Process, name: str) -> None:
        """Touch the file `name` when the process has ended; asked again, it is watched once."""
        key = (process.pid, process.started)
        if key in self._watched or len(self._watched) >= MOST or not hasattr(os, "pidfd_open"):
            return
        try:
            descriptor = os.pidfd_open(process.pid)
        except OSError as error:
            if error.errno == errno.ESRCH:
                poke(self._wake, name)
            return  # too many open files: the next look finds out
        now = proctable.look(process.pid)
        if now is None or now.started != process.started:
            os.close(descriptor)
            poke(self._wake, name)
            return
        self._watched.add(key)
        self._names[descriptor] = key, name
        if self._sleeper is None:
            self._sleeper = select.epoll()
            threading.Thread(target=self._await, args=(self._sleeper,), name="exits", daemon=True).start()
        self._sleeper.register(descriptor, select.EPOLLIN)

    def _await(self, sleeper: select.epoll) -> None:
        while True:
            for descriptor, _ in sleeper.poll():
                sleeper.unregister(descriptor)
                key, name = self._names.pop(descriptor)
                self._watched.discard(key)
                os.close(descriptor)
                poke(self._wake, name)
