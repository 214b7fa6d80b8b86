"""Telling people, and the time."""

from dataclasses import dataclass
from typing import Protocol


class Clock(Protocol):
    """Time, as the store and the loop see it."""

    def now(self) -> float:
        """Seconds since 1970 UTC."""
        ...


@dataclass(frozen=True, slots=True)
class Notice:
    """Something a person should hear of. `urgent`: work waits for them."""

    text: str
    bead: str | None = None
    urgent: bool = False


class Notifier(Protocol):
    """Tells people."""

    def tell(self, notice: Notice) -> None:
        """Say it; a failure to say it must never stop the work."""
        ...
