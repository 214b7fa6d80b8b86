"""The part of the store that only reviews need."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ..beads.model import Attempt
from ..beads.proposals import Merged


@dataclass(frozen=True, slots=True)
class ByHand:
    """Work that a person hands in: the commit `head` on the commit `fork` of main, from the worktree `folder`; it takes
    the merges `takes_back` off main. `fence`: that of their attempt, one above the bead's. `built`: nobrakes made it.
    """

    bead: str
    person: str
    fence: int
    head: str
    fork: str
    folder: str = ""
    takes_back: tuple[Merged, ...] = ()
    built: bool = False


class Reviews(Protocol):
    """Open and ended reviews, and the validations that passed."""

    def reviewing(self) -> list[Attempt]:
        """The Reviewer's attempts that have not ended, oldest first."""
        ...

    def reviews(self, limit: int) -> list[Attempt]:
        """The Reviewer's latest attempts, newest first."""
        ...

    def agents(self, words: str, state: str, sort: str, limit: int, offset: int = 0) -> list[Attempt]:
        """Attempts of agents that have each word in their bead, its title, their name or their agent.

        `state`: all, active, completed or failed; `sort`: newest, oldest, bead, agent or cost.
        """
        ...

    def merges(self, on_main: bool = False) -> dict[str, str]:
        """Bead id to the commit of its merge, of every done bead that has one, by id order; `on_main`: without those
        whose request people merged into another branch.
        """
        ...

    def validation(self, tree: str, contract: str) -> Mapping[str, Any] | None:
        """The recorded results of a validation that passed, by its key; None: it has to be run."""
        ...

    def passed_otherwise(self, tree: str) -> bool:
        """Whether this tree has passed under any key at all: with other checks, programs or another environment."""
        ...

    def save_validation(self, tree: str, contract: str, results: Mapping[str, Any]) -> None:
        """Remember a validation that passed."""
        ...
