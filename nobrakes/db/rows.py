"""Rows as records and back, by the names of the fields. Tuples and mappings are JSON text in the database."""

import json
from collections.abc import Callable, Mapping, Sequence
from enum import Enum, EnumType
from functools import cache
from operator import attrgetter
from sqlite3 import Row
from types import UnionType
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args, get_origin

from ..beads.graph import Node
from ..beads.model import FIELDS, FIRST, Attempt, AttemptLog, Bead, ReadyBead, Run, Status, bead_of
from ..decisions.model import Escalation
from ..events.kinds import Event
from ..records import as_values
from ..sessions.model import Message, Session, SessionKind, State, Turn

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Record = TypeVar("Record", bound=DataclassInstance)
    Read = Callable[[Any], Any] | None

BEAD = f"""SELECT {", ".join(FIELDS)}
FROM beads JOIN bead_text USING (id)"""
NODE = """SELECT id, status, type, title, priority, estimate, epic, held, defer_until, retry_at, assignee
FROM beads JOIN bead_text USING (id)"""
READY_BEAD = """SELECT id, status, type, priority, failures, retry_at, rank,
(SELECT touches FROM bead_text WHERE bead_text.id = beads.id) FROM beads"""

STATUSES = {status.value: status for status in Status}
TEXT_COLUMNS = tuple(
    name for name in FIELDS if type(FIRST[name]) in (str, tuple, dict) and name not in ("id", "branch")
)
STATE_COLUMNS = tuple(name for name in FIELDS if name not in (*TEXT_COLUMNS, "id"))

_quoted = json.encoder.encode_basestring
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False).encode


def as_json(value: Any) -> str:
    """Compact, stable JSON. Raises TypeError."""
    return _encode(value)


def read_texts(text: str) -> tuple[Any, ...]:
    return () if text == "[]" else tuple(json.loads(text))  # most of them are empty


def _mapping(text: str) -> dict[str, Any]:
    found: dict[str, Any] = {} if text == "{}" else json.loads(text)
    return found


def record(kind: "type[Record]", row: Row | Mapping[str, Any], **given: Any) -> "Record":
    """`given`: fields without a column of their name."""
    found = {name: read(row[name]) if read else row[name] for name, read in readers(kind) if name not in given}
    return kind(**found, **given)


@cache
def readers(kind: "type[DataclassInstance]") -> "tuple[tuple[str, Read], ...]":
    return tuple((name, _reader(field.type)) for name, field in kind.__dataclass_fields__.items())


def _reader(kind: Any) -> "Read":
    if isinstance(kind, UnionType):
        kind, nothing = get_args(kind)
        assert nothing is type(None), f"a column is of one type: {kind}"
        read = _reader(kind)
        return None if read is None else lambda value: read(value) if value else None
    if isinstance(kind, EnumType):
        return {word.value: word for word in cast("type[Enum]", kind)}.__getitem__
    if kind is bool:
        return bool
    return {tuple: read_texts, Mapping: _mapping}.get(get_origin(kind))


def bead(row: Row | tuple[Any, ...]) -> Bead:
    """A row of BEAD, by position, for whole graphs."""
    values = list(row)
    for place, read in _BEAD_READERS:
        values[place] = read(values[place])
    return bead_of(tuple(values))


_BEAD_READERS = [(place, read) for place, (_, read) in enumerate(readers(Bead)) if read is not None]


def texts(values: Sequence[str]) -> str:
    """`as_json` of texts in a third of the time."""
    return f"[{','.join(map(_quoted, values))}]" if values else "[]"


def mapping_text(values: Mapping[str, Any]) -> str:
    return as_json(dict(values)) if values else "{}"


WRITTEN: Mapping[str, Callable[[Any], str]] = {
    name: texts if FIRST[name] == () else mapping_text for name in TEXT_COLUMNS if FIRST[name] != ""
}
_TEXTS = attrgetter(*TEXT_COLUMNS)
_AS_JSON = [(TEXT_COLUMNS.index(name), write) for name, write in WRITTEN.items()]


