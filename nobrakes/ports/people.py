"""Telling people, the time, and work beside the loop."""

from collections.abc import Callable
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


class Background(Protocol):
    """Does beside the loop what the loop need not wait for (host.background says what a job may use)."""

    def wakes(self, wake: Callable[[], None]) -> None:
        """`wake` is called after each job, from wherever it was done."""
        ...

    def begin(self, name: str, job: Callable[[], None], far: bool = False) -> None:
        """Do the job, unless one of this name was begun and its end not told yet.

        `far`: it waits for another machine, and no other job waits for it but those that are far as well.
        """
        ...

    def over(self, name: str) -> bool:
        """Whether no such job goes on; the error of one that failed is raised here, once."""
        ...

    def busy(self, name: str) -> bool:
        """Whether it was begun and its end not told yet."""
        ...

    def is_empty(self) -> bool:
        """Whether the end of everything that was begun was told."""
        ...

    def close(self) -> None:
        """Wait for what was begun."""
        ...
