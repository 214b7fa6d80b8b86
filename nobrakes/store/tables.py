"""The tables, declared. schema.py is generated from here, and a test compares the two; store.queries asks by them.

1. Facts, and next to them the few derived columns that make questions cheap; core.graph.readiness says what those must
   be, a property test compares, and `nobrakes doctor` recomputes.
2. `beads` is narrow, since a counter of it changes with every close; texts live in `bead_text`.
3. A `parent-child` dependency is `beads.epic`; `edges` holds the other types.
4. The partial indexes repeat the conditions of conditions.py word for word, or SQLite would not use them.
5. A change here is a new version: a step in migrations.py, the new number in `schema_module`, and its text among
   those that were landed (`python -m tests.support.landed_schemas`). A test refuses two texts with one number.

Write schema.py again: python -m nobrakes.store.tables > nobrakes/store/schema.py
"""

import textwrap

from sqlalchemy import Index, text
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable
from sqlmodel import Field, SQLModel

from . import forge_tables, sprint_tables, talk_tables
from .conditions import CLAIMABLE, EPIC_COMPLETE, ESTIMATED, PROPOSED, REVIEWABLE, WAITS

__all__ = ["forge_tables", "sprint_tables", "talk_tables"]  # imported so that their tables are among all tables

_ORDER = (text("rank"), text("b_level DESC"), text("dependents DESC"), text("ready_since DESC"), text("id"))


class LevelDueRow(SQLModel, table=True):
    """A bead whose levels are to be computed again; `level` is its b_level as it stands."""

    __tablename__ = "levels_due"
    __table_args__ = (Index("levels_due_lowest", text("level"), text("id")),)

    id: str = Field(primary_key=True, foreign_key="beads.id")
    level: int


class BeadRow(SQLModel, table=True):
    """One bead's state. The second group is derived, in the same transaction as what it derives from."""

    __tablename__ = "beads"
    __table_args__ = (
        Index("beads_claimable", *_ORDER, sqlite_where=text(CLAIMABLE)),
        Index("beads_reviewable", *_ORDER, sqlite_where=text(REVIEWABLE)),
        Index("beads_rising", text("rises_at"), sqlite_where=text(WAITS)),
        Index("beads_estimated", text("estimate"), sqlite_where=text(ESTIMATED)),
        Index("beads_complete", text("id"), sqlite_where=text(EPIC_COMPLETE)),
        Index("beads_asleep", text("defer_until"), sqlite_where=text("asleep = 1")),
        Index("beads_resting", text("retry_at"), sqlite_where=text("resting = 1")),
        Index("beads_epic", text("epic"), text("b_level"), sqlite_where=text("epic IS NOT NULL")),
        Index("beads_status", text("status"), text("type")),
        Index("beads_stacked", text("stacks_on"), sqlite_where=text("stacks_on IS NOT NULL")),
    )

    id: str = Field(primary_key=True)
    status: str
    type: str
    priority: int
    estimate: int | None = None
    epic: str | None = Field(default=None, foreign_key="beads.id")
    needs_tests: bool
    scaffolding: bool
    held: str | None = None
    defer_until: float | None = None
    created_at: float
    updated_at: float
    closed_at: float | None = None
    failures: int
    retry_at: float | None = None
    assignee: str | None = None
    fence: int
    lease_until: float | None = None
    return_to: str | None = None
    branch_kept: bool
    merged_commit: str | None = None

    open_blockers: int = Field(
        sa_column_kwargs={"server_default": text("0")}
    )  # unfinished, + 1 for a closed-off parent
    children: int = Field(sa_column_kwargs={"server_default": text("0")})
    open_children: int = Field(sa_column_kwargs={"server_default": text("0")})
    done_children: int = Field(sa_column_kwargs={"server_default": text("0")})
    asleep: int = Field(sa_column_kwargs={"server_default": text("0")})  # defer_until has not been reached
    resting: int = Field(sa_column_kwargs={"server_default": text("0")})  # retry_at has not been reached
    ready_since: float  # when it last lost its last blocker, was approved, released or woke up
    rank: int
    b_level: int = Field(sa_column_kwargs={"server_default": text("0")})
    done_level: int = Field(sa_column_kwargs={"server_default": text("0")})
    branch: str = Field(sa_column_kwargs={"server_default": ""})
    rises_at: float = Field(sa_column_kwargs={"server_default": text("0")})  # when its rank goes down by one
    dependents: int = Field(sa_column_kwargs={"server_default": text("0")})  # how many beads it blocks
    stacks_on: str | None = None  # the blocker that is no obstacle: it is worked on on top of its open request


