"""Times as people write and read them, in the machine's own time zone."""

import re
from datetime import datetime
from typing import Any

from ..errors import UsageError

_UNITS = {"m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_DURATION = re.compile(r"(?:(\d{1,4})\s*h)?\s*(?:(\d{1,5})\s*m(?:in)?)?", re.IGNORECASE)


def minutes_of(value: Any) -> Any:
    if isinstance(value, str):
        found = _DURATION.fullmatch(value.strip())
        if not found or not any(found.groups()):
            raise ValueError("is not a duration: use minutes, or texts like '45m', '2h', '1h30m'")
        return int(found[1] or 0) * 60 + int(found[2] or 0)
    return value


def moment(text: str, now: float) -> float:
    """Seconds since 1970 for `90m`, `8h`, `2d`, `1w` from now, or an ISO date or time. Raises UsageError."""
    word = text.strip().lower()
    number, unit = word[:-1], word[-1:]
    if unit in _UNITS and number.isascii() and number.isdigit() and len(number) <= 6:
        return now + int(number) * _UNITS[unit]
    try:
        return datetime.fromisoformat(text.strip()).timestamp()
    except (ValueError, OverflowError, OSError):
        raise UsageError(
            f"'{text[:40]}' is not a time", "Write a span (90m, 8h, 2d, 1w), a date (2030-01-31) or 2030-01-31T09:00."
        ) from None


def spoken(when: float) -> str:
    return datetime.fromtimestamp(when).strftime("%Y-%m-%d %H:%M")


def near(when: float, now: float) -> str:
    """`when` as it is said `now`: 07:50, 18:05 yesterday, 09:00 tomorrow, else with its date."""
    day, today = datetime.fromtimestamp(when), datetime.fromtimestamp(now)
    words = {-1: " yesterday", 0: "", 1: " tomorrow"}
    word = words.get((day.date() - today.date()).days)
    return spoken(when) if word is None else f"{day.strftime('%H:%M')}{word}"


def date(when: float) -> str:
    return datetime.fromtimestamp(when).strftime("%Y-%m-%d")


def clock(when: float) -> str:
    return datetime.fromtimestamp(when).strftime("%H:%M:%S")
