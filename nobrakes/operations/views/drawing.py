"""The graph as a picture: what belongs into it, handed to the renderers of analysis.

A drawing for the eye (svg) of more than MOST beads is one of the part where something happens, and says so; so is what
nobody asked a format for, of more than LINES beads. What is asked for as text, Mermaid or dot holds every bead: text is
searched, and programs read the others. Of a part only what is shown is read, and what touches it.
"""

from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

from ...analysis.picture import Picture, picture
from ...core.beads.bead import CLOSED, WORKING, Dependency, DependencyType, Status, blocked_by
from ...core.columns import COLUMNS
from ...core.errors import NoSuchBead, UsageError
from ...core.graph.links import Links, Node
from ...core.graph.readiness import Readiness
from ...ports.store import Store

Format = Literal["text", "mermaid", "dot", "svg"]
FORMATS: tuple[Format, ...] = ("text", "mermaid", "dot", "svg")


MOST = 500
"""So many beads a drawing shows. An eye finds its way among a few hundred."""


LINES = 5000
"""So many beads are lines of text when nobody asked for a format."""

_BUSY = (*WORKING, Status.NEEDS_REVIEW, Status.ESCALATED)


class Drawn(NamedTuple):
    """A picture's text, and how many of its beads it shows."""

    text: str
    shown: int
    beads: int

    @property
    def note(self) -> str:
        """What was left out, and how to see it; empty: nothing."""
        if self.shown == self.beads:
            return ""
        return (
            f"{self.shown} of {self.beads} beads are drawn: those at work, waiting for a person or ready, and what "
            "comes after them. `nobrakes graph --epic ID` draws one epic, `--format dot` or `text` writes all."
        )


def _view(store: Store, epic: str | None, most: int | None) -> tuple[Picture, int]:
    """The picture of at most so many beads of all or of an epic, and how many there are; NoSuchBead."""
    if epic is None and most is not None:
        counts = store.counts()
        beads = sum(counts[name] for name in (*COLUMNS, "epic"))
        if beads > most:
            return _near(store, min(most, MOST)), beads
    nodes, dependencies = store.nodes(), store.dependencies()
    if epic is not None and epic not in {node.id for node in nodes}:
        raise NoSuchBead(f"there is no bead '{epic[:80]}'")
    # the store's counters know it already
    ready = frozenset(node.id for node in store.column("ready", len(nodes)))
    whole = picture(nodes, dependencies, ready, epic=epic)
    inside = {box.id for box in whole.boxes}
    if most is None or len(inside) <= most:
        return whole, len(inside)
    within = [node for node in nodes if node.id in inside]
    chosen = _front(within, dependencies, ready, most)
    near = [node for node in within if node.id in chosen]
    touching = [one for one in dependencies if one.bead in chosen and one.needs in chosen]
    return picture(near, touching, ready, epic=epic if epic in chosen else None), len(within)


def _near(store: Store, most: int) -> Picture:
    """The picture of so many beads where something happens."""
    busy = [id_ for _, id_ in store.by_priority(_BUSY)]
    order = dict.fromkeys([*sorted(busy), *(node.id for node in store.column("ready", most))])
    touching: dict[str, list[Dependency]] = {}
    front = list(order)
    while front and len(order) < most:
        following: list[str] = []
        for one in front[:most]:
            touching[one] = store.dependencies(one)
            following += blocked_by(one, touching[one])
        live = {node.id for node in store.around(following)[0] if node.status not in CLOSED} if following else ()
        front = [one for one in dict.fromkeys(following) if one in live and one not in order]
        order.update(dict.fromkeys(front))
    if len(order) < most:
        order.update(dict.fromkeys(sorted(id_ for _, id_ in store.by_priority())[: 2 * most]))
    chosen = dict.fromkeys(list(order)[:most])
    nodes, deciding = store.around(list(chosen))
    edges = {one for id_ in chosen for one in (touching[id_] if id_ in touching else store.dependencies(id_))}
    readiness = Readiness(Links(nodes, deciding), store.now())
    ready = frozenset(node.id for node in nodes if readiness.ready(node.id))
    return picture([node for node in nodes if node.id in chosen], sorted(edges), ready)


def _front(nodes: Sequence[Node], dependencies: Sequence[Dependency], ready: Collection[str], most: int) -> set[str]:
    """What of an epic is at work, with a person or ready, then what waits for that, step by step; then the others."""
    following: dict[str, list[str]] = {}
    for bead, needs, type_ in dependencies:
        if type_ is DependencyType.BLOCKS:
            following.setdefault(needs, []).append(bead)
    live = {node.id for node in nodes if node.status not in CLOSED}
    busy = [node.id for node in nodes if node.status in _BUSY]
    order = dict.fromkeys([*busy, *(node.id for node in nodes if node.id in ready)])
    front = list(order)
    while front and len(order) < most:
        front = [bead for one in front for bead in following.get(one, ()) if bead in live and bead not in order]
        order.update(dict.fromkeys(front))
    order.update(dict.fromkeys(node.id for node in nodes))
    return set(list(order)[:most])


def graph(store: Store, *, format: Format | str = "", epic: str | None = None) -> Drawn:
    """The graph as text, Mermaid, Graphviz' dot or SVG; NoSuchBead, UsageError. No format: text, and not too long."""
    most = MOST if format == "svg" else LINES if not format else None
    format = format or "text"
    if format not in FORMATS:
        raise UsageError(f"'{format[:40]}' is not a format", f"Use one of: {', '.join(FORMATS)}.")
    drawn, beads = _view(store, epic, most)
    shown = len(drawn.boxes)
    if format == "svg":
        from ...analysis import svg

        return Drawn(svg.render(drawn, Drawn("", shown, beads).note), shown, beads)
    if format == "mermaid":
        from ...analysis import mermaid

        return Drawn(mermaid.render(drawn), shown, beads)
    if format == "dot":
        from ...analysis import dot

        return Drawn(dot.render(drawn), shown, beads)
    from ...analysis import text

    return Drawn(text.render(drawn), shown, beads)
