"""Files that appear in some folders, told by the system: one watch a folder, none below it.

1. A folder is watched by itself and not with what is in it: who writes there may make as many folders as it likes.
2. Where the system cannot watch (no more inotify instances, no such folder), `watch` says so, and the caller looks.
"""

import os
from collections.abc import Callable, Iterable
from typing import Any


class Arrivals:
    """Calls `tell`, from a thread of its own, when a file was written in or moved into a watched folder."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell = tell
        self._observer: Any = None
        self._watches: dict[str, tuple[int, Any]] = {}
        self._broken = False

    def watch(self, folders: Iterable[str]) -> bool:
        """Watch these folders and no others; whether every one of them is watched."""
        wanted = {folder: _identity(folder) for folder in folders}
        for folder, (identity, watch) in list(self._watches.items()):
            if wanted.get(folder) != identity:
                del self._watches[folder]
                self._forget(watch)
        new = {folder: identity for folder, identity in wanted.items() if identity and folder not in self._watches}
        if new and not self._broken:
            self._begin(new)
        return all(folder in self._watches for folder in wanted)

    def _begin(self, folders: dict[str, int]) -> None:
        from watchdog.events import FileClosedEvent, FileCreatedEvent, FileMovedEvent, FileSystemEventHandler
        from watchdog.observers import Observer

        arrivals = self

        class Handler(FileSystemEventHandler):
            def on_any_event(self, event: object) -> None:
                arrivals._tell()

        try:
            if self._observer is None:
                self._observer = Observer()
                self._observer.start()
            for folder, identity in folders.items():
                kinds = [FileClosedEvent, FileCreatedEvent, FileMovedEvent]
                self._watches[folder] = identity, self._observer.schedule(Handler(), folder, event_filter=kinds)
            self._tell()  # what came before the watch
        except OSError:
            self._broken = True  # too many watches, or a system without them: the caller looks from now on

    def _forget(self, watch: object) -> None:
        try:
            self._observer.unschedule(watch)
        except (KeyError, OSError):
            return  # it ended by itself when its folder was removed

    def close(self) -> None:
        """Watch nothing any more."""
        if self._observer is not None:
            self._observer.stop()
            self._observer.join()


def _identity(folder: str) -> int:
    """The inode: a folder that was made anew is another one. 0: there is none."""
    try:
        return os.stat(folder, follow_symlinks=False).st_ino
    except OSError:
        return 0
