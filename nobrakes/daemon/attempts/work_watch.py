"""What agents do while they work, as events: how many files they changed, and what tests they ran by their tools.

1. Files are counted beside the loop, at most once in LOOK_SECONDS an attempt, and told only where the number is another
   one. Of a bead of a feature the loop wakes for it; of any other it is looked at when the loop wakes anyway.
2. A test run is a call of a tool that runs a check of kind test (core.checks.test_rounds), told with its result once
   that is there: failed where its exit code or its counts say so. `nobrakes agent test` tells of itself.
3. Nothing is told twice: what is remembered is found again in the events, and the output is read on from its beginning.
4. Nothing is decided by any of it, and trouble with it ends nothing.
"""

import os
import re
from collections.abc import Set
from dataclasses import dataclass, field
from functools import partial

from ...core.beads.attempt import Attempt, Run, RunKind
from ...core.beads.bead import NO_AGENTS
from ...core.beads.events import Event, Kind
from ...core.board import Board
from ...core.checks import test_rounds
from ...core.checks.test_counts import count_tests
from ...core.errors import NobrakesError
from ...core.forge import failing
from ...core.sessions.session import Talk
from ...core.transcript import LineKind
from ...roles.plan_beads import epics_above
from ..agent_ends import STEP
from ..ports import Ports

LOOK_SECONDS = 10.0
"""Between two counts of an attempt's changed files, and two looks at what it says."""
MOST = 4_000_000
"""Bytes that are read in one look; the rest follows in the next."""
EVENTS = 100_000


@dataclass(slots=True)
class _Seen:
    """What was seen of one run. `told`: events of the attempt that an earlier daemon told."""

    wakes: bool
    files: int = 0
    told: int = 0
    runs: int = 0
    looked_at: float = 0.0
    place: int = 0
    calls: dict[str, bool] = field(default_factory=dict)
    counted: list[int] = field(default_factory=list)


class WorkWatch:
    """Watches the agents of beads at work."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._seen: dict[str, _Seen] = {}
        self._words: list[bytes] = []
        self._due: list[float] = []

    def look(self, board: Board) -> bool:
        """Tell what is new; it changes nothing of the board."""
        pattern, self._due = None, []
        for run in board.runs.values():
            work = board.work_of(run)
            if work is None or isinstance(work, Talk) or not _is_watched(work, run):
                continue
            seen = self._seen.get(run.id) or self._begin(work, run)
            if self.ports.background.over(_job(run.id)):
                self._tell_files(work, seen)
            if board.now >= seen.looked_at + LOOK_SECONDS:
                seen.looked_at = board.now
                self.ports.background.begin(_job(run.id), partial(_count, self.ports, work.bead, seen))
                pattern = pattern or self._pattern()
                self._read(work, run, seen, pattern)
            self._due += [seen.looked_at + LOOK_SECONDS] if seen.wakes else []
        return False

    def ended(self, attempt: Attempt, run: Run) -> None:
        """The agent has ended: what it left is counted once more, and what it said last is read."""
        if attempt.role in NO_AGENTS:
            return
        seen = self._seen.get(run.id) or self._begin(attempt, run)
        pattern = self._pattern()
        while self._read(attempt, run, seen, pattern):
            pass
        _count(self.ports, attempt.bead, seen)
        self._tell_files(attempt, seen)

    def keep(self, runs: Set[str]) -> None:
        """Forget all runs but these, once nothing is counted for them any more."""
        for run in self._seen.keys() - runs:
            if self.ports.background.over(_job(run)):
                del self._seen[run]

    def wake_at(self) -> list[float]:
        """When the steps of features have to be looked at again."""
        return self._due

    def _pattern(self) -> re.Pattern[str] | None:
        contract = self.ports.config().contract()
        self._words = [word.encode() for word in test_rounds.words(contract)]
        return test_rounds.runs(contract)

    def _begin(self, attempt: Attempt, run: Run) -> _Seen:
        store = self.ports.store
        features = store.features()
        above = epics_above(store, store.bead(attempt.bead)) if features else []
        seen = _Seen(failing.of(features, above) is not None)
        for event in store.events(0, EVENTS, attempt.bead):
            if event.attempt == attempt.id and event.kind is Kind.FILES_CHANGED:
                seen.files = int(event.data.get("changed", 0))
            seen.told += event.attempt == attempt.id and event.kind is Kind.TESTS_RUN
        self._seen[run.id] = seen
        return seen

    def _tell_files(self, attempt: Attempt, seen: _Seen) -> None:
        if not seen.counted:
            return
        count, seen.counted = seen.counted[-1], []
        if count != seen.files:
            seen.files = count
            self._record(Kind.FILES_CHANGED, attempt, {"changed": count})

    def _read(self, attempt: Attempt, run: Run, seen: _Seen, pattern: re.Pattern[str] | None) -> bool:
        """Read on in its output; whether there may be more."""
        if pattern is None:
            return False
        path = os.path.join(self.ports.paths.runs, run.id, f"{STEP}.out")
        new = self.ports.processes.head(path, MOST, seen.place)
        whole = new[: new.rfind(b"\n") + 1] or (new if len(new) == MOST else b"")
        seen.place += len(whole)
        adapter, words = self.ports.adapter(attempt.agent), self._words
        for raw in whole.split(b"\n"):
            tells = any(word in raw for word in words) or any(call.encode() in raw for call in seen.calls)
            for line in adapter.lines(raw) if tells else ():
                call = str(line.data.get("id") or "")
                if line.kind is LineKind.TOOL_CALL and pattern.search(line.text):
                    seen.calls[call] = True
                elif line.kind is LineKind.RESULT and seen.calls.pop(call, False):
                    self._ran(attempt, seen, not line.data.get("failed") and not _fails(line.text))
        return len(new) == MOST

    def _ran(self, attempt: Attempt, seen: _Seen, passed: bool) -> None:
        seen.runs += 1
        if seen.runs > seen.told:
            self._record(Kind.TESTS_RUN, attempt, {"passed": passed, "seen": seen.runs})

    def _record(self, kind: Kind, attempt: Attempt, data: dict[str, object]) -> None:
        self.ports.store.record(Event(kind, attempt.bead, attempt.id, attempt.name, data))


def _job(run: str) -> str:
    return f"files of {run}"


def _fails(output: str) -> bool:
    """Whether what a runner printed counts failures: a pipe's exit code is its last command's."""
    counts = count_tests(output)
    return counts is not None and bool(counts.failed)


def _is_watched(attempt: Attempt, run: Run) -> bool:
    return run.kind is RunKind.AGENT and run.pid is not None and attempt.role not in NO_AGENTS


def _count(ports: Ports, bead: str, seen: _Seen) -> None:
    """Beside the loop: nothing is written here."""
    try:
        found = ports.git.touched(bead)
    except (NobrakesError, OSError):
        return  # a clone that is being removed, or is not whole: its end says so
    if found is not None:
        seen.counted.append(found)
