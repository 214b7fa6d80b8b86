"""A git command that goes on answering, line by line: a question costs no process.

1. It is started with the first question, and again after it did not answer one.
2. It ends by itself when this process does, since its input closes.
"""

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from . import commands


class Conversation:
    """One lasting git command. Threads take turns."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self._arguments = arguments
        self._process: Any = None
        self._lock = threading.Lock()

    def ask(self, question: bytes, lines: int, git_dir: str, env: Mapping[str, str]) -> list[bytes]:
        """The answer's lines, each with its end; fewer than `lines`: it died of the question, or before."""
        with self._lock:
            answers: list[bytes] = []
            try:
                if self._process is None:
                    self._process = commands.converse(self._arguments, git_dir, env)
                self._process.stdin.write(question)
                self._process.stdin.flush()
                while len(answers) < lines and (line := self._process.stdout.readline()).endswith(b"\n"):
                    answers.append(line)
            except OSError:
                self._drop()
            if len(answers) < lines:
                self._drop()
            return answers

    def close(self) -> None:
        """End the process; the next question starts another."""
        with self._lock:
            self._drop()

    def _drop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            commands.hang_up(process)
