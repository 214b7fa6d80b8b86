"""A feature is done with its epic: in the same transaction, so that no crash parts the two.

Where something that was collected still waits, a checkpoint comes first: the feature stays where it is.
"""

from ..core.forge.feature import ItemState, Stage, Step
from ..ports import Store


def complete(store: Store, epic: str) -> bool:
    """The epic was completed: so is its feature, if it is one that is built. Whether it is done now."""
    for feature in store.features():
        if feature.id == epic and feature.stage in (Stage.IMPLEMENTATION, Stage.REQUEST):
            if any(item.state is ItemState.WAITING for item in store.items(epic)):
                return False
            store.move_feature(epic, Step.MERGED, "nobrakes", "all beads of its epic are done")
            return True
    return False
