"""The circuit breaker of one provider on one bead: closed, half open, open.

1. So many failures in a row without a commit, or the same error so often in a row, open it: this provider gets
   nowhere with this bead, and another try would only cost.
2. Open, nothing is started for the bead at the provider; another one may take over. Where none is left, a person is
   asked, once.
3. Only a person closes it: half open first, where one more failure opens it again and a success closes it.
4. What is not the bead's failure (a limit, an outage, a stop) says nothing.
"""

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from ..beads.outcomes import TABLE, Outcome


class State(StrEnum):
    """Whether agents may be started."""

    CLOSED = "closed"
    HALF_OPEN = "half_open"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """After how many failures in a row it opens."""

    without_progress: int = 3
    same_error: int = 5


@dataclass(frozen=True, slots=True)
class Breaker:
    """What the failures in a row have in common."""

    state: State = State.CLOSED
    idle: int = 0  # failures in a row that left no commit
    same: int = 0  # failures in a row with this error
    error: str = ""


_CHANGING = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{7,40}\b|\d+")


def error_of(outcome: Outcome, detail: str) -> str:
    """What makes two errors the same: the outcome and the first line, without numbers and object ids."""
    first = next((line for line in detail.splitlines() if line.strip()), "")
    return f"{outcome.value}: {_CHANGING.sub('#', first.strip().lower())[:200]}"


def after(breaker: Breaker, outcome: Outcome, detail: str, progress: bool, thresholds: Thresholds) -> Breaker:
    """The breaker after an attempt ended so. `progress`: it left a commit of its own."""
    if outcome is Outcome.COMPLETED:
        return replace(breaker, state=State.CLOSED, idle=0)
    if not TABLE[outcome].counts:
        return breaker
    error = error_of(outcome, detail)
    idle = 0 if progress else breaker.idle + 1
    same = breaker.same + 1 if error == breaker.error else 1
    trips = breaker.state is not State.CLOSED or idle >= thresholds.without_progress or same >= thresholds.same_error
    return Breaker(State.OPEN if trips else State.CLOSED, idle, same, error)


def reset(breaker: Breaker) -> Breaker:
    """A person lets one more attempt through."""
    return replace(breaker, state=State.HALF_OPEN, idle=0, same=0) if breaker.state is State.OPEN else breaker
