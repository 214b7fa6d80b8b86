"""Where boxes stand: layers from left to right, and an order inside each in which few arrows cross.

1. A box stands to the right of everything that it waits for; an epic's beads stand where the epic may begin.
2. Arrows that close a circle are turned round for the drawing, so that every graph can be drawn.
3. The order is found by sweeps over medians, starting from ids: the same graph gives the same picture.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..core.beads.bead import DependencyType
from .layering import Rows, break_circles, generations, turned
from .picture import Picture

SWEEPS = 6
LARGE = 2000
"""From so many boxes on no eye follows single arrows: they get a third of the sweeps."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The boxes of each layer from left to right, each layer from top to bottom; epics with beads are no boxes."""

    layers: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class _Graph:
    """Boxes as numbers in the order of their ids, without circles. An arrow at an epic is one at each of its beads."""

    ids: list[str]
    before: Rows
    after: Rows
    generations: Rows


def _graph(picture: Picture) -> _Graph:
    members = dict(picture.groups)
    ids = sorted(box.id for box in picture.boxes if box.id not in members)
    number = {id_: place for place, id_ in enumerate(ids)}
    leaves = {id_: [number[leaf] for leaf in _leaves(id_, members)] for id_ in members}
    before: Rows = [[] for _ in ids]
    edges: set[tuple[int, int]] = set()
    for source, target, type_ in picture.arrows:
        if type_ is not DependencyType.BLOCKS:
            continue
        if source in members or target in members:
            sources, targets = (leaves[end] if end in members else [number[end]] for end in (source, target))
            edges.update((s, t) for s in sources for t in targets if s != t)
        elif source != target:
            before[number[target]].append(number[source])  # the same arrow is there once
    if edges:
        edges.update((earlier, later) for later, row in enumerate(before) for earlier in row)
        before = [[] for _ in ids]
        for source_, target_ in edges:
            before[target_].append(source_)
    after = turned(before)
    rows = generations(before)
    if sum(map(len, rows)) < len(ids):
        break_circles(before, set(range(len(ids))).difference(*rows))
        after = turned(before)
        rows = generations(before)
    return _Graph(ids, before, after, rows)


def _leaves(epic: str, members: Mapping[str, Sequence[str]]) -> set[str]:
    """What is inside the epic, at any depth, and holds nothing itself."""
    found: set[str] = set()
    waiting, seen = [epic], set()
    while waiting:
        current = waiting.pop()
        if current not in seen:
            seen.add(current)
            if current in members:
                waiting += members[current]
            else:
                found.add(current)
    return found


def layers(picture: Picture) -> Mapping[str, int]:
    """The layer of every box, from 0; an epic stands where its first bead does."""
    graph = _graph(picture)
    found = {graph.ids[number]: layer for layer, row in enumerate(graph.generations) for number in row}
    members = dict(picture.groups)
    pending = [box.id for box in picture.boxes if box.id not in found]
    while pending:
        rest = []
        for id_ in pending:
            inside = [found[m] for m in members[id_] if m in found]
            if len(inside) == len(members[id_]):
                found[id_] = min(inside)
            else:
                rest.append(id_)
        if len(rest) == len(pending):  # groups that contain each other are drawn at the beginning
            found |= dict.fromkeys(rest, 0)
            break
        pending = rest
    return found


def layout(picture: Picture) -> Layout:
    """The layers with their order."""
    graph = _graph(picture)
    epic = {box.id: box.epic or "" for box in picture.boxes}
    rows = [sorted(row, key=lambda n: (epic[graph.ids[n]], n)) for row in graph.generations]
    layer = [0] * len(graph.ids)
    place = [0] * len(graph.ids)
    for step, row in enumerate(rows):
        for number, box in enumerate(row):
            layer[box], place[box] = step, number
    # only the layer beside it pulls at a box
    left = [[n for n in near if layer[n] == layer[box] - 1] for box, near in enumerate(graph.before)]
    right = [[n for n in near if layer[n] == layer[box] + 1] for box, near in enumerate(graph.after)]
    for sweep in range(SWEEPS if len(graph.ids) < LARGE else SWEEPS // 3):
        forward = sweep % 2 == 0
        for number in range(1, len(rows)) if forward else range(len(rows) - 2, -1, -1):
            rows[number] = _by_median(rows[number], left if forward else right, place)
            for step, box in enumerate(rows[number]):
                place[box] = step
    return Layout(tuple(tuple(graph.ids[number] for number in row) for row in rows))


def _by_median(row: Sequence[int], beside: Rows, place: Sequence[int]) -> list[int]:
    """The row by the middle place of each one's neighbours; without neighbours one stays about where it is."""
    middle = []
    for step, box in enumerate(row):
        near = beside[box]
        if len(near) > 1:
            found = sorted([place[n] for n in near])
            middle.append(((found[(len(found) - 1) // 2] + found[len(found) // 2]) / 2, box))
        else:
            middle.append((float(place[near[0]] if near else step), box))
    middle.sort()
    return [box for _, box in middle]
