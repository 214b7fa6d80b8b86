"""One daemon a repository: a lock that the kernel takes back when its holder dies, however it dies.

1. The file stays for ever; only the lock on it counts. It holds the pid and the start mark of the holder.
2. Asking who holds it takes no lock, so that a question can never keep a daemon from starting.
"""

import fcntl
import os

from ..core.errors import DaemonRunning
from .files import private_folder, storage_errors
from .system import proctable


class DaemonLock:
    """The lock file at `path`. Children do not inherit it."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Take it. DaemonRunning names the holder."""
        private_folder(os.path.dirname(self.path))
        with storage_errors(self.path):
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            pid = holder(self.path)
            raise DaemonRunning(
                "a daemon already works in this repository" + (f" (process {pid})" if pid else "")
            ) from None
        me = proctable.look(os.getpid())
        with storage_errors(self.path):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()} {me.mark if me else proctable.ended_mark()}\n".encode(), 0)
        self._descriptor = descriptor

    def release(self) -> None:
        """Give it back; nothing happens when it is not held."""
        if self._descriptor is not None:
            os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> "DaemonLock":
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def holder(path: str) -> int | None:
    """The pid of the living daemon that holds the lock; None: there is none."""
    try:
        with open(path, encoding="ascii") as file:
            words = file.read().split()
    except FileNotFoundError:
        return None
    if len(words) != 2 or not words[0].isdigit():
        return None
    process = proctable.look(int(words[0]))
    return process.pid if process and process.running and process.mark == words[1] else None
