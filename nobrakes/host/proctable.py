"""What the operating system says about processes. Linux: /proc; elsewhere: the `ps` command (host.proctable).

1. A process is a pid together with the time it started: a pid alone may have been given away again.
2. Whoever cannot be read (gone, or somebody else's) is not there.
"""

import contextlib
import ctypes
import os
import resource
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..environ import process_environment
from ..errors import NoAnswer
from ..globs import matches
from ..paths import own_path
from ..walking import Beyond, folder_below, of_state, walk
from .files import is_readable, plain_file, storage_errors

# One process, as the tables of this machine show it.

LINUX = sys.platform.startswith("linux")

DEAD = ("Z", "X", "x")
"""States of processes that have ended and only wait to be collected."""


@cache
def boot() -> str:
    """The id of this boot; start times are absolute where there is none."""
    if not LINUX:
        return "ps"
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


@dataclass(frozen=True, slots=True)
class Process:
    """One process. `started` is in clock ticks since boot on Linux, else in seconds since 1970."""

    pid: int
    parent: int
    session: int
    state: str
    started: int
    cpu: int = 0  # ticks used by it and by its children that ended

    @property
    def running(self) -> bool:
        """Whether it still lives; a zombie does not."""
        return self.state not in DEAD

    @property
    def mark(self) -> str:
        """Its identity beside the pid, as kept in Born.mark and Run.born."""
        return f"{boot()}:{self.started}"


_KERNEL_THREAD = 0x00200000

EXEC = 0.5
"""Seconds that a process may take to become another program, on a machine that is very busy."""


def ended_mark() -> str:
    """The mark of a process of this boot that had ended before anybody looked."""
    return f"{boot()}:0"


def started_of(mark: str) -> int | None:
    """The start time in a mark; None when it speaks of another boot, so that nothing of it can live."""
    booted, _, started = mark.rpartition(":")
    return int(started) if booted == boot() and started.isdigit() else None


def _stat(pid: int) -> list[bytes]:
    """The words of /proc/<pid>/stat from the state on; empty when there is no such process."""
    try:
        line = _read(f"/proc/{pid}/stat")
    except OSError:
        return []
    # the name in parentheses is the program's own choice and may hold spaces and parentheses
    return line[line.rfind(b")") + 2 :].split()


def look(pid: int) -> Process | None:
    """One process; None: there is none."""
    if not LINUX:
        return ps_look(pid)
    words = _stat(pid)
    if len(words) < 20 or int(words[6]) & _KERNEL_THREAD:
        return None
    cpu = int(words[11]) + int(words[12]) + int(words[13]) + int(words[14])
    return Process(pid, int(words[1]), int(words[3]), words[0].decode("ascii", "replace"), int(words[19]), cpu)


def everything() -> dict[int, Process]:
    """Every process by pid."""
    if not LINUX:
        return ps_everything()
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            process = look(int(name))
            if process is not None:
                found[process.pid] = process
    return found


def below(pid: int, without: Container[int] = (), since: int = 0) -> dict[int, Process]:
    """The descendants of a process by pid, except for some of its children and what is below those.

    `since`: the same for all that were started before this, in the unit of start times.
    """
    found: dict[int, Process] = {}
    # the kernel's list may miss one while others are just ending, so it has to say the same twice
    first, again = children(pid), children(pid)
    while set(first) != set(again):
        first, again = again, children(pid)
    left = [child for child in again if child not in without]
    while left:
        child = left.pop()
        process = look(child)
        if process is not None and child not in found and process.started >= since:
            found[child] = process
            left.extend(children(child))
    return found


def _nul_list(path: str) -> list[bytes]:
    try:
        return _read(path).split(b"\0")
    except OSError:
        return []


def environment(pid: int) -> list[bytes]:
    """The NAME=value entries that the process was started with; empty when they cannot be read."""
    if not LINUX:
        return ps_environment(pid)
    path = f"/proc/{pid}/environ"
    deadline = time.monotonic() + EXEC
    while (entries := _nul_list(path)) == [b""]:
        words = _stat(pid)
        if len(words) <= 47 or words[0].decode() in DEAD or time.monotonic() > deadline:
            break
        if words[47] != b"0":
            return _nul_list(path)
        # in the middle of exec, or of its exit, a process has no environment for a moment: its address is 0 then
        time.sleep(0.0005)
    return entries


def arguments(pid: int) -> list[str]:
    """The process's argv; empty when it cannot be read, or where only `ps` could tell."""
    return [os.fsdecode(word) for word in _nul_list(f"/proc/{pid}/cmdline")] if LINUX else []


def outputs(pid: int) -> list[str]:
    """The files that its output and its errors go to, where Linux tells."""
    found = []
    for name in ("1", "2") if LINUX else ():
        try:
            found.append(os.readlink(f"/proc/{pid}/fd/{name}"))
        except OSError:
            continue
    return found


def bears_mark(pid: int) -> bool:
    """Whether it descends from what this process started as a run (forkserver.bear_mark), where Linux tells."""
    own, other = _queues("self"), _queues(str(pid))
    return own is not None and other is not None and own != other


def _queues(pid: str) -> bytes | None:
    """The hard limit of message queues."""
    try:
        lines = _read(f"/proc/{pid}/limits").splitlines() if LINUX else []
    except OSError:
        return None
    return next((line.split()[4] for line in lines if line.startswith(b"Max msgqueue size")), None)


def children(pid: int) -> list[int]:
    """The pids of its children now. Some may be missing while others are just ending."""
    if not LINUX:
        return [process.pid for process in everything().values() if process.parent == pid]
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            found.extend(map(int, _read(f"/proc/{pid}/task/{thread}/children").split()))
    except OSError:
        return found
    return found


