"""What the recorder does: an agent's words in files, a check's passed on, both bounded (host.runs.recorder).

1. An agent's secrets are blacked out before writing (text.redaction, and the environment's secret values). A check's
   output is evidence and stays unchanged.
2. OUT and ERR are private files. At half of its limit (BYTES for OUT, a sixteenth for ERR) a file becomes FILE.1 and
   starts again, so the newest output is kept. For a check the beginning and the newest are kept, with a line about the
   gap.
3. The exit code is the agent's (128 + N for signal N). Signals stop the agent; the recorder ends after it, when
   everything is written. A full disk costs lines, never the agent.
4. Standard library and nobrakes' secret rules only: it outlives the daemon that started it.
5. It precedes every agent and check, so it imports nothing slow (`subprocess` and `selectors` took twice as long as the
   rest); the rules load with the first output.
"""

import _signal  # type: ignore[import-not-found]
import os
import select
import sys
from _collections import deque  # type: ignore[import-not-found]

from ...paths import process_environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...text.redaction import Redactor

HELD = 1024 * 1024
"""Longer lines are written in parts."""
OVERLAP = 4096
"""Bytes held back of a part, for a secret across the cut."""
LAST_BLOCKS = 16
"""Final reads of a pipe: all that it held when the agent ended, even if others keep writing."""
_BYTES = "latin-1"

MAX_OUTPUT_BYTES = 64 * 1024 * 1024
"""Stored bytes of an agent's OUT, a check, or a setup."""
NEWEST = 1_000_000
"""Stored bytes of a check's end; fewer than are read for judging."""
LEFT_OUT = "[nobrakes kept no more of this output, and left out here: {} B]"


def capped(argv: "Sequence[str]") -> "tuple[str, ...]":
    return (*_PROGRAM, str(MAX_OUTPUT_BYTES), "--", *argv)


def recorded(argv: "Sequence[str]", out: str, err: str) -> "tuple[str, ...]":
    return (*_PROGRAM, out, err, str(MAX_OUTPUT_BYTES), "--", *argv)


def left_out(text: str) -> int:
    """The number of omitted bytes in such an output; 0: none. Forging that line only harms its author."""
    import re  # only for who reads it: each check waits until this is imported

    before, _, after = LEFT_OUT.partition("{}")
    found = re.search(f"^{re.escape(before)}([0-9]{{1,18}}){re.escape(after)}$", text, re.MULTILINE)
    return int(found[1]) if found else 0


_PROGRAM = (sys.executable, "-I", "-S", os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorder.py"))


class Passed:
    """Passes output on, except between its beginning and its newest part."""

    def __init__(self, limit: int) -> None:
        self.newest = min(NEWEST, limit // 2)
        self.room = limit - self.newest
        self.end: deque[bytes] = deque()
        self.held = 0
        self.left_out = 0

    def add(self, block: bytes) -> None:
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

    def __init__(self, path: str, limit: int) -> None:
        self.path = path
        self.half = max(1, limit // 2)
        self._redactor: Redactor | None = None
        self.rest = b""
        self.descriptor = self._open()
        self.size = os.fstat(self.descriptor).st_size

    def _open(self) -> int:
        return os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)

    def add(self, block: bytes) -> None:
        """Write the complete lines so far."""
        data = self.rest + block
        end = data.rfind(b"\n") + 1
        if not end and len(data) > HELD:
            rules = self._rules()
            end = rules.cut(data.decode(_BYTES), OVERLAP) if rules is not None else len(data)
        self.rest = data[end:]
        if end:
            self._write(self._clean(data[:end]))

    def finish(self) -> None:
        if self.rest:
            self._write(self._clean(self.rest))
        self.rest = b""

    def _clean(self, data: bytes) -> bytes:
        rules = self._rules()
        return rules.feed(data.decode(_BYTES)).encode(_BYTES) if rules is not None else b""

    def _rules(self) -> "Redactor | None":
        """None: nobrakes was removed meanwhile, so nothing unchecked is written."""
        if self._redactor is None:
            try:
                from ...text.redaction import Redactor, secret_values
            except ImportError:
                return None
            given = (
                (name, text.encode("utf-8", "surrogateescape").decode(_BYTES))
                for name, text in process_environment().items()
            )
            self._redactor = Redactor(secret_values(given))
        return self._redactor

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
    return (File(out, limit), File(err, limit // 16))


def record(files: "Sequence[File | Passed]", argv: "list[str]") -> int:
    """Run `argv` and record its output, errors in the last file; returns its exit code."""
    try:
        child, streams = _started(argv, apart=len(files) > 1)
    except OSError as error:
        files[-1].add(f"{argv[0]}: {error.strerror}\n".encode())
        files[-1].finish()
        return 127 if isinstance(error, FileNotFoundError) else 126
    for number in (_signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP, _signal.SIGQUIT):
        _signal.signal(number, _signal.SIG_IGN)  # after the start: the agent must hear them
    said = dict(zip(streams, files, strict=True))
    watched = select.poll()
    for stream in streams:
        os.set_blocking(stream, False)
        watched.register(stream, select.POLLIN)
    ended = os.pidfd_open(child) if hasattr(os, "pidfd_open") else -1
    if ended >= 0:
        watched.register(ended, select.POLLIN)
    status = None
    while status is None and said:
        for number, _ in watched.poll(None if ended >= 0 else 200):
            if number == ended:
                status = os.waitpid(child, 0)[1]
            else:
                _take(number, said)
                if number not in said:
                    watched.unregister(number)
        if status is None and ended < 0:
            gone, code = os.waitpid(child, os.WNOHANG)
            status = code if gone else None
    # what it said last is in the pipes; who still holds them open is not waited for, nor heard for ever
    for stream in list(said):
        blocks = LAST_BLOCKS
        while blocks and _take(stream, said):
            blocks -= 1
    for file in files:
        file.finish()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1] if status is None else status)
    return 128 - code if code < 0 else code


def _started(argv: "list[str]", apart: bool) -> "tuple[int, list[int]]":
    pipes = [os.pipe() for _ in range(2 if apart else 1)]
    outputs = [(os.POSIX_SPAWN_DUP2, pipes[0][1], 1), (os.POSIX_SPAWN_DUP2, pipes[-1][1], 2)]
    ignored_here = [number for number in (_signal.SIGPIPE, getattr(_signal, "SIGXFSZ", None)) if number is not None]
    try:
        child = os.posix_spawnp(argv[0], argv, process_environment(), file_actions=outputs, setsigdef=ignored_here)
    finally:
        for _, writer in pipes:
            os.close(writer)
    return child, [reader for reader, _ in pipes]


def _take(stream: int, said: "dict[int, File | Passed]") -> bool:
    try:
        block = os.read(stream, 256 * 1024)
    except BlockingIOError:
        return False
    if block:
        said[stream].add(block)
        return True
    del said[stream]
    return False
