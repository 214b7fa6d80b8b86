"""Plan files: they describe the wanted graph, and nobrakes applies all of a file or nothing.

1. YAML and JSON are plans.nodes, `.jsonl` are Beads records (interop); "-" is standard input.
2. Beads become drafts; `live: true`, the flag, or commit-strategy makes them live. Changes of live beads also wait for
   commit-strategy, unless the flag applies them.
3. A plan with a deadlock is refused, naming every circle and its cut; those can be cut, or previewed (`dry_run`).
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from operator import itemgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..beads import lifecycle
from ..beads.graph import Links, Node, node_of
from ..beads.model import CLOSED, Bead, Dependency, DependencyType, Status, check_bead, new_bead
from ..beads.proposals import CANCEL, LISTS, ProposedChange, Standing, changes_of, entry, overlay, part_of
from ..beads.readiness import Circle, circles, reasons_of
from ..beads.service.bead_commands import freeing_first, new_id, unused_id
from ..errors import BadBead, Deadlock, NobrakesError, PlanError
from ..events.kinds import Kind
from ..features.service.approving import apply_changes, require
from ..features.service.strategy import proposals
from ..pictures.layout import chain_of
from ..records import frozen, grouped
from ..text.cleaning import count
from . import nodes
from .nodes import Plan, PlanNode, plan_of_file, plan_of_records, refused, tidy

if TYPE_CHECKING:
    from ..store import Store


# A node whose id exists is an update of the fields that it names; every other node is a new bead. A list of
# dependencies that a node gives is the whole list of that type. A bead that is live is not changed: what the plan wants
# of it is kept beside it, until a person approves it (`proposals_of`). One that is done or cancelled is left as it is,
# and that is said.
_NOTHING: frozenset[str] = frozenset()
_DEPENDENCY: Callable[[tuple[str, str, DependencyType]], Dependency] = partial(tuple.__new__, Dependency)
SMALL = 200
LARGE = 50_000  # beads of a file up to which a circle names its lines


@dataclass
class Work:
    """A plan's changes. `ids`: its beads in order. `named`: by existing bead: fields, kinds of dependencies, "cancel".
    `at_once`: live beads change like drafts. `problems`: refused wishes. `same`: unchanged beads; other existing ones
    are in `before`."""

    ids: tuple[str, ...]
    at_once: bool = False
    named: dict[str, frozenset[str]] = field(default_factory=dict)
    cancelled: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    new: dict[str, Bead] = field(default_factory=dict)
    changes: dict[str, dict[str, Any]] = field(default_factory=dict)
    added: dict[Dependency, None] = field(default_factory=dict)  # in the plan's order
    removed: set[Dependency] = field(default_factory=set)
    approved: list[str] = field(default_factory=list)
    before: dict[str, Bead] = field(default_factory=dict)
    same: Mapping[str, Status] = field(default_factory=dict)

    @property
    def touched(self) -> set[str]:
        """Existing beads that change now."""
        edges = {edge.bead for edge in self.added} | {edge.bead for edge in self.removed}
        found = (set(self.changes) | edges | set(self.approved)) - set(self.new)
        return {bead for bead in found if self.is_immediate(bead)}

    def is_immediate(self, bead: str) -> bool:
        """Whether the bead is changed directly; else the change is proposed."""
        known = self.before.get(bead)
        status = self.same.get(bead) if known is None else known.status
        return self.at_once or bead in self.new or status is Status.DRAFT

    @property
    def only_adds(self) -> bool:
        """Whether beads and dependencies are only added."""
        return not (self.changes or self.removed or self.cancelled or self.approved)

    def take_out(self, edge: Dependency) -> None:
        """Remove a dependency from the result, whatever its origin."""
        if edge.type is DependencyType.PARENT_CHILD:
            if edge.bead in self.new:
                self.new[edge.bead] = replace(self.new[edge.bead], epic=None)
            else:
                self.changes.setdefault(edge.bead, {})["epic"] = None
        elif edge in self.added:
            del self.added[edge]
        else:
            self.removed.add(edge)


def work_out(store: "Store", plan: Plan, live: bool, at_once: bool = False, take: bool = False) -> Work:
    """The plan's changes; PlanError names every problem with the graph. `take`: the plan's nodes go meanwhile."""
    is_large = len(plan.nodes) > SMALL
    is_first = is_large and not store.how_many()
    same = _same(store, plan, live) if is_large and not is_first else {}
    named = set() if is_first else _named(plan, same)
    if len(named) > SMALL:  # most of them are new
        named.intersection_update(store.listed())
    before = {bead.id: bead for bead in store.beads(ids=named)} if named else {}
    names, ids = _identities(store, plan, frozenset(before))
    work = Work(tuple(ids), at_once, before={id_: before[id_] for id_ in ids if id_ in before}, same=same)
    edges: defaultdict[tuple[str, DependencyType], set[str]] = defaultdict(set)
    for dependency in _dependencies(store, work.before):
        if dependency.bead in work.before:
            edges[dependency.bead, dependency.type].add(dependency.needs)
    problems: list[str] = []
    known = frozenset(before) | frozenset(ids)
    now = store.now()
    alike: dict[frozenset[str], frozenset[str]] = {}  # most beads of a plan name the same
    added = work.added
    for id_, node in zip(ids, plan.taken() if take else plan.nodes, strict=True):
        if id_ in same:
            continue
        fields = node.fields
        if (epic := fields.get("epic")) is not None:
            epic = names.get(epic, epic)
            fields = {**fields, "epic": epic}
            _reference(problems, node, "epic", epic, id_, known)
        for (key, kind), wanted in zip(LISTS.items(), node.lists, strict=True):
            if wanted is None:
                continue
            had = edges.get((id_, kind), _NOTHING) if edges else _NOTHING
            if not (wanted or had):
                continue
            needs = sorted({names.get(name, name) for name in wanted} if names else {*wanted})
            if id_ in needs or not known.issuperset(needs):
                for other in needs:
                    _reference(problems, node, key, other, id_, known)
            for other in needs:
                if other not in had:
                    added[_DEPENDENCY((id_, other, kind))] = None
            if had:
                work.removed |= {Dependency(id_, other, kind) for other in had.difference(needs)}
        try:
            if id_ in before:
                lists = (key for key in LISTS if getattr(node, key) is not None)
                says = frozenset((*fields, *lists, *([CANCEL] if node.status is not None else ())))
                work.named[id_] = alike.setdefault(says, says)
                _update(work, before[id_], node, fields, live)
            else:
                _create(work, id_, node, fields, live, now)
        except BadBead as error:
            problems.append(f"{node.where}: {error}")
    if problems:
        raise refused(plan.source, problems)
    _leave_closed(work)
    return work


def _same(store: "Store", plan: Plan, live: bool) -> dict[str, Status]:
    keys = {node.key for node in plan.nodes} - {None}
    said = [
        (node.id, node.fields, node.lists)
        for node in plan.nodes
        if node.id is not None
        and node.status is None
        and node.id not in plan.same
        and not (keys and _names_one_of(node, keys))
    ]
    proposed = {bead.id for bead in store.proposed()}
    found = {**plan.same, **(store.as_said(said) if said else {})}
    if not (proposed or live):
        return found
    return {
        id_: status for id_, status in found.items() if id_ not in proposed and not (live and status is Status.DRAFT)
    }


def _names_one_of(node: PlanNode, keys: Collection[str | None]) -> bool:
    return node.fields.get("epic") in keys or any(name in keys for key in LISTS for name in getattr(node, key) or ())


def _named(plan: Plan, but: Collection[str]) -> set[str]:
    found = set[str]()
    for node in plan.nodes:
        if node.id not in but:
            found.update((node.id or "", str(node.fields.get("epic") or "")), *filter(None, node.lists))
    return found.difference(but) - {""}


def _dependencies(store: "Store", beads: Collection[str]) -> list[Dependency]:
    """These beads' dependencies, perhaps more: reading all is faster for many."""
    if len(beads) > SMALL:
        return store.dependencies()
    return [dependency for bead in beads for dependency in store.dependencies(bead) if dependency.bead == bead]


