"""What agents do while they work, as events: how many files they changed, and what tests they ran by their tools.

1. Files are counted beside the loop, and told only where the number is another one: once the agent has ended, in the
   job that takes its work in (daemon.attempts.fetch); and while it works on a bead of a feature, at most once in
   LOOK_SECONDS, and only after it said something. For such a bead the loop wakes; what the agents of any other say is
   read when it wakes anyway.
2. A test run is a call of a tool that runs a check of kind test (core.checks.test_rounds), told with its result once
   that is there: failed where its exit code or its counts say so. `nobrakes agent test` tells of itself.
3. A Doer whose test rounds fail in the same way again and again, without a word about it, is asked to stop
   (core.stopping): by the calls of its tools, or by what it reported.
4. Nothing is told twice: a new daemon reads the output from its beginning, and finds in the events what was told of it,
   the calls by their ids.
5. Trouble with it ends nothing.
"""

import re
from collections.abc import Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import takewhile

from ...core.beads.attempt import Attempt, Run
from ...core.beads.bead import NO_AGENTS
from ...core.beads.events import WATCHED, Event, Kind
from ...core.board import Board
from ...core.checks import test_rounds
from ...core.checks.test_counts import count_tests
from ...core.errors import NobrakesError
from ...core.forge import failing
from ...core.sessions.session import Talk
from ...core.text.cleaning import clean, shorten
from ...core.transcript import LineKind
from ...roles.plan_beads import epics_above
from ..parking import of_run, owner_of, parked
from ..ports import Ports
from .agent_output import LOOKS, Output, calls_in, is_agents

LOOK_SECONDS = 10.0
"""Between two counts of an attempt's changed files, and two looks at what it says."""
_ID = 100
"""Characters of a call's id that are kept."""
_ROUNDS = frozenset({Kind.TESTED, Kind.LOGGED})
_LATEST = 50
"""Events of rounds that are looked through."""
_TOLD = 10_000
"""Events that are looked through for what was told of an attempt."""


@dataclass(slots=True)
class _Seen:
    """What was seen of one run. `told`: the ids of calls that were told; `calls`: those whose result is not there."""

    output: Output
    wakes: bool
    files: int = 0
    told: set[str] = field(default_factory=set)
    looked_at: float = 0.0
    spoke: bool = False
    calls: set[str] = field(default_factory=set)
    counted: list[int] = field(default_factory=list)
    attempt: int = 0
    by_calls: test_rounds.Streak = field(default_factory=test_rounds.Streak)
    reported: test_rounds.Streak = field(default_factory=test_rounds.Streak)
    explained: int = 0  # the number of the last event in which it explained something

    @property
    def failed_rounds(self) -> int:
        """How many rounds in a row failed in the same way."""
        return max(self.by_calls.rounds, self.reported.rounds)


