"""The graph in Graphviz' language. Ids and titles are quoted strings, in which only `"` and `\\` mean something."""

from ..core.beads.bead import DependencyType
from .colours import COLOURS
from .picture import Box, Picture


def quoted(text: str) -> str:
    """A dot string."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def label(*lines: str) -> str:
    """A dot string of several lines."""
    return '"' + "\\n".join(quoted(line)[1:-1] for line in lines if line) + '"'


def render(picture: Picture) -> str:
    """The directed graph, left to right, an epic as a cluster."""
    by_id = {box.id: box for box in picture.boxes}
    members = dict(picture.groups)
    lines = [
        "digraph beads {",
        "  rankdir=LR; compound=true;",
        '  node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=11];',
    ]

    def draw(box: Box, indent: str) -> None:
        if box.id in members:
            lines.append(f"{indent}subgraph {quoted('cluster_' + box.id)} {{")
            lines.append(f'{indent}  label={label(box.title, box.id)}; style="rounded"; color="#8c959f";')
            # arrows need a node to end at: an epic has an invisible one
            lines.append(f'{indent}  {quoted(box.id)} [shape=point, style=invis, label=""];')
            for member in members[box.id]:
                draw(by_id[member], indent + "  ")
            lines.append(f"{indent}}}")
            return
        colour = COLOURS[box.kind]
        shown = label(box.id, box.title, box.status + (f" {box.assignee}" if box.assignee else ""))
        lines.append(
            f'{indent}{quoted(box.id)} [label={shown}, fillcolor="{colour.fill}", color="{colour.line}", '
            f'fontcolor="{colour.text}"];'
        )

    for box in picture.boxes:
        if box.epic is None:
            draw(box, "  ")
    for arrow in picture.arrows:
        options = [] if arrow.type is DependencyType.BLOCKS else ["style=dashed", "constraint=false"]
        if arrow.source in members:
            options.append(f"ltail={quoted('cluster_' + arrow.source)}")
        if arrow.target in members:
            options.append(f"lhead={quoted('cluster_' + arrow.target)}")
        tail = f" [{', '.join(options)}]" if options else ""
        lines.append(f"  {quoted(arrow.source)} -> {quoted(arrow.target)}{tail};")
    lines.append("}")
    return "\n".join(lines) + "\n"
