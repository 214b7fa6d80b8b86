"""The tables, declared. schema.py is generated from here, and a test compares the two; store.queries asks by them.

1. Facts, and next to them the few derived columns that make questions cheap; beads.readiness says what those must
   be, a property test compares, and `nobrakes doctor` recomputes.
2. `beads` is narrow, since a counter of it changes with every close; texts live in `bead_text`.
3. A `parent-child` dependency is `beads.epic`; `edges` holds the other types.
4. The partial indexes repeat the conditions of conditions.py word for word, or SQLite would not use them.
5. A change here is a new version: a step in migrations.py, the new number in `schema_module`, and its text among
   those that were landed (`python -m tests.support.landed_schemas`). A test refuses two texts with one number.

Write schema.py again: python -m nobrakes.db.tables > nobrakes/db/schema.py
"""

import textwrap

from sqlalchemy import Index, text
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable
from sqlmodel import Field, SQLModel

from .fast import CLAIMABLE, EPIC_COMPLETE, ESTIMATED, FEATURE_GOES_ON, GOING, PROPOSED, REVIEWABLE, WAITS

# The tables of features and their plans' reviews, declared (see tables.py).


class FeatureRow(SQLModel, table=True):
    """A feature; its id is its epic's, which has title and description. JSON in `criteria`, `files` and `data`."""

    __tablename__ = "features"
    __table_args__ = (
        Index("features_going", text("id"), sqlite_where=text(FEATURE_GOES_ON)),
        Index("features_of_session", text("session"), sqlite_where=text("session IS NOT NULL")),
    )

    id: str = Field(primary_key=True, foreign_key="beads.id")
    criteria: str
    files: str
    notes: str
    base: str
    stage: str
    state: str
    replannings: int
    session: int | None = Field(default=None, foreign_key="sessions.id")
    plan: int
    round: int
    clean: int
    turn_at: float
    created_at: float
    updated_at: float
    archived: bool
    actor: str
    data: str


class PlanVersionRow(SQLModel, table=True):
    """A plan as it was when its Shaper called it whole; rows are only ever added."""

    __tablename__ = "plan_versions"

    feature: str = Field(primary_key=True, foreign_key="features.id")
    number: int = Field(primary_key=True)
    at: float
    actor: str
    why: str
    beads: str


class PlanReviewRow(SQLModel, table=True):
    """One reviewer's look at one version of a plan; one for each round and domain."""

    __tablename__ = "plan_reviews"
    __table_args__ = (Index("plan_reviews_of_session", text("session"), sqlite_where=text("session IS NOT NULL")),)

    feature: str = Field(primary_key=True, foreign_key="features.id")
    round: int = Field(primary_key=True)
    domain: str = Field(primary_key=True)
    plan: int
    session: int | None = Field(default=None, foreign_key="sessions.id")
    state: str
    started_at: float
    ended_at: float | None = None
    detail: str


class FindingRow(SQLModel, table=True):
    """What a reviewer found; the question about it is an escalation."""

    __tablename__ = "findings"
    __table_args__ = (
        Index("findings_of_round", text("feature"), text("round"), text("id")),
        Index("findings_asked", text("escalation"), sqlite_where=text("escalation IS NOT NULL")),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True)
    feature: str = Field(foreign_key="features.id")
    round: int
    domain: str
    category: str
    priority: int
    issue: str
    impact: str
    options: str
    bead: str | None = None
    state: str
    escalation: int | None = Field(default=None, foreign_key="escalations.id")
    answer: str


class ItemRow(SQLModel, table=True):
    """What is collected for a feature's next checkpoint; `place` is what makes two the same."""

    __tablename__ = "items"
    __table_args__ = (
        Index("items_of_place", text("feature"), text("place"), unique=True),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True)
    feature: str = Field(foreign_key="features.id")
    kind: str
    text: str
    file: str
    line: int
    bead: str | None = None
    blocks: bool
    state: str
    at: float
    place: str


# The tables of a project's sprints, declared (see tables.py).


class SprintRunRow(SQLModel, table=True):
    """A person's yes for some sprints; JSON in `terms`. One of a repository goes on at a time."""

    __tablename__ = "sprint_runs"
    __table_args__ = (
        Index("sprint_runs_going", text("state"), unique=True, sqlite_where=text("state = 'going'")),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True)
    asked: int
    needs_tests: bool
    terms: str
    state: str
    why: str
    actor: str
    created_at: float
    updated_at: float


class SprintRow(SQLModel, table=True):
    """A sprint, by its number."""

    __tablename__ = "sprints"
    __table_args__ = (
        Index("sprints_of_bead", text("bead"), sqlite_where=text("bead IS NOT NULL")),
        Index("sprints_of_session", text("session"), sqlite_where=text("session IS NOT NULL")),
    )

    number: int = Field(primary_key=True)
    run: int = Field(foreign_key="sprint_runs.id")
    name: str
    stage: str
    session: int | None = Field(default=None, foreign_key="sessions.id")
    bead: str | None = Field(default=None, foreign_key="beads.id")
    opening: str | None = Field(default=None, foreign_key="beads.id")
    closing: str | None = Field(default=None, foreign_key="beads.id")
    nudged: int
    began_at: float
    ended_at: float | None = None


