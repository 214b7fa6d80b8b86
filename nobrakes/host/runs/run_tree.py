"""Which processes belong to a run, and how they are signalled.

1. A process belongs to a run when it is its wrapper, is in its session, carries its marker, descends from one that
   does, or is in a session that one of the run began. Sessions and markers spread by birth alone, and nobody can join
   them. A wrapper has neither in its first moments.
2. A session id is believed only while it cannot have been given away again.
3. With the wrapper gone, who is known from before, writes the run's output, or was left to the daemon by a dead wrapper
   without any sign, belongs to it as well.
4. A signal goes to a process that was looked at, never to whoever got its pid since.
"""

import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass

from ..system import proctable
from ..system.process import Process

RUN_MARKER = "NOBRAKES_RUN"
HOME_MARKER = "NOBRAKES_WAKE"


@dataclass(frozen=True, slots=True)
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
