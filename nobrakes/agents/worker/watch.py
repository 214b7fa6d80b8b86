"""What agents say and do while they work: events, tokens, context, dangerous calls, finished agents that live on.

Events of changed files and test runs:

1. Changed files are counted in the background and reported when their number changes: when the agent has ended
   (agents.worker.exit), and while it works on a feature's bead, at most once in LOOK_SECONDS and only after output.
   Only such output wakes the loop.
2. A test run is a tool call that runs a check of kind test (checks.proof), reported with its result: failed by exit
   code or counts. `nobrakes agent test` reports itself.
3. A Doer whose test rounds keep failing in the same way, without a word about it, is asked to stop (daemon.deciders).
4. Nothing is reported twice: a new daemon reads the output from its beginning and skips calls whose ids are in events.
5. Errors here end nothing.

Alerts of dangerous tool calls (agents.danger), of attempts and sessions:

1. Output is read in every turn of the loop, and to its end once the agent has ended.
2. An alert is an event, sent once; at most MAX_ALERTS for a run.
3. It stops nothing: the guard refuses, the sandbox confines, and this informs a person.
"""

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import takewhile

from ...beads.model import NO_AGENTS, Attempt, Run, RunKind
from ...checks import proof
from ...checks.runners import count_tests
from ...daemon.model import Board
from ...errors import NobrakesError
from ...events.kinds import WATCHED, Event, Kind, session_actor
from ...features.model import get_built_feature
from ...parking import owner_of, parked, run_owner
from ...ports import Ports
from ...review.service.landed import epics_above
from ...sessions.model import Session, Talk
from ...text.cleaning import clean, redacted, shorten
from ..adapter import Adapter, LineKind, TranscriptLine
from ..output import given_of
from .launch import DIARY, METER, WINDOW
from .process import STEP

MAX_BYTES = 4_000_000
"""Bytes read at once; the rest follows later."""
LOOKS = 20
"""Maximal reads at the end: covers all of a stored output."""
_MARK = 1024
"""Bytes of a file's beginning that identify it."""


# A run's output is two files, since the recorder calls OUT OUT.1 at half of its limit: they are read as one, the older
# first. Lines without any of the words that are looked for are not parsed: a million a second can be skipped.
@dataclass(slots=True)
class Output:
    """How far a run's output was read. `mark`: the beginning of the present file."""

    path: str
    is_old: bool = True
    place: int = 0
    mark: bytes = b""

    @classmethod
    def of(cls, ports: Ports, run: Run) -> "Output":
        return cls(os.path.join(ports.paths.runs, run.id, f"{STEP}.out"))

    def read(self, ports: Ports, at_end: bool = False) -> tuple[bytes, bool]:
        """The next complete lines, and whether more may follow. `at_end`: the last line is complete."""
        new = self._next(ports)
        is_full, cut = len(new) == MAX_BYTES, new.rfind(b"\n") + 1
        is_last = not is_full and (at_end or self.is_old)
        whole = new if is_last or (is_full and not cut) else new[:cut]
        self.place += len(whole)
        if self.is_old and not is_full:
            self.is_old, self.place, self.mark = False, 0, b""
            return (whole, True) if whole else self.read(ports, at_end)
        return whole, is_full

    def _next(self, ports: Ports) -> bytes:
        """Reads before the mark, so that both are of one file."""
        while True:
            file = f"{self.path}.1" if self.is_old else self.path
            new, begins = ports.processes.head(file, MAX_BYTES, self.place), ports.processes.head(file, _MARK)
            if begins.startswith(self.mark or new[:_MARK]):
                self.mark = begins
                return new
            if self.is_old:
                self.place, self.mark = 0, b""
            self.is_old = True


def is_agents(work: Attempt | Talk, run: Run) -> bool:
    return run.kind is RunKind.AGENT and run.pid is not None and (isinstance(work, Talk) or work.role not in NO_AGENTS)


def calls_in(text: bytes, words: Collection[bytes], adapter: Adapter) -> Iterator[TranscriptLine]:
    if not any(word in text for word in words):
        return
    for raw in text.split(b"\n"):
        if any(word in raw for word in words):
            yield from (line for line in adapter.lines(raw) if line.kind in (LineKind.TOOL_CALL, LineKind.RESULT))


LOOK_SECONDS = 10.0


def is_due(looked_at: float, now: float) -> bool:
    return abs(now - looked_at) >= LOOK_SECONDS  # also where the clock went back


