"""What a line of Markdown is, and what is left of a text when its Markdown is taken away."""

import re
from collections.abc import Sequence

HEADING = re.compile(r"(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
UNDERLINE = re.compile(r"(?:=+|-+)[ \t]*")
RULE = re.compile(r"([-*_])(?:[ \t]*\1){2,}[ \t]*")
BULLET = re.compile(r"([-*+]|\d{1,9}[.)])(?:([ \t]+)(.*)|()())")
BOX = re.compile(r"\[([ xX])\](?:[ \t]+(.*)|[ \t]*)")
FENCE = re.compile(r"(`{3,}(?=[^`]*$)|~{3,})")
CLOSING_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*")
LABEL = re.compile(
    r"[*_]{0,3}(?:acceptance(?: criteria| tests?)?|criteria|done when|definition of done)[*_]{0,3}"
    r"(?:[ \t]*:[*_]{0,3}(?:[ \t]+(.*\S))?)?[ \t]*",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"\*\*|__|`|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")


def front(lines: Sequence[str]) -> int:
    """How many lines at the beginning are front matter."""
    if lines and lines[0].rstrip() == "---":
        for place, line in enumerate(lines[1:], 2):
            if line.rstrip() in ("---", "..."):
                return place
    return 0


def box_in(body: str) -> bool:
    """Whether this would be an unticked item."""
    bullet = BULLET.fullmatch(body)
    box = BOX.match(bullet[3] or "") if bullet else None
    return box is not None and box[1] == " "


def dedented(lines: Sequence[str]) -> str:
    """The lines without what all are indented by, and without empty ones at both ends."""
    from textwrap import dedent

    return dedent("\n".join(line.expandtabs(4) if line[:1] in " \t" else line for line in lines)).strip("\n").rstrip()


def plain_title(text: str) -> str:
    """A title in one line of printable characters, without Markdown."""
    text = _MARKUP.sub("", _LINK.sub(r"\1", text))
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def normal(title: str) -> str:
    """A title as it is compared: letters and digits alone, in one case."""
    words = re.findall(r"\w+", plain_title(title).casefold())
    return " ".join(words) or plain_title(title).casefold()
