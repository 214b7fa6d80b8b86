"""The door to what agents may do next: cooldowns of providers, breakers of beads, costs and sessions of attempts."""

from collections.abc import Mapping
from typing import Protocol

from .limits import Amount, Breaker, Cooldown


class Spending(Protocol):
    """A part of Store; every change is one transaction with its event."""

    def gates(self) -> Mapping[str, Cooldown]:
        """By provider, the cooldowns that go on, or after which no agent was served yet."""
        ...

    def start_cooldown(self, gate: Cooldown) -> None:
        """Store the cooldown as it is now, and record that it began; nothing happens when it is stored so already."""
        ...

    def end_cooldown(self, provider: str, actor: str) -> bool:
        """Forget the gate, and record that it opened; False: it was open."""
        ...

    def breakers(self, owner: str) -> Mapping[str, Breaker]:
        """By provider, the breakers of an owner (beads.model) that failures have left a mark on."""
        ...

    def save_breaker(self, owner: str, provider: str, breaker: Breaker) -> None:
        """Keep it as it is now."""
        ...

    def reset_breakers(self, bead: str, actor: str) -> int:
        """Half-open every open breaker of the bead, and record it; how many. NoSuchBead."""
        ...

    def spend(self, attempt: int, cost_usd: float, tokens: int) -> None:
        """Set what the attempt has cost."""
        ...

    def spent_since(self, since: float) -> Amount:
        """What agents cost that began at `since` or later."""
        ...

    def is_session(self, provider_session: str) -> bool:
        """Whether a session is known by this id of its CLI."""
        ...

    def hold_session(self, session: str, attempt: int, fresh: bool = False) -> bool:
        """Give the agent's session of this id to the attempt, for as long as it or its process lives.

        False: it is another bead's, or another run of it may live; or, where it is to be `fresh`, somebody has had it.
        """
        ...
