"""A git that collects what an agent handed in, at any moment after it was fetched: its ref leads nowhere then.

The workspace still has all of it. The promises: it is fetched again, and nobody does the work a second time.
"""

import random
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from nobrakes.beads.model import Attempt, Outcome, Role
from nobrakes.errors import GitFailed

if TYPE_CHECKING:
    from .scene import Scene

UNTOUCHED = frozenset({"git.has", "git.is_whole", "git.fetch_work", "git.tip", "git.archive", "git.retire"})
"""They ask whether a commit is there, or fetch it."""


class Collecting:
    """Which commits the repository has lost."""

    def __init__(self, seed: int, chance: float) -> None:
        self.rng = random.Random(f"{seed} collects")
        self.chance = chance
        self.is_here = chance > 0
        self.gone: set[str] = set()
        self.taken: set[str] = set()  # what was ever gone: nothing goes twice

    def calm(self) -> None:
        """From now on nothing more goes."""
        self.chance = 0.0

    def before(self, what: str, given: Sequence[object], handed_in: Callable[[], Sequence[str]]) -> None:
        """Something handed in is perhaps gone; git fails where it needs a commit that is gone."""
        if not self.is_here or not what.startswith("git."):
            return
        if self.rng.random() < self.chance and (heads := [one for one in handed_in() if one not in self.taken]):
            head = self.rng.choice(heads)
            self.gone.add(head)
            self.taken.add(head)
        gone = next((one for one in given if isinstance(one, str) and one in self.gone), None)
        if gone is not None and what not in UNTOUCHED:
            raise GitFailed(f"bad object {gone[:12]} in {what}")


def what_a_workspace_has_is_not_done_again(scene: "Scene") -> list[str]:
    """No review ends because the work is gone: its workspace has it."""
    if not scene.git.collecting.is_here:
        return []
    return [
        f"{bead.id} is done again, and its workspace has the work: {review.detail}"
        for bead in scene.beads
        for review in scene.store.attempts(bead.id)
        if _is_lost(review)
    ]


def _is_lost(review: Attempt) -> bool:
    return review.role is Role.REVIEWER and review.outcome is Outcome.LOST and "is gone from git" in review.detail
