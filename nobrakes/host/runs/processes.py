"""Children that survive the daemon: one small process per run, in its own session, with everything else in files.

1. The exit codes on disk are the truth (host.runs.recording); no parent is needed.
2. Every process of a run has two markers in its environment, so that detached ones are found.
3. Asking whether a run is alive looks at one process; sweeps are for ends and stops.
4. A wrapper killed alone touches the wake file like an end of its own, and so does the end of what lives on without it.
"""

import contextlib
import marshal
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from ...beads.model import Run
from ...errors import NobrakesError
from ...files import SHORT, private_folder, read_tail, storage_errors, write_private
from ...paths import PACKAGE, process_environment
from ...records import frozen
from .. import proctable
from ..port import Command, ProcessStart, Remains
from ..proctable import HOME_MARKER, RUN_MARKER, TIMEOUT, Process, Reaper, Tree, adopting, adopts_orphans, members, send
from . import forkserver, recording, wrapper
from .wrapper import Exits, Outputs

SECONDS = 20
"""Silence after which a fork server is abandoned."""
_GONE_SECONDS = 2.0
_FORK_AGAIN = forkserver.LENGTH.pack(0)


class Child:
    """A child that only this object collects."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._over = False

    def over(self) -> bool:
        """The first True collects it."""
        if not self._over:
            try:
                self._over = os.waitpid(self.pid, os.WNOHANG)[0] == self.pid
            except ChildProcessError:
                self._over = True
        return self._over


@frozen
class Started:
    """A child, and whether a failed earlier attempt may have left another."""

    child: Child
    twice: bool = False


# A small process forks in the daemon's place (host.runs.forkserver). One that was killed or hangs is restarted; what
# was asked before that may have been done, and the caller is told. Where it cannot work, the daemon forks by itself.
class Spawner:
    """Starts wrappers for one daemon."""

    def __init__(self) -> None:
        self._line: socket.socket | None = None
        self._leave: Callable[[], object] = _nothing_to_leave

    def start(self, argv: Sequence[str], environment: Mapping[str, str], errors: int) -> Started:
        """Start a session leader with only this environment. Raises OSError."""
        if not forkserver.able():
            return Started(_by_ourselves(argv, environment, errors))
        request = marshal.dumps((list(argv), dict(environment)))
        twice = False
        for _ in range(2):
            try:
                return Started(self._ask(request, errors), twice)
            except _Gone as gone:
                twice |= gone.asked
        return Started(_by_ourselves(argv, environment, errors), twice)

    def _ask(self, request: bytes, errors: int) -> Child:
        line = self._line or self._begin()
        asked = False
        try:
            pid, trouble = _hear(line)
            if trouble:  # of a fork before anybody asked, perhaps long ago
                line.sendall(_FORK_AGAIN)
                pid, trouble = _hear(line)
            if trouble:
                line.sendall(_FORK_AGAIN)  # for whoever comes next
            else:
                asked = True
                socket.send_fds(line, [forkserver.LENGTH.pack(len(request))], [errors])
                line.sendall(request)
                if len(request) > forkserver.SHORT:
                    pid, trouble = _hear(line)
        except (OSError, EOFError) as error:
            self._give_up()
            raise _Gone(asked) from error
        except BaseException:
            self._give_up()  # in the middle of a word: nobody could go on from here
            raise
        if trouble:
            raise OSError(trouble, os.strerror(trouble))
        return Child(pid)

    def _begin(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        for which in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            ours.setsockopt(socket.SOL_SOCKET, which, struct.pack("@ll", SECONDS, 0))
        with theirs:
            server = subprocess.Popen(
                # texts become bytes there, as they would here
                [
                    sys.executable,
                    "-I",
                    "-S",
                    "-X",
                    f"utf8={sys.flags.utf8_mode}",
                    forkserver.__file__,
                    PACKAGE,
                    forkserver.ROOM,
                ],
                env={**process_environment(), "NOBRAKES_ROOM": forkserver.ROOM},
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                cwd="/",
                start_new_session=True,
            )
        self._line = ours
        self._leave = weakref.finalize(self, _end, ours, server)
        return ours

    def _give_up(self) -> None:
        self._line = None
        self._leave()


def _nothing_to_leave() -> None: ...


def _hear(line: socket.socket) -> tuple[int, int]:
    answer = line.recv(forkserver.ANSWER.size, socket.MSG_WAITALL)
    if len(answer) < forkserver.ANSWER.size:
        raise EOFError
    pid, trouble = forkserver.ANSWER.unpack(answer)
    return pid, trouble


def _end(line: socket.socket, server: subprocess.Popen[bytes]) -> None:
    line.close()
    server.kill()  # by itself it would end with its line, unless it hangs
    with contextlib.suppress(subprocess.TimeoutExpired):  # it waits for a disk, and nobody waits for it
        server.wait(_GONE_SECONDS)


def _prepare(adopt: Callable[[], int] | None) -> None:
    """Runs between fork and exec: as little as possible."""
    if adopt is not None:
        adopt()
    forkserver.bear_mark()
    for name in forkserver.RESET_SIGNALS:
        signal.signal(name, signal.SIG_DFL)


class _Gone(Exception):
    """The fork server is silent. `asked`: it may have received the request."""

    def __init__(self, asked: bool) -> None:
        super().__init__()
        self.asked = asked


def _by_ourselves(argv: Sequence[str], environment: Mapping[str, str], errors: int) -> Child:
    child = subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=errors,
        cwd="/",
        env=environment,
        start_new_session=True,
        preexec_fn=partial(_prepare, adopting()),
    )
    child.returncode = 0  # Child collects it
    return Child(child.pid)


_STEP = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]*")

STARTING = 10.0

KILLING = 5.0


class LocalProcesses(Outputs):
    """Processes on this machine, for one repository's daemon."""

    def __init__(self, wake_folder: str, in_place: Callable[[], None] = lambda: None) -> None:
        self._in_place = in_place  # RepositoryReplaced, just before a run starts
        self._wake = os.path.abspath(wake_folder)
        self._spawner = Spawner()
        self._reaper = Reaper()
        self._exits = Exits(self._wake)
        self._wrappers: dict[str, Child] = {}
        self._leaving: list[Child] = []
        self._folders: dict[str, str] = {}
        self._sessions: set[int] = set()
        self._past: dict[int, float] = {}  # session -> when its run was over
        self._below_us: set[str] = set()
        self._known: dict[str, frozenset[tuple[int, int]]] = {}
        self._umask = os.umask(0o077)
        os.umask(self._umask)

    def start(self, run: str, command: Command) -> ProcessStart:
        """Start the run's wrapper, or find an earlier one. Raises DiskFull, StoreReadOnly."""
        _require_sound(command)
        self._in_place()
        self._collect()
        folder = command.folder
        fresh = private_folder(folder)
        known = self._wrappers.get(run)
        pid = known.pid if known is not None else _pid_file(folder)
        if pid is not None:
            return self._found(run, folder, pid)
        for name, content in command.files.items():
            private_folder(os.path.dirname(os.path.join(folder, name)))
            write_private(os.path.join(folder, name), content)
        argv = wrapper.arguments(command, os.path.join(self._wake, run), self._umask)
        # first, since of a long environment /proc may show the beginning alone (programs)
        first = {RUN_MARKER: run, HOME_MARKER: self._wake}
        environment = {**first, **command.env, **first}
        errors = os.path.join(folder, wrapper.OWN_ERRORS)
        with storage_errors(errors), open(errors, "ab", opener=_private) as log:
            self._in_place()
            try:
                started = self._spawner.start(argv, environment, log.fileno())
            except OSError as error:
                if error.errno in SHORT:
                    raise
                raise NobrakesError(
                    f"cannot start run {run}: {error.strerror}",
                    "A command line or its environment may be too long: pass long texts in a file.",
                ) from error
        child = started.child
        process = proctable.look(child.pid)  # there at least as a zombie: nobody else collects it
        born = ProcessStart(child.pid, process.mark if process else proctable.ended_mark())
        self._wrappers[run] = child
        self._folders[run] = folder
        self._sessions.add(child.pid)
        if fresh and not started.twice:
            if adopts_orphans():
                self._below_us.add(run)
            return born
        winner = self._await_pid(folder, child)
        if winner == child.pid:
            return born
        self._leaving.append(self._wrappers.pop(run))
        return self._found(run, folder, winner)

    def _await_pid(self, folder: str, child: Child) -> int:
        deadline = time.monotonic() + STARTING
        while (pid := _pid_file(folder)) is None and time.monotonic() < deadline:
            if child.over() and _pid_file(folder) is None:
                return 0  # neither can ever begin: the first died in the act, and the second made way
            time.sleep(0.001)
        return pid or 0

    def _found(self, run: str, folder: str, pid: int) -> ProcessStart:
        self._folders[run] = folder
        if (process := proctable.look(pid)) is not None:
            tree = Tree(run, self._wake, pid, process.mark)
            entries = proctable.environment(pid)
            known = self._wrappers.get(run)
            own = known is not None and known.pid == pid
            if own or all(marker in entries for marker in tree.markers()):
                return ProcessStart(pid, process.mark)
        return ProcessStart(pid, proctable.ended_mark())

    def alive(self, run: Run) -> bool:
        """Whether the wrapper still works, or anything of the run's tree lives."""
        process = proctable.look(run.pid) if run.pid else None
        over = False
        if process is not None and process.running and process.mark == run.born:
            self._exits.watch(process, run.id)
            over = self._is_over(run.id, process.pid)
            if not over:
                return True
        left = [p for p in self._members(run) if not (over and p.pid == run.pid)]
        for other in left:
            self._exits.watch(other, run.id)
        if not left:
            if over and process is not None:
                send(process, signal.SIGKILL)  # it only kept the tree together
            self._forget(run)
        return bool(left)

    def remains(self, run: Run, folder: str, steps: Sequence[str]) -> Remains:
        """What of its tree still lives; a change of that touches the wake file."""
        self._folders.setdefault(run.id, folder)
        # looked at first: a wrapper that is dead here is so for alive() too, which then watches what goes on without it
        process = proctable.look(run.pid) if run.pid else None
        wrapped = process is not None and process.running and process.mark == run.born
        over = wrapper.is_over(folder)  # asked after the wrapper was looked at: a dead one writes no more
        if process is not None and wrapped and not over:
            self._exits.watch(process, run.id)
            return Remains.WHOLE
        if not self.alive(run):
            return Remains.NOTHING
        if over:
            return Remains.REST
        return Remains.STEP if wrapper.is_step_alive(folder, steps) else Remains.REST

    def _is_over(self, run: str, pid: int) -> bool:
        folder = self._folder(run, pid)
        return folder is not None and wrapper.is_over(folder)

    def _folder(self, run: str, pid: int) -> str | None:
        if run not in self._folders:
            folder = wrapper.folder_in(proctable.arguments(pid))
            if folder is None:
                return None
            self._folders[run] = folder
        return self._folders[run]

    def _members(self, run: Run) -> list[Process]:
        folder = self._folders.get(run.id, "")
        known = self._known.get(run.id, frozenset()) | wrapper.processes(folder)
        pid, mark = run.pid, run.born
        child = self._wrappers.get(run.id)
        if pid is None and child is not None:
            # its start could not be written down; we know of it all the same, and it may not show its marker yet
            process = proctable.look(child.pid)
            pid, mark = child.pid, process.mark if process is not None else ""
        among = None
        if run.id in self._below_us:
            # whoever loses a parent becomes a child of ours, so nothing of the run is anywhere else
            others = {child.pid for name, child in self._wrappers.items() if name != run.id}
            among = proctable.below(os.getpid(), others, (mark and proctable.started_of(mark)) or 0)
            known |= self._strangers(run, among)
        found = members(Tree(run.id, self._wake, pid, mark, folder, known), among)
        self._known[run.id] = frozenset((process.pid, process.started) for process in found)
        return found

    def _strangers(self, run: Run, among: Mapping[int, Process]) -> frozenset[tuple[int, int]]:
        """Orphans of a dead wrapper without a sign of their run, assigned to this one. Only runs start such processes
        (bears_mark), and their wrapper is dead."""
        me, leader = os.getpid(), among.get(run.pid or 0)
        if leader is not None and leader.running:
            return frozenset()  # it adopts its orphans itself
        mine = {child.pid for child in (*self._wrappers.values(), *self._leaving)}
        sessions = self._sessions - {run.pid}
        markers = {os.fsencode(f"{RUN_MARKER}={name}") for name in self._wrappers if name != run.id}
        return frozenset(
            (one.pid, one.started)
            for one in among.values()
            if one.parent == me
            and one.pid not in mine
            and one.session not in sessions
            and proctable.bears_mark(one.pid)
            and not markers.intersection(proctable.environment(one.pid))
        )

    def _forget(self, run: Run) -> None:
        """The run is fully dead. Until here its wrapper's zombie reserves the session id."""
        self._folders.pop(run.id, None)
        self._sessions.discard(run.pid or 0)
        if run.pid:
            self._past[run.pid] = time.monotonic()
        self._below_us.discard(run.id)
        self._known.pop(run.id, None)
        if (child := self._wrappers.pop(run.id, None)) is not None:
            self._leaving.append(child)
        self._collect()

    def _collect(self) -> None:
        self._leaving = [child for child in self._leaving if not child.over()]
        mine = {child.pid for child in (*self._wrappers.values(), *self._leaving)}
        oldest = time.monotonic() - TIMEOUT
        self._past = {session: at for session, at in self._past.items() if at >= oldest}
        # what dies with a run, as its sandbox does, comes to us a moment after it
        self._reaper.collect(self._sessions | self._past.keys(), mine)

    def terminate(self, run: Run) -> None:
        """TERM to the tree without bubblewrap, stopped processes continued. The wrapper gets a file, so it can record
        the end."""
        wrapper_knows = self._tell_wrapper(run)
        for process in self._members(run):
            if wrapper_knows and process.pid == run.pid:
                continue
            proctable.ask_to_end(process)
            send(process, signal.SIGCONT)

    def _tell_wrapper(self, run: Run) -> bool:
        """Ask the wrapper to stop after its present step; False: impossible."""
        process = proctable.look(run.pid) if run.pid else None
        if process is None or not process.running or process.mark != run.born:
            return False
        folder = self._folder(run.id, process.pid)
        if folder is None:
            return False
        try:
            write_private(os.path.join(folder, recording.STOP), b"")
        except (NobrakesError, OSError):
            return False  # then it gets the signal as well, which ends it without a word
        return True

    def kill(self, run: Run) -> None:
        """KILL in rounds until a sweep finds none; the error names survivors."""
        deadline = time.monotonic() + KILLING
        pause = 0.001
        told: list[Process] = []  # while a process ends it is not a member any more, and still there
        while left := [*self._members(run), *(p for p in told if _still_there(p))]:
            if time.monotonic() > deadline:
                pids = ", ".join(sorted({str(process.pid) for process in left}))
                raise NobrakesError(
                    f"cannot stop run {run.id}: process {pids} is still there after SIGKILL",
                    "`ps -p PID -o pid,user,stat,wchan,args` shows why: it waits for a disk, or belongs to root.",
                )
            told = list(dict.fromkeys(left))  # in this order: the wrapper must not see its step end
            for process in told:
                send(process, signal.SIGKILL)
            time.sleep(pause)
            pause = min(0.05, pause * 2)
        self._forget(run)

    def memory_mb(self, run: Run) -> int:
        held = proctable.held_mb(run.pid, run.born)
        return proctable.resident_mb([one.pid for one in self._members(run)]) if held is None else held

    def activity(self, run: Run, folder: str, workspace: str) -> str:
        process = proctable.look(run.pid) if run.pid else None
        if process is not None and process.running and process.mark == run.born:
            tree = [process, *proctable.below(process.pid).values()]
            self._known[run.id] = frozenset((one.pid, one.started) for one in tree)  # should the wrapper be killed
        else:
            tree = self._members(run)
        return proctable.fingerprint(tree, folder, workspace, run.activity)


