"""A word to the daemon, if there is one, that something changed."""

from typing import TYPE_CHECKING

from ...host.watching import poke
from ...paths import Paths

if TYPE_CHECKING:
    pass


def wake(paths: Paths) -> None:
    """Tell the daemon, if there is one, that something changed."""
    poke(paths.wake, "person")
