"""What the adapters share of all CLIs that print events: their output is read event by event, and judged at its end.

1. `Read` takes the events in, as each CLI's `verdict` module knows them. A line that holds none says nothing.
2. A run that went on without the guard's canary is refused, whatever it did.
3. Where the last line is torn nobody knows whether the agent had finished: the verdict is unsure.
"""

import json
import re
from abc import ABC, abstractmethod
from codecs import BOM_UTF8
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone, tzinfo
from typing import Any, ClassVar, Generic, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ..beads.model import TABLE, Outcome, Session
from ..text.cleaning import clean, shorten
from .adapter import NOT_GUARDED, AgentEnd, LineKind, TranscriptLine, Verdict, answered, marker_outcome, read_marker

RESUMABLE = frozenset(outcome for outcome, row in TABLE.items() if row.session is Session.RESUME)
"""After these the session is intact and worth resuming."""

_BY_STATUS: Mapping[int, Outcome] = {
    401: Outcome.AUTH,
    402: Outcome.BILLING,
    403: Outcome.AUTH,
    404: Outcome.MODEL_UNAVAILABLE,
    429: Outcome.RATE_LIMITED,
}

Wording = tuple[tuple[re.Pattern[str], Outcome], ...]


def by_status(status: object) -> Outcome | None:
    """None if the status says too little."""
    if not isinstance(status, int):
        return None
    return Outcome.PROVIDER_DOWN if status >= 500 else _BY_STATUS.get(status)


def by_status_and(status: object, wording: Outcome | None) -> Outcome | None:
    """As `by_status`, with `wording` where the status says too little: a 400 may be anything."""
    return (wording or Outcome.INVALID_REQUEST) if status in (400, 422) else (by_status(status) or wording)


def worded(*pairs: tuple[str, Outcome]) -> Wording:
    return tuple((re.compile(pattern, re.I), outcome) for pattern, outcome in pairs)


_NO_CREDIT = r"insufficient[_ ](?:quota|credits?|balance|funds)|credit balance|payment required|out of credits"
_PAYMENT = worded((_NO_CREDIT, Outcome.BILLING))
_STATUS = re.compile(
    r"\b(?:api error|https?(?:/[\d.]+)?|status(?: code)?|error(?: code)?)\W{0,6}(40[123]|429|5\d\d)\b"
    r"|\b(40[123]|429|5\d\d)\W{1,3}(?:overloaded|unauthori|forbidden|too many|payment|internal server|bad gateway"
    r"|service|gateway time)|\((40[123]|429|5\d\d)\)",
    re.I,
)
_SERVICE = worded(
    (
        r"(?:oauth|session|(?:auth\w{0,20}|access|bearer|refresh) token|login|credentials?|api.?key)\b.{0,40}\bexpired"
        r"|(?:oauth|(?:auth\w{0,20}|access|bearer|refresh) token|login|credentials?|api.?key)\b.{0,40}\b(?:revoked"
        r"|invalid|missing|not (?:set|found|valid))|(?:invalid|expired|missing|incorrect|no) (?:api.?key|credentials)"
        r"|not (?:logged|signed) in|(?:please|must|to|run) (?:/|\w+ )?(?:log|sign) ?in\b|failed to authenticate"
        r"|authentication[ _](?:failed|required|error)|unauthori[sz]ed|unauthenticated|re-?authenticate",
        Outcome.AUTH,
    ),
    (
        r"rate.?limit|too many requests|usage limit|quota (?:exceeded|exhausted|reached)|exceeded your .*quota"
        r"|RESOURCE_EXHAUSTED",
        Outcome.RATE_LIMITED,
    ),
    (
        r"\boverloaded|high demand|at capacity|(?:service|server|api) (?:is )?(?:temporarily )?unavailable"
        r"|internal server error|bad gateway|gateway time-?out",
        Outcome.PROVIDER_DOWN,
    ),
    (
        r"\b(?:econn(?:refused|reset|aborted)|enotfound|etimedout|eai_again|enetunreach|ehostunreach|getaddrinfo)\b"
        r"|fetch failed|socket hang up|connection (?:refused|reset|error|closed|failed|timed out)"
        r"|network (?:is unreachable|error)|could not resolve host|name resolution",
        Outcome.NETWORK,
    ),
)
"""Error texts of services about accounts, limits and outages; any CLI may pass them on."""
_LAST_LINES = 3


