"""Whether the plan of a feature was signed off as it lies now: asked before any of it goes live."""

from collections.abc import Collection, Iterable, Mapping

from ..core.beads.bead import Status
from ..core.errors import NotAllowed
from ..core.forge import data_keys as keys
from ..core.forge.feature import PLANNED, Feature
from ..ports.store import Store
from ..roles.plan_beads import is_dropped, nodes_of, under


def is_as_kept(store: Store, feature: Feature) -> bool:
    """Whether what of the plan waits for a yes is as the last version has it.

    What is live by now and has no change proposed was approved, or dropped, by a person: no change of the plan.
    """
    kept, nodes = store.plan_version(feature.id), nodes_of(store, feature.id)
    if kept is None:
        return False
    waits = {node["id"] for node in nodes if _waits(node)}
    over = {node["id"] for node in (*nodes, *filter(is_dropped, kept.beads))} - waits
    return _wanted(nodes) == _wanted(node for node in kept.beads if node["id"] not in over)


def _wanted(nodes: Iterable[Mapping[str, object]]) -> list[dict[str, object]]:
    return [{name: value for name, value in node.items() if name != "status"} for node in nodes if _waits(node)]


def _waits(node: Mapping[str, object]) -> bool:
    return node["status"] == Status.DRAFT.value or bool(node.get("proposed"))


def require(store: Store, drafts: Collection[str]) -> None:
    """NotAllowed where one of the drafts is of a feature whose plan nobody signed off as it lies.

    A plan that its Shaper never called whole was under no review: the yes of commit-strategy is enough for it.
    """
    named = set(drafts)
    features = [one for one in store.features() if one.stage in PLANNED and one.plan]
    for feature in features:
        if not named.intersection((feature.id, *under(store, feature.id))):
            continue
        signed = feature.data.get(keys.SIGNED)
        if signed and int(signed["version"]) == feature.plan and is_as_kept(store, feature):
            continue
        raise NotAllowed(
            f"the plan of feature {feature.id} ({feature.title[:60]}) is not signed off",
            f"`nobrakes forge show {feature.id}` shows its reviews, `nobrakes forge sign-off {feature.id}` signs it.",
        )