def _identities(store: "Store", plan: Plan, existing: frozenset[str]) -> tuple[dict[str, str], list[str]]:
    given = [node.id for node in plan.nodes]
    taken = {*existing, *filter(None, given)}
    if given.count(None) > SMALL:  # one question for all of them
        taken.update(store.listed())
        free = partial(unused_id, taken.__contains__)
    else:
        free = partial(new_id, store, taken)
    ids = []
    for id_ in given:
        if id_ is None:
            taken.add(id_ := free())
        ids.append(id_)
    return {node.key: id_ for node, id_ in zip(plan.nodes, ids, strict=True) if node.key}, ids


def _reference(problems: list[str], node: PlanNode, key: str, other: str, own: str, known: frozenset[str]) -> None:
    if other == own:
        problems.append(f"{node.where}.{key}: bead {own} refers to itself")
    elif other not in known:
        problems.append(f"{node.where}.{key}: bead '{other[:80]}' is neither in this plan nor in the graph")


def _create(work: Work, id_: str, node: PlanNode, fields: Mapping[str, Any], live: bool, now: float) -> None:
    if "title" not in fields:
        raise BadBead("title: is missing (a new bead needs a title)")
    if node.bead is not None:
        bead = node.bead if fields["epic"] == node.bead.epic else replace(node.bead, epic=fields["epic"])
    else:
        is_aside = node.hold is not None or node.defer_until is not None
        bead = new_bead(id_, {"held": node.hold, "defer_until": node.defer_until} if is_aside else {}, fields)
    if node.status == "done" or node.status == "cancelled":
        bead = lifecycle.closed(bead, Status(node.status), now)
    elif node.status == "live" or (live and node.status is None):
        bead = lifecycle.live(bead)
    else:
        bead = lifecycle.draft(bead)
    if node.bead is not None:  # the others are judged as they are read
        check_bead(bead)
    work.new[id_] = bead


