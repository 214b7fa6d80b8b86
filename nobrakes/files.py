"""Files that are nobrakes' own, private and whole or not there, and files that agents or checks wrote.

Waiting for one descriptor, whatever its number: `select` refuses those from 1024 on.
"""

import contextlib
import errno
import io
import math
import os
import select
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from .errors import DiskFull, MachineShort, RepositoryReplaced, StoreReadOnly
from .paths import Paths
from .walking import FAULTS, below, state_parts, within

LEFT = "left running: "
"""Prefix of the line about work left by a stop."""
_MAX_MILLISECONDS = 2**31 - 1
"""Limit of `poll`: 24 days; longer waits ask again."""


def is_readable(descriptor: int, seconds: float | None) -> bool:
    """Whether it has data or is closed within so many seconds; None: unlimited."""
    watched = select.poll()
    watched.register(descriptor, select.POLLIN)
    return bool(watched.poll(None if seconds is None else math.ceil(max(0.0, min(seconds * 1000, _MAX_MILLISECONDS)))))


@contextmanager
def plain_file(folder: int, name: str, since: float) -> Iterator[BinaryIO | None]:
    """The plain file (walking.within); None: none is written since then. Uses ctime, which no program can set."""
    file = within(folder, name)
    if file is None:
        yield None
        return
    with file:
        yield file if os.fstat(file.fileno()).st_ctime >= since else None


def poke(folder: str, name: str) -> None:
    """Wake the daemon that watches `folder`; a missing folder means none."""
    with contextlib.suppress(OSError):  # a poke that fails costs the daemon's patience, never the caller's work
        descriptor = os.open(os.path.join(folder, name), os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, b"\n")
        finally:
            os.close(descriptor)


def wake(paths: Paths) -> None:
    poke(paths.wake, "person")


# Folders are 0700 and files 0600, since logs and prompts may hold what only the human should see. A full disk and a
# machine short of files, processes or memory are told as such.
SHORT = FAULTS | {errno.EAGAIN}
_NO_THREAD = "can't start new thread"


class InPlace:
    """Files and folders that must not be replaced; a missing one is handled elsewhere."""

    def __init__(self, *paths: str) -> None:
        self._known = {path: found for path in paths if (found := _identity(path)) is not None}

    def __call__(self) -> None:
        """Raises RepositoryReplaced."""
        for path, known in self._known.items():
            if _identity(path) not in (known, None):
                raise RepositoryReplaced(
                    f"{path} is not the folder in which this daemon started: somebody moved or restored the "
                    "repository, and another folder is in its place"
                )


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


