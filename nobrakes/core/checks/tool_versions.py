"""Tools that a check needs: which versions are wanted, and which one a tool's own words tell.

1. What is wanted is a list with commas, all of which must hold: `>=3.11`, `<4`, `==1.2.3`, `!=2.0`, or `20`: any 20.
2. A version is the first number with or without dots in what the tool says; what follows a `-` or `+` is left out.
3. Missing parts are zeros where two versions are compared: 3.11 is 3.11.0.
"""

import re
from collections.abc import Callable, Mapping
from itertools import zip_longest

Version = tuple[int, ...]

_ONE = re.compile(r"(>=|<=|==|!=|>|<|)\s*v?([0-9]{1,9}(?:\.[0-9]{1,9}){0,4})")
_FOUND = re.compile(r"(?<![0-9.])v?([0-9]{1,9}(?:\.[0-9]{1,9}){1,4})|(?<![0-9.\w-])v?([0-9]{1,9})(?![\w.])")

ASKED_WITH: Mapping[str, str] = {"go": "version"}
"""The word that asks a tool for its version, where it is not --version."""


def mistake(wanted: str) -> str | None:
    """What is wrong with the text that says which versions are wanted."""
    if all(_ONE.fullmatch(part.strip()) for part in wanted.split(",")):
        return None
    return f"'{wanted[:40]}' is no version: write '>=3.11', '>=3.11,<4', '==1.2.3', or '20' for any 20"


def found_in(said: str) -> Version | None:
    """The version in what a tool printed when it was asked; None: it names none."""
    match = _FOUND.search(said)
    return _version(match[1] or match[2]) if match is not None else None


def as_text(version: Version) -> str:
    """As people write it."""
    return ".".join(map(str, version))


def meets(version: Version, wanted: str) -> bool:
    """Whether the version is one of those that are wanted."""
    return all(_holds(version, part.strip()) for part in wanted.split(","))


def unmet(tool: str, wanted: str, code: int | None, said: str) -> str | None:
    """Why a tool that was asked for its version is not what a check needs; None: it is."""
    if code == 127:
        return f"it needs {tool} {wanted}, which is not there"
    if code is None:
        return f"it needs {tool} {wanted}, which did not tell its version"
    version = found_in(said)
    if version is None or code != 0:
        first = next((line.strip()[:80] for line in said.splitlines() if line.strip()), "nothing")
        return f"it needs {tool} {wanted}, which did not tell its version but: {first}"
    return None if meets(version, wanted) else f"it needs {tool} {wanted}, and found {as_text(version)}"


def _version(text: str) -> Version:
    return tuple(int(part) for part in text.split("."))


_OPERATORS: Mapping[str, Callable[[int], bool]] = {
    ">=": lambda order: order >= 0,
    "<=": lambda order: order <= 0,
    "==": lambda order: order == 0,
    "!=": lambda order: order != 0,
    ">": lambda order: order > 0,
    "<": lambda order: order < 0,
}


def _holds(version: Version, part: str) -> bool:
    match = _ONE.fullmatch(part)
    if match is None:
        return False
    bound = _version(match[2])
    if not match[1]:
        return version[: len(bound)] == bound
    return _OPERATORS[match[1]](_order(version, bound))


def _order(one: Version, other: Version) -> int:
    for a, b in zip_longest(one, other, fillvalue=0):
        if a != b:
            return 1 if a > b else -1
    return 0
