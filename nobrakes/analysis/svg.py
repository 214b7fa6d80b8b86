"""The graph as an SVG picture that needs nothing else: columns of what can be done one after the other, bands of epics.

1. A column is a layer (analysis.layout); a long layer is wrapped into several columns side by side.
2. A band is one epic, so that epics never overlap; beads without an epic have a band without a frame.
3. Dark text on light, and the status is written as well as coloured. Texts are escaped; nothing else is put in.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from ..core.beads.bead import DependencyType
from .colours import COLOURS
from .layout import layout
from .picture import Box, Picture

WIDTH, HEIGHT = 208, 66
GAP_X, GAP_Y = 64, 14
MARGIN, PADDING, HEAD = 24, 14, 26
TALLEST = 12
"""So many boxes above one another in one band, then a layer goes on in the next column."""
LINE = 27
"""Characters of a title in one line of a box."""


@dataclass(frozen=True, slots=True)
class Band:
    """An epic's frame, or the place of the beads without one (`epic` ""). `left` to `right` in pixels."""

    epic: str
    top: float
    height: float
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class Places:
    """Where everything stands, in pixels: boxes by their left top corner."""

    boxes: dict[str, tuple[float, float]]
    bands: tuple[Band, ...]
    width: float
    height: float


def _order(picture: Picture) -> list[str]:
    """The bands from top to bottom: each epic with beads of its own, one inside another after it; "" at the end."""
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


def places(picture: Picture) -> Places:
    """The whole layout in pixels."""
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
    return Places(boxes, tuple(bands), max(width, 560.0), y + MARGIN)


@cache
def _px(pixels: float) -> str:
    """A number as the picture writes it: most occur many times, and writing one costs."""
    return f"{pixels:g}"


def escape(text: str) -> str:
    """Text for inside an element."""
    if "&" in text or "<" in text or ">" in text:
        return text.replace("&", "&amp;").replace(">", "&gt;").replace("<", "&lt;")
    return text


def _lines(text: str) -> Sequence[str]:
    """The title in at most two lines, broken at spaces where there are any."""
    if len(text) <= LINE:
        return [text]
    cut = text.rfind(" ", 0, LINE + 1)
    first = text[: cut if cut > LINE // 2 else LINE].rstrip()
    rest = text[len(first) :].strip()
    return [first, rest if len(rest) <= LINE else rest[: LINE - 1].rstrip() + "…"]


def _box(box: Box, x: float, y: float) -> str:
    """A box as a group with coordinates of its own, so that for every box all is the same but the words."""
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


def _arrows(picture: Picture, at: Places) -> list[str]:
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
        curve = curves.get((x1, x2))
        if curve is None:
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
    """Where an arrow leaves or reaches an epic's frame; None: an epic whose beads are in other bands."""
    if band is None:
        return None
    return (band.right if leaves else band.left - 3), band.top + band.height / 2


def _band(band: Band, box: Box) -> list[str]:
    width = band.right - band.left
    name = _short(f"{box.title} ({box.id})", max(12, int(width / 7.5)))
    return [
        f'<rect x="{band.left:g}" y="{band.top:g}" width="{width:g}" height="{band.height:g}" rx="10" '
        'fill="#f6f8fa" stroke="#d0d7de"/>',
        f'<text x="{band.left + 12:g}" y="{band.top + 21:g}" class="epic">{escape(name)}</text>',
    ]


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


def render(picture: Picture, note: str = "") -> str:
    """The picture as one SVG document; `note` stands below it."""
    at = places(picture)
    by_id = {box.id: box for box in picture.boxes}
    height = at.height + (48 if note else 24)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{at.width:g}" height="{height:g}" '
        f'viewBox="0 0 {at.width:g} {height:g}" role="img" aria-label="{len(by_id)} beads">',
        f"<style>{STYLE}</style>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z" fill="#6e7781"/></marker></defs>',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    for band in at.bands:
        if band.epic:
            out += _band(band, by_id[band.epic])
    out += _arrows(picture, at)
    for id_, (x, y) in sorted(at.boxes.items()):
        out.append(_box(by_id[id_], x, y))
    below = [f'<text x="{MARGIN}" y="{at.height + 28:g}" class="status">{escape(note)}</text>'] if note else []
    return "\n".join([*out, *_legend(picture, at.height + 4), *below, "</svg>"]) + "\n"
