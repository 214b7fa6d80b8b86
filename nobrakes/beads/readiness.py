"""Readiness: which beads may be assigned now, why others may not, and when all may be done. Deadlocks and their cuts.

1. A circle is a strongly connected part of the graph of moments (beads.graph), over blocks and parent-child.
2. A strong part may hold many circles. Each report names one cut, the dependency whose removal frees the most beads;
   removing all cuts leaves no circle.
3. Ties prefer a `blocks` to a parent-child, then smaller ids: same graph, same answer.
4. Epics nested in a circle are one even if some of them are closed, which have no moments.
"""

from collections import deque
from collections.abc import Collection, Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from ..records import frozen, grouped
from .graph import Links, Need, Node, TimePoints, possible
from .model import WAITING_FOR_AGENT, BeadType, Dependency, DependencyType, Status

MAX_TRIALS = 2_000_000
"""Limit of inspected edges in the search for a strong part's best cut; beyond it fewer candidates are tried."""


@frozen
class Circle:
    """Beads that wait for each other. `edges` lead around it in order, with the `cut`. `stuck`: every bead in or behind
    the circle."""

    members: tuple[str, ...]
    edges: tuple[Dependency, ...]
    cut: Dependency
    stuck: tuple[str, ...]


def deadlocks(nodes: Iterable[Node], dependencies: Iterable[Dependency]) -> list[Circle]:
    return circles(Links(nodes, dependencies))


def circles(links: Links, kept: Collection[Dependency] = frozenset()) -> list[Circle]:
    """As `deadlocks`, of existing links. `kept`: cut only where a circle has no other dependency."""
    found = [*_waiting_circles(links, kept), *_nesting_circles(links, kept)]
    return sorted(found, key=lambda circle: (circle.members, _preference(circle.cut)))


def _nesting_circles(links: Links, kept: Collection[Dependency]) -> Iterator[Circle]:
    """Epics in each other with a closed one among them; the others wait for each other anyway."""
    seen = set[str]()
    for bead in links.parents:
        if links.live(bead):
            continue
        path: dict[str, None] = {}
        while bead in links.parents and bead not in seen and bead not in path:
            path[bead] = None
            bead = links.parents[bead][0]
        seen.update(path)
        around = [*path][[*path].index(bead) :] if bead in path else []
        if all(map(links.live, around)):
            continue
        edges = [Dependency(one, links.parents[one][0], DependencyType.PARENT_CHILD) for one in around]
        cut = min(edges, key=lambda edge: (edge in kept, not links.live(edge.bead), edge.bead))
        edges = edges[edges.index(cut) :] + edges[: edges.index(cut)]
        yield Circle(tuple(edge.bead for edge in edges), tuple(edges), cut, tuple(sorted(around)))


def _waiting_circles(links: Links, kept: Collection[Dependency]) -> list[Circle]:
    order = links.order
    if len(order) == len(links.needs):
        return []
    moments = TimePoints(links)
    found: list[Circle] = []
    removed: set[Dependency] = set()
    todo = [set(range(len(moments.needs))).difference(order)]
    whole = {moment: part for part in _strong_parts(moments, todo[0], removed) for moment in part}
    while todo:
        # a cut may open other parts too, so each is split again when its turn comes
        part, *others = _strong_parts(moments, todo.pop(), removed) or [set()]
        todo += others
        if not part:
            continue
        cut = _best_cut(moments, part, removed, kept)
        edges = _around(moments, part, removed, cut)
        members = tuple(dict.fromkeys(bead for edge in edges for bead in (edge.bead, edge.needs)))
        found.append(Circle(members, tuple(edges), cut, _stuck(moments, part | _also_cut(moments, whole, cut))))
        removed.add(cut)
        todo.append(part)
    return found


def _inside(moments: TimePoints, moment: int, part: Collection[int], removed: Collection[Dependency]) -> list[Need]:
    return [n for n in moments.needs[moment] if n.what in part and (n.by is None or n.by not in removed)]