def _update(work: Work, bead: Bead, node: PlanNode, fields: Mapping[str, Any], live: bool) -> None:
    changes = {name: value for name, value in fields.items() if getattr(bead, name) != value}
    if changes:
        check_bead(replace(bead, **changes))
        work.changes[bead.id] = changes
    if bead.status is Status.DRAFT and (node.status == "live" or (live and node.status is None)):
        work.approved.append(bead.id)
    elif node.status == "cancelled" and bead.status not in CLOSED:
        work.cancelled.append(bead.id)
    elif node.status == "done" and bead.status not in CLOSED:
        work.problems.append(f"{node.where}: a plan cannot mark {bead.id} as done; type `nobrakes done {bead.id}`")


def _leave_closed(work: Work) -> None:
    closed = {id_ for id_, bead in work.before.items() if bead.status in CLOSED and not work.at_once}
    if not closed:
        return
    edges = {edge for some in (work.added, work.removed) for edge in some if edge.bead in closed}
    for id_ in work.ids:
        if id_ in closed and (id_ in work.changes or any(edge.bead == id_ for edge in edges)):
            work.problems.append(f"{id_} is already {work.before[id_].status.value}, so the plan did not change it")
            work.changes.pop(id_, None)
    work.added = {edge: None for edge in work.added if edge not in edges}
    work.removed -= edges


Parts = dict[str, dict[str, Any] | None]
"""Stored proposals: part -> value, None: removed."""


def proposals_of(store: "Store", work: Work, actor: str) -> dict[str, Parts]:
    """Proposals for beads that do not change now; parts already as wanted are withdrawn."""
    if not ((beads := dict(work.before)) or work.changes or work.removed):
        return {}
    edges = {**work.added, **dict.fromkeys(work.removed)}
    outside = {*work.changes, *(edge.bead for edge in edges)} - beads.keys() - work.new.keys()
    beads |= {bead.id: bead for bead in (store.beads(ids=outside) if outside else ())}
    wanted: dict[str, dict[str, tuple[Any, Any]]] = {id_: {} for id_ in beads}
    for id_, changes in work.changes.items():
        if not work.is_immediate(id_):
            wanted[id_] |= {name: (getattr(beads[id_], name), new) for name, new in changes.items()}
    for edge in edges:
        if not work.is_immediate(edge.bead):
            wanted[edge.bead][part_of(edge)] = (edge in work.removed, edge in work.added)
    for id_ in work.cancelled:
        wanted[id_][CANCEL] = (False, True)
    now = store.now()
    found: dict[str, Parts] = {}
    for id_, bead in beads.items():
        named = work.named.get(id_, ())
        parts: Parts = {
            name: None for name in bead.proposed if name.partition(":")[0] in named and name not in wanted[id_]
        }
        for name, (before, after) in wanted[id_].items():
            made, kept = entry(before, after, actor, now), bead.proposed.get(name, {})
            if (made["before"], made["after"]) != (kept.get("before"), kept.get("after")):
                parts[name] = made
        if parts:
            found[id_] = parts
    return found


