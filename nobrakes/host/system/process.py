"""One process, as the tables of this machine show it."""

import sys
from dataclasses import dataclass
from functools import cache

LINUX = sys.platform.startswith("linux")

DEAD = ("Z", "X", "x")
"""States of processes that have ended and only wait to be collected."""


@cache
def boot() -> str:
    """The id of this boot; start times are absolute where there is none."""
    if not LINUX:
        return "ps"
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


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

    @property
    def mark(self) -> str:
        """Its identity beside the pid, as kept in Born.mark and Run.born."""
        return f"{boot()}:{self.started}"
