"""The part of SqliteStore that is the port `Spending`. Each method is one transaction of spending or session_locks."""

from collections.abc import Mapping

from ..core.limits.breaker import Breaker
from ..core.limits.caps import Amount
from ..core.limits.cooldowns import Cooldown
from . import escalations
from .attempts import session_locks
from .database import Database
from .machine import spending


class Spender:
    """Gates, breakers, costs and sessions on one database."""

    _db: Database

    def gates(self) -> Mapping[str, Cooldown]:
        """By provider, the cooldowns that go on, or after which no agent was served yet."""
        return spending.gates(self._db)

    def start_cooldown(self, gate: Cooldown) -> None:
        """Store the cooldown as it is now, and record that it began."""
        with self._db.write():
            spending.start_cooldown(self._db, gate)
            if not gate.is_of_start:
                escalations.started(self._db, gate.provider, "it starts again", "nobrakes")

    def end_cooldown(self, provider: str, actor: str) -> bool:
        """Forget the gate, and record that it opened; a question about an agent that does not start goes with it."""
        with self._db.write():
            opened = spending.end_cooldown(self._db, provider, actor)
            if opened:
                escalations.started(self._db, provider, "it is tried again", actor)
            return opened

    def breakers(self, owner: str) -> Mapping[str, Breaker]:
        """By provider, the breakers of an owner."""
        return spending.breakers(self._db, owner)

    def save_breaker(self, owner: str, provider: str, breaker: Breaker) -> None:
        """Keep it as it is now."""
        spending.save_breaker(self._db, owner, provider, breaker)

    def reset_breakers(self, bead: str, actor: str) -> int:
        """Half-open every open breaker of the bead."""
        return spending.reset_breakers(self._db, bead, actor)

    def spend(self, attempt: int, cost_usd: float, tokens: int) -> None:
        """Set what the attempt has cost."""
        spending.spend(self._db, attempt, cost_usd, tokens)

    def spent_since(self, since: float) -> Amount:
        """What agents cost that began at `since` or later."""
        return spending.spent_since(self._db, since, self._db.now())

    def is_session(self, provider_session: str) -> bool:
        """Whether a session is known by this id of its CLI."""
        return session_locks.is_session(self._db, provider_session)

    def hold_session(self, session: str, attempt: int, fresh: bool = False) -> bool:
        """Give the session to the attempt; False: it is another bead's, or another run of it may live."""
        return session_locks.hold_session(self._db, session, attempt, fresh)
