"""Who watches a daemon, and what wakes it."""

from typing import Protocol

from ..core.beads.events import Event
from ..core.board import Board


class Waker(Protocol):
    """What the loop sleeps on."""

    def wait(self, timeout: float | None) -> bool:
        """Sleep until something happened (True) or `timeout` seconds are over (False)."""
        ...

    def set(self) -> None:
        """Wake it; from any thread."""
        ...


class View(Protocol):
    """Who watches a run."""

    def event(self, event: Event) -> None:
        """Something happened."""
        ...

    def board(self, board: Board) -> None:
        """The board after a turn."""
        ...
