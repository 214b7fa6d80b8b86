"""A word to the daemon, if there is one, that something changed."""

from ..host.watching import poke
from ..paths import Paths


def wake(paths: Paths) -> None:
    """Tell the daemon, if there is one, that something changed."""
    poke(paths.wake, "person")
