"""What the event streams of all CLIs have in common: lines of JSON of which no field is to be relied on."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ..core.text.cleaning import clean, shorten
from ..core.transcript import Line, LineKind

_SHORT = 600
MOST_GIVEN = 20_000
"""Characters of what a tool is given that are kept where its line has not all of it."""


def parse(raw: bytes) -> dict[str, Any] | None:
    """The event in a line, or None where it holds none."""
    try:
        event = json.loads(raw.decode(errors="replace"))
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


def mapping(value: object) -> Mapping[str, Any]:
    """The value where it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def tokens(usage: object, names: Mapping[str, str]) -> dict[str, int]:
    """The token counts of a usage object, under our names."""
    found = mapping(usage)
    counts = {ours: found.get(theirs) for theirs, ours in names.items()}
    return {ours: n for ours, n in counts.items() if isinstance(n, int) and not isinstance(n, bool)}


def moment(value: object) -> float:
    """An ISO time as seconds since the epoch; 0 where it is none."""
    try:
        return datetime.fromisoformat(str(value)).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0


def lined(kind: LineKind, text: str, data: Mapping[str, Any] | None = None, limit: int = _SHORT) -> Line:
    """A line, clean and short."""
    return Line(kind, shorten(clean(text).strip(), limit), data or {})


def called(shown: str, what: str, data: Mapping[str, Any]) -> Line:
    """A tool's call: what it is given stands in the line, and in its data (`given`) where that is too short."""
    text = f"{shown}: {what}" if what else shown
    line = lined(LineKind.TOOL_CALL, text, data)
    return line if line.text == text else lined(LineKind.TOOL_CALL, text, {**data, "given": what[:MOST_GIVEN]})


def given_of(line: Line) -> str:
    """What the tool of a call's line is given, whole as far as that is kept."""
    return str(line.data.get("given") or line.text.partition(": ")[2])
