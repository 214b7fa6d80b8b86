"""The graph as text, Mermaid, dot or SVG: what belongs into the picture, and what each format makes of it.

What is not drawn, and what goes in a circle, is said in one sentence each; ids and titles are data, on one line.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Literal, NamedTuple

from ..beads.graph import Links, Node
from ..beads.model import CLOSED, WORKING, Dependency, DependencyType, Status, blocked_by
from ..beads.readiness import Readiness
from ..beads.work_status import COLUMNS
from ..errors import NoSuchBead, UsageError
from ..records import frozen, grouped
from ..text.cleaning import count
from .layout import Box, Picture, layers, layout, picture

if TYPE_CHECKING:
    from ..store import Store


NAMED = 8


def _listed(named: Iterable[str], of: int) -> str:
    shown = list(islice(named, NAMED))
    more = f" and {of - len(shown)} more" if of > len(shown) else ""
    return ", ".join(shown) + more


def too_many(beads: int, most: int) -> str:
    return (
        f"{count(beads, 'bead')} are too many to draw, so the picture shows epics. Choose an epic, search, or "
        f"hide closed beads until no more than {most} remain."
    )


def circle(members: Iterable[str], cut_: Dependency, stuck: int) -> str:
    shown = list(members)
    verb = "waits for" if cut_.type is DependencyType.BLOCKS else "is a child of"
    return (
        f"{_listed(shown, len(shown))} depend on each other in a circle, so {count(stuck, 'bead')} can never start. "
        f"Remove one dependency: {cut_.bead} {verb} {cut_.needs}."
    )


# A drawing (svg) of more than MAX_DRAWN beads is one of the part where something happens and says so; so is
# what nobody asked a format for, of more than LINES beads. What is asked for as text, Mermaid or dot holds every bead.
Format = Literal["text", "mermaid", "dot", "svg"]
FORMATS: tuple[Format, ...] = ("text", "mermaid", "dot", "svg")
MAX_DRAWN = 500
"""Maximal beads in a drawing: an eye follows a few hundred."""
LINES = 5000
"""Maximal lines of text without an explicit format."""

_BUSY = (*WORKING, Status.NEEDS_REVIEW, Status.ESCALATED)


class Drawn(NamedTuple):
    """A picture's text, and the number of shown beads."""

    text: str
    shown: int
    beads: int

    @property
    def note(self) -> str:
        """What was left out, and how to see it; empty: nothing."""
        if self.shown == self.beads:
            return ""
        return (
            f"The picture shows {self.shown} of {count(self.beads, 'bead')} (with epics): those at work, waiting for a "
            "person or ready, and the beads after them. `nobrakes graph --epic ID` draws one epic, `--format dot` or "
            "`text` shows all beads."
        )


def _view(store: "Store", epic: str | None, most: int | None) -> tuple[Picture, int]:
    """The picture of at most so many beads, of all or an epic, and their number. Raises NoSuchBead."""
    if epic is None and most is not None:
        counts = store.counts()
        beads = sum(counts[name] for name in (*COLUMNS, "epic"))
        if beads > most:
            return _near(store, min(most, MAX_DRAWN)), beads
    nodes, dependencies = store.nodes(), store.dependencies()
    if epic is not None and epic not in {node.id for node in nodes}:
        raise NoSuchBead(f"there is no bead '{epic[:80]}'")
    # the store's counters know it already
    ready = frozenset(store.ready_ids())
    whole = picture(nodes, dependencies, ready, epic=epic)
    inside = {box.id for box in whole.boxes}
    if most is None or len(inside) <= most:
        return whole, len(inside)
    within = [node for node in nodes if node.id in inside]
    chosen = _front(within, dependencies, ready, most)
    near = [node for node in within if node.id in chosen]
    touching = [one for one in dependencies if one.bead in chosen and one.needs in chosen]
    return picture(near, touching, ready, epic=epic if epic in chosen else None), len(within)


def _near(store: "Store", most: int) -> Picture:
    order = dict.fromkeys([*store.listed(_BUSY), *(node.id for node in store.column("ready", most))])
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
        order.update(dict.fromkeys(store.listed()[: 2 * most]))
    chosen = dict.fromkeys(list(order)[:most])
    nodes, deciding = store.around(list(chosen))
    edges = {one for id_ in chosen for one in (touching[id_] if id_ in touching else store.dependencies(id_))}
    readiness = Readiness(Links(nodes, deciding), store.now())
    ready = frozenset(node.id for node in nodes if readiness.ready(node.id))
    return picture([node for node in nodes if node.id in chosen], sorted(edges), ready)


