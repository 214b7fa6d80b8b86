"""The dependency graph of beads as plain dicts, the basis of every query about the whole graph.

1. `Bead.epic` is the one truth about who contains whom; a `parent-child` dependency is that fact, written as a row.
2. A bead is two moments, start(x) and done(x). done(x) needs start(x); start(x) needs done(b) of every `blocks`
   blocker b and start(p) of its parent p; done(e) of an epic e needs done(c) of every child c.
3. What is done needs nothing more, and what is cancelled will never happen: neither is in that graph of moments.
4. Nothing recurses: 100,000 beads in one chain are a normal graph.
"""

import math
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property, partial
from itertools import accumulate, chain
from typing import NamedTuple

from ..records import frozen, grouped
from .model import CLOSED, Bead, BeadType, Dependency, DependencyType, Status

# Each bead rises by its own clock, a day after it became ready, and each day after. The store keeps the class as of now
# and when it rises next.
AGEING_SECONDS = 24 * 3600.0
"""A bead rises one class for each such wait, so nothing starves."""


def days(ready_since: float, now: float) -> int:
    return max(0, math.floor((now - ready_since) / AGEING_SECONDS))


def rank(priority: int, ready_since: float, now: float) -> int:
    """The class a bead competes in, smaller first; below 0 for urgent ones that have waited."""
    return priority - days(ready_since, now)


def rises_at(ready_since: float, now: float) -> float:
    return ready_since + (days(ready_since, now) + 1) * AGEING_SECONDS


# The same graph as plain numbers, where an object an edge would be most of the work: start(x) and done(x) of the i-th
# live bead are 2i and 2i + 1.
Needs = list[list[int]]
"""For each moment the moments that it needs."""


def needs_of(
    live: Sequence[tuple[str, bool]], blocks: Iterable[tuple[str, Sequence[str]]], parents: Iterable[tuple[str, str]]
) -> Needs:
    """What each moment needs. `live`: (bead, is epic); others: (bead, needed), ignored if an end is closed."""
    done = {bead: 2 * place + 1 for place, (bead, _) in enumerate(live)}  # the same object each time it is needed
    epics = {bead for bead, is_epic in live if is_epic}
    needs: Needs = [row for place in done.values() for row in ([], [place - 1])]
    for bead, blockers in blocks:
        if (place := done.get(bead)) is not None:
            needs[place - 1] += [*filter(None, map(done.get, blockers))]  # as long as it is: most of a large graph
    for bead, parent in parents:
        if bead in done and parent in done:
            needs[done[bead] - 1].append(done[parent] - 1)
            if parent in epics:
                needs[done[parent]].append(done[bead])
    return needs


def order_of(needs: Sequence[Sequence[int]]) -> Sequence[int]:
    """The possible moments in order; those in or behind a circle are left out."""
    missing = [len(row) for row in needs]
    # what needs the moment i is in `waiting` from ends[i] on, up to ends[i + 1]: a list each takes ten times as much
    ends = array("i", bytes(4 * (len(needs) + 1)))
    for row in needs:
        for needed in row:
            ends[needed] += 1
    ends = array("i", accumulate(ends))
    waiting = array("i", bytes(4 * ends[-1]))
    for moment in range(len(needs) - 1, -1, -1):
        for needed in needs[moment]:
            ends[needed] = at = ends[needed] - 1
            waiting[at] = moment
    order = array("i", [moment for moment, count in enumerate(missing) if not count])
    for moment in order:  # it grows meanwhile
        for one in waiting[ends[moment] : ends[moment + 1]]:
            missing[one] -= 1
            if not missing[one]:
                order.append(one)
    return order


def levels_of(needs: Sequence[Sequence[int]], weights: Sequence[int], order: Sequence[int] | None = None) -> list[int]:
    """The heaviest chain behind each moment, by the beads' `weights`; in a circle: what is known. `order`: if known."""
    order = order_of(needs) if order is None else order
    stuck = sorted(set(range(len(needs))).difference(order), reverse=True) if len(order) < len(needs) else []
    reached = [0] * len(needs)
    for moment in chain(stuck, reversed(order)):
        behind = reached[moment]
        for needed in needs[moment]:
            # only a bead's own end follows from its own beginning, and takes its time
            far = behind + weights[moment >> 1] if needed == moment - 1 and moment & 1 else behind
            if far > reached[needed]:
                reached[needed] = far
    return reached


def chains_ahead(needs: Sequence[Sequence[int]], weights: Sequence[int]) -> list[int]:
    """The heaviest chain before each moment: the earliest time of a start or end."""
    # seen from the other side an end is a start: what is ahead of a moment is what is behind its mirror
    mirrored: Needs = [[] for _ in needs]
    for moment, row in enumerate(needs):
        for needed in row:
            mirrored[needed ^ 1].append(moment ^ 1)
    behind = levels_of(mirrored, weights)
    return [behind[moment ^ 1] for moment in range(len(needs))]


