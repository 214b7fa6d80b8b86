"""What an agent says on its output, read on from where one was, and the calls of its tools in it.

1. A run's output is two files: at half of its limit the recorder calls OUT OUT.1 and begins OUT anew
   (host.runs.recorder). They are read as one, the older first; what was thrown away before it was read is lost.
2. That a file is another one than before is seen by how it begins.
3. Lines without any of the words that are looked for are not parsed: a million a second can be skipped.
"""

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from ...agents.adapter import Adapter
from ...core.beads.attempt import Attempt, Run, RunKind
from ...core.beads.bead import NO_AGENTS
from ...core.sessions.session import Talk
from ...core.transcript import Line, LineKind
from ..agent_ends import STEP
from ..ports import Ports

MOST = 4_000_000
"""Bytes that are read in one look."""
LOOKS = 20
"""So often at most where nobody comes back for the rest: all that is kept of an output."""
_MARK = 1024
"""Bytes of a file's beginning that tell it from another."""


@dataclass(slots=True)
class Output:
    """How far the output of a run was read. `mark`: how the file begins that is read now."""

    path: str
    is_old: bool = True
    place: int = 0
    mark: bytes = b""

    @classmethod
    def of(cls, ports: Ports, run: Run) -> "Output":
        """The output of this run's agent, from its beginning."""
        return cls(os.path.join(ports.paths.runs, run.id, f"{STEP}.out"))

    def read(self, ports: Ports, at_end: bool = False) -> tuple[bytes, bool]:
        """The next whole lines, and whether more may be there. `at_end`: nobody writes any more, the last is whole."""
        new = self._next(ports)
        is_full, cut = len(new) == MOST, new.rfind(b"\n") + 1
        is_last = not is_full and (at_end or self.is_old)
        whole = new if is_last or (is_full and not cut) else new[:cut]
        self.place += len(whole)
        if self.is_old and not is_full:
            self.is_old, self.place, self.mark = False, 0, b""
            return (whole, True) if whole else self.read(ports, at_end)
        return whole, is_full

    def _next(self, ports: Ports) -> bytes:
        """What follows in the file that is read. It is read before its mark, so that both are of one file."""
        while True:
            file = f"{self.path}.1" if self.is_old else self.path
            new, begins = ports.processes.head(file, MOST, self.place), ports.processes.head(file, _MARK)
            if begins.startswith(self.mark or new[:_MARK]):
                self.mark = begins
                return new
            if self.is_old:
                self.place, self.mark = 0, b""
            self.is_old = True


def is_agents(work: Attempt | Talk, run: Run) -> bool:
    """Whether the run is an agent's that was started: its output is what an agent says."""
    return run.kind is RunKind.AGENT and run.pid is not None and (isinstance(work, Talk) or work.role not in NO_AGENTS)


def calls_in(text: bytes, words: Collection[bytes], adapter: Adapter) -> Iterator[Line]:
    """The calls of tools and their results, of the lines that hold one of the words; these may grow meanwhile."""
    if not any(word in text for word in words):
        return
    for raw in text.split(b"\n"):
        if any(word in raw for word in words):
            yield from (line for line in adapter.lines(raw) if line.kind in (LineKind.TOOL_CALL, LineKind.RESULT))