def _front(nodes: Sequence[Node], dependencies: Sequence[Dependency], ready: Collection[str], most: int) -> set[str]:
    """An epic's beads that are worked on, with a person or ready, then what waits for them stepwise, then others."""
    following = grouped((needs, bead) for bead, needs, type_ in dependencies if type_ is DependencyType.BLOCKS)
    live = {node.id for node in nodes if node.status not in CLOSED}
    busy = [node.id for node in nodes if node.status in _BUSY]
    order = dict.fromkeys([*busy, *(node.id for node in nodes if node.id in ready)])
    front = list(order)
    while front and len(order) < most:
        front = [bead for one in front for bead in following.get(one, ()) if bead in live and bead not in order]
        order.update(dict.fromkeys(front))
    order.update(dict.fromkeys(node.id for node in nodes))
    return set(list(order)[:most])


def graph(store: "Store", *, format: Format | str = "", epic: str | None = None) -> Drawn:
    """The graph as text, Mermaid, dot or SVG. NoSuchBead, UsageError. Without a format: text of limited length."""
    most = MAX_DRAWN if format == "svg" else LINES if not format else None
    format = format or "text"
    if format not in FORMATS:
        raise UsageError(f"'{format[:40]}' is not a known format", f"Use one of: {', '.join(FORMATS)}.")
    drawn, beads = _view(store, epic, most)
    shown = len(drawn.boxes)
    if format == "svg":
        return Drawn(render_svg(drawn, Drawn("", shown, beads).note), shown, beads)
    if format == "mermaid":
        return Drawn(render_mermaid(drawn), shown, beads)
    if format == "dot":
        return Drawn(render_dot(drawn), shown, beads)

    return Drawn(render_text(drawn), shown, beads)


# One colour for each kind of bead: dark text on light, told apart without colour by its word.
@frozen
class Colour:
    """CSS colours of a box."""

    fill: str
    line: str
    text: str = "#1f2328"


COLOURS: Mapping[str, Colour] = {
    "draft": Colour("#f6f8fa", "#8c959f"),
    "ready": Colour("#ddf4ff", "#0969da"),
    "blocked": Colour("#ffffff", "#8c959f"),
    "working": Colour("#fff8c5", "#9a6700"),
    "review": Colour("#fbefff", "#8250df"),
    "escalated": Colour("#ffebe9", "#cf222e"),
    "done": Colour("#dafbe1", "#1a7f37"),
    "cancelled": Colour("#eaeef2", "#57606a", "#57606a"),
}


# Graphviz: ids and titles are quoted strings, in which only `"` and `\` mean something.
def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def label(*lines: str) -> str:
    return '"' + "\\n".join(quoted(line)[1:-1] for line in lines if line) + '"'


def render_dot(picture: Picture) -> str:
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


# Mermaid: ids become n1, n2, …, since Mermaid has words of its own; what could end a quote or be read as markup is
# written as an entity.
def escaped(text: str) -> str:
    return "".join(c if c.isalnum() or c in " -_.,:/'" else f"#{ord(c)};" for c in text)


def render_mermaid(picture: Picture) -> str:
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


# SVG: a column is a layer, a band is one epic, so that epics never overlap; beads without an epic have a band without a
# frame. The status is written as well as coloured. Texts are escaped; nothing else is put in.
WIDTH, HEIGHT = 208, 66
GAP_X, GAP_Y = 64, 14
MARGIN, PADDING, HEAD = 24, 14, 26
TALLEST = 12
LINE = 27


@frozen
class Band:
    """An epic's frame, or the area of beads without one (`epic` ""). `left` to `right` in pixels."""

    epic: str
    top: float
    height: float
    left: float
    right: float


@frozen
class BoxPositions:
    """All positions in pixels: boxes by their upper left corner."""

    boxes: dict[str, tuple[float, float]]
    bands: tuple[Band, ...]
    width: float
    height: float


def _order(picture: Picture) -> list[str]:
    """The bands from top to bottom: epics with beads, nested ones after their parent; "" last."""
    members = dict(picture.groups)
    by_id = {box.id: box for box in picture.boxes}
    found: list[str] = []

    def visit(id_: str) -> None:
        if id_ in members and id_ not in found:
            found.append(id_)
            for member in members[id_]:
                visit(member)

    for box in picture.boxes:
        if box.epic is None:
            visit(box.id)
    for id_ in members:  # groups that contain each other have no beginning
        visit(id_)
    return [epic for epic in found if any(m in by_id and m not in members for m in members[epic])] + [""]


