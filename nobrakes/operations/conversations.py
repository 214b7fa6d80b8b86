"""Sessions with agents, for people: begun, spoken to, stopped, ended, and looked at.

1. Whatever is said waits in the store and wakes the daemon; who says it is handed in.
2. What is shown is values; texts for people are made by the surfaces.
"""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..agents.registry import adapter
from ..core.beads.escalations import Escalation
from ..core.errors import UsageError
from ..core.owners import of_person
from ..core.sessions.session import REVIEWERS, Message, Session, SessionKind, Turn
from ..paths import Paths
from .held_memory import memory_of_agents
from .waking import wake

if TYPE_CHECKING:
    from ..config.settings import Config
    from ..ports.store import Store

MOST_TITLE = 100
KINDS = (SessionKind.PLANNING.value, SessionKind.CHAT.value)
"""What a person begins."""


@dataclass(frozen=True, slots=True)
class SessionView:
    """A session with all that was said in it. `questions` are those of it that wait for a person."""

    session: Session
    messages: tuple[Message, ...]
    turns: tuple[Turn, ...]
    questions: tuple[Escalation, ...]


def start(
    store: "Store", paths: Paths, config: "Config", text: str, *, kind: str, agent: str, title: str, actor: str
) -> Session:
    """Begin a session with what is said first; `agent` empty: the Shaper's. UsageError, NoAgent."""
    if kind not in KINDS:
        raise UsageError(f"there is no session of kind '{kind[:40]}'", f"Use one of: {', '.join(KINDS)}.")
    name = agent or config.agents.shaper[0]
    provider = adapter(name).provider
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    seat = (name, provider, config.agents.model_of(name, "shaper"))
    words = (title or first)[:MOST_TITLE]
    made = store.begin_session(SessionKind(kind), of_person(actor), words, seat, text, actor)
    wake(paths)
    return made


def say(store: "Store", paths: Paths, number: int, text: str, actor: str) -> Message:
    """Say something to a session; its next turn is given it. NoSuchSession, NotAllowed for one that was ended."""
    _spoken_to(store, number)
    said = store.say(number, text, actor)
    wake(paths)
    return said


def stop(store: "Store", paths: Paths, number: int, actor: str) -> Session:
    """Stop what the session does now; it waits for what is said to it next."""
    _own(store, number)
    found = store.stop_session(number, actor)
    wake(paths)
    return found


def end(store: "Store", paths: Paths, number: int, actor: str) -> Session:
    """End the session: its questions are over, and what it does now is stopped."""
    _own(store, number)
    found = store.end_session(number, actor)
    wake(paths)
    return found


def _own(store: "Store", number: int) -> None:
    found = store.session(number)
    if found.kind is SessionKind.ATTEMPT:
        raise UsageError(
            f"session {number} is the memory of the agents on {found.owner.partition(':')[2]}, and goes with its bead",
            "`nobrakes stop NAME` stops who is at work.",
        )


def _spoken_to(store: "Store", number: int) -> None:
    _own(store, number)
    if store.session(number).kind in REVIEWERS:
        raise UsageError(
            f"session {number} reviews, and nobody talks with it",
            "Talk with the session that made the plan, or decide what it found: `nobrakes escalations`.",
        )


def view(store: "Store", number: int) -> SessionView:
    """One session with all that was said in it; NoSuchSession."""
    found = store.session(number)
    asked = tuple(one for one in store.escalations() if one.session == number)
    return SessionView(found, tuple(store.messages(number)), tuple(store.turns(number)), asked)


def listed(store: "Store", *, everything: bool) -> list[Session]:
    """Sessions, newest first: those that go on, or all there were, those of attempts as well."""
    return store.sessions(going=False) if everything else store.sessions()[::-1]


def memory(store: "Store") -> dict[int, int]:
    """MB of memory that the agent of each session at work holds now, by the session."""
    held = memory_of_agents(run for run in store.runs() if run.turn)
    return {store.turn(turn).session: mb for (_, turn), mb in held.items()}


def transcript_of(paths: Paths, turn: Turn) -> str:
    """The file with the output of a turn's agent; it may not be there yet."""
    return os.path.join(paths.runs, f"s{turn.id}-agent", "agent.out")
