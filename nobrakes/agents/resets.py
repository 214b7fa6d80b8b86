"""When a usage limit ends, read out of what people are told. Times of day are those of this machine.

Known wordings: "try again at 2:08 AM", "try again at Nov 22nd, 2026 2:08 AM", "try again in 2 days 3 hours",
"Please retry in 34.07s", "retryDelay": "3600s", "will reset after 3h12m5s".
"""

import re
from datetime import datetime, timedelta

_AT = re.compile(
    r"try again at (?:(?P<month>[A-Z][a-z]{2})[a-z]* (?P<day>\d{1,2})(?:st|nd|rd|th)?,? (?P<year>\d{4}),? )?"
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2}) ?(?P<half>[AP]M)"
)
_IN = re.compile(r"(?:try again in|retry in|reset after|retryDelay\W+)\s*((?:\d+(?:\.\d+)?\s*[a-z]+[,\s]*)+)", re.I)
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|[dhms])", re.I)
_SECONDS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def reset_time(text: str, now: float) -> float | None:
    """Seconds since 1970 at which the limit that `text` tells of ends, as seen at `now`; None: it does not say."""
    at = _AT.search(text)
    if at is not None:
        return _next(at, datetime.fromtimestamp(now))
    found = _IN.search(text)
    parts = _PART.findall(found[1]) if found else []
    return now + sum(float(n) * _SECONDS[unit.lower()] for n, unit in parts) if parts else None


def _next(at: re.Match[str], now: datetime) -> float | None:
    hour = int(at["hour"]) % 12 + (12 if at["half"] == "PM" else 0)
    try:
        if at["month"] in _MONTHS:
            day = (int(at["year"]), _MONTHS.index(at["month"]) + 1, int(at["day"]))
            return datetime(*day, hour, int(at["minute"])).timestamp()
        then = now.replace(hour=hour, minute=int(at["minute"]), second=0, microsecond=0)
    except ValueError:
        return None
    return (then if then > now else then + timedelta(days=1)).timestamp()
