"""Agents as a viewer sees them: who is at work, what each says, and older lines on demand.

1. A line has a number, its place in the whole transcript: a viewer that was away goes on without loss or double.
2. Filtered are the lines that tell how the work goes: what the agent says, tests and findings, errors and notes.
3. Context is what the CLI last said of its tokens, against what its model holds; None where it said nothing.
"""

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from ...agents.adapter import LineKind, TranscriptLine
from ...agents.known import adapter
from ...beads.model import NO_AGENTS, Attempt, Role
from ...beads.progress import doubt
from ...beads.service import board as boards
from ...daemon.model import Limits
from ...daemon.service import control
from ...daemon.service.status import Claim, Worker, claimed, review_step, with_progress, workers
from ...decisions.model import Escalation
from ...decisions.service.all_blockers import blockers
from ...errors import NoSuchBead, NotAllowed, UsageError
from ...events.kinds import WATCHED, Event, Kind, session_actor
from ...host.locks import holder
from ...paths import Paths
from ...records import frozen
from ...text.cleaning import shorten
from ...walking import below, commits_since, state_parts
from ..model import Session, SessionKind, State, Turn, name_of

if TYPE_CHECKING:
    from ...beads.graph import Node
    from ...config.settings import Config
    from ...store import Store


# A line of a session's output is given once it is whole; an offset says where to go on, across restarts of the reader.
# A file that became shorter was started again, and is read from its start. Of an agent FILE.1 holds what came before.
MAX_LINE = 1024 * 1024

CUT = b" [line cut by nobrakes]"

_BLOCK = 64 * 1024


def follow(path: str, offset: int = 0, final: bool = False) -> Iterator[tuple[int, bytes]]:
    """Complete lines after `offset`, each with the next offset; none for a missing file. `final`: the last line needs
    no end."""
    file = below(*state_parts(path))
    if file is None:
        return
    with file:
        if os.fstat(file.fileno()).st_size < offset:
            offset = 0
        file.seek(offset)
        line = bytearray()
        length = 0
        while block := file.read(_BLOCK):
            begin = 0
            while (end := block.find(b"\n", begin)) >= 0:
                _add(line, block[begin:end])
                length += end - begin
                offset += length + 1
                yield offset, _whole(line, length)
                line.clear()
                length = 0
                begin = end + 1
            _add(line, block[begin:])
            length += len(block) - begin
        if final and length:
            yield offset + length, _whole(line, length)


def _add(line: bytearray, piece: bytes) -> None:
    line += piece[: MAX_LINE - len(line)]


def _whole(line: bytearray, length: int) -> bytes:
    return bytes(line) if length <= MAX_LINE else bytes(line) + CUT


SIZE = 100
NEAR = 1_000_000


class Ring:
    """The last `size` readable lines of the file at `path`. `back`: begin so many bytes before its end, at a full line;
    None: at the beginning."""

    def __init__(
        self, path: str, lines: Callable[[bytes], Iterable[TranscriptLine]], size: int = SIZE, back: int | None = None
    ) -> None:
        self._path = path
        self._lines = lines
        self._back = back
        self._offset: int | None = None
        self.last: deque[TranscriptLine] = deque(maxlen=size)

    def read_on(self, final: bool = False) -> Iterator[TranscriptLine]:
        """New lines, also stored in the ring. `final`: the last line needs no end."""
        offset, torn = self._begin() if self._offset is None else (self._offset, False)
        for place, raw in follow(self._path, offset, final):
            self._offset = place
            for line in () if torn else self._lines(raw):
                self.last.append(line)
                yield line
            torn = False

    def catch_up(self, final: bool = False) -> None:
        for _ in self.read_on(final):
            pass

    def _begin(self) -> tuple[int, bool]:
        try:
            size = os.lstat(self._path).st_size
        except OSError:
            return 0, False
        begin = 0 if self._back is None else max(0, size - self._back - 1)  # a byte more: it may be a line's end
        return begin, begin > 0


STATES = ("all", "active", "completed", "failed")
SORTS = ("newest", "oldest", "bead", "agent", "cost")
PAGE = 50
_CONVERSATIONS = 200


