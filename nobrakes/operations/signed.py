"""Whether the plan of a feature was signed off as it lies now: asked before any of it goes live."""

from collections.abc import Collection, Sequence

from ..core.errors import NotAllowed
from ..core.forge import data_keys as keys
from ..core.forge.feature import PLANNED, Feature
from ..ports import Store
from ..roles.plan_beads import nodes_of


def is_as_kept(store: Store, feature: Feature) -> bool:
    """Whether the plan is as its last version has it; what moved of live beads is no change of the plan."""
    kept = store.plan_versions(feature.id)[-1].beads
    return _wanted(nodes_of(store, feature.id)) == _wanted([dict(bead) for bead in kept])


def _wanted(nodes: Sequence[dict[str, object]]) -> list[dict[str, object]]:
    return [
        {name: value for name, value in node.items() if name != "status"}
        for node in nodes
        if node.get("status") == "draft" or node.get("proposed")
    ]


def require(store: Store, drafts: Collection[str]) -> None:
    """NotAllowed where one of the drafts is of a feature whose plan nobody signed off as it lies.

    A plan that its Shaper never called whole was under no review: the yes of commit-strategy is enough for it.
    """
    features = [one for one in store.features() if one.stage in PLANNED and one.plan]
    for feature in features:
        own = {feature.id, *(str(node["id"]) for node in nodes_of(store, feature.id))}
        if not own & set(drafts):
            continue
        signed = feature.data.get(keys.SIGNED)
        if signed and int(signed["version"]) == feature.plan and is_as_kept(store, feature):
            continue
        raise NotAllowed(
            f"the plan of feature {feature.id} ({feature.title[:60]}) is not signed off",
            f"`nobrakes forge show {feature.id}` shows its reviews, `nobrakes forge sign-off {feature.id}` signs it.",
        )