def places(picture: Picture) -> BoxPositions:
    """The full layout in pixels."""
    members = dict(picture.groups)
    band_of = {box.id: box.epic or "" for box in picture.boxes if box.id not in members}
    order = _order(picture)
    columns: list[dict[str, list[list[str]]]] = []
    for row in layout(picture).layers:
        stacks: dict[str, list[list[str]]] = {}
        for id_ in row:
            parts = stacks.setdefault(band_of[id_], [[]])
            if len(parts[-1]) == TALLEST:
                parts.append([])
            parts[-1].append(id_)
        columns.append(stacks)
    boxes: dict[str, tuple[float, float]] = {}
    bands: list[Band] = []
    lefts: list[float] = []
    x = float(MARGIN + PADDING)
    for stacks in columns:
        lefts.append(x)
        x += max((len(parts) for parts in stacks.values()), default=1) * (WIDTH + GAP_Y) - GAP_Y + GAP_X
    y = float(MARGIN)
    for epic in order:
        tallest = max((len(part) for stacks in columns for part in stacks.get(epic, ())), default=0)
        if not tallest:
            continue
        head = HEAD if epic else 0
        inside = []
        for left, stacks in zip(lefts, columns, strict=True):
            for place, part in enumerate(stacks.get(epic, ())):
                for step, id_ in enumerate(part):
                    boxes[id_] = (left + place * (WIDTH + GAP_Y), y + PADDING + head + step * (HEIGHT + GAP_Y))
                    inside.append(boxes[id_][0])
        height = 2 * PADDING + head + tallest * (HEIGHT + GAP_Y) - GAP_Y
        bands.append(Band(epic, y, height, min(inside) - PADDING, max(inside) + WIDTH + PADDING))
        y += height + GAP_Y
    width = max((band.right for band in bands), default=400.0) + MARGIN
    return BoxPositions(boxes, tuple(bands), max(width, 560.0), y + MARGIN)


@cache
def _px(pixels: float) -> str:
    return f"{pixels:g}"


def escape(text: str) -> str:
    if "&" in text or "<" in text or ">" in text:
        return text.replace("&", "&amp;").replace(">", "&gt;").replace("<", "&lt;")
    return text


