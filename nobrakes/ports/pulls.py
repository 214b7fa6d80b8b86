"""The part of the door to the facts that keeps pull requests."""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ..core.pulls.pull import PullRequest


class Pulls(Protocol):
    """Pull requests, one for each bead: the newest."""

    def pull(self, bead: str) -> "PullRequest | None":
        """The bead's request; None: there was none."""
        ...

    def pulls(self, waiting: bool = True) -> "list[PullRequest]":
        """The requests that wait, or all of them; oldest first."""
        ...

    def save_pull(self, pull: "PullRequest") -> None:
        """Keep it in the place of the bead's last one."""
        ...
