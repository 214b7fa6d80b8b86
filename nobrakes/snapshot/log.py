"""The log of changes since the tracked snapshot, so that a lost database loses no command of a person.

1. After each transaction that changed the plan, its process appends the changes to beads.since.jsonl in one write. Only
   `attach` binds a store to its file.
2. Everything since the file's last mark is written, whoever made it: what a killed process missed follows with the next
   one, at the latest when a store is opened.
3. Lines are in order: the file is locked before the database is read.
4. The database counts: an unwritable file is reported, nothing is undone, and the next process retries.
5. A snapshot on main shortens the file.
6. A file with unknown changes is later than the database: they are restored (snapshot.service), and the file continues
   with the result.
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import NobrakesError, StoreBroken, StoreBusy
from ..events.kinds import Changes, Position, last_mark
from ..files import storage_errors, write_atomic
from ..paths import Paths

if TYPE_CHECKING:
    from ..git.port import Git
    from ..store import Store


TAIL = 4096
TIMEOUT_SECONDS = 30.0
FAR = 1000
"""Events without changes after which a new mark is due."""


def settle(paths: Paths) -> None:
    """On return the file is on disk. Raises DiskFull, MachineShort."""
    with storage_errors(paths.since), suppress(FileNotFoundError):
        descriptor = os.open(paths.since, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def shorten(store: "Store", paths: Paths, upto: Position) -> None:
    """Drop everything up to this position, which the snapshot holds; what has no place there stays."""
    with storage_errors(paths.since), locked(paths.since) as descriptor:
        later, missed = store.changes(upto), store.changes(mark(descriptor))
        attempts = () if missed.restarted else missed.attempts
        kept = replace(later, escalations=store.escalations_as_filed(), settings=settings(store), attempts=attempts)
        write_atomic(paths.since, _attempt_lines(descriptor) + written_lines(kept))


def _attempt_lines(descriptor: int) -> bytes:
    from .beads_jsonl import BEGIN

    begin = b"\n" + BEGIN.encode()
    text = b"\n" + os.pread(descriptor, os.fstat(descriptor).st_size, 0)
    rests = (rest.partition(b"\n") for rest in text.split(begin)[1:])
    return b"".join(begin[1:] + line + b"\n" for line in dict.fromkeys(line for line, end, _ in rests if end))


def settings(store: "Store") -> dict[str, str]:
    from ..daemon.service.control import LIMITS, PAUSED
    from ..review.queue import SETTING

    return {key: value for key in (PAUSED, LIMITS, SETTING) if (value := store.setting(key)) is not None}


def has_to_be_written(changes: "Changes", after: Position) -> bool:
    """A mark alone also counts, so that long logs of agents are not reread."""
    return bool(changes) or changes.upto.seq - after.seq > FAR


def written_lines(changes: "Changes") -> bytes:
    from . import beads_jsonl

    return beads_jsonl.lines(changes)


def append(descriptor: int, content: bytes) -> None:
    """All or nothing, as far as the disk allows; a torn end first gets its line end."""
    if (size := os.fstat(descriptor).st_size) and os.pread(descriptor, 1, size - 1) != b"\n":
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
    """The file, created if missing, opened for appending and locked."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            if _take(descriptor, path):
                yield descriptor
                return
        finally:
            os.close(descriptor)
        if time.monotonic() > deadline:
            raise StoreBusy(f"another process has kept {path} locked for {TIMEOUT_SECONDS:.0f} seconds")
        time.sleep(0.002)


def _take(descriptor: int, path: str) -> bool:
    """Whether we hold the lock of the file with this name, which may have been replaced."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except (BlockingIOError, FileNotFoundError):
        return False


def mark_of(path: str) -> Position:
    """A missing or unreadable file counts as empty; the next writer reports it."""
    try:
        with open(path, "rb") as file:
            return mark(file.fileno())
    except OSError:
        return Position()


def mark(descriptor: int) -> Position:
    """The file's last mark: nothing is missing up to it."""
    if not (size := os.fstat(descriptor).st_size):
        return Position()
    for length in (TAIL, size):
        tail = os.pread(descriptor, length, max(0, size - length)).decode("utf-8", "replace")
        if (found := last_mark(tail)) is not None:
            return found
    return Position()


PAGE = 5000
"""Events at a time, each page with a mark, so that memory stays bounded."""


def attach(store: "Store", paths: Paths, say: Callable[[str], None], git: "Callable[[], Git] | None" = None) -> None:
    """Keep the file current with this store and repair both. `say`: restored data, troubles; `git`: only to restore."""
    said: list[str] = []

    def follow() -> None:
        try:
            back = keep_up(store, paths, git)
            said.clear()
            if back:
                say(back)
        except (NobrakesError, OSError) as error:
            text = f"changes are only in the database, not in {paths.since}: {error}. The next change adds all."
            if text not in said:
                said.append(text)
                say(text)

    try:
        place = mark_of(paths.since)
        behind = has_to_be_written(store.changes(place, PAGE), place)
    except StoreBroken:
        return  # whoever asks this store next hears it from the store itself
    if behind:
        follow()
    store.tell(follow, lambda: settle(paths))


def keep_up(store: "Store", paths: Paths, git: "Callable[[], Git] | None" = None) -> str:
    """Append changes since the file's last mark; returns what was restored. DiskFull, StoreReadOnly, StoreBusy."""
    with storage_errors(paths.since), locked(paths.since) as descriptor:
        place = mark(descriptor)
        changes = store.changes(place, PAGE)
        if not has_to_be_written(changes, place):
            return ""
        back = ""
        if changes.restarted:
            from .service import bring_back  # hardly any write needs it, and it asks git

            back = bring_back(store, paths, git() if git is not None else None, place)
            changes = store.changes(Position(), PAGE)
        append(descriptor, written_lines(changes))
        while changes.more:
            changes = store.changes(changes.upto, PAGE)
            append(descriptor, written_lines(changes))
        return back
