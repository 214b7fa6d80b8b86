"""The part of the port `Store` that people see to: escalations."""

from ..core.beads.bead import Status
from ..core.beads.escalations import Escalation
from ..ports import NewEscalation
from . import escalations
from .database import Database


class People:
    """Escalations on one database: asked once, answered once."""

    _db: Database

    def escalate(self, new: NewEscalation, bead: str | None, attempt: int | None, actor: str) -> Escalation:
        """File an escalation, or return the open one that is the same."""
        return escalations.escalate(self._db, new, bead, attempt, actor)

    def escalations(self, open_only: bool = True, bead: str | None = None) -> list[Escalation]:
        """Escalations, those that most beads wait for first."""
        return escalations.listed(self._db, open_only, bead)

    def escalations_as_filed(self) -> list[Escalation]:
        """All of them by number, uncounted."""
        return escalations.as_filed(self._db)

    def escalation(self, number: int) -> Escalation:
        """One escalation."""
        return escalations.escalation(self._db, number)

    def answer(self, number: int, text: str, actor: str) -> Escalation:
        """Answer and resolve, exactly once."""
        return escalations.answer(self._db, number, text, actor)

    def resolve(self, number: int, resolution: str, actor: str, to: Status | None = None) -> Escalation:
        """Resolve, exactly once."""
        return escalations.resolve(self._db, number, resolution, actor, to)
