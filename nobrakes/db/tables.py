"""The tables, made of the records of model files: a column for each field, with its name and type.

1. Keys, references, indexes and replaced `columns` are given here: facts, and a few derived columns for cheap
   questions, defined by beads.readiness, tested as properties and recomputed by `nobrakes doctor`.
2. `beads` is narrow, since its counters change with every close; texts are in `bead_text`.
3. A `parent-child` dependency is `beads.epic`; `edges` holds the other types.
4. Partial indexes repeat the conditions of fast.py word for word, or SQLite would not use them.
5. SQLModel costs a third of a command's start-up, so only searches import this module.
6. A change here or of a record is a new version: a step in migrations.py, its number in fast.py, and its text among the
   landed ones (`python -m tests.support.landed_schemas`). A test refuses two texts with one number.

Write schema.sql again: python -m nobrakes.db.tables > nobrakes/db/schema.sql
"""

import textwrap
from collections.abc import Mapping
from types import MappingProxyType, UnionType, new_class
from typing import Any, get_args

from sqlalchemy import Index, text
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.schema import CreateIndex, CreateTable
from sqlalchemy.sql import ClauseElement
from sqlmodel import Field, SQLModel, col, or_, select

from ..agents.limits import Breaker
from ..beads.model import FIELDS, NO_AGENTS, Attempt, AttemptLog, Bead, Dependency, Outcome, Run
from ..decisions.model import Escalation
from ..events.kinds import Event
from ..features.model import Feature, Finding, Item, PlanReview, PlanVersion
from ..notices.model import Delivery, NoticeRecord
from ..projects.model import Document, Due, Schedule, Sprint, SprintRun
from ..sessions.model import Message, Session, Turn
from . import rows
from .database import Database, Row
from .fast import CLAIMABLE, EPIC_COMPLETE, ESTIMATED, FEATURE_GOES_ON, GOING, PROPOSED, REVIEWABLE, WAITS
from .rows import TEXT_COLUMNS

Columns = Mapping[str, Any]

_PLAIN = (bool, int, float)
_NONE: Mapping[str, Any] = MappingProxyType({})


def _index(name: str, columns: str, where: str | None = None, unique: bool = False) -> Index:
    parts = [text(one) for one in columns.split(", ")]
    return Index(name, *parts, unique=unique, sqlite_where=None if where is None else text(where))


def _table(
    name: str,
    record: type | Columns,
    *indexes: Index,
    key: str = "id",
    refers: Mapping[str, str] = _NONE,
    defaults: Mapping[str, str] = _NONE,
    columns: Mapping[str, Columns] = _NONE,
    options: Mapping[str, bool] = _NONE,
) -> Any:
    """A record's table with this key; a number as only key is assigned by SQLite. `refers`: other tables by column.
    `defaults`: for rows in a migration. `columns`: replacements by field, empty: none."""
    found: dict[str, Any] = {}
    for field, kind in (record if isinstance(record, Mapping) else record.__annotations__).items():
        found |= columns.get(field, {field: kind})
    keys = key.split()
    numbered = keys in (["id"], ["seq"]) and found[key] is int
    values: dict[str, Any] = {"__tablename__": name, "__module__": __name__, "__annotations__": {}}
    values["__table_args__"] = (*indexes, {"sqlite_autoincrement": numbered, **options})
    for column, kind in found.items():
        stored = _stored(int | None if numbered and column == key else kind)
        attribute = "metadata_" if column == "metadata" else column  # SQLModel has a meaning for the name
        marks: dict[str, Any] = {"default": None} if isinstance(stored, UnionType) else {}
        if column in refers:
            marks["foreign_key"] = refers[column]
        default = {"server_default": text(defaults[column])} if column in defaults else {}
        values[attribute] = Field(primary_key=column in keys, sa_column_kwargs={"name": column, **default}, **marks)
        values["__annotations__"][attribute] = stored
    return new_class(f"{name}_row", (SQLModel,), {"table": True}, lambda body: body.update(values))


def _stored(kind: Any) -> Any:
    if isinstance(kind, UnionType):
        return _stored(get_args(kind)[0]) | None
    return kind if kind in _PLAIN else str