_ID = 100
"""Stored characters of a call's id."""
_ROUNDS = frozenset({Kind.TESTED, Kind.LOGGED})
_LATEST = 50
"""Searched events of rounds."""
_MAX_EVENTS = 10_000
"""Searched events for what was already reported of an attempt."""


@dataclass(slots=True)
class _WatchedRun:
    """The state of one run. `told`: reported call ids; `calls`: those without a result."""

    output: Output
    wakes: bool
    files: int = 0
    told: set[str] = field(default_factory=set)
    looked_at: float = 0.0
    spoke: bool = False
    calls: set[str] = field(default_factory=set)
    counted: list[int] = field(default_factory=list)
    attempt: int = 0
    by_calls: proof.Streak = field(default_factory=proof.Streak)
    reported: proof.Streak = field(default_factory=proof.Streak)
    explained: int = 0  # the number of the last event in which it explained something

    @property
    def failed_rounds(self) -> int:
        return max(self.by_calls.rounds, self.reported.rounds)


class WorkWatch:
    """Watches the agents of beads at work."""

    def __init__(self, ports: Ports, left: dict[str, int]) -> None:
        """`left`: by run, how many files it left changed, counted in the background."""
        self.ports, self.left = ports, left
        self._seen: dict[str, _WatchedRun] = {}
        self._words: list[bytes] = []
        self._due: list[float] = []

    def look(self, board: Board) -> bool:
        self._due, patterns = [], list[re.Pattern[str] | None]()
        for run in board.runs.values():
            seen = self._seen.get(run.id)
            if seen is not None and not seen.wakes and not is_due(seen.looked_at, board.now):
                self._due += [seen.looked_at + LOOK_SECONDS] if seen.failed_rounds else []
                continue
            work = board.work_of(run)
            if work is None or isinstance(work, Talk) or not is_agents(work, run):
                continue
            patterns = patterns or [self._pattern()]
            with parked(self.ports, owner_of(work)):
                self._look_at(work, run, patterns[0], board.now)
        return False

    def _look_at(self, work: Attempt, run: Run, pattern: re.Pattern[str] | None, now: float) -> None:
        seen = self._seen.get(run.id) or self._begin(work, run)
        is_over = self._is_over(run.id)
        if is_over:
            self._tell_files(work, seen)
        if is_due(seen.looked_at, now):
            seen.looked_at = now
            self._read(work, seen, pattern)
            self._hear(work, seen)
            if seen.wakes and seen.spoke and is_over:
                seen.spoke = False
                self.ports.background.begin(f"files of {run.id}", partial(_count, self.ports, work.bead, seen))
        self._due += [seen.looked_at + LOOK_SECONDS] if seen.wakes or seen.failed_rounds else []

    def seen(self, board: Board) -> Board:
        failed = {seen.attempt: seen.failed_rounds for seen in self._seen.values() if seen.failed_rounds}
        return replace(board, failed_rounds=failed) if failed else board

    def _hear(self, attempt: Attempt, seen: _WatchedRun) -> None:
        told = self.ports.store.latest_events(_ROUNDS, None, _LATEST, attempt.bead)
        contract, streak = self.ports.config().contract(), proof.Streak()
        for event in reversed([*takewhile(lambda one: one.attempt == attempt.id, told)]):
            if event.kind is Kind.TESTED:
                streak = proof.after(streak, proof.how_failed(str(event.data.get("text")), contract))
                continue
            streak = proof.Streak()
            if event.seq > seen.explained:
                seen.explained, seen.by_calls = event.seq, streak
        seen.reported = streak

    def ended(self, attempt: Attempt, run: Run) -> None:
        """Read the end of an agent's output, and record how many files it left changed."""
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
        for run in self._seen.keys() - runs:
            if self._is_over(run):
                del self._seen[run]

    def _is_over(self, run: str) -> bool:
        """A failed count counts as over."""
        with suppress(NobrakesError), parked(self.ports, partial(run_owner, self.ports, run)):
            return self.ports.background.over(f"files of {run}")
        return True

    def wake_at(self) -> list[float]:
        return self._due

    def _pattern(self) -> re.Pattern[str] | None:
        contract = self.ports.config().contract()
        self._words = [word.encode() for word in proof.words(contract)]
        return proof.runs(contract)

    def _begin(self, attempt: Attempt, run: Run) -> _WatchedRun:
        store = self.ports.store
        features = store.features()
        above = epics_above(store, store.bead(attempt.bead)) if features else []
        wakes = get_built_feature(features, above) is not None
        seen = _WatchedRun(Output.of(self.ports, run), wakes, attempt=attempt.id)
        told = store.latest_events(WATCHED, None, _MAX_EVENTS, attempt.bead)
        for event in reversed([*takewhile(lambda one: one.attempt == attempt.id, told)]):
            if event.kind is Kind.FILES_CHANGED:
                seen.files = int(event.data.get("changed", 0))
            else:
                seen.told.add(str(event.data.get("call")))
        self._seen[run.id] = seen
        return seen

    def _tell_files(self, attempt: Attempt, seen: _WatchedRun) -> None:
        if not seen.counted:
            return
        count, seen.counted = seen.counted[-1], []
        if count != seen.files:
            seen.files = count
            self._record(Kind.FILES_CHANGED, attempt, {"changed": count})

    def _read(self, attempt: Attempt, seen: _WatchedRun, pattern: re.Pattern[str] | None, at_end: bool = False) -> bool:
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
                seen.by_calls = proof.after(seen.by_calls, how)
                name = shorten(clean(call), _ID)
                if name not in seen.told:
                    seen.told.add(name)
                    self._record(Kind.TESTS_RUN, attempt, {"passed": passed, "call": name})
            elif line.kind is LineKind.TOOL_CALL and call and pattern.search(line.text):
                seen.calls.add(call)
                words.append(call.encode())
        return more

    def _record(self, kind: Kind, attempt: Attempt, data: dict[str, object]) -> None:
        self.ports.store.record(Event(kind, attempt.bead, attempt.id, attempt.name, data))


