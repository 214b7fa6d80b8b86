"""What the values of a plan file mean, one by one: each as a plan has it, or ValueError with what is wrong with it.

A value that is of another kind than the words that people write is handed on as it is, for whoever judges kinds.
"""

import re
from typing import Any, Literal

from ...core.beads.bead import is_bead_id, parse_type
from ...core.errors import BadBead
from ...interop.words import CLOSED_WORDS, OPEN_WORDS, SET_ASIDE_WORDS, moment

MAX_TEXT = 1_000_000
MAX_KEY = 100
MAX_HOLD = 2000
MAX_MINUTES = 1_000_000
_DURATION = re.compile(r"(?:(\d{1,4})\s*h)?\s*(?:(\d{1,5})\s*m(?:in)?)?", re.IGNORECASE)

StatusWord = Literal["draft", "live", "done", "cancelled"]


def id_of(value: Any) -> Any:
    """A bead's id."""
    if isinstance(value, str) and not is_bead_id(value):
        raise ValueError("is no id: use 1 to 64 letters, digits, '-', '_' or '.', beginning with a letter or digit")
    return value


def type_of(value: Any) -> Any:
    """A type of bead, by any of its names."""
    if isinstance(value, str):
        try:
            return parse_type(value)
        except BadBead as error:
            raise ValueError(f"{error}. {error.hint}") from None
    return value


def title_of(value: Any) -> Any:
    """A title: one line."""
    if isinstance(value, str):
        value = value.strip()
        if not value.isprintable():
            raise ValueError("has line breaks or control characters; a title is one line")
    return value


def lines_of(value: Any) -> Any:
    """Texts, or a text with one on each line."""
    if isinstance(value, str):
        return [line.strip().removeprefix("- ").strip() for line in value.splitlines() if line.strip(" -\t")]
    return value


def minutes_of(value: Any) -> Any:
    """Minutes, or a text that says how long."""
    if isinstance(value, str):
        found = _DURATION.fullmatch(value.strip())
        if not found or not any(found.groups()):
            raise ValueError("is no duration: use minutes, or texts like '45m', '2h', '1h30m'")
        return int(found[1] or 0) * 60 + int(found[2] or 0)
    return value


def moment_of(value: Any) -> Any:
    """Seconds since 1970, from a time as people and YAML write it."""
    if isinstance(value, str):
        try:
            return moment(value)
        except (ValueError, OverflowError):
            raise ValueError("is no time: use ISO 8601, like '2030-01-31T09:00:00Z'") from None
    if hasattr(value, "isoformat"):  # YAML reads dates by itself
        return moment(value.isoformat())
    return value


def status_of(value: Any) -> Any:
    """One of StatusWord, from the words of trackers; None: neither says anything."""
    if isinstance(value, str):
        word = value.strip().lower()
        if word in CLOSED_WORDS:
            return "done"
        return None if word in OPEN_WORDS or word in SET_ASIDE_WORDS else word
    return value
