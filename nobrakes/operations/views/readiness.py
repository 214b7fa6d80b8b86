"""What can be worked on now, and for every other bead exactly why not."""

from collections.abc import Collection
from typing import NamedTuple

from ...core.beads.bead import Bead
from ...core.errors import NoSuchBead
from ...core.graph.readiness import explain as explain_all
from ...ports.store import Store


class Explained(NamedTuple):
    """Why a bead is ready or not. `whys` are the machine's words for `reasons`, in the same order."""

    bead: str
    ready: bool
    reasons: tuple[str, ...]
    whys: tuple[str, ...] = ()


def ready(store: Store, limit: int = 20) -> list[Bead]:
    """The ready beads in the order in which they will be taken, at most `limit`."""
    return store.ready(limit)


def ready_beyond(store: Store, limit: int) -> int:
    """How many beads are ready beyond the first `limit`."""
    return max(0, store.counts()["ready"] - limit)


def explain(store: Store, ids: Collection[str] | None = None) -> list[Explained]:
    """The reasons of the named beads, or of all, by id; NoSuchBead."""
    # a bead that is asked for by name needs its neighbourhood only: the store lets no circle in
    nodes, dependencies = store.around(tuple(ids)) if ids else (store.nodes(), store.dependencies())
    found = explain_all(nodes, dependencies, store.now())
    for id_ in ids or ():
        if id_ not in found:
            raise NoSuchBead(f"there is no bead '{id_[:80]}'")
    return [
        Explained(id_, not reasons, tuple([r.text for r in reasons]), tuple([r.why for r in reasons]))
        for id_, reasons in found.values()
        if not ids or id_ in ids
    ]