def _strong_parts(moments: TimePoints, part: Collection[int], removed: Collection[Dependency]) -> list[set[int]]:
    """The strongly connected parts with several moments (Tarjan's algorithm with its own stack)."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    open_: list[int] = []
    is_open: set[int] = set()
    parts: list[set[int]] = []
    for root in sorted(part):
        if root in index:
            continue
        index[root] = low[root] = len(index)
        open_.append(root)
        is_open.add(root)
        path = [(root, iter(_inside(moments, root, part, removed)))]
        while path:
            moment, needs = path[-1]
            if (step := next(needs, None)) is not None:
                if step.what not in index:
                    index[step.what] = low[step.what] = len(index)
                    open_.append(step.what)
                    is_open.add(step.what)
                    path.append((step.what, iter(_inside(moments, step.what, part, removed))))
                elif step.what in is_open:
                    low[moment] = min(low[moment], index[step.what])
                continue
            path.pop()
            if path:
                low[path[-1][0]] = min(low[path[-1][0]], low[moment])
            if low[moment] == index[moment]:
                strong: set[int] = set()
                while moment not in strong:
                    strong.add(open_.pop())
                is_open -= strong
                if len(strong) > 1 or any(need.what == moment for need in _inside(moments, moment, part, removed)):
                    parts.append(strong)
    return parts


def _best_cut(
    moments: TimePoints, part: set[int], removed: set[Dependency], kept: Collection[Dependency]
) -> Dependency:
    """The dependency whose removal frees the most beads of the part."""
    inside = {moment: _inside(moments, moment, part, removed) for moment in part}
    edges = sum(len(needs) for needs in inside.values())
    candidates = {need.by for needs in inside.values() for need in needs if need.by is not None}
    if len(candidates) * edges > MAX_TRIALS:
        root = min(part)
        candidates = {need.by for need in _path(inside, root, root) if need.by is not None}
    candidates = candidates.difference(kept) or candidates
    trials = sorted(candidates, key=_preference)[: max(1, MAX_TRIALS // edges)]
    best, least = trials[0], len(inside) + 1
    for cut in trials:
        if (left := _left_over(inside, cut)) < least:
            best, least = cut, left
        if not left:
            break
    return best


def _preference(dependency: Dependency) -> tuple[bool, str, str]:
    return (dependency.type is not DependencyType.BLOCKS, dependency.bead, dependency.needs)


def _left_over(inside: dict[int, list[Need]], cut: Dependency) -> int:
    number = {moment: place for place, moment in enumerate(inside)}
    rows: list[list[Need]] = [
        [Need(number[n.of], number[n.what], n.by) for n in needs if n.by != cut] for needs in inside.values()
    ]
    return len(rows) - len(possible(rows))


def _around(moments: TimePoints, part: set[int], removed: set[Dependency], cut: Dependency) -> list[Dependency]:
    inside = {moment: _inside(moments, moment, part, removed) for moment in sorted(part)}
    landings = []
    for needs in inside.values():
        for need in needs:
            if need.by == cut:
                landings.append([need, *_path(inside, need.what, need.of)])
    return list(dict.fromkeys([need.by for need in min(landings, key=len) if need.by is not None]))


def _path(inside: dict[int, list[Need]], source: int, target: int) -> list[Need]:
    """A shortest path along needs; from a moment to itself, a circle."""
    came: dict[int, Need] = {}
    queue = deque([source])
    while target not in came:
        for need in inside[queue.popleft()]:
            if need.what not in came:
                came[need.what] = need
                queue.append(need.what)
    way = [came[target]]
    while way[-1].of != source:
        way.append(came[way[-1].of])
    return way[::-1]


def _also_cut(moments: TimePoints, whole: dict[int, set[int]], cut: Dependency) -> set[int]:
    """The strong parts with the cut's dependency: a parent-child one is an edge of two."""
    found: set[int] = set()
    for moment in (moments.start(cut.bead), moments.done(cut.needs)):
        for need in moments.needs[moment]:
            if need.by == cut and moment in whole and need.what in whole[moment]:
                found |= whole[moment]
    return found


def _stuck(moments: TimePoints, part: set[int]) -> tuple[str, ...]:
    needed_by = grouped((need.what, need.of) for row in moments.needs for need in row)
    reached = set(part)
    queue = list(part)
    while queue:
        for waiting in needed_by.get(queue.pop(), ()):
            if waiting not in reached:
                reached.add(waiting)
                queue.append(waiting)
    return tuple(bead for bead in moments.beads if moments.start(bead) in reached)


# A parent closes its children off while it is blocked, held, deferred, a draft, cancelled, missing or closed off
# itself. Only `done` counts as done; `landed` does to beads of the same epic. The store keeps the same answers in
# columns, which doctor compares with these.


class Why(StrEnum):
    """What keeps a bead from being assigned."""

    DRAFT = "draft"
    EPIC = "epic"
    HELD = "held"
    DEFERRED = "deferred"
    BLOCKED = "blocked"  # by a bead that will be done some day
    BLOCKED_FOR_EVER = "blocked_for_ever"  # by a bead that is cancelled or does not exist
    PARENT = "parent"
    ASSIGNED = "assigned"
    RETRY = "retry"
    IN_REVIEW = "in_review"
    ESCALATED = "escalated"
    DONE = "done"
    CANCELLED = "cancelled"
    DEADLOCKED = "deadlocked"


