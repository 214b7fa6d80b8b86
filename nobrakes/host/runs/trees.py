"""The processes of a run: which belong to it, their signals, their signs of life, and orphans.

Orphans of our children become our children, and are collected when they end.

1. Only zombies nobody can be waiting for are collected: orphans that were seen as such, or old ones.
2. Never a child that somebody in this process started: their exit code is theirs.
"""

import contextlib
import functools
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Container, Mapping, Sequence

from ...errors import NobrakesError
from ...records import frozen
from .. import proctable
from ..proctable import LINUX, Process

_PR_SET_CHILD_SUBREAPER = 36
_adopter = 0

TIMEOUT = 30.0
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
            if is_theirs or now - since > TIMEOUT:
                with contextlib.suppress(ChildProcessError):  # collected by somebody else meanwhile
                    os.waitpid(pid, os.WNOHANG)
            else:
                seen[pid, process.started] = since
        self._seen = seen


RUN_MARKER = "NOBRAKES_RUN"
HOME_MARKER = "NOBRAKES_WAKE"


# A process belongs to a run when it is its wrapper, is in its session, carries its marker, or descends from one that
# does: these spread by birth alone. A session id is believed only while it cannot have been given away again. With the
# wrapper gone, who is known from before, writes the run's output, or was left to the daemon by it belongs to it as
# well.
@frozen
class Tree:
    """What identifies a run's processes. `pid` None: it is not known whether a wrapper ever started."""

    run: str
    wake: str  # run ids are unique in one repository only; its wake folder tells repositories apart
    pid: int | None
    mark: str
    folder: str = ""  # where its output goes; empty: not known
    known: frozenset[tuple[int, int]] = frozenset()  # pid and start time of processes that were seen to be of the run

    def markers(self) -> tuple[bytes, bytes]:
        """The entries that each process of the run has in its environment."""
        return (
            os.fsencode(f"{RUN_MARKER}={self.run}"),
            os.fsencode(f"{HOME_MARKER}={self.wake}"),
        )


def members(tree: Tree, among: Mapping[int, Process] | None = None) -> list[Process]:
    """The living processes of the run, the wrapper first. `among`: where else than in the whole table to look."""
    born = proctable.started_of(tree.mark) if tree.mark else 0
    if born is None:
        return []  # started before this machine was
    table = proctable.everything() if among is None else among
    me = os.getpid()
    leader = table.get(tree.pid) if tree.pid else None
    is_leader = leader is not None and leader.started == born
    run_marker, home_marker = tree.markers()
    alone = leader is None or not is_leader or not leader.running
    living = {p.pid: p for p in table.values() if p.running and p.started >= born and p.pid != me}
    found: set[int] = set()
    for process in living.values():
        # with the leader gone, only a child that was adopted from it is certainly of the old session
        believed = is_leader or (leader is None and process.parent == me)
        if tree.pid and believed and tree.pid in (process.pid, process.session):
            found.add(process.pid)
            continue
        entries = proctable.environment(process.pid)
        marked = run_marker in entries and home_marker in entries
        if marked or (alone and _is_known(tree, process)):
            found.add(process.pid)
    grew = bool(found)
    while grew:
        sessions = {s for s in {living[pid].session for pid in found} if s in found or proctable.look(s) is None}
        sessions.discard(os.getsid(0))
        more = {p.pid for p in living.values() if p.parent in found or p.session in sessions} - found
        found |= more
        grew = bool(more)
    return sorted((table[pid] for pid in found), key=lambda process: (process.pid != tree.pid, process.pid))


def _is_known(tree: Tree, process: Process) -> bool:
    """Whether it was seen to be of the run before, or its output goes to a file of the run: nobody else's does."""
    if tree.mark and (process.pid, process.started) in tree.known:
        return True
    folder = os.path.join(os.path.realpath(tree.folder), "") if tree.folder else ""
    return bool(folder) and any(path.startswith(folder) for path in proctable.outputs(process.pid))


def send(process: Process, signum: signal.Signals) -> bool:
    """Signal exactly this process. False: it has gone, or it is not ours to signal."""
    try:
        descriptor = os.pidfd_open(process.pid) if hasattr(os, "pidfd_open") else -1
    except OSError:
        return False
    try:
        now = proctable.look(process.pid)
        if now is None or now.started != process.started:
            return False
        if descriptor >= 0:
            signal.pidfd_send_signal(descriptor, signum)
        else:
            os.kill(process.pid, signum)
    except (ProcessLookupError, PermissionError):
        return False
    finally:
        if descriptor >= 0:
            os.close(descriptor)
    return True


GRACE = 2.0
KILLING = 5.0


# For a repository whose database is gone or went back: nobody knows of these runs any more.
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


# Cheap signs first: the files of the workspace are walked only when those are silent. CPU counts in grains of some
# seconds, since a program that hangs still ticks a little. Everything is bounded, and no symbolic link is followed.
CPU_GRAIN = 5.0
"""Seconds of CPU that count as one sign of life."""

MAX_ENTRIES = 5000
"""Entries of a workspace that are looked at, those near its root first."""

UNWATCHED = frozenset(
    {".git", "node_modules", ".venv", "venv", "__pycache__", ".mypy_cache", ".pytest_cache", "target"}
)
"""Folders that are large, or change without anybody working."""

_GIT_FILES = ("HEAD", "index", "packed-refs", os.path.join("logs", "HEAD"))


def _stamp(path: str) -> str:
    try:
        status = os.lstat(path)
    except OSError:
        return "-"
    return f"{status.st_size}.{status.st_mtime_ns}"


def _output(folder: str) -> str:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return "-"
    return ",".join(_stamp(os.path.join(folder, name)) for name in names)


def _commits(workspace: str) -> str:
    git = os.path.join(workspace, ".git")
    newest, _ = _newest(os.path.join(git, "refs"), 500)
    return ",".join(_stamp(os.path.join(git, name)) for name in _GIT_FILES) + f",{newest}"


def _newest(root: str, most: int) -> tuple[int, int]:
    """The newest change below `root` (ns) and how many entries were seen."""
    newest = seen = 0
    folders = deque([root])
    while folders and seen < most:
        try:
            with os.scandir(folders.popleft()) as entries:
                for entry in entries:
                    seen += 1
                    if entry.name in UNWATCHED:
                        continue
                    newest = max(newest, entry.stat(follow_symlinks=False).st_mtime_ns)
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    if seen >= most:
                        break
        except OSError:
            continue  # removed while it was looked at, or unreadable: no sign of life
    return newest, seen


def _cpu(tree: Sequence[Process]) -> str:
    """CPU of these processes, in grains."""
    return str(int(sum(process.cpu for process in tree) / os.sysconf("SC_CLK_TCK") / CPU_GRAIN))


def fingerprint(tree: Sequence[Process], folder: str, workspace: str, before: str) -> str:
    """Output, commits, CPU and files of a run, whose processes are `tree`.

    `before` is the last answer: it spares the walk where signs abound.
    """
    cheap = f"{_output(folder)} {_commits(workspace)} {_cpu(tree)}"
    before_cheap, _, before_files = before.rpartition(" ")
    if before_files and before_cheap != cheap:
        return f"{cheap} {before_files}"
    newest, seen = _newest(workspace, MAX_ENTRIES)
    return f"{cheap} {seen}.{newest}"
