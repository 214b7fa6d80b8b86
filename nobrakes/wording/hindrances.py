"""A hindrance in words, the same for every surface: what happened, why, what to do, and what to type."""

from collections.abc import Sequence
from typing import NamedTuple

from ..core.hindrances import Hindrance, Kind
from .text import age, one_line
from .times import spoken

REST: dict[Kind, str] = {Kind.ESCALATION: "nobrakes escalations"}
"""What shows those of a kind that are not named; all other beads say for themselves what they wait for."""
EXPLAIN = "nobrakes ready --explain"


class Told(NamedTuple):
    """One hindrance, each part on one line; empty parts are left out. `commands` are typed in this order."""

    what: str
    why: str
    cure: str
    commands: tuple[str, ...]


def told(one: Hindrance, now: float) -> Told:
    """The hindrance in words at this moment."""
    what = one_line(one.what)
    if one.until is not None and one.until > now:
        what += f" for {age(one.until - now)}, until {spoken(one.until)}"
    commands = tuple(one_line(command) for command in one.commands)
    return Told(what, one_line(one.why), one_line(one.cure), commands)


def rest(kind: Kind, number: int) -> str:
    """That there are more of a kind, and what shows them."""
    return f"and {number} more {kind.value.replace('_', ' ')}: {REST.get(kind, EXPLAIN)}"


def refusal(found: Sequence[Hindrance], now: float) -> tuple[str, str]:
    """(why nothing was started, what to do and to type first) of what a run is refused for."""
    lines = ["nothing was started"]
    for one in found:
        words = told(one, now)
        lines += [words.what, *(f"  {part}" for part in (words.why,) if part)]
    first = told(found[0], now)
    hint = [f"{first.cure[:1].upper()}{first.cure[1:]}."] if first.cure else []
    hint += [f"Type `{first.commands[0]}`."] if first.commands else []
    return "\n".join(lines), "\n".join(hint)
