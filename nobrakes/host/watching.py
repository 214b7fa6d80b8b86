"""Sleeping until there is something to do, and noticing written files.

1. The daemon sleeps on one small folder: whoever wants it touches a file there (`poke`); signal handlers call
   `Waker.set`, which is safe there.
2. Seen files are removed. A touch between looking and sleeping is not lost: it left a byte in the pipe.
"""

import builtins
import contextlib
import os
import struct
import sys
import threading
import time
from collections.abc import Callable, Mapping, Set
from typing import Any

from ..files import is_readable, plain_file, storage_errors
from ..globs import matches
from ..walking import Beyond, folder_below, state_parts, walk

POLL = 1.0


class Waker:
    """Wakes when a file appears in the folder; a context manager."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._reading, self.writing = os.pipe()
        os.set_blocking(self._reading, False)
        os.set_blocking(self.writing, False)
        self._observer: Any = None
        self.polling = False
        self._names: builtins.set[str] | None = None  # not known yet what was written before
        self._watch()

    def _watch(self) -> None:
        from watchdog.events import (
            FileClosedEvent,
            FileCreatedEvent,
            FileModifiedEvent,
            FileMovedEvent,
            FileSystemEvent,
            FileSystemEventHandler,
        )
        from watchdog.observers import Observer

        waker = self

        class Handler(FileSystemEventHandler):
            def on_any_event(self, event: FileSystemEvent) -> None:
                waker.set()

        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        # one event a touch where the system tells of the end of a write
        kinds = [FileClosedEvent] if sys.platform == "linux" else [FileCreatedEvent, FileModifiedEvent, FileMovedEvent]
        try:
            self._observer = Observer()
            self._observer.schedule(Handler(), self.folder, event_filter=kinds)
            self._observer.start()
            self.polling = False
        except OSError as error:
            self._observer = None
            self.polling = True
            print(
                f"warning: {self.folder} cannot be watched ({error.strerror or error}); looking every second instead. "
                "On Linux, a higher fs.inotify.max_user_instances and max_user_watches helps.",
                file=sys.stderr,
                flush=True,
            )

    def set(self) -> None:
        """Callable from signal handlers and any thread."""
        with contextlib.suppress(BlockingIOError):  # the pipe is full of wake-ups already
            os.write(self.writing, b"\n")

    def wait(self, timeout: float | None) -> bool:
        """True: something happened; False: timeout; None sleeps without limit."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            if self._consume():
                return True
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            nap = left if not self.polling else POLL if left is None else min(POLL, left)
            is_readable(self._reading, nap)
            if left is not None and nap == left:
                return self._consume()

    def _consume(self) -> bool:
        """Empty the pipe, then remove the wake files; whether there was anything. In this order nothing is lost."""
        called = False
        with contextlib.suppress(BlockingIOError):
            while os.read(self._reading, 4096):
                called = True
        try:
            names = [entry.name for entry in os.scandir(self.folder) if not entry.is_dir(follow_symlinks=False)]
        except FileNotFoundError:
            self.close_observer()
            self._watch()  # somebody removed the folder, and the watch with it
            self._names = None
            return True
        if self._names is not None:
            self._names.update(names)
        for name in names:
            path = os.path.join(self.folder, name)
            with storage_errors(path), contextlib.suppress(FileNotFoundError):
                os.unlink(path)
        return called or bool(names)

    def taken(self) -> Set[str] | None:
        """The names of the files since the last call, which are taken as read; None: some may be unknown."""
        self._consume()
        names, self._names = self._names, builtins.set()
        return names

    def close_observer(self) -> None:
        if self._observer is not None:
            self._observer.stop()
            self._observer.join()
            self._observer = None

    def close(self) -> None:
        self.close_observer()
        os.close(self._reading)
        os.close(self.writing)

    def __enter__(self) -> "Waker":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Changes:
    """Calls `changed`, in its own thread, after writes to files with this prefix."""

    def __init__(self, folder: str, prefix: str, changed: Callable[[], None]) -> None:
        from watchdog.events import FileModifiedEvent, FileSystemEvent, FileSystemEventHandler
        from watchdog.observers import Observer

        class Handler(FileSystemEventHandler):
            def on_any_event(self, event: FileSystemEvent) -> None:
                if os.path.basename(os.fsdecode(event.src_path)).startswith(prefix):
                    changed()

        self._over = threading.Event()
        self._observer: Any = None
        try:
            self._observer = Observer()
            self._observer.schedule(Handler(), folder, event_filter=[FileModifiedEvent])
            self._observer.start()
        except OSError:  # the system has no watch left
            self._observer = None
            threading.Thread(target=self._poll, args=(changed,), daemon=True, name=f"look at {folder}").start()

    def _poll(self, changed: Callable[[], None]) -> None:
        while not self._over.wait(POLL):
            changed()

    def close(self) -> None:
        self._over.set()
        if self._observer is not None:
            self._observer.stop()
            self._observer = None


