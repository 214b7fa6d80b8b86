"""Caps: what agents may cost, for each bead, day and run, in dollars, tokens and minutes; and how often they start.

1. A cap stops softly: once it is reached nothing new is started under it, and who is at work is asked to stop
   (core.stopping); the work is kept.
2. A bead that reached its cap goes to a person; a day's and an hour's cap end with the day and the hour (UTC).
3. Whoever reaches a cap is told once for each period. A person may lift one for the rest of its period: then it holds
   nobody up until the next one begins.
4. The cap of one attempt is its process's own limit (daemon.attempts.launch): a deadline, and a budget where its agent
   knows budgets. Tokens are counted while it works where its CLI tells of them (daemon.attempts.metering), else when it
   has ended.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields

DAY_SECONDS = 86_400.0
HOUR_SECONDS = 3600.0
CALLS = "calls_per_hour"
"""The name of the cap on starts; the others are about cost."""


@dataclass(frozen=True, slots=True)
class Amount:
    """What was spent."""

    usd: float = 0.0
    tokens: float = 0.0
    minutes: float = 0.0


@dataclass(frozen=True, slots=True)
class Cap:
    """What may be spent; None: without a cap."""

    usd: float | None = None
    tokens: float | None = None
    minutes: float | None = None

    @property
    def is_set(self) -> bool:
        """Whether anything is capped."""
        return self != Cap()


@dataclass(frozen=True, slots=True)
class Caps:
    """Every cap of the config."""

    attempt: Cap = Cap()
    bead: Cap = Cap()
    day: Cap = Cap()
    run: Cap = Cap()
    calls_per_hour: int | None = None


@dataclass(frozen=True, slots=True)
class Spent:
    """What the store says was spent: today, in this run, on beads of the front, and the agents started this hour."""

    day: Amount = Amount()
    run: Amount = Amount()
    beads: Mapping[str, Amount] = field(default_factory=dict)
    calls: int = 0
    run_since: float = 0.0
    told: Mapping[str, str] = field(default_factory=dict)  # by cap: the period for which a person was told
    lifted: Mapping[str, str] = field(default_factory=dict)  # by cap: the period for which a person lifted it


@dataclass(frozen=True, slots=True)
class Reached:
    """A cap that is reached: `name` like day.usd, `period` what it is reached for, `until` when that ends."""

    name: str
    spent: float
    limit: float
    period: str
    until: float | None = None


def over(name: str, cap: Cap, amount: Amount, period: str, until: float | None) -> Iterator[Reached]:
    """The parts of `cap` that `amount` has reached."""
    for part in fields(Cap):
        limit, spent = getattr(cap, part.name), getattr(amount, part.name)
        if limit is not None and spent >= limit:
            yield Reached(f"{name}.{part.name}", spent, limit, period, until)


def day_start(now: float) -> float:
    """When this day began, in UTC."""
    return now - now % DAY_SECONDS


def hour_start(now: float) -> float:
    """When this hour began."""
    return now - now % HOUR_SECONDS


def reached(caps: Caps, spent: Spent, now: float) -> list[Reached]:
    """The caps for all beads that are reached now, and not lifted: nothing new may be started under them."""
    return [one for one in used_up(caps, spent, now) if spent.lifted.get(one.name) != one.period]


def used_up(caps: Caps, spent: Spent, now: float) -> list[Reached]:
    """The caps for all beads that are reached now, those too that a person lifted."""
    day, hour = day_start(now), hour_start(now)
    found = list(over("day", caps.day, spent.day, f"{day:.0f}", day + DAY_SECONDS))
    found += over("run", caps.run, spent.run, f"{spent.run_since:.3f}", None)
    if caps.calls_per_hour is not None and spent.calls >= caps.calls_per_hour:
        until = hour + HOUR_SECONDS
        found.append(Reached(CALLS, spent.calls, caps.calls_per_hour, f"{hour:.0f}", until))
    return found


def period_of(name: str, spent: Spent, now: float) -> str:
    """The period of a cap for all beads that `now` is in, by the cap's name."""
    if name.startswith("run."):
        return f"{spent.run_since:.3f}"
    return f"{day_start(now) if name.startswith('day.') else hour_start(now):.0f}"


def ends_at(name: str, now: float) -> float | None:
    """When the period of a cap ends by itself, by the cap's name; None: with the run."""
    if name.startswith("run."):
        return None
    return day_start(now) + DAY_SECONDS if name.startswith("day.") else hour_start(now) + HOUR_SECONDS


def calls_left(caps: Caps, spent: Spent, now: float) -> int | None:
    """How many agents may still be started this hour; None: no cap, or it is lifted."""
    if caps.calls_per_hour is None or spent.lifted.get(CALLS) == period_of(CALLS, spent, now):
        return None
    return max(0, caps.calls_per_hour - spent.calls)


def of_bead(caps: Caps, spent: Spent, bead: str) -> Reached | None:
    """The first cap that the bead has reached."""
    return next(over("bead", caps.bead, spent.beads.get(bead, Amount()), bead, None), None)


def untold(caps: Caps, spent: Spent, now: float) -> list[Reached]:
    """The caps that are reached and that nobody was told of in their period."""
    return [one for one in reached(caps, spent, now) if spent.told.get(one.name) != one.period]


def wake_at(caps: Caps, spent: Spent, now: float) -> float | None:
    """When the first of the reached caps ends by itself."""
    return min((one.until for one in reached(caps, spent, now) if one.until is not None), default=None)
