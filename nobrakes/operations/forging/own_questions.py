"""What nobrakes itself asked about a feature, decided by what a person did meanwhile: it is not asked again."""

from collections.abc import Collection

from ...core.forge import data_keys as keys
from ...core.forge.actions import About
from ...core.forge.feature import Feature
from ...ports.store import Store


def settle_questions(
    store: Store, feature: Feature, resolution: str, actor: str, about: Collection[About] = tuple(About)
) -> None:
    """Those about this are decided, where they are open, and forgotten; what was held for them is let go. In the
    caller's transaction.
    """
    asked: dict[str, int] = dict(feature.data.get(keys.ASKED, {}))
    for one in about:
        number = asked.pop(one.value, None)
        if number is not None and store.escalation(number).resolved_at is None:
            store.resolve(number, resolution, actor)
    held = feature.data.get(keys.HELD)
    still = None if held in {one.value for one in about} else held
    store.note_feature(feature.id, {keys.ASKED: asked or None, keys.HELD: still}, actor)