MAX_ENTRIES = 10_000


# The files lie where an agent may write: no link is followed, only plain files are read, and names and bytes are
# bounded.
def appended(folder: str, glob: str, since: float, paths: Mapping[str, int], limit: int) -> dict[str, bytes]:
    """By path, new content from `paths` on of files below `folder` that match the glob and were written since; together
    at most `limit` bytes."""
    found: dict[str, bytes] = {}
    top = folder_below(*state_parts(folder))
    if top is None:
        return found  # not made yet, gone, or something else
    try:
        with contextlib.suppress(Beyond):  # more than we look at
            left = limit
            for path, descriptor, _, names in walk(top, MAX_ENTRIES):
                for name in names:
                    inner = os.path.join(path, name)
                    whole = os.path.join(folder, inner)
                    if left > 0 and matches(inner, (glob,)):
                        found[whole] = _from(descriptor, name, since, paths.get(whole, 0), left)
                        left -= len(found[whole])
    finally:
        os.close(top)
    return found


def _from(folder: int, name: str, since: float, place: int, limit: int) -> bytes:
    with plain_file(folder, name, since) as file:
        if file is None:
            return b""
        file.seek(place)
        return file.read(limit)


CLOSE_WRITE = 0x8
MOVED_TO = 0x80
CREATE = 0x100
DELETE_SELF = 0x400
MOVE_SELF = 0x800
UNMOUNT = 0x2000
OVERFLOW = 0x4000
IGNORED = 0x8000
"""The kernel dropped the watch: the folder is gone, or by request."""
_ONLYDIR = 0x1000000
_DONT_FOLLOW = 0x2000000
_HEAD = struct.Struct("iIII")
_MAX_BYTES = 65536


# watchdog has a thread for each folder and hands an event on through three more, and may hold a renaming back for half
# a second. Here is one descriptor for any number of folders, no thread and one wake-up.
class Inotify:
    """Raises OSError if the system has no inotify left or at all."""

    def __init__(self) -> None:
        import ctypes

        try:
            self._libc: Any = ctypes.CDLL(None, use_errno=True)
            make: Any = self._libc.inotify_init1
        except (OSError, AttributeError) as error:
            raise OSError(f"this system has no inotify: {error}") from None
        self.descriptor: int = make(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.descriptor < 0:
            raise _error("inotify")

    def add(self, folder: str, events: int) -> int:
        """Watch only the folder itself, not a link's target; returns the watch's number. Raises OSError."""
        from ctypes import c_uint32

        mask = c_uint32(events | _ONLYDIR | _DONT_FOLLOW)
        watch: int = self._libc.inotify_add_watch(self.descriptor, os.fsencode(folder), mask)
        if watch < 0:
            raise _error(folder)
        return watch

    def remove(self, watch: int) -> None:
        self._libc.inotify_rm_watch(self.descriptor, watch)

    def read(self) -> list[tuple[int, int, str]]:
        """(watch, events, name) without waiting. A watch of -1 with OVERFLOW: events were lost."""
        try:
            data = os.read(self.descriptor, _MAX_BYTES)
        except BlockingIOError:
            return []
        found, place = [], 0
        while place < len(data):
            watch, events, _, size = _HEAD.unpack_from(data, place)
            place += _HEAD.size
            found.append((watch, events, os.fsdecode(data[place : place + size].rstrip(b"\0"))))
            place += size
        return found

    def close(self) -> None:
        os.close(self.descriptor)


def _error(what: str) -> OSError:
    from ctypes import get_errno

    number = get_errno()
    return OSError(number, os.strerror(number), what)
