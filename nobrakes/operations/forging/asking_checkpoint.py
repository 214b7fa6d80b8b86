"""A person asks for a checkpoint of a feature that is built: what was collected goes to its plan now."""

from ...core.errors import NotAllowed
from ...core.forge import data_keys as keys
from ...core.forge.feature import Feature, Stage, State
from ...ports import Store


def checkpoint(store: Store, id_: str, actor: str) -> Feature:
    """Ask for it; the daemon does it once no other feature is being planned. NoSuchFeature, NotAllowed."""
    with store.together():
        feature = store.feature(id_)
        if feature.stage is not Stage.IMPLEMENTATION or feature.state is not State.ACTIVE:
            where = feature.state.value if feature.state is not State.ACTIVE else feature.stage.value
            raise NotAllowed(
                f"feature {id_} is {where.replace('_', ' ')}: a checkpoint is of what is being built",
                f"`nobrakes forge show {id_}` says where it is.",
            )
        return store.note_feature(id_, {keys.CHECKPOINT_ASKED: True}, actor)
