"""Sessions: conversations with an agent CLI, and the table of their states.

1. An attempt holds a bead, a session is a conversation, a run is a process. A session of kind `attempt` serves one
   bead's attempts in turn and moves with them; others have their own states here.
2. A turn is one run of the agent, between two waits; a session has at most one open turn.
3. Messages wait for the next turn, which takes all of them in its opening transaction: none is lost or repeated.
4. A session that asked a person continues after the answer, or when somebody writes something else.
"""

from collections.abc import Iterable, Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any

from ..beads.model import Outcome
from ..beads.progress import doubt
from ..errors import NotAllowed
from ..events.kinds import Event, session_actor
from ..paths import Paths
from ..records import frozen
from ..text.cleaning import clean


def name_of(session: int) -> str:
    """Replaces a bead's id in names of checkouts and CLI sessions; no bead's id has a tilde."""
    return f"session~{session}"


class SessionKind(StrEnum):
    """What a session is for."""

    ATTEMPT = "attempt"
    PLANNING = "planning"
    REVIEW = "review"  # of a plan; nobrakes begins it, and nobody talks with it
    CODE_REVIEW = "code_review"  # the same, of work that passed its checks
    CHAT = "chat"
    RELAY = "relay"  # it works in a clone of its own, and hands back a branch


class State(StrEnum):
    """A session's state."""

    READY = "ready"  # something waits to be said to it: its next turn may begin
    RUNNING = "running"
    ASKING = "asking"  # a person has to answer its question
    IDLE = "idle"  # it waits for what is said to it next
    STUCK = "stuck"  # its turns fail in the same way: a person says something, or ends it
    ENDED = "ended"


class Fact(StrEnum):
    """What moves a session."""

    SAID = "said"  # somebody said something to it
    STARTED = "started"
    ENDED_WELL = "ended_well"  # the turn is over, and nothing is asked
    ASKED = "asked"  # the turn is over, and a question of it is open
    QUESTIONED = "questioned"  # a person is asked in its name, between its turns
    ANSWERED = "answered"  # its last open question was answered
    SETTLED = "settled"  # its last open question is over, and nothing is said of it
    STOPPED = "stopped"  # a person stopped the turn: what was not said yet waits with what is said next
    CUT_OFF = "cut_off"  # the turn is over, and what it was told has to be told again
    GAVE_UP = "gave_up"  # the turn failed once too often
    CLOSED = "closed"  # a person ended it


TABLE: Mapping[State, Mapping[Fact, State]] = {
    State.READY: {
        Fact.SAID: State.READY,
        Fact.STARTED: State.RUNNING,
        Fact.ANSWERED: State.READY,
        Fact.CLOSED: State.ENDED,
    },
    State.RUNNING: {
        Fact.SAID: State.RUNNING,
        Fact.ANSWERED: State.RUNNING,
        Fact.ENDED_WELL: State.IDLE,
        Fact.ASKED: State.ASKING,
        Fact.STOPPED: State.IDLE,
        Fact.CUT_OFF: State.READY,
        Fact.GAVE_UP: State.STUCK,
        Fact.CLOSED: State.ENDED,
    },
    State.ASKING: {
        Fact.SAID: State.READY,
        Fact.ANSWERED: State.READY,
        Fact.SETTLED: State.IDLE,
        Fact.CLOSED: State.ENDED,
    },
    State.IDLE: {
        Fact.SAID: State.READY,
        Fact.QUESTIONED: State.ASKING,
        Fact.ANSWERED: State.READY,
        Fact.CLOSED: State.ENDED,
    },
    State.STUCK: {Fact.SAID: State.READY, Fact.ANSWERED: State.READY, Fact.CLOSED: State.ENDED},
    State.ENDED: {},
}
"""The new state by state and fact; other pairs are refused."""
REVIEWERS = frozenset({SessionKind.REVIEW, SessionKind.CODE_REVIEW})
CLEAN = frozenset({Outcome.COMPLETED, Outcome.BLOCKED, Outcome.GAVE_UP_TESTS, Outcome.CONTRADICTED_ITSELF})


def advance(state: State, fact: Fact) -> State:
    """Raises NotAllowed."""
    after = TABLE[state].get(fact)
    if after is None:
        raise NotAllowed(
            f"a session in the state {state.value} cannot be {fact.value.replace('_', ' ')}",
            "`nobrakes sessions` lists the open sessions.",
        )
    return after