class BeadTextRow(SQLModel, table=True):
    """A bead's texts; tuples and mappings as JSON."""

    __tablename__ = "bead_text"
    __table_args__ = (Index("bead_text_proposed", text("id"), sqlite_where=text(PROPOSED)),)

    id: str = Field(primary_key=True, foreign_key="beads.id")
    title: str
    description: str
    acceptance: str
    labels: str
    touches: str
    notes: str
    metadata_: str = Field(sa_column_kwargs={"name": "metadata"})
    close_reason: str
    proposed: str = Field(sa_column_kwargs={"server_default": text("'{}'")})  # changes that nobody approved yet


class EdgeRow(SQLModel, table=True):
    """A dependency of type blocks, discovered-from or related."""

    __tablename__ = "edges"
    __table_args__ = (
        Index("edges_needs", text("needs"), text("type"), text("bead")),
        {"sqlite_with_rowid": False},
    )

    bead: str = Field(primary_key=True, foreign_key="beads.id")
    type: str = Field(primary_key=True)
    needs: str = Field(primary_key=True, foreign_key="beads.id")


class AttemptRow(SQLModel, table=True):
    """One attempt. `said` is what the agent itself said with `nobrakes agent done`."""

    __tablename__ = "attempts"
    __table_args__ = (
        Index("attempts_of_bead", text("bead"), text("number"), unique=True),
        Index("attempts_open", text("bead"), unique=True, sqlite_where=text("outcome IS NULL")),
        Index("attempts_by_time", text("started_at")),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True)
    bead: str = Field(foreign_key="beads.id")
    number: int
    role: str
    name: str
    fence: int
    token: str
    started_at: float
    agent: str
    base: str | None = None
    head: str | None = None
    ended_at: float | None = None
    outcome: str | None = None
    detail: str
    summary: str
    blockers: str
    learnings: str
    keep_branch: bool
    said: str | None = None
    data: str
    provider: str = Field(sa_column_kwargs={"server_default": text("''")})  # empty: none that could have limits
    model: str = Field(sa_column_kwargs={"server_default": text("''")})  # empty: the agent's own choice
    cost_usd: float = Field(sa_column_kwargs={"server_default": text("0")})
    tokens: int = Field(sa_column_kwargs={"server_default": text("0")})
    session: int | None = Field(default=None, foreign_key="sessions.id")  # null: its agent was not started yet


class GateRow(SQLModel, table=True):
    """A provider that refused: nothing is started at it before `until`. No row: it has no cooldown."""

    __tablename__ = "gates"

    provider: str = Field(primary_key=True)
    reason: str
    detail: str
    since: float
    until: float
    times: int
    told: bool


class BreakerRow(SQLModel, table=True):
    """What one provider came to for one owner (core.owners), as long as it came to nothing. No row: it is closed."""

    __tablename__ = "breakers"

    owner: str = Field(primary_key=True)
    provider: str = Field(primary_key=True)
    state: str
    idle: int
    same: int
    error: str


