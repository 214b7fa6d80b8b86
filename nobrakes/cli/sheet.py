"""Texts laid out on a screen: paragraphs that are wrapped, lines of code that are cut, and what of them is left out."""

from textwrap import wrap
from typing import TYPE_CHECKING

from ..wording.text import count, cut, lines, one_line, width
from .screen import Screen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..operations.decisions.view import Excerpt

WIDEST = 100
"""Columns of a line of prose, however wide the screen is."""
_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def folded(line: str, columns: int) -> list[str]:
    """The line in pieces of at most so many columns; one piece of an empty line."""
    pieces = [""]
    used = 0
    for character in line:
        wide = width(character)
        if used + wide > columns:
            pieces.append("")
            used = 0
        pieces[-1] += character
        used += wide
    return pieces


class Sheet:
    """A screen to lay texts out on; `is_whole`: nothing is left out."""

    def __init__(self, screen: Screen, is_whole: bool) -> None:
        self.screen = screen
        self.width = min(screen.width, WIDEST)
        self.is_whole = is_whole

    def head_line(self, text: str) -> str:
        """A title of a part, on one line."""
        return self.screen.paint(cut(text, self.width), "bold")

    def wrapped(self, text: str, indent: str, more: int = 0) -> list[str]:
        """One paragraph, broken at blanks; what follows the first line is indented by `more`."""
        after = indent + " " * more
        return wrap(text, self.width, initial_indent=indent, subsequent_indent=after, break_on_hyphens=False) or []

    def lines(self, text: str, indent: str) -> list[str]:
        """Untrusted text of several lines, harmless and indented; a long one goes on in the next line."""
        return [piece for line in lines(text.rstrip()) for piece in self.wrapped(line, indent) or [""]]

    def each(self, texts: "Iterable[str]", indent: str) -> list[str]:
        """Each text as a paragraph of its own."""
        return [line for text in texts for line in self.wrapped(one_line(text), indent)]

    def text(self, excerpt: "Excerpt", indent: str) -> list[str]:
        """Lines of prose: each is wrapped."""
        blank = " " * len(indent)
        out: list[str] = []
        for line in excerpt.lines:
            out += wrap(line, self.width, initial_indent=indent, subsequent_indent=blank) or [""]
        return out + self.rest(excerpt, blank)

    def code(self, excerpt: "Excerpt", indent: str, sign: str) -> list[str]:
        """One side of a conflict."""
        out = [self.screen.paint(cut(f"{indent}{sign} {line}", self.width), _STYLES[sign]) for line in excerpt.lines]
        return (out or [f"{indent}(nothing)"]) + self.rest(excerpt, indent)

    def painted(self, excerpt: "Excerpt", indent: str) -> list[str]:
        """Lines of output or of a difference: nothing of them is hidden, a long one goes on in the next line."""
        out: list[str] = []
        for line in excerpt.lines:
            style = _STYLES.get(line[:1], "")
            out += [self.screen.paint(f"{indent}{piece}", style) for piece in folded(line, self.width - len(indent))]
        return [*out, *self.rest(excerpt, indent)]

    def coloured(self, line: str, indent: str) -> str:
        """A line of a difference in its colour, cut."""
        return self.screen.paint(cut(f"{indent}{line}", self.width), _STYLES.get(line[:1], ""))

    @staticmethod
    def rest(excerpt: "Excerpt", indent: str) -> list[str]:
        """What was left out, and what shows it."""
        if not excerpt.more:
            return []
        shows = f": {excerpt.command}" if excerpt.command else ""
        return [f"{indent}… {count(excerpt.more, 'line')} more{shows}"]