# The fields of a bead that came later, by migrations, which give the rows of before what a field begins with.
_FIRST = rows.text_values(Bead("", "")) | rows.state_values(Bead("", ""))
_LATER = {
    name: f"'{value}'" if isinstance(value := _FIRST[name], str) else str(+value)
    for name in FIELDS[FIELDS.index("branch") :]
    if _FIRST[name] is not None
}
_NUMBER = int | None
_ORDER = "rank, b_level DESC, dependents DESC, freed_at DESC, created_at"
_SESSION = {"session": "sessions.id"}

_table(
    "features",
    Feature,
    _index("features_going", "id", FEATURE_GOES_ON),
    _index("features_of_session", "session", "session IS NOT NULL"),
    refers={"id": "beads.id", **_SESSION},
    columns={"title": {}, "description": {}},  # its epic has them
)
_table("plan_versions", PlanVersion, key="feature number", refers={"feature": "features.id"})
_table(
    "plan_reviews",
    PlanReview,
    _index("plan_reviews_of_session", "session", "session IS NOT NULL"),
    key="feature round domain",
    refers={"feature": "features.id", **_SESSION},
)
_table(
    "findings",
    Finding,
    _index("findings_of_round", "feature, round, id"),
    _index("findings_asked", "escalation", "escalation IS NOT NULL"),
    refers={"feature": "features.id", "escalation": "escalations.id"},
)
_table(
    "items",
    Item,
    _index("items_of_place", "feature, place", unique=True),
    refers={"feature": "features.id"},
    columns={"at": {"at": float, "place": str}},  # two with one place are the same
)
_table("sprint_runs", SprintRun, _index("sprint_runs_going", "state", "state = 'going'", unique=True))
_table(
    "sprints",
    Sprint,
    _index("sprints_of_bead", "bead", "bead IS NOT NULL"),
    _index("sprints_of_session", "session", "session IS NOT NULL"),
    key="number",
    refers={"run": "sprint_runs.id", **_SESSION, "bead": "beads.id", "opening": "beads.id", "closing": "beads.id"},
)
_table("sprint_documents", Document, _index("sprint_documents_of", "sprint, id"), refers={"sprint": "sprints.number"})
_table("schedules", Schedule, columns={"last_due": {"removed_at": float | None}})
_table(
    "schedule_starts",
    Due,
    key="schedule due",
    refers={"schedule": "schedules.id", "run": "sprint_runs.id"},
    columns={"at": {"due": float}, "why": {"why": str, "run": _NUMBER, "at": float}},
)
_table(
    "sessions",
    Session,
    _index("sessions_by_provider_session", "provider_session", unique=True),
    _index("sessions_going", "id", GOING),
    _index("sessions_reading", "owner, id", "kind = 'code_review'"),
    columns={
        "state": {},
        "begun": {"begun": bool, "disputed": bool},  # agents of two owners said that it is theirs: nobody goes on
        "attempt": {"attempt": _NUMBER, "state": str},
        "waiting": {},
    },
)
_table(
    "turns",
    Turn,
    _index("turns_of_session", "session, number", unique=True),
    _index("turns_open", "session", "outcome IS NULL", unique=True),
    _index("turns_by_time", "started_at"),
    refers=_SESSION,
)
_table(
    "messages",
    Message,
    _index("messages_of_session", "session, id"),
    refers={**_SESSION, "turn": "turns.id", "escalation": "escalations.id"},
    columns={"answers": {"escalation": _NUMBER}},
)
_table(
    "notices",
    NoticeRecord,
    _index("notices_by_fingerprint", "fingerprint, created_at"),
    _index("notices_unrouted", "id", "routed = 0"),
    columns={"told_at": {"routed": bool, "told_at": float | None}},
)
_table(
    "deliveries",
    Delivery,
    _index("deliveries_due", "channel, due_at", "state = 'due'"),
    _index("deliveries_of_notice", "notice"),
    refers={"notice": "notices.id"},
    columns={"notice": {"notice": int}, "error": {"error": str, "digest": _NUMBER}},  # digest: told in that one's
)
_REQUEST = {"key": str, "command": str, "actor": str, "at": float, "result": str}
_table("requests", _REQUEST, _index("requests_by_time", "at"), key="key")
_table("levels_due", {"id": str, "level": int}, _index("levels_due_lowest", "level, id"), refers={"id": "beads.id"})
_table(
    "beads",
    Bead,
    _index("beads_claimable", _ORDER, CLAIMABLE),
    _index("beads_reviewable", _ORDER, REVIEWABLE),
    _index("beads_rising", "rises_at", WAITS),
    _index("beads_estimated", "estimate", ESTIMATED),
    _index("beads_complete", "id", EPIC_COMPLETE),
    _index("beads_asleep", "defer_until", "asleep = 1"),
    _index("beads_resting", "retry_at", "resting = 1"),
    _index("beads_held", "id", "held IS NOT NULL"),
    _index("beads_merged", "status, closed_at, merged_commit, type, epic, id", "merged_commit IS NOT NULL"),
    _index("beads_epic", "epic, b_level", "epic IS NOT NULL"),
    _index("beads_status", "status, type"),
    refers={"epic": "beads.id"},
    defaults={
        **dict.fromkeys(("open_blockers", "children", "open_children", "done_children", "asleep", "resting"), "0"),
        **dict.fromkeys(("b_level", "done_level", "rises_at", "dependents", "freed_at"), "0"),
        **_LATER,
    },
    columns={
        **{name: {} for name in (*TEXT_COLUMNS, "epic", "status")},
        "id": {"id": str, "status": str},
        "estimate": {"estimate": _NUMBER, "epic": str | None},
        "branch": {
            "open_blockers": int,  # unfinished, + 1 for a closed-off parent
            "children": int,
            "open_children": int,
            "done_children": int,
            "asleep": int,  # defer_until has not been reached
            "resting": int,  # retry_at has not been reached
            "ready_since": float,  # when it last lost its last blocker, was approved, released or woke up
            "rank": int,
            "b_level": int,
            "done_level": int,
            "branch": str,
            "rises_at": float,  # when its rank goes down by one
            "dependents": int,  # how many beads it blocks
            "freed_at": float,  # when the last bead that it waited for was done; 0: it never waited
        },
    },
)
BEAD_TEXTS = _table(
    "bead_text",
    {"id": str, **dict.fromkeys(TEXT_COLUMNS, str)},
    _index("bead_text_proposed", "id", PROPOSED),
    refers={"id": "beads.id"},
    defaults=_LATER,
)
_table(
    "edges",
    Dependency,
    _index("edges_needs", "needs, type, bead"),
    key="bead type needs",
    refers={"bead": "beads.id", "needs": "beads.id"},
    columns={"needs": {}, "type": {"type": str, "needs": str}},
    options={"sqlite_with_rowid": False},
)
ATTEMPTS = _table(
    "attempts",
    Attempt,
    _index("attempts_of_bead", "bead, number", unique=True),
    _index("attempts_open", "bead", "outcome IS NULL", unique=True),
    _index("attempts_by_time", "started_at"),
    refers={"bead": "beads.id", **_SESSION},
    defaults={"provider": "''", "model": "''", "cost_usd": "0", "tokens": "0"},
    columns={"log": {**AttemptLog.__annotations__, "said": str | None}, "provider_session": {}},
)
_table(
    "gates",
    {"provider": str, "reason": str, "detail": str, "since": float, "until": float, "times": int, "told": bool},
    key="provider",
)
_table("breakers", {"owner": str, "provider": str, **Breaker.__annotations__}, key="owner provider")
_table(
    "runs",
    Run,
    refers={"attempt": "attempts.id", "turn": "turns.id"},
    columns={"attempt": {"attempt": _NUMBER, "turn": _NUMBER}, "turn": {}},
)
_table(
    "escalations",
    Escalation,
    _index("escalations_open", "fingerprint", "resolved_at IS NULL", unique=True),
    _index("escalations_of_bead", "bead"),
    refers={"bead": "beads.id", "attempt": "attempts.id", **_SESSION},
    defaults={"form": "''"},
    columns={"behind": {"fingerprint": str}, "form": {"form": str}, "value": {"value": str | None}},
)
_table(
    "events",
    Event,
    _index("events_of_bead", "bead, seq", "bead IS NOT NULL"),
    key="seq",
    columns={"kind": {"seq": int, "at": float, "kind": str}, "seq": {}, "at": {}},
)
_table("settings", {"key": str, "value": str}, key="key")
_table("validations", {"tree": str, "contract": str, "results": str, "at": float}, key="tree contract")

