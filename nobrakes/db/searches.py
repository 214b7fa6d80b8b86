"""Attempts, for people who look back: searched, filtered, sorted, a page at a time.

1. Statements are of SQLModel and run on our own connection: its transactions, clock and errors are as everywhere else.
2. SQLModel costs a third of a command's start-up: whoever searches imports this module then.
"""

from typing import Any

from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.sql import ClauseElement
from sqlmodel import col, or_, select

from ..beads.model import NO_AGENTS, Attempt, Outcome, Role
from . import rows
from .database import Database, Row
from .tables import ATTEMPTS, BEAD_TEXTS

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
    """The rows that it finds; a column's key is its name."""
    compiled = statement.compile(dialect=_DIALECT, compile_kwargs={"render_postcompile": True})  # `IN` lists
    values: dict[str, Any] = dict(compiled.params)
    return db.all(str(compiled), values)


def latest(db: Database, limit: int) -> list[Attempt]:
    """The Reviewer's latest attempts, newest first."""
    wanted = select(ATTEMPTS).where(ATTEMPTS.role == Role.REVIEWER.value).order_by(col(ATTEMPTS.id).desc())
    return [rows.attempt({**dict(row), "provider_session": None}) for row in rows_of(db, wanted.limit(limit))]


def agents(db: Database, words: str, state: str, sort: str, limit: int, offset: int = 0) -> list[Attempt]:
    """At most `limit` attempts that have each word in their bead, its title, their name or their agent.

    `state`: one of STATES; `sort`: one of SORTS, the newest first where they are alike.
    """
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
