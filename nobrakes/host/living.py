"""Whether a daemon lives, for daemons of other repositories: a file that it keeps locked, which the kernel lets go.

1. The lock is on the open file, held by that process alone (its children do not inherit it): however it dies, it is
   free at once. No time is waited for and no pid is believed.
2. The file is locked before it has its name, so a file that is seen unlocked is a dead daemon's, and goes.
3. Asking takes a shared lock for a moment, which no other question minds; a daemon never locks a file that is seen.
"""

import contextlib
import errno
import fcntl
import os
import secrets

from .files import private_folder, storage_errors

_ENDING = ".lock"


class Living:
    """This process, alive in `folder` under a name of its own, until it is closed or dies."""

    def __init__(self, folder: str) -> None:
        private_folder(folder)
        self.name = secrets.token_hex(12)
        self.path = os.path.join(folder, self.name + _ENDING)
        with storage_errors(folder):
            self._descriptor = self._locked(f"{self.path}.new")

    def _locked(self, temporary: str) -> int:
        while True:
            descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            try:
                os.rename(temporary, self.path)
            except FileNotFoundError:  # somebody swept it away before it was locked
                os.close(descriptor)
                continue
            return descriptor

    def is_seen(self) -> bool:
        """Whether the file that others look at is still ours."""
        try:
            return os.path.samestat(os.fstat(self._descriptor), os.stat(self.path))
        except OSError:
            return False

    def close(self) -> None:
        """Live no more."""
        with contextlib.suppress(OSError):
            os.unlink(self.path)
        os.close(self._descriptor)


def lives(folder: str, name: str) -> bool:
    """Whether the daemon of this name lives."""
    return _is_locked(os.path.join(folder, name + _ENDING))


def _is_locked(path: str) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError as error:
        return error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)  # what cannot be looked at may live
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def sweep(folder: str) -> None:
    """Remove what daemons left that were killed."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            if not _is_locked(entry.path):
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)
