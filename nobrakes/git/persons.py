"""People's worktrees: one is made for a bead, and what stands in them is read.

1. What is made is a worktree and a branch, where nothing lay; nothing of a person's is removed, moved or overwritten.
2. git runs in them by the person's own configuration, as when they type it; hooks are not run.
"""

import os

from ..core.errors import GitFailed
from . import commands, refs
from .environment import CHECKOUT
from .landing import worktrees
from .landing.worktrees import Worktree
from .location import Place

_SECONDS = 900.0
_LOOK = {**CHECKOUT, "GIT_OPTIONAL_LOCKS": "0"}
_NOT_OURS = ":(top,exclude).nobrakes"
"""Settings and snapshot are no work on a bead."""
_HEADS = "refs/heads/"


class Persons:
    """The worktrees of the repository in `root`."""

    def __init__(self, root: str, main: str) -> None:
        self.place = Place(root, main)

    def around(self, folder: str) -> Worktree | None:
        """The worktree that the folder is, or lies in; None: it is in none of this repository."""
        real = os.path.realpath(folder)
        found = [one for one in worktrees.all_of(self.place) if _contains(os.path.realpath(one.path), real)]
        return max(found, key=lambda one: len(os.path.realpath(one.path)), default=None)

    def of_branch(self, branch: str) -> Worktree | None:
        """The worktree that has the branch checked out, or rebases it just now."""
        return next(iter(worktrees.of(self.place, f"{_HEADS}{branch}")), None)

    def branch(self, worktree: Worktree) -> str:
        """The branch that is checked out, or rebased just now; empty: none is."""
        found = (ref for ref in worktrees.refs_in(worktree) if ref.startswith(_HEADS))
        return next(found, "").removeprefix(_HEADS)

    def uncommitted(self, worktree: Worktree) -> list[str]:
        """The paths that are changed, in conflict or new, and in no commit; ignored ones are left out."""
        asked = ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--", ".", _NOT_OURS]
        answer = commands.run(asked, cwd=worktree.path, env=_LOOK, seconds=_SECONDS)
        return [record[3:] for record in answer.records]

    def head(self, worktree: Worktree) -> str:
        """The commit that is checked out. GitFailed: there is none."""
        return commands.run(["rev-parse", "--verify", "HEAD^{commit}"], cwd=worktree.path, env=_LOOK).text

    def commit(self, name: str) -> str | None:
        """The commit that a branch or another name means; None: none."""
        asked = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"]
        answer = self.place.run(asked, expect=(0, 1, 128))
        return answer.text if answer.code == 0 and refs.is_oid(answer.text) else None

    def add(self, folder: str, branch: str, head: str) -> bool:
        """Make a worktree with the branch checked out, at `head` where there is no such branch yet.

        A branch that is there stays as it is, for it is a person's: then False.
        """
        is_new = refs.read(self.place, f"{_HEADS}{branch}") is None
        force = ["--force"] if self._is_registered(folder) else []  # it was removed by hand, and git still knows of it
        what = ["-b", branch, folder, head] if is_new else [folder, branch]
        env = {**CHECKOUT, "GIT_DIR": self.place.git_dir}
        commands.run(["worktree", "add", *force, *what], cwd=self.place.root, env=env, seconds=_SECONDS)
        return is_new

    def rebase(self, folder: str, onto: str, fork: str) -> bool:
        """Rebase what is checked out there; whether it stopped at a conflict, and is under way."""
        asked = ["rebase", "--onto", onto, fork]
        commands.run(asked, cwd=folder, env=CHECKOUT, expect=(0, 1), seconds=_SECONDS)
        found = self.around(folder)
        if found is None:
            raise GitFailed(f"{folder} is no worktree any more")
        return found.under_way() is not None

    def _is_registered(self, folder: str) -> bool:
        linked = os.path.join(self.place.git_dir, "worktrees")
        for name in os.listdir(linked) if os.path.isdir(linked) else ():
            try:
                with open(os.path.join(linked, name, "gitdir"), encoding="utf-8", errors="surrogateescape") as file:
                    known = os.path.dirname(file.readline().strip())
            except OSError:
                continue
            if os.path.realpath(known) == os.path.realpath(folder):
                return not os.path.isdir(folder)
        return False


def _contains(outer: str, inner: str) -> bool:
    return inner == outer or inner.startswith(outer.rstrip(os.sep) + os.sep)
