"""Forks for a daemon: a process so small that a fork of it costs a tenth of the daemon's own.

Run by path: `python -I -S forkserver.py PACKAGE ROOM`. It loads nobrakes' own programs (programs), so that a
fork of it is one of them without an exec, and imports nothing else of nobrakes. Its input is a socket to the daemon.

1. What it starts is the daemon's child (CLONE_PARENT), collected as always.
2. What it starts adopts its orphans, which a process can only request itself, before its exec.
3. It has one thread, so that what is forked may go on in Python, and nothing of the daemon's memory or environment.
4. A new process exists in advance and waits at the socket for its program, so the daemon waits for no fork; only for
   long arguments it waits until the exec is done.
5. Both end with the daemon, by end of file. If one is killed, the other's answer or the end of file comes: the daemon
   never waits in vain.
"""

import array
import contextlib
import ctypes
import errno
import marshal
import os
import platform
import resource
import signal
import socket
import struct
import sys

_CLONE = {"x86_64": 56, "aarch64": 220}
"""The system call's number by machine."""
_CLONE_PARENT = 0x8000
_PR_SET_NAME = 15
_PR_SET_CHILD_SUBREAPER = 36

_LIBC = ctypes.CDLL(None, use_errno=True)

READY = b"nobrakes-ready"
"""Name of a process that waits for its request."""
LENGTH = struct.Struct("=Q")
"""Before a request: its length, with the descriptor for errors. 0 asks for another process after a failed fork."""
_ERRNO = struct.Struct("=i")
ANSWER = struct.Struct("=ii")
"""The pid of the waiting or requested process, and an errno; one of them is 0."""
RESET_SIGNALS = (signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE, signal.SIGXFSZ)
"""Signals reset in new processes: shells ignore the first two in background commands, this interpreter the others."""
SHORT = 1 << 16
"""Bytes of a request that every exec accepts: Linux allows twice as many (execve(2))."""
_TAKEN, _TAKEN_LONG = b"s", b"l"
ROOM = " " * (1 << 14)
"""A word and a variable of its start: the memory where a fork shows its own."""


def able() -> bool:
    return sys.platform.startswith("linux") and platform.machine() in _CLONE


def bear_mark() -> None:
    """Mark this process and its descendants: one byte less of message queues, a hard limit that only root can raise."""
    which = getattr(resource, "RLIMIT_MSGQUEUE", None)
    if which is None:
        return  # macOS
    soft, hard = resource.getrlimit(which)
    less = (1 << 40 if hard == resource.RLIM_INFINITY else hard) - 1
    if less >= 0:
        resource.setrlimit(which, (less if soft == resource.RLIM_INFINITY else min(soft, less), less))


def serve(line: socket.socket) -> None:
    while True:
        told, tell = os.pipe()
        pid = _LIBC.syscall(_CLONE[platform.machine()], _CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0)
        if pid == 0:
            os.close(told)
            _become(line, tell)
        trouble = ctypes.get_errno() if pid < 0 else 0
        os.close(tell)
        if trouble:
            line.sendall(ANSWER.pack(0, trouble))
        taken = line.recv(LENGTH.size, socket.MSG_WAITALL) if trouble else os.read(told, 1)
        if not taken:
            return
        if taken == _TAKEN_LONG:
            said = os.read(told, _ERRNO.size)  # ends when the exec is done
            (trouble,) = _ERRNO.unpack(said) if said else (0,)
            line.sendall(ANSWER.pack(0 if trouble else pid, trouble))
        os.close(told)


def _become(line: socket.socket, tell: int) -> None:
    """Wait as a new session's leader for a request, and exec it. Does not return."""
    errors, waits = -1, False
    try:
        os.setsid()
        _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        _LIBC.prctl(_PR_SET_NAME, READY, 0, 0, 0)
        line.sendall(ANSWER.pack(os.getpid(), 0))
        request = _heard(line)
        if request is None:
            os._exit(0)
        argv, environment, errors, waits = request
        with contextlib.suppress(BrokenPipeError):  # the server was killed, and the daemon asks its successor next
            os.write(tell, _TAKEN_LONG if waits else _TAKEN)
        nothing = os.open(os.devnull, os.O_RDWR)
        for number, one in enumerate((nothing, nothing, errors)):
            os.dup2(one, number)
        errors = 2
        bear_mark()
        for name in RESET_SIGNALS:
            signal.signal(name, signal.SIG_DFL)
        if waits:
            os.execve(argv[0], argv, environment)
        become(argv, environment)
    except Exception as error:  # also of words that are none, such as one with a zero in it
        if waits:
            os.write(tell, _ERRNO.pack(getattr(error, "errno", None) or errno.EINVAL))
        elif errors >= 0:
            why = getattr(error, "strerror", None) or error
            os.write(errors, f"{argv[0]}: {why}\n".encode("utf-8", "backslashreplace"))
    finally:
        os._exit(127)


def _heard(line: socket.socket) -> "tuple[list[str], dict[str, str], int, bool] | None":
    flags = socket.MSG_WAITALL | socket.MSG_CMSG_CLOEXEC
    head, ancillary, _, _ = line.recvmsg(LENGTH.size, socket.CMSG_SPACE(4), flags)
    if len(head) < LENGTH.size:
        return None
    given = array.array("i")
    for _, _, data in ancillary:
        given.frombytes(data[: len(data) - len(data) % given.itemsize])
    (length,) = LENGTH.unpack(head)
    missing, parts = length, []
    while missing and (part := line.recv(min(missing, 1 << 20))):
        parts.append(part)
        missing -= len(part)
    if missing or len(given) != 1:
        return None
    argv, environment = marshal.loads(b"".join(parts))
    return argv, environment, given[0], length > SHORT


if __name__ == "__main__":
    sys.path.append(os.path.dirname(sys.argv[1]))
    from nobrakes.programs import become, load

    load()
    try:
        serve(socket.socket(fileno=0))
    except OSError:
        sys.exit(1)  # the daemon has gone in the middle of a word