def _read(path: str) -> bytes:
    """A file of /proc whole, without what Python's files cost."""
    parts = []
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        while part := os.read(descriptor, 65536):
            parts.append(part)
    finally:
        os.close(descriptor)
    return b"".join(parts)


# The process table where there is no /proc, read from the `ps` command. Slow: 5 ms a call.
#
# 1. Start times have a resolution of one second: a pid that is reused within its first second is not told apart.
# 2. A process may hide its environment from `ps`; then only its session and its parents show where it belongs.

SECONDS = 30.0
_COLUMNS = "pid=,ppid=,stat=,lstart="


def _ps(*arguments: str) -> list[str]:
    try:
        done = subprocess.run(
            ["ps", *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={**process_environment(), "LC_ALL": "C", "PATH": own_path(os.getcwd())},
            check=False,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise NoAnswer(f"`ps` did not answer in {SECONDS:g} seconds") from None
    return done.stdout.decode("utf-8", "replace").splitlines()


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return 0


def _parse(line: str) -> Process:
    pid, parent, state, *date = line.split()
    started = int(time.mktime(time.strptime(" ".join(date), "%a %b %d %H:%M:%S %Y")))
    return Process(int(pid), int(parent), _session(int(pid)), state[0], started)


def ps_look(pid: int) -> Process | None:
    """One process; None: there is none."""
    lines = _ps("-o", _COLUMNS, "-p", str(pid))
    return _parse(lines[0]) if lines else None


def ps_everything() -> dict[int, Process]:
    """Every process by pid."""
    processes = (_parse(line) for line in _ps("-A", "-o", _COLUMNS))
    return {process.pid: process for process in processes}


def resident(pids: Sequence[int]) -> int:
    """Bytes of memory that these processes hold."""
    found = (line.strip() for line in _ps("-o", "rss=", "-p", ",".join(map(str, pids))))
    return sum(int(word) for word in found if word.isdigit()) * 1024


def ps_environment(pid: int) -> list[bytes]:
    """The words of its command line and environment; a value with a space in it comes in pieces."""
    return [word.encode() for line in _ps("-E", "-ww", "-o", "command=", "-p", str(pid)) for word in line.split()]


# The memory that a process and all that it started hold now: resident pages, as `ps` counts them.
#
# What several of them share is counted for each. What a run detached is still below its wrapper, which adopts it.


def held_mb(pid: int | None, mark: str) -> int | None:
    """MB held by the process that was started with this mark, and by what is below it; None: it does not live."""
    process = look(pid) if pid else None
    if process is None or not process.running or process.mark != mark:
        return None
    return resident_mb([process.pid, *below(process.pid)])


def resident_mb(pids: Sequence[int]) -> int:
    """MB held by these processes together."""
    if not LINUX:
        return round(resident(pids) / 2**20)
    return round(_resident(pids) / 2**20)


def _resident(pids: Sequence[int]) -> int:
    pages = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/statm", "rb") as file:
                pages += int(file.read().split()[1])
        except (OSError, IndexError):
            continue  # it has just ended
    return pages * resource.getpagesize()


# Sleeping until there is something to do: the daemon watches one small folder and nothing else.
#
# 1. Whoever wants the daemon touches a file there (`poke`); a signal handler calls `Waker.set`, which is safe in one.
# 2. The files are removed when they were seen. A touch between looking and sleeping is never lost: it left a byte in
# the pipe that the sleep waits on.

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


# Hearing that a file of a folder was written to: from the system where it tells, else by looking every second.


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


# What agent CLIs append to files of their own while they work, read on from where it was read before.
#
# 1. The files lie where an agent may write: no link is followed, only plain files are read, and nothing is waited for.
# 2. How many names are looked at, and how much is read in one look, is bounded.

MOST_ENTRIES = 10_000
"""Names below a folder that are looked at."""


def appended(folder: str, glob: str, since: float, paths: Mapping[str, int], limit: int) -> dict[str, bytes]:
    """By path, what the files below `folder` hold from their places on: those that the glob matches, and that were
    written at `since` or later. Together `limit` bytes at most.
    """
    found: dict[str, bytes] = {}
    top = folder_below(*of_state(folder))
    if top is None:
        return found  # not made yet, gone, or something else
    try:
        with contextlib.suppress(Beyond):  # more than we look at
            _walk(top, folder, glob, since, paths, limit, found)
    finally:
        os.close(top)
    return found


def _walk(
    top: int, folder: str, glob: str, since: float, paths: Mapping[str, int], limit: int, found: dict[str, bytes]
) -> None:
    left = limit
    for path, descriptor, _, names in walk(top, MOST_ENTRIES):
        for name in names:
            inner = os.path.join(path, name)
            whole = os.path.join(folder, inner)
            if left > 0 and matches(inner, (glob,)):
                found[whole] = _from(descriptor, name, since, paths.get(whole, 0), left)
                left -= len(found[whole])


def _from(folder: int, name: str, since: float, place: int, limit: int) -> bytes:
    with plain_file(folder, name, since) as file:
        if file is None:
            return b""
        file.seek(place)
        return file.read(limit)


# Linux's inotify as it is: one descriptor for any number of folders, which its caller sleeps on itself.
#
# watchdog has a thread for each folder and hands an event on through three more; where a file is renamed inside a
# folder it may hold that back for half a second. Four agents' channels cost four threads and four events a word with
# it, and here no thread and one wake-up.

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
