"""Hearing that a file of a folder was written to: from the system where it tells, else by looking every second."""

import os
import threading
from collections.abc import Callable
from typing import Any

from .watching import POLL


class Changes:
    """Calls `changed`, from a thread of its own, after files whose names begin with `prefix` were written to."""

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
        """Hear no more."""
        self._over.set()
        if self._observer is not None:
            self._observer.stop()
            self._observer = None
