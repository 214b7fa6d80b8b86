"""Forks for a daemon: a process so small that a fork of it costs a tenth of the daemon's own.

Run by path with `python -I -S`: standard library only, no import of nobrakes. Its input is a socket to the daemon.

1. What it starts is the daemon's child and not its own (CLONE_PARENT): the daemon collects it as it always did.
2. What it starts adopts its orphans, which only a process itself can ask for, and before it becomes another program.
3. It has one thread, so that what a new process does before its exec is safe. It ends with the daemon: by end of file.
4. It answers with the pid as soon as there is one, and the daemon goes on meanwhile. Only for words that may be too
   long for an exec it waits until that is done.
"""

import array
import ctypes
import marshal
import os
import platform
import signal
import socket
import struct
import sys

_CLONE = {"x86_64": 56, "aarch64": 220}
"""The number of the system call, by machine."""
_CLONE_PARENT = 0x8000
_PR_SET_CHILD_SUBREAPER = 36

_LIBC = ctypes.CDLL(None, use_errno=True)

LENGTH = struct.Struct("=Q")
"""Before a request: the bytes that follow. With it comes the descriptor for the new process's errors."""
_ERRNO = struct.Struct("=i")
ANSWER = struct.Struct("=ii")
"""The new process's pid and an errno; one of them is 0."""
SHORT = 1 << 16
"""Bytes of a request with words that every exec takes: Linux always has room for twice as many (execve(2))."""


def able() -> bool:
    """Whether this machine can start processes in this way."""
    return sys.platform.startswith("linux") and platform.machine() in _CLONE


def start(argv: "list[bytes]", environment: "dict[bytes, bytes]", errors: int, waits: bool) -> "tuple[int, int]":
    """(pid, errno) of a new session's leader, a child of this process's parent.

    `waits`: until it shows its environment, or an errno tells why it cannot. One that is not waited for says so in
    `errors`.
    """
    told, tell = os.pipe()
    pid = _LIBC.syscall(_CLONE[platform.machine()], _CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        try:
            os.setsid()
            _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
            nothing = os.open(os.devnull, os.O_RDWR)
            for number, one in enumerate((nothing, nothing, errors)):
                os.dup2(one, number)
            for name in (signal.SIGPIPE, signal.SIGXFSZ):  # this interpreter ignores them
                signal.signal(name, signal.SIG_DFL)
            os.execve(argv[0], argv, environment)
        except OSError as error:
            if waits:
                os.write(tell, _ERRNO.pack(error.errno or 1))
            else:
                os.write(errors, b"%s: %s\n" % (argv[0], os.fsencode(error.strerror or "")))
        finally:
            os._exit(127)
    trouble = ctypes.get_errno() if pid < 0 else 0
    os.close(tell)
    said = os.read(told, _ERRNO.size) if waits else b""  # ends when the exec is done
    os.close(told)
    if said:
        (trouble,) = _ERRNO.unpack(said)
    return (0, trouble) if trouble else (pid, 0)


def serve(line: socket.socket) -> None:
    """Answer requests until the daemon has gone."""
    while True:
        flags = socket.MSG_WAITALL | socket.MSG_CMSG_CLOEXEC
        head, ancillary, _, _ = line.recvmsg(LENGTH.size, socket.CMSG_SPACE(4), flags)
        if len(head) < LENGTH.size:
            return
        given = array.array("i")
        for _, _, data in ancillary:
            given.frombytes(data[: len(data) - len(data) % given.itemsize])
        (length,) = LENGTH.unpack(head)
        missing, parts = length, []
        while missing and (part := line.recv(min(missing, 1 << 20))):
            parts.append(part)
            missing -= len(part)
        if missing or len(given) != 1:
            return
        argv, environment = marshal.loads(b"".join(parts))
        answer = start(argv, environment, given[0], length > SHORT)
        os.close(given[0])
        line.sendall(ANSWER.pack(*answer))


if __name__ == "__main__":
    serve(socket.socket(fileno=0))
