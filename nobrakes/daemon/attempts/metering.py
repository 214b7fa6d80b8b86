"""Reading on in what agents say while they work: how many tokens went by, and how full the context is.

1. Only what is new is read. A daemon that starts reads from the beginning, and comes to the same sums: a diary is the
   session's, so what it tells of the time before the attempt is left out.
2. The sum of an attempt is kept in the store as it grows, so that every cap counts it; its end brings the exact one.
3. While nobody said anything there is no turn of the loop for it: whether there is more to read costs a byte an agent.
4. Whose CLI tells of all that only at its end is not read. Agents can write their diaries themselves: who lies there
   is stopped early, or late, and its end brings the exact sum.
"""

import os
from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from ...core.beads.attempt import Attempt, Run, RunKind
from ...core.board import Board
from ...core.sessions.session import Talk
from ..agent_ends import STEP
from ..parking import owner_of, parked
from ..ports import Ports
from .launch import DIARY, TELLS, WINDOW

LOOK_SECONDS = 5.0
"""Between two looks at what an agent said."""
MOST = 4_000_000
"""Bytes that are read in one look; the rest follows in the next."""

LOOKS = 16
"""So often at most when an attempt has ended."""


@dataclass(slots=True)
class _Count:
    work: Attempt | Talk
    output: str
    paths: dict[str, int] = field(default_factory=dict)
    looked_at: float = 0.0
    calls: dict[str, int] = field(default_factory=dict)
    context: int = 0
    window: int = 0

    @property
    def tokens(self) -> int:
        """Of all calls."""
        return sum(self.calls.values())


class Meter:
    """Counts what the agents at work use."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._counts: dict[str, _Count] = {}

    def look(self, board: Board) -> bool:
        """Read what is new; whether the store knows more than before."""
        changed = False
        for run in board.all_runs:
            work = board.work_of(run)
            if work is None or not self._tells(work, run) or run.term_at is not None:
                continue
            output = os.path.join(self.ports.paths.runs, run.id, f"{STEP}.out")
            count = self._counts.setdefault(run.id, _Count(work, output))
            count.work = work
            if board.now >= count.looked_at + LOOK_SECONDS:
                count.looked_at = board.now
                with parked(self.ports, owner_of(work)):
                    changed |= self._read(count)
        return changed

    def contexts(self, board: Board) -> dict[int, float]:
        """How full the context of each attempt is, from 0 to 1."""
        known = {a.id: int(a.data.get(WINDOW) or 0) for a in board.attempts}
        counted = [(run.attempt, self._counts[run.id]) for run in board.runs.values() if run.id in self._counts]
        windows = {attempt: count.window or known.get(attempt, 0) for attempt, count in counted}
        return {attempt: count.context / windows[attempt] for attempt, count in counted if windows[attempt]}

    def keep(self, runs: Set[str]) -> None:
        """Forget all runs but these."""
        self._counts = {run: count for run, count in self._counts.items() if run in runs}

    def wake_at(self) -> list[float]:
        """When the agents have to be looked at again."""
        return [count.looked_at + LOOK_SECONDS for count in self._counts.values()]

    def is_silent(self, now: float) -> bool:
        """Whether the agents that are due have said nothing since they were looked at; then they are due later."""
        for count in self._counts.values():
            if abs(now - count.looked_at) >= LOOK_SECONDS:  # also where the clock went back
                if any(_new(self.ports, count, 1).values()):
                    return False
                count.looked_at = now
        return True

    @staticmethod
    def _tells(work: Attempt | Talk, run: Run) -> bool:
        tells = any(work.data.get(name) for name in (WINDOW, DIARY, TELLS))
        return run.kind is RunKind.AGENT and run.pid is not None and tells

    def _read(self, count: _Count) -> bool:
        before, work = count.tokens, count.work
        _take_in(self.ports, _new(self.ports, count, MOST), count)
        if count.tokens <= max(before, work.tokens):
            return False
        if isinstance(work, Talk):
            window = count.window or int(work.data.get(WINDOW) or 0)
            context = count.context / window if window else None
            self.ports.store.spend_turn(work.turn.id, work.turn.cost_usd, count.tokens, context)
        else:
            self.ports.store.spend(work.id, work.cost_usd, count.tokens)
        return True


def in_diary(ports: Ports, attempt: Attempt) -> int:
    """The tokens that the attempt's diary tells of; 0 where there is none."""
    count = _Count(attempt, "")
    for _ in range(LOOKS if attempt.data.get(DIARY) else 0):
        if not _take_in(ports, _new(ports, count, MOST), count):
            break
    return count.tokens


def _new(ports: Ports, count: _Count, most: int) -> dict[str, bytes]:
    """What is new in its diary, by file, or in its output; `most` bytes."""
    work = count.work
    if work.data.get(DIARY):
        folder, glob = work.data[DIARY]
        return ports.processes.appended(folder, glob, work.started_at, count.paths, most)
    return {count.output: ports.processes.head(count.output, most, count.paths.get(count.output, 0))}


def _take_in(ports: Ports, found: Mapping[str, bytes], count: _Count) -> int:
    """Count what the whole lines say; how many bytes that was."""
    work = count.work
    adapter, total = ports.adapter(work.agent), 0
    for path, new in found.items():
        # one that is as long as all that is read would stop it
        whole = new[: new.rfind(b"\n") + 1] or (new if len(new) == MOST else b"")
        count.paths[path] = count.paths.get(path, 0) + len(whole)
        total += len(whole)
        for raw in whole.split(b"\n"):
            use = adapter.used(raw)
            if use is not None and not 0 < use.at < work.started_at:
                count.calls[use.call] = use.tokens
                count.context = use.context or count.context
                count.window = use.window or count.window
    return total