def neighbourhood(store: "Store", work: Work) -> tuple[list[Node], list[Dependency]]:
    """What decides about the plan's beads once it is written and its drafts approved."""
    nodes, edges = store.around(work.ids)
    drafts = {node.id for node in nodes if node.status is Status.DRAFT} & set(work.ids)
    live = {bead.id: lifecycle.live_status(bead) for bead in (store.beads(ids=drafts) if drafts else ())}
    return [node._replace(status=live[node.id]) if node.id in live else node for node in nodes], edges


def graph_after(store: "Store", work: Work) -> tuple[list[Node], list[Dependency]]:
    """The future graph with the plan's drafts and all proposals approved."""
    nodes = {node.id: node for node in store.nodes()}
    drafts = [id_ for id_, status in work.same.items() if status is Status.DRAFT]
    for bead in store.beads(ids=drafts) if drafts else ():
        nodes[bead.id] = nodes[bead.id]._replace(status=lifecycle.live_status(bead))
    for id_ in work.ids:
        if id_ in work.same:
            continue
        bead = work.new.get(id_) or work.before[id_]
        if work.is_immediate(id_):
            bead = replace(bead, **work.changes.get(id_, {}))
        node = node_of(bead)
        nodes[id_] = node._replace(status=lifecycle.live_status(bead)) if bead.status is Status.DRAFT else node
    for id_ in work.changes.keys() - set(work.ids):
        if work.is_immediate(id_):
            nodes[id_] = nodes[id_]._replace(**work.changes[id_])
    edges = {*store.dependencies()} | {edge for edge in work.added if work.is_immediate(edge.bead)}
    edges -= {edge for edge in work.removed if work.is_immediate(edge.bead)}
    parts = proposals_of(store, work, "")
    waiting = {bead.id: bead for bead in store.proposed()}
    waiting |= {bead.id: bead for bead in (store.beads(ids=parts) if parts else ())}
    changes: list[ProposedChange] = []
    own = grouped((edge.bead, edge) for edge in edges if edge.bead in waiting)
    for id_, bead in waiting.items():
        merged = {**bead.proposed, **parts.get(id_, {})}
        then = replace(bead, proposed={name: kept for name, kept in merged.items() if kept is not None})
        changes += [one for one in changes_of(then, own.get(id_, ())) if one.standing is Standing.APPLIES]
    return overlay(nodes.values(), edges, changes)


def write(store: "Store", work: Work, actor: str) -> dict[str, Parts]:
    """Write it in one transaction; returns the new proposals."""
    if work.only_adds and not work.named:
        # alone, so that the store works out what a large one comes to before it begins to write
        if work.new or work.added:
            store.put(list(work.new.values()), list(work.added), actor)
        return {}
    with store.write():
        proposed = proposals_of(store, work, actor)
        added, removed = ([one for one in edges if work.is_immediate(one.bead)] for edges in (work.added, work.removed))
        changes = {id_: fields for id_, fields in work.changes.items() if work.is_immediate(id_)}
        for edge in _sorted(removed):
            store.remove_dependency(edge, actor)
        new = list(work.new.values())
        if changes:
            store.put(new, [], actor)
            for id_, fields in freeing_first(store, changes):
                store.change(id_, fields, actor)
            store.put([], _sorted(added), actor)
        elif new or added:
            store.put(new, _sorted(added), actor)
        if work.approved:
            require(store, work.approved)
            store.approve(work.approved, actor)
        for id_, parts in proposed.items():
            is_none = all(kept is None for kept in parts.values())
            why = ("the plan has its current value",) if is_none else ()
            store.propose(id_, parts, actor, Kind.CHANGE_DROPPED if is_none else Kind.CHANGE_PROPOSED, *why)
    return proposed


