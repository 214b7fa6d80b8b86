"""How things look: a shape and a colour for each state, beside its word, and the sheet of styles.

1. A colour never says anything alone: the shape and the word say the same.
2. Texts are Content made of parts and never markup: brackets in a title are brackets.
"""

from collections.abc import Mapping

from textual.content import Content
from textual.theme import Theme

from ..wording.text import cut, lines, one_line, pad, width

SHAPES: Mapping[str, tuple[str, str]] = {
    "draft": ("◇", "$quiet"),
    "blocked": ("◌", "$quiet"),
    "ready": ("○", "$success"),
    "working": ("◐", "$primary"),
    "review": ("◉", "$secondary"),
    "requested": ("◎", "$secondary"),
    "escalated": ("◆", "$warning"),
    "done": ("✓", "$quiet"),
    "cancelled": ("✕", "$quiet"),
}
"""By column of the board: its shape and its style."""
NEEDS_YOU = ("◆", "$warning bold")
DOUBT = ("▲", "$warning")
WRONG = ("✗", "$error bold")
EVENT_STYLES = {"red": "$error", "yellow": "$warning", "green": "$success", "": ""}
MUTED = "$quiet"
WIDE, MEDIUM = 110, 60
"""Columns from which the board stands side by side, and from which a line has room for all."""

Part = str | tuple[str, str]

DARK = Theme(
    name="night",
    primary="#7aa2f7",
    secondary="#bb9af7",
    accent="#7aa2f7",
    warning="#e0af68",
    error="#f7768e",
    success="#9ece6a",
    foreground="#c8ccd8",
    background="#16181f",
    surface="#16181f",
    panel="#1f222b",
    dark=True,
    variables={"quiet": "#868da0"},
)
LIGHT = Theme(
    name="day",
    primary="#2856b8",
    secondary="#7a3fb0",
    accent="#2856b8",
    warning="#8f5a00",
    error="#b3261e",
    success="#2f6b1f",
    foreground="#24262e",
    background="#fafaf7",
    surface="#fafaf7",
    panel="#eceae3",
    dark=False,
    variables={"quiet": "#6a6d75"},
)

