"""Sprints that begin at a time: when one is due, and what becomes of it. Pure; the zone is handed in.

1. A time is that of a wall clock in a zone. One that the clock leaps over is as much later as the leap; one that comes
   twice is due once.
2. A schedule and its due time are a key: whatever comes of it, it is written down, and that once.
3. Missed by less than `late_hours` (a machine was off, the work paused, main red, a cap reached) it still begins, once;
   by more it is told. Of several that were missed the last one alone may begin.
4. It is a yes like any other: for the brief, the checks and the caps of when it was given.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from enum import StrEnum

from ..errors import UsageError

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
MOST_LATE = 24.0 * 7
LONGEST_DAYS = 400
"""A schedule that was missed for longer is looked at from then on."""


class Came(StrEnum):
    """What came of a due time."""

    STARTED = "started"
    MISSED = "missed"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Schedule:
    """`days` are names of DAYS, none of them: every day. `zone`: a name as Europe/Berlin; empty: the machine's."""

    id: int
    at: str
    days: tuple[str, ...]
    zone: str
    sprints: int
    late_hours: float
    needs_tests: bool
    terms: Mapping[str, str]
    actor: str
    created_at: float
    last_due: float = 0.0  # the last due time of which something came


@dataclass(frozen=True, slots=True)
class Due:
    """What comes of a due time now. `why`: in words, where it did not begin or others were missed before it."""

    schedule: int
    at: float
    came: Came
    why: str = ""


def clock_time(text: str) -> time:
    """`03:00` as a time. UsageError."""
    hour, _, minute = text.strip().partition(":")
    if not (hour.isdigit() and minute.isdigit() and len(hour) <= 2 and len(minute) == 2) or not hour.isascii():
        raise UsageError(f"'{text[:20]}' is no time of a day", "As on a clock of 24 hours: --at 03:00.")
    if int(hour) > 23 or int(minute) > 59:
        raise UsageError(f"'{text[:20]}' is no time of a day", "As on a clock of 24 hours: --at 03:00.")
    return time(int(hour), int(minute))


def named_days(text: str) -> tuple[str, ...]:
    """`mon,thu` as names of days, in the week's order; empty: every day. UsageError."""
    given = {one.strip().casefold()[:3] for one in text.split(",") if one.strip()}
    wrong = given - set(DAYS)
    if wrong:
        raise UsageError(f"'{min(wrong)[:20]}' is no day of a week", f"Use: {','.join(DAYS)}.")
    return tuple(day for day in DAYS if day in given)


def due_times(one: Schedule, zone: tzinfo, after: float, until: float) -> list[float]:
    """The due times later than `after`, and not later than `until`, in seconds since 1970."""
    start = max(after, until - LONGEST_DAYS * 86_400)
    day, last = _day(start, zone) - timedelta(days=1), _day(until, zone) + timedelta(days=1)
    found = []
    while day <= last:
        if not one.days or DAYS[day.weekday()] in one.days:
            moment = datetime.combine(day, clock_time(one.at), zone).timestamp()
            if start < moment <= until:
                found.append(moment)
        day += timedelta(days=1)
    return found


def next_due(one: Schedule, zone: tzinfo, now: float) -> float:
    """When it is due next."""
    return due_times(one, zone, now, now + 9 * 86_400)[0]


def comes(one: Schedule, zone: tzinfo, now: float, hindered: bool, refused: str) -> Due | None:
    """What comes of it now; None: it is not due, or what hinders it may still pass.

    `hindered`: nothing may be started now; `refused`: why it may not begin, whenever; empty: it may.
    """
    dues = due_times(one, zone, max(one.last_due, one.created_at), now)
    if not dues:
        return None
    before = f"; {len(dues) - 1} due times before it were missed, too" if len(dues) > 1 else ""
    if now - dues[-1] >= one.late_hours * 3600:
        return Due(one.id, dues[-1], Came.MISSED, f"nothing could begin it within {one.late_hours:g} hours{before}")
    if hindered:
        return None
    if refused:
        return Due(one.id, dues[-1], Came.REFUSED, refused + before)
    return Due(one.id, dues[-1], Came.STARTED, before.removeprefix("; "))


def wakes(one: Schedule, zone: tzinfo, now: float) -> list[float]:
    """When something comes of it without anything happening."""
    dues = due_times(one, zone, max(one.last_due, one.created_at), now)
    return [next_due(one, zone, now), *(due + one.late_hours * 3600 for due in dues[-1:])]


def _day(moment: float, zone: tzinfo) -> date:
    return datetime.fromtimestamp(moment, UTC).astimezone(zone).date()