def text_values(value: Bead) -> dict[str, Any]:
    return dict(zip(TEXT_COLUMNS, texts_of(value), strict=True))


def texts_of(value: Bead) -> list[str]:
    found = list(_TEXTS(value))
    for place, write in _AS_JSON:
        found[place] = write(found[place])
    return found


def state_values(value: Bead) -> dict[str, Any]:
    found = {name: getattr(value, name) for name in STATE_COLUMNS}
    return {name: getattr(one, "value", one) for name, one in found.items()}


def node(row: Row) -> Node:
    return plain_node(tuple(row))


def plain_node(row: tuple[Any, ...]) -> Node:
    return Node._make((row[0], STATUSES[row[1]], *row[2:]))


def ready_bead(row: Row) -> ReadyBead:
    id_, status, type_, priority, failures, retry_at, rank, touches = row
    return ReadyBead(id_, STATUSES[status], type_, priority, failures, retry_at, rank, read_texts(touches))


ATTEMPT = """SELECT attempts.*, (SELECT provider_session FROM sessions WHERE sessions.id = attempts.session)
    AS provider_session FROM attempts"""
"""Attempts with their agents' session ids."""


def attempt(row: Row | Mapping[str, Any]) -> Attempt:
    """A row of ATTEMPT; the declared end is in `data` as "said"."""
    data = _mapping(row["data"])
    if row["said"] is not None:
        data["said"] = row["said"]
    log = AttemptLog(row["summary"], row["blockers"], row["learnings"], bool(row["keep_branch"]))
    return record(Attempt, row, log=log, data=data)


def columns(one: "DataclassInstance") -> dict[str, Any]:
    """The fields of a record as the columns of its table."""
    found = as_values(one)
    found |= {name: as_json(dict(value)) for name, value in found.items() if isinstance(value, Mapping)}
    return found | {name: as_json(value) for name, value in found.items() if isinstance(value, tuple)}


def attempt_values(one: Attempt) -> dict[str, Any]:
    """Its columns; the session's own id stands with the session."""
    values = as_values(one) | as_values(one.log) | {"data": attempt_data(one.data)}
    return {name: value for name, value in values.items() if name not in ("log", "provider_session")}


def attempt_data(data: Mapping[str, Any]) -> str:
    return as_json({key: value for key, value in data.items() if key != "said"})


def session(row: Row) -> Session:
    return record(Session, row)


def new_session(
    kind: SessionKind, owner: str, agent: tuple[str, str, str], state: State, now: float, **more: Any
) -> dict[str, Any]:
    """The columns of a session that begins; `agent`: name, provider and model."""
    values = {"kind": kind.value, "owner": owner, "state": state.value, "created_at": now, "updated_at": now}
    none = {"title": "", "detail": "", "cost_usd": 0.0, "tokens": 0, "failures": 0, "data": "{}"}
    flags = dict.fromkeys(("begun", "disputed", "stop_asked"), False)
    return {**values, **dict(zip(("agent", "provider", "model"), agent, strict=True)), **none, **flags, **more}


def turn(row: Row) -> Turn:
    return record(Turn, row)


def message(row: Row) -> Message:
    return record(Message, row, answers=row["escalation"])


def run(row: Row) -> Run:
    return record(Run, row, attempt=row["attempt"] or 0, turn=row["turn"] or 0)


def escalation(row: Row, behind: int = 0) -> Escalation:
    form = json.loads(row["form"]) if row["form"] else None
    value = None if row["value"] is None else json.loads(row["value"])
    return record(Escalation, row, behind=behind, form=form, value=value)


def escalation_values(one: Escalation) -> dict[str, Any]:
    """Its columns but the fingerprint; how many wait behind it is counted."""
    found = columns(one) | {"value": None if one.value is None else as_json(one.value)}
    return {name: value for name, value in found.items() if name != "behind"} | {"form": found["form"] or ""}


def event(row: Row) -> Event:
    return record(Event, row)
