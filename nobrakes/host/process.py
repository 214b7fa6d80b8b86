"""One process, as the tables of this machine show it."""

from dataclasses import dataclass

DEAD = ("Z", "X", "x")
"""States of processes that have ended and only wait to be collected."""


@dataclass(frozen=True, slots=True)
class Process:
    """One process. `started` is in clock ticks since boot on Linux, else in seconds since 1970."""

    pid: int
    parent: int
    session: int
    state: str
    started: int
    cpu: int = 0  # ticks used by it and by its children that ended

    @property
    def running(self) -> bool:
        """Whether it still lives; a zombie does not."""
        return self.state not in DEAD
