"""Runs an agent and writes down what it says: `python -I -S recorder.py OUT ERR BYTES -- ARGV…`. A program of its own.

1. Secrets are blacked out before anything is written (core.redaction), and the values of the environment's secrets.
2. OUT and ERR are private files. At half of its limit (BYTES for OUT, a sixteenth for ERR) a file becomes FILE.1 and
   is begun anew, so that a flood costs no more than the limit, and the newest is kept.
3. Its exit code is the agent's (128 + N for signal N). What would stop it stops the agent, not it: it ends when the
   agent has ended and what was said is written. A disk that is full costs lines, never the agent.
4. Standard library only, and of nobrakes the rules of what is secret: it outlives the daemon that started it.
"""

import os
import selectors
import signal
import subprocess
import sys

if not __package__:  # as a program it finds its own rules, and nothing that lies beside them
    sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from nobrakes.core.redaction import Redactor, secret_values

HELD = 1024 * 1024
"""A line that is longer is written in parts."""
OVERLAP = 4096
"""What is kept back of such a part, since a secret may lie across the cut."""
LAST_BLOCKS = 16
"""So often a pipe is read once the agent has ended: all that it held then, whoever else goes on writing into it."""
_BYTES = "latin-1"
"""Bytes as text and back, one for one."""


class File:
    """A private file of two halves."""

    def __init__(self, path: str, limit: int, values: "frozenset[str]") -> None:
        self.path = path
        self.half = max(1, limit // 2)
        self.redactor = Redactor(values)
        self.rest = b""
        self.descriptor = self._open()
        self.size = os.fstat(self.descriptor).st_size

    def _open(self) -> int:
        return os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)

    def add(self, block: bytes) -> None:
        """Write the whole lines of what was said so far."""
        data = self.rest + block
        end = data.rfind(b"\n") + 1
        if not end and len(data) > HELD:
            end = self.redactor.cut(data.decode(_BYTES), OVERLAP)
        self.rest = data[end:]
        if end:
            self._write(self._clean(data[:end]))

    def finish(self) -> None:
        """Write what has no line end."""
        self._write(self._clean(self.rest))
        self.rest = b""

    def _clean(self, data: bytes) -> bytes:
        return self.redactor.feed(data.decode(_BYTES)).encode(_BYTES)

    def _write(self, data: bytes) -> None:
        try:
            while data:
                # a block may be larger than a half: then it is cut between its lines, where it has any
                end = len(data) if len(data) <= self.half else data.rfind(b"\n", 0, self.half) + 1 or self.half
                self._append(data[:end])
                data = data[end:]
        except OSError:
            pass  # the disk is full, or somebody took the folder away: these lines are lost, the agent goes on

    def _append(self, piece: bytes) -> None:
        if self.size and self.size + len(piece) > self.half:
            os.rename(self.path, self.path + ".1")
            os.close(self.descriptor)
            self.descriptor = self._open()
            self.size = 0
        while piece:
            written = os.write(self.descriptor, piece)
            self.size += written
            piece = piece[written:]


def record(out: str, err: str, limit: int, argv: "list[str]") -> int:
    """Run `argv` and write down what it says; its exit code."""
    given = ((name, value.encode("utf-8", "surrogateescape").decode(_BYTES)) for name, value in os.environ.items())
    values = secret_values(given)
    files = (File(out, limit, values), File(err, limit // 16, values))
    try:
        child = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    except OSError as error:
        files[1].add(f"{argv[0]}: {error.strerror}\n".encode())
        return 127 if isinstance(error, FileNotFoundError) else 126
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)  # after the start: the agent must hear them
    watched = selectors.DefaultSelector()
    assert child.stdout is not None and child.stderr is not None
    for stream, file in zip((child.stdout, child.stderr), files, strict=True):
        os.set_blocking(stream.fileno(), False)
        watched.register(stream, selectors.EVENT_READ, file)
    ended = os.pidfd_open(child.pid) if hasattr(os, "pidfd_open") else None
    if ended is not None:
        watched.register(ended, selectors.EVENT_READ, None)
    over = False
    while not over and any(key.data is not None for key in watched.get_map().values()):
        for key, _ in watched.select(None if ended is not None else 0.2):
            if key.data is None:
                over = True
            else:
                _take(watched, key)
        over = over or (ended is None and child.poll() is not None)
    # what it said last is in the pipes; who still holds them open is not waited for, nor heard for ever
    for key in [key for key in watched.get_map().values() if key.data is not None]:
        blocks = LAST_BLOCKS
        while blocks and _take(watched, key):
            blocks -= 1
    for file in files:
        file.finish()
    code = child.wait()
    return 128 - code if code < 0 else code


def _take(watched: "selectors.BaseSelector", key: "selectors.SelectorKey") -> bool:
    """Read a block; whether there may be more at once."""
    try:
        block = os.read(key.fd, 256 * 1024)
    except BlockingIOError:
        return False
    if block:
        key.data.add(block)
        return True
    watched.unregister(key.fileobj)
    return False


if __name__ == "__main__":
    sys.exit(record(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[5:]))
