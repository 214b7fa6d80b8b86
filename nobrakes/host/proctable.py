"""Processes, as the operating system knows them (/proc on Linux, elsewhere psutil), and which of them belong to a run.

1. A process is a pid and its start time, as pids are reused.
2. Unreadable processes (gone, or foreign) do not exist.
3. Our children's orphans become our children. Only zombies that nobody can wait for are collected: known orphans or old
   ones, never children started here, whose exit code somebody needs.
"""

import contextlib
import functools
import os
import resource
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Container, Mapping, Sequence
from functools import cache
from typing import Any

from ..errors import NobrakesError
from ..records import frozen

LINUX = sys.platform.startswith("linux")

DEAD = ("Z", "X", "x")


@cache
def boot() -> str:
    """Without boot ids start times are absolute."""
    if not LINUX:
        return "epoch"
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


@frozen
class Process:
    """`started`: clock ticks since boot on Linux, else hundredths of seconds since 1970."""

    pid: int
    parent: int
    session: int
    state: str
    started: int
    cpu: int = 0  # ticks used by it and by its children that ended

    @property
    def running(self) -> bool:
        return self.state not in DEAD

    @property
    def mark(self) -> str:
        return f"{boot()}:{self.started}"


_KERNEL_THREAD = 0x00200000

EXEC = 0.5


def ended_mark() -> str:
    return f"{boot()}:0"


def started_of(mark: str) -> int | None:
    """None: another boot, so that it cannot live."""
    booted, _, started = mark.rpartition(":")
    return int(started) if booted == boot() and started.isdigit() else None


def _stat(pid: int) -> list[bytes]:
    """Fields of /proc/<pid>/stat from the state on; empty: no such process."""
    try:
        line = _read(f"/proc/{pid}/stat")
    except OSError:
        return []
    # the name in parentheses is the program's own choice and may hold spaces and parentheses
    return line[line.rfind(b")") + 2 :].split()


def look(pid: int) -> Process | None:
    """None: no such process."""
    if not LINUX:
        return portable_look(pid)
    words = _stat(pid)
    if len(words) < 20 or int(words[6]) & _KERNEL_THREAD:
        return None
    cpu = int(words[11]) + int(words[12]) + int(words[13]) + int(words[14])
    return Process(pid, int(words[1]), int(words[3]), words[0].decode("ascii", "replace"), int(words[19]), cpu)


def everything() -> dict[int, Process]:
    """Every process by pid."""
    if not LINUX:
        return portable_everything()
    found = (look(int(name)) for name in os.listdir("/proc") if name.isdigit())
    return {process.pid: process for process in found if process is not None}


def below(pid: int, without: Container[int] = (), since: int = 0) -> dict[int, Process]:
    """Descendants by pid, without those below `without` or below children started before `since`."""
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
        return _read(path).rstrip(b"\0").split(b"\0")  # a fork of ours has more room than words (programs)
    except OSError:
        return []


def environment(pid: int) -> list[bytes]:
    """The initial NAME=value entries; empty: unreadable."""
    if not LINUX:
        return [os.fsencode(f"{name}={value}") for name, value in _ask(pid, lambda one: one.environ(), {}).items()]
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
    """Empty: unreadable."""
    if not LINUX:
        return list(_ask(pid, lambda one: one.cmdline(), ()))
    return [os.fsdecode(word) for word in _nul_list(f"/proc/{pid}/cmdline")]


def outputs(pid: int) -> list[str]:
    """The files that its standard output and errors are."""
    if not LINUX:
        return [file.path for file in _ask(pid, lambda one: one.open_files(), ()) if file.fd in (1, 2)]
    found = []
    for name in ("1", "2"):
        try:
            found.append(os.readlink(f"/proc/{pid}/fd/{name}"))
        except OSError:
            continue
    return found


def bears_mark(pid: int) -> bool:
    """Whether it descends from a run of this process (host.runs.forkserver.bear_mark), on Linux."""
    own, other = _queues("self"), _queues(str(pid))
    return own is not None and other is not None and own != other


def _queues(pid: str) -> bytes | None:
    try:
        lines = _read(f"/proc/{pid}/limits").splitlines() if LINUX else []
    except OSError:
        return None
    return next((line.split()[4] for line in lines if line.startswith(b"Max msgqueue size")), None)


def children(pid: int) -> list[int]:
    """The pids of its children; some may be missing while others end."""
    if not LINUX:
        return [child.pid for child in _ask(pid, lambda one: one.children(), ())]
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            found.extend(map(int, _read(f"/proc/{pid}/task/{thread}/children").split()))
    except OSError:
        return found
    return found


