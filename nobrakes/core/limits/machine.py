"""Limits that all repositories of one person share on a machine: how many agents at once, and what a day may cost.

1. A place is one agent's: a Doer's, a Test Writer's, or a session's turn. Reviews and checks take none.
2. Where more places are taken than allowed (a daemon came back and found its agents alive, or the limit was lowered)
   nothing new starts, and nobody is stopped for it.
3. What a day costs is summed over all repositories. Once a limit of the day is reached nothing new starts anywhere,
   and who is at work is asked to stop, as under `caps.day`; each repository's person is told once in the day.
4. Without any of these limits there is no room to look at, and nothing here says anything.
5. A limit that cannot be read counts as reached: no agent starts. Who is at work goes on, and so do reviews and merges.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from .caps import DAY_SECONDS, Reached, day_start

PREFIX = "machine."
"""What the names of these limits begin with, where caps are named."""


@dataclass(frozen=True, slots=True)
class MachineLimits:
    """The limits of the machine; None: without one."""

    agents: int | None = None
    usd_per_day: float | None = None
    tokens_per_day: int | None = None

    @property
    def is_set(self) -> bool:
        """Whether anything is limited."""
        return self != MachineLimits()


@dataclass(frozen=True, slots=True)
class MachineRoom:
    """One moment of the machine: its limits, the places that are taken, and what all repositories spent today."""

    limits: MachineLimits
    taken: int = 0  # by the agents of every living daemon
    own: int = 0  # of these, by this daemon's
    usd: float = 0.0
    tokens: int = 0
    told: Mapping[str, str] = field(default_factory=dict)  # by limit: the day for which a person was told
    unknown: str = ""  # why limits cannot be read, or what is used of them; empty: they can
    mend: str = ""  # what a person does about that
    passes: bool = False  # it may pass by itself

    @property
    def others(self) -> int:
        """The places that other repositories hold."""
        return self.taken - self.own


def free(room: MachineRoom | None) -> int | None:
    """How many agents may still start, by the limit of agents alone; None: as many as anybody likes."""
    if room is not None and room.unknown:
        return 0
    if room is None or room.limits.agents is None:
        return None
    return max(0, room.limits.agents - room.taken)


def without_places(room: MachineRoom | None) -> MachineRoom | None:
    """The same moment, as if agents were not limited."""
    return None if room is None else replace(room, limits=replace(room.limits, agents=None))


def reached(room: MachineRoom | None, now: float) -> list[Reached]:
    """The limits of the day that are reached: nothing new may be started under them."""
    if room is None or room.unknown:
        return []
    day = day_start(now)
    spent = (
        ("usd_per_day", room.usd, room.limits.usd_per_day),
        ("tokens_per_day", float(room.tokens), room.limits.tokens_per_day),
    )
    return [
        Reached(f"{PREFIX}{name}", amount, float(limit), f"{day:.0f}", day + DAY_SECONDS)
        for name, amount, limit in spent
        if limit is not None and amount >= limit
    ]


def untold(room: MachineRoom | None, now: float) -> list[Reached]:
    """The limits that are reached and that this repository's person was not told of today."""
    return [one for one in reached(room, now) if room is not None and room.told.get(one.name) != one.period]


def wake_at(room: MachineRoom | None, now: float) -> float | None:
    """When the reached limits end by themselves."""
    return min((one.until for one in reached(room, now) if one.until is not None), default=None)


def reached_text(name: str, spent: float, limit: float) -> str:
    """What a person is told of a limit that is reached, with what to type."""
    short = name.removeprefix(PREFIX)
    return (
        f"nothing new is started in any repository of this machine: {short} is reached ({spent:.6g} of {limit:.6g}). "
        f"The next day begins at 00:00 UTC; `nobrakes machine set {short}=…` raises the limit before."
    )


def needs_person(room: MachineRoom | None) -> bool:
    """Whether nothing is started before a person did something about the limits."""
    return room is not None and bool(room.unknown) and not room.passes


def unknown_text(room: MachineRoom) -> str:
    """What a person is told where limits cannot be read, with what to do."""
    return f"no agent is started, since limits cannot be read: {room.unknown}. {room.mend} Merges go on."


def waiting_text(room: MachineRoom) -> str:
    """What a person is told while something is ready and other repositories have the places for it."""
    return (
        f"what is ready waits for a place: {room.taken} of {room.limits.agents} agents work on this machine, "
        f"{room.others} of them in other repositories. `nobrakes machine` shows where."
    )
