"""The plan of a feature: the beads under its epic, as a plan file would have them; held, let go, or checked.

It imports little: `answer` loads it.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..beads.model import CLOSED, CONTENT, Bead, BeadType, DependencyType, Status
from ..beads.proposals import CANCEL, LISTS, plain
from ..events.kinds import Event, Kind
from ..text.cleaning import count
from . import model as keys
from . import rounds
from .model import Feature, Rules, Stage, State, Step, require

if TYPE_CHECKING:
    from ..store import Store


_DEFAULTS: Mapping[str, Any] = {
    name: plain(getattr(Bead("x", "x"), name)) for name in CONTENT if name not in ("title", "type", "needs_tests")
}


def under(store: "Store", epic: str) -> list[str]:
    """The beads under the epic, those of epics in it too, by priority; the epic itself left out."""
    found: list[str] = []
    waiting, seen = [epic], {epic}
    while waiting:
        inside = [id_ for _, id_ in sorted(store.by_priority(epic=waiting.pop(0))) if id_ not in seen]
        seen.update(inside)
        found += inside
        waiting += inside
    return found


def beads_under(store: "Store", epic: str) -> list[Bead]:
    """The beads under the epic, those of epics in it too."""
    ids = under(store, epic)
    return store.beads(ids=ids) if ids else []


def steps_under(store: "Store", epic: str) -> list[Bead]:
    """The beads under the epic that are work: epics are left out."""
    return [bead for bead in beads_under(store, epic) if bead.type is not BeadType.EPIC]


def epics_above(store: "Store", bead: Bead) -> list[str]:
    """The epics that the bead lies in, the nearest first."""
    found: list[str] = []
    epic = bead.epic
    while epic is not None and epic not in found:
        found.append(epic)
        epic = store.bead(epic).epic
    return found


def nodes_of(store: "Store", epic: str) -> list[dict[str, Any]]:
    """The plan as it lies now: one node a bead, by id, with `status` and what is proposed for live ones (`proposed`).

    A draft that is cancelled is no part of it; fields that are as they usually are are left out.
    """
    return [_node(store, bead) for bead in beads_under(store, epic) if bead.status is not Status.CANCELLED]


def _node(store: "Store", bead: Bead) -> dict[str, Any]:
    node: dict[str, Any] = {"id": bead.id, "status": bead.status.value}
    for name in CONTENT:
        value = plain(getattr(bead, name))
        if name not in _DEFAULTS or value != _DEFAULTS[name]:
            node[name] = value
    edges = [edge for edge in store.dependencies(bead.id) if edge.bead == bead.id]
    for word, kind in LISTS.items():
        if kind is not DependencyType.PARENT_CHILD and (needs := sorted(e.needs for e in edges if e.type is kind)):
            node[word] = needs
    if bead.proposed:
        node["proposed"] = {part: kept["after"] for part, kept in sorted(bead.proposed.items())}
    return node


def is_dropped(node: Mapping[str, Any]) -> bool:
    """Whether the plan gives the bead up."""
    return bool(node.get("proposed", {}).get(CANCEL))


def is_as_kept(store: "Store", feature: Feature) -> bool:
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


def unsigned(store: "Store", drafts: Collection[str]) -> Feature | None:
    """The first feature of these drafts whose plan nobody signed off as it lies.

    A plan that its Shaper never called whole was under no review: the yes of commit-strategy is enough for it.
    """
    named = set(drafts)
    for feature in store.features():
        if feature.stage not in keys.PLANNED or not feature.plan:
            continue
        if not named.intersection((feature.id, *under(store, feature.id))):
            continue
        signed = feature.data.get(keys.SIGNED)
        if not signed or int(signed["version"]) != feature.plan or not is_as_kept(store, feature):
            return feature
    return None


YES = "nobrakes commit-strategy"


def approval(store: "Store", rules: Rules) -> tuple[str, str]:
    """What to type for all that waits for a yes, and what comes before `commit-strategy` (empty: nothing)."""
    waits = {id_ for _, id_ in store.by_priority([Status.DRAFT])} | {one.id for one in store.proposed()}
    feature = unsigned(store, waits)
    return (YES, "") if feature is None else to_sign(store, rules, feature)


def to_sign(store: "Store", rules: Rules, feature: Feature) -> tuple[str, str]:
    """What to type for a plan that is not signed off, as it is accepted now, and why."""
    id_, what = feature.id, f"the plan of feature {feature.id} is not signed off"
    if feature.state is not State.ACTIVE:
        may = Step.RESUMED in keys.STATES[feature.state] and keys.ROLLBACK not in feature.data
        may = may and not any(one.has_turn and one.id != id_ for one in store.features())
        state = feature.state.value.replace("_", " ")
        return f"nobrakes forge {'resume' if may else 'show'} {id_}", f"{what}, and it is {state}"
    if feature.stage is not Stage.REVIEW or not is_as_kept(store, feature):
        return f"nobrakes forge show {id_}", f"{what}, and its Shaper is at it"
    from . import planning

    seen = planning.tracker(rules, feature, store.plan_reviews(feature.id), store.findings(feature.id))
    if seen.iterations and seen.iterations[-1].end is rounds.End.RUNNING:
        return f"nobrakes forge reviews {id_}", f"{what}, and it is under review"
    few = rounds.warning(seen)
    more = (" --take-risk" if few else "") + (' --reason "…"' if seen.open else "")
    return f"nobrakes forge sign-off {id_}{more}", f"{what}; {few or count(seen.done, 'review')} done so far"


def hold(store: "Store", feature: str, actor: str) -> tuple[str, ...]:
    """Hold its live beads that are not held yet, in the caller's transaction; which."""
    done = []
    for bead in steps_under(store, feature):
        if bead.held is None and bead.status not in (Status.DRAFT, *CLOSED):
            store.record(
                Event(Kind.HELD, bead.id, actor=actor, data={"reason": keys.HELD_WITH.format(feature=feature)})
            )
            done.append(bead.id)
    return tuple(done)


def let_go(store: "Store", feature: str, actor: str) -> tuple[str, ...]:
    """Let go what is held for that alone; which."""
    held = [bead.id for bead in steps_under(store, feature) if bead.held == keys.HELD_WITH.format(feature=feature)]
    for id_ in held:
        store.record(Event(Kind.RELEASED, id_, actor=actor))
    return tuple(held)


def checkpoint(store: "Store", id_: str, actor: str) -> Feature:
    """Ask for it; the daemon does it once no other feature is being planned. NoSuchFeature, NotAllowed."""
    with store.write():
        feature = store.feature(id_)
        require(feature, Stage.IMPLEMENTATION, "a checkpoint is of what is being built")
        return store.note_feature(id_, {keys.CHECKPOINT_ASKED: True}, actor)