def _read(path: str) -> bytes:
    parts = []
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        while part := os.read(descriptor, 65536):
            parts.append(part)
    finally:
        os.close(descriptor)
    return b"".join(parts)


# Where there is no /proc, psutil tells. A process may hide its environment from it, and then only session and parents
# tell.
HUNDREDTHS = 100
_STATES = {"zombie": "Z", "dead": "X", "stopped": "T"}


def _psutil() -> Any:
    import psutil  # type: ignore[import-untyped]  # not installed on Linux

    return psutil


def _ask(pid: int, ask: Callable[[Any], Any], otherwise: Any) -> Any:
    try:
        return ask(_psutil().Process(pid))
    except (_psutil().Error, OSError, ValueError):
        return otherwise


def _portable(one: Any) -> Process:
    with one.oneshot():
        state = _STATES.get(one.status(), "R")
        cpu = round(sum(one.cpu_times()[:4] if state == "R" else ()) * os.sysconf("SC_CLK_TCK"))
        return Process(one.pid, one.ppid(), os.getsid(one.pid), state, round(one.create_time() * HUNDREDTHS), cpu)


def portable_look(pid: int) -> Process | None:
    found: Process | None = _ask(pid, _portable, None)
    return found


def portable_everything() -> dict[int, Process]:
    return {one.pid: one for one in map(portable_look, _psutil().pids()) if one is not None}


def resident(pids: Sequence[int]) -> int:
    return sum(_ask(pid, lambda one: one.memory_info().rss, 0) for pid in pids)


# What several of them share is counted for each. What a run detached is still below its wrapper, which adopts it.
def held_mb(pid: int | None, mark: str) -> int | None:
    """MB of this process and its descendants; None: it is dead."""
    process = look(pid) if pid else None
    if process is None or not process.running or process.mark != mark:
        return None
    return resident_mb([process.pid, *below(process.pid)])


def resident_mb(pids: Sequence[int]) -> int:
    """Total MB of these processes."""
    if not LINUX:
        return round(resident(pids) / 2**20)
    pages = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/statm", "rb") as file:
                pages += int(file.read().split()[1])
        except (OSError, IndexError):
            continue  # it has just ended
    return round(pages * resource.getpagesize() / 2**20)


_PR_SET_CHILD_SUBREAPER = 36
_adopter = 0

TIMEOUT = 30.0
"""Seconds after which a zombie of an unknown session has no waiter."""


def become_subreaper() -> bool:
    """Adopt orphans below this process (Linux). False: unsupported."""
    global _adopter
    adopt = adopting()
    if adopt is not None and adopt() == 0:
        _adopter = os.getpid()
    return adopts_orphans()


