"""How beads hang together, as plain dicts: what every question about the whole graph starts from.

1. `Bead.epic` is the one truth about who contains whom; a `parent-child` dependency is that fact, written as a row.
2. A bead is two moments, start(x) and done(x). done(x) needs start(x); start(x) needs done(b) of every `blocks`
   blocker b and start(p) of its parent p; done(e) of an epic e needs done(c) of every child c.
3. What is done needs nothing more, and what is cancelled will never happen: neither is in that graph of moments.
4. Nothing recurses: 100,000 beads in one chain are a normal graph.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from ..beads.bead import CLOSED, Bead, BeadType, Dependency, DependencyType, Status
from .event_graph import Needs, needs_of, order_of


class Node(NamedTuple):
    """What the whole-graph questions need of a bead. A tuple: whole graphs are made of tens of thousands."""

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
    stacks_on: str | None = None  # the blocker on whose open request it is worked on


def node_of(bead: Bead) -> Node:
    """The bead as the whole-graph questions see it."""
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
        bead.stacks_on,
    )


class Links:
    """The blockers, dependents, parents and children of every bead, each list sorted and without repeats."""

    def __init__(self, nodes: Iterable[Node], dependencies: Iterable[Dependency]) -> None:
        self.nodes = {node.id: node for node in nodes}
        blockers: defaultdict[str, list[str]] = defaultdict(list)
        parents: defaultdict[str, list[str]] = defaultdict(list)
        for node in self.nodes.values():
            if node.epic is not None:
                parents[node.id].append(node.epic)
        for bead, needs, type_ in dependencies:
            if type_ is DependencyType.BLOCKS:
                blockers[bead].append(needs)
            elif type_ is DependencyType.PARENT_CHILD:
                parents[bead].append(needs)
        self.blockers = _once(blockers, self.nodes)
        self.parents = _once(parents, self.nodes)

    @cached_property
    def dependents(self) -> dict[str, list[str]]:
        """Whom each bead blocks."""
        return _turned(self.blockers)

    @cached_property
    def children(self) -> dict[str, list[str]]:
        """Who has each bead as a parent."""
        return _turned(self.parents)

    @cached_property
    def alive(self) -> list[Node]:
        """The beads that are neither done nor cancelled, by id."""
        return [self.nodes[bead] for bead in sorted(self.nodes) if self.live(bead)]

    @cached_property
    def needs(self) -> Needs:
        """What Moments says, as plain numbers in the order of `alive`."""
        return plain_needs(self, self.alive)

    @cached_property
    def order(self) -> list[int]:
        """The moments of `needs` in an order in which they can happen; those in or behind a circle are left out."""
        return order_of(self.needs)

    def forget_moments(self) -> None:
        """Give back what circles and levels were read off: of a large graph it is as much as all the rest."""
        for name in ("alive", "needs", "order"):
            self.__dict__.pop(name, None)

    def inside(self, bead: str) -> list[str]:
        """The bead, and all that is in it at any depth."""
        found, seen = [bead], {bead}
        for one in found:  # it grows meanwhile
            new = [child for child in self.children.get(one, ()) if child not in seen]
            seen.update(new)
            found += new
        return found

    def live(self, bead: str) -> bool:
        """Whether the bead exists and is neither done nor cancelled."""
        node = self.nodes.get(bead)
        return node is not None and node.status not in CLOSED


def _once(found: Mapping[str, list[str]], nodes: Mapping[str, Node]) -> dict[str, list[str]]:
    return {bead: row if len(row) == 1 else sorted(set(row)) for bead, row in found.items() if bead in nodes}


def _turned(edges: dict[str, list[str]]) -> dict[str, list[str]]:
    turned: defaultdict[str, list[str]] = defaultdict(list)
    for source, targets in edges.items():
        for target in targets:
            turned[target].append(source)
    return {target: sorted(sources) for target, sources in turned.items()}


class Need(NamedTuple):
    """An edge between moments: `of` cannot happen before `what`. `by` is None between a bead's own moments."""

    of: int
    what: int
    by: Dependency | None


class Moments:
    """start(x) and done(x) of every live bead as numbers: 2i and 2i + 1 of the i-th bead in id order."""

    def __init__(self, links: Links) -> None:
        self.links = links
        self.beads = sorted(bead for bead in links.nodes if links.live(bead))
        self._place = {bead: place for place, bead in enumerate(self.beads)}
        self.needs: list[list[Need]] = [[] for _ in range(2 * len(self.beads))]
        for need in self._all():
            self.needs[need.of].append(need)

    def start(self, bead: str) -> int:
        """The number of start(bead)."""
        return 2 * self._place[bead]

    def done(self, bead: str) -> int:
        """The number of done(bead)."""
        return 2 * self._place[bead] + 1

    def bead(self, moment: int) -> str:
        """The bead that the moment is of."""
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
    """What Moments says, as plain numbers in the order of `live`."""
    return needs_of(
        [(node.id, node.type == BeadType.EPIC) for node in live],
        ((node.id, blocker) for node in live for blocker in links.blockers.get(node.id, ())),
        ((node.id, parent) for node in live for parent in links.parents.get(node.id, ())),
    )


def possible(needs: Sequence[Sequence[Need]]) -> list[int]:
    """The moments that can happen, each after all that it needs (Kahn's algorithm)."""
    return order_of([[need.what for need in row] for row in needs])