def by_wording(wording: Wording, text: str) -> Outcome | None:
    """Classify a CLI's own text: its wording, then an HTTP status and texts of services."""
    return first(wording, text) or first(_PAYMENT, text) or _by_status_in(text) or first(_SERVICE, text)


def first(wording: Wording, text: str) -> Outcome | None:
    return next((outcome for pattern, outcome in wording if pattern.search(text)), None)


def _by_status_in(text: str) -> Outcome | None:
    found = _STATUS.search(text)
    return by_status(int(found[found.lastindex or 0])) if found else None


def cut_off(end: AgentEnd, missing: str) -> tuple[Outcome, str]:
    """Judge an end in the middle by the last lines: earlier ones may be a tool's."""
    known = by_wording((), "\n".join(end.errors.strip().splitlines()[-_LAST_LINES:])) if end.code else None
    return known or Outcome.CRASHED, f"the agent exited with code {end.code} {missing}: {end.errors}"


def ended_well(text: str) -> tuple[Outcome, str]:
    """Judge a clean end: completed unless a marker in the last words says otherwise."""
    marked = marker_outcome(read_marker(text))
    if marked is not None and marked is not Outcome.COMPLETED:
        return marked, f"the agent's end marker reports this outcome: {text}"
    return Outcome.COMPLETED, text


def not_started(name: str, end: AgentEnd, known: Outcome | None = None) -> tuple[Outcome, str]:
    """Judge an end before any session. `known`: the meaning of its words, if known."""
    errors = end.errors.strip()
    if end.code == 127:
        return Outcome.MISSING_EXECUTABLE, f"{name} was not found: {errors}"
    if end.code == 126:
        return Outcome.BAD_CONFIGURATION, f"{name} is not executable: {errors}"
    if end.code == 0:
        return Outcome.BAD_CONFIGURATION, f"the agent's exit code was 0, but nobrakes cannot read its output: {errors}"
    return known or Outcome.BAD_CONFIGURATION, f"the agent did not start: {errors}"


_SHORT = 600
MAX_INPUT = 20_000
"""Characters of a tool's input that are stored if its line is cut."""


def parse(raw: bytes) -> dict[str, Any] | None:
    try:
        event = json.loads(raw.removeprefix(BOM_UTF8).decode(errors="replace"))
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


def note(raw: bytes) -> tuple[TranscriptLine, ...]:
    text = raw.decode(errors="replace")
    return (lined(LineKind.NOTE, text),) if clean(text).strip() else ()


def message(event: Mapping[str, Any]) -> str:
    return str(mapping(event.get("error")).get("message") or event.get("message") or "")


def mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def tokens(usage: object, names: Mapping[str, str]) -> dict[str, int]:
    found = mapping(usage)
    counts = {ours: found.get(theirs) for theirs, ours in names.items()}
    return {ours: n for ours, n in counts.items() if isinstance(n, int) and not isinstance(n, bool)}


def moment(value: object) -> float:
    """An ISO time as seconds since the epoch; 0 if invalid."""
    try:
        return datetime.fromisoformat(str(value)).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0


def lined(kind: LineKind, text: str, data: Mapping[str, Any] | None = None, limit: int = _SHORT) -> TranscriptLine:
    return TranscriptLine(kind, shorten(clean(text).strip(), limit), data or {})


def called(shown: str, what: str, data: Mapping[str, Any]) -> TranscriptLine:
    """A tool call's line; its data (`given`) holds the input if the line is cut."""
    text = f"{shown}: {what}" if what else shown
    line = lined(LineKind.TOOL_CALL, text, data)
    return line if line.text == text else lined(LineKind.TOOL_CALL, text, {**data, "given": what[:MAX_INPUT]})


def given_of(line: TranscriptLine) -> str:
    return str(line.data.get("given") or line.text.partition(": ")[2])