def _sorted(edges: Iterable[Dependency]) -> list[Dependency]:
    return sorted(edges, key=itemgetter(0, 2, 1))


MAX_CHARACTERS = 2_000_000


@frozen
class PlanReport:
    """A plan's result. `ready`, `explained`: its beads once approved; `explained` has the blockers of beads neither
    ready nor closed. `cut`: dependencies left out to break circles; `problems`: of imported records, and refused
    wishes. `changed`: beads changed now; `proposed`: beads with changes to approve."""

    new: tuple[str, ...]
    changed: tuple[str, ...]
    unchanged: tuple[str, ...]
    deadlocks: tuple[Circle, ...]
    ready: tuple[str, ...]
    explained: dict[str, list[str]]
    critical_path: tuple[str, ...]
    applied: bool
    cut: tuple[Dependency, ...] = ()
    problems: tuple[str, ...] = field(default=())
    proposed: tuple[str, ...] = field(default=())


class PlanDeadlock(Deadlock):
    """A plan whose beads would wait for each other. `details`: every circle as JSON values."""

    hint = "Remove the named dependencies from the plan, or apply it with --cut. Nothing was written."

    def __init__(self, found: Sequence[Circle], places: Mapping[str, str] = MappingProxyType({})) -> None:
        stuck = {bead for circle in found for bead in circle.stuck}
        beads, circles = count(len(stuck), "bead"), count(len(found), "circle")
        lines = [f"{beads} could never start, because of {circles} of dependencies; nothing was written"]
        lines += [f"  {told(circle, places)}" for circle in found]
        lines.append("  stuck: " + ", ".join(sorted(stuck)))
        super().__init__("\n".join(lines))
        self.details: list[dict[str, Any]] = [
            {
                "members": list(circle.members),
                "stuck": list(circle.stuck),
                "cut": {"bead": circle.cut.bead, "needs": circle.cut.needs, "type": circle.cut.type.value},
            }
            for circle in found
        ]


def told(circle: Circle, places: Mapping[str, str] = MappingProxyType({})) -> str:
    """One line: who waits for whom, and what to cut. `places`: the lines of beads."""
    named = [f"{id_} ({places[id_]})" if id_ in places else id_ for id_ in circle.members]
    around = " -> ".join((*named, circle.members[0]))
    verb = "is a child of" if circle.cut.type is DependencyType.PARENT_CHILD else "depends on"
    return f"{around}: remove '{circle.cut.bead} {verb} {circle.cut.needs}'"


_VALUES = re.compile(
    r"(?:\s|#[^\n]*\n|---\n)*+"
    r"(?:[\[{\s]*[\"']?(?:beads|live|tasks)|(?:[\[\s]*\{\s*|-[ \t]+)[\"']?(?:id|key|title|number))[\"']?\s*:"
)
_OUTLINE = re.compile(
    r"[\s\w{\"']+:(?:.*\n)*?[ \t{]*[\"']?(?:beads|tasks|epics|phases|milestones|sprints|stories|features)[\"']?"
    r"[ \t]*:[ \t]*(?:\[|\{|\n)"
)
_JSON = re.compile(r"\s*(?:\[\s*[{\]]|\{\s*[\"}])")
_FENCED = re.compile(r"^[ \t]*(`{3,}+|~{3,}+)[^\n]*\n(.*?)(?:(?P<end>^[ \t]*\1[ \t]*$)|\Z)", re.MULTILINE | re.DOTALL)


class StoredIds:
    """A store's beads, looked up when they are asked for: whether an id is there, and which beads of a plan in JSON say
    nothing new. One with a change that waits is none of these: what the plan says may take the change back."""

    def __init__(self, store: "Store") -> None:
        self._store = store

    def __contains__(self, id_: object) -> bool:
        return bool(self._store.nodes_of([str(id_)]))

    @cached_property
    def _has_beads(self) -> bool:
        return bool(self._store.how_many())

    @cached_property
    def _proposed(self) -> frozenset[str]:
        return frozenset(bead.id for bead in self._store.proposed())

    def same(self, beads: Sequence[Any]) -> dict[str, Status]:
        found = self._store.as_written(beads) if self._has_beads else {}
        return {id_: status for id_, status in found.items() if id_ not in self._proposed}


