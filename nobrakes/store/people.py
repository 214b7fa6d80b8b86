"""The part of the port `Store` that people see to: escalations."""

from collections.abc import Mapping
from typing import Any

from ..core.beads.bead import Status
from ..core.beads.escalations import Escalation
from ..ports.store import NewEscalation
from . import answers, escalations
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

    def answer(self, number: int, text: str, actor: str, value: Any = None, to: Status | None = None) -> Escalation:
        """Answer and resolve, exactly once."""
        return answers.answer(self._db, number, text, actor, value, to)

    def take_back(self, number: int, actor: str) -> Escalation:
        """Open an answered question again that nobody read."""
        return answers.take_back(self._db, number, actor)

    def act_by(self, answers_: Mapping[int, str], actor: str, attempt: int | None = None) -> bool:
        """Somebody acts by these answers from now on; False: one of them does not stand any more."""
        return answers.act_by(self._db, answers_, actor, attempt)

    def resolve(self, number: int, resolution: str, actor: str, to: Status | None = None) -> Escalation:
        """Resolve, exactly once."""
        return escalations.resolve(self._db, number, resolution, actor, to)
