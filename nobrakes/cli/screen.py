"""Where text goes, and text laid out for it: colours, tables, paragraphs.

1. Colour only on a terminal, never with NO_COLOR, and never the only carrier of meaning.
2. Imports nothing that costs: cli.hot writes with it.
"""

import os
import sys

from ..text import cleaning as _text
from ..text.cleaning import visible

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO


_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}


class Screen:
    """A width in columns, and whether colours are used."""

    __slots__ = ("colour", "width")

    def __init__(self, width: int = 100, colour: bool = False) -> None:
        self.width = width
        self.colour = colour

    def paint(self, text: str, style: str) -> str:
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.colour and style else text


def screen_of(stream: "TextIO") -> Screen:
    """A pipe gets no colours and long lines."""
    if not stream.isatty():
        return Screen(width=120)
    dumb = os.environ.get("TERM", "") in ("", "dumb")
    return Screen(os.get_terminal_size(stream.fileno()).columns or 80, not os.environ.get("NO_COLOR") and not dumb)


def table(head: "Sequence[str]", rows: "Sequence[Sequence[str]]", screen: Screen, stretch: int = -1) -> str:
    """Aligned columns; `stretch` (default: the last) is cut on a narrow screen."""
    if not rows:
        return ""
    stretch %= len(head)
    # a column at a time: a whole graph has tens of thousands of cells, and most are plain
    columns = [[title, *cells] for title, cells in zip(head, map(_harmless, zip(*rows, strict=True)), strict=True)]
    taken = [[*map(len if "".join(column).isascii() else _text.width, column)] for column in columns]
    widths = [max(own) for own in taken]
    others = sum(widths) - widths[stretch] + 2 * (len(head) - 1)
    widths[stretch] = min(widths[stretch], max(10, screen.width - others))
    fitted = map(_fitted, columns, taken, widths)
    first, *rest = ["  ".join(row).rstrip() for row in zip(*fitted, strict=True)]
    return "\n".join([screen.paint(first, "dim"), *rest])


def _harmless(cells: "Sequence[str]") -> "Sequence[str]":
    return cells if "".join(cells).isprintable() else [_text.one_line(cell) for cell in cells]


def _fitted(cells: "Sequence[str]", taken: "Sequence[int]", wide: int) -> "Sequence[str]":
    return [
        cell + " " * (wide - own) if own <= wide else _text.pad(_text.cut(cell, wide), wide)
        for cell, own in zip(cells, taken, strict=True)
    ]


def paragraph(text: str, indent: str = "  ") -> str:
    return "\n".join(indent + line for line in _text.lines(text.rstrip()))


def read_words(
    words: "list[str]",
    valued: "tuple[str, ...]",
    flags: "tuple[str, ...]",
    repeated: "dict[str, list[str]] | None" = None,
) -> "tuple[dict[str, str], list[str]] | None":
    """(options, texts) if every option is known and given once, else None. `repeated`: lists of repeatable values."""
    lists = repeated or {}
    options: dict[str, str] = {}
    texts: list[str] = []
    place = 0
    while place < len(words):
        word = words[place]
        place += 1
        if word == "--":
            return options, texts + words[place:]
        name, equals, value = word.partition("=")
        if not word.startswith("-") or word == "-":
            texts.append(word)
            continue
        if name in options or (name not in valued and name not in lists and word not in flags):
            return None
        if equals and not word.startswith("--"):  # `-n=5` means "=5"
            return None
        if (name in valued or name in lists) and not equals:
            if place == len(words):
                return None
            value = words[place]
            place += 1
        if name in lists:
            lists[name].append(value)
        else:
            options[name] = value
    return options, texts


def put(text: str) -> int:
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    return 0


def put_envelope(command: str, data: str, more: "int | None" = None) -> int:
    """Returns the exit code. `more`: the items beyond a cut list."""
    left = "" if more is None else f',"more":{more}'
    return put('{"ok":true,"command":"' + command + '","data":' + visible(data) + left + "}")