def read_plan(path: str, known: StoredIds | None = None) -> Plan:
    """The plan in a file or folder, "-": stdin. `known`: existing ids. PlanError names every problem with its place."""
    if path != nodes.STDIN and (path := nodes.file_in(path)).endswith(".jsonl"):
        return plan_of_file(path)
    if (texts := nodes.read_folder(path)) is not None:
        from .trackers import plan_of_backlog

        return plan_of_backlog({name: tidy(text) for name, text in texts.items()}, nodes.shown(path), known or ())
    data = nodes.read_bytes(path)
    found = nodes.plan_of_json(path, data, known.same if known is not None else None)
    return found or plan_in(nodes.text_of(path, data), path, known or ())


def plan_in(text: str, path: str, known: Container[str] = ()) -> Plan:
    """Look at the name and the text for the format. `path` is named in problems. Raises PlanError."""
    from .markdown import MarkdownTasks, has_requirement
    from .trackers import front_matter, plan_of_backlog, plan_of_tables, plan_of_values

    source, small = nodes.shown(path), path.lower()
    if not text.strip():
        raise PlanError(f"{source} is empty", "Name a file with a plan or a list of tasks.")
    is_markdown = small.endswith((".md", ".markdown", ".mdown"))
    if not is_markdown and nodes.looks_like_records(path, text):
        return plan_of_records(text, source)
    if front_matter(plain := tidy(text), source) is not None:
        return plan_of_backlog({source: plain}, source, known)
    is_named = small.endswith((".json", ".yaml", ".yml"))
    if is_named or (not is_markdown and (_JSON.match(text) or _is_values(text))):
        return plan_of_values(nodes.load(path, text), source, known)
    fenced = next((one for one in _FENCED.finditer(plain) if one["end"] and _is_values(one[2])), None)
    if fenced is None or nodes.has_box(plain[: fenced.start()] + plain[fenced.end() :]):
        is_list = nodes.has_box(plain) or has_requirement(plain)
        return (None if is_list else plan_of_tables(plain, source, known)) or MarkdownTasks(plain, source, known).plan()
    above = plain.count("\n", 0, fenced.start(2))
    plan = plan_of_values(nodes.load("-" if small.endswith(".json") else path, "\n" * above + fenced[2]), source, known)
    last = above + fenced[0].count("\n") + 1
    outside = [(1, above - 1, plain[: fenced.start()]), (last, plain.rstrip().count("\n") + 1, plain[fenced.end() :])]
    told = [f"not imported: lines {begin} to {end}, outside the plan" for begin, end, t in outside if t.strip()]
    return replace(plan, problems=(*told, *plan.problems))


def _is_values(text: str) -> bool:
    return bool(_VALUES.match(text) or (_OUTLINE.match(text) and not nodes.has_box(text)))


def apply_plan(
    store: "Store",
    plan: Plan,
    *,
    dry_run: bool = False,
    live: bool = False,
    cut: bool = False,
    actor: str = "person",
    explain: bool = True,
) -> PlanReport:
    """Apply the plan in one transaction; on PlanError, PlanDeadlock nothing is written. `live`: new beads are live, and
    live ones change now. `dry_run` writes nothing and reports deadlocks; `cut` leaves out dependencies that close
    circles. Without `explain` large plans skip `explained`, and lose their nodes."""
    is_small = len(plan.nodes) <= SMALL
    places = {it.id or "": it.where for it in plan.nodes if it.where[:5] == "line "} if len(plan.nodes) <= LARGE else {}
    work = work_out(store, plan, live or plan.live, live, take=not (is_small or explain))
    waiting = len(store.proposed())
    try:
        if is_small and waiting <= SMALL:
            return _apply_small(store, plan, work, dry_run, actor)
        if not (explain or dry_run or waiting or proposals_of(store, work, actor)):
            return _apply_many(store, plan, work, actor)
    except (Deadlock, _FullGraphNeeded):
        pass  # the store names one circle; the whole graph names them all, with their cuts
    links = Links(*graph_after(store, work))
    found = after = tuple(circles(links))
    taken_out: tuple[Dependency, ...] = ()
    if found:  # what stays until an approval does not help what is written now
        there = {edge for edge in store.dependencies() if not work.is_immediate(edge.bead)}
        found = after = tuple(circles(links, there))
    if found and not dry_run and not cut:
        raise PlanDeadlock(found, places)
    if found and cut:
        taken_out = tuple(circle.cut for circle in found)
        for edge in taken_out:
            work.take_out(edge)
        links = Links(*graph_after(store, work))
        after = tuple(circles(links))
    chain = chain_of(links)
    proposed = proposals_of(store, work, actor)
    made = _report(plan, work, links, after, store.now(), chain, not dry_run, proposed)
    del links  # a large graph is not kept beside what is written
    if not dry_run:
        _write(store, work, actor)
    elif not (after or (work.only_adds and not waiting)):  # a part that is written now can be refused alone
        with suppress(_Undone), store.write():
            _write(store, work, actor)
            raise _Undone
    return replace(made, deadlocks=found, cut=taken_out)


