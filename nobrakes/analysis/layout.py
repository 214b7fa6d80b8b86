"""Where boxes stand: layers from left to right, and an order inside each in which few arrows cross.

1. A box stands to the right of everything that it waits for; an epic's beads stand where the epic may begin.
2. Arrows that close a circle are turned round for the drawing, so that every graph can be drawn.
3. The order is found by sweeps over medians, starting from ids: the same graph gives the same picture.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.bead import DependencyType
from .picture import Picture

SWEEPS = 6


@dataclass(frozen=True, slots=True)
class Layout:
    """The boxes of each layer from left to right, each layer from top to bottom; epics with beads are no boxes."""

    layers: tuple[tuple[str, ...], ...]


def _graph(picture: Picture) -> Any:
    """Boxes as a networkx graph without circles. An arrow at an epic is one at each of its beads."""
    import networkx as nx

    members = dict(picture.groups)

    def leaves(id_: str) -> list[str]:
        found: list[str] = []
        waiting, seen = [id_], set()
        while waiting:
            current = waiting.pop()
            if current in seen:
                continue
            seen.add(current)
            inside = members.get(current, ())
            if not inside:
                found.append(current)
            waiting += inside
        return sorted(found)

    graph: Any = nx.DiGraph()
    graph.add_nodes_from(box.id for box in picture.boxes if box.id not in members)
    for arrow in picture.arrows:
        if arrow.type is not DependencyType.BLOCKS:
            continue
        sources, targets = leaves(arrow.source), leaves(arrow.target)
        graph.add_edges_from((s, t) for s in sources for t in targets if s != t)
    _break_circles(graph)
    return graph


def _break_circles(graph: Any) -> None:
    """Take out edges until no circle is left."""
    import networkx as nx

    while True:
        knots = [sorted(part) for part in nx.strongly_connected_components(graph) if len(part) > 1]
        if not knots:
            return
        for knot in knots:
            inside = graph.subgraph(knot)
            # the bead that least waits for the others begins
            first = min(knot, key=lambda id_: (inside.in_degree(id_) - inside.out_degree(id_), id_))
            graph.remove_edges_from(list(inside.in_edges(first)))


def layers(picture: Picture) -> Mapping[str, int]:
    """The layer of every box, from 0; an epic stands where its first bead does."""
    import networkx as nx

    found: dict[str, int] = {}
    for number, generation in enumerate(nx.topological_generations(_graph(picture))):
        for id_ in generation:
            found[id_] = number
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
    import networkx as nx

    graph = _graph(picture)
    epic = {box.id: box.epic or "" for box in picture.boxes}
    rows = [sorted(row, key=lambda id_: (epic[id_], id_)) for row in nx.topological_generations(graph)]
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        for number in range(1, len(rows)) if forward else range(len(rows) - 2, -1, -1):
            beside = {id_: place for place, id_ in enumerate(rows[number - 1 if forward else number + 1])}
            neighbours = graph.predecessors if forward else graph.successors
            rows[number] = _by_median(
                rows[number], {id_: [beside[n] for n in neighbours(id_) if n in beside] for id_ in rows[number]}
            )
    return Layout(tuple(tuple(row) for row in rows))


def _by_median(row: Sequence[str], places: Mapping[str, list[int]]) -> list[str]:
    """The row by the middle place of each one's neighbours; without neighbours one stays about where it is."""
    middle = {}
    for place, id_ in enumerate(row):
        found = sorted(places[id_])
        middle[id_] = (found[(len(found) - 1) // 2] + found[len(found) // 2]) / 2 if found else float(place)
    return sorted(row, key=lambda id_: (middle[id_], id_))
