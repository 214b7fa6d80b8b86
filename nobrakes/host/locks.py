"""Locks by which daemons are known, and how one is started and stopped.

One daemon a repository: a lock that the kernel takes back when its holder dies, however it dies.

1. The file stays for ever; only the lock on it counts. It holds the pid and the start mark of the holder.
2. Asking who holds it takes no lock, so that a question can never keep a daemon from starting.
"""

import contextlib
import errno
import fcntl
import os
import pwd
import signal
import struct
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..errors import DaemonNotRunning, DaemonRunning, NoAgent, NobrakesError
from ..files import LEFT, is_readable, private_folder, read_tail, storage_errors
from ..paths import own_path, own_program, process_environment
from ..text.cleaning import count

if TYPE_CHECKING:
    import subprocess  # costs 2 ms, and most commands only ask who holds a lock


class DaemonLock:
    """The lock file at `path`. Children do not inherit it."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """DaemonRunning names the holder."""
        from . import proctable

        private_folder(os.path.dirname(self.path))
        with storage_errors(self.path):
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            pid = holder(self.path)
            raise DaemonRunning(
                "a daemon is already running in this repository" + (f" (process {pid})" if pid else "")
            ) from None
        me = proctable.look(os.getpid())
        with storage_errors(self.path):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()} {me.mark if me else proctable.ended_mark()}\n".encode(), 0)
        self._descriptor = descriptor

    def release(self) -> None:
        if self._descriptor is not None:
            os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> "DaemonLock":
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def holder(path: str) -> int | None:
    """The pid of the living daemon with the lock."""
    try:
        with open(path, encoding="ascii") as file:
            words = file.read().split()
    except FileNotFoundError:
        return None
    if len(words) != 2 or not words[0].isdigit():
        return None
    from .proctable import look

    process = look(int(words[0]))
    return process.pid if process and process.running and process.mark == words[1] else None


# One byte of one file is locked for each word; two words share one once in 2^47. The lock belongs to what was opened,
# so threads exclude each other as processes do. Elsewhere than on Linux the whole file is locked.
@contextmanager
def locked(path: str, word: str) -> Iterator[None]:
    """Excludes other processes and threads for this word."""
    from hashlib import sha256  # costs 2 ms, and most commands lock nothing

    place = int.from_bytes(sha256(word.encode()).digest()[:6]) >> 1
    with storage_errors(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        _set(descriptor, fcntl.F_WRLCK, place)
        try:
            yield
        finally:
            _set(descriptor, fcntl.F_UNLCK, place)  # a process that was forked meanwhile has what was opened, too
    finally:
        os.close(descriptor)


def _set(descriptor: int, how: int, place: int) -> None:
    from .proctable import LINUX

    if LINUX:
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLKW, struct.pack("hhqqi4x", how, os.SEEK_SET, place, 1, 0))
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX if how == fcntl.F_WRLCK else fcntl.LOCK_UN)


_ENDING = ".lock"


# Whether a daemon lives: it keeps a file locked, which its children do not inherit and the kernel lets go. The file is
# locked before it has its name, so one that is seen unlocked is a dead daemon's, and goes.
class LivenessLock:
    """Marks this process as alive in `folder` until it closes or dies."""

    def __init__(self, folder: str) -> None:
        private_folder(folder)
        self.name = os.urandom(12).hex()
        self.path = os.path.join(folder, self.name + _ENDING)
        with storage_errors(folder):
            self._descriptor = self._locked(f"{self.path}.new")

    def _locked(self, temporary: str) -> int:
        while True:
            descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            try:
                os.rename(temporary, self.path)
            except FileNotFoundError:  # somebody swept it away before it was locked
                os.close(descriptor)
                continue
            return descriptor

    def is_seen(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._descriptor), os.stat(self.path))
        except OSError:
            return False

    def close(self) -> None:
        with contextlib.suppress(OSError):
            os.unlink(self.path)
        os.close(self._descriptor)


def is_alive(folder: str, name: str) -> bool:
    return _is_locked(os.path.join(folder, name + _ENDING))


def _is_locked(path: str) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError as error:
        return error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)  # what cannot be looked at may live
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def sweep(folder: str) -> None:
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            if not _is_locked(entry.path):
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)


READY_VARIABLE = "NOBRAKES_READY_FD"

LAST_WORDS = 4000
"""Bytes of the log shown when the daemon dies at its start."""

_started: list["subprocess.Popen[bytes]"] = []  # kept, since Python warns when it forgets a living child


# The starter waits on a pipe that the daemon inherits: a line means ready, its end means dead.
def start_daemon(
    argv: Sequence[str], *, log: str, lock: str, cwd: str, env: Mapping[str, str], timeout: float = 30.0
) -> int:
    """Start a detached daemon; its pid after `report_ready`. Output goes to `log`. DaemonRunning: `lock` is held;
    DaemonNotRunning: it died, with the log's end; NobrakesError: silent for `timeout` seconds, and left running."""
    import subprocess

    if (running := holder(lock)) is not None:
        raise DaemonRunning(f"a daemon is already running in this repository (process {running})")
    private_folder(os.path.dirname(log))
    reading, writing = os.pipe()
    try:
        with storage_errors(log):
            output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            before = os.fstat(output).st_size
            child = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=cwd,
                env={**env, READY_VARIABLE: str(writing)},
                pass_fds=(writing,),
                start_new_session=True,
            )
        finally:
            os.close(output)
            os.close(writing)
        if not is_readable(reading, timeout):
            _started.append(child)
            raise NobrakesError(
                f"the daemon (process {child.pid}) did not report its start within {count(round(timeout), 'second')}",
                f"Read {log}.",
            )
        if os.read(reading, 100):
            _started.append(child)
            return child.pid
    finally:
        os.close(reading)
    code = child.wait()
    said = _since(log, before)
    raise DaemonNotRunning(f"the daemon ended at its start with exit code {code}\n{said}".strip(), f"The log: {log}")