class _Undone(Exception):
    """Rolls back a dry run, and changes that only wait for approval."""


class _FullGraphNeeded(Exception):
    """The changes reach more than the store settles in one transaction, or cannot be tried."""


def _apply_small(store: "Store", plan: Plan, work: Work, dry_run: bool, actor: str) -> PlanReport:
    """Looks only at what the changes reach. Raises Deadlock, _FullGraphNeeded."""
    store.levels(())  # settles what the chain is read from
    reports = []
    with suppress(_Undone), store.write():
        proposed = _write(store, work, actor)
        with suppress(_Undone), store.write():
            _try_proposals(store, actor)
            if store.levels_lag():
                raise _FullGraphNeeded
            links = Links(*neighbourhood(store, work))
            made = _report(
                plan, work, links, circles(links), store.now(), tuple(store.critical_path()), not dry_run, proposed
            )
            reports.append(made)
            raise _Undone
        if dry_run:
            raise _Undone
    return reports[0]


def _try_proposals(store: "Store", actor: str) -> None:
    """Apply every change that waits for approval."""
    found = [change for bead in proposals(store) for change in bead.changes if change.standing is Standing.APPLIES]
    try:
        apply_changes(store, found, actor)
    except NobrakesError as error:
        raise _FullGraphNeeded from error


def _apply_many(store: "Store", plan: Plan, work: Work, actor: str) -> PlanReport:
    _write(store, work, actor)
    ready = store.ready_once_approved(work.ids)
    if store.levels_lag():  # the chain would be read off them
        chain = chain_of(Links(store.nodes(), store.dependencies()), store.typical_minutes())
    else:
        chain = tuple(store.critical_path())
    return _told(plan, work, ready, {}, chain, True)


def _report(
    plan: Plan,
    work: Work,
    links: Links,
    found: Sequence[Circle],
    now: float,
    chain: tuple[str, ...],
    applied: bool,
    proposed: Collection[str],
) -> PlanReport:
    ready: list[str] = []
    explained: dict[str, list[str]] = {}
    for id_, reasons in reasons_of(links, now, found, work.ids):
        if not reasons:
            ready.append(id_)
        elif links.nodes[id_].status not in CLOSED:
            explained[id_] = [reason.text for reason in reasons]
    return _told(plan, work, ready, explained, chain, applied, proposed)


def _told(
    plan: Plan,
    work: Work,
    ready: Sequence[str],
    explained: dict[str, list[str]],
    chain: tuple[str, ...],
    applied: bool,
    proposed: Collection[str] = (),
) -> PlanReport:
    touched = work.touched
    return PlanReport(
        new=tuple(work.new),
        changed=tuple(id_ for id_ in work.ids if id_ in touched),
        unchanged=tuple(id_ for id_ in work.ids if not (id_ in touched or id_ in work.new or id_ in proposed)),
        deadlocks=(),
        ready=tuple(ready),
        explained=explained,
        critical_path=chain,
        applied=applied,
        proposed=tuple(proposed),
        problems=(*plan.problems, *work.problems),
    )


def _write(store: "Store", work: Work, actor: str) -> dict[str, Parts]:
    try:
        return write(store, work, actor)
    except PlanError:
        raise
    except NobrakesError as error:
        error.args = (f"the plan was not applied: {error}",)
        raise
