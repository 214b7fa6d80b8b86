"""Where text goes, and text laid out for it: colours, tables, paragraphs.

1. Colour only on a terminal, never with NO_COLOR, and never the only carrier of meaning.
2. Imports nothing that costs: cli.hot writes with it.
"""

import os

from . import text as _text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}


class Screen:
    """A width in columns, and whether colours are welcome."""

    __slots__ = ("colour", "width")

    def __init__(self, width: int = 100, colour: bool = False) -> None:
        self.width = width
        self.colour = colour

    def paint(self, text: str, style: str) -> str:
        """`text` in a style of `_CODES`, where colours are welcome."""
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.colour and style else text


def screen_of(stream: "TextIO") -> Screen:
    """The screen that `stream` is. A pipe gets no colours and long lines."""
    if not stream.isatty():
        return Screen(width=120)
    dumb = os.environ.get("TERM", "") in ("", "dumb")
    return Screen(os.get_terminal_size(stream.fileno()).columns or 80, not os.environ.get("NO_COLOR") and not dumb)


def table(head: "Sequence[str]", rows: "Sequence[Sequence[str]]", screen: Screen, stretch: int = -1) -> str:
    """Aligned columns. The column `stretch` (default: the last) is cut where the screen is too narrow."""
    if not rows:
        return ""
    stretch %= len(head)
    cells = [[_text.one_line(cell) for cell in row] for row in rows]
    widths = [max(_text.width(row[i]) for row in [list(head), *cells]) for i in range(len(head))]
    others = sum(widths) - widths[stretch] + 2 * (len(head) - 1)
    widths[stretch] = min(widths[stretch], max(10, screen.width - others))

    def line(row: "Sequence[str]") -> str:
        fitted = (_text.pad(_text.cut(cell, wide), wide) for cell, wide in zip(row, widths, strict=True))
        return "  ".join(fitted).rstrip()

    return "\n".join([screen.paint(line(head), "dim"), *map(line, cells)])


def paragraph(text: str, indent: str = "  ") -> str:
    """Untrusted text of several lines, harmless and indented."""
    return "\n".join(indent + line for line in _text.lines(text.rstrip()))
