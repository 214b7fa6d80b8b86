"""The part of the port `Store` that is the machine: runs, settings, and the deciders' board."""

from typing import TYPE_CHECKING, Any

from ..core.beads.attempt import Run
from .database import Database
from .machine import facts

if TYPE_CHECKING:
    from ..core.board import Board, Limits


class Machine:
    """Facts of the machine on one database."""

    _db: Database

    def plan_run(self, run: Run) -> None:
        """Remember that a child is about to be started."""
        facts.plan_run(self._db, run)

    def update_run(self, run: str, **fields: Any) -> None:
        """Set fields of Run by name."""
        facts.update_run(self._db, run, fields)

    def end_run(self, run: str) -> None:
        """Forget the child."""
        facts.end_run(self._db, run)

    def runs(self) -> list[Run]:
        """The children that are planned or alive."""
        return facts.runs(self._db)

    def board(self, limits: "Limits", front: int | None = None) -> "Board":
        """The deciders' snapshot."""
        from . import snapshot as boards  # brings the deciders' modules, and few commands need them

        return boards.board(self._db, limits, front)

    def setting(self, key: str) -> str | None:
        """A small fact of the machine."""
        return facts.setting(self._db, key)

    def set_setting(self, key: str, value: str | None) -> None:
        """Set or remove it."""
        facts.set_setting(self._db, key, value)
