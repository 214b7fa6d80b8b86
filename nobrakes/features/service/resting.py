"""A feature held still, let go, or asked for a checkpoint. It imports little: `answer` loads it."""

from typing import TYPE_CHECKING

from ...beads.model import CLOSED, Status
from ...events.kinds import Event, Kind
from .. import model as keys
from ..actions import PAUSED
from ..model import Feature, Stage, require
from ..plan_beads import steps_under

if TYPE_CHECKING:
    from ...store import Store


def hold(store: "Store", feature: str, actor: str) -> tuple[str, ...]:
    """Hold its live beads that are not held yet, in the caller's transaction; which."""
    done = []
    for bead in steps_under(store, feature):
        if bead.held is None and bead.status not in (Status.DRAFT, *CLOSED):
            store.record(Event(Kind.HELD, bead.id, actor=actor, data={"reason": PAUSED.format(feature=feature)}))
            done.append(bead.id)
    return tuple(done)


def let_go(store: "Store", feature: str, actor: str) -> tuple[str, ...]:
    """Let go what is held for that alone; which."""
    held = [bead.id for bead in steps_under(store, feature) if bead.held == PAUSED.format(feature=feature)]
    for id_ in held:
        store.record(Event(Kind.RELEASED, id_, actor=actor))
    return tuple(held)


def checkpoint(store: "Store", id_: str, actor: str) -> Feature:
    """Ask for it; the daemon does it once no other feature is being planned. NoSuchFeature, NotAllowed."""
    with store.write():
        feature = store.feature(id_)
        require(feature, Stage.IMPLEMENTATION, "a checkpoint is of what is being built")
        return store.note_feature(id_, {keys.CHECKPOINT_ASKED: True}, actor)