CSS = """
Screen { background: $background; color: $foreground; }
* { scrollbar-color: $foreground 25%; scrollbar-background: $background; scrollbar-color-hover: $accent;
    scrollbar-color-active: $accent; scrollbar-background-hover: $background;
    scrollbar-background-active: $background; }
#top { height: auto; padding: 0 1; background: $panel; }
#state { height: auto; max-height: 3; padding: 0 1; display: none; }
#state.-shown { display: block; }
#body { height: 1fr; }
#above { height: auto; max-height: 45%; }
#beads { height: 1fr; }
#bottom { height: auto; dock: bottom; }
#keys {
    height: 1; padding: 0 1; background: $panel;
}
#said { height: auto; max-height: 4; padding: 0 1; display: none; }
#said.-shown { display: block; }
#line { height: 1; display: none; }
#line.-shown { display: block; }
#line Label { width: auto; padding: 0 1; color: $accent; text-style: bold; }
Input { height: 1; border: none; padding: 0 1; background: $panel; }
Input:focus { border: none; background-tint: $foreground 5%; }
Panel {
    height: auto; max-height: 100%; padding: 0 1; background: transparent;
    border: none; border-top: solid $foreground 20%; border-title-color: $foreground; border-title-style: bold;
    scrollbar-size-vertical: 1;
}
Panel:focus { border: none; border-top: solid $accent; border-title-color: $accent; background-tint: $foreground 0%; }
Panel > .option-list--option { padding: 0; }
Panel > .option-list--option-disabled { color: $quiet; }
Panel > .option-list--option-highlighted { color: $foreground; background: transparent; text-style: none; }
Panel:focus > .option-list--option-highlighted {
    color: $foreground; background: $accent 25%; text-style: bold;
}
.-mono Panel:focus > .option-list--option-highlighted { text-style: reverse; }
.-mono Choice:focus > .option-list--option-highlighted { text-style: reverse; }
.-mono Button:focus { text-style: reverse; }
Column { display: none; max-height: 10000; }
#beads { scrollbar-size-vertical: 1; }
Column.-shown { display: block; }
#needs { max-height: 7; }
#agents { max-height: 13; }
#log { height: 6; }
.-wide #above { layout: horizontal; height: auto; max-height: 40%; min-height: 5; }
.-wide #needs { width: 1fr; height: auto; max-height: 100%; margin: 0 1 0 0; }
.-wide #agents { width: 1fr; height: auto; max-height: 100%; }
.-wide #beads { layout: horizontal; overflow-x: hidden; }
.-wide Column { width: 1fr; height: 1fr; max-height: 100%; margin: 0 1 0 0; }
.-wide #log { height: 10; }
.-low #log { height: 4; }
.-low #needs { max-height: 5; }
.-low #agents { max-height: 7; }
.-narrow #log { height: 5; }
Detail #text, Ask #text { padding: 0 1; height: auto; }
Detail #scroll, Ask #scroll { height: 1fr; scrollbar-size-vertical: 1; }
Choice {
    height: auto; max-height: 100%; border: none; padding: 0 1; margin: 1 0 0 0; background: transparent;
}
Choice:focus { border: none; background-tint: $foreground 0%; }
Choice > .option-list--option-highlighted { color: $foreground; background: transparent; text-style: none; }
Choice:focus > .option-list--option-highlighted { color: $foreground; background: $accent 25%; text-style: none; }
Ask Input { margin: 1 1 0 1; }
Ask TextArea { height: 6; margin: 1 1 0 1; border: none; background: $panel; padding: 0 1; }
Ask TextArea:focus { border: none; }
Ask .label { padding: 0 1; color: $quiet; margin: 1 0 0 0; }
Ask #send { margin: 1 1; min-width: 12; height: 1; border: none; background: $panel; color: $foreground; }
Ask #send:focus { background: $accent 40%; text-style: bold; }
"""


def line(columns: int, *parts: Part) -> Content:
    """Parts on one line of so many columns: each made harmless, the last that fits cut."""
    out: list[Part] = []
    left = columns
    for part in parts:
        text, style = (part, "") if isinstance(part, str) else part
        kept = _kept(text)
        shown = cut(kept, left)
        if shown:
            out.append((shown, style))
            left -= width(shown)
        if shown != kept:
            break
    return Content.assemble(*out)


def _kept(text: str) -> str:
    """Harmless, with the blanks at its ends, by which parts stand apart."""
    if text.isprintable() and text.isascii():
        return text
    inner = one_line(text).strip()
    before = " " * (len(text) - len(text.lstrip(" ")))
    after = " " * (len(text) - len(text.rstrip(" "))) if inner else ""
    return before + inner + after


def field(text: str, columns: int) -> str:
    """One untrusted field of a line, exactly as wide as said."""
    return pad(cut(one_line(text), columns), columns)


def shape(column: str) -> tuple[str, str]:
    """The shape of a column with a blank behind it."""
    found, style = SHAPES[column]
    return f"{found} ", style


def paragraph(text: str, columns: int, indent: str = "  ", style: str = "") -> Content:
    """Untrusted text of several lines: harmless, each broken at words so that nothing is lost."""
    room = max(10, columns - width(indent))
    out = []
    for one in lines(text.rstrip()):
        rest = one
        while True:
            part, rest = broken(rest, room)
            out.append((indent + part, style))
            if not rest:
                break
    return Content("\n").join([Content.assemble(part) for part in out])


def broken(text: str, room: int) -> tuple[str, str]:
    """As much of the text as fits, up to a blank where there is one, and the rest."""
    if width(text) <= room:
        return text, ""
    piece = cut(text, room + 1).removesuffix("…")
    place = len(piece) if text[len(piece) :].startswith(" ") else piece.rfind(" ")
    if place > room // 2:
        return text[:place], text[place:].lstrip(" ")
    piece = piece or text[:1]
    return piece, text[len(piece) :]
