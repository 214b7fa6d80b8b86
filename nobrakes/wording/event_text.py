"""One event as one line for people, and as one JSON object for programs.

The JSON schema is ts, event, task_id, agent, metadata, one object a line; ts is ISO 8601 in UTC.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ..core.beads.events import Event, Kind
from .text import cut, one_line
from .times import clock

PUBLIC_NAMES: Mapping[Kind, str] = {
    Kind.DOER_STARTED: "doer_spawned",
    Kind.WORK_SUBMITTED: "doer_completed",
    Kind.DOER_STOPPED: "doer_failed",
    Kind.TEST_WRITER_STARTED: "test_writer_spawned",
    Kind.TESTS_PROVEN_RED: "test_writer_completed",
    Kind.MERGED: "review_passed",
    Kind.REVIEW_REJECTED: "review_failed",
    Kind.ESCALATED: "escalation",
}
"""What other tools call our events; a kind that is not here keeps its own name."""

WORDS: Mapping[Kind, str] = {
    Kind.TEST_WRITER_STARTED: "test_writer started",
    Kind.TESTS_PROVEN_RED: "tests proven red",
    Kind.TEST_WRITER_STOPPED: "test_writer stopped",
    Kind.DOER_STARTED: "doer started",
    Kind.WORK_SUBMITTED: "handed in",
    Kind.DOER_STOPPED: "doer stopped",
    Kind.REVIEW_STARTED: "review started",
    Kind.REVIEW_STEP: "review",
}
STYLES: Mapping[Kind, str] = {
    Kind.MERGED: "green",
    Kind.FOUND_MERGED: "green",
    Kind.BROUGHT_BACK: "yellow",
    Kind.REVIEW_REJECTED: "yellow",
    Kind.TESTS_REJECTED: "yellow",
    Kind.DOER_STOPPED: "yellow",
    Kind.TEST_WRITER_STOPPED: "yellow",
    Kind.ESCALATED: "red",
    Kind.REVERTED: "red",
    Kind.GATE_CLOSED: "yellow",
    Kind.CAP_REACHED: "red",
    Kind.MAIN_FROZEN: "red",
    Kind.MAIN_UNFROZEN: "green",
    Kind.MAIN_REWRITTEN: "red",
}
_SPEAKING = ("outcome", "provider", "cap", "detail", "step", "reason", "title", "text", "summary", "resolution")


def as_json(event: Event) -> dict[str, Any]:
    """The public schema; `metadata` has the event's number, its own kind and its data."""
    return {
        "ts": datetime.fromtimestamp(event.at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "event": PUBLIC_NAMES.get(event.kind, event.kind.value),
        "task_id": event.bead,
        "agent": event.actor,
        "metadata": {"seq": event.seq, "kind": event.kind.value, "attempt": event.attempt, **event.data},
    }


def as_line(event: Event, title: str = "", name: str = "", width: int = 120) -> str:
    """`12:03:04  Ada     test_writer started   nb-1  Parse the header`."""
    said = next((one_line(str(event.data[key])) for key in _SPEAKING if event.data.get(key)), "")
    word = WORDS.get(event.kind, event.kind.value.replace("_", " "))
    if event.kind is Kind.CULPRIT_FOUND and not event.data.get("commit"):
        word = "no culprit found"
    who = one_line(name or event.actor)
    tail = "  ".join(part for part in (event.bead or "", one_line(title), said) if part)
    return cut(f"{clock(event.at)}  {cut(who, 12):<12} {word:<20}  {tail}", width)
