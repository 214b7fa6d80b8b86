"""Structural deadlock: beads that wait for each other in a circle, and the dependency whose removal frees them.

1. A circle is a strongly connected part of the graph of moments (beads.graph): blocks and parent-child together.
2. One strong part may hold many circles. They are named one after the other, each with its cut, and removing all
   cuts leaves no circle; the cut of each is the dependency whose removal frees the most beads.
3. Of equally good cuts a `blocks` is named before a parent-child, then the smaller ids: same graph, same answer.
"""

import copy
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from .graph import (
    Links,
    Moments,
    Need,
    Needs,
    Node,
    Usual,
    b_levels,
    chains_ahead,
    levels_of,
    plain_needs,
    possible,
    usual_of,
    weight,
)
from .model import CLOSED, WAITING_FOR_AGENT, BeadType, Dependency, DependencyType, Status

MAX_TRIALS = 2_000_000
"""Edges looked at while the best cut of one strong part is sought; beyond that, fewer candidates are tried."""


@dataclass(frozen=True, slots=True)
class Circle:
    """Beads that wait for each other. `edges` lead around it in order, the `cut` among them.

    `stuck`: every bead that can never start while this circle stands, in the circle or behind it.
    """

    members: tuple[str, ...]
    edges: tuple[Dependency, ...]
    cut: Dependency
    stuck: tuple[str, ...]


def deadlocks(nodes: Iterable[Node], dependencies: Iterable[Dependency]) -> list[Circle]:
    """Every circle with its cut; empty when all live beads can be done in some order."""
    return circles(Links(nodes, dependencies))


def circles(links: Links) -> list[Circle]:
    """`deadlocks` of links that are already built."""
    order = links.order
    if len(order) == len(links.needs):
        return []
    moments = Moments(links)
    found: list[Circle] = []
    removed: set[Dependency] = set()
    todo = [set(range(len(moments.needs))).difference(order)]
    whole = {moment: part for part in _strong_parts(moments, todo[0], removed) for moment in part}
    while todo:
        # a cut may open other parts too, so each is split anew when its turn comes
        part, *others = _strong_parts(moments, todo.pop(), removed) or [set()]
        todo += others
        if not part:
            continue
        cut = _best_cut(moments, part, removed)
        edges = _around(moments, part, removed, cut)
        members = tuple(dict.fromkeys(bead for edge in edges for bead in (edge.bead, edge.needs)))
        found.append(Circle(members, tuple(edges), cut, _stuck(moments, part | _also_cut(moments, whole, cut))))
        removed.add(cut)
        todo.append(part)
    return sorted(found, key=lambda circle: (circle.members, _preference(circle.cut)))


def _inside(moments: Moments, moment: int, part: Collection[int], removed: Collection[Dependency]) -> list[Need]:
    return [n for n in moments.needs[moment] if n.what in part and (n.by is None or n.by not in removed)]


def _strong_parts(moments: Moments, part: Collection[int], removed: Collection[Dependency]) -> list[set[int]]:
    """The strongly connected parts with more than one moment (Tarjan's algorithm with its own stack)."""
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
            step = next(needs, None)
            if step is not None:
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


