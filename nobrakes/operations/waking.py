"""A word to the daemon, if there is one, that something changed."""

from ..host.watching import poke
from ..paths import Places


def wake(places: Places) -> None:
    """Tell the daemon, if there is one, that something changed."""
    poke(places.wake, "person")