def _still_there(process: Process) -> bool:
    now = proctable.look(process.pid)
    return now is not None and now.running and now.started == process.started


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _pid_file(folder: str) -> int | None:
    text = read_tail(os.path.join(folder, recording.PID), 100)
    return int(text) if text.endswith(b"\n") and text.strip().isdigit() else None


def _require_sound(command: Command) -> None:
    """ValueError for a command that the wrapper cannot handle."""
    names = [step.name for step in command.steps]
    if len(set(names)) != len(names) or not all(_STEP.fullmatch(name) for name in names):
        raise ValueError(f"step names must differ and be plain: {names}")
    if not (os.path.isabs(command.folder) and os.path.isabs(command.cwd)):
        raise ValueError(f"paths must be absolute: {command.folder}, {command.cwd}")
    known: set[str] = set()
    for step in command.steps:
        if step.after and (step.after not in known or step.beside):
            raise ValueError(f"step {step.name} comes after {step.after}, which is not before it")
        if set(step.when_passed) - known or (step.when_passed and (step.after or step.beside)):
            raise ValueError(f"step {step.name} comes after {step.when_passed}, which are not all before it")
        known.add(step.name)
    if not all(words and words[0] for words in (*command.prologue, *(step.argv for step in command.steps))):
        raise ValueError("a command without a program")
    for name in command.files:
        if os.path.isabs(name) or ".." in name.split("/"):
            raise ValueError(f"a file outside of the run's folder: {name}")
