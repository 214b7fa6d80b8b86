"""Texts of agents and checks, made harmless and short; what is left out is counted.

What looks like a secret is blacked out, in code too: the page is copied, sent by mail and read out.
"""

import re

from ...core.text.cleaning import clean, redacted
from .view import Excerpt

WIDE = 400
"""Characters of one line that are shown."""
WHOLE = 10**6
"""So many lines: nothing is cut, and no line either."""
_ID = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b")


def short(commit: object) -> str:
    """A commit as a sentence names it."""
    return str(commit)[:12]


def readable(text: str) -> str:
    """Harmless text in which commits are named by their first digits."""
    return _ID.sub(lambda found: short(found[0]), redacted(clean(text)))


def flat(text: object) -> str:
    """The same on one line."""
    return " ".join(readable(str(text)).split())


def line(text: object) -> str:
    """The same on one line, bounded."""
    return _cut(flat(text))


def excerpt(text: str, most: int, command: str = "", is_end: bool = False, is_code: bool = False) -> Excerpt:
    """At most `most` lines of a text: the first ones, or with `is_end` the last. `is_code`: its ids stay whole."""
    cleaned = (redacted(clean(text)) if is_code else readable(text)).expandtabs(4).strip("\n")
    found = [one.rstrip() for one in cleaned.split("\n")] if cleaned.strip() else []
    kept = found[-most:] if is_end else found[:most]
    kept = kept if most >= WHOLE else [_cut(one) for one in kept]
    more = len(found) - len(kept)
    return Excerpt(tuple(kept), more, command if more else "")


def of_lines(lines: "tuple[str, ...] | list[str]", most: int, command: str = "", is_code: bool = False) -> Excerpt:
    """At most `most` of the lines."""
    return excerpt("\n".join(lines), most, command, is_code=is_code)


def _cut(text: str) -> str:
    return text if len(text) <= WIDE else f"{text[: WIDE - 1]}…"