@frozen
class AgentSession:
    """An attempt of an agent on a bead with this title."""

    attempt: Attempt
    title: str


@frozen
class SessionsView:
    """One page. `has_more`: there is another. Conversations are on the first page only."""

    attempts: tuple[AgentSession, ...]
    conversations: tuple[Session, ...]
    words: str
    state: str
    sort: str
    page: int
    has_more: bool
    now: float


def agent_sessions(
    store: "Store", words: str = "", state: str = "all", sort: str = "newest", page: int = 1
) -> SessionsView:
    """Raises UsageError for another state or sort."""
    for value, known in ((state, STATES), (sort, SORTS)):
        if value not in known:
            raise UsageError(f"'{value[:40]}' is not one of {', '.join(known)}")
    found = store.agents(words, state, sort, PAGE + 1, (page - 1) * PAGE)
    titles = {bead.id: bead.title for bead in store.beads(ids=sorted({one.bead for one in found}))} if found else {}
    shown = tuple(AgentSession(one, titles.get(one.bead, "")) for one in found[:PAGE])
    talks = tuple(one for one in store.sessions(going=False) if _fits(one, words, state))[:_CONVERSATIONS]
    return SessionsView(shown, talks if page == 1 else (), words, state, sort, page, len(found) > PAGE, store.now())


def _fits(session: Session, words: str, state: str) -> bool:
    if session.kind is SessionKind.ATTEMPT:
        return False
    text = f"{session.title} {session.agent} {session.kind.value}".casefold()
    if not all(word in text for word in words.casefold().split()):
        return False
    states = {
        "active": session.state is not State.ENDED,
        "completed": session.state is State.ENDED,
        "failed": session.state is State.STUCK,
    }
    return states.get(state, True)


# A session is the output of an attempt's agent; the adapter makes it readable. Following ends when the attempt has
# ended and its last line is read.
POLL_SECONDS = 0.25
MAX_RINGS = 300


@frozen
class AgentOutput:
    """One agent's output; its file may not exist yet."""

    attempt: int
    bead: str
    number: int  # of the attempt, among its bead's
    name: str
    role: str
    agent: str
    path: str
    turn: int = 0  # of a session that is not an attempt's; then `attempt` is 0


def attempt_output(paths: Paths, attempt: Attempt) -> AgentOutput:
    return AgentOutput(
        attempt.id,
        attempt.bead,
        attempt.number,
        attempt.name,
        attempt.role.value,
        attempt.agent,
        os.path.join(paths.runs, f"{attempt.id}-agent", "agent.out"),
    )


def turn_output(paths: Paths, session: Session, turn: Turn) -> AgentOutput:
    path = os.path.join(paths.runs, f"s{turn.id}-agent", "agent.out")
    name, role = session_actor(session.id), session.kind.value
    return AgentOutput(0, name_of(session.id), turn.number, name, role, session.agent, path, turn.id)


def find_session(store: "Store", paths: Paths, name_or_bead: str) -> AgentOutput:
    """By worker's name, bead (the latest), or `session~N` (its last turn). Raises NoSuchBead; NotAllowed without an
    agent."""
    kind, _, number = name_or_bead.partition("~")
    if kind == "session" and number.isascii() and number.isdigit() and len(number) < 19:
        turns = store.turns(int(number))
        if not turns:
            raise NotAllowed(f"session {number} has not begun its first turn", "`nobrakes sessions` shows the state.")
        return turn_output(paths, store.session(int(number)), turns[-1])
    working = [a for a in store.board(Limits()).attempts if a.role is not Role.REVIEWER]
    for attempt in working:
        if attempt.bead == name_or_bead or attempt.name.casefold() == name_or_bead.casefold():
            return attempt_output(paths, attempt)
    names = ", ".join(sorted(attempt.name for attempt in working)) or "nobody"
    try:
        past = [a for a in store.attempts(store.bead(name_or_bead).id) if a.role not in NO_AGENTS]
    except NoSuchBead:
        raise NoSuchBead(
            f"no working agent and no bead is called '{name_or_bead[:64]}'", f"Agents at work now: {names}."
        ) from None
    if not past:
        raise NotAllowed(f"no agent has worked on bead {name_or_bead} yet", f"Agents at work now: {names}.")
    return attempt_output(paths, past[-1])


