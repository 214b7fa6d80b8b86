"""The tables of features and their plans' reviews, declared (see tables.py)."""

from sqlalchemy import Index, text
from sqlmodel import Field, SQLModel

from .conditions import FEATURE_GOES_ON


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