class RunRow(SQLModel, table=True):
    """A child process that is planned or alive: of an attempt, of a session's turn, or of neither (the machine's)."""

    __tablename__ = "runs"

    id: str = Field(primary_key=True)
    attempt: int | None = Field(default=None, foreign_key="attempts.id")
    turn: int | None = Field(default=None, foreign_key="turns.id")
    kind: str
    started_at: float
    pid: int | None = None
    born: str
    hard_deadline: float
    idle_seconds: float
    active_at: float
    sampled_at: float
    activity: str
    stopping: str | None = None
    term_at: float | None = None


class EscalationRow(SQLModel, table=True):
    """A request for a person, open while `resolved_at` is null."""

    __tablename__ = "escalations"
    __table_args__ = (
        Index("escalations_open", text("fingerprint"), unique=True, sqlite_where=text("resolved_at IS NULL")),
        Index("escalations_of_bead", text("bead")),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True)
    type: str
    bead: str | None = Field(default=None, foreign_key="beads.id")
    title: str
    detail: str
    target: str
    attempt: int | None = Field(default=None, foreign_key="attempts.id")
    evidence: str
    hypothesis: str
    created_at: float
    answer: str | None = None
    answered_at: float | None = None
    resolved_at: float | None = None
    resolution: str
    return_to: str | None = None
    fingerprint: str
    session: int | None = Field(default=None, foreign_key="sessions.id")
    form: str = Field(sa_column_kwargs={"server_default": text("''")})  # JSON; empty: any text is an answer
    value: str | None = None  # the answer as the form's value, in JSON
    read_at: float | None = None  # since then an agent acts by the answer, and it cannot be taken back


class EventRow(SQLModel, table=True):
    """What happened; rows are only ever added."""

    __tablename__ = "events"
    __table_args__ = (
        Index("events_of_bead", text("bead"), text("seq"), sqlite_where=text("bead IS NOT NULL")),
        {"sqlite_autoincrement": True},
    )

    seq: int | None = Field(default=None, primary_key=True)
    at: float
    kind: str
    bead: str | None = None
    attempt: int | None = None
    actor: str
    data: str


class SettingRow(SQLModel, table=True):
    """A small fact of the machine."""

    __tablename__ = "settings"

    key: str = Field(primary_key=True)
    value: str


class ValidationRow(SQLModel, table=True):
    """The results of a validation that passed."""

    __tablename__ = "validations"

    tree: str = Field(primary_key=True)
    contract: str = Field(primary_key=True)
    results: str
    at: float


_WIDE = 110
_GLUE = "\0"
"""Stands for a space at which no line is broken."""


def ddl() -> str:
    """The SQL that makes an empty database of this version; lines are full, and broken between columns."""
    dialect = sqlite.dialect()
    statements: list[CreateTable | CreateIndex] = []
    for table in SQLModel.metadata.sorted_tables:
        statements.append(CreateTable(table))
        statements += [CreateIndex(index) for index in sorted(table.indexes, key=lambda i: str(i.name))]
    compiled = (str(s.compile(dialect=dialect)).strip() for s in statements)
    return "".join(f"{_table(text) if text.startswith('CREATE TABLE') else _full(text, '')};\n" for text in compiled)


def _table(statement: str) -> str:
    first, _, rest = statement.partition("\n")
    columns, _, end = rest.rpartition("\n)")
    body = " ".join(_GLUE.join(line.split()) for line in columns.splitlines() if line.strip())
    return f"{first}\n{_full(body, '    ').replace(_GLUE, ' ')}\n{' '.join([')', *end.split()])}"


def _full(text: str, indent: str) -> str:
    return textwrap.fill(text, _WIDE, initial_indent=indent, subsequent_indent="    ", break_long_words=False)


def schema_module() -> str:
    """The source of schema.py."""
    return (
        '"""The database\'s schema. Generated from tables.py (`python -m nobrakes.store.tables`): do not edit."""\n\n'
        f'VERSION = 8\n\nSCHEMA = """\\\n{ddl()}"""\n'
    )


if __name__ == "__main__":
    print(schema_module(), end="")
