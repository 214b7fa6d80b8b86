"""What-if: what one bead's end, an answer to it, or its delay changes in the rest of the graph.

1. The end is the longest chain of live work by estimate (core.graph.priority_levels), however many agents there are.
2. A delay is time in front of the bead: whatever waits for its start waits as long. Slack is how long that may be
   before the end moves.
3. A bead that is done completes the epics whose last open bead it was, and they what waits for them.
4. What it waits for, and what waits for it, is meant at any depth, closed beads among them.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from ..beads.bead import CLOSED, BeadType, Status
from .event_graph import Needs, chains_ahead, levels_of
from .links import Links, Node, plain_needs
from .readiness import Readiness
from .usual import Usual, usual_of, weight


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