_WIDE = 110
_GLUE = "\0"


def schema() -> str:
    """The SQL of an empty database, with lines filled and broken between columns."""
    dialect = sqlite.dialect()
    statements: list[CreateTable | CreateIndex] = []
    for table in SQLModel.metadata.sorted_tables:
        statements.append(CreateTable(table))
        statements += [CreateIndex(index) for index in sorted(table.indexes, key=lambda i: str(i.name))]
    compiled = (str(s.compile(dialect=dialect)).strip() for s in statements)
    return "".join(f"{_lines(text) if text.startswith('CREATE TABLE') else _full(text, '')};\n" for text in compiled)


def _lines(statement: str) -> str:
    first, _, rest = statement.partition("\n")
    columns, _, end = rest.rpartition("\n)")
    body = " ".join(_GLUE.join(line.split()) for line in columns.splitlines() if line.strip())
    return f"{first}\n{_full(body, '    ').replace(_GLUE, ' ')}\n{' '.join([')', *end.split()])}"


def _full(text: str, indent: str) -> str:
    return textwrap.fill(text, _WIDE, initial_indent=indent, subsequent_indent="    ", break_long_words=False)


# Attempts, for people who look back: searched, filtered, sorted, a page at a time. Statements are of SQLModel and run
# on our own connection: its transactions, clock and errors are as everywhere else.
_DIALECT = SQLiteDialect_pysqlite(paramstyle="named")

