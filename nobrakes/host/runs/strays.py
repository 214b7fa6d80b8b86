"""Processes that runs of a repository left behind, found by the marker in their environment and ended.

For a repository whose database is gone or went back: nobody knows of these runs any more, or could speak for them.
"""

import os
import signal
import time
from collections.abc import Container

from ...core.errors import NobrakesError
from ..system import proctable
from ..system.process import Process
from .run_tree import HOME_MARKER, RUN_MARKER, send

GRACE = 2.0
KILLING = 5.0


def end_all(wake: str, but: Container[str] = ()) -> list[str]:
    """TERM, then KILL, to every process of every run of this repository; the runs, sorted. NobrakesError: one stays.

    `but`: runs that somebody knows of.
    """
    ended: set[str] = set()
    started = time.monotonic()
    pause = 0.005
    while left := _left(wake, but):
        ended.update(left.values())
        past = time.monotonic() - started
        if past > GRACE + KILLING:
            pids = ", ".join(sorted(str(process.pid) for process in left))
            raise NobrakesError(
                f"process {pids} of an earlier daemon stays after KILL",
                "Look at it with `ps -p PID -o pid,user,stat,wchan,args`; it waits for a disk, or belongs to root.",
            )
        for process in left:
            send(process, signal.SIGTERM if past < GRACE else signal.SIGKILL)
        time.sleep(pause)
        pause = min(0.1, pause * 2)
    return sorted(ended)


def _left(wake: str, but: Container[str]) -> dict[Process, str]:
    """The living processes of the repository's runs, each with its run; this process is none."""
    home = os.fsencode(f"{HOME_MARKER}={os.path.abspath(wake)}")
    start = os.fsencode(f"{RUN_MARKER}=")
    found = {}
    for process in proctable.everything().values():
        if not process.running or process.pid == os.getpid():
            continue
        entries = proctable.environment(process.pid)
        run = next((os.fsdecode(e[len(start) :]) for e in entries if e.startswith(start)), "?")
        if home in entries and run not in but:
            found[process] = run
    return found