def files_changed(ports: Ports, bead: str) -> int | None:
    with suppress(NobrakesError, OSError):  # a clone that is being removed, or is not whole: its end says so
        return ports.git.touched(bead)
    return None


def _count(ports: Ports, bead: str, seen: _WatchedRun) -> None:
    """In the background: writes nothing."""
    found = files_changed(ports, bead)
    seen.counted += [] if found is None else [found]


METERING_LOOK_SECONDS = 5.0
METERING_LOOKS = 16
"""Maximal reads at an attempt's end."""


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
        return sum(self.calls.values())


# Only what is new is read. A daemon that starts reads from the beginning and comes to the same sums; a diary's time
# before the attempt is left out. An agent may lie in its diary: it is stopped early or late, and its end brings the
# exact sum.
class Meter:
    """Counts what the agents at work use."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._counts: dict[str, _Count] = {}

    def look(self, board: Board) -> bool:
        """Read new output; whether the store changed."""
        changed = False
        for run in board.all_runs:
            known = self._counts.get(run.id)
            if known is not None and board.now < known.looked_at + METERING_LOOK_SECONDS:
                continue
            work = board.work_of(run)
            if work is None or not self._reports_usage(work, run) or run.term_at is not None:
                continue
            output = os.path.join(self.ports.paths.runs, run.id, f"{STEP}.out")
            count = self._counts.setdefault(run.id, _Count(work, output))
            count.work, count.looked_at = work, board.now
            with parked(self.ports, owner_of(work)):
                changed |= self._read(count)
        return changed

    def contexts(self, board: Board) -> dict[int, float]:
        """How full the context of each attempt is, from 0 to 1."""
        if not self._counts:
            return {}
        known = {a.id: int(a.data.get(WINDOW) or 0) for a in board.attempts}
        counted = [(run.attempt, self._counts[run.id]) for run in board.runs.values() if run.id in self._counts]
        windows = {attempt: count.window or known.get(attempt, 0) for attempt, count in counted}
        return {attempt: count.context / windows[attempt] for attempt, count in counted if windows[attempt]}

    def keep(self, runs: Set[str]) -> None:
        for run in self._counts.keys() - runs:
            del self._counts[run]

    def wake_at(self) -> list[float]:
        return [count.looked_at + METERING_LOOK_SECONDS for count in self._counts.values()]

    def is_silent(self, now: float) -> bool:
        """Whether the due agents were silent; then they are due later."""
        for count in self._counts.values():
            if abs(now - count.looked_at) >= METERING_LOOK_SECONDS:  # also where the clock went back
                if any(_new(self.ports, count, 1).values()):
                    return False
                count.looked_at = now
        return True

    @staticmethod
    def _reports_usage(work: Attempt | Talk, run: Run) -> bool:
        if run.kind is not RunKind.AGENT or run.pid is None:
            return False
        return bool(work.data.get(WINDOW) or work.data.get(DIARY) or work.data.get(METER))

    def _read(self, count: _Count) -> bool:
        before, work = count.tokens, count.work
        _count_usage(self.ports, _new(self.ports, count, MAX_BYTES), count)
        if count.tokens <= max(before, work.tokens):
            return False
        if isinstance(work, Talk):
            window = count.window or int(work.data.get(WINDOW) or 0)
            context = count.context / window if window else None
            self.ports.store.spend_turn(work.turn.id, work.turn.cost_usd, count.tokens, context)
        else:
            self.ports.store.spend(work.id, work.cost_usd, count.tokens)
        return True


def tokens_in_journal(ports: Ports, attempt: Attempt) -> int:
    count = _Count(attempt, "")
    for _ in range(METERING_LOOKS if attempt.data.get(DIARY) else 0):
        if not _count_usage(ports, _new(ports, count, MAX_BYTES), count):
            break
    return count.tokens


def _new(ports: Ports, count: _Count, most: int) -> dict[str, bytes]:
    work = count.work
    if work.data.get(DIARY):
        folder, glob = work.data[DIARY]
        return ports.processes.appended(folder, glob, work.started_at, count.paths, most)
    return {count.output: ports.processes.head(count.output, most, count.paths.get(count.output, 0))}


def _count_usage(ports: Ports, found: Mapping[str, bytes], count: _Count) -> int:
    work = count.work
    adapter, total = ports.adapter(work.agent), 0
    for path, new in found.items():
        # one that is as long as all that is read would stop it
        whole = new[: new.rfind(b"\n") + 1] or (new if len(new) == MAX_BYTES else b"")
        count.paths[path] = count.paths.get(path, 0) + len(whole)
        total += len(whole)
        for raw in whole.split(b"\n"):
            use = adapter.used(raw)
            if use is not None and not 0 < use.at < work.started_at:
                count.calls[use.call] = use.tokens
                count.context = use.context or count.context
                count.window = use.window or count.window
    return total


END_WATCH_LOOK_SECONDS = 2.0
TAIL = 256_000
"""Bytes of an output's end searched for the last event."""
LAST_WORDS = 3
MAX_GRACES = 6
_END_WATCH_MARK = 4_000
"""Bytes of an output's end that show new output."""


