"""Looking for agents that have finished and live on: they said so with `nobrakes agent done`, or on their output.

1. They are ended after `limits.linger_seconds` of silence, and judged by their words (agent_ends). The silence of one
   that says more begins again, up to MOST graces; one that begins another turn has not finished.
2. After `agent done` a CLI still has its last event to print, which tells of costs: it has LAST_WORDS graces.
3. While nobody says anything there is no turn of the loop for it, as for the meter. A new daemon gives the grace anew.
"""

import os
from collections.abc import Set
from dataclasses import dataclass

from ...core.beads.attempt import Attempt
from ...core.board import Board
from ...core.sessions.session import Talk
from ..agent_ends import STEP
from ..parking import owner_of, parked
from ..ports import Ports
from .agent_output import is_agents

LOOK_SECONDS = 2.0
"""Between two looks at what an agent said last."""
TAIL = 256_000
"""Bytes of the end of an output in which its last event is looked for."""
LAST_WORDS = 3
MOST = 6
_MARK = 4_000
"""Bytes of the end of an output that tell whether something was said since."""


@dataclass(slots=True)
class _Seen:
    """What was seen of one agent. `since`: when it had finished; `said_at`: when it said something last."""

    agent: str
    output: str
    end: str = ""
    looked_at: float = 0.0
    said_at: float = 0.0
    since: float | None = None
    has_ended: bool = False  # its output says so


class EndWatch:
    """Watches the ends of agents at work."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._seen: dict[str, _Seen] = {}

    def finished(self, board: Board) -> dict[str, float]:
        """By run of an agent that has finished and is not stopped yet: when it is."""
        found = {}
        for run in board.all_runs:
            work = board.work_of(run)
            if work is None or run.term_at is not None or not is_agents(work, run):
                continue
            path = os.path.join(self.ports.paths.runs, run.id, f"{STEP}.out")
            seen = self._seen.setdefault(run.id, _Seen(work.agent, path))
            with parked(self.ports, owner_of(work)):
                at = self._ends_at(seen, work, board)
                if at is not None:
                    found[run.id] = at
        return found

    def _ends_at(self, seen: _Seen, work: Attempt | Talk, board: Board) -> float | None:
        self._look(seen, board.now)
        said = isinstance(work, Attempt) and bool(work.data.get("said"))
        if not (said or seen.has_ended):
            seen.since = None
            return None
        if seen.since is None:
            seen.since = board.now
        grace = board.limits.linger_seconds
        adapter = self.ports.adapter(work.agent)
        quiet = grace if seen.has_ended or not adapter.sessions else LAST_WORDS * grace
        return min(max(seen.since, seen.said_at) + quiet, seen.since + MOST * grace)

    def _look(self, seen: _Seen, now: float) -> None:
        """Read how the output ends, where that is another end than before."""
        if 0 <= now - seen.looked_at < LOOK_SECONDS and seen.end:
            return
        seen.looked_at, end = now, self.ports.processes.output(seen.output, _MARK)
        if end != seen.end:
            seen.end, seen.said_at = end, now
            tail = self.ports.processes.output(seen.output, TAIL).encode()
            seen.has_ended = self.ports.adapter(seen.agent).finished(tail)

    def keep(self, runs: Set[str]) -> None:
        """Forget all runs but these."""
        self._seen = {run: seen for run, seen in self._seen.items() if run in runs}

    def wake_at(self) -> list[float]:
        """When the agents that have not finished have to be looked at again."""
        return [seen.looked_at + LOOK_SECONDS for seen in self._seen.values() if seen.since is None]

    def is_silent(self, now: float) -> bool:
        """Whether none of the agents that are due has finished meanwhile; then they are due later."""
        for seen in self._seen.values():
            if seen.since is None and abs(now - seen.looked_at) >= LOOK_SECONDS:  # also where the clock went back
                self._look(seen, now)
                if seen.has_ended:
                    return False
        return True