class WorkWatch:
    """Watches the agents of beads at work."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._seen: dict[str, _Seen] = {}
        self._words: list[bytes] = []
        self._due: list[float] = []
        self.left: dict[str, int] = {}
        """By run, how many files it left changed, where that was counted beside the loop (daemon.attempts.fetch)."""

    def look(self, board: Board) -> bool:
        """Tell what is new; it changes nothing of the board."""
        pattern, self._due = None, []
        for run in board.runs.values():
            work = board.work_of(run)
            if work is None or isinstance(work, Talk) or not is_agents(work, run):
                continue
            pattern = pattern or self._pattern()
            with parked(self.ports, owner_of(work)):
                self._look_at(work, run, pattern, board.now)
        return False

    def _look_at(self, work: Attempt, run: Run, pattern: re.Pattern[str] | None, now: float) -> None:
        seen = self._seen.get(run.id) or self._begin(work, run)
        is_over = self._is_over(run.id)
        if is_over:
            self._tell_files(work, seen)
        if abs(now - seen.looked_at) >= LOOK_SECONDS:  # also where the clock went back
            seen.looked_at = now
            self._read(work, seen, pattern)
            self._hear(work, seen)
            if seen.wakes and seen.spoke and is_over:
                seen.spoke = False
                self.ports.background.begin(_job(run.id), partial(_count, self.ports, work.bead, seen))
        self._due += [seen.looked_at + LOOK_SECONDS] if seen.wakes or seen.failed_rounds else []

    def seen(self, board: Board) -> Board:
        """The board with the failed rounds in a row of each attempt."""
        failed = {seen.attempt: seen.failed_rounds for seen in self._seen.values() if seen.failed_rounds}
        return replace(board, failed_rounds=failed) if failed else board

    def _hear(self, attempt: Attempt, seen: _Seen) -> None:
        """What it reported of its rounds, and whether it explained them."""
        told = self.ports.store.latest_events(_ROUNDS, None, _LATEST, attempt.bead)
        contract, streak = self.ports.config().contract(), test_rounds.Streak()
        for event in reversed([*takewhile(lambda one: one.attempt == attempt.id, told)]):
            if event.kind is Kind.TESTED:
                how = test_rounds.failed_at_door(str(event.data.get("text")), contract)
                streak = test_rounds.after(streak, how)
                continue
            streak = test_rounds.Streak()
            if event.seq > seen.explained:
                seen.explained, seen.by_calls = event.seq, streak
        seen.reported = streak

    def ended(self, attempt: Attempt, run: Run) -> None:
        """The agent has ended: what it said last is read, and what it left is told."""
        if attempt.role in NO_AGENTS:
            return
        seen = self._seen.get(run.id) or self._begin(attempt, run)
        pattern = self._pattern()
        for _ in range(LOOKS):
            if not self._read(attempt, seen, pattern, at_end=True):
                break
        left = self.left.pop(run.id, None)
        seen.counted += [] if left is None else [left]
        self._tell_files(attempt, seen)

    def keep(self, runs: Set[str]) -> None:
        """Forget all runs but these, once nothing is counted for them any more."""
        for run in self._seen.keys() - runs:
            if self._is_over(run):
                del self._seen[run]

    def _is_over(self, run: str) -> bool:
        """Whether nothing is counted for the run; a count that failed is none, and nobody's trouble."""
        with suppress(NobrakesError), parked(self.ports, partial(of_run, self.ports, run)):
            return self.ports.background.over(_job(run))
        return True

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
        wakes = failing.of(features, above) is not None
        seen = _Seen(Output.of(self.ports, run), wakes, attempt=attempt.id)
        told = store.latest_events(WATCHED, None, _TOLD, attempt.bead)
        for event in reversed([*takewhile(lambda one: one.attempt == attempt.id, told)]):
            if event.kind is Kind.FILES_CHANGED:
                seen.files = int(event.data.get("changed", 0))
            else:
                seen.told.add(str(event.data.get("call")))
        self._seen[run.id] = seen
        return seen

    def _tell_files(self, attempt: Attempt, seen: _Seen) -> None:
        if not seen.counted:
            return
        count, seen.counted = seen.counted[-1], []
        if count != seen.files:
            seen.files = count
            self._record(Kind.FILES_CHANGED, attempt, {"changed": count})

    def _read(self, attempt: Attempt, seen: _Seen, pattern: re.Pattern[str] | None, at_end: bool = False) -> bool:
        """Read on in its output; whether there may be more."""
        text, more = seen.output.read(self.ports, at_end)
        seen.spoke |= bool(text)
        if pattern is None:
            return more
        words = [*self._words, *(call.encode() for call in seen.calls)]
        for line in calls_in(text, words, self.ports.adapter(attempt.agent)):
            call = str(line.data.get("id") or "")
            if line.kind is LineKind.RESULT and call in seen.calls:
                seen.calls.discard(call)
                counts = count_tests(line.text)
                passed = not line.data.get("failed") and not (counts is not None and counts.failed)
                how = None if passed else f"{counts.failed} failed" if counts is not None else "it failed"
                seen.by_calls = test_rounds.after(seen.by_calls, how)
                self._ran(attempt, seen, call, passed)
            elif line.kind is LineKind.TOOL_CALL and call and pattern.search(line.text):
                seen.calls.add(call)
                words.append(call.encode())
        return more

    def _ran(self, attempt: Attempt, seen: _Seen, call: str, passed: bool) -> None:
        name = shorten(clean(call), _ID)
        if name not in seen.told:
            seen.told.add(name)
            self._record(Kind.TESTS_RUN, attempt, {"passed": passed, "call": name})

    def _record(self, kind: Kind, attempt: Attempt, data: dict[str, object]) -> None:
        self.ports.store.record(Event(kind, attempt.bead, attempt.id, attempt.name, data))


def _job(run: str) -> str:
    return f"files of {run}"


def files_changed(ports: Ports, bead: str) -> int | None:
    """How many files of the bead's clone differ from what it began with; None: nobody can say. Beside the loop."""
    with suppress(NobrakesError, OSError):  # a clone that is being removed, or is not whole: its end says so
        return ports.git.touched(bead)
    return None


def _count(ports: Ports, bead: str, seen: _Seen) -> None:
    """Beside the loop: nothing is written here."""
    found = files_changed(ports, bead)
    seen.counted += [] if found is None else [found]