@contextmanager
def storage_errors(path: str) -> Iterator[None]:
    """Convert disk errors to DiskFull, StoreReadOnly and MachineShort, naming `path`."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(f"no space is left to write {path}") from error
        if error.errno == errno.EFBIG:
            raise DiskFull(f"a limit on the size of files (`ulimit -f`) is reached: {path}") from error
        if error.errno in SHORT:
            raise MachineShort(f"{error.strerror}: {error.filename or path}") from error
        if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
            raise StoreReadOnly(f"{path} cannot be written: {error.strerror}") from error
        raise
    except MemoryError as error:
        raise MachineShort("no memory is left") from error
    except RuntimeError as error:
        if _NO_THREAD not in str(error):
            raise
        raise MachineShort("no thread can be started: a limit on processes (`ulimit -u`), or no memory") from error


def private_folder(path: str) -> bool:
    """Make the folder (0700) and its parents; whether it is new. Raises DiskFull, StoreReadOnly."""
    with storage_errors(path):
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            return False
        except FileNotFoundError:
            private_folder(os.path.dirname(path))  # Python's makedirs gives the mode to the last folder alone
            os.mkdir(path, 0o700)
        return True


TRACKED = frozenset((".gitattributes", ".gitignore", "config.toml", "beads.jsonl", "roles", "skills"))
"""Files of .nobrakes that git tracks, with modes of its own."""
ATTRIBUTES = b".gitignore ident\n"
IGNORED = b"""\
# Tracked by git: the settings, the graph, and what you change about roles and skills. Everything else stays here.
/*
!/.gitattributes
!/.gitignore
!/config.toml
!/beads.jsonl
!/roles/
!/skills/
# `git sparse-checkout` removes a folder outside of its cone that has no file which is not ignored. So one is not, but
# only where this file is not checked out: git reads its own form of the next line there (`ident` in .gitattributes).
!/keeps-this-folder-$Id: nobrakes $
"""
IGNORED_BEFORE = b"".join(IGNORED.partition(b"!/skills/\n")[:2]).replace(b"!/.gitattributes\n", b"")
_IS_RETAINED = b"!/keeps-this-folder-$Id: "
KEEPER = "keeps-this-folder-$Id$"
"""The file that makes git keep .nobrakes in a sparse checkout."""


def for_git(folder: str) -> dict[str, bytes]:
    """Tracked files of .nobrakes beside the graph: name -> content as git stores it."""
    import re  # rarely needed here

    found = {}
    for name in (".gitattributes", ".gitignore", "config.toml"):
        path = os.path.join(folder, name)
        is_linked = name != "config.toml" and os.path.islink(path)  # a person may link the settings
        if os.path.isfile(path) and not is_linked:
            with open(path, "rb") as file:
                found[name] = re.sub(rb"\$Id:[^$\n]*\$", b"$Id$", file.read()) if name == ".gitignore" else file.read()
    return found


def _keep_from_git(folder: str) -> None:
    """Write the keeper file, unless git would show it as a change."""
    said = read_tail(os.path.join(folder, ".gitignore"), 64_000)
    if said and _IS_RETAINED not in said:  # where it is not checked out, git reads main's
        return
    with contextlib.suppress(OSError), open(os.path.join(folder, KEEPER), "xb") as file:
        file.write(b"git sparse-checkout leaves .nobrakes where it is as long as this file is here.\n")


def keep_private(folder: str, depth: int = 1) -> None:
    """Close `depth` levels of .nobrakes to others, whatever the umask: our untracked files, no links (see doctor)."""
    _keep_from_git(folder)
    _close(folder)
    for entry in _entries(folder):
        if entry.name not in TRACKED:
            _keep(entry, depth - 1)


def open_to_others(folder: str) -> list[str]:
    """Paths of .nobrakes, one level down, that other accounts may read or write."""
    found = [folder, *(entry.path for entry in _entries(folder) if entry.name not in TRACKED)]
    return [path for path in found if not os.path.islink(path) and stat.S_IMODE(os.lstat(path).st_mode) & 0o077]


def _entries(folder: str) -> "list[os.DirEntry[str]]":
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _keep(entry: "os.DirEntry[str]", depth: int) -> None:
    if entry.is_symlink():
        return
    _close(entry.path)
    if depth > 0 and entry.is_dir(follow_symlinks=False):
        for inside in _entries(entry.path):
            _keep(inside, depth - 1)


def _close(path: str) -> None:
    with contextlib.suppress(OSError):
        found = os.lstat(path)
        mode = stat.S_IMODE(found.st_mode)
        # a folder that somebody closed to us as well is opened again: nothing could go on
        wanted = 0o700 if stat.S_ISDIR(found.st_mode) else mode & 0o700
        if mode & 0o777 != wanted and found.st_uid == os.geteuid() and not stat.S_ISLNK(found.st_mode):
            os.chmod(path, wanted)


def write_private(path: str, content: bytes) -> None:
    """Raises DiskFull, StoreReadOnly."""
    with storage_errors(path):
        # where an agent put a link or a pipe in its place, it is not written
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
        with open(descriptor, "wb") as file:
            file.write(content)


def write_atomic(path: str, content: bytes, mode: int | None = 0o600) -> None:
    """Readers see the old or the new file, also after a power loss, and nothing is left of one half.

    `mode`: None for what the person's umask gives. Raises DiskFull, StoreReadOnly.
    """
    temporary = f"{path}.{os.getpid()}.new"
    with storage_errors(path):
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, mode or 0o666)
        try:
            with open(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                if mode is not None:
                    os.fchmod(file.fileno(), mode)
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
        folder = os.open(os.path.dirname(path) or ".", os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def read_tail(path: str, limit: int) -> bytes:
    """The end of a plain file; b"" if it is missing or something else."""
    with below(*state_parts(path)) or io.BytesIO() as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - limit))
        return file.read(limit)