def outcome(store: "Store", session: AgentOutput) -> str | None:
    found = store.turn(session.turn).outcome if session.turn else store.attempt(session.attempt).outcome
    return found.value if found else None


def transcript(
    store: "Store", session: AgentOutput, *, follow: bool, last: int, wait: Callable[[float], None] = time.sleep
) -> Iterator[TranscriptLine]:
    """The last `last` readable lines, then with `follow` new ones until the attempt ends."""
    ring = Ring(session.path, adapter(session.agent).lines, last)
    over = outcome(store, session) is not None
    ring.catch_up(final=over)
    yield from tuple(ring.last)
    while follow and not over:
        wait(POLL_SECONDS)
        # asked before reading: what was written before the end is then read for certain
        over = outcome(store, session) is not None
        yield from ring.read_on(final=over)


class Rings:
    """A ring of each working agent for a polling viewer."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._rings: dict[int, Ring] = {}

    def last_line(self, attempt: Attempt) -> str:
        """The newest readable line of an attempt's agent; empty while it has said nothing."""
        if attempt.id not in self._rings:
            while len(self._rings) >= MAX_RINGS:
                del self._rings[min(self._rings)]  # that of the oldest attempt, which has ended long ago
            session = attempt_output(self._paths, attempt)
            self._rings[attempt.id] = Ring(session.path, adapter(session.agent).lines, back=NEAR)
        ring = self._rings[attempt.id]
        ring.catch_up()
        return next((line.text for line in reversed(ring.last) if line.text), "")


LAST = 100
MAX_AGENTS = 20
MAX_TEXT = 2000
TELLING: frozenset[LineKind] = frozenset({LineKind.TEXT, LineKind.NOTE, LineKind.LIMIT, LineKind.COST})
_SIGNS = ("test", "pytest", "error", "fail", "Traceback", "commit", "ok ", "passed")


@frozen
class Numbered:
    """One numbered line. `is_telling`: it passes the filter."""

    number: int
    kind: str
    text: str
    is_telling: bool


@frozen
class Watched:
    """One agent with its last lines. `commits`: the facts, `claim`: its claim; `doubt`: the contradiction."""

    worker: Worker
    lines: tuple[Numbered, ...]
    total: int
    claim: Claim | None
    commits: int | None
    doubt: str
    context: float | None
    tokens: int
    cost_usd: float
    files: tuple[str, ...]


@frozen
class AttemptPage:
    """A page of an attempt's transcript. `watched` while it works; `first`: the first line's number."""

    attempt: Attempt
    title: str
    lines: tuple[Numbered, ...]
    first: int
    total: int
    watched: Watched | None


def numbered(found: Iterable[TranscriptLine], begin: int = 0) -> list[Numbered]:
    return [
        Numbered(begin + place, line.kind.value, shorten(line.text, MAX_TEXT), is_telling(line))
        for place, line in enumerate(found)
    ]


def is_telling(line: TranscriptLine) -> bool:
    if line.kind in TELLING:
        return True
    return line.kind in (LineKind.RESULT, LineKind.TOOL_CALL) and any(sign in line.text for sign in _SIGNS)


def everything(output: AgentOutput, is_over: bool) -> list[TranscriptLine]:
    """Every readable line of an attempt or a turn."""
    read = adapter(output.agent).lines
    earlier = [raw for _, raw in follow(f"{output.path}.1", 0, True)] if os.path.exists(f"{output.path}.1") else []
    raws = [*earlier, *(raw for _, raw in follow(output.path, 0, is_over))]
    return [line for raw in raws for line in read(raw)]


@frozen
class TurnLines:
    """The running turn of a session, with its last lines."""

    session: Session
    turn: Turn
    lines: tuple[Numbered, ...]
    total: int


def running_turns(store: "Store", paths: Paths, sessions: Iterable[int]) -> tuple[TurnLines, ...]:
    """Of these sessions, those in which an agent is at work."""
    found = []
    for session in map(store.session, sessions):
        turns = store.turns(session.id) if session.state is State.RUNNING else []
        for turn in turns[-1:]:
            lines = everything(turn_output(paths, session, turn), turn.outcome is not None)
            shown = numbered(lines[-LAST:], max(0, len(lines) - LAST))
            found.append(TurnLines(session, turn, tuple(shown), len(lines)))
    return tuple(found)


