"""Runs an agent and writes down what it says: `python -I -S recorder.py OUT ERR BYTES -- ARGV…`. A program of its own.

A check has its output and its errors passed on, as they come: `python -I -S recorder.py BYTES -- ARGV…`.

1. Of an agent secrets are blacked out before anything is written (core.text.redaction), and the values of the
   environment's secrets. What a check says is what it is judged by: it is passed on unchanged.
2. OUT and ERR are private files. At half of its limit (BYTES for OUT, a sixteenth for ERR) a file becomes FILE.1 and
   is begun anew, so that a flood costs no more than the limit, and the newest is kept.
   Of a check the beginning and the newest are kept, and a line between them says how much is not.
3. Its exit code is the agent's (128 + N for signal N). What would stop it stops the agent, not it: it ends when the
   agent has ended and what was said is written. A disk that is full costs lines, never the agent.
4. Standard library only, and of nobrakes the rules of what is secret: it outlives the daemon that started it.
"""

import os
import selectors
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Sequence

if not __package__:  # as a program it finds its own rules, and nothing that lies beside them
    sys.path.append(os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3)))

HELD = 1024 * 1024
"""A line that is longer is written in parts."""
OVERLAP = 4096
"""What is kept back of such a part, since a secret may lie across the cut."""
LAST_BLOCKS = 16
"""So often a pipe is read once the agent has ended: all that it held then, whoever else goes on writing into it."""
_BYTES = "latin-1"
"""Bytes as text and back, one for one."""


MOST = 64 * 1024 * 1024
"""Bytes that are kept of what an agent says on OUT, of a check, and of a setup."""
NEWEST = 1_000_000
"""Bytes of a check's end that are kept whatever came before; less than what is read of it for judging."""
LEFT_OUT = "[nobrakes kept no more of this output: {} bytes are left out here]"


def capped(argv: "Sequence[str]") -> "tuple[str, ...]":
    """The argv with an output that is bounded, its errors among it."""
    return (*_PROGRAM, str(MOST), "--", *argv)


def recorded(argv: "Sequence[str]", out: str, err: str) -> "tuple[str, ...]":
    """The argv with its output and its errors in these files, bounded and without secrets."""
    return (*_PROGRAM, out, err, str(MOST), "--", *argv)


def left_out(text: str) -> int:
    """How many bytes such an output says were left out; 0: none. Who prints that line deceives nobody else."""
    import re  # only for who reads it: each check waits for the start of this program

    before, _, after = LEFT_OUT.partition("{}")
    found = re.search(f"^{re.escape(before)}([0-9]{{1,18}}){re.escape(after)}$", text, re.MULTILINE)
    return int(found[1]) if found else 0


_PROGRAM = (sys.executable, "-I", "-S", os.path.abspath(__file__))


class Passed:
    """Output that is passed on to our own, but for what lies between its beginning and its newest."""

    def __init__(self, limit: int) -> None:
        self.newest = min(NEWEST, limit // 2)
        self.room = limit - self.newest
        self.end: deque[bytes] = deque()
        self.held = 0
        self.left_out = 0

    def add(self, block: bytes) -> None:
        """Pass it on while there is room, then hold the newest."""
        begin, rest = block[: self.room], block[self.room :]
        if begin:
            self.room -= len(begin)
            self._write(begin)
        if rest:
            self.end.append(rest)
            self.held += len(rest)
            while self.held - len(self.end[0]) >= self.newest:
                self.left_out += len(self.end[0])
                self.held -= len(self.end.popleft())

    def finish(self) -> None:
        """Pass on what is held."""
        if self.left_out:
            self._write(f"\n{LEFT_OUT.format(self.left_out)}\n".encode())
        for block in self.end:
            self._write(block)

    def _write(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(1, data) :]
        except OSError:
            pass  # the disk is full: these lines are lost, the check goes on, and what it is counted by is missing


class File:
    """A private file of two halves."""

    def __init__(self, path: str, limit: int, values: "frozenset[str]") -> None:
        from nobrakes.core.text.redaction import Redactor

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


def files_of(out: str, err: str, limit: int) -> "tuple[File, File]":
    """An agent's output and errors."""
    from nobrakes.core.text.redaction import secret_values

    given = ((name, value.encode("utf-8", "surrogateescape").decode(_BYTES)) for name, value in os.environ.items())
    values = secret_values(given)
    return (File(out, limit, values), File(err, limit // 16, values))


def record(files: "Sequence[File | Passed]", argv: "list[str]") -> int:
    """Run `argv` and write down what it says, its errors in the last of the files; its exit code."""
    errors = subprocess.PIPE if len(files) > 1 else subprocess.STDOUT
    try:
        child = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=errors, bufsize=0)
    except OSError as error:
        files[-1].add(f"{argv[0]}: {error.strerror}\n".encode())
        files[-1].finish()
        return 127 if isinstance(error, FileNotFoundError) else 126
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)  # after the start: the agent must hear them
    watched = selectors.DefaultSelector()
    streams = [stream for stream in (child.stdout, child.stderr) if stream is not None]
    for stream, file in zip(streams, files, strict=True):
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
    at = sys.argv.index("--")
    most, paths = int(sys.argv[at - 1]), sys.argv[1 : at - 1]
    sys.exit(record(files_of(paths[0], paths[1], most) if paths else (Passed(most),), sys.argv[at + 1 :]))
