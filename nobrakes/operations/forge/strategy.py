"""What commit-strategy would do, as one value for every surface: the drafts, the proposed changes, what follows.

1. Nothing is written here. Whoever approves hands `revision` back: where the store is otherwise by then, nothing is
   approved.
2. The graph after the yes is the graph of now, with the drafts live and every part that applies now.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from ...core.beads import lifecycle
from ...core.beads.bead import CLOSED, CONTENT, Bead, Dependency, DependencyType, Status
from ...core.beads.events import Kind
from ...core.beads.proposals import CANCEL, ProposedChange, Standing, changes_of, plain
from ...core.graph.cycles import Circle
from ...core.graph.links import Links, Node, node_of
from ...core.graph.overlay import overlay
from ...core.graph.priority_levels import b_levels
from ...core.graph.readiness import deadlocks, ready_beads
from ...core.graph.usual import Usual, weight
from ...ports import Store

COMMITTED = "strategy_committed"
"""The setting that remembers the last event before the latest commit-strategy."""


@dataclass(frozen=True, slots=True)
class ChangedBead:
    """A bead for which changes are proposed, as it is now."""

    bead: str
    title: str
    status: Status
    changes: tuple[ProposedChange, ...]


@dataclass(frozen=True, slots=True)
class Chain:
    """The longest chain of live work, first bead first, and its minutes (1 where nobody estimated)."""

    beads: tuple[str, ...]
    minutes: int


@dataclass(frozen=True, slots=True)
class StrategyView:
    """What commit-strategy would do. The ids are sorted, the drafts by how much waits behind each.

    `new`: the drafts' ids; `cancels`: drafts that go away instead. `proposed`: changes that wait for a yes, with what
    approving each would do. `changed` and `removed`: live beads that people edited or cancelled since the last
    commit-strategy. `needs`: what a draft waits for. `warnings`: what a person should know before the yes.
    `revision`: hand it back when approving what was shown here, and nothing else.
    """

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
        """Whether there is nothing to approve."""
        return not (self.drafts or self.proposed)


def proposals(store: Store) -> tuple[ChangedBead, ...]:
    """Every bead for which something is proposed, with how each part stands."""
    found = []
    for bead in store.proposed():
        changes = changes_of(bead, store.dependencies(bead.id))
        found.append(ChangedBead(bead.id, bead.title, bead.status, changes))
    return tuple(found)


def strategy(store: Store) -> StrategyView:
    """What commit-strategy would do now, and what people changed since the last one."""
    nodes, dependencies = store.nodes(), store.dependencies()
    waiting = proposals(store)
    applies = [one for bead in waiting for one in bead.changes if one.standing is Standing.APPLIES]
    cancels = {one.bead for one in applies if one.part == CANCEL}
    drafts = store.beads([Status.DRAFT])
    live = {draft.id: node_of(lifecycle.live(draft)) for draft in drafts if draft.id not in cancels}
    after, edges = overlay((live.get(node.id, node) for node in nodes), dependencies, applies)
    now = store.now()
    changed, removed = _since(store, {draft.id for draft in drafts})
    blockers = Links(nodes, dependencies).blockers
    expected = store.usual()
    behind = b_levels(after, edges, expected)
    before, then = _chain(nodes, dependencies, expected), _chain(after, edges, expected)
    circles = tuple(deadlocks(after, edges))
    return StrategyView(
        drafts=tuple(sorted(drafts, key=lambda draft: (-behind[draft.id], draft.priority, draft.id))),
        new=tuple(sorted(live)),
        proposed=waiting,
        cancels=tuple(sorted(cancels & {draft.id for draft in drafts})),
        changed=tuple(sorted(changed)),
        removed=tuple(sorted(removed)),
        becomes_ready=tuple(sorted({*ready_beads(after, edges, now)} - {*ready_beads(nodes, dependencies, now)})),
        critical_path=then.beads,
        chain_before=before,
        chain_after=then,
        deadlocks=circles,
        needs={draft.id: tuple(blockers[draft.id]) for draft in drafts if draft.id in blockers},
        warnings=tuple(_warnings(waiting, after, edges)),
        revision=revision(store),
    )


def revision(store: Store) -> str:
    """What a yes is said to: the drafts and the proposals as they are, and the beads that these are about."""
    drafts, changed = store.beads([Status.DRAFT]), store.proposed()
    beads = {bead.id: bead for bead in (*drafts, *changed)}
    edges = {id_: [one for one in store.dependencies(id_) if one.bead == id_] for id_ in beads}
    facts = [
        [id_, _stage(bead), [plain(getattr(bead, name)) for name in CONTENT], plain(bead.proposed), sorted(edges[id_])]
        for id_, bead in sorted(beads.items())
    ]
    return sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()[:32]


def _stage(bead: Bead) -> str:
    """What of a status matters to a yes: agents move live beads all the time."""
    return bead.status.value if bead.status in (Status.DRAFT, *CLOSED) else "live"


def _chain(nodes: Sequence[Node], dependencies: Sequence[Dependency], expected: Usual) -> Chain:
    from ...analysis.paths import critical_path

    of = {node.id: node for node in nodes}
    beads = critical_path(nodes, dependencies, expected)
    return Chain(beads, sum(weight(of[id_].type, of[id_].estimate, expected) for id_ in beads))


def _warnings(waiting: Sequence[ChangedBead], after: Sequence[Node], edges: Sequence[Dependency]) -> Iterable[str]:
    """What a person should know before the yes."""
    for bead in waiting:
        for one in bead.changes:
            if one.standing is Standing.EDITED:
                yield f"{one.name} was edited since it was proposed: it stays as it is, and the proposal waits"
            elif one.standing is Standing.CLOSED:
                yield f"{one.name}: the bead is {bead.status.value} by now, so this is dropped"
            elif one.standing is Standing.ALREADY:
                yield f"{one.name} is so already, so this is dropped"
    cancelled = {node.id for node in after if node.status is Status.CANCELLED}
    goes = {one.bead for bead in waiting for one in bead.changes if one.part == CANCEL}
    closed = {node.id for node in after if node.status in CLOSED}
    for edge in edges:
        if edge.type is DependencyType.BLOCKS and edge.needs in cancelled & goes and edge.bead not in closed:
            yield f"{edge.bead} waits for {edge.needs}, which would be cancelled: it could never start"


_EDITS = frozenset({Kind.CHANGED, Kind.DEPENDENCY_ADDED, Kind.DEPENDENCY_REMOVED})


def _since(store: Store, drafts: Collection[str]) -> tuple[set[str], set[str]]:
    """(edited, cancelled) live beads since the last commit-strategy; before the first one, nothing was live."""
    changed: set[str] = set()
    removed: set[str] = set()
    after = int(store.setting(COMMITTED) or 0)
    while True:
        page = store.events(after, 1000)
        for event in page:
            if event.bead is not None and event.kind in _EDITS and event.bead not in drafts:
                changed.add(event.bead)
            elif event.bead is not None and event.kind is Kind.CANCELLED:
                removed.add(event.bead)
        if len(page) < 1000:
            return changed - removed, removed
        after = page[-1].seq
