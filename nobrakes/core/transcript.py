"""What agents say: lines for readers, the exit marker for the machine, and text made safe to show.

1. An agent's last words hold one line `NOBRAKES: <marker>`, alone on its line, case-sensitive; code fences are
   not read. A fence that is never closed is no fence.
2. The same marker twice is that marker; two different ones are a Contradiction, and nobody guesses.
3. Everything that agents wrote goes through `clean` before a person or another agent sees it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from .outcomes import Outcome

PREFIX = "NOBRAKES: "


class LineKind(StrEnum):
    """What a line of a transcript is."""

    TEXT = "text"
    TOOL_CALL = "tool_call"
    RESULT = "result"
    THINKING = "thinking"
    USAGE = "usage"
    COST = "cost"
    LIMIT = "limit"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Line:
    """One thing an agent said or did. `text` is clean and short; `data` holds JSON values."""

    kind: LineKind
    text: str
    data: Mapping[str, Any] = field(default_factory=dict)


class Marker(StrEnum):
    """How an agent says that it stops."""

    COMPLETED = "COMPLETED"
    CONTEXT_EXHAUSTED = "CONTEXT_EXHAUSTED"
    BLOCKED = "BLOCKED"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Different markers in one text, in the order they were first seen."""

    markers: tuple[Marker, ...]


OUTCOMES: Mapping[Marker, Outcome] = {
    Marker.COMPLETED: Outcome.COMPLETED,
    Marker.CONTEXT_EXHAUSTED: Outcome.GAVE_UP_CONTEXT,
    Marker.BLOCKED: Outcome.BLOCKED,
    Marker.FAILED: Outcome.GAVE_UP_TESTS,
}

_MARKERS = {PREFIX + marker.value: marker for marker in Marker}
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


def _outside_fences(lines: list[str]) -> list[str]:
    outside: list[str] = []
    place = 0
    while place < len(lines):
        opening = _FENCE.fullmatch(lines[place])
        if opening and not (opening[1][0] == "`" and "`" in opening[2]):
            end = _closing(lines, place + 1, opening[1])
            if end is not None:
                place = end + 1
                continue
        outside.append(lines[place])
        place += 1
    return outside


def _closing(lines: list[str], start: int, fence: str) -> int | None:
    for place in range(start, len(lines)):
        found = _FENCE.fullmatch(lines[place])
        if found and found[1].startswith(fence) and not found[2].strip():
            return place
    return None


def read_marker(text: str) -> Marker | Contradiction | None:
    """The marker in an agent's last words; None when it gave none."""
    lines = [line.rstrip() for line in text.split("\n")]
    found: list[Marker] = []
    for line in _outside_fences(lines):
        marker = _MARKERS.get(line)
        if marker is not None and marker not in found:
            found.append(marker)
    if not found:
        return None
    return found[0] if len(found) == 1 else Contradiction(tuple(found))


def marker_outcome(found: Marker | Contradiction | None) -> Outcome | None:
    """What a marker says about the attempt; None where there is none."""
    if found is None:
        return None
    return Outcome.CONTRADICTED_ITSELF if isinstance(found, Contradiction) else OUTCOMES[found]


_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # CSI
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"  # OSC, DCS, SOS, PM, APC
    r"|\x1b[ -/]*[0-~]"  # the short ones
)
_BREAKS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f"
    "\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # direction and invisible
    "\U000e0000-\U000e007f]"  # tags: text that only a model reads
)
_SURROGATES = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """The text without terminal escapes, direction and invisible characters; of controls, only tab and newline stay."""
    text = _BREAKS.sub("\n", text)
    return _SURROGATES.sub("\ufffd", _UNSEEN.sub("", _ESCAPES.sub("", text)))


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters, the beginning and the end of the text where it is longer."""
    if len(text) <= limit:
        return text
    mark = " […] "
    if limit <= len(mark) + 1:
        return text[:limit]
    head = (limit - len(mark)) * 2 // 3
    tail = limit - len(mark) - head
    return text[:head] + mark + text[-tail:]
