"""The command that tells whether bubblewrap works here: the smallest closure, run for nothing."""

import os
import sys
from collections.abc import Mapping

from ..paths import own_program
from ..ports.git import Argv
from .bubblewrap import wrap
from .closure import Closure
from .machine import machine


def argv(folder: str, environment: Mapping[str, str]) -> Argv:
    """The command; it exits with 0 where every namespace, mount and privilege of a real run works."""
    closure = Closure(folder, machine(environment), hidden=(), network="none")
    return wrap((sys.executable, "-I", "-S", "-c", ""), closure)


def platform_trouble() -> str:
    """Why bubblewrap cannot work on this system at all; empty: it may."""
    if not sys.platform.startswith("linux"):
        return "bubblewrap works on Linux only"
    return "" if own_program("bwrap", os.getcwd()) else "bubblewrap (`bwrap`) is not installed"
