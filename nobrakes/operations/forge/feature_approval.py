"""A person's yes to a plan, seen from its feature: in the transaction of commit-strategy, and nowhere else.

1. A feature is approved when something of its plan went live and nothing of it waits any more.
2. Open points of the scan were before the Shaper and the person while it was planned: they are settled with the yes.
"""

from collections.abc import Collection

from ...core.beads.bead import Status
from ...core.forge.feature import PLANNED, Feature, ItemState, Step
from ...ports.store import Store
from ...roles.plan_beads import beads_under, nodes_of


def approved(store: Store, drafts: Collection[str], changes: Collection[str], actor: str) -> tuple[str, ...]:
    """The features that these drafts and changes (BEAD:PART) made whole; they are built from now on."""
    named = {*drafts, *(name.partition(":")[0] for name in changes)}
    if not named:
        return ()
    return tuple(
        one.id for one in store.features() if one.stage in PLANNED and _approve(store, one, frozenset(named), actor)
    )


def _approve(store: Store, feature: Feature, named: frozenset[str], actor: str) -> bool:
    beads = beads_under(store, feature.id)
    if named.isdisjoint(bead.id for bead in beads):
        return False
    if any(bead.status is Status.DRAFT or bead.proposed for bead in beads):
        return False
    if not feature.plan:
        store.keep_plan(feature.id, nodes_of(store, feature.id), "approved by a person", actor)
    points = {item.id for item in store.items(feature.id) if item.blocks}
    store.settle_items(points, ItemState.REVIEWED, actor)
    store.move_feature(feature.id, Step.APPROVED, actor, "its plan was approved")
    return True
