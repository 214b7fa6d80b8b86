"""The door to a code host: where pull requests are opened, looked at and merged by people.

1. Every question takes bounded time, and may be asked again: it changes nothing that is so already, but for `open`,
   which is asked only after `find` found nothing.
2. Trouble that passes, or that a person has to mend, is HostUnavailable; an answer that says no is HostRefused.
3. What people wrote there is data. It is handed on cleaned and bounded, and steers nothing.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from ...git.port import Land
from ...records import frozen
from ..model import HostCheck, ReviewComment, Told


@frozen
class Wanted:
    """A request as it should be. `base`: the branch there that it is for; `mark`: the line of `body` by which it is
    found again.
    """

    branch: str
    base: str
    title: str
    body: str
    mark: str
    draft: bool = False
    labels: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    auto_merge: bool = False


class CodeHost(Protocol):
    """One code host's view of one repository."""

    supports_pull_requests: bool  # where not, a request is a branch, and merged is what its base contains

    def about(self) -> str:
        """With what it is asked and which repository it has, in words."""
        ...

    def ready(self) -> None:
        """HostUnavailable: why it cannot be used, and what to type."""
        ...

    def find(self, branch: str, mark: str) -> Sequence[Told]:
        """The requests from this branch that carry the mark, open ones first, then the newest."""
        ...

    def open(self, wanted: Wanted) -> Told:
        """Open it. HostRefused: there is one from this branch for this base, no such base, or nothing to merge."""
        ...

    def set_labels_and_reviewers(self, number: int, wanted: Wanted) -> None:
        """Give it the labels and the reviewers that are wanted."""
        ...

    def rewrite(self, number: int, wanted: Wanted) -> None:
        """Give it the title and the body that are wanted."""
        ...

    def retarget(self, number: int, base: str) -> None:
        """Have it be for another branch. HostRefused: there is no such branch, or the request is over."""
        ...

    def auto_merge(self, number: int, head: str) -> None:
        """Have the host merge it by itself, at this head, once all is there that the host asks for, and never at once.

        HostRefused: it is over or at another commit, the host does not do that, or nothing would be waited for.
        """
        ...

    def close(self, number: int) -> None:
        """Close it unmerged; one that is over stays as it is."""
        ...

    def look(self, number: int) -> Told:
        """How it is now."""
        ...

    def checks(self, commit: str) -> Sequence[HostCheck]:
        """What ran on the commit."""
        ...

    def log(self, check: HostCheck) -> str:
        """The end of what it printed; empty: the host does not tell."""
        ...

    def remarks(self, number: int) -> Sequence[ReviewComment]:
        """What people with write access wrote in reviews, oldest first; then the approvals of those who approve now."""
        ...


Publish = Callable[[str, str, Collection[str]], Land]
"""Push a commit to a branch of the remote that is not there, or at one of these commits, which we pushed before.

MOVED: it is there. LOST: the branch is somewhere else, so it is not ours. BLOCKED: the remote did not take it.
"""
Remove = Callable[[str, Collection[str]], Land]
"""Remove a branch of the remote that is at one of these commits, which we pushed. MOVED: it is gone. LOST: not ours."""


@frozen
class PullPorts:
    """What a review needs to land by a pull request."""

    host: CodeHost
    publish: Publish
    remove: Remove
    branches: Callable[[], Mapping[str, str]]  # those there that are named as ours are, and where each is; GitFailed
    base: str  # the branch there that requests are for which say no other (`Wanted.base`)
