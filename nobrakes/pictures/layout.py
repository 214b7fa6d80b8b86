"""Where boxes stand: layers from left to right, and an order inside each in which few arrows cross.

1. A box stands to the right of everything that it waits for; an epic's beads stand where the epic may begin.
2. Arrows that close a circle are turned round for the drawing, so that every graph can be drawn.
3. The order is found by sweeps over medians, starting from ids: the same graph gives the same picture.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from ..beads.graph import Links, Node, TypicalMinutes, levels_of, order_of, typical_of, weight
from ..beads.model import WORKING, BeadType, Dependency, DependencyType, Status
from ..records import frozen, grouped
from ..text.cleaning import clean

# A large graph on a canvas. A depth is a column; where a lane has more beads of one depth than rows, they go on beside
# it, so a graph without dependencies is not a tower. Inside its band a bead stands near those of its lane that it is
# connected with; other lanes do not pull. No two beads share a place, and the same graph gives the same places.
LANES_SWEEPS = 4
ROWS = 12
"""Rows of a band before a depth continues sideways; more if it would be too wide."""
WIDER = 4


@frozen
class Size:
    """Of boxes and gaps, in unscaled pixels."""

    width: float = 168.0
    height: float = 32.0
    right: float = 44.0  # between depths
    beside: float = 12.0  # between columns of one depth
    below: float = 8.0
    between: float = 36.0  # between bands


@frozen
class Placement:
    """The boxes' upper left corners in the given order, and each band's top and height."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    bands: tuple[tuple[float, float], ...]
    width: float
    height: float


NOWHERE = Placement((), (), (), 0.0, 0.0)
Band = dict[int, list[int]]


@dataclass(slots=True)
class _Boxes:
    """Boxes by number; `row` is a position in the cell until the band is settled."""

    before: list[list[int]]
    after: list[list[int]]
    row: list[int]
    beside: list[int] = field(default_factory=list)


