"""The public events: what other programs read, made from the store's own events by one pure function.

1. The names and payloads here are a promise: LANGUAGE is their version, and grows when one of them changes its meaning.
   The store's own kinds may change with any release.
2. One event of the store may say several things in public (`parts`), or nothing: then its row in
   `events.catalog` says why.
3. `*_spawned` and `review_started` have exactly one end each, later, with the same `attempt`: also where a person took
   the bead away from an agent.
4. What is said of a bead (`attempt_count` ...) is what held when the event happened, so that the same event is the same
   line whenever it is written.
"""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

from ..beads.model import Attempt, Outcome, Role
from ..decisions.model import STOPS_BEAD
from ..records import frozen
from . import payloads as say
from .catalog import TABLE
from .kinds import Event, Kind
from .payloads import Facts, Made, Name, Payload

LANGUAGE = 1
"""The version of the names and payloads."""
MACHINE = Event(Kind.PROPOSED).actor
"""Who acts where nobody else does."""


@frozen
class About:
    """What the metadata of every event begins with. None: not known, or there is no bead."""

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
    """One public event. `agent` is who acts: an agent's name, the Reviewer's, a person's, or `nobrakes`."""

    name: Name
    at: float
    task_id: str | None
    agent: str
    about: About
    payload: Payload

    def as_values(self) -> dict[str, Any]:
        """The event as JSON values: ts, event, task_id, agent, metadata."""
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
    """ISO 8601 in UTC, to the millisecond."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _listed(value: Any) -> Any:
    return [_listed(one) for one in value] if isinstance(value, tuple) else value


Ending = tuple[Attempt, str]
"""An attempt that a person's or the machine's decision ended, and its outcome."""


TAKES_AWAY = frozenset({Kind.TAKEN, Kind.CANCELLED, Kind.DONE_BY_HAND, Kind.FOUND_MERGED, Kind.BROUGHT_BACK})
"""What ends the attempt at work on a bead, beside the attempt's own end."""
CUT_OFF: Mapping[Role, Name] = {
    Role.TEST_WRITER: Name.TEST_WRITER_FAILED,
    Role.DOER: Name.DOER_FAILED,
    Role.REVIEWER: Name.REVIEW_INTERRUPTED,
}


def public(event: Event, facts: Facts) -> tuple[PublicEvent, ...]:
    """What the event says in public, in order; nothing where its kind is INTERNAL."""
    attempts = facts.attempts(event.bead) if event.bead is not None else ()
    own = next((one for one in attempts if one.id == event.attempt), None)
    said = [(event.actor, *rule.of(event, facts)) for rule in TABLE[event.kind].public if rule.when(event)]
    if event.kind in TAKES_AWAY and own is not None:
        said.insert(0, (own.name, *_cut_off(own, event)))
    elif own is not None or event.data.get("name"):
        name = own.name if own is not None else str(event.data["name"])
        said = [(name if actor == MACHINE else actor, *made) for actor, *made in said]  # type: ignore[misc]
    about = _about(event, facts, attempts, len(said))
    return tuple(
        PublicEvent(name, event.at, event.bead, agent, About(part=part, **about), payload)
        for part, (agent, name, payload) in enumerate(said, 1)
    )


def _cut_off(attempt: Attempt, event: Event) -> Made:
    """The end of an attempt whose bead was taken away from it."""
    ended = say.Ended(
        attempt.id, attempt.number, attempt.role.value, Outcome.CANCELLED.value, event.kind.value, attempt.head
    )
    return CUT_OFF[attempt.role], ended


def _about(event: Event, facts: Facts, attempts: Iterable[Attempt], parts: int) -> dict[str, Any]:
    """What held for the bead when the event happened."""
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
    """What is wrong with the path as a place for events; empty: nothing, or it is no path at all."""
    parts = path.split("/")
    if "\0" in path or any(not (part.isprintable()) for part in parts):
        return "contains invisible characters"
    if path and (not parts[-1] or parts[-1] == "."):
        return "names a folder, not a file"
    if ".." in parts:
        return "must not contain '..'"
    inside = next((part for part in parts if part.casefold() in OURS), None)
    return f"is inside {inside}, where only nobrakes and git may write" if inside is not None else ""
