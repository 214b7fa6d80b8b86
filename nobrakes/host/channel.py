"""Answers confined agents in a thread beside the loop, so that no slow step delays them; gives their runs logins.

1. A request is answered once in this process, by the thread or by the loop at a run's end.
2. What cannot be answered now (a full disk) waits, also for the next daemon.
3. Frequent callers take turns with others.
4. The system reports new requests (`Inboxes`), so silent agents cost nothing. If that fails, whoever waits repeats it
   (agents.service.client).
"""

import contextlib
import errno
import hashlib
import io
import itertools
import json
import os
import re
import select
import stat
import threading
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ..errors import NobrakesError
from ..files import private_folder, storage_errors, write_atomic, write_private
from ..paths import AGAIN
from ..trash import Trash
from ..walking import below, folder_below, state_parts
from . import watching
from .port import Login
from .watching import Inotify

_EVENTS = watching.CLOSE_WRITE | watching.MOVED_TO | watching.DELETE_SELF | watching.MOVE_SELF
_COMES = watching.CREATE | watching.MOVED_TO | watching.DELETE_SELF | watching.MOVE_SELF
_LOST = watching.DELETE_SELF | watching.MOVE_SELF | watching.UNMOUNT | watching.OVERFLOW | watching.IGNORED


# A folder is watched by itself and not with what is in it; of one that is not there the one above it is watched until
# it comes. What cannot be watched is said by `watch`, and tried again with the next call. Moved or removed folders and
# too many events are told as "look at everything". All but `wake` belongs to the thread that sleeps.
class Inboxes:
    """Reports writes and moves into the watched folders."""

    def __init__(self) -> None:
        self.why_not = ""
        """Why an existing folder is not watched; empty: all are."""
        self.missing = False
        """Whether a folder is missing whose creation would not be reported."""
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
        """End the sleep, to inspect everything. Callable from any thread."""
        with suppress(OSError):  # it is woken already, or closed
            os.write(self._writing, b"\n")

    def wait(self, seconds: float | None) -> set[str] | None:
        """The folders with news within so many seconds (None: unlimited); None: inspect everything."""
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
                    self._let_go(watch, is_gone=bool(events & watching.IGNORED))
                elif watch in self._awaited:
                    is_called |= name == os.path.basename(self._awaited[watch])
                elif watch in self._folders and (name == AGAIN or not name.startswith(".")):
                    told.add(self._folders[watch])
        return None if is_called else told

    def watch(self, folders: Iterable[str]) -> set[str]:
        """Watch only these folders; returns those that exist unwatched. Earlier events are not reported."""
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
        """An event there went unreported: it counts as unwatched."""
        self._deaf.add(folder)

    def watched(self) -> set[str]:
        return set(self._watches)

    def _opened(self) -> Inotify:
        if self._inotify is None:
            self._inotify = Inotify()
            self._sleep.register(self._inotify.descriptor, select.POLLIN)
        return self._inotify

    def _awaits(self, folder: str, wanted: Container[str]) -> bool:
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
        if self._inotify is not None:
            self._inotify.close()
        os.close(self._reading)
        writing, self._writing = self._writing, -1  # first: `wake` must not write to whatever gets the number next
        os.close(writing)


def _identity(folder: str) -> int:
    """The inode identifies a recreated folder; 0: missing."""
    try:
        return os.stat(folder, follow_symlinks=False).st_ino
    except OSError:
        return 0


BUSY = 0.01
PAUSE = 0.1
MISSING = 0.5
QUIET = 5.0
"""Seconds between full inspections while requests are reported."""
TROUBLE = 0.5
NOISE = 50
"""Useless wake-ups allowed in QUIET seconds."""
AT_ONCE = 10
"""Requests of one run answered before another run's turn."""
MISSED_REQUEST = "the system did not report an agent's waiting request"


