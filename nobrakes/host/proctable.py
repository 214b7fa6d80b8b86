"""Process data from the operating system. Linux: /proc; elsewhere: the `ps` command.

1. A process is a pid together with the time it started: a pid alone may have been given away again.
2. Whoever cannot be read (gone, or somebody else's) is not there.
"""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Container, Sequence
from functools import cache

from ..errors import NoAnswer
from ..paths import own_path, process_environment
from ..records import frozen

LINUX = sys.platform.startswith("linux")

DEAD = ("Z", "X", "x")
"""States of processes that have ended and only wait to be collected."""


@cache
def boot() -> str:
    """The id of this boot; start times are absolute where there is none."""
    if not LINUX:
        return "ps"
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


@frozen
class Process:
    """One process. `started` is in clock ticks since boot on Linux, else in seconds since 1970."""

    pid: int
    parent: int
    session: int
    state: str
    started: int
    cpu: int = 0  # ticks used by it and by its children that ended

    @property
    def running(self) -> bool:
        """Whether it still lives; a zombie does not."""
        return self.state not in DEAD

    @property
    def mark(self) -> str:
        """Its identity beside the pid, as kept in ProcessStart.mark and Run.born."""
        return f"{boot()}:{self.started}"


_KERNEL_THREAD = 0x00200000

EXEC = 0.5
"""Seconds that a process may take to become another program, on a machine that is very busy."""


def ended_mark() -> str:
    """The mark of a process of this boot that had ended before anybody looked."""
    return f"{boot()}:0"


def started_of(mark: str) -> int | None:
    """The start time in a mark; None when it speaks of another boot, so that nothing of it can live."""
    booted, _, started = mark.rpartition(":")
    return int(started) if booted == boot() and started.isdigit() else None


def _stat(pid: int) -> list[bytes]:
    """The words of /proc/<pid>/stat from the state on; empty when there is no such process."""
    try:
        line = _read(f"/proc/{pid}/stat")
    except OSError:
        return []
    # the name in parentheses is the program's own choice and may hold spaces and parentheses
    return line[line.rfind(b")") + 2 :].split()


def look(pid: int) -> Process | None:
    """One process; None: there is none."""
    if not LINUX:
        return ps_look(pid)
    words = _stat(pid)
    if len(words) < 20 or int(words[6]) & _KERNEL_THREAD:
        return None
    cpu = int(words[11]) + int(words[12]) + int(words[13]) + int(words[14])
    return Process(pid, int(words[1]), int(words[3]), words[0].decode("ascii", "replace"), int(words[19]), cpu)


def everything() -> dict[int, Process]:
    """Every process by pid."""
    if not LINUX:
        return ps_everything()
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (process := look(int(name))) is not None:
            found[process.pid] = process
    return found


def below(pid: int, without: Container[int] = (), since: int = 0) -> dict[int, Process]:
    """The descendants of a process by pid, except for some of its children and what is below those.

    `since`: the same for all that were started before this, in the unit of start times.
    """
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
        return _read(path).split(b"\0")
    except OSError:
        return []


def environment(pid: int) -> list[bytes]:
    """The NAME=value entries that the process was started with; empty when they cannot be read."""
    if not LINUX:
        # also the words of its command line; a value with a space in it comes in pieces
        return [word.encode() for line in _ps("-E", "-ww", "-o", "command=", "-p", str(pid)) for word in line.split()]
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
    """The process's argv; empty when it cannot be read, or where only `ps` could tell."""
    return [os.fsdecode(word) for word in _nul_list(f"/proc/{pid}/cmdline")] if LINUX else []


def outputs(pid: int) -> list[str]:
    """The files that its output and its errors go to, where Linux tells."""
    found = []
    for name in ("1", "2") if LINUX else ():
        try:
            found.append(os.readlink(f"/proc/{pid}/fd/{name}"))
        except OSError:
            continue
    return found


def bears_mark(pid: int) -> bool:
    """Whether it descends from a run of this process (host.runs.forkserver.bear_mark), where Linux tells."""
    own, other = _queues("self"), _queues(str(pid))
    return own is not None and other is not None and own != other


def _queues(pid: str) -> bytes | None:
    """The hard limit of message queues."""
    try:
        lines = _read(f"/proc/{pid}/limits").splitlines() if LINUX else []
    except OSError:
        return None
    return next((line.split()[4] for line in lines if line.startswith(b"Max msgqueue size")), None)


def children(pid: int) -> list[int]:
    """The pids of its children now. Some may be missing while others are just ending."""
    if not LINUX:
        return [process.pid for process in everything().values() if process.parent == pid]
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            found.extend(map(int, _read(f"/proc/{pid}/task/{thread}/children").split()))
    except OSError:
        return found
    return found


def _read(path: str) -> bytes:
    """A file of /proc whole, without what Python's files cost."""
    parts = []
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        while part := os.read(descriptor, 65536):
            parts.append(part)
    finally:
        os.close(descriptor)
    return b"".join(parts)


# Where there is no /proc. Start times have a resolution of one second, so a pid that is reused within its first second
# is not told apart; a process may hide its environment from `ps`, and then only session and parents tell.
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


def ps_look(pid: int) -> Process | None:
    """One process; None: there is none."""
    lines = _ps("-o", _COLUMNS, "-p", str(pid))
    return _parse(lines[0]) if lines else None


def ps_everything() -> dict[int, Process]:
    """Every process by pid."""
    processes = (_parse(line) for line in _ps("-A", "-o", _COLUMNS))
    return {process.pid: process for process in processes}


def resident(pids: Sequence[int]) -> int:
    """Bytes of memory that these processes hold."""
    found = (line.strip() for line in _ps("-o", "rss=", "-p", ",".join(map(str, pids))))
    return sum(int(word) for word in found if word.isdigit()) * 1024


# What several of them share is counted for each. What a run detached is still below its wrapper, which adopts it.
def held_mb(pid: int | None, mark: str) -> int | None:
    """MB held by the process that was started with this mark, and by what is below it; None: it does not live."""
    process = look(pid) if pid else None
    if process is None or not process.running or process.mark != mark:
        return None
    return resident_mb([process.pid, *below(process.pid)])


def resident_mb(pids: Sequence[int]) -> int:
    """MB held by these processes together."""
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