@dataclass(slots=True)
class _EndWatchSeen:
    """`since`: when it finished; `said_at`: its last output."""

    agent: str
    output: str
    end: str = ""
    looked_at: float = 0.0
    said_at: float = 0.0
    since: float | None = None
    has_ended: bool = False  # its output says so

    def is_known(self, now: float) -> bool:
        return 0 <= now - self.looked_at < END_WATCH_LOOK_SECONDS

    def is_silent(self, work: Attempt | Talk, now: float) -> bool:
        """Whether it works on, as far as is known."""
        if self.since is not None or self.has_ended or not self.is_known(now):
            return False
        return not isinstance(work, Attempt) or not work.data.get("said")


# Agents that said that they are done and live on are ended after `limits.linger_seconds` of silence; one that says more
# has up to MAX_GRACES graces, and one that begins another turn has not finished.
class EndWatch:
    """Watches the ends of agents at work."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._seen: dict[str, _EndWatchSeen] = {}

    def finished(self, board: Board) -> dict[str, float]:
        found = {}
        for run in board.all_runs:
            seen, work = self._seen.get(run.id), board.work_of(run)
            if work is None or (seen is not None and seen.is_silent(work, board.now)):
                continue
            if run.term_at is not None or not is_agents(work, run):
                continue
            if seen is None:
                path = os.path.join(self.ports.paths.runs, run.id, f"{STEP}.out")
                seen = self._seen[run.id] = _EndWatchSeen(work.agent, path)
            with parked(self.ports, owner_of(work)):
                if (at := self._ends_at(seen, work, board)) is not None:
                    found[run.id] = at
        return found

    def _ends_at(self, seen: _EndWatchSeen, work: Attempt | Talk, board: Board) -> float | None:
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
        return min(max(seen.since, seen.said_at) + quiet, seen.since + MAX_GRACES * grace)

    def _look(self, seen: _EndWatchSeen, now: float) -> None:
        if seen.is_known(now):
            return
        seen.looked_at, end = now, self.ports.processes.output(seen.output, _END_WATCH_MARK)
        if end != seen.end:
            seen.end, seen.said_at = end, now
            tail = self.ports.processes.output(seen.output, TAIL).encode()
            seen.has_ended = self.ports.adapter(seen.agent).finished(tail)

    def keep(self, runs: Set[str]) -> None:
        for run in self._seen.keys() - runs:
            del self._seen[run]

    def wake_at(self) -> list[float]:
        return [seen.looked_at + END_WATCH_LOOK_SECONDS for seen in self._seen.values() if seen.since is None]

    def is_silent(self, now: float) -> bool:
        for seen in self._seen.values():
            # also where the clock went back
            if seen.since is None and abs(now - seen.looked_at) >= END_WATCH_LOOK_SECONDS:
                self._look(seen, now)
                if seen.has_ended:
                    return False
        return True


DANGER_LOOK_SECONDS = 2.0
MAX_ALERTS = 20
"""Alerts of one run."""
_ALERTS_REPORTED = 1000
"""Searched alerts of a run."""
_MAX_CALL = 300
"""Characters of a call in an alert."""


@dataclass(slots=True)
class _Alerted:
    output: Output
    told: set[str] = field(default_factory=set)
    looked_at: float = -DANGER_LOOK_SECONDS


class DangerWatch:
    """Watches the tool calls of all agents at work."""

    def __init__(self, ports: Ports, folder_of: Callable[[Ports, Session], str]) -> None:
        """`folder_of`: where a session's agent works."""
        self.ports, self._folder_of = ports, folder_of
        self._seen: dict[str, _Alerted] = {}

    def look(self, board: Board, ended: Set[str] = frozenset()) -> bool:
        """Report new alerts; `ended`: runs whose agent is done. The board does not change."""
        for run in board.all_runs:
            known, is_over = self._seen.get(run.id), run.id in ended
            if known is not None and not is_over and abs(board.now - known.looked_at) < DANGER_LOOK_SECONDS:
                continue
            work = board.work_of(run)
            if work is None or not is_agents(work, run):
                continue
            with parked(self.ports, owner_of(work)), suppress(NobrakesError):
                seen = known or self._begin(work, run)
                seen.looked_at = board.now
                self._read(work, run, seen, is_over)
        return False

    def keep(self, runs: Set[str]) -> None:
        for run in self._seen.keys() - runs:
            del self._seen[run]

    def _begin(self, work: Attempt | Talk, run: Run) -> _Alerted:
        store = self.ports.store
        bead = None if isinstance(work, Talk) else work.bead
        told = store.latest_events((Kind.DANGER_SEEN,), None, _ALERTS_REPORTED, bead)
        seen = _Alerted(Output.of(self.ports, run), {str(e.data["call"]) for e in told if e.data.get("run") == run.id})
        self._seen[run.id] = seen
        return seen

    def _read(self, work: Attempt | Talk, run: Run, seen: _Alerted, is_over: bool) -> None:
        adapter = self.ports.adapter(work.agent)
        for _ in range(LOOKS if is_over else 1):
            text, more = seen.output.read(self.ports, is_over)
            for raw in text.split(b"\n") if text else ():
                for line in adapter.lines(raw):
                    if line.kind is LineKind.TOOL_CALL:
                        self._judge(work, run, seen, line)
            if not more:
                return

    def _judge(self, work: Attempt | Talk, run: Run, seen: _Alerted, line: TranscriptLine) -> None:
        call = shorten(clean(str(line.data.get("id") or line.text)), 100)
        if call in seen.told or len(seen.told) >= MAX_ALERTS:
            return
        from ..danger import tool_danger

        what = given_of(line)
        why = tool_danger(str(line.data.get("tool", "")), what, self._own(work))
        if not why:
            return
        seen.told.add(call)
        said = shorten(redacted(clean(what)), _MAX_CALL)
        data = {"run": run.id, "call": call, "why": shorten(redacted(clean(why)), _MAX_CALL), "text": said}
        if isinstance(work, Talk):
            event = Event(
                Kind.DANGER_SEEN, None, None, session_actor(work.session.id), data | {"session": work.session.id}
            )
        else:
            event = Event(Kind.DANGER_SEEN, work.bead, work.id, work.name, data)
        self.ports.store.record(event)

    def _own(self, work: Attempt | Talk) -> str:
        if isinstance(work, Talk):
            return self._folder_of(self.ports, work.session)
        return os.path.join(self.ports.paths.workspaces, work.bead)