# Told of a door, it looks at that door alone; everything is looked at every QUIET seconds, since no event tells of a
# renewed login. A request that it finds then and was not told of is the last one: that door is looked at every PAUSE
# seconds from now on, and people are told once.
class ChannelPoller:
    """Serves the channels in one folder. `answer` returns the number of waiting requests of a run, after answering
    AT_ONCE."""

    def __init__(self, folder: str, answer: Callable[[str], int], tell: Callable[[str], None]) -> None:
        self._folder = folder
        self._answer = answer
        self._tell = tell
        self._said: set[str] = set()
        self.failed: dict[str, Exception] = {}
        """Unexpected errors by run; such a channel is no longer served."""
        self._inboxes = Inboxes()
        self._unwatched: set[str] = set()
        self._waiting: set[str] = set()  # who has more to say, or could not be answered
        self._due = self._busy_until = 0.0
        self._noise = 0
        self._has_more = self._has_trouble = False
        self.wake = self._inboxes.wake
        self.close = self._inboxes.close

    def attend(self, is_over: Callable[[], bool]) -> None:
        told: set[str] | None = None
        while not is_over():
            pause, late = self._look(told)
            told = late if late else self._inboxes.wait(pause)

    def _look(self, told: set[str] | None) -> tuple[float | None, set[str]]:
        now = time.monotonic()
        is_whole = told is None or now >= self._due or self._inboxes.missing or bool(self._unwatched)
        before = self._inboxes.watched()
        known = self._waiting | {os.path.basename(os.path.dirname(inbox)) for inbox in told or ()}
        runs = self._runs() if is_whole else sorted(known)
        answered = self._visit(runs)
        late: set[str] = set()
        if told is not None and is_whole:
            untold = {os.path.join(self._folder, run, "in") for run in answered if run not in known} & before
            late = self._check_missed(untold) if untold else late
        if not answered and not is_whole:
            self._noise += 1
            if self._noise > NOISE:
                time.sleep(BUSY)
        if answered and self._unwatched:
            self._busy_until = now + 1
        return self._pause(bool(runs) or not is_whole), late

    def _runs(self) -> list[str]:
        try:
            runs = sorted(os.listdir(self._folder))
        except FileNotFoundError:
            runs = []
        self._unwatched = self._inboxes.watch(os.path.join(self._folder, run, "in") for run in runs)
        self._due, self._noise = time.monotonic() + QUIET, 0
        if self._unwatched and self._inboxes.why_not:
            self._say(self._inboxes.why_not)
        return runs

    def _visit(self, runs: list[str]) -> set[str]:
        answered: set[str] = set()
        self._has_more = self._has_trouble = False
        self._waiting = set()
        for run in runs:
            if run in self.failed:
                continue
            try:
                found = self._answer(run)
            except (NobrakesError, OSError):  # the loop meets the same trouble and tells of it
                self._has_trouble = True
                self._waiting.add(run)
                continue
            except Exception as error:  # nobody else's door is kept closed by it
                self.failed[run] = error
                continue
            if found:
                answered.add(run)
            if found > AT_ONCE:
                self._has_more = True
                self._waiting.add(run)
        return answered

    def _check_missed(self, inboxes: set[str]) -> set[str]:
        told = self._inboxes.wait(0.0)
        if told is None:  # events were lost, and the system says so
            self._due = 0.0
            return set()
        for inbox in inboxes - told:
            self._inboxes.distrust(inbox)
            self._unwatched.add(inbox)
            self._say(MISSED_REQUEST)
        return told

    def _pause(self, has_channels: bool) -> float | None:
        now = time.monotonic()
        if self._has_more:
            return 0.0
        if self._has_trouble:
            return TROUBLE
        if self._unwatched:
            return BUSY if now < self._busy_until else PAUSE
        if self._inboxes.missing:
            return MISSING
        return max(0.0, self._due - now) if has_channels else None

    def _say(self, why: str) -> None:
        if why not in self._said:
            self._said.add(why)
            self._tell(
                f"the system cannot report requests of confined agents, so nobrakes polls requests every {PAUSE} s: "
                f"{why}. On Linux, higher values of fs.inotify.max_user_instances and max_user_watches help."
            )


LARGEST = 400_000
MAX_ENTRIES = 200
"""Entries inspected at once, and stored answers."""
_NAME = re.compile(r"[0-9a-f]{1,20}-[0-9]{1,10}-[0-9a-f]{1,16}\.json")


# The daemon's side of a door: what the agent left is bytes that may lie, and nothing is ever written where it may
# write. A request is removed after its answer is there: a daemon that is killed in between answers it again.
def requests(channel: str) -> list[tuple[str, bytes | None]]:
    try:
        with os.scandir(os.path.join(channel, "in")) as entries:
            some = [entry for entry in itertools.islice(entries, MAX_ENTRIES) if _NAME.fullmatch(entry.name)]
            names = sorted(entry.name for entry in some if entry.is_file(follow_symlinks=False))
    except OSError:
        return []
    return [(name, _read(os.path.join(channel, "in"), name)) for name in names]


