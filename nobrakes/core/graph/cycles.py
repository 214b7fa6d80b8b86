"""Structural deadlock: beads that wait for each other in a circle, and the dependency whose removal frees them.

1. A circle is a strongly connected part of the graph of moments (core.graph.links): blocks and parent-child together.
2. One strong part may hold many circles. They are named one after the other, each with its cut, and removing all
   cuts leaves no circle; the cut of each is the dependency whose removal frees the most beads.
3. Of equally good cuts a `blocks` is named before a parent-child, then the smaller ids: same graph, same answer.
"""

from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ..beads.bead import Dependency, DependencyType
from .links import Links, Moments, Need, Node, possible

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
