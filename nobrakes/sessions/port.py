"""The door to sessions: conversations with agents, their turns, and what is said in them."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ..agents.limits import Breaker
from ..beads.model import Outcome
from .model import Fact, Message, Session, SessionKind, Turn


class Sessions(Protocol):
    """A part of Store; every change is one transaction with its event."""

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
        ...

    def say(self, session: int, text: str, author: str) -> Message:
        """Something that the next turn is told; NoSuchSession, NotAllowed for one that has ended."""
        ...

    def note_session(self, session: int, data: Mapping[str, Any]) -> Session:
        """Set values of the session's data; what else is in it stays. NoSuchSession."""
        ...

    def session(self, session: int) -> Session:
        """One session; NoSuchSession."""
        ...

    def sessions(self, going: bool = True) -> list[Session]:
        """Sessions that are no attempt's and go on; with `going` False all of them, newest first."""
        ...

    def code_reviews(self, bead: str) -> list[Session]:
        """The sessions that read the bead's work (review.reading), oldest first."""
        ...

    def messages(self, session: int) -> list[Message]:
        """All that was said in it, oldest first."""
        ...

    def turn(self, turn: int) -> Turn:
        """One turn."""
        ...

    def turns(self, session: int) -> list[Turn]:
        """The turns of a session, oldest first."""
        ...

    def open_turn(self, session: int) -> tuple[Turn, Sequence[Message]] | None:
        """Begin the next turn of a session that is ready, with all that waits to be said; None: it is not ready."""
        ...

    def told(self, turn: int) -> Sequence[Message]:
        """What the turn was given to say, oldest first."""
        ...

    def note_turn(self, turn: int, data: Mapping[str, Any]) -> None:
        """Set values of an open turn's data. Stale: it has ended."""
        ...

    def hear_session(self, turn: int, provider_session: str) -> bool:
        """The turn's agent says that its session has begun, and its id; False: that id is another session's."""
        ...

    def spend_turn(self, turn: int, cost_usd: float, tokens: int, context: float | None = None) -> None:
        """Set what the turn has cost, and how full its context is (0 to 1); the session costs what its turns do."""
        ...

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
        """End the turn. Stale: it has ended.

        `said`: the agent's words; `told_again`: what it was given waits again; `breaker`: the session's at its provider
        from now on; `failed`: it counts as a failure in a row; `lost`: its CLI does not know the session any more.
        """
        ...

    def stop_session(self, session: int, actor: str) -> Session:
        """Ask the turn at work to stop; the session waits for what is said to it next."""
        ...

    def end_session(self, session: int, actor: str) -> Session:
        """End the session; a turn at work is stopped."""
        ...

    def speaker(self, token: str) -> tuple[Turn, Session]:
        """The open turn that the token speaks for, with its session; Stale when there is none."""
        ...
