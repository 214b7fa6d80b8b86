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
from ..beads.model import FIELDS, FIRST, Attempt, AttemptLog, Bead, Frontier, Run, Status, bead_of
from ..decisions.model import Escalation
from ..events.kinds import Event
from ..sessions.model import Message, Session, Turn

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Record = TypeVar("Record", bound=DataclassInstance)
    Read = Callable[[Any], Any] | None

BEAD = f"""SELECT {", ".join(FIELDS)}
FROM beads JOIN bead_text USING (id)"""
"""Beads with their texts: the columns have the names and the order of Bead's fields."""
NODE = """SELECT id, status, type, title, priority, estimate, epic, held, defer_until, retry_at, assignee
FROM beads JOIN bead_text USING (id)"""
FRONTIER = """SELECT id, status, type, priority, failures, retry_at, rank,
(SELECT touches FROM bead_text WHERE bead_text.id = beads.id) FROM beads"""

STATUSES = {status.value: status for status in Status}
TEXT_COLUMNS = tuple(
    name for name in FIELDS if type(FIRST[name]) in (str, tuple, dict) and name not in ("id", "branch")
)
"""The columns of `bead_text`: texts, lists and mappings. The others are columns of `beads`."""
STATE_COLUMNS = tuple(name for name in FIELDS if name not in (*TEXT_COLUMNS, "id"))

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


def record(kind: "type[Record]", row: Row | Mapping[str, Any], **given: Any) -> "Record":
    """The record of a row; `given` are fields that no column of their name holds."""
    found = {name: read(row[name]) if read else row[name] for name, read in readers(kind) if name not in given}
    return kind(**found, **given)


@cache
def readers(kind: "type[DataclassInstance]") -> "tuple[tuple[str, Read], ...]":
    """By field, in order, what makes it of its column; None: it is what the column holds."""
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
    """A row of BEAD. Whole graphs are read by it, so that it goes by places."""
    values = list(row)
    for place, read in _BEAD_READERS:
        values[place] = read(values[place])
    return bead_of(tuple(values))


_BEAD_READERS = [(place, read) for place, (_, read) in enumerate(readers(Bead)) if read is not None]


def texts(values: Sequence[str]) -> str:
    """`as_json` of texts, which are most of what beads hold: it takes a third of the time."""
    return f"[{','.join(map(_quoted, values))}]" if values else "[]"


def mapping_text(values: Mapping[str, Any]) -> str:
    """`as_json` of a mapping, which most beads have none of."""
    return as_json(dict(values)) if values else "{}"


WRITTEN: Mapping[str, Callable[[Any], str]] = {
    name: texts if FIRST[name] == () else mapping_text for name in TEXT_COLUMNS if FIRST[name] != ""
}
"""By text column that holds JSON, what makes it of its value."""
_TEXTS = attrgetter(*TEXT_COLUMNS)
_AS_JSON = [(TEXT_COLUMNS.index(name), write) for name, write in WRITTEN.items()]


def text_values(value: Bead) -> dict[str, Any]:
    """The columns of `bead_text` but its id."""
    return dict(zip(TEXT_COLUMNS, texts_of(value), strict=True))


def texts_of(value: Bead) -> list[str]:
    """The values of TEXT_COLUMNS."""
    found = list(_TEXTS(value))
    for place, write in _AS_JSON:
        found[place] = write(found[place])
    return found


def state_values(value: Bead) -> dict[str, Any]:
    """The columns of `beads` that are facts, but its id."""
    found = {name: getattr(value, name) for name in STATE_COLUMNS}
    return {name: getattr(one, "value", one) for name, one in found.items()}


def node(row: Row) -> Node:
    return plain_node(tuple(row))


def plain_node(row: tuple[Any, ...]) -> Node:
    return Node._make((row[0], STATUSES[row[1]], *row[2:]))


def frontier(row: Row) -> Frontier:
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
    log = AttemptLog(row["summary"], row["blockers"], row["learnings"], bool(row["keep_branch"]))
    return record(Attempt, row, log=log, data=data)


def attempt_data(data: Mapping[str, Any]) -> str:
    """The column `data`, without what has a column of its own."""
    return as_json({key: value for key, value in data.items() if key != "said"})


def session(row: Row) -> Session:
    """A row of `sessions`, with how many messages wait for a turn."""
    return record(Session, row)


def turn(row: Row) -> Turn:
    """A row of `turns`."""
    return record(Turn, row)


def message(row: Row) -> Message:
    """A row of `messages`."""
    return record(Message, row, answers=row["escalation"])


def run(row: Row) -> Run:
    """A row of `runs`."""
    return record(Run, row, attempt=row["attempt"] or 0, turn=row["turn"] or 0)


def escalation(row: Row, behind: int = 0) -> Escalation:
    """A row of `escalations`."""
    form = json.loads(row["form"]) if row["form"] else None
    value = None if row["value"] is None else json.loads(row["value"])
    return record(Escalation, row, behind=behind, form=form, value=value)


def event(row: Row) -> Event:
    """A row of `events`."""
    return record(Event, row)
