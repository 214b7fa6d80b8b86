"""The argv of a command behind the wall, where there is no sandbox. Pure: the same wall gives the same argv.

What runs behind it reads what your account can, and writes its own places and temporary folders.
"""

import os
import sys
from dataclasses import dataclass

from ..ports.git import Argv
from . import landlock

WALLED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "walled.py")


@dataclass(frozen=True, slots=True)
class Wall:
    """What one run may write. Paths are absolute."""

    kept: tuple[str, ...]  # not to be written in a temporary folder either
    own: tuple[str, ...]  # writable, also below what is kept
    temporary: str = ""  # made and used where the machine's own folder for that lies on the way to what is kept
    environment: tuple[tuple[str, str], ...] = ()  # nothing secret: everybody can read an argv


def wrap(argv: Argv, wall: Wall) -> Argv:
    """The argv that runs `argv` behind the wall, or not at all."""
    words = [f"keep={path}" for path in wall.kept]
    words += [f"own={path}" for path in wall.own]
    words += [f"temporary={wall.temporary}"] if wall.temporary else []
    words += [f"set={name}={value}" for name, value in wall.environment]
    return (sys.executable, "-I", "-S", WALLED, *words, "--", *argv)


def probe(folder: str) -> Argv:
    """The command that exits with 0 where Landlock works."""
    return wrap(("true",), Wall((folder,), ()))


def platform_trouble() -> str:
    """Why there can be no wall on this system at all; empty: there may."""
    if not sys.platform.startswith("linux"):
        return "Landlock works on Linux only"
    return "" if landlock.version() else "this kernel has no Landlock (Linux 5.13 does), or it is switched off"


def lacking() -> tuple[str, ...]:
    """What this kernel's Landlock is too old to hold."""
    return landlock.lacks(landlock.version())


def describe() -> str:
    """What the wall holds here, and what it does not."""
    text = (
        "agents and checks run behind a wall (Landlock), without a sandbox: they read what your account can, and write "
        "their own places and temporary folders only."
    )
    return f"{text} This kernel's Landlock is an early one: {'; '.join(lacking())}." if lacking() else text
