"""The graph as text for a terminal: one line a bead, in an order in which it can be done, grouped by epic.

A line says how the bead stands by a sign, and which beads it waits for. The same graph gives the same text.
"""

from ..core.beads.bead import DependencyType
from .layout import layers
from .picture import Box, Picture

SIGNS = {
    "draft": "~",
    "ready": ">",
    "blocked": ".",
    "working": "*",
    "review": "?",
    "escalated": "!",
    "done": "+",
    "cancelled": "x",
}
TITLE = 72


def render(picture: Picture) -> str:
    """The whole text, with the meaning of the signs that occur at its end."""
    if not picture.boxes:
        return "no bead\n"
    by_id = {box.id: box for box in picture.boxes}
    layer = layers(picture)
    members = dict(picture.groups)
    needs: dict[str, list[str]] = {}
    for arrow in picture.arrows:
        if arrow.type is DependencyType.BLOCKS:
            needs.setdefault(arrow.target, []).append(arrow.source)
    width = max(len(box.id) for box in picture.boxes)
    out: list[str] = []

    def draw(box: Box, depth: int) -> None:
        title = box.title if len(box.title) <= TITLE else box.title[: TITLE - 1] + "…"
        who = f"  [{box.assignee}]" if box.assignee else ""
        waits = f"  <- {', '.join(needs[box.id])}" if box.id in needs else ""
        out.append(f"{'  ' * depth}{SIGNS[box.kind]} {box.id:<{width}}  {title}{who}{waits}")
        if box.id in members:
            for member in sorted(members[box.id], key=lambda m: (layer[m], m)):
                draw(by_id[member], depth + 1)

    for box in sorted(picture.boxes, key=lambda b: (layer[b.id], b.id)):
        if box.epic is None:
            draw(box, 0)
    used = dict.fromkeys(box.kind for box in picture.boxes)
    out += ["", "  ".join(f"{SIGNS[kind]} {kind}" for kind in SIGNS if kind in used)]
    return "\n".join(out) + "\n"
