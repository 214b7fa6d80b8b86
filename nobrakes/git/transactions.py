"""Changing our own refs through one lasting `git update-ref --stdin`: a transaction costs no process.

1. All of a transaction or nothing, on the disk before the answer.
2. The process holds no lock between transactions, and ends by itself when this one does, since its input closes.
3. A transaction that it refuses or does not answer is the caller's to try again by a command of its own, which then
   says what is wrong: setting refs of ours to what they shall be may be done twice.
4. Main does not go this way: what is written to its log has the time at which its process began.
"""

import contextlib
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from . import commands

DURABLE = ("-c", "core.fsync=committed,loose-object,reference")


class Transactions:
    """Changes refs of one repository."""

    def __init__(self) -> None:
        self._process: Any = None
        self._lock = threading.Lock()

    def close(self) -> None:
        """End the process; the next transaction starts another."""
        with self._lock:
            self._drop()

    def commit(self, lines: Sequence[str], git_dir: str, env: Mapping[str, str]) -> bool:
        """Do these lines of `git update-ref --stdin` together; False: it is not known to be done."""
        with self._lock:
            try:
                if self._process is None:
                    asked = [*DURABLE, "update-ref", "--no-deref", "--stdin"]
                    self._process = commands.converse(asked, git_dir, env)
                process = self._process
                process.stdin.write(f"start\n{''.join(lines)}prepare\ncommit\n".encode())
                process.stdin.flush()
                answers = [process.stdout.readline() for _ in range(3)]
            except OSError:
                answers = []
            if answers == [b"start: ok\n", b"prepare: ok\n", b"commit: ok\n"]:
                return True
            self._drop()
            return False

    def _drop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            # what it was never told is no loss when it is dead
            with contextlib.suppress(OSError):
                process.stdin.close()
            process.stdout.close()
            process.wait()
