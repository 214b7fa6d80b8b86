"""The file beside the tracked snapshot (beads.since.jsonl): read to its last mark, appended to, made short.

1. Lines stand in the order of what they say: the file is locked before the database is read.
2. What is appended is there whole or not at all.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from ...core.errors import StoreBusy
from ...host.files import storage_errors, write_atomic
from ...interop.marks import last_mark
from ...paths import Paths
from ...ports.store import Position, Store

if TYPE_CHECKING:
    from ...ports.store import Changes

TAIL = 4096
"""Bytes at the end of the file in which its last mark is looked for first."""
PATIENCE_SECONDS = 30.0
FAR = 1000
"""So many events that changed nothing after the last mark, and a new one is due."""


def settle(paths: Paths) -> None:
    """The file is on the disk when this returns. DiskFull, MachineShort."""
    with storage_errors(paths.since), suppress(FileNotFoundError):
        descriptor = os.open(paths.since, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def shorten(store: Store, paths: Paths, upto: Position) -> None:
    """Drop from the file what the snapshot holds: all up to this position. What has no place in a snapshot stays."""
    with storage_errors(paths.since), locked(paths.since) as descriptor:
        later, missed = store.changes(upto), store.changes(mark(descriptor))
        attempts = () if missed.restarted else missed.attempts
        kept = replace(later, escalations=store.escalations_as_filed(), settings=settings(store), attempts=attempts)
        write_atomic(paths.since, _of_attempts(descriptor) + written_lines(kept))


def _of_attempts(descriptor: int) -> bytes:
    """The file's lines of ended attempts, as they stand."""
    from ...interop.ended import BEGIN

    begin = b"\n" + BEGIN.encode()
    text = b"\n" + os.pread(descriptor, os.fstat(descriptor).st_size, 0)
    rests = (rest.partition(b"\n") for rest in text.split(begin)[1:])
    return b"".join(begin[1:] + line + b"\n" for line in dict.fromkeys(line for line, end, _ in rests if end))


def settings(store: Store) -> dict[str, str]:
    """What people have set."""
    from ...core.review.quarantine import SETTING
    from ..control import LIMITS, PAUSED

    return {key: value for key in (PAUSED, LIMITS, SETTING) if (value := store.setting(key)) is not None}


def has_to_be_written(changes: "Changes", after: Position) -> bool:
    """A mark alone is written too, so that nobody reads a long log of agents again and again."""
    return bool(changes) or changes.upto.seq - after.seq > FAR


def written_lines(changes: "Changes") -> bytes:
    """The changes as the file has them."""
    from ...interop import since

    return since.lines(changes).encode()


def append(descriptor: int, content: bytes) -> None:
    """All of it or nothing, as far as the disk lets us; a torn end of before gets its line end first."""
    size = os.fstat(descriptor).st_size
    if size and os.pread(descriptor, 1, size - 1) != b"\n":
        content = b"\n" + content
    written = 0
    try:
        while written < len(content):
            written += os.write(descriptor, content[written:])
    except OSError:
        os.ftruncate(descriptor, size)
        raise


@contextmanager
def locked(path: str) -> Iterator[int]:
    """The file, opened to append and locked; made when it is missing."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            if _take(descriptor, path):
                yield descriptor
                return
        finally:
            os.close(descriptor)
        if time.monotonic() > deadline:
            raise StoreBusy(f"another process has kept {path} locked for {PATIENCE_SECONDS:.0f} seconds")
        time.sleep(0.002)


def _take(descriptor: int, path: str) -> bool:
    """Whether the lock is ours, on the file that bears the name: it may have been replaced meanwhile."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except (BlockingIOError, FileNotFoundError):
        return False


def mark_of(path: str) -> Position:
    """As far as it can be read: where it is missing all is missing, and whoever then has to write tells of trouble."""
    try:
        with open(path, "rb") as file:
            return mark(file.fileno())
    except OSError:
        return Position()


def mark(descriptor: int) -> Position:
    """The file's last mark: up to there nothing is missing."""
    size = os.fstat(descriptor).st_size
    if not size:
        return Position()
    for length in (TAIL, size):
        tail = os.pread(descriptor, length, max(0, size - length)).decode("utf-8", "replace")
        found = last_mark(tail)
        if found is not None:
            return found
    return Position()
