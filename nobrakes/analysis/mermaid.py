"""The graph as a Mermaid flowchart, for documents and pull requests.

Ids become n1, n2, …, since Mermaid has words of its own; titles are quoted, and what could end a quote or be read as
markup is written as an entity.
"""

from ..core.beads.bead import DependencyType
from .colours import COLOURS
from .picture import Box, Picture


def escaped(text: str) -> str:
    """Text for inside a quoted Mermaid label."""
    return "".join(c if c.isalnum() or c in " -_.,:/'" else f"#{ord(c)};" for c in text)


def render(picture: Picture) -> str:
    """The flowchart, left to right."""
    number = {box.id: f"n{place}" for place, box in enumerate(picture.boxes, 1)}
    by_id = {box.id: box for box in picture.boxes}
    members = dict(picture.groups)
    lines = ["flowchart LR"]

    def draw(box: Box, indent: str) -> None:
        if box.id in members:
            lines.append(f'{indent}subgraph {number[box.id]}["{escaped(box.title)} ({escaped(box.id)})"]')
            for member in members[box.id]:
                draw(by_id[member], indent + "    ")
            lines.append(f"{indent}end")
        else:
            who = f"<br/>{escaped(box.assignee)}" if box.assignee else ""
            lines.append(f'{indent}{number[box.id]}["{escaped(box.id)}<br/>{escaped(box.title)}{who}"]:::{box.kind}')

    for box in picture.boxes:
        if box.epic is None:
            draw(box, "    ")
    for arrow in picture.arrows:
        line = "-->" if arrow.type is DependencyType.BLOCKS else "-.->"
        lines.append(f"    {number[arrow.source]} {line} {number[arrow.target]}")
    for kind, colour in COLOURS.items():
        lines.append(f"    classDef {kind} fill:{colour.fill},stroke:{colour.line},color:{colour.text}")
    return "\n".join(lines) + "\n"
