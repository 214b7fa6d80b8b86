"""A branch of ours that stands for main to some: an epic's, or what a pull request brings to those that stack on it.

1. It is a ref of ours, and no branch of a person. As long as it is not there, main stands for it.
2. It moves by compare-and-swap; nobody has it checked out, so no checkout follows.
"""

from ...ports import Land, Landing
from .. import refs
from ..history import History
from ..location import Place


class OwnLander:
    """Moves such a branch."""

    def __init__(self, place: Place, history: History) -> None:
        self.place = place
        self.history = history

    def is_shared(self) -> bool:
        """Nobody else moves it."""
        return False

    def catch_up(self) -> Land:
        """It is where we left it."""
        return Land(Landing.MOVED)

    def land(self, new: str, old: str) -> Land:
        """Move it from `old`, which main is as long as it is not there."""
        there = refs.read(self.place, self.place.ref)
        if (there or refs.main(self.place)) == old and refs.move(self.place, self.place.ref, new, there):
            return Land(Landing.MOVED)
        if there is not None and self.history.contains(new, there):
            return Land(Landing.MOVED)  # said again
        return Land(Landing.LOST, f"{self.place.branch} is not at {old[:12]} any more")
