"""Sleeping until there is something to do: the daemon watches one small folder and nothing else.

1. Whoever wants the daemon touches a file there (`poke`); a signal handler calls `Waker.set`, which is safe in one.
2. The files are removed when they were seen. A touch between looking and sleeping is never lost: it left a byte in
   the pipe that the sleep waits on.
"""

import contextlib
import os
import sys
import time
from typing import Any

from .files import storage_errors
from .readable import is_readable

POLL = 1.0
"""Seconds between looks where the system cannot watch a folder."""


def poke(folder: str, name: str) -> None:
    """Wake the daemon that sleeps on `folder`, if there is one. A missing folder means there is none."""
    with contextlib.suppress(OSError):  # a poke that fails costs the daemon's patience, never the caller's work
        descriptor = os.open(os.path.join(folder, name), os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, b"\n")
        finally:
            os.close(descriptor)


class Waker:
    """Wakes when a file appears in the folder. Close it, or use it as a context."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._reading, self._writing = os.pipe()
        os.set_blocking(self._reading, False)
        os.set_blocking(self._writing, False)
        self._observer: Any = None
        self.polling = False
        self._watch()

    def _watch(self) -> None:
        """Make the folder and have the system tell us of new files in it."""
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
        """Wake the sleeper now. May be called from a signal handler and from any thread."""
        with contextlib.suppress(BlockingIOError):  # the pipe is full of wake-ups already
            os.write(self._writing, b"\n")

    def writing_end(self) -> int:
        """The descriptor on which any byte that is written wakes the sleeper."""
        return self._writing

    def wait(self, timeout: float | None) -> bool:
        """Sleep until something happened (True) or `timeout` seconds went by (False); None sleeps without end."""
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
            names = [entry.path for entry in os.scandir(self.folder) if not entry.is_dir(follow_symlinks=False)]
        except FileNotFoundError:
            self.close_observer()
            self._watch()  # somebody removed the folder, and the watch with it
            return True
        for name in names:
            with storage_errors(name), contextlib.suppress(FileNotFoundError):
                os.unlink(name)
        return called or bool(names)

    def close_observer(self) -> None:
        """Stop watching."""
        if self._observer is not None:
            self._observer.stop()
            self._observer.join()
            self._observer = None

    def close(self) -> None:
        """Stop watching and free the pipe."""
        self.close_observer()
        os.close(self._reading)
        os.close(self._writing)

    def __enter__(self) -> "Waker":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
