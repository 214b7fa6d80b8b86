"""The cooldown of a provider: begun by a usage limit, an outage or a refused login, for every bead; over by itself.

1. A reset time that the provider said is believed within bounds; then it is over for all.
2. Where it said none, it lasts longer each time, and after it one agent goes ahead: more follow when it
   has worked for a while or has ended well.
3. An agent that does not start closes its gate in the same way, once that is known to be no bead's doing; every end of
   one that started opens it.
4. Attempts that were running when it began run into the same wall: they do not make the wait longer.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from ..beads.outcomes import TABLE, Outcome

LONGEST_SECONDS = 3600.0
"""A provider whose reset time is not known is tried at least this often."""
LONGEST_TOLD_SECONDS = 8 * 24 * 3600.0
"""No usage limit is longer than a week; a reset time beyond that is a mistake."""
MARGIN_SECONDS = 5.0
"""Clocks differ: so much later than said, the limit is over for sure."""
PROBE_SECONDS = 120.0
"""An agent that has worked for so long at its provider was let in."""

ASK_SECONDS = 60.0
"""Between two questions to a CLI that does not work."""

LETS_IN = frozenset(
    {
        Outcome.COMPLETED,
        Outcome.GAVE_UP_CONTEXT,
        Outcome.GAVE_UP_TESTS,
        Outcome.FAILED,
        Outcome.NO_WORK,
        Outcome.BOUNDARY,
        Outcome.CONTRADICTED_ITSELF,
        Outcome.CONTEXT_OVERFLOW,
        Outcome.TURN_LIMIT,
        Outcome.BLOCKED,
    }
)
"""An attempt that ended so was served by the provider."""


class Served(Protocol):
    """Who was started at a provider: an attempt, or a session's turn."""

    @property
    def provider(self) -> str:
        """Who answers it; empty: nobody who could refuse."""
        ...

    @property
    def started_at(self) -> float:
        """When it began."""
        ...


@dataclass(frozen=True, slots=True)
class Cooldown:
    """A provider that refused and has not served an agent since. `times`: how often in a row."""

    provider: str
    reason: Outcome
    detail: str
    since: float
    until: float
    times: int
    told: bool  # the provider itself said until when

    @property
    def is_of_start(self) -> bool:
        """Whether it is closed since the agent does not start."""
        return TABLE[self.reason].is_of_start

    def is_closed(self, now: float) -> bool:
        """Whether nothing may be started at the provider."""
        return now < self.until


def close(
    gate: Cooldown | None,
    attempt: Served,
    outcome: Outcome,
    detail: str,
    now: float,
    resets_at: float | None,
    is_broken: bool = False,
) -> Cooldown | None:
    """The cooldown after `attempt` was refused; `gate` itself where that says nothing new; None: there is none.

    `is_broken`: the agent does not start, whichever bead it is.
    """
    row = TABLE[outcome]
    if not (row.starts_cooldown or is_broken) or not attempt.provider:
        return gate
    told = resets_at is not None and now < resets_at <= now + LONGEST_TOLD_SECONDS
    if gate is not None and attempt.started_at < gate.since:
        if not told or (gate.told and gate.until >= (resets_at or 0.0) + MARGIN_SECONDS):
            return gate
        return replace(gate, reason=outcome, until=(resets_at or 0.0) + MARGIN_SECONDS, told=True)
    times = gate.times + 1 if gate is not None else 1
    if told and resets_at is not None:
        until = resets_at + MARGIN_SECONDS
    else:
        until = now + min(row.gate_seconds * 2.0 ** min(times - 1, 20), LONGEST_SECONDS)
    return Cooldown(attempt.provider, outcome, detail[:500], now, until, times, told)


def is_proven(gate: Cooldown, attempt: Served, outcome: Outcome) -> bool:
    """Whether the end of `attempt` shows that the provider lets agents in again."""
    if attempt.provider != gate.provider or attempt.started_at < gate.until:
        return False
    return outcome in LETS_IN or (gate.is_of_start and TABLE[outcome].counts)


def still_broken(gate: Cooldown, trouble: str, now: float) -> Cooldown:
    """The gate of an agent whose CLI was asked and does not work yet: it is asked again soon, which costs nothing."""
    return replace(gate, detail=trouble[:500], since=now, until=now + ASK_SECONDS)


def room(gates: Mapping[str, Cooldown], attempts: Iterable[Served], now: float) -> dict[str, int]:
    """How many agents may be started at each provider whose gate is not open; what is not in it has no bound."""
    found = {}
    for gate in gates.values():
        if gate.is_closed(now):
            found[gate.provider] = 0
            continue
        if gate.told:
            continue
        inside = [a for a in attempts if a.provider == gate.provider and a.started_at >= gate.until]
        if not any(now >= a.started_at + PROBE_SECONDS for a in inside):
            found[gate.provider] = 0 if inside else 1
    return found


def wake_at(gates: Mapping[str, Cooldown], attempts: Iterable[Served], now: float) -> float | None:
    """The next moment at which a cooldown ends, or lets more in."""
    times = [gate.until for gate in gates.values() if gate.is_closed(now)]
    for gate in gates.values():
        if not gate.is_closed(now) and not gate.told:
            inside = [a.started_at for a in attempts if a.provider == gate.provider and a.started_at >= gate.until]
            times += [start + PROBE_SECONDS for start in inside if start + PROBE_SECONDS > now]
    return min(times, default=None)
