"""The part of the port `Store` that is the event log: what happened, what changed since, what is brought back."""

from collections.abc import Iterable
from typing import Any

from ..core.beads.events import Event, Kind
from ..ports.store import Changes, Position, Restored
from . import changes, events, restoring
from .database import Database


class EventLog:
    """The event log on one database."""

    _db: Database

    def changes(self, after: Position, limit: int | None = None) -> Changes:
        """What changed after it, by so many events (None: by all)."""
        return changes.changes(self._db, after, limit)

    def bring_back(self, found: Restored, beyond: int, actor: str) -> dict[str, Any]:
        """Put in what is later than this database, and number events above `beyond`."""
        return restoring.bring_back(self._db, found, beyond, actor)

    def position(self) -> Position:
        """The last event."""
        return changes.position(self._db)

    def events(
        self, after: int = 0, limit: int = 1000, bead: str | None = None, kinds: Iterable[Kind] = ()
    ) -> list[Event]:
        """Events with a greater seq, oldest first."""
        return events.after(self._db, after, limit, bead, kinds)

    def latest_events(
        self, kinds: Iterable[Kind], before: int | None = None, limit: int = 1000, bead: str | None = None
    ) -> list[Event]:
        """Events of these kinds with a smaller seq, newest first."""
        return events.latest(self._db, kinds, before, limit, bead)