class Node(NamedTuple):
    """What graph queries need of a bead. A tuple, since graphs have tens of thousands."""

    id: str
    status: Status
    type: str
    title: str
    priority: int
    estimate: int | None
    epic: str | None
    held: str | None
    defer_until: float | None
    retry_at: float | None
    assignee: str | None


def node_of(bead: Bead) -> Node:
    return Node(
        bead.id,
        bead.status,
        BeadType(bead.type).value,
        bead.title,
        bead.priority,
        bead.estimate,
        bead.epic,
        bead.held,
        bead.defer_until,
        bead.retry_at,
        bead.assignee,
    )


class Links:
    """The blockers, dependents, parents and children of every bead, sorted and unique."""

    def __init__(self, nodes: Iterable[Node], dependencies: Iterable[Dependency]) -> None:
        self.nodes = {node.id: node for node in nodes}
        blockers: defaultdict[str, list[str]] = defaultdict(list)
        parents: defaultdict[str, list[str]] = defaultdict(list)
        for node in self.nodes.values():
            if node.epic is not None:
                parents[node.id].append(node.epic)
        blocks, parent_child = DependencyType.BLOCKS, DependencyType.PARENT_CHILD  # each look-up costs
        for bead, needs, type_ in dependencies:
            if type_ is blocks:
                blockers[bead].append(needs)
            elif type_ is parent_child:
                parents[bead].append(needs)
        self.blockers = _once(blockers, self.nodes)
        self.parents = _once(parents, self.nodes)

    @cached_property
    def dependents(self) -> dict[str, list[str]]:
        return _turned(self.blockers)

    @cached_property
    def children(self) -> dict[str, list[str]]:
        return _turned(self.parents)

    @cached_property
    def alive(self) -> list[Node]:
        return [node for node in map(self.nodes.__getitem__, sorted(self.nodes)) if node.status not in CLOSED]

    @cached_property
    def needs(self) -> Needs:
        return plain_needs(self, self.alive)

    @cached_property
    def order(self) -> Sequence[int]:
        return order_of(self.needs)

    def free_computed(self) -> None:
        """Free what circles and levels were computed from: half the memory of a large graph."""
        for name in ("alive", "needs", "order"):
            self.__dict__.pop(name, None)

    def inside(self, bead: str) -> list[str]:
        found, seen = [bead], {bead}
        for one in found:  # it grows meanwhile
            new = [child for child in self.children.get(one, ()) if child not in seen]
            seen.update(new)
            found += new
        return found

    def live(self, bead: str) -> bool:
        node = self.nodes.get(bead)
        return node is not None and node.status not in CLOSED


def _once(found: Mapping[str, list[str]], nodes: Mapping[str, Node]) -> dict[str, list[str]]:
    return {bead: row if _is_once(row) else sorted(set(row)) for bead, row in found.items() if bead in nodes}


def _is_once(row: list[str]) -> bool:
    return len(row) == 1 or (len(row) == 2 and row[0] < row[1])  # as of most beads


def _turned(edges: dict[str, list[str]]) -> dict[str, list[str]]:
    turned = grouped((target, source) for source, targets in edges.items() for target in targets)
    return {target: sorted(sources) for target, sources in turned.items()}


class Need(NamedTuple):
    """An edge between moments: `of` cannot happen before `what`. `by` is None between a bead's own moments."""

    of: int
    what: int
    by: Dependency | None


