"""The Reviewer's work, for people who look back."""

from sqlmodel import col, select

from ...core.beads.attempt import Attempt
from ...core.beads.bead import Role
from .. import rows
from ..database import Database
from ..tables import AttemptRow
from .statements import rows_of


def latest(db: Database, limit: int) -> list[Attempt]:
    """The Reviewer's latest attempts, newest first."""
    wanted = select(AttemptRow).where(AttemptRow.role == Role.REVIEWER.value).order_by(col(AttemptRow.id).desc())
    return [rows.attempt({**dict(row), "provider_session": None}) for row in rows_of(db, wanted.limit(limit))]
