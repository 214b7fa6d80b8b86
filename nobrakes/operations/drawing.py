"""The graph as a picture: what belongs into it, handed to the renderers of analysis."""

from typing import Literal

from ..analysis.picture import Picture, picture
from ..core.errors import NoSuchBead, UsageError
from ..core.graph import ready_beads
from ..ports import Store

Format = Literal["text", "mermaid", "dot", "svg"]
FORMATS: tuple[Format, ...] = ("text", "mermaid", "dot", "svg")


def graph_view(store: Store, *, epic: str | None = None, closed: bool = True) -> Picture:
    """The beads and arrows to draw: all of them, or an epic with everything inside it; NoSuchBead.

    Without `closed`, what is done or cancelled is left out.
    """
    nodes, dependencies = store.nodes(), store.dependencies()
    if epic is not None and epic not in {node.id for node in nodes}:
        raise NoSuchBead(f"there is no bead '{epic[:80]}'")
    ready = frozenset(ready_beads(nodes, dependencies, store.now()))
    return picture(nodes, dependencies, ready, epic=epic, closed=closed)


def graph(store: Store, *, format: Format | str = "text", epic: str | None = None, closed: bool = True) -> str:
    """The graph as text, Mermaid, Graphviz' dot or SVG; NoSuchBead, UsageError."""
    if format not in FORMATS:
        raise UsageError(f"'{format[:40]}' is not a format", f"Use one of: {', '.join(FORMATS)}.")
    drawn = graph_view(store, epic=epic, closed=closed)
    if format == "svg":
        from ..analysis import svg

        return svg.render(drawn)
    if format == "mermaid":
        from ..analysis import mermaid

        return mermaid.render(drawn)
    if format == "dot":
        from ..analysis import dot

        return dot.render(drawn)
    from ..analysis import text

    return text.render(drawn)
