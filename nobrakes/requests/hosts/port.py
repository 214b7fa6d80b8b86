"""The port to a code host, where pull requests are opened, looked at and merged by people.

1. Every question takes bounded time and is repeatable, except `open`, which follows a `find` without result.
2. Passing or fixable trouble is HostUnavailable; a refusal is HostRefused.
3. People's words there are data: cleaned, bounded, and steering nothing.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

from ...errors import HostRefused
from ...records import frozen
from ...review.waits import Land
from ..model import HostCheck, PullState, ReviewComment, Told


@frozen
class Wanted:
    """A wanted request. `base`: its target branch; `mark`: the line of `body` that identifies it."""

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
        """The program and repository, in words."""

    def ready(self) -> None:
        """HostUnavailable: why it cannot be used, and what to type."""

    def find(self, branch: str, mark: str) -> Sequence[Told]:
        """The branch's requests with the mark, open ones first, then the newest."""

    def open(self, wanted: Wanted) -> Told:
        """HostRefused: this branch has one for this base, no such base, or nothing to merge."""

    def set_labels_and_reviewers(self, number: int, wanted: Wanted) -> None: ...

    def rewrite(self, number: int, wanted: Wanted) -> None: ...

    def retarget(self, number: int, base: str) -> None:
        """HostRefused: no such branch, or the request is over."""

    def auto_merge(self, number: int, head: str) -> None:
        """Let the host merge it at this head once its conditions hold, never immediately. HostRefused: it is over or at
        another commit, unsupported, or would merge now."""

    def close(self, number: int) -> None:
        """Close it unmerged; ignores one that is over."""

    def look(self, number: int) -> Told: ...

    def checks(self, commit: str) -> Sequence[HostCheck]:
        """Checks of the commit."""

    def log(self, check: HostCheck) -> str:
        """The end of its output; empty: unknown."""

    def remarks(self, number: int) -> Sequence[ReviewComment]:
        """Review comments of people with write access, oldest first; then present approvals."""


class IssueTracker(Protocol):
    """The issues of one repository. Every method may raise HostUnavailable and HostRefused."""

    repository: str  # HOST/OWNER/NAME

    def ready(self) -> None:
        """HostUnavailable: why it cannot be used, and what to type."""

    def open_issues(self, label: str) -> Sequence[Mapping[str, Any]]:
        """The open issues with the label, newest first, with the keys that `gh issue list --json` prints."""

    def is_open(self, number: int) -> bool:
        """False: it is closed, deleted or moved."""

    def has_comment(self, number: int, mark: str) -> bool:
        """Whether a comment has this line. HostRefused: there are too many comments to tell."""

    def comment(self, number: int, text: str) -> None: ...

    def close(self, number: int) -> None:
        """Close it as completed; ignores one that is not open."""


Publish = Callable[[str, str, Collection[str]], Land]
"""Push a commit to a remote branch that is missing or at one of our commits. MOVED: done. LOST: the branch is not ours.
BLOCKED: refused."""
Remove = Callable[[str, Collection[str]], Land]
"""Remove a remote branch at one of our commits. MOVED: gone. LOST: not ours."""


@frozen
class PullPorts:
    """The ports of a review that lands by pull request."""

    host: CodeHost
    publish: Publish
    remove: Remove
    branches: Callable[[], Mapping[str, str]]  # those there that are named as ours are, and where each is; GitFailed
    base: str  # the branch there that requests are for which say no other (`Wanted.base`)


class PlainGit:
    """Any remote that git can push to: a request is a branch there, which somebody merges in their own way, and what is
    merged is read off the base. It has no requests, checks and reviews. `address`: for people, without secrets."""

    supports_pull_requests = False

    def __init__(self, address: str) -> None:
        self.address = address

    def about(self) -> str:
        return f"plain git, as branches at {self.address}, without a code host's checks and reviews"

    def ready(self) -> None: ...

    def find(self, branch: str, mark: str) -> Sequence[Told]:
        return ()

    def open(self, wanted: Wanted) -> Told:
        return Told(0, self.address, PullState.OPEN, title=wanted.title)

    def set_labels_and_reviewers(self, number: int, wanted: Wanted) -> None: ...

    def rewrite(self, number: int, wanted: Wanted) -> None: ...

    def retarget(self, number: int, base: str) -> None: ...

    def auto_merge(self, number: int, head: str) -> None:
        """Raises HostRefused."""
        raise HostRefused("plain git cannot merge automatically")

    def close(self, number: int) -> None: ...

    def look(self, number: int) -> Told:
        return Told(0, self.address, PullState.OPEN)

    def checks(self, commit: str) -> Sequence[HostCheck]:
        return ()

    def log(self, check: HostCheck) -> str:
        return ""

    def remarks(self, number: int) -> Sequence[ReviewComment]:
        return ()