def live(store: "Store", paths: Paths, config: "Config") -> tuple[Watched, ...]:
    """At most twenty, oldest first."""
    found = [one for one in workers(store) if one.role is not Role.REVIEWER][:MAX_AGENTS]
    return tuple(watched(store, paths, config, one) for one in found)


def watched(store: "Store", paths: Paths, config: "Config", worker: Worker, last: int = LAST) -> Watched:
    """A working agent with its last lines."""
    attempt = store.attempt(worker.attempt)
    lines = everything(attempt_output(paths, attempt), attempt.outcome is not None)
    claim = claimed(store, attempt)
    clone = os.path.join(paths.workspaces, worker.bead)
    commits = commits_since(clone, worker.started_at) if os.path.isdir(clone) else None
    used = context_of(lines)
    holds = getattr(getattr(config.agents, worker.agent, None), "context_tokens", 0) or 0
    return Watched(
        worker,
        tuple(numbered(lines[-last:], max(0, len(lines) - last))),
        len(lines),
        claim,
        commits,
        doubt(claim.step, commits) if claim is not None else "",
        min(1.0, used / holds) if used and holds else None,
        max(attempt.tokens, used),
        attempt.cost_usd,
        touched(lines),
    )


def context_of(lines: Sequence[TranscriptLine]) -> int:
    for line in reversed(lines):
        if line.kind is LineKind.USAGE:
            data: Mapping[str, object] = line.data
            for name in ("context", "tokens", "input_tokens"):
                value = data.get(name)
                if isinstance(value, int):
                    return value
    return 0


def touched(lines: Sequence[TranscriptLine]) -> tuple[str, ...]:
    """Files in its tool calls, the latest last, at most thirty."""
    found: dict[str, None] = {}
    for line in lines:
        if line.kind is LineKind.TOOL_CALL:
            for name in ("file_path", "path", "file"):
                value = line.data.get(name) if isinstance(line.data, Mapping) else None
                if isinstance(value, str) and value:
                    found.pop(value, None)
                    found[value] = None
    return tuple(islice(reversed(found), 30))


def attempt_page(store: "Store", paths: Paths, config: "Config", number: int, before: int | None) -> AttemptPage:
    """The lines before this number, None: the last ones."""
    attempt = store.attempt(number)
    if attempt.role is Role.REVIEWER:
        raise UsageError(f"attempt {number} is only a review", f"The page of bead {attempt.bead} shows its checks.")
    lines = everything(attempt_output(paths, attempt), attempt.outcome is not None)
    end = len(lines) if before is None else max(0, min(before, len(lines)))
    begin = max(0, end - LAST * 5)
    at_work = [one for one in workers(store) if one.attempt == number]
    return AttemptPage(
        attempt,
        store.bead(attempt.bead).title,
        tuple(numbered(lines[begin:end], begin)),
        begin,
        len(lines),
        watched(store, paths, config, at_work[0], 0) if at_work else None,
    )


# `LiveReader.mark` costs a look at the last event, at the daemon's lock and at the ends of the agents' output. One
# thread uses a reader, with a store of its own.
EVENTS = 60
_HIDDEN = WATCHED | {Kind.LOGGED, Kind.PROGRESSED}
EVERYTHING = 1_000_000


@frozen
class AtWork:
    """A worker and its last words; of a review its step."""

    worker: Worker
    last: str


@frozen
class LiveView:
    """A snapshot. `at`: the store's clock; `events`: newest first, `titles`: of their beads. `names`: attempt ->
    worker. `found`: matches by column; None: no filter."""

    at: float
    main: str
    daemon: int | None
    paused: bool
    stopping: bool
    board: boards.BoardView
    working: tuple[AtWork, ...]
    escalations: tuple[Escalation, ...]
    events: tuple[Event, ...]
    titles: Mapping[str, str]
    names: Mapping[int, str]
    found: Mapping[str, int] | None = None