def _best_cut(moments: Moments, part: set[int], removed: set[Dependency]) -> Dependency:
    """The dependency without which the fewest beads of the part stay in or behind a circle."""
    inside = {moment: _inside(moments, moment, part, removed) for moment in part}
    edges = sum(len(needs) for needs in inside.values())
    candidates = {need.by for needs in inside.values() for need in needs if need.by is not None}
    if len(candidates) * edges > MAX_TRIALS:
        candidates = set(_some_circle(moments, part, inside))
    trials = sorted(candidates, key=_preference)[: max(1, MAX_TRIALS // edges)]
    best, least = trials[0], len(inside) + 1
    for cut in trials:
        left = _left_over(inside, cut)
        if left < least:
            best, least = cut, left
        if not left:
            break
    return best


def _preference(dependency: Dependency) -> tuple[bool, str, str]:
    return (dependency.type is not DependencyType.BLOCKS, dependency.bead, dependency.needs)


def _left_over(inside: dict[int, list[Need]], cut: Dependency) -> int:
    """How many moments of the part cannot happen when `cut` is removed."""
    number = {moment: place for place, moment in enumerate(inside)}
    rows: list[list[Need]] = [
        [Need(number[n.of], number[n.what], n.by) for n in needs if n.by != cut] for needs in inside.values()
    ]
    return len(rows) - len(possible(rows))


def _some_circle(moments: Moments, part: set[int], inside: dict[int, list[Need]]) -> list[Dependency]:
    root = min(part)
    return [need.by for need in _path(inside, root, root) if need.by is not None]


def _around(moments: Moments, part: set[int], removed: set[Dependency], cut: Dependency) -> list[Dependency]:
    """A shortest circle through the cut, as dependencies in the order in which they are waited for."""
    inside = {moment: _inside(moments, moment, part, removed) for moment in sorted(part)}
    landings = []
    for needs in inside.values():
        for need in needs:
            if need.by == cut:
                landings.append([need, *_path(inside, need.what, need.of)])
    edges = [need.by for need in min(landings, key=len) if need.by is not None]
    return list(dict.fromkeys(edges))


def _path(inside: dict[int, list[Need]], source: int, target: int) -> list[Need]:
    """A shortest way along needs from `source` to `target`; with both the same, a way around."""
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


def _also_cut(moments: Moments, whole: dict[int, set[int]], cut: Dependency) -> set[int]:
    """The strong parts that the cut's dependency runs in: a parent-child one is an edge of two."""
    found: set[int] = set()
    for moment in (moments.start(cut.bead), moments.done(cut.needs)):
        for need in moments.needs[moment]:
            if need.by == cut and moment in whole and need.what in whole[moment]:
                found |= whole[moment]
    return found


def _stuck(moments: Moments, part: set[int]) -> tuple[str, ...]:
    """The beads whose start needs a moment of the part."""
    needed_by: dict[int, list[int]] = {}
    for row in moments.needs:
        for need in row:
            needed_by.setdefault(need.what, []).append(need.of)
    reached = set(part)
    queue = list(part)
    while queue:
        for waiting in needed_by.get(queue.pop(), ()):
            if waiting not in reached:
                reached.add(waiting)
                queue.append(waiting)
    return tuple(bead for bead in moments.beads if moments.start(bead) in reached)


# Readiness: which beads may be assigned now, and for every other one exactly why not.
#
# 1. A bead is ready when it is live, waits for an agent, nobody holds it, has it or deferred it, no retry is being
# waited for, every `blocks` blocker is DONE, and its parent is not closed off.
# 2. Only `done` counts as done: a blocker that is missing, cancelled, a draft or escalated blocks like any other. To a
# bead of the same epic `landed` counts, too: it is worked on where that one landed. Where dependants stack
# (`stacks_on`), that one blocker is no obstacle: the bead is worked on, and its request merged, on top of its request.
# 3. A parent closes its children off while it is blocked, held, deferred, a draft, cancelled, missing, or closed off
# by its own parent. A parent that is open or done does not.
# 4. The store keeps the same answers in columns; a property test and `nobrakes doctor` compare them with these.

__all__ = ["Circle", "Explanation", "Links", "Node", "Reason", "Why", "b_levels", "deadlocks", "explain", "ready_beads"]


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
    """One thing in the way. `bead` is the other bead it is about, `until` seconds since 1970 UTC."""

    why: Why
    text: str
    bead: str | None = None
    status: Status | None = None
    until: float | None = None
    cut: Dependency | None = None  # with DEADLOCKED: the dependency to remove


class Explanation(NamedTuple):
    """Why a bead is not ready; no reasons: it is."""

    bead: str
    reasons: tuple[Reason, ...]

    @property
    def ready(self) -> bool:
        """Whether nothing is in the way."""
        return not self.reasons


class Readiness:
    """Readiness of a whole graph at one moment."""

    def __init__(self, links: Links, now: float) -> None:
        self.links = links
        self.now = now
        self._closed_off: dict[str, Reason | None] = {}
        self._by_blocker: dict[str, Reason] = {}

    def unfinished_blockers(self, bead: str) -> list[str]:
        """The `blocks` blockers that are not done, missing ones included."""
        own = self.links.nodes[bead]
        return [b for b in self.links.blockers.get(bead, ()) if not self._is_finished(b, own.epic, own.stacks_on)]

    def _is_finished(self, blocker: str, epic: str | None, stacks_on: str | None) -> bool:
        """Whether nobody in that epic, or who stacks on the blocker, waits for it any more."""
        node = self.links.nodes.get(blocker)
        if node is None:
            return False
        is_there = node.status is Status.LANDED and node.epic == epic is not None
        return node.status is Status.DONE or is_there or blocker == stacks_on

    def open_blockers(self, bead: str) -> int:
        """What the store counts: unfinished blockers, and the parents that close the bead off."""
        parents = self.links.parents.get(bead, ())
        return len(self.unfinished_blockers(bead)) + sum(self.closes_off(p) is not None for p in parents)

    def ready(self, bead: str) -> bool:
        """Whether an agent may be given the bead."""
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
        """What makes this parent close its children off, up to the parent where it begins; None: it does not."""
        path = [bead]
        while path:
            current = path[-1]
            if current in self._closed_off:
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
        """What the bead itself brings along that closes off its children."""
        node = self.links.nodes.get(bead)
        if node is None:
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
        """The reason that all who wait for this blocker share."""
        known = self._by_blocker.get(blocker)
        if known is None:
            known = self._by_blocker[blocker] = self._of_blocker(blocker)
        return known

    def _of_blocker(self, blocker: str) -> Reason:
        node = self.links.nodes.get(blocker)
        if node is not None and node.status is Status.LANDED:
            text = f"blocked by {blocker} (landed), which is done when the pull request of {node.epic} is merged"
            return Reason(Why.BLOCKED, text, blocker, node.status)
        if node is not None and node.status is not Status.CANCELLED:
            return Reason(Why.BLOCKED, f"blocked by {blocker} ({node.status.value})", blocker, node.status)
        what = "is cancelled" if node is not None else "does not exist"
        text = f"blocked by {blocker}, which {what}: it will never be done; remove or replace the dependency"
        return Reason(Why.BLOCKED_FOR_EVER, text, blocker, node.status if node is not None else None)

    def reasons(self, bead: str) -> list[Reason]:
        """Everything in the way of the bead, but deadlock."""
        node = self.links.nodes[bead]
        closed = _CLOSED.get(node.status)
        if closed is not None:
            return [closed]
        waits = node.status in WAITING_FOR_AGENT and node.type != BeadType.EPIC
        if waits and node[_ASIDE:] == _NOTHING_ELSE and bead not in self.links.parents:  # as most of a whole graph
            known = self._by_blocker
            return [
                known[blocker] if blocker in known else self._blocked(blocker)
                for blocker in self.links.blockers.get(bead, ())
                if not self._is_finished(blocker, node.epic, None)
            ]
        found: list[Reason] = []
        if node.type == BeadType.EPIC:
            found.append(Reason(Why.EPIC, "an epic only contains beads; nobody is assigned to it"))
        if node.status in _BY_STATUS:
            found.append(_BY_STATUS[node.status])
        if node.assignee is not None:
            found.append(Reason(Why.ASSIGNED, f"assigned to {node.assignee}"))
        if node.held is not None:
            found.append(Reason(Why.HELD, f"held: {node.held}"))
        if self._ahead(node.defer_until):
            found.append(Reason(Why.DEFERRED, "deferred", until=node.defer_until))
        if self._ahead(node.retry_at):
            found.append(Reason(Why.RETRY, "waits before the next attempt", until=node.retry_at))
        found += [self._blocked(blocker) for blocker in self.unfinished_blockers(bead)]
        for parent in self.links.parents.get(bead, ()):
            cause = self.closes_off(parent)
            if cause is not None:
                text = f"its parent {parent} is closed off: {cause.text}"
                found.append(Reason(Why.PARENT, text, parent, cause.status, cause.until))
        return found


_ASIDE = Node._fields.index("held")
_NOTHING_ELSE = (None, None, None, None, None)
"""What a bead's held, defer_until, retry_at, assignee and stacks_on mostly are."""
_CLOSED = {
    Status.DONE: Reason(Why.DONE, "it is done", status=Status.DONE),
    Status.CANCELLED: Reason(Why.CANCELLED, "it is cancelled", status=Status.CANCELLED),
}
_BY_STATUS = {
    Status.DRAFT: Reason(Why.DRAFT, "a draft: a person has to approve it", status=Status.DRAFT),
    Status.ESCALATED: Reason(Why.ESCALATED, "waits for a person's decision", status=Status.ESCALATED),
    Status.NEEDS_REVIEW: Reason(Why.IN_REVIEW, "waits for the Reviewer", status=Status.NEEDS_REVIEW),
    Status.LANDED: Reason(
        Why.IN_REVIEW, "is on its epic's branch, whose pull request people merge", status=Status.LANDED
    ),
    Status.REVIEWING: Reason(Why.IN_REVIEW, "is being reviewed", status=Status.REVIEWING),
    Status.WRITING_TESTS: Reason(Why.ASSIGNED, "its tests are being written", status=Status.WRITING_TESTS),
    Status.DOING: Reason(Why.ASSIGNED, "is being worked on", status=Status.DOING),
}


def ready_beads(nodes: Iterable[Node], dependencies: Iterable[Dependency], now: float) -> list[str]:
    """The ids of the ready beads, sorted. The Assigner's order is the store's affair."""
    readiness = Readiness(Links(nodes, dependencies), now)
    return sorted(bead for bead in readiness.links.nodes if readiness.ready(bead))


def explain(nodes: Iterable[Node], dependencies: Iterable[Dependency], now: float) -> dict[str, Explanation]:
    """For every bead why it is not ready, by id; a ready bead has no reasons."""
    links = Links(nodes, dependencies)
    found = reasons_of(links, now, circles(links), sorted(links.nodes))
    return {bead: Explanation(bead, tuple(reasons)) for bead, reasons in found}


def reasons_of(
    links: Links, now: float, found: Iterable[Circle], beads: Iterable[str]
) -> Iterator[tuple[str, list[Reason]]]:
    """Each of these beads with why it is not ready; `found` are the circles of the graph."""
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
    return f"can never start: {around} wait for each other; remove '{cut.bead} {verb} {cut.needs}'"


# When everything that is planned may be done, from what was merged lately. A guess, and it says on what it stands.
#
# 1. The longest chain takes its beads one after another, each as long as beads took lately; everything together takes
# as long as it needs at the rate at which beads were merged. The longer of the two is the forecast.
# 2. Fewer than LEAST merges say nothing.

LEAST = 3


@dataclass(frozen=True, slots=True)
class Merge:
    """A bead that was merged: when its first attempt began, and when it was merged (seconds since 1970)."""

    began: float
    merged: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """`seconds` from now; it stands on `merges`, and `chain` says whether the longest chain decides."""

    seconds: float
    merges: int
    chain: bool


def forecast(left: int, chain: int, merges: Sequence[Merge]) -> Forecast | None:
    """For `left` beads, of which `chain` wait for each other in a row; None: nothing can be said."""
    if not left or len(merges) < LEAST:
        return None
    took = sorted(max(0.0, one.merged - one.began) for one in merges)
    alone = chain * took[len(took) // 2]
    times = sorted(one.merged for one in merges)
    together = left * (times[-1] - min(one.began for one in merges)) / len(merges)
    return Forecast(max(alone, together), len(merges), alone >= together)


# What-if: what one bead's end, an answer to it, or its delay changes in the rest of the graph.
#
# 1. The end is the longest chain of live work by estimate (beads.graph), however many agents there are.
# 2. A delay is time in front of the bead: whatever waits for its start waits as long. Slack is how long that may be
# before the end moves.
# 3. A bead that is done completes the epics whose last open bead it was, and they what waits for them.
# 4. What it waits for, and what waits for it, is meant at any depth, closed beads among them.


class Change(StrEnum):
    """What might happen to a bead."""

    DONE = "done"
    ANSWERED = "answered"
    DELAYED = "delayed"


@dataclass(frozen=True, slots=True)
class Later:
    """A bead that can start this many minutes later."""

    bead: str
    minutes: int


@dataclass(frozen=True, slots=True)
class Consequences:
    """Minutes are of the longest chain. `unestimated`: live beads that count as `usual` minutes each."""

    ready: tuple[str, ...]  # beads that may be assigned then, and may not be now
    completed: tuple[str, ...]  # epics that are done by it
    later: tuple[Later, ...]  # most first
    end_before: int
    end_after: int
    slack: int
    needs: tuple[str, ...]
    frees: tuple[str, ...]
    unestimated: int
    usual: int


def consequences(
    links: Links,
    now: float,
    bead: str,
    change: Change,
    minutes: int = 0,
    returns_to: Status = Status.NEEDS_DOER,
    expected: Usual | None = None,
) -> Consequences:
    """What the change brings about; KeyError for a bead that is not there.

    `minutes`: of a delay. `returns_to`: of an answered bead, the status that it goes back to. `expected`: what
    a bead without an estimate takes; None: what the estimates of the others tell.
    """
    expected = expected or usual_of(links.nodes.values())
    node = links.nodes[bead]
    needs, frees = _reach(links, bead)
    then, completed = links, tuple[str, ...]()
    if change is Change.ANSWERED and node.status is Status.ESCALATED:
        then = _with(links, {bead: node._replace(status=returns_to, assignee=None, retry_at=None)})
    elif change is Change.DONE:
        then, completed = _done(links, bead, now)
    before, after = Readiness(links, now), Readiness(then, now)
    near = [one for one in (bead, *frees) if one in links.nodes]
    ready = tuple(one for one in near if after.ready(one) and not before.ready(one))
    starts, ends, behind = _times(links, expected)
    end = max(ends.values(), default=0)
    live = links.live(bead)
    delayed = _times(links, expected, bead, minutes)[0] if change is Change.DELAYED and live and minutes > 0 else starts
    later = [Later(one, delayed[one] - at) for one, at in starts.items() if delayed[one] > at]
    slack = max(0, end - starts[bead] - behind[bead]) if live else 0
    moved = max(0, minutes - slack) if later else 0
    after_all = max(_times(then, expected)[1].values(), default=0) if then is not links else end + moved
    unestimated = sum(
        not one.estimate for one in links.nodes.values() if one.id in starts and one.type != BeadType.EPIC
    )
    return Consequences(
        ready,
        completed,
        tuple(sorted(later, key=lambda one: (-one.minutes, one.bead))),
        end,
        after_all,
        slack,
        needs,
        frees,
        unestimated,
        expected.minutes,
    )


def _with(links: Links, changed: dict[str, Node]) -> Links:
    """The same links between beads of which some are otherwise."""
    other = copy.copy(links)
    other.nodes = {**links.nodes, **changed}
    return other


def _done(links: Links, bead: str, now: float) -> tuple[Links, tuple[str, ...]]:
    """The graph when the bead is done, with everything in it if it is an epic, and the epics that this completes."""
    changed: dict[str, Node] = {}
    inside = [bead]
    for one in inside:  # it grows meanwhile
        if one not in changed and links.live(one):
            changed[one] = links.nodes[one]._replace(status=Status.DONE)
            inside += links.children.get(one, ()) if links.nodes[one].type == BeadType.EPIC else ()
    completed: list[str] = []
    waiting = list(changed)
    for one in waiting:  # it grows meanwhile
        then = _with(links, changed)
        for epic in (*links.parents.get(one, ()), *links.dependents.get(one, ())):
            if epic not in changed and _is_complete(then, epic, now):
                changed[epic] = links.nodes[epic]._replace(status=Status.DONE)
                completed.append(epic)
                waiting.append(epic)
                then = _with(links, changed)
    return _with(links, changed), tuple(completed)


def _is_complete(links: Links, epic: str, now: float) -> bool:
    """Whether it is a live epic that nothing is in the way of, with all of its beads closed and one of them done."""
    node = links.nodes.get(epic)
    if node is None or node.type != BeadType.EPIC or node.status is not Status.OPEN or node.held is not None:
        return False
    inside = [links.nodes[child].status for child in links.children.get(epic, ()) if child in links.nodes]
    if not all(status in CLOSED for status in inside) or Status.DONE not in inside:
        return False
    return not Readiness(links, now).open_blockers(epic) and not (node.defer_until or 0) > now


def _reach(links: Links, bead: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Everything that the bead waits for, and everything that waits for it."""
    nodes = list(links.nodes.values())
    place = {node.id: number for number, node in enumerate(nodes)}
    needs = plain_needs(links, nodes)
    start = 2 * place[bead]
    found = []
    # what is needed has to end; what waits cannot begin, or, as an epic, cannot end
    for rows, first in ((needs, start), (_turned(needs), start + 1)):
        seen = _walk(rows, first)
        own = {moment >> 1 for moment in seen if moment & 1 or rows is not needs}
        found.append(tuple(sorted(nodes[number].id for number in own - {place[bead]})))
    inside = set(links.inside(bead))
    return tuple(one for one in found[0] if one not in inside), tuple(one for one in found[1] if one not in inside)


def _walk(rows: Sequence[Sequence[int]], first: int) -> set[int]:
    seen, waiting = {first}, [first]
    while waiting:
        new = [moment for moment in rows[waiting.pop()] if moment not in seen]
        seen.update(new)
        waiting += new
    return seen


def _turned(needs: Needs) -> Needs:
    turned: Needs = [[] for _ in needs]
    for moment, row in enumerate(needs):
        for needed in row:
            turned[needed].append(moment)
    return turned


def _times(
    links: Links, expected: Usual, delayed: str | None = None, minutes: int = 0
) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    """Of every live bead, in minutes: when it can start, when it can end, and the longest chain from its start on."""
    live = [node for node in links.nodes.values() if node.status not in CLOSED]
    needs = plain_needs(links, live)
    weights = [weight(node.type, node.estimate, expected) for node in live]
    if delayed is not None:  # time in front of it, as a bead of its own
        start = next(2 * number for number, node in enumerate(live) if node.id == delayed)
        needs += [needs[start], [len(needs)]]
        needs[start] = [len(needs) - 1]
        weights.append(minutes)
    behind = levels_of(needs, weights)
    ahead = chains_ahead(needs, weights)
    starts = {node.id: ahead[2 * number] for number, node in enumerate(live)}
    ends = {node.id: ahead[2 * number + 1] for number, node in enumerate(live)}
    return starts, ends, {node.id: behind[2 * number] for number, node in enumerate(live)}
