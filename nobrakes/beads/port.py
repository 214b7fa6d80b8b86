"""The part of the door to the facts that is the graph: beads, dependencies, and what is proposed for them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from ..events.kinds import Kind
from .graph import Node, Usual
from .model import Bead, Dependency, Status

Said = tuple[str, Mapping[str, Any], tuple[Sequence[str] | None, Sequence[str] | None, Sequence[str] | None]]
"""What a plan says of a bead: its id, fields by name, and what it depends on by the kinds of
beads.proposals.LISTS (None: nothing is said). A plain tuple: a plan says it a hundred thousand times.
"""


class Alike(NamedTuple):
    """A bead as it is written down: its own texts, what it depends on beside its epic (`<id> <type>`), and a bead
    that is the same in all else, one object for many."""

    id: str
    title: str
    description: str
    acceptance: Sequence[str]
    notes: str
    edges: Sequence[str]
    like: Bead


class Graph(Protocol):
    """Beads and dependencies."""

    def put(self, beads: Sequence[Bead], dependencies: Sequence[Dependency], actor: str) -> None:
        """Add beads (any status) and dependencies in one transaction. Deadlock, BadBead: nothing written."""
        ...

    def change(self, bead: str, fields: Mapping[str, Any], actor: str) -> Bead:
        """Set content fields of Bead by name; NoSuchBead, BadBead, Deadlock (for `epic`)."""
        ...

    def add_dependency(self, dependency: Dependency, actor: str) -> None:
        """Add one dependency; Deadlock names the circle, NoSuchBead a missing end."""
        ...

    def remove_dependency(self, dependency: Dependency, actor: str) -> None:
        """Remove one dependency; nothing happens when it is not there."""
        ...

    def as_said(self, said: Sequence[Said]) -> Mapping[str, Status]:
        """Of these the beads that are there and in all that is said of them as it is said, with their status."""
        ...

    def ready_once_approved(self, beads: Sequence[str]) -> list[str]:
        """Of these the beads that could be started, were the drafts among them approved; in their order."""
        ...

    def stack(self, bead: str, on: str | None) -> None:
        """The bead is worked on on top of the open request of this blocker of it, which keeps it from nothing any
        more; None: it waits for all of them. It ends by itself when that one is done. NoSuchBead.
        """
        ...

    def stacked(self) -> list[tuple[str, str]]:
        """The beads that stack, each with the one on whose request, by id order."""
        ...

    def levels_lag(self) -> bool:
        """Whether levels lag behind the graph: they are settled in parts."""
        ...

    def bead(self, bead: str) -> Bead:
        """One bead, whole; NoSuchBead."""
        ...

    def beads(self, statuses: Iterable[Status] = (), ids: Iterable[str] = ()) -> list[Bead]:
        """Beads by id order; no filter means all of them."""
        ...

    def alike(self, ids: Iterable[str] | None = None) -> Iterator[Alike]:
        """Those of these beads (None: of all) that are there, by id order, read as they are asked for.

        Nothing is written meanwhile.
        """
        ...

    def learn(self) -> bool:
        """Keep what beads without an estimate take as a rule by now (beads.graph); whether that changed."""
        ...

    def usual(self) -> Usual:
        """What is to be expected of beads without an estimate, as the levels are computed with it."""
        ...

    def nodes(self) -> list[Node]:
        """Every bead without its texts, by id order: for questions about the whole graph."""
        ...

    def dependencies(self, bead: str | None = None) -> list[Dependency]:
        """All dependencies, or those that touch `bead` at either end; sorted."""
        ...


class Proposals(Protocol):
    """Changes that wait beside beads for a person's yes (beads.proposals)."""

    def propose(
        self,
        bead: str,
        parts: Mapping[str, Mapping[str, Any] | None],
        actor: str,
        kind: Kind = Kind.CHANGE_PROPOSED,
        why: str = "",
    ) -> Bead:
        """Keep changes beside the bead (beads.proposals.entry) or, with None, take them away.

        `kind` and `why` are what the event says of it. BadBead, NoSuchBead.
        """
        ...

    def proposed(self) -> list[Bead]:
        """The beads for which something is proposed, by id order."""
        ...
