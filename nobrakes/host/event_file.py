"""An append-only file of lines that one process at a time writes: opened safely, read from its end, never half-written.

1. No link is followed below the repository, nor at the file itself; what is no plain file with one name is refused.
2. A writer holds the file's lock. What was torn off at the end, by a kill or a full disk, is cut away by the next one.
3. A file that holds anything but such lines is somebody else's, and is not touched.
"""

import errno
import fcntl
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..core.errors import NotAllowed
from .files import storage_errors

BLOCK = 65536
BEGIN = b'{"ts":'
"""How each line begins."""
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
HINT = "Choose another file: the setting `events.export`, or --export."


class EventFile:
    """The open, locked file."""

    def __init__(self, descriptor: int, path: str) -> None:
        self._descriptor = descriptor
        self.path = path
        self._settle()
        self.is_new = not os.fstat(descriptor).st_size

    def _settle(self) -> None:
        """Cut away a torn line; NotAllowed where what is there is not ours."""
        size = os.fstat(self._descriptor).st_size
        torn = next(self._backwards(size, whole=False), b"")
        ours = torn.startswith(BEGIN) or BEGIN.startswith(torn) or not torn.strip(b"\0")
        last = next(self.lines_back(), BEGIN)
        if not (ours and last.startswith(BEGIN)):
            raise NotAllowed(f"{self.path} holds something else than events: nothing was written to it", HINT)
        if torn:
            os.ftruncate(self._descriptor, size - len(torn))

    def lines_back(self) -> Iterator[bytes]:
        """The whole lines from the last one to the first."""
        lines = self._backwards(os.fstat(self._descriptor).st_size, whole=True)
        next(lines, None)  # what stands after the last line end
        yield from lines

    def _backwards(self, size: int, whole: bool) -> Iterator[bytes]:
        """The pieces between line ends, last first; the first piece is what stands after the last line end."""
        rest = b""
        while size:
            start = max(0, size - BLOCK)
            pieces = (os.pread(self._descriptor, size - start, start) + rest).split(b"\n")
            yield from reversed(pieces[1:])
            rest, size = pieces[0], start
        yield rest

    def append(self, content: bytes) -> None:
        """All of it, or what a kill left of it; where it cannot be written, the file is as it was."""
        size = os.fstat(self._descriptor).st_size
        written = 0
        try:
            while written < len(content):
                written += os.write(self._descriptor, content[written:])
        except OSError:
            os.ftruncate(self._descriptor, size)
            raise

    def mark(self) -> tuple[int, int, int]:
        """What changes with the file."""
        found = os.fstat(self._descriptor)
        return found.st_dev, found.st_ino, found.st_size


def mark_of(path: str) -> tuple[int, int, int] | None:
    """As `EventFile.mark`, of what the path names; None: nothing."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size


@contextmanager
def opened(root: str, path: str, refuses: Callable[[str], str]) -> Iterator[EventFile | None]:
    """The file, locked; None: another process writes it just now. NotAllowed, DiskFull, StoreReadOnly.

    A relative path is one of `root`. `refuses` says what is wrong with where a folder really is.
    """
    with storage_errors(path):
        descriptor = _open(root, path, refuses)
        try:
            _require_plain(descriptor, path)
            yield EventFile(descriptor, path) if _locked(descriptor, os.path.join(root, path)) else None
        finally:
            os.close(descriptor)


def _open(root: str, path: str, refuses: Callable[[str], str]) -> int:
    """The file by its folder, in which no link is followed where it lies in the repository."""
    whole = os.path.normpath(os.path.join(root, path))
    base = os.path.realpath(root)
    start = next((one for one in (os.path.normpath(root), base) if whole.startswith(f"{one}/")), None)
    if start is not None:
        folders = os.path.relpath(os.path.dirname(whole), start).split("/")
        real = os.path.join(base, *folders)
    else:
        folders, base = [], os.path.realpath(os.path.dirname(whole))
        real = base
    wrong = refuses(os.path.join(os.path.normpath(real), os.path.basename(whole))) or _of_git(os.path.normpath(real))
    if wrong:
        raise NotAllowed(f"no events are written to {path}: it {wrong}", HINT)
    held = -1
    try:
        held = os.open(base, _FOLDER)
        for folder in (one for one in folders if one != "."):
            held, before = os.open(folder, _FOLDER | os.O_NOFOLLOW, dir_fd=held), held
            os.close(before)
        return os.open(os.path.basename(whole), _FLAGS, 0o600, dir_fd=held)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        raise NotAllowed(f"no events are written to {path}: {error.strerror}", f"Make the folder. {HINT}") from None
    except OSError as error:
        if error.errno not in _LINK:
            raise
        raise NotAllowed(f"no events are written to {path}: a link or a pipe stands in its place", HINT) from None
    finally:
        if held >= 0:
            os.close(held)


_LINK = frozenset((errno.ELOOP, errno.ENXIO))
"""A link, or a pipe that nobody reads."""


def _of_git(folder: str) -> str:
    """Whether the folder lies in a repository's own folder that is called otherwise: a bare one."""
    while folder != os.path.dirname(folder):
        if os.path.isfile(os.path.join(folder, "HEAD")) and os.path.isdir(os.path.join(folder, "objects")):
            return "lies inside of git's own folder"
        folder = os.path.dirname(folder)
    return ""


def _require_plain(descriptor: int, path: str) -> None:
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        raise NotAllowed(f"no events are written to {path}: it is no plain file with one name", HINT)


def _locked(descriptor: int, path: str) -> bool:
    """Whether the lock is ours, on the file that bears the name."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except (BlockingIOError, FileNotFoundError):
        return False
