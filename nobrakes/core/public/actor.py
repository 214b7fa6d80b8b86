"""Who acts, as a value that a surface makes and hands on: never read from the environment further in.

1. A name is one line that people see whole, short, and none that the machine signs with.
2. What a person chose and cannot be is refused; what the system says of a person is made to fit.
"""

from dataclasses import dataclass
from enum import StrEnum

from ..beads.events import Event, Kind
from ..errors import UsageError
from ..text.cleaning import is_seen, only_seen

MOST = 80
"""Characters."""
UNDO_MARK = " (undo)"
"""Ends the actor's name in the events of an undo."""
RESERVED = frozenset((Event(Kind.PROPOSED).actor, "reviewer"))
NOBODY = "person"


class Surface(StrEnum):
    """By which way somebody acts."""

    CLI = "cli"
    MCP = "mcp"
    WEB = "web"
    DAEMON = "daemon"


@dataclass(frozen=True, slots=True)
class Actor:
    """Somebody who acts. Events are signed with `name`."""

    name: str
    surface: Surface


def given(name: str, surface: Surface) -> Actor:
    """The actor that was asked for by name; UsageError."""
    wrong = _mistake(name)
    if wrong:
        raise UsageError(
            f"nobody can act as '{only_seen(name)[:40]}': it {wrong}", f"Use a name of at most {MOST} characters."
        )
    return Actor(name, surface)


def usual(name: str, surface: Surface) -> Actor:
    """The actor that the system names, cleaned; `person` where nothing is left of the name."""
    found = " ".join(only_seen(name).split())[:MOST].strip()
    return Actor(NOBODY if _mistake(found) else found, surface)


def _mistake(name: str) -> str:
    if not name.strip():
        return "is empty"
    if name != " ".join(name.split()) or not name.isprintable() or not is_seen(name):
        return "has spaces at an end or two together, line breaks, or characters that nobody sees"
    if len(name) > MOST:
        return f"has {len(name)} characters"
    if name.casefold() in RESERVED or name.endswith(UNDO_MARK.strip()):
        return "is kept for nobrakes itself"
    return ""
