"""The tables of a project's sprints, declared (see tables.py)."""

from sqlalchemy import Index, text
from sqlmodel import Field, SQLModel


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
