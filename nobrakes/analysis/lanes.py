"""Where the beads of a large graph stand on a canvas: depth from left to right, a band for each lane.

1. A depth is a column. Where a lane has more beads of one depth than rows, they go on beside it, and the column is as
   much wider for everybody; so depth always grows to the right, and a graph without dependencies is no tower.
2. Inside its band a bead stands near the beads of the same lane that it is connected with. Other lanes do not pull: a
   new bead that nothing waits for moves its own band, and those below only as a whole.
3. No two beads share a place; the same graph gives the same places. Every sweep looks once at each bead and edge.
4. Beads that wait for each other in a circle are drawn as well, somewhere: the error list names them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

SWEEPS = 4
ROWS = 12
"""So many rows a band may have before a depth goes on beside it; more where that would be much wider than high."""
WIDER = 4
"""A place is about so many times as wide as it is high."""


@dataclass(frozen=True, slots=True)
class Size:
    """Of boxes and of the room between them, in pixels of a picture that is not scaled."""

    width: float = 168.0
    height: float = 32.0
    right: float = 44.0  # between depths
    beside: float = 12.0  # between columns of one depth
    below: float = 8.0
    between: float = 36.0  # between bands


@dataclass(frozen=True, slots=True)
class Placement:
    """The upper left corners of the boxes, in the order in which they were given, and each band's top and height."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    bands: tuple[tuple[float, float], ...]
    width: float
    height: float


NOWHERE = Placement((), (), (), 0.0, 0.0)
Band = dict[int, list[int]]
"""The boxes of one lane by depth, each depth from top to bottom."""


@dataclass(slots=True)
class _Boxes:
    """What is known of the boxes by number; `row` is a step in the cell until the band is settled."""

    before: list[list[int]]
    after: list[list[int]]
    row: list[int]
    beside: list[int] = field(default_factory=list)


def place(depth: Sequence[int], lane: Sequence[int], edges: Iterable[tuple[int, int]], size: Size) -> Placement:
    """Places for boxes, each given by its depth (from 0) and its lane (from 0, each occurs). Edges join numbers."""
    if not depth:
        return NOWHERE
    bands: list[Band] = [{} for _ in range(max(lane) + 1)]
    for number, (column, own) in enumerate(zip(depth, lane, strict=True)):
        bands[own].setdefault(column, []).append(number)
    rows = _rows(max(len(cell) for band in bands for cell in band.values()))
    boxes = _Boxes([[] for _ in depth], [[] for _ in depth], [0] * len(depth), [0] * len(depth))
    for source, target in edges:
        if lane[source] == lane[target] and depth[source] < depth[target]:
            boxes.before[target].append(source)
            boxes.after[source].append(target)
    for band in bands:
        _sweep(band, boxes)
        _settle(band, boxes, rows)
    return _measured(depth, lane, bands, boxes, rows, size)


def _rows(largest: int) -> int:
    """How many rows a band may have: the same for graphs of about one size, so that little moves when one grows."""
    rows = ROWS
    while largest > rows * (rows // WIDER):
        rows *= 2
    return rows


def _sweep(band: Band, boxes: _Boxes) -> None:
    """Order each depth of the band by where its neighbours stand; without any, a box stays about where it is."""
    order = sorted(band)
    row = boxes.row
    for column in order:
        for step, number in enumerate(band[column]):
            row[number] = step
    for sweep in range(SWEEPS):
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
    """Give each box its row: beside what it waits for where there is room, so that chains are straight lines."""
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
    """The places in pixels."""
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
    """The upper left corners of boxes (width, height) that stand on shelves of this width, in the order given."""
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
    """The parts of 0 to count - 1 that edges hold together, each sorted, by their smallest number."""
    over = list(range(count))

    def top(number: int) -> int:
        while over[number] != number:
            over[number] = over[over[number]]
            number = over[number]
        return number

    for source, target in edges:
        one, other = top(source), top(target)
        over[max(one, other)] = min(one, other)
    parts: dict[int, list[int]] = {}
    for number in range(count):
        parts.setdefault(top(number), []).append(number)
    return list(parts.values())
