"""The snapshot that deciders see: what waits, what runs, what is overdue. Never the whole graph.

The store hands over only the front of each queue, so a tick costs what changed and not what exists.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .attempt import Attempt, Frontier, Run


@dataclass(frozen=True, slots=True)
class Limits:
    """What a person may change while it runs."""

    doers: int = 4
    max_failures: int = 3
    agent_seconds: float = 3600.0
    idle_seconds: float = 600.0
    check_seconds: float = 1800.0
    grace_seconds: float = 10.0
    lease_seconds: float = 120.0


@dataclass(frozen=True, slots=True)
class Board:
    """One moment. `ready` and `to_review` are in the order in which they should be taken."""

    now: float
    limits: Limits = field(default_factory=Limits)
    ready: tuple[Frontier, ...] = ()
    to_review: tuple[Frontier, ...] = ()
    attempts: tuple[Attempt, ...] = ()  # those that have not ended
    runs: Mapping[int, Run] = field(default_factory=dict)  # by attempt
    epics_done: tuple[str, ...] = ()  # live epics without an open child
    paused: bool = False  # nothing new is started; what runs goes on
    stopping: bool = False  # agents are being stopped; nothing new is started
    agent_gates: frozenset[str] = frozenset()  # agents at which nothing may be spawned now
    wake_at: float | None = None  # the next retry or deferral that comes due
    retry_at: float | None = None  # the next retry alone: deferrals may be days away
