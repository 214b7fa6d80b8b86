"""The part of the port `Store` that views ask: counts, columns, what is ready, what happened since."""

from collections.abc import Iterable, Mapping, Sequence

from ..core.beads.bead import Bead, Dependency, Status
from ..core.graph.links import Node
from ..core.standstill import Standstill
from . import standstill, view_queries
from .beads import longest_chain
from .database import Database


class Questions:
    """Questions of views on one database, never answered from the whole graph."""

    _db: Database

    def touched(self, after: int | None, since: float | None) -> tuple[int, float, list[str]]:
        """What happened since a moment."""
        return view_queries.touched(self._db, after, since)

    def counts(self) -> Mapping[str, int]:
        """How many beads stand in each column of the board."""
        return view_queries.counts(self._db)

    def column(self, name: str, limit: int) -> list[Node]:
        """The first beads of a column."""
        return view_queries.column(self._db, name, limit)

    def around(self, beads: Sequence[str]) -> tuple[list[Node], list[Dependency]]:
        """What decides whether these beads are ready."""
        return view_queries.around(self._db, beads)

    def longest_chain(self, limit: int | None = None) -> list[str]:
        """The longest chain of live work by estimate, first bead first."""
        return longest_chain.longest_chain(self._db, limit)

    def levels(self, beads: Iterable[str]) -> dict[str, int]:
        """The minutes of the longest chain behind each."""
        return view_queries.levels(self._db, beads)

    def by_priority(self, statuses: Iterable[Status] = (), epic: str | None = None) -> list[tuple[int, str]]:
        """(priority, id) of each bead that fits."""
        return view_queries.by_priority(self._db, statuses, epic)

    def ready(self, limit: int) -> list[Bead]:
        """The first ready beads in the Assigner's order."""
        return view_queries.ready(self._db, limit)

    def standstill(self) -> Standstill:
        """Who stands still until a person, or a time, lets it go on."""
        return standstill.standstill(self._db)