def _read(folder: str, name: str) -> bytes | None:
    with below(*state_parts(os.path.join(folder, name))) or io.BytesIO() as file:
        # an unread giant costs nothing
        is_request = not isinstance(file, io.BytesIO) and os.fstat(file.fileno()).st_size < LARGEST
        return file.read(LARGEST) if is_request else None


def answer(channel: str, name: str, content: bytes) -> None:
    """Write the answer before removing the request."""
    out = os.path.join(channel, "out")
    with contextlib.suppress(FileNotFoundError):  # the run has ended, and nobody reads it
        # not written through to the disk: after a loss of power nobody waits for it
        write_private(os.path.join(out, ".new"), content)
        os.replace(os.path.join(out, ".new"), os.path.join(out, name))
        for old in sorted(os.listdir(out))[:-MAX_ENTRIES]:
            os.unlink(os.path.join(out, old))
    request = os.path.join(channel, "in", name)
    with contextlib.suppress(FileNotFoundError, IsADirectoryError):  # the agent took it away, or put something there
        try:
            os.unlink(request)
        except PermissionError:  # it locked its own folder
            os.chmod(os.path.dirname(request), 0o700)
            os.unlink(request)


LAST_WORDS = 50
"""Limit of final inspections of a dead run, while the daemon waits."""


