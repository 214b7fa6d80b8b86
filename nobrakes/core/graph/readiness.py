"""Readiness: which beads may be assigned now, and for every other one exactly why not.

1. A bead is ready when it is live, waits for an agent, nobody holds it, has it or deferred it, no retry is being
   waited for, every `blocks` blocker is DONE, and its parent is not closed off.
2. Only `done` counts as done: a blocker that is missing, cancelled, a draft or escalated blocks like any other. To a
   bead of the same epic `landed` counts, too: it is worked on where that one landed. Where dependants stack
   (`stacks_on`), that one blocker is no obstacle: the bead is worked on, and its request merged, on top of its request.
3. A parent closes its children off while it is blocked, held, deferred, a draft, cancelled, missing, or closed off
   by its own parent. A parent that is open or done does not.
4. The store keeps the same answers in columns; a property test and `nobrakes doctor` compare them with these.
"""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from ..beads.bead import WAITING_FOR_AGENT, BeadType, Dependency, DependencyType, Status
from .cycles import Circle, circles, deadlocks
from .links import Links, Node
from .priority_levels import b_levels

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
