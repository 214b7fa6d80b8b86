"""When a usage limit ends, read out of what people are told.

1. The forms are data: `FORMS`, tried in this order, in the text after a word that tells of an end (`_TELLS`). The first
   that gives a time counts; a text that matches none says nothing.
2. A time of day without a zone is local, in a zone that is named it is of that zone. One that has passed is the next
   day's; a date without a year, or a weekday, is the next one.
3. A span is from now on.
"""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_TELLS = re.compile(
    r"reset(?:s|ting)?(?:[-_ ]?(?:requests|tokens|time|at|after))?\b|retry(?:[-_ ]?(?:after|delay))?|try(?:ing)? again"
    r"|available(?: again)?\b|renews?\b|refresh(?:es)?\b|replenish\w*|restored\b|wait\b|until\b|back\b|limit reached\|",
    re.I,
)
"""What stands before a moment at which a limit ends."""

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_OFFSETS: Mapping[str, float] = {
    "UTC": 0,
    "GMT": 0,
    "Z": 0,
    "EST": -5,
    "EDT": -4,
    "CST": -6,
    "CDT": -5,
    "MST": -7,
    "MDT": -6,
    "PST": -8,
    "PDT": -7,
    "BST": 1,
    "CET": 1,
    "CEST": 2,
    "EET": 2,
    "EEST": 3,
    "IST": 5.5,
    "JST": 9,
    "AEST": 10,
    "AEDT": 11,
}
"""Hours of the abbreviations that people are shown. With another one the moment is not known."""
_PLACES: Mapping[str, str] = {
    "ET": "America/New_York",
    "CT": "America/Chicago",
    "MT": "America/Denver",
    "PT": "America/Los_Angeles",
    "EASTERN": "America/New_York",
    "CENTRAL": "America/Chicago",
    "MOUNTAIN": "America/Denver",
    "PACIFIC": "America/Los_Angeles",
}
_UNITS: Mapping[str, float] = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001, "w": 604800.0}

_CLOCK = r"(?P<hour>\d{1,2})(?!\d)(?::(?P<minute>\d{2})(?::(?P<second>\d{2}))?)?\s*(?P<half>[ap]\.?m\b\.?)?"
_ZONE = (
    r"(?:\s*\(?\s*(?P<zone>[A-Z][A-Za-z]+/[A-Za-z0-9_+/-]+|(?:UTC|GMT)?[+-]\d{1,2}(?::?\d{2})?\b"
    r"|(?:Pacific|Eastern|Central|Mountain)\b|Z\b|[A-Z]{2,4}\b)\s*\)?)?"
)
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})[a-z]*\.?"
_DATE = rf"{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:,?\s+(?P<year>\d{{4}}))?"
_EUROPEAN = rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\.?\s+(?:de\s+|of\s+)?{_MONTH}(?:\s+de)?(?:,?\s+(?P<year>\d{{4}}))?"
_NUMBERS = r"(?P<year>\d{4})[-/](?P<monthno>\d{1,2})[-/](?P<day>\d{1,2})"
_WEEKDAY = rf"(?:next\s+)?(?P<weekday>{'|'.join(_DAYS)})[a-z]*\b\.?"
_RELATIVE_DAY = r"(?P<relative>today|tonight|tomorrow)"
_AT = r"[\s,:]*(?:\bat\b|\bon\b|\bT|·|-)?\s*"
_SPAN = (
    r"(?:\d+(?:\.\d+)?\s*(?:weeks?|w|days?|d|hours?|hrs?|h|minutes?|mins?|ms|milliseconds?|m|seconds?|secs?|s)\b"
    r"|\d+(?:\.\d+)?(?:ms|[wdhms])(?=\d)|an?\s+(?:week|day|hour|minute|second)\b)"
)
_BEFORE = r"(?:\W|\b(?:at|on|in|after|about|approximately|around|for|is|will|be|another|time|date|again|approx)\b)*?"

FORMS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(rf"{_BEFORE}(?<![\w.])(?<!\d:)(?:{pattern})", flags))
    for name, pattern, flags in (
        ("seconds since 1970", r"(?P<epoch>1[5-9]\d{8}|[2-9]\d{9})(?P<millis>\d{3})?\b", 0),
        ("a date in numbers and a time", rf"{_NUMBERS}(?:[T\s]+{_CLOCK}(?:\.\d+)?{_ZONE})?", re.I),
        ("a span", rf"(?P<span>{_SPAN}(?:[,\s]*(?:and\s+)?{_SPAN})*)", re.I),
        ("hours, minutes and seconds", r"in\s+(?P<clock>\d{1,3}:\d{2}:\d{2})\b", re.I),
        ("month, day and a time", rf"{_DATE}(?:{_AT}{_CLOCK}{_ZONE})?", re.I),
        ("day, month and a time", rf"{_EUROPEAN}(?:{_AT}{_CLOCK}{_ZONE})?", re.I),
        ("a weekday and a time", rf"{_WEEKDAY}(?:{_AT}{_CLOCK}{_ZONE})?", re.I),
        ("today or tomorrow", rf"{_RELATIVE_DAY}(?:{_AT}{_CLOCK}{_ZONE})?", re.I),
        ("a time and a day", rf"{_CLOCK}{_ZONE}[\s,]+(?:on\s+)?(?:{_RELATIVE_DAY}|{_WEEKDAY}|{_DATE})", re.I),
        ("midnight or noon", rf"(?P<named>midnight|noon){_ZONE}", re.I),
        ("a time of day", rf"{_CLOCK}{_ZONE}", re.I),
        ("bare seconds", r"(?P<bare>\d+(?:\.\d+)?)\b", re.I),
    )
)
"""Each with its name; the names of the groups say what is in it."""