def _lines(text: str) -> Sequence[str]:
    if len(text) <= LINE:
        return [text]
    cut = text.rfind(" ", 0, LINE + 1)
    first = text[: cut if cut > LINE // 2 else LINE].rstrip()
    rest = text[len(first) :].strip()
    return [first, rest if len(rest) <= LINE else rest[: LINE - 1].rstrip() + "…"]


def _box(box: Box, x: float, y: float) -> str:
    """A group with its own coordinates, so that boxes only differ in words."""
    status = box.status.replace("_", " ")
    if box.assignee:
        status += f" · {box.assignee}"
    first, *rest = _lines(box.title)
    second = f'<text x="10" y="53" class="title">{escape(rest[0])}</text>' if rest else ""
    return (
        f'<g class="{box.kind}" transform="translate({_px(x)},{_px(y)})">'
        f"<title>{escape(f'{box.id}: {box.title} ({status})')}</title>{_FRAME}"
        f'<text x="10" y="16" class="id">{escape(_short(box.id, 16))}</text>'
        f"{_STATUS}{escape(_short(status, 20))}</text>"
        f'<text x="10" y="36" class="title">{escape(first)}</text>{second}</g>'
    )


_FRAME = f'<rect class="box" width="{WIDTH}" height="{HEIGHT}" rx="7"/>'
_STATUS = f'<text x="{WIDTH - 10}" y="16" class="status" text-anchor="end">'


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _arrows(picture: Picture, at: BoxPositions) -> list[str]:
    by_band = {band.epic: band for band in at.bands}
    starts = {id_: (x + WIDTH, y + HEIGHT / 2) for id_, (x, y) in at.boxes.items()}
    ends = {id_: (x - 3, y + HEIGHT / 2) for id_, (x, y) in at.boxes.items()}
    curves: dict[tuple[float, float], tuple[str, str, str, str]] = {}  # the columns are few, and the arrows many
    out = []
    for source, target, type_ in picture.arrows:
        start = starts.get(source) or _frame(by_band.get(source), True)
        end = ends.get(target) or _frame(by_band.get(target), False)
        if start is None or end is None:
            continue
        (x1, y1), (x2, y2) = start, end
        if (curve := curves.get((x1, x2))) is None:
            bend = max(28.0, abs(x2 - x1) / 2) if x2 > x1 else 60.0
            curve = curves[x1, x2] = _px(x1), _px(x1 + bend), _px(x2 - bend), _px(x2)
        begins, leaves, arrives, tip = curve
        style = (
            ' marker-end="url(#tip)"' if type_ is DependencyType.BLOCKS else ' stroke-dasharray="3 4" opacity="0.55"'
        )
        begin, end_y = _px(y1), _px(y2)
        out.append(
            f'<path d="M{begins},{begin} C{leaves},{begin} {arrives},{end_y} {tip},{end_y}" class="arrow"{style}/>'
        )
    return out


def _frame(band: Band | None, leaves: bool) -> tuple[float, float] | None:
    if band is None:
        return None
    return (band.right if leaves else band.left - 3), band.top + band.height / 2


def _legend(picture: Picture, y: float) -> list[str]:
    used = [kind for kind in COLOURS if any(box.kind == kind for box in picture.boxes)]
    out = []
    for place, kind in enumerate(used):
        x = MARGIN + place * 96
        colour = COLOURS[kind]
        out.append(
            f'<rect x="{x}" y="{y - 10:g}" width="12" height="12" rx="3" fill="{colour.fill}" stroke="{colour.line}"/>'
        )
        out.append(f'<text x="{x + 18}" y="{y:g}" class="status">{kind}</text>')
    return out


STYLE = (
    "text{font-family:system-ui,-apple-system,'Segoe UI',sans-serif}.id,.status,.epic{fill:#1f2328}"
    ".id{font:600 11px ui-monospace,SFMono-Regular,Menlo,monospace}.title{font-size:13px}.status{font-size:11px}"
    ".epic{font-size:13px;font-weight:600}.arrow{fill:none;stroke:#6e7781;stroke-width:1.4;marker-end:url(#tip)}"
    ".soft{stroke-dasharray:3 4;opacity:.55;marker-end:none}.box{stroke-width:1.4}"
    ".draft .box,.cancelled .box{stroke-dasharray:5 3}"
) + "".join(
    f".{kind} .box{{fill:{colour.fill};stroke:{colour.line}}}.{kind} .title{{fill:{colour.text}}}"
    for kind, colour in COLOURS.items()
)


def render_svg(picture: Picture, note: str = "") -> str:
    """The picture as an SVG document; `note` is below it."""
    at = places(picture)
    by_id = {box.id: box for box in picture.boxes}
    height = at.height + (48 if note else 24)
    epics = {band.epic for band in at.bands if band.epic} | {one for one in at.boxes if by_id[one].is_epic}
    beads = len(at.boxes.keys() - epics)
    label = ", ".join(count(many, what) for many, what in ((beads, "bead"), (len(epics), "epic")) if many) or "no bead"
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{at.width:g}" height="{height:g}" '
        f'viewBox="0 0 {at.width:g} {height:g}" role="img" aria-label="{label}">',
        f"<style>{STYLE}</style>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z" fill="#6e7781"/></marker></defs>',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    for band in at.bands:
        if band.epic:
            box = by_id[band.epic]
            width = band.right - band.left
            name = _short(f"{box.title} ({box.id})", max(12, int(width / 7.5)))
            out += [
                f'<rect x="{band.left:g}" y="{band.top:g}" width="{width:g}" height="{band.height:g}" rx="10" '
                'fill="#f6f8fa" stroke="#d0d7de"/>',
                f'<text x="{band.left + 12:g}" y="{band.top + 21:g}" class="epic">{escape(name)}</text>',
            ]
    out += _arrows(picture, at)
    for id_, (x, y) in sorted(at.boxes.items()):
        out.append(_box(by_id[id_], x, y))
    below = [f'<text x="{MARGIN}" y="{at.height + 28:g}" class="status">{escape(note)}</text>'] if note else []
    return "\n".join([*out, *_legend(picture, at.height + 4), *below, "</svg>"]) + "\n"


# Text: one line a bead, in an order in which it can be done, grouped by epic, with a sign for how it stands.
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
DRAW_TITLE = 72


def render_text(picture: Picture) -> str:
    """The full text, with a legend of its signs."""
    if not picture.boxes:
        return "no bead\n"
    by_id = {box.id: box for box in picture.boxes}
    layer = layers(picture)
    members = dict(picture.groups)
    needs = grouped((arrow.target, arrow.source) for arrow in picture.arrows if arrow.type is DependencyType.BLOCKS)
    width = max(len(box.id) for box in picture.boxes)
    out: list[str] = []

    def draw(box: Box, depth: int) -> None:
        title = box.title if len(box.title) <= DRAW_TITLE else box.title[: DRAW_TITLE - 1] + "…"
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
