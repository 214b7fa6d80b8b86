"""Main where only merged pull requests change it: it is followed, and nothing is pushed to it.

1. Main is what the remote's is, as it was heard of last, under a ref of our own. No branch of a person is moved, and no
   checkout follows: they pull as they always do.
2. A request's branch is ours where it is not there, or at a commit that we pushed. Any other is left alone.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from ...core.errors import GitFailed, OnlyByRequest
from ...core.review.waits import Cause
from ...ports.git import BASES, Land, Landing
from ..history import History
from ..location import Place
from ..refs import own_ref
from .remote import has, pushed, refused, unheard
from .remote_questions import Remote, Shared

BRANCHES = ("*/bead-*", "feature/*")
"""How branches of beads and of epics are named."""
_WHY = 'main changes by merged pull requests alone (review.land = "pull_request")'


def followed(root: str, main: str, shared: Shared) -> Place:
    """A repository whose main is what the remote's was when it was last heard of."""
    return Place(root, main, shared.known, (*shared.before, f"refs/heads/{main}"))


def of_base(shared: Shared, branch: str, direct: bool) -> Shared:
    """The same remote, where another of its branches is main to some, or none where it is empty."""
    if not branch:
        return replace(shared, direct=direct)
    return replace(shared, branch=branch, known=own_ref(f"{BASES}/{branch}"), direct=direct)


class RequestLander:
    """Follows the main that others merge to."""

    def __init__(self, remote: Remote) -> None:
        self.remote = remote

    def is_shared(self) -> bool:
        """The remote is asked."""
        return True

    def catch_up(self) -> Land:
        """Learn where the remote's main is now."""
        heard = self.remote.fetch()
        if heard.ok:
            return Land(Landing.MOVED)
        return unheard(self.remote, heard)

    def land(self, new: str, old: str) -> Land:
        """BLOCKED: nobody moves it here."""
        return Land(Landing.BLOCKED, _WHY, Cause.BY_REQUEST)

    def commit(self, make: Callable[[], str | None]) -> str | None:
        """OnlyByRequest."""
        raise OnlyByRequest(f"nothing was committed on main: {_WHY}")


class DirectLander(RequestLander):
    """Follows a branch that others merge to, and pushes to it what needs no request."""

    def __init__(self, remote: Remote, history: History) -> None:
        super().__init__(remote)
        self.history = history

    def land(self, new: str, old: str) -> Land:
        """Move the remote's branch from `old` to `new`."""
        if has(self.remote, self.history, new):
            return Land(Landing.MOVED)
        return pushed(self.remote, self.history, new, old) or Land(Landing.MOVED)


class Publisher:
    """Pushes the branches of requests, and removes them."""

    def __init__(self, remote: Remote, names: Collection[str], bases: Collection[str] = ()) -> None:
        """`names`: how branches of ours are named; `bases`: those that people merge to, beside main."""
        self.remote = remote
        self.names = names
        self.bases = bases

    def __call__(self, branch: str, commit: str, ours: Collection[str]) -> Land:
        """Push `commit` to the remote's `branch`, which is not there, or at one of `ours`."""
        there, said = self.remote.head_of(branch)
        if not said.ok:
            return refused(self.remote, f"{self.remote.shared.remote} cannot be asked", said)
        if there == commit:
            return Land(Landing.MOVED)
        if there and there not in ours:
            return Land(
                Landing.LOST,
                f"the branch {branch} is at {there[:12]} there, which nobrakes did not push. Rename or remove it there",
            )
        said = self.remote.push_branch(branch, commit, there)
        if said.ok:
            return Land(Landing.MOVED)
        return refused(self.remote, f"{self.remote.shared.remote} did not take the branch {branch}", said)

    def remove(self, branch: str, ours: Collection[str]) -> Land:
        """Remove the remote's `branch`, where it is at one of `ours`, which are kept here. LOST: it is not ours."""
        there, said = self.remote.head_of(branch)
        if not said.ok:
            return refused(self.remote, f"{self.remote.shared.remote} cannot be asked", said)
        if not there:
            return Land(Landing.MOVED)
        if there not in ours or branch in (self.remote.shared.branch, *self.bases):
            return Land(Landing.LOST, f"the branch {branch} is at {there[:12]} there, which nobrakes did not push")
        said = self.remote.remove_branch(branch, there)
        what = f"{self.remote.shared.remote} keeps the branch {branch}"
        return Land(Landing.MOVED) if said.ok else refused(self.remote, what, said)

    def branches(self) -> Mapping[str, str]:
        """The remote's branches of these names or patterns, and where each is. GitFailed: no answer."""
        found, said = self.remote.branches(*self.names)
        if not said.ok:
            raise GitFailed(f"{self.remote.shared.remote} cannot be asked: {said.words}")
        return found
