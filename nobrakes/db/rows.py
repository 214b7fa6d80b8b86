"""Rows as core's values and back. Tuples and mappings are JSON text in the database."""

import json
from collections.abc import Mapping, Sequence
from sqlite3 import Row
from typing import Any

from ..beads.graph import Node
from ..beads.model import Attempt, AttemptLog, Bead, BeadType, Frontier, Outcome, Role, Run, RunKind, Status, bead_of
from ..decisions.model import Escalation, EscalationType
from ..events.kinds import Event, Kind
from ..sessions.model import Message, Session, SessionKind, State, Turn

BEAD = f"""SELECT {", ".join(Bead.__dataclass_fields__)}
FROM beads JOIN bead_text USING (id)"""
"""Beads with their texts: the columns have the names and the order of Bead's fields."""
NODE = """SELECT id, status, type, title, priority, estimate, epic, held, defer_until, retry_at, assignee, stacks_on
FROM beads JOIN bead_text USING (id)"""
FRONTIER = """SELECT id, status, type, priority, failures, retry_at, rank,
(SELECT touches FROM bead_text WHERE bead_text.id = beads.id) FROM beads"""

STATUSES = {status.value: status for status in Status}
TEXT_COLUMNS = (
    *("title", "description", "acceptance", "labels", "touches", "notes", "metadata", "close_reason", "proposed"),
)


_quoted = json.encoder.encode_basestring
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False).encode


def as_json(value: Any) -> str:
    """Compact, stable JSON; TypeError for what is no JSON value."""
    return _encode(value)


def read_texts(text: str) -> tuple[Any, ...]:
    """Texts as a tuple, from a column."""
    return () if text == "[]" else tuple(json.loads(text))  # most of them are empty


def _mapping(text: str) -> dict[str, Any]:
    found: dict[str, Any] = {} if text == "{}" else json.loads(text)
    return found


def bead(row: Row | tuple[Any, ...]) -> Bead:
    """A row of BEAD, of which a tuple is read sooner. Written out, since whole graphs are read by it."""
    (
        id_,
        title,
        type_,
        description,
        acceptance,
        priority,
        labels,
        epic,
        estimate,
        needs_tests,
        scaffolding,
        touches,
        notes,
        metadata,
        status,
        held,
        defer_until,
        created_at,
        updated_at,
        closed_at,
        close_reason,
        failures,
        retry_at,
        assignee,
        fence,
        lease_until,
        return_to,
        branch_kept,
        merged_commit,
        branch,
        stacks_on,
        proposed,
    ) = row
    values = (
        id_,
        title,
        _TYPES[type_],
        description,
        () if acceptance == "[]" else read_texts(acceptance),
        priority,
        () if labels == "[]" else read_texts(labels),
        epic,
        estimate,
        bool(needs_tests),
        bool(scaffolding),
        () if touches == "[]" else read_texts(touches),
        notes,
        _mapping(metadata),
        STATUSES[status],
        held,
        defer_until,
        created_at,
        updated_at,
        closed_at,
        close_reason,
        failures,
        retry_at,
        assignee,
        fence,
        lease_until,
        STATUSES[return_to] if return_to else None,
        bool(branch_kept),
        merged_commit,
        branch,
        stacks_on,
        _mapping(proposed),
    )
    return bead_of(values)


_TYPES = {type_.value: type_ for type_ in BeadType}


def texts(values: Sequence[str]) -> str:
    """`as_json` of texts, which are most of what beads hold: it takes a third of the time."""
    return f"[{','.join(map(_quoted, values))}]" if values else "[]"


def mapping_text(values: Mapping[str, Any]) -> str:
    """`as_json` of a mapping, which most beads have none of."""
    return as_json(dict(values)) if values else "{}"


def text_values(value: Bead) -> dict[str, Any]:
    """The columns of `bead_text` but its id."""
    return dict(zip(TEXT_COLUMNS, texts_of(value), strict=True))


def texts_of(value: Bead) -> tuple[str, ...]:
    """The values of TEXT_COLUMNS."""
    return (
        value.title,
        value.description,
        texts(value.acceptance),
        texts(value.labels),
        texts(value.touches),
        value.notes,
        mapping_text(value.metadata),
        value.close_reason,
        mapping_text(value.proposed),
    )


def state_values(value: Bead) -> dict[str, Any]:
    """The columns of `beads` that are facts, but its id."""
    return {
        "status": value.status.value,
        "type": value.type.value,
        "priority": value.priority,
        "estimate": value.estimate,
        "epic": value.epic,
        "needs_tests": value.needs_tests,
        "scaffolding": value.scaffolding,
        "held": value.held,
        "defer_until": value.defer_until,
        "created_at": value.created_at,
        "updated_at": value.updated_at,
        "closed_at": value.closed_at,
        "failures": value.failures,
        "retry_at": value.retry_at,
        "assignee": value.assignee,
        "fence": value.fence,
        "lease_until": value.lease_until,
        "return_to": value.return_to.value if value.return_to else None,
        "branch_kept": value.branch_kept,
        "merged_commit": value.merged_commit,
        "branch": value.branch,
        "stacks_on": value.stacks_on,
    }


