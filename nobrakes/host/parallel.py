"""Commands that run beside each other, each to its end, and processes that told their pid in a file."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence

from .system import proctable

_GONE_SECONDS = 2.0


def outputs(
    commands: Mapping[str, Sequence[str]], env: Mapping[str, str], seconds: float, folder: str | None = None
) -> dict[str, tuple[int, str]]:
    """Exit code and output of each, by its name; what takes longer is killed, with its session."""
    running = {
        name: subprocess.Popen(
            argv,
            env=dict(env),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        for name, argv in commands.items()
    }
    found = {}
    for name, child in running.items():
        try:
            out, _ = child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            try:
                out, _ = child.communicate(timeout=_GONE_SECONDS)
            except subprocess.TimeoutExpired:  # it waits for a disk, or what it left holds its output
                found[name] = (-signal.SIGKILL, "")
                continue
        found[name] = (child.returncode, out.decode(errors="replace"))
    return found


def pid_in(path: str) -> int:
    """The pid that a process wrote into a file; 0: none, or not yet."""
    try:
        with open(path, encoding="ascii") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError):
        return 0
    return int(text) if text.endswith("\n") and text.strip().isdigit() else 0


def lives(pid: int) -> bool:
    """Whether the process lives; a zombie does not."""
    process = proctable.look(pid)
    return process is not None and process.running


def end(pid: int) -> None:
    """KILL to a process that would not go otherwise."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)