class LiveReader:
    """Reads for one polling viewer."""

    def __init__(self, store: "Store", paths: "Paths", config: "Config") -> None:
        self._store, self._paths, self._config = store, paths, config
        self._rings = Rings(paths)
        self._open: tuple[Attempt, ...] = ()
        self._names: dict[int, str] = {}

    def mark(self) -> object:
        last = self._store.position()
        return last.seq, last.at, holder(self._paths.lock), tuple(self._last(one) for one in self._open)

    def read(self, wanted: str = "", limit: int = boards.CARDS) -> LiveView:
        """What the live board shows: at most `limit` cards of a column, those that match `wanted`."""
        store = self._store
        stands = blockers(store, self._paths, self._config)
        found = boards.board(store, limit, stands)
        self._open = tuple(store.attempt(worker.attempt) for worker in found.working)
        working = tuple(
            AtWork(with_progress(store, self._paths, worker), self._last(attempt))
            for worker, attempt in zip(found.working, self._open, strict=True)
        )
        kinds = [kind for kind in Kind if kind not in _HIDDEN]
        events = tuple(store.latest_events(kinds, limit=EVENTS))
        columns, fitting = self._fitting(wanted, limit, found)
        return LiveView(
            store.now(),
            self._config.main,
            holder(self._paths.lock),
            bool(store.setting(control.PAUSED)),
            bool(store.setting(control.STOPPING)),
            replace(found, columns=columns),
            working,
            tuple(store.escalations()),
            events,
            self._titles(events),
            {one: self._name(one) for one in {event.attempt for event in events if event.attempt is not None}},
            fitting,
        )

    def _fitting(
        self, wanted: str, limit: int, found: boards.BoardView
    ) -> tuple[Mapping[str, tuple[boards.Card, ...]], Mapping[str, int] | None]:
        if not wanted.strip():
            return found.columns, None
        asked = self._store.requested()
        all_of = boards.nodes_by_column(self._store, EVERYTHING, asked)
        nodes = {name: [node for node in column if fits(_line(node), wanted)] for name, column in all_of.items()}
        known = {card.id: card for cards in found.columns.values() for card in cards}
        cards = {
            name: tuple(known.get(node.id) or boards.card(node, (), asked.get(node.id)) for node in column[:limit])
            for name, column in nodes.items()
        }
        return cards, {name: len(column) for name, column in nodes.items()}

    def _last(self, attempt: Attempt) -> str:
        return review_step(attempt) if attempt.role is Role.REVIEWER else self._rings.last_line(attempt)

    def _name(self, attempt: int) -> str:
        if attempt not in self._names:
            self._names[attempt] = self._store.attempt(attempt).name
        return self._names[attempt]

    def _titles(self, events: tuple[Event, ...]) -> dict[str, str]:
        ids = {event.bead for event in events if event.bead is not None}
        return {bead.id: bead.title for bead in self._store.beads(ids=ids)} if ids else {}


def identity(paths: "Paths") -> tuple[int, int] | None:
    """Identifies the database file; a replaced one has to be reopened."""
    try:
        found = os.stat(paths.database)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def fits(line: str, wanted: str) -> bool:
    """Ignores case."""
    folded = line.casefold()
    return all(word in folded for word in wanted.casefold().split())


def _line(node: "Node") -> str:
    return f"{node.id} {node.title} {node.type} p{node.priority} {node.epic or ''} {node.assignee or ''}"


@frozen
class AttemptLines:
    """An attempt with its last readable lines."""

    attempt: Attempt
    lines: tuple[TranscriptLine, ...]


def transcripts(store: "Store", paths: Paths, bead: str, number: int | None, last: int) -> tuple[AttemptLines, ...]:
    """At most `last` lines of each attempt, or of the one with this number. Raises NoSuchBead, UsageError."""
    agents = [one for one in store.attempts(bead) if one.role not in NO_AGENTS]
    chosen = [one for one in agents if number is None or one.number == number]
    if number is not None and not chosen:
        what = f"no agent worked on bead {bead} in attempt {number}"
        raise UsageError(what, f"`nobrakes history {bead}` lists the attempts.")
    outputs = (transcript(store, attempt_output(paths, one), follow=False, last=last) for one in chosen)
    return tuple(map(AttemptLines, chosen, map(tuple, outputs)))