class Reason(NamedTuple):
    """One blocker. `bead` is the other bead, `until` seconds since 1970 UTC."""

    why: Why
    text: str
    bead: str | None = None
    status: Status | None = None
    until: float | None = None
    cut: Dependency | None = None  # with DEADLOCKED: the dependency to remove


class Explanation(NamedTuple):
    """Why a bead is not ready; without reasons it is."""

    bead: str
    reasons: tuple[Reason, ...]

    @property
    def ready(self) -> bool:
        return not self.reasons


class Readiness:
    """Readiness of a whole graph at one moment."""

    def __init__(self, links: Links, now: float) -> None:
        self.links = links
        self.now = now
        self._closed_off: dict[str, Reason | None] = {}
        self._by_blocker: dict[str, Reason] = {}

    def unfinished_blockers(self, bead: str) -> list[str]:
        own = self.links.nodes[bead]
        return [b for b in self.links.blockers.get(bead, ()) if not self._is_finished(b, own.epic)]

    def _is_finished(self, blocker: str, epic: str | None) -> bool:
        """Whether beads in that epic no longer wait for the blocker."""
        if (node := self.links.nodes.get(blocker)) is None:
            return False
        is_there = node.status is Status.LANDED and node.epic == epic is not None
        return node.status is Status.DONE or is_there

    def open_blockers(self, bead: str) -> int:
        parents = self.links.parents.get(bead, ())
        return len(self.unfinished_blockers(bead)) + sum(self.closes_off(p) is not None for p in parents)

    def ready(self, bead: str) -> bool:
        node = self.links.nodes[bead]
        return (
            node.status in WAITING_FOR_AGENT
            and node.type != BeadType.EPIC
            and node.assignee is None
            and node.held is None
            and not self._ahead(node.defer_until)
            and not self._ahead(node.retry_at)
            and not self.open_blockers(bead)
        )

    def _ahead(self, moment: float | None) -> bool:
        return moment is not None and moment > self.now

    def closes_off(self, bead: str) -> Reason | None:
        path = [bead]
        while path:
            if (current := path[-1]) in self._closed_off:
                path.pop()
                continue
            own = self._obstacle(current)
            above = [p for p in self.links.parents.get(current, ()) if p != current]
            unknown = [p for p in above if p not in self._closed_off and p not in path]
            if own is None and unknown:
                path.append(unknown[0])
                continue
            known = (self._closed_off.get(p) for p in above)
            self._closed_off[current] = own or next((reason for reason in known if reason is not None), None)
            path.pop()
        return self._closed_off[bead]

    def _obstacle(self, bead: str) -> Reason | None:
        if (node := self.links.nodes.get(bead)) is None:
            return Reason(Why.BLOCKED_FOR_EVER, f"{bead} does not exist", bead)
        if node.status is Status.CANCELLED:
            return Reason(Why.CANCELLED, f"{bead} is cancelled", bead, node.status)
        if node.status is Status.DRAFT:
            return Reason(Why.DRAFT, f"{bead} is a draft", bead, node.status)
        if node.held is not None:
            return Reason(Why.HELD, f"{bead} is held: {node.held}", bead, node.status)
        if self._ahead(node.defer_until):
            return Reason(Why.DEFERRED, f"{bead} is deferred", bead, node.status, node.defer_until)
        for blocker in self.unfinished_blockers(bead):
            return Reason(Why.BLOCKED, f"{bead} is {self._blocked(blocker).text}", bead, node.status)
        return None

    def _blocked(self, blocker: str) -> Reason:
        if (known := self._by_blocker.get(blocker)) is None:
            known = self._by_blocker[blocker] = self._blocker_reason(blocker)
        return known

    def _blocker_reason(self, blocker: str) -> Reason:
        if (node := self.links.nodes.get(blocker)) is not None and node.status is Status.LANDED:
            text = f"blocked by {blocker} (landed), which is done when the pull request of {node.epic} is merged"
            return Reason(Why.BLOCKED, text, blocker, node.status)
        if node is not None and node.status is not Status.CANCELLED:
            return Reason(Why.BLOCKED, f"blocked by {blocker} ({node.status.value})", blocker, node.status)
        what = "is cancelled" if node is not None else "does not exist"
        text = f"blocked by {blocker}, which {what} and so is never done; remove or replace the dependency"
        return Reason(Why.BLOCKED_FOR_EVER, text, blocker, node.status if node is not None else None)

    def reasons(self, bead: str) -> list[Reason]:
        """Everything that blocks the bead, except deadlock."""
        node = self.links.nodes[bead]
        if (closed := _CLOSED.get(node.status)) is not None:
            return [closed]
        waits = node.status in WAITING_FOR_AGENT and node.type != BeadType.EPIC
        if waits and node[_FROM_HELD:] == _NOTHING_ELSE and bead not in self.links.parents:  # as most of a whole graph
            known = self._by_blocker
            return [
                known[blocker] if blocker in known else self._blocked(blocker)
                for blocker in self.links.blockers.get(bead, ())
                if not self._is_finished(blocker, node.epic)
            ]
        found: list[Reason] = []
        if node.type == BeadType.EPIC:
            found.append(Reason(Why.EPIC, "agents work on the beads of an epic, not on the epic itself"))
        if node.status in _BY_STATUS:
            found.append(_BY_STATUS[node.status])
        if node.assignee is not None:
            found.append(Reason(Why.ASSIGNED, f"assigned to {node.assignee}"))
        if node.held is not None:
            found.append(Reason(Why.HELD, f"held: {node.held}"))
        if self._ahead(node.defer_until):
            found.append(Reason(Why.DEFERRED, "deferred", until=node.defer_until))
        if self._ahead(node.retry_at):
            found.append(Reason(Why.RETRY, "is waiting before its next attempt", until=node.retry_at))
        found += [self._blocked(blocker) for blocker in self.unfinished_blockers(bead)]
        for parent in self.links.parents.get(bead, ()):
            if (cause := self.closes_off(parent)) is not None:
                text = f"its parent {parent} cannot continue: {cause.text}"
                found.append(Reason(Why.PARENT, text, parent, cause.status, cause.until))
        return found


