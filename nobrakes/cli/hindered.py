"""What keeps work from going on, on a terminal: a few lines for each hindrance, and what to type about it."""

from collections.abc import Callable, Iterable
from textwrap import wrap
from typing import TYPE_CHECKING

from ..core.hindrances import Hindrance, Kind
from ..wording.hindrances import rest, told

if TYPE_CHECKING:
    from ..operations.hindrances.look import Hindrances
    from .screen import Screen

EACH = 5
"""So many of a kind are shown; the others are counted."""
NARROWEST = 40


def lines(
    found: "Hindrances", now: float, screen: "Screen", wanted: Callable[[Kind], bool] = lambda _: True
) -> list[str]:
    """Every hindrance of the kinds that are wanted."""
    out: list[str] = []
    unnamed = dict(found.more)
    kinds = dict.fromkeys(one.kind for one in found.found if wanted(one.kind))
    for kind in kinds:
        some = [one for one in found.found if one.kind is kind]
        out += shown(some[:EACH], now, screen)
        left = len(some) - EACH if len(some) > EACH else 0
        left += unnamed.get(kind, 0)
        out += [f"  {rest(kind, left)}"] if left else []
    return out


def shown(found: Iterable[Hindrance], now: float, screen: "Screen") -> list[str]:
    """These hindrances, whole: each line is as wide as the screen allows, and no word of a command is cut."""
    out = []
    width = max(NARROWEST, screen.width)
    for one in found:
        words = told(one, now)
        style = "red" if one.stops else "yellow"
        out += [
            screen.paint(line, style)
            for line in wrap(words.what, width, subsequent_indent="  ", break_on_hyphens=False)
        ]
        for part in (words.why, words.cure):
            out += wrap(part, width, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
        for number, command in enumerate(words.commands):
            out.append(f"  {'type:' if number == 0 else '     '} {screen.paint(command, 'bold')}")
    return out
