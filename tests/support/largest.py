"""Which of the processes that begin meanwhile is the largest: nobrakes' own ones apart from those of runs.

1. A process is nobrakes' own if it has the person's home and no mark of a run: the daemon, its forkserver, its git. An
   agent, a check and what they start have the mark, a home of their own, or neither.
2. What is read is the peak that the kernel keeps, so what grows between two looks is seen while the process lives.
"""

import os
import threading
from pathlib import Path
from types import TracebackType

_EVERY = 0.05  # seconds
_MARKS = (b"NOBRAKES_RUN=", b"NOBRAKES_TOKEN=")


class Largest:
    """Looks on while its block runs. `own` and `others`: (kilobytes, command line) of the largest of each kind."""

    def __init__(self, home: Path) -> None:
        self.home = f"HOME={home}".encode()
        self.own = self.others = (0, "")
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "Largest":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(_EVERY):
            for pid in filter(str.isdigit, os.listdir("/proc")):
                self._look(Path("/proc", pid))

    def _look(self, process: Path) -> None:
        try:
            peak = next(int(line.split()[1]) for line in process.joinpath("status").open() if line.startswith("VmHWM"))
            if peak <= min(self.own[0], self.others[0]):
                return
            words = process.joinpath("environ").read_bytes().split(b"\0")
            line = process.joinpath("cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except (OSError, StopIteration, UnicodeDecodeError):
            return  # it has gone, or is the kernel's
        if self.home in words and not any(word.startswith(_MARKS) for word in words):
            self.own = max(self.own, (peak, line[:300]))
        elif any(word.startswith(_MARKS) for word in words):
            self.others = max(self.others, (peak, line[:300]))
