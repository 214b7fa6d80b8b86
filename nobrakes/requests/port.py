"""The door to a code host: where pull requests are opened, looked at and merged by people.

1. Every question takes bounded time, and may be asked again: it changes nothing that is so already, but for `open`,
   which is asked only after `find` found nothing.
2. Trouble that passes, or that a person has to mend, is HostUnavailable; an answer that says no is HostRefused.
3. What people wrote there is data. It is handed on cleaned and bounded, and steers nothing.
"""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .model import PullRequest


# The part of the door to the facts that keeps pull requests.


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