def place(depth: Sequence[int], lane: Sequence[int], edges: Iterable[tuple[int, int]], size: Size) -> Placement:
    """Positions of boxes by depth and lane (from 0, all used). Edges join numbers."""
    if not depth:
        return NOWHERE
    bands: list[Band] = [{} for _ in range(max(lane) + 1)]
    for number, (column, own) in enumerate(zip(depth, lane, strict=True)):
        bands[own].setdefault(column, []).append(number)
    largest = max(len(cell) for band in bands for cell in band.values())
    # how many rows a band may have: the same for graphs of about one size, so that little moves when one grows
    rows = ROWS
    while largest > rows * (rows // WIDER):
        rows *= 2
    boxes = _Boxes([[] for _ in depth], [[] for _ in depth], [0] * len(depth), [0] * len(depth))
    for source, target in edges:
        if lane[source] == lane[target] and depth[source] < depth[target]:
            boxes.before[target].append(source)
            boxes.after[source].append(target)
    for band in bands:
        _sweep(band, boxes)
        _settle(band, boxes, rows)
    return _measured(depth, lane, bands, boxes, rows, size)


def _sweep(band: Band, boxes: _Boxes) -> None:
    """Order each depth by its neighbours' positions; boxes without any stay about where they are."""
    order = sorted(band)
    row = boxes.row
    for column in order:
        for step, number in enumerate(band[column]):
            row[number] = step
    for sweep in range(LANES_SWEEPS):
        forward = sweep % 2 == 0
        near = boxes.before if forward else boxes.after
        for column in order if forward else reversed(order):
            cell = band[column]
            if len(cell) > 1:
                middle = {number: _middle(near[number], row, row[number]) for number in cell}
                cell.sort(key=middle.__getitem__)
                for step, number in enumerate(cell):
                    row[number] = step


def _middle(near: Sequence[int], row: Sequence[int], otherwise: int) -> float:
    if not near:
        return otherwise
    return row[near[0]] if len(near) == 1 else sum([row[number] for number in near]) / len(near)


def _settle(band: Band, boxes: _Boxes, rows: int) -> None:
    room = min(rows, max(map(len, band.values())))
    row = boxes.row
    for column in sorted(band):
        cell = band[column]
        if len(cell) >= room:
            for step, number in enumerate(cell):
                row[number], boxes.beside[number] = step % rows, step // rows
            continue
        last = -1
        for step, number in enumerate(cell):
            # what waits for nothing here stands in the middle of its band
            wish = round(_middle(boxes.before[number], row, (room - len(cell)) // 2 + step))
            last = min(max(last + 1, wish), room - len(cell) + step)
            row[number] = last


def _measured(
    depth: Sequence[int], lane: Sequence[int], bands: Sequence[Band], boxes: _Boxes, rows: int, size: Size
) -> Placement:
    columns = [0] * (max(depth) + 1)
    for band in bands:
        for column, cell in band.items():
            columns[column] = max(columns[column], -(-len(cell) // rows))
    left, at = [], 0.0
    for wide in columns:
        left.append(at)
        at += max(0.0, wide * (size.width + size.beside) - size.beside + size.right) if wide else 0.0
    tops, top = [], 0.0
    for band in bands:
        high = min(rows, max(map(len, band.values()))) * (size.height + size.below) - size.below
        tops.append((top, high))
        top += high + size.between
    return Placement(
        tuple(left[column] + by * (size.width + size.beside) for column, by in zip(depth, boxes.beside, strict=True)),
        tuple(tops[band][0] + row * (size.height + size.below) for band, row in zip(lane, boxes.row, strict=True)),
        tuple(tops),
        at - size.right,
        top - size.between,
    )


def shelves(boxes: Sequence[tuple[float, float]], width: float, room: float) -> tuple[tuple[float, float], ...]:
    """Upper left corners of boxes (width, height) on shelves of this width, in order."""
    found: list[tuple[float, float]] = []
    left = top = high = 0.0
    for wide, tall in boxes:
        if left and left + wide > width:
            left, top, high = 0.0, top + high + room, 0.0
        found.append((left, top))
        left += wide + room
        high = max(high, tall)
    return tuple(found)


def components(count: int, edges: Iterable[tuple[int, int]]) -> list[list[int]]:
    """The connected parts of 0 to count - 1, sorted, by smallest number."""
    over = list(range(count))

    def top(number: int) -> int:
        while over[number] != number:
            over[number] = over[over[number]]
            number = over[number]
        return number

    for source, target in edges:
        one, other = top(source), top(target)
        over[max(one, other)] = min(one, other)
    return list(grouped((top(number), number) for number in range(count)).values())


# Numbers stand for boxes in the order of their ids, so that the smaller number is the smaller id.
Rows = list[list[int]]


def turned(before: Sequence[Sequence[int]]) -> Rows:
    """The successors of each."""
    after: Rows = [[] for _ in before]
    for number, row in enumerate(before):
        for earlier in row:
            after[earlier].append(number)
    return after


def generations(before: Sequence[Sequence[int]]) -> Rows:
    """Generations after all predecessors, without circles and what is behind them."""
    found: Rows = []
    depth = [0] * len(before)
    for number in order_of(before):
        depth[number] = place = max([depth[earlier] + 1 for earlier in before[number]], default=0)
        if place == len(found):
            found.append([])
        found[place].append(number)
    return found


def break_circles(before: Rows, left: Collection[int]) -> None:
    """Remove edges from `before` until no circle is left; all circles are in `left`."""
    import networkx as nx

    while knots := [part for part in nx.strongly_connected_components(_layering_graph(before, left)) if len(part) > 1]:
        for knot in knots:
            inside = {number: [n for n in before[number] if n in knot] for number in knot}
            balance = {number: len(row) for number, row in inside.items()}
            for row in inside.values():
                for earlier in row:
                    balance[earlier] -= 1
            # the one that least waits for the others begins
            first = min(knot, key=lambda number: (balance[number], number))
            before[first] = [n for n in before[first] if n not in knot]
        left = set().union(*knots)


def _layering_graph(before: Sequence[Sequence[int]], among: Collection[int]) -> Any:
    import networkx as nx

    graph: Any = nx.DiGraph()
    graph.add_nodes_from(among)
    graph.add_edges_from((earlier, number) for number in among for earlier in before[number] if earlier in graph)
    return graph


# The longest chain: only live beads count, weights are estimates in minutes or what is usual (beads.graph), and beads
# in a circle are in no chain. Of several it is the one that the store reads off its levels (beads.db.levels). Whole
# graphs are asked, so they stay plain numbers: networkx took 15 times as long.
def chain_of(links: Links, expected: TypicalMinutes | None = None) -> tuple[str, ...]:
    """The longest chain of live work by estimate, without epics. `expected`: minutes without one; None: derived."""
    expected = expected or typical_of(links.nodes.values())
    weights = [weight(node.type, node.estimate, expected) for node in links.alive]
    return tuple(_walked(links, weights, _reached(links, weights)))


def _reached(links: Links, weights: list[int]) -> list[int]:
    """Each moment's level, without circles and what is behind them."""
    needs, order = links.needs, links.order
    if len(order) == len(needs):
        return levels_of(needs, weights, order)
    stuck = set(range(len(needs))).difference(order)
    return levels_of([[] if moment in stuck else row for moment, row in enumerate(needs)], weights)


def _walked(links: Links, weights: list[int], reached: list[int]) -> Iterator[str]:
    """The chain from the largest level: each next moment has the remaining level."""
    live = links.alive
    place = {node.id: number for number, node in enumerate(live)}
    number = max(range(len(live)), key=lambda one: reached[2 * one], default=0)
    left = reached[2 * number] if live else 0
    ended = False
    while left:
        node = live[number]
        if not ended:
            done = reached[2 * number + 1]
            if weights[number] + done < left:
                number = next(
                    place[child]
                    for child in links.children.get(node.id, ())
                    if child in place and reached[2 * place[child]] == left
                )
                continue
            left = done
            if node.type != BeadType.EPIC:
                yield node.id
            if not left:
                return
        waiting = (place[bead] for bead in links.dependents.get(node.id, ()) if bead in place)
        following = next((one for one in waiting if reached[2 * one] == left), None)
        ended = following is None
        if following is None:
            following = next(
                place[epic]
                for epic in links.parents.get(node.id, ())
                if epic in place and links.nodes[epic].type == BeadType.EPIC and reached[2 * place[epic] + 1] == left
            )
        number = following


# What a picture shows, for every format. An epic is a group around its beads; one without beads, or that is waited for,
# is a box as well. Arrows lead from what is needed to what waits for it. Texts of beads are cleaned here, and each
# renderer escapes them for its format.
KINDS = ("draft", "ready", "blocked", "working", "review", "escalated", "done", "cancelled")


class Box(NamedTuple):
    """One bead. `kind`: of KINDS, its colour."""

    id: str
    title: str
    kind: str
    status: str
    epic: str | None
    assignee: str | None
    is_epic: bool = False


class Arrow(NamedTuple):
    """`target` waits for `source`."""

    source: str
    target: str
    type: DependencyType = DependencyType.BLOCKS


_ARROW: Callable[[tuple[str, str, DependencyType]], Arrow] = partial(tuple.__new__, Arrow)
_BOX: Callable[[tuple[Any, ...]], Box] = partial(tuple.__new__, Box)


@frozen
class Picture:
    """Boxes by id, groups (epic to sorted members), sorted arrows. `parents`: nested groups."""

    boxes: tuple[Box, ...]
    groups: tuple[tuple[str, tuple[str, ...]], ...]
    arrows: tuple[Arrow, ...]


_BY_STATUS = {
    **dict.fromkeys(WORKING, "working"),
    Status.DRAFT: "draft",
    Status.NEEDS_REVIEW: "review",
    Status.REVIEWING: "review",
    Status.LANDED: "review",
    Status.ESCALATED: "escalated",
    Status.DONE: "done",
    Status.CANCELLED: "cancelled",
}


def kind_of(node: Node, ready: bool) -> str:
    """The word that colours a bead."""
    if (kind := _BY_STATUS.get(node.status)) is not None:
        return kind
    if node.type == BeadType.EPIC:
        return "blocked"
    return "ready" if ready else "blocked"


def picture(
    nodes: Iterable[Node], dependencies: Iterable[Dependency], ready: Collection[str], *, epic: str | None = None
) -> Picture:
    """The picture of the graph, or of one epic at any depth with its inner connections."""
    by_id = {node.id: node for node in nodes}
    wanted = set(by_id) if epic is None else _inside(epic, by_id) & by_id.keys()
    words = {status: status.value for status in Status}
    shown = by_id if len(wanted) == len(by_id) else wanted
    boxes = tuple(
        map(
            _BOX,
            [
                (
                    node.id,
                    title_of(node.title),
                    kind_of(node, node.id in ready),
                    words[node.status],
                    node.epic if node.epic in shown else None,
                    node.assignee,
                    node.type == BeadType.EPIC,
                )
                for node in map(by_id.__getitem__, sorted(wanted))
            ],
        )
    )
    members = grouped((box.epic, box.id) for box in boxes if box.epic is not None)
    arrows = [
        (needs, bead, type_)
        for bead, needs, type_ in dependencies
        if type_ is not DependencyType.PARENT_CHILD and bead in shown and needs in shown
    ]
    arrows.sort()
    groups = tuple((id_, tuple(sorted(found))) for id_, found in sorted(members.items()))
    # the same ones stand together now, and comparing two costs less than a hash of each
    once = [arrow for arrow, last in zip(arrows, [None, *arrows], strict=False) if arrow != last]
    return Picture(boxes, groups, tuple(map(_ARROW, once)))


def title_of(text: str) -> str:
    return " ".join((text if text.isprintable() and text.isascii() else clean(text)).split())


def _inside(epic: str, nodes: dict[str, Node]) -> set[str]:
    children = grouped((node.epic, node.id) for node in nodes.values() if node.epic is not None)
    found: set[str] = set()
    waiting = [epic]
    while waiting:
        if (current := waiting.pop()) not in found:
            found.add(current)
            waiting += children.get(current, ())
    return found


SWEEPS = 6
LARGE = 2000
"""From so many boxes on, a third of the sweeps suffices."""


@frozen
class Layout:
    """Layers from left to right, each from top to bottom, without epics with beads."""

    layers: tuple[tuple[str, ...], ...]


@frozen
class _Graph:
    """Boxes as numbers by id, without circles. An epic's arrow becomes one for each of its beads."""

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
    found: set[str] = set()
    waiting, seen = [epic], set()
    while waiting:
        if (current := waiting.pop()) not in seen:
            seen.add(current)
            if current in members:
                waiting += members[current]
            else:
                found.add(current)
    return found


def layers(picture: Picture) -> Mapping[str, int]:
    """The layer of every box, from 0; an epic is at its first bead's."""
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
    """The row by median neighbour positions; others stay about where they are."""
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
