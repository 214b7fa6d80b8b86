"""Linux's inotify as it is: one descriptor for any number of folders, which its caller sleeps on itself.

watchdog has a thread for each folder and hands an event on through three more; where a file is renamed inside a folder
it may hold that back for half a second. Four agents' channels cost four threads and four events a word with it, and
here no thread and one wake-up.
"""

import ctypes
import os
import struct
from typing import Any

CLOSE_WRITE = 0x8
MOVED_TO = 0x80
CREATE = 0x100
DELETE_SELF = 0x400
MOVE_SELF = 0x800
UNMOUNT = 0x2000
OVERFLOW = 0x4000
IGNORED = 0x8000
"""The kernel has let go of the folder: it is gone, or it was asked to."""
_ONLYDIR = 0x1000000
_DONT_FOLLOW = 0x2000000
_HEAD = struct.Struct("iIII")
_MOST = 65536


class Inotify:
    """An instance of inotify. OSError where the system has none left to give, or has none at all."""

    def __init__(self) -> None:
        try:
            self._libc: Any = ctypes.CDLL(None, use_errno=True)
            make: Any = self._libc.inotify_init1
        except (OSError, AttributeError) as error:
            raise OSError(f"this system has no inotify: {error}") from None
        self.descriptor: int = make(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.descriptor < 0:
            raise _error("inotify")

    def add(self, folder: str, events: int) -> int:
        """Watch the folder itself, no link in its place and nothing below it; the number of the watch. OSError."""
        mask = ctypes.c_uint32(events | _ONLYDIR | _DONT_FOLLOW)
        watch: int = self._libc.inotify_add_watch(self.descriptor, os.fsencode(folder), mask)
        if watch < 0:
            raise _error(folder)
        return watch

    def remove(self, watch: int) -> None:
        """Watch it no more; one that has gone is none."""
        self._libc.inotify_rm_watch(self.descriptor, watch)

    def read(self) -> list[tuple[int, int, str]]:
        """(watch, events, name) of what has happened; nothing is waited for. A watch of -1 with OVERFLOW: more did."""
        try:
            data = os.read(self.descriptor, _MOST)
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
        """Give it back."""
        os.close(self.descriptor)


def _error(what: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number), what)
