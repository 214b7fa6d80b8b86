"""A program that is asked something, in bounded time: what it was given, what it printed, how it ended.

1. It has no terminal, and a session of its own: what takes too long is killed with all that it started.
2. Files hold what it prints, and not pipes: what outlives it keeps nobody waiting. What is read of them is bounded.
"""

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MOST = 8_000_000


@dataclass(frozen=True, slots=True)
class Asked:
    """How it ended. `code` None: it took too long; 127: there is no such program."""

    code: int | None
    out: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Asking:
    """Asks programs in one environment, each for so many seconds at most."""

    env: Mapping[str, str]
    seconds: float

    def __call__(self, argv: Sequence[str], given: bytes) -> Asked:
        """Run it with this standard input to its end."""
        with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error:
            stdin.write(given)
            stdin.seek(0)
            try:
                child = subprocess.Popen(
                    argv, env=dict(self.env), stdin=stdin, stdout=out, stderr=error, start_new_session=True, cwd="/"
                )
            except OSError as failed:
                return Asked(127, "", f"{argv[0]}: {failed.strerror}")
            try:
                code: int | None = child.wait(self.seconds)
            except subprocess.TimeoutExpired:
                code = None
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(2.0)
            texts = []
            for file in (out, error):
                file.seek(0)
                texts.append(file.read(MOST).decode("utf-8", "replace"))
            return Asked(code, *texts)
