"""Sleeping until something is laid down in one of some folders, told by the system: one thread, one wake-up a word.

1. A folder is watched by itself and not with what is in it: who writes there may make as many folders as it likes.
2. What the system cannot watch (no inotify instance left, a folder that may not be read) is said by `watch`, and the
   caller looks by itself; it is tried again with the next call. One folder's trouble is no other's.
3. Of a folder that is not there the one above it is watched until it comes; that too is "look at everything".
4. A folder that is moved, removed or unmounted, and events that were too many, are told as "look at everything".
5. All but `wake` belongs to the thread that sleeps.
"""

import os
import select
from collections.abc import Container, Iterable
from contextlib import suppress

from ...paths import AGAIN
from ..system import inotify
from ..system.inotify import Inotify

_EVENTS = inotify.CLOSE_WRITE | inotify.MOVED_TO | inotify.DELETE_SELF | inotify.MOVE_SELF
_COMES = inotify.CREATE | inotify.MOVED_TO | inotify.DELETE_SELF | inotify.MOVE_SELF
_LOST = inotify.DELETE_SELF | inotify.MOVE_SELF | inotify.UNMOUNT | inotify.OVERFLOW | inotify.IGNORED


class Arrivals:
    """Says which of the watched folders something was written in or moved into."""

    def __init__(self) -> None:
        self.why_not = ""
        """Why something is not watched that is there, in the system's words; empty: nothing."""
        self.missing = False
        """Whether a folder that is to be watched is not there, and nobody would tell that it comes."""
        self._reading, self._writing = os.pipe()
        os.set_blocking(self._reading, False)
        os.set_blocking(self._writing, False)
        self._sleep = select.poll()
        self._sleep.register(self._reading, select.POLLIN)
        self._inotify: Inotify | None = None
        self._watches: dict[str, tuple[int, int]] = {}  # folder -> (inode, watch)
        self._folders: dict[int, str] = {}
        self._awaited: dict[int, str] = {}  # watch of the folder above -> folder that is not there
        self._deaf: set[str] = set()

    def wake(self) -> None:
        """End the sleep: everything is to be looked at. May be called from any thread."""
        with suppress(OSError):  # it is woken already, or closed
            os.write(self._writing, b"\n")

    def wait(self, seconds: float | None) -> set[str] | None:
        """The folders that something came to, of so many seconds (None: without end). None: look at everything."""
        ready = {number for number, _ in self._sleep.poll(None if seconds is None else max(0.0, seconds * 1000))}
        is_called = self._reading in ready
        if is_called:
            with suppress(BlockingIOError):
                while os.read(self._reading, 4096):
                    pass
        told: set[str] = set()
        if self._inotify is not None and self._inotify.descriptor in ready:
            for watch, events, name in self._inotify.read():
                if events & _LOST:
                    is_called = True
                    self._let_go(watch, is_gone=bool(events & inotify.IGNORED))
                elif watch in self._awaited:
                    is_called |= name == os.path.basename(self._awaited[watch])
                elif watch in self._folders and (name == AGAIN or not name.startswith(".")):
                    told.add(self._folders[watch])
        return None if is_called else told

    def watch(self, folders: Iterable[str]) -> set[str]:
        """Watch these folders and no others; those that are there and not watched. What came before is not told."""
        wanted = {folder: _identity(folder) for folder in folders}
        self._deaf &= wanted.keys()
        for folder, (identity, watch) in list(self._watches.items()):
            if wanted.get(folder) != identity:
                self._let_go(watch)
        self.why_not = ""
        there = {folder: identity for folder, identity in wanted.items() if identity}
        gone = wanted.keys() - there.keys()
        for watch, folder in list(self._awaited.items()):
            if folder not in gone:
                self._let_go(watch)
        awaited = {folder for folder in gone if self._awaits(folder, wanted)}  # each of them, also after a failure
        self.missing = len(awaited) < len(gone)
        new = {folder: identity for folder, identity in there.items() if folder not in self._watches}
        if new:
            try:
                self._begin(new)
            except OSError as error:
                self.why_not = error.strerror or str(error)
        return (there.keys() - self._watches.keys()) | self._deaf

    def distrust(self, folder: str) -> None:
        """Something came there and was not told: it counts as not watched from now on."""
        self._deaf.add(folder)

    def watched(self) -> set[str]:
        """The folders that are watched now."""
        return set(self._watches)

    def _opened(self) -> Inotify:
        """OSError: there is none."""
        if self._inotify is None:
            self._inotify = Inotify()
            self._sleep.register(self._inotify.descriptor, select.POLLIN)
        return self._inotify

    def _awaits(self, folder: str, wanted: Container[str]) -> bool:
        """Have the system tell when the folder comes; whether it will."""
        above = os.path.dirname(folder)
        if folder in self._awaited.values():
            return True
        if above in wanted:  # what is told of it is another question
            return False
        try:
            watch = self._opened().add(above, _COMES)
        except OSError:
            return False
        self._awaited[watch] = folder
        if _identity(folder):
            self.wake()  # it came meanwhile
        return True

    def _begin(self, folders: dict[str, int]) -> None:
        told = self._opened()
        for folder, identity in folders.items():
            try:
                watch = told.add(folder, _EVENTS)
            except OSError as error:
                self.why_not = error.strerror or str(error)
                continue
            if _identity(folder) != identity:  # another one came in its place meanwhile
                told.remove(watch)
                continue
            self._watches[folder] = identity, watch
            self._folders[watch] = folder

    def _let_go(self, watch: int, is_gone: bool = False) -> None:
        folder = self._folders.pop(watch, None)
        if folder is not None:
            del self._watches[folder]
        awaited = self._awaited.pop(watch, None)
        if (folder or awaited) is not None and not is_gone and self._inotify is not None:
            self._inotify.remove(watch)

    def close(self) -> None:
        """Watch nothing any more."""
        if self._inotify is not None:
            self._inotify.close()
        os.close(self._reading)
        writing, self._writing = self._writing, -1  # first: `wake` must not write to whatever gets the number next
        os.close(writing)


def _identity(folder: str) -> int:
    """The inode: a folder that was made anew is another one. 0: there is none."""
    try:
        return os.stat(folder, follow_symlinks=False).st_ino
    except OSError:
        return 0
