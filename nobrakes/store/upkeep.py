"""What doctor and rebuild ask of the store, beyond its port."""

from typing import Any

from ..ports.store import Restored
from . import restoring
from .beads import moves, recompute
from .database import Database


class Upkeep:
    """Looking a store over, setting it right and filling it again."""

    _db: Database

    def restore(self, found: Restored, actor: str) -> None:
        """Fill this empty store with what was kept outside of the database."""
        restoring.restore(self._db, found, actor)

    def differences(self) -> dict[str, dict[str, tuple[Any, Any]]]:
        """Bead -> derived column -> (stored, recomputed by core's rules). Empty when all is right."""
        now = self._db.now()
        moves.wake(self._db, now)
        with self._db.read():
            return recompute.differences(self._db, now, lag=True)

    def recount(self) -> int:
        """Set every derived column right; how many beads were wrong."""
        with self._db.write():
            return recompute.recompute(self._db, self._db.now())

    def check(self) -> list[str]:
        """What is wrong: with the file as SQLite sees it, with references, with derived columns. Empty: sound."""
        return recompute.problems(self._db) or recompute.told(self.differences())