def adopting() -> Callable[[], int] | None:
    """The caller adopts its orphans, also after an exec; None: unsupported. Callable between fork and exec."""
    if not LINUX:
        return None
    import ctypes

    return functools.partial(ctypes.CDLL(None).prctl, _PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def adopts_orphans() -> bool:
    return _adopter == os.getpid()


def _has_ended() -> bool:
    if not hasattr(os, "waitid"):
        return True  # macOS
    try:
        return os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return False


class Reaper:
    """Collects zombies left by this process' children."""

    def __init__(self) -> None:
        self._seen: dict[tuple[int, int], float] = {}

    def collect(self, sessions: Container[int], mine: Container[int]) -> None:
        """Collect adopted zombies of these sessions, and old ones of others; `mine` have their own waiter."""
        if not _has_ended():
            return
        own = os.getsid(0)
        now = time.monotonic()
        seen = {}
        for pid in children(os.getpid()):
            process = look(pid)
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
    """Identifies a run's processes. `pid` None: unknown start."""

    run: str
    wake: str  # run ids are unique in one repository only; its wake folder tells repositories apart
    pid: int | None
    mark: str
    folder: str = ""  # where its output goes; empty: not known
    known: frozenset[tuple[int, int]] = frozenset()  # pid and start time of processes that were seen to be of the run

    def markers(self) -> tuple[bytes, bytes]:
        return (os.fsencode(f"{RUN_MARKER}={self.run}"), os.fsencode(f"{HOME_MARKER}={self.wake}"))


def members(tree: Tree, among: Mapping[int, Process] | None = None) -> list[Process]:
    """The run's living processes, the wrapper first. `among`: the searched table."""
    born = started_of(tree.mark) if tree.mark else 0
    if born is None:
        return []  # started before this machine was
    table = everything() if among is None else among
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
        entries = environment(process.pid)
        marked = run_marker in entries and home_marker in entries
        if marked or (alone and _is_known(tree, process)):
            found.add(process.pid)
    grew = bool(found)
    while grew:
        sessions = {s for s in {living[pid].session for pid in found} if s in found or look(s) is None}
        sessions.discard(os.getsid(0))
        more = {p.pid for p in living.values() if p.parent in found or p.session in sessions} - found
        found |= more
        grew = bool(more)
    return sorted((table[pid] for pid in found), key=lambda process: (process.pid != tree.pid, process.pid))


def _is_known(tree: Tree, process: Process) -> bool:
    """Whether it was known before, or writes to a file of the run."""
    if tree.mark and (process.pid, process.started) in tree.known:
        return True
    folder = os.path.join(os.path.realpath(tree.folder), "") if tree.folder else ""
    return bool(folder) and any(path.startswith(folder) for path in outputs(process.pid))


def send(process: Process, signum: signal.Signals) -> bool:
    """False: gone, or not ours. Cannot hit a reused pid."""
    try:
        descriptor = os.pidfd_open(process.pid) if hasattr(os, "pidfd_open") else -1
    except OSError:
        return False
    try:
        now = look(process.pid)
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


def ask_to_end(process: Process) -> bool:
    """TERM, but not for bubblewrap, which would end everything inside at once. False: not sent."""
    return b"bwrap" not in _read_name(process.pid) and send(process, signal.SIGTERM)


def _read_name(pid: int) -> bytes:
    try:
        return _read(f"/proc/{pid}/comm").strip()
    except OSError:
        return b""


GRACE = 2.0
KILLING = 5.0


# For a repository whose database is gone or went back: nobody knows of these runs any more.
def end_all(wake: str, but: Container[str] = ()) -> list[str]:
    """TERM, then KILL, all runs of this repository except `but`; returns them sorted. NobrakesError: one stays."""
    ended: set[str] = set()
    started = time.monotonic()
    pause = 0.005
    while left := _left(wake, but):
        ended.update(left.values())
        past = time.monotonic() - started
        if past > GRACE + KILLING:
            pids = ", ".join(sorted(str(process.pid) for process in left))
            raise NobrakesError(
                f"process {pids} of an earlier daemon is still there after SIGKILL",
                "`ps -p PID -o pid,user,stat,wchan,args` shows the process: it waits for a disk, or belongs to root.",
            )
        for process in left:
            ask_to_end(process) if past < GRACE else send(process, signal.SIGKILL)
        time.sleep(pause)
        pause = min(0.1, pause * 2)
    return sorted(ended)


def _left(wake: str, but: Container[str]) -> dict[Process, str]:
    home = os.fsencode(f"{HOME_MARKER}={os.path.abspath(wake)}")
    start = os.fsencode(f"{RUN_MARKER}=")
    found = {}
    for process in everything().values():
        if not process.running or process.pid == os.getpid():
            continue
        entries = environment(process.pid)
        run = next((os.fsdecode(e[len(start) :]) for e in entries if e.startswith(start)), "?")
        if home in entries and run not in but:
            found[process] = run
    return found


# Cheap signs first: the files of the workspace are walked only when those are silent. CPU counts in grains of some
# seconds, since a program that hangs still ticks a little. Everything is bounded, and no symbolic link is followed.
CPU_GRAIN = 5.0
"""Seconds of CPU per sign of life."""

MAX_ENTRIES = 5000
"""Inspected entries of a workspace, nearest to its root first."""

UNWATCHED = {".git", "node_modules", ".venv", "venv", "__pycache__", ".mypy_cache", ".pytest_cache", "target"}
"""Large folders, or ones that change without work."""

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


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def fingerprint(tree: Sequence[Process], folder: str, workspace: str, before: str) -> str:
    """Output, commits, CPU and files of a run with the processes `tree`. `before`: the last result, which may save the
    walk."""
    cpu = int(sum(process.cpu for process in tree) / os.sysconf("SC_CLK_TCK") / CPU_GRAIN)
    cheap = f"{_output(folder)} {_commits(workspace)} {cpu}"
    before_cheap, _, before_files = before.rpartition(" ")
    if before_files and before_cheap != cheap:
        return f"{cheap} {before_files}"
    newest, seen = _newest(workspace, MAX_ENTRIES)
    return f"{cheap} {seen}.{newest}"
