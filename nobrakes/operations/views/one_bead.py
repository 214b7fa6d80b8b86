"""One bead with everything about it."""

from dataclasses import dataclass, fields

from ...core.beads.attempt import Attempt
from ...core.beads.bead import Bead, Dependency
from ...core.beads.escalations import Escalation
from ...core.pulls import shown
from ...core.pulls.shown import RequestView
from ...ports.store import Store


@dataclass(frozen=True, slots=True)
class WholeBead(Bead):
    """A bead with its dependencies at either end, its attempts, its open escalations and its newest pull request."""

    dependencies: tuple[Dependency, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    escalations: tuple[Escalation, ...] = ()
    request: RequestView | None = None


def whole_bead(store: Store, bead: str) -> WholeBead:
    """The bead; NoSuchBead."""
    found = store.bead(bead)
    pull = store.pull(bead)
    own = {one.name: getattr(found, one.name) for one in fields(Bead)}
    return WholeBead(
        **own,
        dependencies=tuple(store.dependencies(bead)),
        attempts=tuple(store.attempts(bead)),
        escalations=tuple(store.escalations(bead=bead)),
        request=None if pull is None else shown.view(pull),
    )


def neighbours(store: Store, bead: WholeBead) -> dict[str, Bead]:
    """The beads at the other ends of its dependencies, and it itself, by id."""
    ids = {id_ for one in bead.dependencies for id_ in (one.bead, one.needs)}
    return {one.id: one for one in store.beads(ids=ids)} if ids else {}
