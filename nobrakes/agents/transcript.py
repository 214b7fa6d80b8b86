"""What agents say: lines for readers, and the exit marker for the machine.

1. An agent's last words hold one line `NOBRAKES: <marker>`, alone on its line, case-sensitive; code fences are
   not read. A fence that is never closed is no fence.
2. The same marker twice is that marker; two different ones are a Contradiction, and nobody guesses.
3. Everything that agents wrote goes through text.cleaning before a person or another agent sees it.
"""

import re
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any

from ..beads.model import Outcome
from ..records import frozen

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


@frozen
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


@frozen
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
    """In a time that grows with the lines alone: an agent may open a million fences and close none."""
    outside: list[str] = []
    fences = [(place, found) for place, line in enumerate(lines) if (found := _FENCE.fullmatch(line))]
    longest = _max_lengths(fences)
    place = 0
    for number, (begin, opening) in enumerate(fences):
        if begin < place or (opening[1][0] == "`" and "`" in opening[2]):
            continue
        if longest[number + 1][opening[1][0]] < len(opening[1]):
            continue  # none of the later ones closes it
        outside += lines[place:begin]
        place = next(fences[at][0] for at in range(number + 1, len(fences)) if _ends(fences[at][1], opening)) + 1
    return outside + lines[place:]


def _closes(fence: "re.Match[str]") -> bool:
    return not fence[2].strip()


def _ends(fence: "re.Match[str]", opening: "re.Match[str]") -> bool:
    return _closes(fence) and fence[1].startswith(opening[1])


def _max_lengths(fences: "list[tuple[int, re.Match[str]]]") -> list[dict[str, int]]:
    """For each of the fences and all after it: how long the longest is that closes, by its character."""
    longest = [{"`": 0, "~": 0}]
    for _, found in reversed(fences):
        kind = found[1][0]
        more = _closes(found) and len(found[1]) > longest[-1][kind]
        longest.append({**longest[-1], kind: len(found[1])} if more else longest[-1])
    return longest[::-1]


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
