"""What an agent says while it works: its session found by name or bead, its lines read and followed.

1. A session is the output of an attempt's agent, kept in the attempt's run folder; the adapter makes it readable.
2. Following ends when the attempt has ended and its last line is read.
"""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..agents.registry import adapter
from ..core.beads.attempt import Attempt
from ..core.beads.bead import NO_AGENTS, Role
from ..core.board import Limits
from ..core.errors import NoSuchBead, NotAllowed
from ..core.sessions.session import Session as Talk
from ..core.sessions.session import Turn, name_of
from ..core.transcript import Line
from ..paths import Paths
from ..ports.store import Store
from ..sessions.ring import NEAR, Ring

POLL_SECONDS = 0.25
MOST_RINGS = 300
"""More than agents can be at work at once."""


@dataclass(frozen=True, slots=True)
class Session:
    """One agent's output: `path` is its file, which may not be there yet."""

    attempt: int
    bead: str
    number: int  # of the attempt, among its bead's
    name: str
    role: str
    agent: str
    path: str
    turn: int = 0  # of a session that is no attempt's; then `attempt` is 0


def of(paths: Paths, attempt: Attempt) -> Session:
    """The session of an attempt."""
    return Session(
        attempt.id,
        attempt.bead,
        attempt.number,
        attempt.name,
        attempt.role.value,
        attempt.agent,
        os.path.join(paths.runs, f"{attempt.id}-agent", "agent.out"),
    )


def of_turn(paths: Paths, session: Talk, turn: Turn) -> Session:
    """What the agent of a turn says."""
    path = os.path.join(paths.runs, f"s{turn.id}-agent", "agent.out")
    name, role = f"Session {session.id}", session.kind.value
    return Session(0, name_of(session.id), turn.number, name, role, session.agent, path, turn.id)


def find_session(store: Store, paths: Paths, name_or_bead: str) -> Session:
    """The session of who works under this name, or the latest one of this bead; the last turn of `session~N`.

    NoSuchBead where nobody is called so; NotAllowed where no agent has worked on the bead, or in the session.
    """
    kind, _, number = name_or_bead.partition("~")
    if kind == "session" and number.isascii() and number.isdigit() and len(number) < 19:
        turns = store.turns(int(number))
        if not turns:
            raise NotAllowed(f"session {number} has not begun its first turn", "`nobrakes sessions` shows its state.")
        return of_turn(paths, store.session(int(number)), turns[-1])
    working = [a for a in store.board(Limits()).attempts if a.role is not Role.REVIEWER]
    for attempt in working:
        if attempt.bead == name_or_bead or attempt.name.casefold() == name_or_bead.casefold():
            return of(paths, attempt)
    names = ", ".join(sorted(attempt.name for attempt in working)) or "nobody"
    try:
        past = [a for a in store.attempts(store.bead(name_or_bead).id) if a.role not in NO_AGENTS]
    except NoSuchBead:
        raise NoSuchBead(
            f"nobody called '{name_or_bead[:64]}' works now, and no bead has this id", f"At work now: {names}."
        ) from None
    if not past:
        raise NotAllowed(f"no agent has worked on bead {name_or_bead} yet", f"At work now: {names}.")
    return of(paths, past[-1])


def outcome(store: Store, session: Session) -> str | None:
    """How the session's attempt ended; None while it works."""
    found = store.turn(session.turn).outcome if session.turn else store.attempt(session.attempt).outcome
    return found.value if found else None


def transcript(
    store: Store, session: Session, *, follow: bool, last: int, wait: Callable[[float], None] = time.sleep
) -> Iterator[Line]:
    """The last `last` readable lines that are there, then with `follow` every new one until the attempt ends."""
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
    """What the agents at work said last, for a viewer that asks again and again: a ring of each."""

    def __init__(self, paths: Paths) -> None:
        self._places = paths
        self._rings: dict[int, Ring] = {}

    def last_line(self, attempt: Attempt) -> str:
        """The newest readable line of an attempt's agent; empty while it has said nothing."""
        if attempt.id not in self._rings:
            while len(self._rings) >= MOST_RINGS:
                del self._rings[min(self._rings)]  # that of the oldest attempt, which has ended long ago
            session = of(self._places, attempt)
            self._rings[attempt.id] = Ring(session.path, adapter(session.agent).lines, back=NEAR)
        ring = self._rings[attempt.id]
        ring.catch_up()
        return next((line.text for line in reversed(ring.last) if line.text), "")
