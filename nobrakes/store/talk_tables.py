"""The tables of sessions, notices and requests, declared (see tables.py)."""

from sqlalchemy import Index, text
from sqlmodel import Field, SQLModel

from .conditions import GOING


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
