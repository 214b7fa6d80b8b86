"""Branches of ours in the fake git, an epic's or a request's: main is another commit there, all else the same."""

from collections.abc import Collection
from typing import Any, cast

from nobrakes.errors import NoMain
from nobrakes.git.port import EPICS, BrokenRef, Candidate, Conflict, Git, Message
from nobrakes.review.waits import Land, Landing

from .collecting import Collecting
from .objects import Objects


class OwnBranches:
    """What FakeGit says of lines beside main."""

    head: str
    objects: Objects
    refs: dict[str, str]
    collecting: Collecting

    def broken_refs(self, in_depth: bool = False) -> list[BrokenRef]:
        """The refs whose commits are gone; what was handed in is still in a workspace."""
        gone = self.collecting.gone
        broken = [BrokenRef(ref, "gone", one) for ref, one in self.refs.items() if one not in self.objects.commits]
        return broken + [BrokenRef(ref, "gone", one, "there") for ref, one in self.refs.items() if one in gone]

    def restore(self, broken: BrokenRef) -> bool:
        """Fetch it again."""
        self.collecting.gone.discard(broken.commit)
        return True

    def with_base_branch(self, branch: str, direct: bool = False) -> Git:
        """NoMain: the simulated code host has one branch that people merge to."""
        raise NoMain(f"the branch '{branch}' does not exist yet")

    def with_epic_branch(self, epic: str) -> Git:
        """The same repository where main is the branch of that epic."""
        return cast(Git, OwnBranch(self, f"{EPICS}/{epic}"))

    def join(self, onto: str, head: str, message: Message) -> Candidate | Conflict:
        """A commit on `head` with `onto` as its second parent, and all that both have."""
        git = cast(Any, self)
        whole: Candidate | Conflict = git.squash(onto, head, message)
        if isinstance(whole, Conflict):
            return whole
        made = git._commit(self.objects.tree_of(whole.commit), head, message, onto)
        return Candidate(made.id, made.tree)

    def merged(self, since: str | None = None) -> dict[str, str]:
        """Bead id to the newest commit on main with its `Bead:` trailer, without what `since` was made from."""
        return self.merged_on(self.head, since)

    def merged_on(self, tip: str, since: str | None) -> dict[str, str]:
        """The same of another line."""
        found: dict[str, str] = {}
        without = {commit.id for commit in self.objects.line(since)} if since else set[str]()
        for commit in (one for one in self.objects.line(tip) if one.id not in without):
            for key, value in commit.trailers:
                if key in ("Bead", "Reverts-Bead"):
                    found.setdefault(value, commit.id if key == "Bead" else "")
        return {bead: commit for bead, commit in found.items() if commit}


class OwnBranch:
    """The repository as one sees it who works there."""

    def __init__(self, git: Any, name: str) -> None:
        self._git = git
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._git, name)

    def main(self) -> str:
        """Where the branch is, or main as long as it is not there."""
        return str(self._git.kept().get(self._name) or self._git.main())

    def is_shared(self) -> bool:
        """Nobody else moves it."""
        return False

    def catch_up(self) -> Land:
        """It is where we left it."""
        return Land(Landing.MOVED)

    def land(self, new: str, old: str) -> Land:
        """Move it from `old`, which main is as long as it is not there."""
        there = self._git.kept().get(self._name)
        if (there or self._git.main()) == old:
            self._git.pin(self._name, new)
            return Land(Landing.MOVED)
        is_there = there is not None and self._git.contains(new, there)
        return Land(Landing.MOVED if is_there else Landing.LOST)

    def merged(self, since: str | None = None) -> dict[str, str]:
        """Bead id to commit on the epic's branch."""
        found: dict[str, str] = self._git.merged_on(self.main(), since)
        return found

    def off_main(self, commits: Collection[str]) -> frozenset[str]:
        """Those of the commits that the epic's branch does not contain."""
        return frozenset(one for one in commits if not self._git.contains(one, self.main()))
