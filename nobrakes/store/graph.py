"""The part of the port `Store` that is the graph: beads, dependencies, and what is asked of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..core.beads.bead import Bead, Dependency, Status
from ..core.beads.events import Kind
from ..core.graph.links import Node
from ..core.graph.usual import Usual
from ..ports.graph import Alike, Said
from . import alike, view_queries
from .beads import comparing, edits, planning, priority_levels, proposals, usual, whole
from .database import Database


class Graph:
    """Beads and dependencies on one database. Each method is one transaction of the module that it names."""

    _db: Database

    def put(self, beads: Sequence[Bead], dependencies: Sequence[Dependency], actor: str) -> None:
        """Add beads and dependencies in one transaction."""
        planning.put(self._db, beads, dependencies, actor)

    def change(self, bead: str, fields: Mapping[str, Any], actor: str) -> Bead:
        """Set content fields by name."""
        return edits.change(self._db, bead, fields, actor)

    def add_dependency(self, dependency: Dependency, actor: str) -> None:
        """Add one dependency; a parent-child one sets `epic`."""
        planning.add_dependency(self._db, dependency, actor)

    def remove_dependency(self, dependency: Dependency, actor: str) -> None:
        """Remove one dependency; a parent-child one clears `epic`."""
        planning.remove_dependency(self._db, dependency, actor)

    def propose(
        self,
        bead: str,
        parts: Mapping[str, Mapping[str, Any] | None],
        actor: str,
        kind: Kind = Kind.CHANGE_PROPOSED,
        why: str = "",
    ) -> Bead:
        """Set parts of what is proposed for the bead, or take them away."""
        return proposals.propose(self._db, bead, parts, actor, kind, why)

    def proposed(self) -> list[Bead]:
        """The beads for which something is proposed."""
        return proposals.proposed(self._db)

    def alike(self, ids: Iterable[str] | None = None) -> Iterator[Alike]:
        """Those of these beads (None: of all) that are there, by id order, as they are written down."""
        return alike.alike(self._db, ids)

    def learn(self) -> bool:
        """Keep what beads without an estimate take as a rule by now; whether that changed."""
        return priority_levels.relearn(self._db)

    def usual(self) -> Usual:
        """What is to be expected of beads without an estimate."""
        return usual.usual(self._db)

    def as_said(self, said: Sequence[Said]) -> dict[str, Status]:
        """Of these the beads that are there as is said, with their status."""
        return comparing.as_said(self._db, said)

    def ready_once_approved(self, beads: Sequence[str]) -> list[str]:
        """Of these the beads that could be started, were the drafts among them approved."""
        return comparing.ready_once_approved(self._db, beads)

    def stack(self, bead: str, on: str | None) -> None:
        """The bead is worked on on top of the open request of this blocker of it; None: it waits for all of them."""
        planning.stack(self._db, bead, on)

    def stacked(self) -> list[tuple[str, str]]:
        """The beads that stack, each with the one on whose request."""
        return planning.stacked(self._db)

    def levels_lag(self) -> bool:
        """Whether levels lag behind the graph."""
        return priority_levels.is_due(self._db)

    def bead(self, bead: str) -> Bead:
        """One bead, whole."""
        return planning.bead(self._db, bead)

    def beads(self, statuses: Iterable[Status] = (), ids: Iterable[str] = ()) -> list[Bead]:
        """Beads by id order; statuses and ids both narrow it down."""
        return view_queries.beads(self._db, statuses, ids)

    def nodes(self) -> list[Node]:
        """Every bead without its texts, by id order."""
        return whole.all_nodes(self._db)

    def dependencies(self, bead: str | None = None) -> list[Dependency]:
        """All dependencies, parents among them, or those that touch `bead`; sorted."""
        return whole.all_dependencies(self._db) if bead is None else view_queries.dependencies(self._db, bead)