@frozen
class Session:
    """One conversation. `owner`: see beads.model; `waiting`: messages without a turn."""

    id: int
    kind: SessionKind
    owner: str
    title: str
    agent: str
    state: State
    provider: str = ""
    model: str = ""  # empty: the agent's own choice
    provider_session: str | None = None  # the CLI's own id; None: not known yet
    begun: bool = False  # whether the session was seen in the agent's output, so that it can be resumed
    attempt: int | None = None  # who holds it, or held it last
    failures: int = 0  # in a row
    retry_at: float | None = None
    stop_asked: bool = False
    detail: str = ""  # how the last turn ended, in words
    cost_usd: float = 0.0
    tokens: int = 0
    created_at: float = 0.0
    updated_at: float = 0.0
    ended_at: float | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    waiting: int = 0


@frozen
class Turn:
    """One run of a session's agent. Ended when `outcome` is set."""

    id: int
    session: int
    number: int  # counts the session's turns, from 1
    token: str
    resumes: bool  # whether it goes on with the CLI's session, or begins a new one
    provider: str
    started_at: float
    ended_at: float | None = None
    outcome: Outcome | None = None
    detail: str = ""
    cost_usd: float = 0.0
    tokens: int = 0
    data: Mapping[str, Any] = field(default_factory=dict)


@frozen
class Message:
    """A message; `turn` None: not read yet. `answers`: its question."""

    id: int
    session: int
    author: str
    at: float
    text: str
    turn: int | None = None
    answers: int | None = None


@frozen
class Talk:
    """A session with its open turn, with the names of an attempt."""

    session: Session
    turn: Turn

    @property
    def agent(self) -> str:
        return self.session.agent

    @property
    def provider(self) -> str:
        return self.turn.provider

    @property
    def started_at(self) -> float:
        return self.turn.started_at

    @property
    def tokens(self) -> int:
        return self.turn.tokens

    @property
    def data(self) -> Mapping[str, Any]:
        return self.turn.data


# What relay sessions keep in their data. One that plans first changes nothing before a person approved its plan.
REPOSITORY, START, CHAT, PERSONA = "repository", "start", "chat", "persona"
IN_PLACE = "in_place"
"""In a session's data: the repository, its first commit, the chat that began it, its agent's persona; and whether it
works in the checkout itself."""
STAGE_KEY, PLAN, WORK = "stage", "plan", "work"
"""In a session's data: whether its turns only plan."""
BEAD = "bead"
"""In a session's data: the bead of its handed-in work."""
DIRECTORY = "directory"
"""In a session's data: its agent's folder in the workspace; empty: the top."""
FILES = "files"
"""In a session's data: whether progress and output also go to files."""
PLAN_OF = "plan_of"
"""In the evidence of a question: the session with this plan."""
HEAD, BRANCH = "head", "branch"
"""In a turn's data: the commit that it handed back, and its branch."""


def is_relay(session: Session) -> bool:
    return session.kind is SessionKind.RELAY


def only_plans(session: Session) -> bool:
    return is_relay(session) and session.data.get(STAGE_KEY) == PLAN


def files_of(home: str, session: int) -> str:
    """`home`: the session's .nobrakes."""
    return f"{Paths(home).relays}/{session}.files"


MAX_TEXT = 200
MAX_CLAIMS = 1000


@frozen
class Claim:
    """An agent's claim: `step` of `of` steps (None: unsaid). `doubt`: what contradicts it; empty: nothing."""

    text: str
    step: int | None
    of: int | None
    doubt: str


def claim_of(said: Iterable[Event], one: Session, commits: int | None) -> Claim | None:
    """The session's latest claim among `said` (newest first), compared with its commits (None: unknown)."""
    name = session_actor(one.id)
    found = next((e for e in said if e.actor == name and e.attempt is None and e.at >= one.created_at), None)
    if found is None:
        return None
    told = found.data.get("data") or {}
    step, of = (value if isinstance(value := told.get(key), int) else None for key in ("step", "of"))
    return Claim(clean(str(found.data.get("text", "")))[:MAX_TEXT], step, of, doubt(step, commits))
