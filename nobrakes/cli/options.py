"""What a parameter of a command is on the command line, without importing what reads command lines.

1. Commands are annotated with these: `Annotated[int, option("--limit", min=1, help="…")]`.
2. cli.plain reads usual lines by them; cli.group makes typer's own out of them for everything else.
"""

import re
from typing import Any, NamedTuple


class Option(NamedTuple):
    """A named parameter. No names: made from the parameter's. `settings` are typer's: help, min, max, metavar …"""

    names: tuple[str, ...]
    settings: dict[str, Any]


class Argument(NamedTuple):
    """A parameter by its place."""

    settings: dict[str, Any]


def option(*names: str, **settings: Any) -> Option:
    """An option with these names; "--yes/--no" names both sides of a flag."""
    return Option(names, settings)


def argument(**settings: Any) -> Argument:
    """An argument."""
    return Argument(settings)


def sides(parameter: str, made: Option, is_flag: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(names that give a value or mean yes, names that mean no), as typer has them."""
    names = made.names or (f"--{parameter.replace('_', '-')}",)
    if is_flag and not made.names:
        return names, (f"--no-{parameter.replace('_', '-')}",)
    yes, no = [], []
    for name in names:
        first, slash, second = name.partition("/")
        yes.append(first)
        if slash:
            no.append(second)
    return tuple(yes), tuple(no)


WHOLE = re.compile(r"[0-9]{1,9}")
NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")


def within(number: float, settings: dict[str, Any]) -> bool:
    """Whether the number keeps the bounds in `settings`."""
    low, high = settings.get("min"), settings.get("max")
    return (low is None or low <= number) and (high is None or number <= high)
