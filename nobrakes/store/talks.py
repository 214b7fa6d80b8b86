"""The part of the port `Store` that is sessions: conversations, turns, messages."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core.beads.outcomes import Outcome
from ..core.limits.breaker import Breaker
from ..core.owners import of_bead
from ..core.sessions.session import Fact, Message, Session, SessionKind, Turn
from .database import Database
from .sessions import conversations, turns


class Talks:
    """Sessions on one database. Each method is one transaction of conversations or turns."""

    _db: Database
    _token_source: Callable[[], str]

    def begin_session(
        self,
        kind: SessionKind,
        owner: str,
        title: str,
        agent: tuple[str, str, str],
        text: str,
        actor: str,
        data: Mapping[str, Any] | None = None,
    ) -> Session:
        """A new session with its first message; `agent` is its name, its provider and its model."""
        return conversations.begin(self._db, kind, owner, title, agent, text, actor, data or {})

    def say(self, session: int, text: str, author: str) -> Message:
        """Something that the next turn is told."""
        return conversations.say(self._db, session, text, author)

    def note_session(self, session: int, data: Mapping[str, Any]) -> Session:
        """Set values of the session's data."""
        return conversations.note(self._db, session, data)

    def session(self, session: int) -> Session:
        """One session."""
        return conversations.session(self._db, session)

    def sessions(self, going: bool = True) -> list[Session]:
        """Sessions that are no attempt's and go on; with `going` False all of them, newest first."""
        return conversations.going(self._db) if going else conversations.listed(self._db)

    def code_reviews(self, bead: str) -> list[Session]:
        """The sessions that read the bead's work, oldest first."""
        return conversations.reading(self._db, of_bead(bead))

    def messages(self, session: int) -> list[Message]:
        """All that was said in it, oldest first."""
        return conversations.messages(self._db, session)

    def turn(self, turn: int) -> Turn:
        """One turn."""
        return turns.turn(self._db, turn)

    def turns(self, session: int) -> list[Turn]:
        """The turns of a session, oldest first."""
        return turns.turns(self._db, session)

    def open_turn(self, session: int) -> tuple[Turn, Sequence[Message]] | None:
        """Begin the next turn of a session that is ready; None: it is not ready."""
        return turns.open_turn(self._db, self._token_source, session)

    def told(self, turn: int) -> Sequence[Message]:
        """What the turn was given to say, oldest first."""
        return turns.told_to(self._db, turn)

    def note_turn(self, turn: int, data: Mapping[str, Any]) -> None:
        """Set values of an open turn's data."""
        turns.note(self._db, turn, data)

    def hear_session(self, turn: int, provider_session: str) -> bool:
        """The turn's agent says that its session has begun, and its id; False: that id is another session's."""
        return turns.hear(self._db, turn, provider_session)

    def spend_turn(self, turn: int, cost_usd: float, tokens: int, context: float | None = None) -> None:
        """Set what the turn has cost, and how full its context is."""
        turns.spend(self._db, turn, cost_usd, tokens, context)

    def close_turn(
        self,
        turn: int,
        fact: Fact,
        outcome: Outcome,
        detail: str,
        *,
        said: str = "",
        told_again: bool = False,
        breaker: Breaker | None = None,
        retry_at: float | None = None,
        failed: bool = False,
        lost: bool = False,
    ) -> Session:
        """End the turn and move its session; Stale when it has ended."""
        return turns.close_turn(
            self._db,
            turn,
            fact,
            outcome,
            detail,
            said=said,
            told_again=told_again,
            breaker=breaker,
            retry_at=retry_at,
            failed=failed,
            lost=lost,
        )

    def stop_session(self, session: int, actor: str) -> Session:
        """Ask the turn at work to stop."""
        return conversations.ask_to_stop(self._db, session, actor)

    def end_session(self, session: int, actor: str) -> Session:
        """End the session; a turn at work is stopped."""
        return conversations.end(self._db, session, actor)

    def speaker(self, token: str) -> tuple[Turn, Session]:
        """The open turn that the token speaks for, with its session."""
        return turns.speaker(self._db, token)
