"""A person asks for a checkpoint of a feature that is built: what was collected goes to its plan now."""

from ...core.forge import data_keys as keys
from ...core.forge.feature import Feature, Stage, require
from ...ports import Store


def checkpoint(store: Store, id_: str, actor: str) -> Feature:
    """Ask for it; the daemon does it once no other feature is being planned. NoSuchFeature, NotAllowed."""
    with store.together():
        feature = store.feature(id_)
        require(feature, Stage.IMPLEMENTATION, "a checkpoint is of what is being built")
        return store.note_feature(id_, {keys.CHECKPOINT_ASKED: True}, actor)
