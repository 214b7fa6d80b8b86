"""The plan of a feature: the beads under its epic, as a plan file would have them; held, let go, or checked.

It imports little: `answer` loads it.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..beads.model import CLOSED, CONTENT, Bead, BeadType, DependencyType, Status
from ..beads.proposals import CANCEL, LISTS, plain
from ..events.kinds import Event, Kind
from .model import CHECKPOINT_ASKED, HELD_WITH, Feature, Stage, require

if TYPE_CHECKING:
    from ..store import Store


_USUAL: Mapping[str, Any] = {
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
        if name not in _USUAL or value != _USUAL[name]:
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


def hold(store: "Store", feature: str, actor: str) -> tuple[str, ...]:
    """Hold its live beads that are not held yet, in the caller's transaction; which."""
    done = []
    for bead in steps_under(store, feature):
        if bead.held is None and bead.status not in (Status.DRAFT, *CLOSED):
            store.record(Event(Kind.HELD, bead.id, actor=actor, data={"reason": HELD_WITH.format(feature=feature)}))
            done.append(bead.id)
    return tuple(done)


def let_go(store: "Store", feature: str, actor: str) -> tuple[str, ...]:
    """Let go what is held for that alone; which."""
    held = [bead.id for bead in steps_under(store, feature) if bead.held == HELD_WITH.format(feature=feature)]
    for id_ in held:
        store.record(Event(Kind.RELEASED, id_, actor=actor))
    return tuple(held)


def checkpoint(store: "Store", id_: str, actor: str) -> Feature:
    """Ask for it; the daemon does it once no other feature is being planned. NoSuchFeature, NotAllowed."""
    with store.write():
        feature = store.feature(id_)
        require(feature, Stage.IMPLEMENTATION, "a checkpoint is of what is being built")
        return store.note_feature(id_, {CHECKPOINT_ASKED: True}, actor)