_SORTS = {
    "newest": col(ATTEMPTS.id).desc(),
    "oldest": col(ATTEMPTS.id),
    "bead": col(ATTEMPTS.bead),
    "agent": col(ATTEMPTS.name),
    "cost": col(ATTEMPTS.cost_usd).desc(),
}
SORTS = tuple(_SORTS)
STATES = ("all", "active", "completed", "failed")


def rows_of(db: Database, statement: ClauseElement) -> list[Row]:
    compiled = statement.compile(dialect=_DIALECT, compile_kwargs={"render_postcompile": True})  # `IN` lists
    values: dict[str, Any] = dict(compiled.params)
    return db.all(str(compiled), values)


def agents(db: Database, words: str, state: str, sort: str, limit: int, offset: int = 0) -> list[Attempt]:
    """At most `limit` attempts with each word in bead, title, name or agent. `state`: of STATES; `sort`: of SORTS."""
    wanted: Any = select(ATTEMPTS).join(BEAD_TEXTS, col(BEAD_TEXTS.id) == col(ATTEMPTS.bead))
    wanted = wanted.where(col(ATTEMPTS.role).not_in([role.value for role in NO_AGENTS]))
    for word in words.split()[:8]:
        like = "%" + word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        columns = (BEAD_TEXTS.title, ATTEMPTS.bead, ATTEMPTS.name, ATTEMPTS.agent)
        wanted = wanted.where(or_(*(col(column).like(like, escape="\\") for column in columns)))
    if state == "active":
        wanted = wanted.where(col(ATTEMPTS.outcome).is_(None))
    elif state == "completed":
        wanted = wanted.where(ATTEMPTS.outcome == Outcome.COMPLETED.value)
    elif state == "failed":
        wanted = wanted.where(col(ATTEMPTS.outcome).is_not(None), ATTEMPTS.outcome != Outcome.COMPLETED.value)
    wanted = wanted.order_by(_SORTS[sort], col(ATTEMPTS.id).desc()).limit(limit).offset(offset)
    return [rows.attempt({**dict(row), "provider_session": None}) for row in rows_of(db, wanted)]


if __name__ == "__main__":
    print("-- The database's schema. Generated from tables.py (python -m nobrakes.db.tables): do not edit.")
    print(schema(), end="")
