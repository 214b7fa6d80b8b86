"""Untrusted text made safe to show, and short; numbers and local times as people read them. Imports nothing
that costs: what agents say all night goes through it."""

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_PRINTED = frozenset(map(chr, (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0)))
_PRINTED |= frozenset(map(chr, (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
"""Printable for Python, but invisible."""
MARKS = (
    "sk- sk_ rk_ whsec_ hf_ api_org_ npm_ pypi- xox xapp- slack discord akia asia ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ "
    "glpat gldt glrt glptt glcbt glsoat glft glimt glagent gloas glsa_ glc_ aiza ya29. gocspx 1//0 eyj sg. _v1_ dapi "
    "hv dckr_ shp :aa gsk_ xai- r8_ lin_api_ rubygems_ sq0 nrak- accountkey age-secret begin private-lines :// :\\/ "
    "a3- p8e- ltai akc a3t cmvmd atatt3 absk abia acca q~ bkua_ ccip 4b1d clojars_ v1.0- cfpat- dp. duffel_ dt0 ezak "
    "eztk eaam eaac eaaa figd_ flwseck fo1_ fm1 fm2_ fio-u- gr1348941 glffct- _gitlab_ hrku- ico- lsv2_ "
    "webhook.office nfp_ nrii- nrjs- ntn_ nvapi- api- sha256~ pplx- access- pscale_ pmak- pnu_ pnb_ pul- rdme_ "
    "tk-us- xkeysib- sntry sm_ shippo_ squ_ sqp_ sqa_ sgp_ sbp_ tskey- atlasv1. tfp_ aqvn t1. "
    "authorization x-auth bearer cookie login pass pwd contrase secret key auth credential token"
)
"""Lower case: a text without any of these, and without words of LONG characters, holds no secret."""
LONG = 34
"""Some shapes begin like ordinary words; none of those is shorter."""


def clean(text: str) -> str:
    """The text without terminal escapes, direction marks and invisible characters; only tabs and newlines stay."""
    if is_seen(text):
        return text  # nearly all text
    from .redaction import removed

    return removed(text)


def only_seen(text: str) -> str:
    """As `clean`, also without joiners of letters and emoji: a model reads what a person sees."""
    if is_seen(text):
        return text
    from .redaction import removed

    return removed(text, joiners=False)


def is_seen(text: str) -> bool:
    """Whether every character is visible; may be False for a visible text."""
    if not text.replace("\n", "").replace("\t", "").isprintable():
        return False
    return text.isascii() or _PRINTED.isdisjoint(text)


def visible(text: str) -> str:
    """JSON text with invisible characters escaped."""
    if is_seen(text):
        return text
    from .redaction import escaped

    return escaped(text)


MAX_TEXT = 1_000_000


def unusable(text: str) -> str:
    """Why a text cannot be an argument; empty: it can."""
    if "\0" in text:
        return "has a NUL byte"
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        return "is not valid UTF-8"
    return f"has {len(text):,} characters; the limit is {MAX_TEXT:,}" if len(text) > MAX_TEXT else ""


def redacted(text: str) -> str:
    """The text without keys, tokens and passwords; text.redaction is imported only if some are possible."""
    small = text.lower()
    if not any(mark in small for mark in MARKS.split()) and all(len(word) < LONG for word in text.split()):
        return text
    from .redaction import redact

    return redact(text)


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters: the beginning and end of a longer text."""
    if len(text) <= limit:
        return text
    mark = " […] "
    if limit <= len(mark) + 1:
        return text[:limit]
    head = (limit - len(mark)) * 2 // 3
    tail = limit - len(mark) - head
    return text[:head] + mark + text[-tail:]


# On a terminal widths are columns, not characters: wide characters and emoji take two, combining ones none.
_ZERO_WIDTH = frozenset("\u200c\u200d\ufe0e\ufe0f")


def one_line(text: str) -> str:
    return text if text.isprintable() and is_seen(text) else " ".join(clean(text).split())


def lines(text: str) -> list[str]:
    """Harmless lines; tabs become blanks."""
    found = text.split("\n")
    return found if "\t" not in text and is_seen(text) else clean(text).expandtabs(4).split("\n")


def _columns(character: str) -> int:
    from unicodedata import combining, east_asian_width

    if character in _ZERO_WIDTH or combining(character):
        return 0
    return 2 if east_asian_width(character) in ("W", "F") else 1


def width(text: str) -> int:
    return len(text) if text.isascii() else sum(map(_columns, text))


def cut(text: str, columns: int) -> str:
    """`text` in at most `columns` columns, with an ellipsis if cut."""
    if width(text) <= columns:
        return text
    if columns <= 0:
        return ""
    kept, used = [], 0
    for character in text:
        used += 1 if character.isascii() else _columns(character)
        if used > columns - 1:
            break
        kept.append(character)
    return "".join(kept).rstrip() + "…"


def pad(text: str, columns: int) -> str:
    return text + " " * (columns - width(text))


def age(seconds: float) -> str:
    """A duration in one or two units: 42 s, 3 min, 2 h 05, 4 d."""
    if (seconds := max(0, int(seconds))) < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min"
    if seconds < 86400:
        return f"{seconds // 3600} h {seconds % 3600 // 60:02d}"
    return f"{seconds // 86400} d"


def lasted(seconds: float) -> str:
    """0.4 s, 41 s, 3 min 20 s, 2 h 05."""
    if seconds < 9.95:
        return f"{max(0.0, seconds):.1f} s"
    if 60 <= seconds < 3600:
        return f"{int(seconds) // 60} min {int(seconds) % 60} s"
    return age(seconds)


def cost_text(cost: "dict[str, Any]") -> str:
    """The values of a Cost as people read them; empty: no agent worked."""
    if not (cost["seconds"] or cost["tokens"] or cost["usd"]):
        return ""
    priced = [one for one in cost["providers"] if one["usd"] or one["estimated"]]
    silent = [one["provider"] or "an agent" for one in cost["providers"] if one not in priced]
    parts = []
    if priced:
        about = f" (about {_dollars(cost['estimated'])} of it estimated)" if cost["estimated"] else ""
        each = (f"{one['provider']} {_dollars(one['usd'] + one['estimated'])}" for one in priced)
        by = f": {', '.join(each)}" if len(priced) > 1 else ""
        parts.append(f"{_dollars(cost['usd'] + cost['estimated'])}{about}{by}")
    parts += [f"not reported by {' and '.join(silent)}"] if silent else []
    if tokens := cost["tokens"]:
        shown = f"{tokens / 1e6:.1f}M" if tokens >= 999_500 else f"{tokens / 1000:.0f}k" if tokens >= 1000 else tokens
        parts.append(f"{shown} tokens")
    return ", ".join([*parts, f"{age(cost['seconds'])} of agents"])


def _dollars(usd: float) -> str:
    return f"${usd:.2f}" if usd >= 0.005 else "under $0.01"


def count(number: float, noun: str, many: str = "") -> str:
    """`1 bead`, `2 beads`; `many`: an irregular plural."""
    shown = str(number) if isinstance(number, int) else f"{number:g}"
    return f"{shown} {noun if number == 1 else many or noun + 's'}"


def first_of(names: "Sequence[str]", most: int, between: str = ", ") -> str:
    """`a, b and 3 more`, with at most `most` names."""
    return between.join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def count_beads_and_epics(beads: int, epics: int, noun: str = "draft") -> list[str]:
    return [count(beads, noun)] * bool(beads or not epics) + [count(epics, "epic")] * bool(epics)


def minutes_of(value: "Any") -> "Any":
    if isinstance(value, str):
        import re

        days, hours = r"(?:(\d{1,3}(?:\.\d)?)\s*d(?:ays?)?)?", r"(?:(\d{1,4}(?:\.\d\d?)?)\s*h(?:(?:ou)?rs?)?)?"
        units = rf"{days}\s*{hours}\s*(?:(\d{{1,5}})\s*m(?:in(?:ute)?s?)?)?"
        found = re.fullmatch(units, value.strip(), re.IGNORECASE)
        if not found or not any(found.groups()):
            raise ValueError("is not a duration: use minutes, or texts like '45m', '2h', '1h30m', '2 days' of 8 hours")
        return round(float(found[1] or 0) * 480 + float(found[2] or 0) * 60) + int(found[3] or 0)
    return value


def spoken(when: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(when))


def near(when: float, now: float) -> str:
    """`when` as it is said `now`: 07:50, 18:05 yesterday, 09:00 tomorrow, else with its date."""
    from datetime import datetime

    day, today = datetime.fromtimestamp(when), datetime.fromtimestamp(now)
    word = {-1: " yesterday", 0: "", 1: " tomorrow"}.get((day.date() - today.date()).days)
    return spoken(when) if word is None else f"{day.strftime('%H:%M')}{word}"


def date(when: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(when))


def clock(when: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(when))
