"""What commit-strategy would do, as one value for every surface: the drafts, the proposed changes, what follows.

1. This module writes nothing. An approval hands `revision` back: if the store has changed by then, nothing is
   approved.
2. The graph after the approval is today's graph, with the drafts live and each change that still applies.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from operator import attrgetter
from typing import TYPE_CHECKING

from ...beads import lifecycle
from ...beads.graph import Links, Node, TypicalMinutes, levels, node_of, weight
from ...beads.model import CLOSED, CONTENT, Bead, BeadType, Dependency, DependencyType, Status
from ...beads.proposals import CANCEL, ProposedChange, Standing, changes_of, overlay, plain
from ...beads.readiness import Circle, Readiness, circles
from ...events.kinds import Kind
from ...pictures.layout import chain_of
from ...records import frozen
from ..model import Bar, timeline
from ..reviewed_plan import under

if TYPE_CHECKING:
    from ...store import Store


COMMITTED = "strategy_committed"
"""Setting with the last event before the latest commit-strategy."""


@frozen
class ChangedBead:
    """A bead with proposed changes, as it is now."""

    bead: str
    title: str
    status: Status
    changes: tuple[ProposedChange, ...]


@frozen
class Chain:
    """The critical path of live work in order, and its minutes (1 for a bead without an estimate)."""

    beads: tuple[str, ...]
    minutes: int


@frozen
class StrategyView:
    """What commit-strategy would do. Ids are sorted, drafts by how much waits behind each. `new`: the drafts' ids;
    `cancels`: drafts that are dropped. `proposed`: waiting changes and their effects. `changed`, `removed`: live beads
    that people edited or cancelled since the last commit-strategy. `needs`: what a draft waits for. `revision`: hand it
    back to approve exactly this."""

    drafts: tuple[Bead, ...]
    new: tuple[str, ...]
    proposed: tuple[ChangedBead, ...]
    cancels: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    becomes_ready: tuple[str, ...]
    critical_path: tuple[str, ...]
    chain_before: Chain
    chain_after: Chain
    deadlocks: tuple[Circle, ...]
    needs: Mapping[str, tuple[str, ...]]
    warnings: tuple[str, ...]
    revision: str

    @property
    def is_empty(self) -> bool:
        return not (self.drafts or self.proposed)


def proposals(store: "Store") -> tuple[ChangedBead, ...]:
    beads = store.proposed()
    own = store.own_dependencies([bead.id for bead in beads])
    return tuple(ChangedBead(bead.id, bead.title, bead.status, changes_of(bead, own[bead.id])) for bead in beads)


@frozen
class _Future:
    """The graph after approval: what decides which beads wait."""

    nodes: Sequence[Node]
    edges: Sequence[Dependency]
    behind: Mapping[str, int]
    becomes_ready: frozenset[str]
    chain_before: Chain
    chain_after: Chain
    circles: tuple[Circle, ...] = ()


def strategy(store: "Store") -> StrategyView:
    """What commit-strategy would do now, and what people changed since the last one."""
    waiting = proposals(store)
    applies = [one for bead in waiting for one in bead.changes if one.standing is Standing.APPLIES]
    cancels = {one.bead for one in applies if one.part == CANCEL}
    drafts = store.beads([Status.DRAFT])
    live = {
        draft.id: node_of(draft)._replace(status=lifecycle.live_status(draft))
        for draft in drafts
        if draft.id not in cancels
    }
    edges = store.own_dependencies([one.id for one in drafts] + [one.bead for one in waiting])
    then = _whole(store, live, applies) if applies else _drafts_future(store, live, waiting)
    changed, removed = _since(store, {draft.id for draft in drafts})
    needs = {
        draft.id: tuple(sorted({one.needs for one in edges[draft.id] if one.type is DependencyType.BLOCKS}))
        for draft in drafts
    }
    return StrategyView(
        drafts=tuple(sorted(drafts, key=lambda draft: (-then.behind[draft.id], draft.priority, draft.id))),
        new=tuple(sorted(live)),
        proposed=waiting,
        cancels=tuple(sorted(cancels & {draft.id for draft in drafts})),
        changed=tuple(sorted(changed)),
        removed=tuple(sorted(removed)),
        becomes_ready=tuple(sorted(then.becomes_ready)),
        critical_path=then.chain_after.beads,
        chain_before=then.chain_before,
        chain_after=then.chain_after,
        deadlocks=then.circles,
        needs={bead: found for bead, found in needs.items() if found},
        warnings=tuple(_warnings(waiting, then.nodes, then.edges)),
        revision=_digest(drafts, store.proposed() if waiting else (), edges),
    )


def _whole(store: "Store", live: Mapping[str, Node], applies: Sequence[ProposedChange]) -> _Future:
    """By the whole graph: a change may move chains anywhere."""
    nodes, dependencies = store.nodes(), store.dependencies()
    expected, now = store.typical_minutes(), store.now()
    links = Links(nodes, dependencies)
    before, ready = _chain(links, expected), _ready(links, now, links.nodes)
    after, edges = overlay((live.get(node.id, node) for node in nodes), dependencies, applies)
    links = Links(after, edges)
    behind = {bead: level.start for bead, level in levels(links, expected).items()}
    becomes = _ready(links, now, links.nodes) - ready
    return _Future(after, edges, behind, becomes, before, _chain(links, expected), tuple(circles(links)))


def _drafts_future(store: "Store", live: Mapping[str, Node], waiting: Sequence[ChangedBead]) -> _Future:
    """Computed near the drafts only: they count like live beads in levels and chains, and have no circles."""
    inside = [*live, *under(store, *live)]
    named = [one.bead for bead in waiting for one in bead.changes if one.part == CANCEL]
    touching = {one for bead in named for one in store.dependencies(bead)}
    nodes, edges = store.around([*inside, *named, *(one.bead for one in touching)])
    after = [live.get(node.id, node) for node in nodes]
    now = store.now()
    becomes = _ready(Links(after, edges), now, inside) - _ready(Links(nodes, edges), now, inside)
    behind = store.levels(live)  # first: it settles what the chain is read from
    chain, expected = tuple(store.critical_path()), store.typical_minutes()
    weights = {
        bead.id: weight(bead.type.value, bead.estimate, expected) for bead in (store.beads(ids=chain) if chain else ())
    }
    found = Chain(chain, sum(weights[bead] for bead in chain))
    told = sorted(touching, key=lambda one: (one.bead, one.type.value, one.needs))
    return _Future(after, told, behind, becomes, found, found)


def _ready(links: Links, now: float, beads: Iterable[str]) -> frozenset[str]:
    readiness = Readiness(links, now)
    return frozenset(bead for bead in beads if readiness.ready(bead))


def revision(store: "Store") -> str:
    """A digest of the drafts, the proposals and the beads that they concern."""
    drafts, changed = store.beads([Status.DRAFT]), store.proposed()
    return _digest(drafts, changed, store.own_dependencies([bead.id for bead in (*drafts, *changed)]))


def _digest(drafts: Iterable[Bead], changed: Iterable[Bead], edges: Mapping[str, Sequence[Dependency]]) -> str:
    beads, content = {bead.id: bead for bead in (*drafts, *changed)}, attrgetter(*CONTENT)
    facts = [
        [id_, _phase(bead), content(bead), bead.proposed and plain(bead.proposed), sorted(edges[id_])]
        for id_, bead in sorted(beads.items())
    ]
    return sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()[:32]


def _phase(bead: Bead) -> str:
    """The part of a status that matters to an approval: agents move live beads constantly."""
    return bead.status.value if bead.status in (Status.DRAFT, *CLOSED) else "live"


def _chain(links: Links, expected: TypicalMinutes) -> Chain:
    beads = chain_of(links, expected)
    return Chain(beads, sum(weight(links.nodes[id_].type, links.nodes[id_].estimate, expected) for id_ in beads))


def _warnings(waiting: Sequence[ChangedBead], after: Sequence[Node], edges: Sequence[Dependency]) -> Iterable[str]:
    for bead in waiting:
        for one in bead.changes:
            if one.standing is Standing.EDITED:
                yield f"{one.name} was edited after the proposal, so the proposal waits and your edit stays"
            elif one.standing is Standing.CLOSED:
                yield f"{one.name}: the bead is {bead.status.value}, so nobrakes drops this change"
            elif one.standing is Standing.ALREADY:
                yield f"{one.name} already has this value, so nobrakes drops this change"
    cancelled = {node.id for node in after if node.status is Status.CANCELLED}
    goes = {one.bead for bead in waiting for one in bead.changes if one.part == CANCEL}
    closed = {node.id for node in after if node.status in CLOSED}
    for edge in edges:
        if edge.type is DependencyType.BLOCKS and edge.needs in cancelled & goes and edge.bead not in closed:
            yield f"{edge.bead} waits for {edge.needs}, which this plan cancels, so {edge.bead} could never start"


_EDITS = frozenset({Kind.CHANGED, Kind.DEPENDENCY_ADDED, Kind.DEPENDENCY_REMOVED})


def _since(store: "Store", drafts: Collection[str]) -> tuple[set[str], set[str]]:
    """(edited, cancelled) live beads since the last commit-strategy; empty before the first."""
    changed: set[str] = set()
    removed: set[str] = set()
    after = int(store.setting(COMMITTED) or 0)
    while True:
        page = store.events(after, 1000, kinds=(*_EDITS, Kind.CANCELLED))
        for event in page:
            if event.bead is not None and event.kind is Kind.CANCELLED:
                removed.add(event.bead)
            elif event.bead is not None and event.bead not in drafts:
                changed.add(event.bead)
        if len(page) < 1000:
            return changed - removed, removed
        after = page[-1].seq


MAX_DRAFTS = 400
"""Drafts shown; more are only counted."""


@frozen
class Branch:
    """An epic with its drafts; `bead` None: drafts outside draft epics. `depth`: nesting."""

    bead: Bead | None
    title: str
    children: tuple[Bead, ...]


@frozen
class PlanPage:
    """`at_once` may start after approval, `after` waits; `more` drafts are not shown."""

    strategy: StrategyView
    tree: tuple[Branch, ...]
    at_once: tuple[Bead, ...]
    after: tuple[Bead, ...]
    epics: tuple[Bead, ...]
    bars: tuple[Bar, ...]
    span: int
    more: int
    critical: frozenset[str]


def plan_page(store: "Store") -> PlanPage:
    """All of it."""
    found = strategy(store)
    drafts = found.drafts[:MAX_DRAFTS]
    beads = [draft for draft in drafts if draft.type != BeadType.EPIC]
    ready, critical = set(found.becomes_ready), frozenset(found.critical_path)
    bars = timeline(beads, found.needs, critical)
    return PlanPage(
        found,
        _tree(store, drafts),
        tuple(one for one in beads if one.id in ready),
        tuple(one for one in beads if one.id not in ready),
        tuple(one for one in drafts if one.type == BeadType.EPIC),
        bars,
        max((bar.begin + bar.minutes for bar in bars), default=0),
        len(found.drafts) - len(drafts),
        critical,
    )


def _tree(store: "Store", drafts: Sequence[Bead]) -> tuple[Branch, ...]:
    named = {one.epic for one in drafts if one.epic is not None}
    epics = {one.id: one for one in store.beads(ids=sorted(named))} if named else {}
    epics |= {one.id: one for one in drafts if one.type == BeadType.EPIC}
    branches = [
        Branch(epic, epic.title, tuple(one for one in drafts if one.epic == id and one.id not in epics))
        for id, epic in sorted(epics.items(), key=lambda item: item[1].title)
    ]
    alone = tuple(one for one in drafts if one.epic is None and one.id not in epics)
    return (*branches, *((Branch(None, "In no epic", alone),) if alone else ()))