class SprintDocumentRow(SQLModel, table=True):
    """What an agent handed in for a sprint's documents; rows are only ever added."""

    __tablename__ = "sprint_documents"
    __table_args__ = (
        Index("sprint_documents_of", text("sprint"), text("id")),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True)
    sprint: int = Field(foreign_key="sprints.number")
    kind: str
    text: str
    actor: str
    at: float


class ScheduleRow(SQLModel, table=True):
    """Sprints that begin at a time; JSON in `terms`. `days` are joined by commas."""

    __tablename__ = "schedules"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: int | None = Field(default=None, primary_key=True)
    at: str
    days: str
    zone: str
    sprints: int
    late_hours: float
    needs_tests: bool
    terms: str
    actor: str
    created_at: float
    removed_at: float | None = None


class ScheduleStartRow(SQLModel, table=True):
    """What came of a due time: schedule and time are the key, so that it comes once."""

    __tablename__ = "schedule_starts"

    schedule: int = Field(primary_key=True, foreign_key="schedules.id")
    due: float = Field(primary_key=True)
    came: str
    why: str
    run: int | None = Field(default=None, foreign_key="sprint_runs.id")
    at: float


# The tables of sessions, notices and requests, declared (see tables.py).


class SessionRow(SQLModel, table=True):
    """One conversation with an agent CLI. `attempt` holds it, or held it last; `provider_session` is the CLI's own id.

    `disputed`: agents of two owners said that it is theirs, so nobody goes on with it.
    """

    __tablename__ = "sessions"
    __table_args__ = (
        Index("sessions_by_provider_session", text("provider_session"), unique=True),
        Index("sessions_going", text("id"), sqlite_where=text(GOING)),
        Index("sessions_reading", text("owner"), text("id"), sqlite_where=text("kind = 'code_review'")),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True)
    kind: str
    owner: str
    title: str
    agent: str
    provider: str
    model: str
    provider_session: str | None = None
    begun: bool
    disputed: bool
    attempt: int | None = None
    state: str
    failures: int
    retry_at: float | None = None
    stop_asked: bool
    detail: str
    cost_usd: float
    tokens: int
    created_at: float
    updated_at: float
    ended_at: float | None = None
    data: str


class TurnRow(SQLModel, table=True):
    """What a session did between two waits: one run of its agent. Ended when `outcome` is set."""

    __tablename__ = "turns"
    __table_args__ = (
        Index("turns_of_session", text("session"), text("number"), unique=True),
        Index("turns_open", text("session"), unique=True, sqlite_where=text("outcome IS NULL")),
        Index("turns_by_time", text("started_at")),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True)
    session: int = Field(foreign_key="sessions.id")
    number: int
    token: str
    resumes: bool
    provider: str
    started_at: float
    ended_at: float | None = None
    outcome: str | None = None
    detail: str
    cost_usd: float
    tokens: int
    data: str


class MessageRow(SQLModel, table=True):
    """What was said in a session; `turn` is the turn that was told of it, or that said it. Null: it waits for one."""

    __tablename__ = "messages"
    __table_args__ = (
        Index("messages_of_session", text("session"), text("id")),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True)
    session: int = Field(foreign_key="sessions.id")
    author: str
    at: float
    text: str
    turn: int | None = Field(default=None, foreign_key="turns.id")
    escalation: int | None = Field(default=None, foreign_key="escalations.id")  # the question that it answers


class NoticeRow(SQLModel, table=True):
    """Something that people should learn of, wherever they are. `open`: it is told again while nobody saw to it."""

    __tablename__ = "notices"
    __table_args__ = (
        Index("notices_by_fingerprint", text("fingerprint"), text("created_at")),
        Index("notices_unrouted", text("id"), sqlite_where=text("routed = 0")),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True)
    kind: str
    severity: str
    text: str
    bead: str | None = None
    session: int | None = None
    escalation: int | None = None
    link: str
    fingerprint: str
    created_at: float
    routed: bool
    told_at: float | None = None


class DeliveryRow(SQLModel, table=True):
    """A notice on its way through one channel: due at `due_at`, or ended in `state`. `digest`: told in that one's."""

    __tablename__ = "deliveries"
    __table_args__ = (
        Index("deliveries_due", text("channel"), text("due_at"), sqlite_where=text("state = 'due'")),
        Index("deliveries_of_notice", text("notice")),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True)
    notice: int = Field(foreign_key="notices.id")
    channel: str
    state: str
    due_at: float
    tries: int
    ended_at: float | None = None
    error: str
    digest: int | None = None


class RequestRow(SQLModel, table=True):
    """A command that was given with a key of its own, and what came of it: given again, it does nothing again."""

    __tablename__ = "requests"
    __table_args__ = (Index("requests_by_time", text("at")),)

    key: str = Field(primary_key=True)
    command: str
    actor: str
    at: float
    result: str


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
    """What one provider came to for one owner (beads.model), as long as it came to nothing. No row: it is closed."""

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
        '"""The database\'s schema. Generated from tables.py (`python -m nobrakes.db.tables`): do not edit."""\n\n'
        f'VERSION = 8\n\nSCHEMA = """\\\n{ddl()}"""\n'
    )


if __name__ == "__main__":
    print(schema_module(), end="")
