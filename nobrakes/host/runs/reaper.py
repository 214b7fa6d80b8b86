"""Orphans of our children become our children, and are collected when they end.

1. Only zombies nobody can be waiting for are collected: orphans that were seen as such, or old ones.
2. Never a child that somebody in this process started: their exit code is theirs.
"""

import contextlib
import functools
import os
import time
from collections.abc import Callable, Container

from ..system import proctable
from ..system.process import LINUX

_PR_SET_CHILD_SUBREAPER = 36
_adopter = 0

PATIENCE = 30.0
"""Seconds after which a zombie of an unknown session is nobody's: whoever waits for a child collects it at once."""


def become_subreaper() -> bool:
    """Let orphans below this process become its own children (Linux). False: the system cannot do that."""
    global _adopter
    adopt = adopting()
    if adopt is not None and adopt() == 0:
        _adopter = os.getpid()
    return adopts_orphans()


def adopting() -> Callable[[], int] | None:
    """Makes the process that calls it the adopter of its orphans, also after an exec. None: the system has no such.

    One system call, looked up here, so that a child of a program with threads may call it between fork and exec.
    """
    if not LINUX:
        return None
    import ctypes

    return functools.partial(ctypes.CDLL(None).prctl, _PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def adopts_orphans() -> bool:
    """Whether what is started from now on stays below this process, whatever becomes of its parents."""
    return _adopter == os.getpid()


def _has_ended() -> bool:
    """Whether any child has ended that nobody collected: one question before looking at each of them."""
    if not hasattr(os, "waitid"):
        return True  # macOS
    try:
        return os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return False


class Reaper:
    """Collects the zombies that the children of this process left to it."""

    def __init__(self) -> None:
        self._seen: dict[tuple[int, int], float] = {}

    def collect(self, sessions: Container[int], mine: Container[int]) -> None:
        """Collect adopted zombies of these sessions, and old ones of other sessions; `mine` have their own waiter."""
        if not _has_ended():
            return
        own = os.getsid(0)
        now = time.monotonic()
        seen = {}
        for pid in proctable.children(os.getpid()):
            process = proctable.look(pid)
            if process is None or process.running or process.session == own or pid in mine:
                continue
            since = self._seen.get((pid, process.started), now)
            is_theirs = process.session in sessions and pid != process.session  # who leads one has a waiter of its own
            if is_theirs or now - since > PATIENCE:
                with contextlib.suppress(ChildProcessError):  # collected by somebody else meanwhile
                    os.waitpid(pid, os.WNOHANG)
            else:
                seen[pid, process.started] = since
        self._seen = seen
