"""Starting the daemon in the background, and stopping it in order.

1. The starter waits on a pipe that the daemon inherits: a line means ready, its end means dead.
2. Stopping signals exactly the process that holds the lock, and waits until the lock is free.
"""

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence

from ..core.errors import DaemonNotRunning, DaemonRunning, NobrakesError
from .files import private_folder, read_tail, storage_errors
from .locks import holder
from .readable import is_readable
from .runs.run_tree import send
from .stopping import LEFT
from .system import proctable

READY_VARIABLE = "NOBRAKES_READY_FD"

LAST_WORDS = 4000
"""Bytes of the log that are shown when the daemon dies at its start."""

_started: list["subprocess.Popen[bytes]"] = []  # kept, since Python warns when it forgets a living child


def start_daemon(
    argv: Sequence[str], *, log: str, lock: str, cwd: str, env: Mapping[str, str], timeout: float = 30.0
) -> int:
    """Start a daemon detached from this terminal and return its pid once it called `report_ready`.

    Its output is appended to `log`. DaemonRunning when one holds `lock`; DaemonNotRunning with the log's last lines
    when it died; NobrakesError when it says nothing for `timeout` seconds (it is left running).
    """
    running = holder(lock)
    if running is not None:
        raise DaemonRunning(f"a daemon already works in this repository (process {running})")
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
                f"the daemon (process {child.pid}) did not report within {timeout:.0f} seconds", f"Read {log}."
            )
        if os.read(reading, 100):
            _started.append(child)
            return child.pid
    finally:
        os.close(reading)
    code = child.wait()
    said = _since(log, before)
    raise DaemonNotRunning(f"the daemon ended at its start with exit code {code}\n{said}".strip(), f"All of it: {log}")


def _since(log: str, before: int) -> str:
    """What was added to the log, at most the last words of it."""
    added = max(0, os.path.getsize(log) - before)
    return read_tail(log, min(added, LAST_WORDS)).decode("utf-8", "replace").strip()


def report_ready() -> None:
    """Tell whoever started this process as a daemon that it works. Nothing happens in the foreground."""
    descriptor = os.environ.pop(READY_VARIABLE, None)
    if descriptor is not None and descriptor.isdigit():
        try:
            os.write(int(descriptor), b"ready\n")
        except BrokenPipeError:
            pass  # the starter gave up waiting; the daemon works all the same
        finally:
            os.close(int(descriptor))


def stop_daemon(lock: str, timeout: float = 60.0, log: str = "") -> tuple[int, str]:
    """TERM to the daemon that holds `lock`; its pid, once it is gone, and what `log` tells of what it left running.

    DaemonNotRunning; NobrakesError: `timeout`.
    """
    before = os.path.getsize(log) if log and os.path.isfile(log) else 0
    pid = holder(lock)
    process = proctable.look(pid) if pid is not None else None
    if process is None or holder(lock) != process.pid or not send(process, signal.SIGTERM):
        if pid is not None and holder(lock) == pid:
            raise NobrakesError(f"the daemon (process {pid}) belongs to another user", "Stop it as that user.")
        raise DaemonNotRunning("no daemon works in this repository")
    deadline = time.monotonic() + timeout
    while holder(lock) == process.pid:
        if time.monotonic() > deadline:
            raise NobrakesError(
                f"the daemon (process {process.pid}) has not stopped within {timeout:.0f} seconds",
                "It may be ending a step that must not be cut; look again with `nobrakes daemon status`.",
            )
        time.sleep(0.01)
    said = _since(log, before) if log and os.path.isfile(log) else ""
    return process.pid, next((line[line.index(LEFT) :] for line in said.splitlines() if LEFT in line), "")