def _since(log: str, before: int) -> str:
    added = max(0, os.path.getsize(log) - before)
    return read_tail(log, min(added, LAST_WORDS)).decode("utf-8", "replace").strip()


def report_ready() -> None:
    """Report to the starter of this daemon; ignored in the foreground."""
    descriptor = os.environ.pop(READY_VARIABLE, None)
    if descriptor is not None and descriptor.isdigit():
        try:
            os.write(int(descriptor), b"ready\n")
        except BrokenPipeError:
            pass  # the starter gave up waiting; the daemon works all the same
        finally:
            os.close(int(descriptor))


def stop_daemon(lock: str, timeout: float = 60.0, log: str = "") -> tuple[int, str]:
    """Send TERM to the holder of `lock`; returns its pid once it is gone, and the log's note about remaining work.
    Raises DaemonNotRunning; NobrakesError on a timeout."""
    from .proctable import look, send

    before = os.path.getsize(log) if log and os.path.isfile(log) else 0
    pid = holder(lock)
    process = look(pid) if pid is not None else None
    if process is None or holder(lock) != process.pid or not send(process, signal.SIGTERM):
        if pid is not None and holder(lock) == pid:
            raise NobrakesError(f"the daemon (process {pid}) belongs to another user", "Stop the daemon as that user.")
        raise DaemonNotRunning("no daemon is running in this repository")
    deadline = time.monotonic() + timeout
    while holder(lock) == process.pid:
        if time.monotonic() > deadline:
            raise NobrakesError(
                f"the daemon (process {process.pid}) has not stopped within {count(round(timeout), 'second')}",
                "The daemon may be finishing a step that cannot be interrupted. Check again: `nobrakes daemon status`.",
            )
        time.sleep(0.01)
    said = _since(log, before) if log and os.path.isfile(log) else ""
    return process.pid, next((line[line.index(LEFT) :] for line in said.splitlines() if LEFT in line), "")


SECONDS = 30.0


def why_not() -> str:
    """Why units cannot be used here; empty: they can."""
    if own_program("systemctl", os.getcwd()) is None:
        return "systemctl is not installed"
    code, said = control("show-environment")
    return "" if code == 0 else f"systemd is not running for this account: {said or f'exit code {code}'}"


def control(*words: str) -> tuple[int, str]:
    """Exit code and output of `systemctl --user WORDS`. NobrakesError: no answer."""
    import subprocess

    try:
        done = subprocess.run(
            ["systemctl", "--user", "--no-pager", *words],
            env={**process_environment(), "PATH": own_path(os.getcwd())},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NobrakesError(f"systemctl --user {' '.join(words)}: {error}", "`systemctl --user status`") from None
    return done.returncode, (done.stderr or done.stdout).decode("utf-8", "replace").strip()


def lingers() -> bool:
    try:
        return os.path.exists(os.path.join("/var/lib/systemd/linger", pwd.getpwuid(os.geteuid()).pw_name))
    except KeyError:
        return False


def run_interactive(argv: Sequence[str], env: Mapping[str, str], cwd: str) -> int:
    """Give the terminal to the program, Ctrl-C too; returns its exit code, 128+n for a signal. Raises NoAgent."""
    import subprocess

    if not os.path.isdir(cwd):
        raise NotADirectoryError(cwd)
    # a handler that does nothing, since to ignore the signal is what the program would inherit
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        code = subprocess.Popen(argv, env=dict(env), cwd=cwd).wait()
    except (FileNotFoundError, PermissionError) as error:
        raise NoAgent(
            f"{argv[0]} cannot be started: {error.strerror}", "Install it, or set a program in .nobrakes/config.toml."
        ) from error
    finally:
        signal.signal(signal.SIGINT, before)
    return code if code >= 0 else 128 - code