# When a usage limit ends: the first of FORMS that gives a time counts, after a word that tells of an end. A time of day
# without a zone is local; one that has passed is the next day's, and so is a date without a year, or a weekday.
_RESET_TIMES = re.compile(
    r"reset(?:s|ting)?(?:[-_ ]?(?:requests|tokens|time|at|after))?\b|retry(?:[-_ ]?(?:after|delay))?|try(?:ing)? again"
    r"|available(?: again)?\b|renews?\b|refresh(?:es)?\b|replenish\w*|restored\b|wait\b|until\b|back\b|limit reached\|",
    re.I,
)
"""Words before the end of a limit."""

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
"""Offsets of known abbreviations in hours; others leave the time unknown."""
_ZONES: Mapping[str, str] = {
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


def reset_time(text: str, now: float) -> float | None:
    """When (seconds since 1970) the limit in `text` ends, seen at `now`; None: unknown."""
    for told in _RESET_TIMES.finditer(text):
        rest = text[told.end() : told.end() + 120]
        for _, pattern in FORMS:
            found = pattern.match(rest)
            moment = None if found is None else _parse_time(found.groupdict(), told[0].lower(), now)
            if moment is not None:
                return moment
    return None


def _parse_time(found: Mapping[str, str | None], told: str, now: float) -> float | None:
    if epoch := found.get("epoch"):
        return float(epoch)
    if span := found.get("span"):
        parts = re.findall(r"(?<!\d)(\d++(?:\.\d++)?|an?(?=\s))\s*(ms|[wdhms])", span, re.I)
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
    """None: the local zone. Raises ValueError, ZoneInfoNotFoundError."""
    if not name or (name.islower() and "/" not in name and name[0] not in "+-"):
        return None  # a word that follows
    if "/" in name:
        return ZoneInfo(name)
    known = name.upper()
    if known in _ZONES:
        return ZoneInfo(_ZONES[known])
    if (offset := re.fullmatch(r"(?:UTC|GMT)?([+-])(\d{1,2}):?(\d{2})?", known)) is not None:
        minutes = int(offset[2]) * 60 + int(offset[3] or 0)
        return timezone(timedelta(minutes=minutes if offset[1] == "+" else -minutes))
    if known not in _OFFSETS:
        raise ValueError(f"the time zone {name} is unknown")
    return timezone(timedelta(hours=_OFFSETS[known]))


def _on_the_clock(found: Mapping[str, str | None], here: datetime) -> float | None:
    """A time of day, a date, or both; `here` is now in the intended zone."""
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
    """Hour, minute and second; None: invalid, or am/pm is missing."""
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


_DETAIL = 2000
_PRINTED = 10
"""Quoted lines of a CLI that did not start."""
_CRASHES = frozenset((4, 5, 6, 7, 8, 11, 31))
"""Signals of a broken program."""
_BEFORE_IT_BEGAN = frozenset(
    {Outcome.KILLED, Outcome.CRASHED, Outcome.EMPTY_OUTPUT, *(o for o, row in TABLE.items() if row.is_of_start)}
)
"""Before a session began, these endings are the CLI's own fault."""
_UNEXPLAINED = (Outcome.CRASHED, Outcome.BAD_CONFIGURATION)
_TORN = re.compile(rb'\s*(?:\{\s*"|(?=.*":).*[}\]]\s*\Z)', re.S)
"""A line that begins or ends like an event."""


@dataclass(slots=True)
class Read(ABC):
    """What the events of one process came to."""

    session: str | None = None  # by which a later run can go on with it
    worked: bool = False  # something happened that comes after the start of the session
    cost: float | None = None
    tokens: Mapping[str, int] = field(default_factory=dict)
    torn: bool = False  # a piece of an event came after the last event of a turn
    torn_end: bool = False  # and it is a piece of the last one
    has_ended: bool = False  # an event said that a turn is over

    printed: list[str] = field(default_factory=list)  # the first lines that hold no event

    last: ClassVar[re.Pattern[bytes]]
    """Matches the line of the last event, whole or torn."""

    @abstractmethod
    def take(self, event: Mapping[str, Any]) -> None: ...

    @classmethod
    @abstractmethod
    def is_last(cls, event: Mapping[str, Any]) -> bool | None:
        """Whether the agent has finished after this event; None: unknown."""

    @property
    def has_begun(self) -> bool:
        return self.session is not None or self.worked

    def unguarded(self, self_test: str) -> bool:
        """Whether the session went on without the guard's answer; `self_test`: what the guard left in the folder."""
        return self.worked and not answered(self_test)

    def resets_at(self, end: AgentEnd, detail: str) -> float | None:
        return reset_time(detail, end.at)


R = TypeVar("R", bound=Read)


class EventCli(ABC, Generic[R]):
    """An adapter without launch. `reads` collects the events."""

    reads: type[R]

    def parse(self, raw: bytes) -> dict[str, Any] | None:
        """The event in a line; None: there is none."""
        return parse(raw)

    @abstractmethod
    def transcript(self, event: Mapping[str, Any]) -> Iterable[TranscriptLine]:
        """What one event of stdout says."""

    def lines(self, raw: bytes) -> tuple[TranscriptLine, ...]:
        event = self.parse(raw)
        return note(raw) if event is None else tuple(line for line in self.transcript(event) if line.text)

    @abstractmethod
    def outcome(self, end: AgentEnd, read: R) -> tuple[Outcome, str]:
        """Judge a guarded run: outcome and reason."""

    def read(self, lines: Iterable[bytes]) -> R:
        read = self.reads()
        for raw in lines:
            event = self.parse(raw)
            if event is None:
                if raw.strip() and len(read.printed) < _PRINTED:
                    read.printed.append(raw[:300].decode(errors="replace").strip())
                if _TORN.match(raw):
                    read.torn, read.torn_end = True, read.torn_end or read.last.search(raw) is not None
                continue
            if (is_last := read.is_last(event)) is not None:
                read.torn = read.torn_end = False
                read.has_ended |= is_last
            read.take(event)
        return read

    def begun(self, head: bytes) -> R:
        """As `read`, of an unfinished output: its last line may be cut and is ignored."""
        return self.read(head.split(b"\n")[:-1])

    def verdict(self, end: AgentEnd) -> Verdict:
        read = self.read(end.lines)
        unguarded = read.unguarded(end.self_test)
        outcome, detail = (Outcome.GUARD_FAILED, NOT_GUARDED) if unguarded else self.outcome(end, read)
        if not read.has_begun and outcome in _BEFORE_IT_BEGAN:
            outcome, detail = _did_not_start(end, outcome, detail, read)
        return Verdict(
            outcome,
            shorten(clean(detail).strip(), _DETAIL),
            read.session if outcome in RESUMABLE else None,
            read.cost,
            read.tokens,
            read.resets_at(end, detail) if outcome is Outcome.RATE_LIMITED else None,
            _is_unsure(end, outcome, read),
        )

    def has_begun(self, lines: Iterable[bytes]) -> bool:
        return self.read(lines).has_begun

    def finished(self, tail: bytes) -> bool:
        """Whether the last deciding event ends it; a torn last line does too."""
        for raw in reversed(tail.split(b"\n")):
            event = self.parse(raw)
            if event is None and self.reads.last.search(raw):
                return True
            is_last = None if event is None else self.reads.is_last(event)
            if is_last is not None:
                return is_last
        return False

    def refuses(self, head: bytes, self_test: str = "") -> str | None:
        return NOT_GUARDED if self.begun(head).unguarded(self_test) else None

    def guarded(self, head: bytes, self_test: str = "") -> bool:
        return answered(self_test)

    def session(self, lines: Iterable[bytes]) -> str | None:
        return self.read(lines).session


def _did_not_start(end: AgentEnd, outcome: Outcome, detail: str, read: Read) -> tuple[Outcome, str]:
    """Add the CLI's own output if nothing of the bead or its model had begun."""
    if outcome is Outcome.KILLED and not (end.code is not None and abs(end.code) % 128 in _CRASHES):
        return outcome, detail
    said = [*end.errors.strip().splitlines()[-_PRINTED:], *read.printed]
    printed = "\n".join(line for line in said if line.strip() not in detail)
    service = by_wording((), f"{detail}\n{printed}") if end.code and outcome in _UNEXPLAINED else None
    if service is not None:
        outcome = service
    elif not TABLE[outcome].is_of_start:
        outcome, detail = Outcome.BAD_CONFIGURATION, f"the agent did not start: {detail}"
    return outcome, f"{detail.strip()}\nIts output: {printed}" if printed else detail


def _is_unsure(end: AgentEnd, outcome: Outcome, read: Read) -> bool:
    """Whether it may have finished: it exited normally, or its torn last line looks like an end. A normal exit without
    the end event is a changed CLI, not the bead's failure."""
    if end.code == 0:
        return outcome is Outcome.CRASHED and (read.torn or (read.has_begun and not read.has_ended))
    return end.code is None and outcome is Outcome.LOST and read.torn_end
