"""One event as one line for people, as one JSON object, and as the public events that other programs read.

1. JSON: ts (ISO 8601, UTC), event, task_id, agent, metadata, one object a line.
2. A line is when, who, on which bead, what and why; the bead's title comes last, as narrow screens cut it off.
3. Who: the acting person, or the worker of the attempt in which the machine acts.
4. A line has the time of day; a line with the date comes first when the day changes (`Days`).
5. Public names and payloads are a promise: LANGUAGE is their version, raised when a meaning changes. The store's kinds
   may change with any release.
6. A stored event has several public ones (`parts`) or none: then `events.catalog` says why.
7. `*_spawned` and `review_started` have exactly one end each with the same `attempt`, even if a person took the bead.
8. A bead's values (`attempt_count` ...) are those at the event, so that its line is always the same.
"""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

from ..beads import work_status
from ..beads.model import Attempt, Outcome, Role
from ..decisions.model import STOPS_BEAD
from ..records import frozen
from ..text.cleaning import clock, cut, date, one_line, pad, width
from . import payloads as say
from .catalog import TABLE
from .kinds import Event, Kind
from .payloads import Facts, Name, Payload

MACHINE = Event(Kind.PROPOSED).actor
_SPEAKING = ("provider", "cap", "reason", "title", "text", "summary", "resolution", "answer", "why", "check")
_LEAST_TITLE = 12


class Days:
    """Finds new days among lines with only a time of day."""

    def __init__(self, today: float) -> None:
        self._day = date(today)

    def heading(self, at: float) -> str:
        """The line with a new date; empty within a day."""
        if (day := date(at)) == self._day:
            return ""
        self._day = day
        return f"--- {day} ---"


def as_json(event: Event, name: str = "") -> dict[str, Any]:
    """The schema of `events --json`; `metadata`: number, kind and data. `name`: the attempt's worker."""
    return {
        "ts": timestamp(event.at),
        "event": TABLE[event.kind].json or event.kind.value,
        "task_id": event.bead,
        "agent": who(event, name),
        "metadata": {"seq": event.seq, "kind": event.kind.value, "attempt": event.attempt, **event.data},
    }


def who(event: Event, name: str = "") -> str:
    return (name or str(event.data.get("name") or "") or event.actor) if event.actor == MACHINE else event.actor


def as_line(event: Event, title: str = "", name: str = "", width: int = 120) -> str:
    """`12:03:04  Tove        budget  doer stopped: gave up: could not make the tests pass  Months over budget`."""
    by = cut(one_line(who(event, name)), 12)
    bead = f"{pad(event.bead, 7)}  " if event.bead else ""
    return with_title(f"{clock(event.at)}  {pad(by, 10)}  {bead}{what(event)}", title, width)


def style(event: Event) -> str:
    return TABLE[event.kind].style


def with_title(head: str, title: str, columns: int) -> str:
    """`head`, cut to `columns`, with as much of the title as fits."""
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


LANGUAGE = 1
"""The version of names and payloads."""


@frozen
class About:
    """The common metadata. None: unknown, or no bead."""

    language: int
    seq: int  # of the event in the store: what `--after` takes
    part: int  # from 1: several public events may come of one
    parts: int
    attempt_count: int | None = None
    last_outcome: str | None = None
    escalated: bool | None = None  # whether a question to a person stops the bead
    area: str | None = None
    semantic_id: str | None = None


@frozen
class PublicEvent:
    """One public event. `agent`: the actor: an agent, the Reviewer, a person, or `nobrakes`."""

    name: Name
    at: float
    task_id: str | None
    agent: str
    about: About
    payload: Payload

    def as_values(self) -> dict[str, Any]:
        """JSON values: ts, event, task_id, agent, metadata."""
        metadata = {one.name: getattr(self.about, one.name) for one in fields(self.about)}
        metadata |= {one.name: _listed(getattr(self.payload, one.name)) for one in fields(self.payload)}
        return {
            "ts": timestamp(self.at),
            "event": self.name.value,
            "task_id": self.task_id,
            "agent": self.agent,
            "metadata": metadata,
        }


def timestamp(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _listed(value: Any) -> Any:
    return [_listed(one) for one in value] if isinstance(value, tuple) else value


Ending = tuple[Attempt, str]

TAKES_AWAY = frozenset({Kind.TAKEN, Kind.CANCELLED, Kind.DONE_BY_HAND, Kind.FOUND_MERGED, Kind.BROUGHT_BACK})
"""Kinds that end a bead's attempt from outside."""
CUT_OFF: Mapping[Role, Name] = {
    Role.TEST_WRITER: Name.TEST_WRITER_FAILED,
    Role.DOER: Name.DOER_FAILED,
    Role.REVIEWER: Name.REVIEW_INTERRUPTED,
}


def public(event: Event, facts: Facts) -> tuple[PublicEvent, ...]:
    """The public events in order; none if its kind is INTERNAL."""
    attempts = facts.attempts(event.bead) if event.bead is not None else ()
    own = next((one for one in attempts if one.id == event.attempt), None)
    said = [(event.actor, *rule.of(event, facts)) for rule in TABLE[event.kind].public if rule.when(event)]
    if event.kind in TAKES_AWAY and own is not None:
        ended = say.Ended(own.id, own.number, own.role.value, Outcome.CANCELLED.value, event.kind.value, own.head)
        said.insert(0, (own.name, CUT_OFF[own.role], ended))
    elif own is not None or event.data.get("name"):
        name = own.name if own is not None else str(event.data["name"])
        said = [(name if actor == MACHINE else actor, *made) for actor, *made in said]  # type: ignore[misc]
    about = _about(event, facts, attempts, len(said))
    return tuple(
        PublicEvent(name, event.at, event.bead, agent, About(part=part, **about), payload)
        for part, (agent, name, payload) in enumerate(said, 1)
    )


def _about(event: Event, facts: Facts, attempts: Iterable[Attempt], parts: int) -> dict[str, Any]:
    known: dict[str, Any] = {"language": LANGUAGE, "seq": event.seq, "parts": parts}
    bead = facts.bead(event.bead) if event.bead is not None else None
    if bead is None:
        return known
    begun = [one for one in attempts if one.started_at <= event.at or one.id == event.attempt]
    before = [one for one in begun if event.attempt is None or one.id <= event.attempt]
    ended = [one for one in before if one.outcome is not None and one.ended_at is not None and one.ended_at <= event.at]
    asked = (one for one in facts.escalations(bead.id) if one.type in STOPS_BEAD and one.created_at <= event.at)
    return known | {
        "attempt_count": len(before),
        "last_outcome": ended[-1].outcome.value if ended and ended[-1].outcome else None,
        "escalated": any(one.resolved_at is None or one.resolved_at > event.at for one in asked),
        "area": _word(bead.metadata.get("area")) or bead.epic,
        "semantic_id": _word(bead.metadata.get("semantic_id")),
    }


def _word(value: Any) -> str | None:
    return str(value) if isinstance(value, str | int) and str(value).strip() else None


OURS = frozenset((".git", ".nobrakes"))


def path_mistake(path: str) -> str:
    """Why events cannot be written there; empty: they can, or no path."""
    parts = path.split("/")
    if "\0" in path or any(not (part.isprintable()) for part in parts):
        return "contains invisible characters"
    if path and (not parts[-1] or parts[-1] == "."):
        return "names a folder, not a file"
    if ".." in parts:
        return "must not contain '..'"
    inside = next((part for part in parts if part.casefold() in OURS), None)
    return f"is inside {inside}, where only nobrakes and git can write" if inside is not None else ""