_FROM_HELD = Node._fields.index("held")
_NOTHING_ELSE = (None, None, None, None)
_CLOSED = {
    Status.DONE: Reason(Why.DONE, "it is done", status=Status.DONE),
    Status.CANCELLED: Reason(Why.CANCELLED, "it is cancelled", status=Status.CANCELLED),
}
_BY_STATUS = {
    Status.DRAFT: Reason(Why.DRAFT, "is a draft, which a person has to approve", status=Status.DRAFT),
    Status.ESCALATED: Reason(Why.ESCALATED, "is waiting for a person's decision", status=Status.ESCALATED),
    Status.NEEDS_REVIEW: Reason(Why.IN_REVIEW, "is waiting for the Reviewer", status=Status.NEEDS_REVIEW),
    Status.LANDED: Reason(
        Why.IN_REVIEW, "is on its epic's branch until people merge the epic's pull request", status=Status.LANDED
    ),
    Status.REVIEWING: Reason(Why.IN_REVIEW, "the Reviewer is checking the bead's work", status=Status.REVIEWING),
    Status.WRITING_TESTS: Reason(Why.ASSIGNED, "a Test Writer is writing the tests", status=Status.WRITING_TESTS),
    Status.DOING: Reason(Why.ASSIGNED, "an agent is working on the bead", status=Status.DOING),
}


def explain(nodes: Iterable[Node], dependencies: Iterable[Dependency], now: float) -> dict[str, Explanation]:
    links = Links(nodes, dependencies)
    found = reasons_of(links, now, circles(links), sorted(links.nodes))
    return {bead: Explanation(bead, tuple(reasons)) for bead, reasons in found}


def reasons_of(
    links: Links, now: float, found: Iterable[Circle], beads: Iterable[str]
) -> Iterator[tuple[str, list[Reason]]]:
    """Each bead with its blockers; `found`: the graph's circles."""
    readiness = Readiness(links, now)
    stuck: dict[str, list[Reason]] = {}
    for circle in found:
        reason = Reason(Why.DEADLOCKED, _deadlock_text(circle), cut=circle.cut)
        for bead in circle.stuck:
            stuck.setdefault(bead, []).append(reason)
    for bead in beads:
        yield bead, [*readiness.reasons(bead), *stuck.get(bead, ())]


def _deadlock_text(circle: Circle) -> str:
    around = " -> ".join(circle.members[:10]) + (" -> ..." if len(circle.members) > 10 else "")
    cut = circle.cut
    verb = "depends on" if cut.type is DependencyType.BLOCKS else "is a child of"
    return f"can never start, because {around} wait for each other; remove '{cut.bead} {verb} {cut.needs}'"
