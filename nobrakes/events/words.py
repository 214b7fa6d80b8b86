"""One event as one line for people, and as one JSON object for programs.

1. The JSON schema is ts, event, task_id, agent, metadata, one object a line; ts is ISO 8601 in UTC.
2. A line says when, who, on which bead, what and why, and the bead's title last: it is what a narrow screen cuts off.
3. Who: the person who acted; of what the machine does in an attempt, the worker of the attempt.
4. A line has the time of day. Where the day changes, a line with the date comes first (`Days`).
"""

from datetime import UTC, datetime
from typing import Any

from ..beads import work_status
from ..text.cleaning import cut, one_line, pad, width
from ..text.times import clock, date
from .catalog import TABLE
from .kinds import Event, Kind

MACHINE = Event(Kind.PROPOSED).actor
_SPEAKING = ("provider", "cap", "reason", "title", "text", "summary", "resolution", "answer", "why", "check")
_LEAST_TITLE = 12
"""A title of which fewer columns would be left is left out."""


class Days:
    """Tells where a new day begins among lines that have the time of day only."""

    def __init__(self, today: float) -> None:
        self._day = date(today)

    def heading(self, at: float) -> str:
        """The line with the date that comes before what happened at `at`; empty while the day stays the same."""
        day = date(at)
        if day == self._day:
            return ""
        self._day = day
        return f"--- {day} ---"


def as_json(event: Event, name: str = "") -> dict[str, Any]:
    """The schema of `events --json`; `metadata` has the event's number, its own kind and its data.

    `name` is who works in the event's attempt.
    """
    return {
        "ts": datetime.fromtimestamp(event.at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "event": TABLE[event.kind].json or event.kind.value,
        "task_id": event.bead,
        "agent": who(event, name),
        "metadata": {"seq": event.seq, "kind": event.kind.value, "attempt": event.attempt, **event.data},
    }


def who(event: Event, name: str = "") -> str:
    """Who did it; `name` is who works in the event's attempt."""
    return (name or str(event.data.get("name") or "") or event.actor) if event.actor == MACHINE else event.actor


def as_line(event: Event, title: str = "", name: str = "", width: int = 120) -> str:
    """`12:03:04  Tove        budget  doer stopped: gave up: could not make the tests pass  Months over budget`."""
    by = cut(one_line(who(event, name)), 12)
    bead = f"{pad(event.bead, 7)}  " if event.bead else ""
    head = f"{clock(event.at)}  {pad(by, 10)}  {bead}{what(event)}"
    return with_title(head, title, width)


def style(event: Event) -> str:
    """The colour of its line; empty: none."""
    return TABLE[event.kind].style


def with_title(head: str, title: str, columns: int) -> str:
    """`head` cut to `columns`, and behind it as much of the title as there is room for."""
    left = columns - width(head) - 2
    return cut(f"{head}  {one_line(title)}".rstrip(), columns) if left >= _LEAST_TITLE else cut(head, columns)


def what(event: Event) -> str:
    """What happened and why, on one line of any length."""
    row = TABLE[event.kind]
    word = row.word or work_status.plain(event.kind.value)
    if row.line is not None:
        return row.line(event)
    if event.data.get("outcome"):
        ended = "" if row.says_end else work_status.ending(str(event.data["outcome"]))
        return ": ".join(part for part in (word, ended, one_line(str(event.data.get("detail") or ""))) if part)
    said = next((one_line(str(event.data[key])) for key in _SPEAKING if event.data.get(key)), "")
    return f"{word}: {said}" if said else word
