"""Starting the shells of runs: through a small process that forks in the daemon's place (host.runs.forkserver).

1. A shell that is started adopts its orphans, whether the daemon lives or not. The daemon is its parent.
2. The process that becomes the shell mostly waits for that already; only right after another start it is being forked.
3. A fork server that was killed, or that hangs, is started anew; what was asked before that may have been done, and
   the caller is told.
4. Where it cannot work, the daemon forks by itself: dearer, and otherwise the same.
"""

import contextlib
import marshal
import os
import signal
import socket
import struct
import subprocess
import sys
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from . import forkserver
from .reaper import adopting

SECONDS = 20
"""A fork server that is silent for so long hangs, and is given up."""
_GONE_SECONDS = 2.0
_FORK_AGAIN = forkserver.LENGTH.pack(0)


class Child:
    """A child of this process that nobody else collects."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._over = False

    def over(self) -> bool:
        """Whether it has ended; the first yes collects it."""
        if not self._over:
            try:
                self._over = os.waitpid(self.pid, os.WNOHANG)[0] == self.pid
            except ChildProcessError:
                self._over = True
        return self._over


@dataclass(frozen=True, slots=True)
class Started:
    """A child, and whether an attempt before it, cut off, may have left another."""

    child: Child
    twice: bool = False


class Spawner:
    """Starts shells for one daemon."""

    def __init__(self) -> None:
        self._line: socket.socket | None = None
        self._leave: Callable[[], object] = _nothing_to_leave

    def start(self, argv: Sequence[str], environment: Mapping[str, str], errors: int) -> Started:
        """A new session's leader with these words and nothing but this environment. OSError: it cannot be started."""
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
                [sys.executable, "-I", "-S", "-X", f"utf8={sys.flags.utf8_mode}", forkserver.__file__],
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


def _nothing_to_leave() -> None:
    """There is no fork server yet."""


def _hear(line: socket.socket) -> tuple[int, int]:
    """The next word from there: a pid, or an errno. EOFError: there is nobody."""
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
    """Between fork and exec, so as little as can be."""
    if adopt is not None:
        adopt()
    forkserver.bear_mark()
    for name in forkserver.HEARD:
        signal.signal(name, signal.SIG_DFL)


class _Gone(Exception):
    """The fork server does not answer. `asked`: it may have heard what it was to start."""

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