class TimePoints:
    """start(x) and done(x) of every live bead as numbers: 2i and 2i + 1 of the i-th bead in id order."""

    def __init__(self, links: Links) -> None:
        self.links = links
        self.beads = sorted(bead for bead in links.nodes if links.live(bead))
        self._place = {bead: place for place, bead in enumerate(self.beads)}
        self.needs: list[list[Need]] = [[] for _ in range(2 * len(self.beads))]
        for need in self._all():
            self.needs[need.of].append(need)

    def start(self, bead: str) -> int:
        return 2 * self._place[bead]

    def done(self, bead: str) -> int:
        return 2 * self._place[bead] + 1

    def bead(self, moment: int) -> str:
        return self.beads[moment // 2]

    def _all(self) -> Iterator[Need]:
        links = self.links
        for bead in self.beads:
            start, done = self.start(bead), self.done(bead)
            yield Need(done, start, None)
            for blocker in links.blockers.get(bead, ()):
                if links.live(blocker):
                    yield Need(start, self.done(blocker), Dependency(bead, blocker))
            for parent in links.parents.get(bead, ()):
                if links.live(parent):
                    by = Dependency(bead, parent, DependencyType.PARENT_CHILD)
                    yield Need(start, self.start(parent), by)
                    if links.nodes[parent].type == BeadType.EPIC:
                        yield Need(self.done(parent), done, by)


def plain_needs(links: Links, live: Sequence[Node]) -> Needs:
    return needs_of(
        [(node.id, node.type == BeadType.EPIC) for node in live],
        links.blockers.items(),
        ((node.id, parent) for node in live for parent in links.parents.get(node.id, ())),
    )


def possible(needs: Sequence[Sequence[Need]]) -> Sequence[int]:
    return order_of([[need.what for need in row] for row in needs])


LEAST = 5
"""Minimal number of beads for a statistic."""

OUTLIER = 4
"""Estimates count at most so many medians: one of a month says nothing about others."""


@frozen
class FinishedBead:
    """A done bead: its type, estimate if any, and minutes of agents' work."""

    type: str
    estimate: int | None
    minutes: float


@frozen
class TypicalMinutes:
    """Minutes of any bead, and of types with a past."""

    minutes: int = 1
    by_type: Mapping[str, int] = field(default_factory=dict)

    def of(self, type_: str) -> int:
        return self.by_type.get(type_, self.minutes)


NOTHING_KNOWN = TypicalMinutes()


# A bead without an estimate takes the mean of the known ones, none counted as more than OUTLIER medians: the median
# alone schedules a tenth worse where half are missing (benchmarks/scheduling.py). Once LEAST beads of a type were done,
# what they took tells, scaled by those that had an estimate too.
def typical_minutes(known: int | None, past: Sequence[FinishedBead]) -> TypicalMinutes:
    """The expected minutes. `known`: from known estimates (`typical`); None: there are none."""
    past = [one for one in past if one.minutes > 0]
    scale = 1.0
    if known is not None:
        both = [one.estimate / one.minutes for one in past if one.estimate]
        if len(both) < LEAST:
            return TypicalMinutes(known)
        scale = _median(both)
    took = grouped((one.type, one.minutes * scale) for one in past)
    by_type = {type_: typical(found) for type_, found in sorted(took.items()) if len(found) >= LEAST}
    if known is None:
        known = typical([one.minutes for one in past]) if len(past) >= LEAST else 1
    return TypicalMinutes(known, by_type)


def typical_of(nodes: Iterable[Node]) -> TypicalMinutes:
    known = [node.estimate for node in nodes if node.estimate and node.type != BeadType.EPIC]
    return TypicalMinutes(typical(known)) if known else NOTHING_KNOWN


def weight(type_: str, estimate: int | None, expected: TypicalMinutes) -> int:
    """Minutes that a bead adds to a chain; an epic adds none."""
    return 0 if type_ == BeadType.EPIC else estimate or expected.of(type_)


def typical(found: Sequence[float]) -> int:
    most = OUTLIER * _median(found)
    return max(1, math.ceil(math.fsum(min(one, most) for one in found) / len(found)))


def _median(found: Sequence[float]) -> float:
    return sorted(found)[len(found) // 2]  # statistics.median_high, whose module loads ten others


# Where people merge epics as a whole a bead is done, to everybody outside, with its epic: so epics may wait for each
# other though no beads do.
def lift_to_epics(nodes: Iterable[Node], dependencies: Iterable[Dependency]) -> Mapping[Dependency, Dependency]:
    """The effective dependencies, each with the one it stands for."""
    epics = {node.id: node.epic for node in nodes if node.type != BeadType.EPIC}
    found: dict[Dependency, Dependency] = {}
    for one in dependencies:
        epic = epics.get(one.needs) if one.type is DependencyType.BLOCKS else None
        is_outside = epic is not None and epic not in (one.bead, epics.get(one.bead))
        found.setdefault(Dependency(one.bead, epic) if epic is not None and is_outside else one, one)
    return found


class Level(NamedTuple):
    """Minutes. `start` is the b-level: the bead and all behind it; `done` is what is behind its end."""

    start: int
    done: int


NOTHING = Level(0, 0)
_level: Callable[[tuple[int, int]], Level] = partial(tuple.__new__, Level)


def levels(links: Links, expected: TypicalMinutes | None = None, keep: bool = True) -> dict[str, Level]:
    """Both levels of every bead; in a circle, what is known behind it. `expected`: usual minutes; None: derived.
    `keep`: whether the links keep what they were computed from."""
    expected = expected or typical_of(links.nodes.values())
    alive = links.alive
    reached = levels_of(links.needs, [weight(node.type, node.estimate, expected) for node in alive], links.order)
    if not keep:
        links.free_computed()
    found = dict.fromkeys(links.nodes, NOTHING)
    found.update(
        zip(
            (node.id for node in alive),
            map(_level, zip(reached[::2], reached[1::2], strict=True)),
            strict=True,
        )
    )
    return found
