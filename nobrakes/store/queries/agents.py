"""Attempts of agents, for people who look back: searched, filtered, sorted, a page at a time."""

from typing import Any

from sqlmodel import col, or_, select

from ...core.beads.attempt import Attempt
from ...core.beads.bead import NO_AGENTS
from ...core.beads.outcomes import Outcome
from .. import rows
from ..database import Database
from ..tables import AttemptRow, BeadTextRow
from .statements import rows_of

_SORTS = {
    "newest": col(AttemptRow.id).desc(),
    "oldest": col(AttemptRow.id),
    "bead": col(AttemptRow.bead),
    "agent": col(AttemptRow.name),
    "cost": col(AttemptRow.cost_usd).desc(),
}
SORTS = tuple(_SORTS)
STATES = ("all", "active", "completed", "failed")


def found(db: Database, words: str, state: str, sort: str, limit: int, offset: int) -> list[Attempt]:
    """At most `limit` attempts that have each word in their bead, its title, their name or their agent.

    `state`: one of STATES; `sort`: one of SORTS, the newest first where they are alike.
    """
    wanted: Any = select(AttemptRow).join(BeadTextRow, col(BeadTextRow.id) == col(AttemptRow.bead))
    wanted = wanted.where(col(AttemptRow.role).not_in([role.value for role in NO_AGENTS]))
    for word in words.split()[:8]:
        like = "%" + word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        columns = (BeadTextRow.title, AttemptRow.bead, AttemptRow.name, AttemptRow.agent)
        wanted = wanted.where(or_(*(col(column).like(like, escape="\\") for column in columns)))
    if state == "active":
        wanted = wanted.where(col(AttemptRow.outcome).is_(None))
    elif state == "completed":
        wanted = wanted.where(AttemptRow.outcome == Outcome.COMPLETED.value)
    elif state == "failed":
        wanted = wanted.where(col(AttemptRow.outcome).is_not(None), AttemptRow.outcome != Outcome.COMPLETED.value)
    wanted = wanted.order_by(_SORTS[sort], col(AttemptRow.id).desc()).limit(limit).offset(offset)
    return [rows.attempt({**dict(row), "provider_session": None}) for row in rows_of(db, wanted)]
