"""A feature that is paused while it is built: no agent begins on its live beads; what is at work comes to its end."""

from ...core.beads.bead import CLOSED, Status
from ...core.beads.events import Event, Kind
from ...core.forge.failing import PAUSED
from ...ports import Store
from ...roles.plan_beads import steps_under


def hold(store: Store, feature: str, actor: str) -> tuple[str, ...]:
    """Hold its live beads that are not held yet, in the caller's transaction; which."""
    done = []
    for bead in steps_under(store, feature):
        if bead.held is None and bead.status not in (Status.DRAFT, *CLOSED):
            store.record(Event(Kind.HELD, bead.id, actor=actor, data={"reason": PAUSED.format(feature=feature)}))
            done.append(bead.id)
    return tuple(done)


def let_go(store: Store, feature: str, actor: str) -> tuple[str, ...]:
    """Let go what is held for that alone; which."""
    held = [bead.id for bead in steps_under(store, feature) if bead.held == PAUSED.format(feature=feature)]
    for id_ in held:
        store.record(Event(Kind.RELEASED, id_, actor=actor))
    return tuple(held)
