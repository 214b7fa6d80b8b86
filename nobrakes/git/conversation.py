"""A git command that goes on answering: a question costs no process.

1. It is started with the first question, and again after it did not answer one.
2. It ends by itself when this process does, since its input closes.
3. A question has a time, counted from the last byte that moved: silence for so long is NoAnswer, and the process ended.
4. Its errors go nowhere: a pipe that nobody empties would stop a long conversation.
"""

import contextlib
import os
import select
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ..core.errors import NoAnswer
from . import bounded, commands

if TYPE_CHECKING:
    import subprocess

T = TypeVar("T")


class Line:
    """A started command and what it says. OSError, EOFError: it is dead; NoAnswer: it hangs."""

    def __init__(self, arguments: Sequence[str], git_dir: str, env: Mapping[str, str]) -> None:
        self._arguments = arguments
        self.process = commands.converse(arguments, git_dir, env)
        assert self.process.stdin is not None and self.process.stdout is not None
        self._in, self._out = self.process.stdin.fileno(), self.process.stdout.fileno()
        os.set_blocking(self._in, False)
        self._heard = bytearray()

    def say(self, question: bytes) -> None:
        """Tell it all of this; what it answers meanwhile is kept."""
        rest = memoryview(question)
        while rest:
            try:
                rest = rest[os.write(self._in, rest[: bounded.CHUNK]) :]
            except BlockingIOError:
                if self._waited(self._in, select.POLLOUT) == self._out:
                    self._hear()

    def line(self) -> bytes:
        """The next line with its end."""
        searched = 0
        while (end := self._heard.find(b"\n", searched)) < 0:
            searched = len(self._heard)
            self._waited()
            self._hear()
        return self._cut(end + 1)

    def read(self, size: int) -> bytes:
        """The next `size` bytes."""
        while len(self._heard) < size:
            self._waited()
            self._hear()
        return self._cut(size)

    def _cut(self, size: int) -> bytes:
        said = bytes(memoryview(self._heard)[:size])
        del self._heard[:size]
        return said

    def _hear(self) -> None:
        piece = os.read(self._out, bounded.CHUNK)
        if not piece:
            raise EOFError
        self._heard += piece

    def _waited(self, number: int = -1, event: int = 0) -> int:
        """Wait for its words, or also for `event` at `number`; the descriptor that is ready."""
        polled = select.poll()
        polled.register(self._out, select.POLLIN)
        if event:
            polled.register(number, event)
        ready = [found for found, _ in polled.poll(bounded.SHORT_SECONDS * 1000)]
        if not ready:
            raise bounded.no_answer(self._arguments, bounded.SHORT_SECONDS)
        return self._out if self._out in ready else ready[0]


class Conversation:
    """One lasting git command. Threads take turns."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self._arguments = arguments
        self._line: Line | None = None
        self._lock = threading.Lock()

    @property
    def process(self) -> "subprocess.Popen[bytes] | None":
        """The process that answers; None: no question was asked since the last one ended."""
        return None if self._line is None else self._line.process

    def hold(self, talk: Callable[[Line], T], git_dir: str, env: Mapping[str, str]) -> T:
        """What comes of `talk`, alone with the process; one that died of it, or hung, is dropped."""
        with self._lock:
            whole, hangs = False, False
            try:
                if self._line is None:
                    self._line = Line(self._arguments, git_dir, env)
                answer = talk(self._line)
                whole = True
                return answer
            except NoAnswer:
                hangs = True
                raise
            finally:
                if not whole:
                    self._drop(hangs)  # in the middle of a word: nobody could go on from here

    def ask(self, question: bytes, lines: int, git_dir: str, env: Mapping[str, str]) -> list[bytes]:
        """The answer's lines, each with its end; fewer than `lines`: it died of the question, or before. NoAnswer."""
        answers: list[bytes] = []

        def talk(line: Line) -> Any:
            line.say(question)
            while len(answers) < lines:
                answers.append(line.line())

        with contextlib.suppress(OSError, EOFError):
            self.hold(talk, git_dir, env)
        return answers

    def close(self) -> None:
        """End the process; the next question starts another."""
        with self._lock:
            self._drop(False)

    def _drop(self, hangs: bool) -> None:
        line, self._line = self._line, None
        if line is not None:
            commands.hang_up(line.process, hangs)