class FolderChannelServer:
    """Serves the channels in one folder. `reply` answers a run (its name up to "-"), from two threads in turn."""

    def __init__(
        self,
        folder: str,
        trash: Trash,
        reply: Callable[[str, bytes | None], bytes],
        tell: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._folder = folder
        self._trash = trash
        self._logins = Logins(tell)
        self._reply = reply
        self._turn = threading.Lock()
        self._ended = threading.Event()
        self._keeper = ChannelPoller(folder, self._answer, tell)
        self._thread: threading.Thread | None = None
        self._told: set[str] = set()

    def start(self) -> None:
        self._thread = threading.Thread(
            target=self._keeper.attend, args=(self._ended.is_set,), name="channel-poller", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop; the next server answers what waits."""
        self._ended.set()
        self._keeper.wake()
        if self._thread is not None:
            self._thread.join()
        self._keeper.close()

    def begin(self, run: str, logins: Sequence[Login] = ()) -> str:
        """Make the run's channel, with copies of these logins; returns its folder. Raises DiskFull, StoreReadOnly."""
        channel = os.path.join(self._folder, run)
        for name in ("in", "out"):
            private_folder(os.path.join(channel, name))
        with self._turn:
            self._logins.give(channel, logins)
        self._keeper.wake()
        return channel

    def end(self, run: str) -> None:
        """Answer the dead run's last requests, then remove its channel. Raises DiskFull, StoreReadOnly."""
        channel = os.path.join(self._folder, run)
        if os.path.isdir(channel):
            try:
                for _ in range(0 if run in self._keeper.failed else LAST_WORDS):  # who floods it has been heard enough
                    if not self._answer(run):
                        break
            finally:
                with self._turn:
                    self._logins.look(channel, last=True)
                    self._trash.take(self._folder, channel)
        self._told.discard(run)
        self._keeper.failed.pop(run, None)

    def failed(self) -> Mapping[str, Exception]:
        """Each error is returned once."""
        found = {run: error for run, error in list(self._keeper.failed.items()) if run not in self._told}
        self._told |= found.keys()
        return found

    def _answer(self, run: str) -> int:
        owner = run.partition("-")[0]
        channel = os.path.join(self._folder, run)
        with self._turn:
            waiting = requests(channel) if owner.removeprefix("s").isdigit() else []
            for name, content in waiting[:AT_ONCE]:
                answer(channel, name, self._reply(owner, content))
            self._logins.look(channel)
        return len(waiting)


LOGINS_FILE = "logins.json"
LARGEST_LOGIN = 1_000_000
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Logins:
    """Copies logins to confined runs and synchronizes them. `tell` reports rejected copies. 1. A mount would break CLIs
    that replace the file on renewal. 2. The last change wins, but a change of the person's file always does; so a
    renewal spreads between two looks. 3. Copies are untrusted: no link is followed below `top`, and only a JSON object
    with the person's keys is accepted, only while the person is logged in. 4. A copy goes with its run."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._marks: dict[tuple[str, int], object] = {}

    def give(self, channel: str, logins: Sequence[Login]) -> None:
        """Write the copies of a run. Raises DiskFull, StoreReadOnly."""
        given = []
        for login in logins:
            if (content := _read_login(login.source)) is not None:
                folder = os.path.dirname(login.top)
                for part in ("", os.path.basename(login.top), *login.name.split("/")[:-1]):
                    folder = os.path.join(folder, part)
                    private_folder(folder.rstrip("/"))
                with storage_errors(login.top):
                    _put(login, content)
                given.append([*login, _digest(content)])
        if given:
            write_private(os.path.join(channel, LOGINS_FILE), json.dumps(given).encode())

    def look(self, channel: str, last: bool = False) -> None:
        """Synchronize changes; `last` removes the copies."""
        given = _given(channel)
        changed = False
        for number, (source, top, name, seen) in enumerate(given):
            login = Login(source, top, name)
            marks = (_mark(source), _mark(os.path.join(top, name)))
            if last or self._marks.get((channel, number)) != marks:
                self._marks[channel, number] = marks
                now = self._carried(login, seen, last)
                changed = changed or now != seen
                given[number][3] = now
            if last:
                self._marks.pop((channel, number), None)
                _remove(login)
        if changed and not last:
            write_private(os.path.join(channel, LOGINS_FILE), json.dumps(given).encode())

    def _carried(self, login: Login, seen: str, last: bool) -> str:
        human, copy = _read_login(login.source), _read_copy(login)
        if human is not None and _digest(human) != seen:
            if not last:
                _put(login, human)
            return _digest(human)
        if human is None or copy is None or _digest(copy) == seen:
            return seen
        why = _objection(human, copy)
        if not why:
            try:
                real = os.path.realpath(login.source)
                write_atomic(real, copy, stat.S_IMODE(os.stat(real).st_mode))
                return _digest(copy)
            except Exception as error:
                why = str(error)
        if last:
            self._tell(f"an agent changed its login, but nobrakes did not copy the change into {login.source}: {why}")
        return seen


def _given(channel: str) -> list[list[str]]:
    try:
        with open(os.path.join(channel, LOGINS_FILE), encoding="utf-8") as file:
            found: list[list[str]] = json.load(file)
            return found
    except FileNotFoundError:
        return []


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _mark(path: str) -> object:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    if stat.S_ISLNK(found.st_mode):
        with contextlib.suppress(OSError):
            found = os.stat(path)
    return found.st_ino, found.st_mtime_ns, found.st_size


def _objection(human: bytes, copy: bytes) -> str:
    """Why the copy is not a renewal of the person's login; empty: it is."""
    try:
        before, now = _object(human), _object(copy)
    except (ValueError, RecursionError):
        return "the new login is not JSON"
    missing = [key for key, value in before.items() if not isinstance(now.get(key), type(value))]
    return f"the new login lacks {', '.join(sorted(missing))[:100]} of the old login" if missing else ""


def _object(content: bytes) -> dict[str, Any]:
    found = json.loads(content)
    if not isinstance(found, dict):
        raise ValueError("no object")
    return found


def _read_login(path: str) -> bytes | None:
    """None: not a plain file of acceptable size, perhaps behind a link."""
    try:
        descriptor = os.open(path, _READ)
    except OSError:
        return None
    with open(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        return file.read(LARGEST_LOGIN) if stat.S_ISREG(found.st_mode) and found.st_size < LARGEST_LOGIN else None


@contextlib.contextmanager
def _folder(login: Login) -> Iterator[tuple[int, str]]:
    *parts, name = login.name.split("/")
    folder = folder_below(login.top, "/".join(parts))
    if folder is None:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), login.top)
    try:
        yield folder, name
    finally:
        os.close(folder)


def _read_copy(login: Login) -> bytes | None:
    with below(login.top, login.name) or io.BytesIO() as file:
        is_there = not isinstance(file, io.BytesIO) and os.fstat(file.fileno()).st_size < LARGEST_LOGIN
        return file.read(LARGEST_LOGIN) if is_there else None


def _put(login: Login, content: bytes) -> None:
    new = f".{os.urandom(8).hex()}"
    with _folder(login) as (folder, name):
        with open(os.open(new, _NEW, 0o600, dir_fd=folder), "wb") as file:
            file.write(content)
        os.rename(new, name, src_dir_fd=folder, dst_dir_fd=folder)


def _remove(login: Login) -> None:
    with contextlib.suppress(OSError), _folder(login) as (folder, name):
        os.unlink(name, dir_fd=folder)
