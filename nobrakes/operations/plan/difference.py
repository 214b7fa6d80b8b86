"""From a plan and the graph as it is to what has to be written; nothing is written here.

1. A node whose id exists is an update of the fields that it names; every other node is a new bead.
2. A list of dependencies that a node gives is the whole list of that type; one that it does not give stays.
3. The graph as it would be is looked at whole, so that every circle and every missing bead is told at once.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...core.beads import lifecycle
from ...core.beads.bead import Bead, Dependency, DependencyType, Status, check_bead
from ...core.errors import BadBead
from ...core.graph.links import Node, node_of
from ...ports import Store
from ..beads import new_id
from .nodes import Plan, PlanNode, refused

SMALL = 200
"""Up to so many beads a plan is looked at bead by bead; beyond that, with the whole graph at once."""

_LISTS = {
    "needs": DependencyType.BLOCKS,
    "related": DependencyType.RELATED,
    "discovered_from": DependencyType.DISCOVERED_FROM,
}


@dataclass
class Work:
    """What a plan comes to. `ids` are the plan's beads in the plan's order."""

    ids: tuple[str, ...]
    new: dict[str, Bead] = field(default_factory=dict)
    changes: dict[str, dict[str, Any]] = field(default_factory=dict)
    added: set[Dependency] = field(default_factory=set)
    removed: set[Dependency] = field(default_factory=set)
    approved: list[str] = field(default_factory=list)
    before: dict[str, Bead] = field(default_factory=dict)

    @property
    def touched(self) -> set[str]:
        """The beads of before that change."""
        edges = {d.bead for d in self.added | self.removed}
        return (set(self.changes) | edges | set(self.approved)) - set(self.new)

    def take_out(self, edge: Dependency) -> None:
        """Leave a dependency out of the graph, wherever it comes from."""
        if edge.type is DependencyType.PARENT_CHILD:
            if edge.bead in self.new:
                self.new[edge.bead] = replace(self.new[edge.bead], epic=None)
            else:
                self.changes.setdefault(edge.bead, {})["epic"] = None
        elif edge in self.added:
            self.added.discard(edge)
        else:
            self.removed.add(edge)


def work_out(store: Store, plan: Plan, live: bool) -> Work:
    """What the plan changes; PlanError names every problem that it has with the graph."""
    named = _named(plan)
    before = {bead.id: bead for bead in store.beads(ids=named)} if named else {}
    names, ids = _identities(store, plan, frozenset(before))
    work = Work(tuple(ids), before={id_: before[id_] for id_ in ids if id_ in before})
    edges: defaultdict[tuple[str, DependencyType], set[str]] = defaultdict(set)
    for dependency in _dependencies(store, work.before):
        edges[dependency.bead, dependency.type].add(dependency.needs)
    problems: list[str] = []
    known = frozenset(before) | frozenset(ids)
    now = store.now()
    for node, id_ in zip(plan.nodes, ids, strict=True):
        fields = dict(node.fields)
        if fields.get("epic") is not None:
            fields["epic"] = names.get(fields["epic"], fields["epic"])
            _reference(problems, node, "epic", fields["epic"], id_, known)
        for key, kind in _LISTS.items():
            wanted = getattr(node, key)
            if wanted is None:
                continue
            needs = {names.get(name, name) for name in wanted}
            for other in sorted(needs):
                _reference(problems, node, key, other, id_, known)
            had = edges[id_, kind]
            work.added |= {Dependency(id_, other, kind) for other in needs - had}
            work.removed |= {Dependency(id_, other, kind) for other in had - needs}
        try:
            if id_ in before:
                _update(work, before[id_], node, fields, live)
            else:
                _create(work, id_, node, fields, live, now)
        except BadBead as error:
            problems.append(f"{node.where}: {error}")
    if problems:
        raise refused(plan.source, problems)
    return work


def _named(plan: Plan) -> set[str]:
    """Every name in the plan that may be the id of a bead."""
    found = {node.id for node in plan.nodes if node.id} | {str(node.fields.get("epic") or "") for node in plan.nodes}
    for node in plan.nodes:
        for key in _LISTS:
            found.update(getattr(node, key) or ())
    return found - {""}


def _dependencies(store: Store, beads: Collection[str]) -> list[Dependency]:
    """The dependencies of these beads, and perhaps more: many are read faster all at once."""
    if len(beads) > SMALL:
        return store.dependencies()
    return [dependency for bead in beads for dependency in store.dependencies(bead) if dependency.bead == bead]


def _identities(store: Store, plan: Plan, existing: frozenset[str]) -> tuple[dict[str, str], list[str]]:
    """(key to id, the id of each node)."""
    taken = existing | {node.id for node in plan.nodes if node.id}
    names: dict[str, str] = {}
    ids = []
    for node in plan.nodes:
        id_ = node.id
        if id_ is None:
            id_ = new_id(store, str(node.fields.get("title", "")), frozenset(taken))
            taken = taken | {id_}
        ids.append(id_)
        if node.key:
            names[node.key] = id_
    return names, ids


def _reference(problems: list[str], node: PlanNode, key: str, other: str, own: str, known: frozenset[str]) -> None:
    if other == own:
        problems.append(f"{node.where}.{key}: bead {own} names itself")
    elif other not in known:
        problems.append(f"{node.where}.{key}: there is no bead '{other[:80]}', neither here nor in the graph")


def _create(work: Work, id_: str, node: PlanNode, fields: Mapping[str, Any], live: bool, now: float) -> None:
    if "title" not in fields:
        raise BadBead("title: is missing (no bead has this id yet)")
    bead = Bead(id=id_, held=node.hold, defer_until=node.defer_until, **fields, **node.facts)
    if node.status == "done" or node.status == "cancelled":
        bead = lifecycle.closed(bead, Status(node.status), now)
    elif node.status == "live" or (live and node.status is None):
        bead = lifecycle.live(bead)
    else:
        bead = lifecycle.draft(bead)
    check_bead(bead)
    work.new[id_] = bead


def _update(work: Work, bead: Bead, node: PlanNode, fields: Mapping[str, Any], live: bool) -> None:
    changes = {name: value for name, value in fields.items() if getattr(bead, name) != value}
    if changes:
        check_bead(replace(bead, **changes))
        work.changes[bead.id] = changes
    if bead.status is Status.DRAFT and (node.status == "live" or (live and node.status is None)):
        work.approved.append(bead.id)


def neighbourhood(store: Store, work: Work) -> tuple[list[Node], list[Dependency]]:
    """What decides about the plan's beads, once it is written: with the plan's drafts approved."""
    nodes, edges = store.around(work.ids)
    drafts = {node.id for node in nodes if node.status is Status.DRAFT} & set(work.ids)
    live = {bead.id: lifecycle.live(bead).status for bead in (store.beads(ids=drafts) if drafts else ())}
    return [node._replace(status=live[node.id]) if node.id in live else node for node in nodes], edges


def graph_after(store: Store, work: Work) -> tuple[list[Node], list[Dependency]]:
    """The whole graph as it would be, with the plan's drafts approved."""
    nodes = {node.id: node for node in store.nodes()}
    for id_ in work.ids:
        bead = work.new.get(id_) or replace(work.before[id_], **work.changes.get(id_, {}))
        if bead.status is Status.DRAFT:
            bead = lifecycle.live(bead)
        nodes[id_] = node_of(bead)
    for id_ in set(work.changes) - set(work.ids):
        nodes[id_] = nodes[id_]._replace(**work.changes[id_])
    edges = {d for d in store.dependencies() if d.type is not DependencyType.PARENT_CHILD}
    return sorted(nodes.values(), key=lambda node: node.id), sorted(
        (edges | work.added) - work.removed, key=lambda d: (d.bead, d.type.value, d.needs)
    )


def write(store: Store, work: Work, actor: str) -> None:
    """Bring it into the store, in one transaction."""
    with store.together():
        for edge in _sorted(work.removed):
            store.remove_dependency(edge, actor)
        new = list(work.new.values())
        if work.changes:
            store.put(new, [], actor)
            for id_, changes in work.changes.items():
                store.change(id_, changes, actor)
            store.put([], _sorted(work.added), actor)
        elif new or work.added:
            store.put(new, _sorted(work.added), actor)
        if work.approved:
            store.approve(work.approved, actor)


def _sorted(edges: set[Dependency]) -> list[Dependency]:
    return sorted(edges, key=lambda d: (d.bead, d.type.value, d.needs))
