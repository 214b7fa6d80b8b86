"""Quiet hours: when only what is urgent is sent.

1. They are a time of the local day, and may cross midnight. Whoever asks gives the time zone.
2. On a day on which the clock is set back, a time that comes twice begins the quiet hours the first time and ends them
   the second time. One that the clock jumps over is the moment of the jump.
"""

import re
from datetime import date, datetime, timedelta, tzinfo

from ..errors import ConfigError

DAY_MINUTES = 24 * 60
_FORM = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)\s*-\s*([01]?\d|2[0-3]):([0-5]\d)")


def parsed(text: str) -> tuple[int, int] | None:
    """Minutes of the day of `22:00-07:00`, from and to; None for an empty text; ConfigError."""
    if not text.strip():
        return None
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise ConfigError(f"notify.quiet_hours is '{text[:40]}'", 'Write them as "22:00-07:00", or "" for none.')
    hour, minute, until_hour, until_minute = (int(part) for part in found.groups())
    begin, end = 60 * hour + minute, 60 * until_hour + until_minute
    if begin == end:
        raise ConfigError("notify.quiet_hours end when they begin", 'Write them as "22:00-07:00", or "" for none.')
    return begin, end


def quiet_until(quiet: tuple[int, int] | None, now: float, zone: tzinfo) -> float | None:
    """When the quiet hours end in which `now` lies; None: it lies in none."""
    if quiet is None:
        return None
    begin, end = quiet
    today = datetime.fromtimestamp(now, zone).date()
    for days in (-1, 0):
        first = today + timedelta(days=days)
        last = first if begin < end else first + timedelta(days=1)
        if _moment(first, begin, zone, fold=0) <= now < (over := _moment(last, end, zone, fold=1)):
            return over
    return None


def _moment(day: date, minutes: int, zone: tzinfo, fold: int) -> float:
    """When the local clock shows it, the first or the second time; of a time that is left out, the jump over it."""
    wall = datetime(day.year, day.month, day.day, minutes // 60, minutes % 60)
    one, other = (wall.replace(tzinfo=zone, fold=at).timestamp() for at in (0, 1))
    if one <= other:  # it comes once, or twice
        return other if fold else one
    before = _offset(other, zone)  # it is left out: the jump lies between the two readings
    low, high = other, one
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _offset(middle, zone) == before else (low, middle)
    return high


def _offset(moment: float, zone: tzinfo) -> timedelta | None:
    return datetime.fromtimestamp(moment, zone).utcoffset()
