"""The process table where there is no /proc, read from the `ps` command. Slow: 5 ms a call.

1. Start times have a resolution of one second: a pid that is reused within its first second is not told apart.
2. A process may hide its environment from `ps`; then only its session and its parents show where it belongs.
"""

import os
import subprocess
import time
from collections.abc import Sequence

from ...core.errors import NoAnswer
from ...environ import process_environment
from ...paths import own_path
from .process import Process

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


def look(pid: int) -> Process | None:
    """One process; None: there is none."""
    lines = _ps("-o", _COLUMNS, "-p", str(pid))
    return _parse(lines[0]) if lines else None


def everything() -> dict[int, Process]:
    """Every process by pid."""
    processes = (_parse(line) for line in _ps("-A", "-o", _COLUMNS))
    return {process.pid: process for process in processes}


def resident(pids: Sequence[int]) -> int:
    """Bytes of memory that these processes hold."""
    found = (line.strip() for line in _ps("-o", "rss=", "-p", ",".join(map(str, pids))))
    return sum(int(word) for word in found if word.isdigit()) * 1024


def environment(pid: int) -> list[bytes]:
    """The words of its command line and environment; a value with a space in it comes in pieces."""
    return [word.encode() for line in _ps("-E", "-ww", "-o", "command=", "-p", str(pid)) for word in line.split()]