def reset_time(text: str, now: float) -> float | None:
    """Seconds since 1970 at which the limit that `text` tells of ends, as seen at `now`; None: it does not say."""
    for told in _TELLS.finditer(text):
        rest = text[told.end() : told.end() + 120]
        for _, pattern in FORMS:
            found = pattern.match(rest)
            moment = None if found is None else _moment(found.groupdict(), told[0].lower(), now)
            if moment is not None:
                return moment
    return None


def _moment(found: Mapping[str, str | None], told: str, now: float) -> float | None:
    """What the groups of a form say."""
    if epoch := found.get("epoch"):
        return float(epoch)
    if span := found.get("span"):
        parts = re.findall(r"(\d+(?:\.\d+)?|an?(?=\s))\s*(ms|[wdhms])", span, re.I)
        return now + sum((1 if n[0] in "aA" else float(n)) * _UNITS[unit.lower()] for n, unit in parts)
    if clock := found.get("clock"):
        hours, minutes, seconds = map(int, clock.split(":"))
        return now + hours * 3600 + minutes * 60 + seconds
    if bare := found.get("bare"):
        return now + float(bare) if told.endswith(("after", "delay")) else None
    try:
        return _on_the_clock(found, datetime.fromtimestamp(now, _zone(found.get("zone"))))
    except (ValueError, OverflowError, OSError, ZoneInfoNotFoundError):
        return None


def _zone(name: str | None) -> tzinfo | None:
    """The zone of that name; None: the local one. ValueError, ZoneInfoNotFoundError: nobody knows it."""
    if not name or (name.islower() and "/" not in name and name[0] not in "+-"):
        return None  # a word that follows
    if "/" in name:
        return ZoneInfo(name)
    known = name.upper()
    if known in _PLACES:
        return ZoneInfo(_PLACES[known])
    offset = re.fullmatch(r"(?:UTC|GMT)?([+-])(\d{1,2}):?(\d{2})?", known)
    if offset is not None:
        minutes = int(offset[2]) * 60 + int(offset[3] or 0)
        return timezone(timedelta(minutes=minutes if offset[1] == "+" else -minutes))
    if known not in _OFFSETS:
        raise ValueError(f"nobody knows the zone {name}")
    return timezone(timedelta(hours=_OFFSETS[known]))


def _on_the_clock(found: Mapping[str, str | None], here: datetime) -> float | None:
    """A time of day, a date, or both; `here` is now in the zone that is meant."""
    time_of_day = _time_of_day(found)
    is_dated = any(found.get(part) for part in ("month", "monthno", "weekday"))
    if time_of_day is None and (found.get("hour") or not is_dated):
        return None
    hour, minute, second = time_of_day or (0, 0, 0)
    then = here.replace(hour=hour, minute=minute, second=second, microsecond=0)
    if found.get("monthno"):
        then = then.replace(int(found["year"] or 0), int(found["monthno"] or 0), int(found["day"] or 0))
    elif month := found.get("month"):
        year = int(found["year"] or here.year)
        then = then.replace(year, _MONTHS.index(month[:3].lower()) + 1, int(found["day"] or 0))
        if then <= here and not found["year"] and then.date() != here.date():
            then = then.replace(year + 1)
    elif weekday := found.get("weekday"):
        then += timedelta(days=(_DAYS.index(weekday[:3].lower()) - here.weekday()) % 7)
        then += timedelta(days=7 if then <= here else 0)
    elif relative := found.get("relative"):
        then += timedelta(days=relative.lower() == "tomorrow")
    elif then <= here:
        then += timedelta(days=1)
    return then.timestamp() if then > here else None


def _time_of_day(found: Mapping[str, str | None]) -> tuple[int, int, int] | None:
    """Hour, minute and second; None: it is none, as an hour of which nobody says the half of the day."""
    if named := found.get("named"):
        return (0, 0, 0) if named.lower() == "midnight" else (12, 0, 0)
    hour, minute, half = found.get("hour"), found.get("minute"), (found.get("half") or "").lower()
    if not hour or not (half or minute):
        return None
    number = int(hour)
    if half and not 1 <= number <= 12:
        return None
    number = number % 12 + (12 if half[0] == "p" else 0) if half else number
    return number, int(minute or 0), int(found.get("second") or 0)