def node(row: Row) -> Node:
    """A row of NODE."""
    return plain_node(tuple(row))


def plain_node(row: tuple[Any, ...]) -> Node:
    """The same of a row that is a tuple."""
    return Node._make((row[0], STATUSES[row[1]], *row[2:]))


def frontier(row: Row) -> Frontier:
    """A row of FRONTIER."""
    id_, status, type_, priority, failures, retry_at, rank, touches = row
    return Frontier(id_, STATUSES[status], type_, priority, failures, retry_at, rank, read_texts(touches))


ATTEMPT = """SELECT attempts.*, (SELECT provider_session FROM sessions WHERE sessions.id = attempts.session)
    AS provider_session FROM attempts"""
"""Attempts with what their agent calls the session."""


def attempt(row: Row | Mapping[str, Any]) -> Attempt:
    """A row of ATTEMPT. What the agent said about its end is in `data` as "said"."""
    data = _mapping(row["data"])
    if row["said"] is not None:
        data["said"] = row["said"]
    return Attempt(
        id=row["id"],
        bead=row["bead"],
        number=row["number"],
        role=Role(row["role"]),
        name=row["name"],
        fence=row["fence"],
        token=row["token"],
        started_at=row["started_at"],
        agent=row["agent"],
        base=row["base"],
        head=row["head"],
        ended_at=row["ended_at"],
        outcome=Outcome(row["outcome"]) if row["outcome"] else None,
        detail=row["detail"],
        log=AttemptLog(row["summary"], row["blockers"], row["learnings"], bool(row["keep_branch"])),
        data=data,
        provider=row["provider"],
        model=row["model"],
        cost_usd=row["cost_usd"],
        tokens=row["tokens"],
        session=row["session"],
        provider_session=row["provider_session"],
    )


def attempt_data(data: Mapping[str, Any]) -> str:
    """The column `data`, without what has a column of its own."""
    return as_json({key: value for key, value in data.items() if key != "said"})


def session(row: Row) -> Session:
    """A row of `sessions`, with how many messages wait for a turn."""
    return Session(
        id=row["id"],
        kind=SessionKind(row["kind"]),
        owner=row["owner"],
        title=row["title"],
        agent=row["agent"],
        state=State(row["state"]),
        provider=row["provider"],
        model=row["model"],
        provider_session=row["provider_session"],
        begun=bool(row["begun"]),
        attempt=row["attempt"],
        failures=row["failures"],
        retry_at=row["retry_at"],
        stop_asked=bool(row["stop_asked"]),
        detail=row["detail"],
        cost_usd=row["cost_usd"],
        tokens=row["tokens"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        ended_at=row["ended_at"],
        data=_mapping(row["data"]),
        waiting=row["waiting"],
    )


def turn(row: Row) -> Turn:
    """A row of `turns`."""
    return Turn(
        id=row["id"],
        session=row["session"],
        number=row["number"],
        token=row["token"],
        resumes=bool(row["resumes"]),
        provider=row["provider"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        outcome=Outcome(row["outcome"]) if row["outcome"] else None,
        detail=row["detail"],
        cost_usd=row["cost_usd"],
        tokens=row["tokens"],
        data=_mapping(row["data"]),
    )


def message(row: Row) -> Message:
    """A row of `messages`."""
    said = (row["id"], row["session"], row["author"], row["at"], row["text"])
    return Message(*said, row["turn"], row["escalation"])


def run(row: Row) -> Run:
    """A row of `runs`."""
    return Run(
        id=row["id"],
        attempt=row["attempt"] or 0,
        turn=row["turn"] or 0,
        kind=RunKind(row["kind"]),
        started_at=row["started_at"],
        pid=row["pid"],
        born=row["born"],
        hard_deadline=row["hard_deadline"],
        idle_seconds=row["idle_seconds"],
        active_at=row["active_at"],
        sampled_at=row["sampled_at"],
        activity=row["activity"],
        stopping=Outcome(row["stopping"]) if row["stopping"] else None,
        term_at=row["term_at"],
    )


def escalation(row: Row, behind: int = 0) -> Escalation:
    """A row of `escalations`."""
    return Escalation(
        id=row["id"],
        type=EscalationType(row["type"]),
        bead=row["bead"],
        title=row["title"],
        detail=row["detail"],
        target=row["target"],
        attempt=row["attempt"],
        evidence=json.loads(row["evidence"]),
        hypothesis=row["hypothesis"],
        created_at=row["created_at"],
        answer=row["answer"],
        answered_at=row["answered_at"],
        resolved_at=row["resolved_at"],
        resolution=row["resolution"],
        return_to=Status(row["return_to"]) if row["return_to"] else None,
        behind=behind,
        session=row["session"],
        form=json.loads(row["form"]) if row["form"] else None,
        value=None if row["value"] is None else json.loads(row["value"]),
        read_at=row["read_at"],
    )


def event(row: Row) -> Event:
    """A row of `events`."""
    return Event(
        kind=Kind(row["kind"]),
        bead=row["bead"],
        attempt=row["attempt"],
        actor=row["actor"],
        data=json.loads(row["data"]),
        seq=row["seq"],
        at=row["at"],
    )
