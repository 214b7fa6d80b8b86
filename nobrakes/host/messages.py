"""Queries to programs with a time limit, messages sent in the background, files of lines.

Messages: each by its own process, at most one at a time for each channel.

1. A thread waits for the process; after the deadline its process group is killed.
2. The message is its stdin and fits into the pipe; arguments and environment have none of it.
3. The exit code is the answer, stderr the reason.
4. The processes are not runs: own sessions, no mark, bounded by their deadline.
"""

import contextlib
import errno
import fcntl
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from ..errors import NobrakesError, NotAllowed
from ..files import storage_errors
from ..notices.model import Message, Sent, scrubbed
from ..paths import own_path
from ..records import frozen
from .command import IDLE

if TYPE_CHECKING:
    from ..config.sections import NotifySettings

ARGV = (sys.executable, "-I", "-m", "nobrakes.notices.senders")
PASSED_ON = (
    *("DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "HOME", "LANG", "LOGNAME", "PATH", "SSL_CERT_DIR", "SSL_CERT_FILE", "TZ"),
    *("USER", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR"),
    *("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy"),
)
MAX_ERROR = 4000
_POLL_SECONDS = 0.02


class ChildChannels:
    """Channels by child processes. `settings`: the present ones; `root`: of the repository."""

    def __init__(self, settings: "Callable[[], NotifySettings]", root: str, argv: tuple[str, ...] = ARGV) -> None:
        self._settings = settings
        self._root = root
        self._argv = argv
        self._wake: Callable[[], None] = lambda: None
        self._lock = threading.Lock()
        self._busy: set[str] = set()
        self._ended: list[Sent] = []
        self._threads: list[threading.Thread] = []
        self._cut = threading.Event()

    def wakes(self, wake: Callable[[], None]) -> None:
        self._wake = wake

    def begin(self, channel: str, delivery: int, message: Message) -> None:
        from ..notices.senders import pack

        self._busy.add(channel)
        try:
            stdin, secret = pack(self._settings(), self._root, channel, message)
        except NobrakesError as error:
            self._over(Sent(channel, delivery, scrubbed(error.whole, "")))
            return
        work = threading.Thread(
            target=self._send, args=(channel, delivery, stdin, secret), name=f"sending through {channel}", daemon=True
        )
        self._threads = [thread for thread in self._threads if thread.is_alive()] + [work]
        work.start()

    def _send(self, channel: str, delivery: int, stdin: bytes, secret: str) -> None:
        error = "the notice could not be sent"
        try:
            error = scrubbed(self._attempt(stdin, time.monotonic() + self._settings().send_seconds), secret)
        except OSError as trouble:
            error = f"no process could be started: {trouble.strerror or trouble}"
        finally:
            self._over(Sent(channel, delivery, error))
            threading.current_thread().name = IDLE

    def _attempt(self, stdin: bytes, deadline: float) -> str:
        """Why it was not sent; empty: it was."""
        with tempfile.TemporaryFile() as errors:
            child = self._start(stdin, errors)
            while child.poll() is None:
                if time.monotonic() > deadline or self._cut.wait(_POLL_SECONDS):
                    with contextlib.suppress(ProcessLookupError, PermissionError):  # it has just ended
                        os.killpg(child.pid, signal.SIGKILL)  # not collected yet, so the id is its own
                    child.wait()
                    return "the daemon stopped meanwhile" if self._cut.is_set() else "sending took too long"
            if child.returncode == 0:
                return ""
            errors.seek(0)
            return errors.read(MAX_ERROR).decode("utf-8", "replace").strip() or f"exit code {child.returncode}"

    def _start(self, stdin: bytes, errors: IO[bytes]) -> "subprocess.Popen[bytes]":
        environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        environment["PATH"] = own_path(os.getcwd())
        child = subprocess.Popen(
            self._argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            cwd="/",
            env=environment,
            start_new_session=True,
        )
        assert child.stdin is not None
        try:
            child.stdin.write(stdin)
            child.stdin.close()
        except BrokenPipeError:
            pass  # it has ended, and its exit code says how
        return child

    def _over(self, sent: Sent) -> None:
        with self._lock:
            self._ended.append(sent)
        self._wake()

    def is_busy(self, channel: str) -> bool:
        return channel in self._busy

    def ended(self) -> list[Sent]:
        with self._lock:
            found, self._ended = self._ended, []
        self._busy -= {sent.channel for sent in found}
        return found

    def close(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
        self._cut.set()
        for thread in self._threads:
            thread.join(1.0)


MAX_LOG_BYTES = 8_000_000


@frozen
class Asked:
    """How it ended. `code` None: timeout; 127: no such program."""

    code: int | None
    out: str = ""
    error: str = ""


# It has a session of its own: what takes too long is killed with all that it started. Files hold what it prints, and
# not pipes: what outlives it keeps nobody waiting.
@frozen
class Asking:
    """Runs programs in one environment with a timeout."""

    env: Mapping[str, str]
    seconds: float

    def __call__(self, argv: Sequence[str], given: bytes) -> Asked:
        with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error:
            stdin.write(given)
            stdin.seek(0)
            try:
                child = subprocess.Popen(
                    argv, env=dict(self.env), stdin=stdin, stdout=out, stderr=error, start_new_session=True, cwd="/"
                )
            except OSError as failed:
                return Asked(127, "", f"{argv[0]}: {failed.strerror}")
            try:
                code: int | None = child.wait(self.seconds)
            except subprocess.TimeoutExpired:
                code = None
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(2.0)
            texts = []
            for file in (out, error):
                file.seek(0)
                texts.append(file.read(MAX_LOG_BYTES).decode("utf-8", "replace"))
            return Asked(code, *texts)


BLOCK = 65536
BEGIN = b'{"ts":'
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
HINT = "Choose another file: the setting `events.export`, or --export."


# No link is followed below the repository; what is not a plain file with one name is refused. What was torn off at the
# end is cut away by the next writer. A file that holds anything but such lines is somebody else's.
class EventFile:
    """The open, locked file."""

    def __init__(self, descriptor: int, path: str) -> None:
        self._descriptor = descriptor
        self.path = path
        self._settle()
        self.is_new = not os.fstat(descriptor).st_size

    def _settle(self) -> None:
        size = os.fstat(self._descriptor).st_size
        torn = next(self._backwards(size, whole=False), b"")
        ours = torn.startswith(BEGIN) or BEGIN.startswith(torn) or not torn.strip(b"\0")
        last = next(self.lines_back(), BEGIN)
        if not (ours and last.startswith(BEGIN)):
            raise NotAllowed(f"{self.path} contains other data than events, so nobrakes wrote nothing to it", HINT)
        if torn:
            os.ftruncate(self._descriptor, size - len(torn))

    def lines_back(self) -> Iterator[bytes]:
        lines = self._backwards(os.fstat(self._descriptor).st_size, whole=True)
        next(lines, None)  # what stands after the last line end
        yield from lines

    def _backwards(self, size: int, whole: bool) -> Iterator[bytes]:
        """The pieces between line ends, last first; the first one is unterminated."""
        rest = b""
        while size:
            start = max(0, size - BLOCK)
            pieces = (os.pread(self._descriptor, size - start, start) + rest).split(b"\n")
            yield from reversed(pieces[1:])
            rest, size = pieces[0], start
        yield rest

    def append(self, content: bytes) -> None:
        """All, or a prefix after a kill; on an error the file is unchanged."""
        size = os.fstat(self._descriptor).st_size
        written = 0
        try:
            while written < len(content):
                written += os.write(self._descriptor, content[written:])
        except OSError:
            os.ftruncate(self._descriptor, size)
            raise


def mark_of(path: str) -> tuple[int, int, int] | None:
    """Identifies the file's present state; None: missing."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size


@contextmanager
def opened(root: str, path: str, refuses: Callable[[str], str]) -> Iterator[EventFile | None]:
    """The locked file, relative to `root`; None: another process writes it. Raises NotAllowed, DiskFull, StoreReadOnly.
    `refuses`: what is wrong with the real folder."""
    with storage_errors(path):
        descriptor = _open(root, path, refuses)
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
                raise NotAllowed(f"nobrakes cannot write events to {path}: it is not a plain file with one name", HINT)
            yield EventFile(descriptor, path) if _locked(descriptor, os.path.join(root, path)) else None
        finally:
            os.close(descriptor)


def _open(root: str, path: str, refuses: Callable[[str], str]) -> int:
    whole = os.path.normpath(os.path.join(root, path))
    base = os.path.realpath(root)
    start = next((one for one in (os.path.normpath(root), base) if whole.startswith(f"{one}/")), None)
    if start is not None:
        folders = os.path.relpath(os.path.dirname(whole), start).split("/")
        real = os.path.join(base, *folders)
    else:
        folders, base = [], os.path.realpath(os.path.dirname(whole))
        real = base
    wrong = refuses(os.path.join(os.path.normpath(real), os.path.basename(whole))) or _git_error(os.path.normpath(real))
    if wrong:
        raise NotAllowed(f"nobrakes cannot write events to {path}: the path {wrong}", HINT)
    held = -1
    try:
        held = os.open(base, _FOLDER)
        for folder in (one for one in folders if one != "."):
            held, before = os.open(folder, _FOLDER | os.O_NOFOLLOW, dir_fd=held), held
            os.close(before)
        return os.open(os.path.basename(whole), _FLAGS, 0o600, dir_fd=held)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        raise NotAllowed(f"cannot write events to {path}: {error.strerror}", f"Create the folder. {HINT}") from None
    except OSError as error:
        if error.errno not in _LINK:
            raise
        raise NotAllowed(f"cannot write events to {path}: it is a link or a pipe", HINT) from None
    finally:
        if held >= 0:
            os.close(held)


_LINK = frozenset((errno.ELOOP, errno.ENXIO))
"""A link, or a pipe without a reader."""


def _git_error(folder: str) -> str:
    """Also refuses bare repositories' own folders."""
    while folder != os.path.dirname(folder):
        if os.path.isfile(os.path.join(folder, "HEAD")) and os.path.isdir(os.path.join(folder, "objects")):
            return "is inside git's own folder"
        folder = os.path.dirname(folder)
    return ""


def _locked(descriptor: int, path: str) -> bool:
    """Whether we hold the lock of the file with this name."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except (BlockingIOError, FileNotFoundError):
        return False
