"""What agents say: lines for readers, and the exit marker for the machine.

1. An agent's last words hold one line `NOBRAKES: <marker>`, alone on its line, case-sensitive; code fences are
   not read. A fence that is never closed is no fence.
2. The same marker twice is that marker; two different ones are a Contradiction, and nobody guesses.
3. Everything that agents wrote goes through core.cleaning before a person or another agent sees it.
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
