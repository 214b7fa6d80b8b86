"""One checkout of main that follows from one commit to another: index and files together, path by path, or not at all.

1. git's own two-tree merge decides and writes: what is staged or edited elsewhere stays, and a path that has neither
   version stops all of it.
2. git takes ignored files for worthless; what they would lose we look for ourselves (obstacles).
3. Where files are already as they shall be, the index follows them first. A file that a killed git left half written
   counts as ours only when a landing was under way (`is_landing`).
4. The caller holds the worktree's lock. Nothing is in the worktree's own index before `publish`.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ...errors import DiskFull, GitFailed, StoreReadOnly
from ...review.waits import Cause, cause_of, first_words, why
from .. import commands
from ..objects import Objects
from ..port import Land, Landing
from ..trees import raw
from . import standing
from .standing import Worktree, in_the_way, named

MACHINE = (GitFailed, DiskFull, StoreReadOnly)
"""What goes wrong when files cannot be written."""


class Hindrance(NamedTuple):
    """What keeps a checkout from following, and what mends it as long as main has not gone on without the checkout:
    behind main, a commit or a stash there would take back what was merged."""

    cause: Cause
    what: str
    remedy: str = ""  # empty: what its cause says


class Following:
    """A locked checkout that is to go from `old` to `new`."""

    def __init__(self, objects: Objects, holder: Worktree, new: str, old: str, is_landing: bool = False) -> None:
        self.objects = objects
        self.holder = holder
        self.new = new
        self.old = old
        self.is_landing = is_landing
        self.differences = raw(objects, old, new)
        self._begun: set[str] = set()
        self._there: set[str] = set()  # the files that had their new content before
        self._from = old  # what git starts from: `old`, with these two as they shall be

    def why_not(self) -> Hindrance | None:
        """Why it cannot follow, with nothing changed; None: it can."""
        try:
            return self._why_not()
        except GitFailed as error:
            return failed(str(error))

    def _why_not(self) -> Hindrance | None:
        lost = self._lost()
        if not lost and self._try().code == 0:
            return None
        # the index may be behind the files' times only; looking at the contents settles that
        self._git(["update-index", "-q", "--refresh"], expect=(0, 1))
        self._there = standing.follow_files(self.holder, self.differences)
        if self.is_landing:
            self._begun = standing.follow_begun(self.holder, self.differences)
        if self._there | self._begun:
            self._from = standing.between(self.holder, self.old, self.differences, self._there | self._begun)
        self._git(["update-index", "-q", "--refresh"], expect=(0, 1))
        lost = self._lost()
        if lost:
            return Hindrance(
                Cause.UNTRACKED,
                f"files there are not in git and would be overwritten: {named(lost)}",
                "Add and commit them, or move them away.",
            )
        tried = self._try()
        if tried.code == 0:
            return None
        edited, cause = self._edited(), cause_of(tried.error)
        if cause is Cause.EDITS or (edited and cause is Cause.UNKNOWN):
            what = named(edited) or first_words(tried.error)
            remedy = "Commit or stash your changes, and the merge goes on."
            return Hindrance(Cause.EDITS, f"edits there would be lost: {what}", remedy)
        return failed(tried.error)

    def go(self) -> None:
        """Write the files, and our copy of the index. What it raises (MACHINE) leaves the index as it was."""
        if self._begun:
            standing.finish(self.holder, self.differences, self._begun)
        self._git(["read-tree", "-m", "-u", self._from, self.new])

    def publish(self) -> None:
        """Let the worktree's own index be that of `new`."""
        if self._begun | self._there:
            self._git(["update-index", "-q", "--refresh"], expect=(0, 1))
        standing.publish(self.holder)

    def take_back(self) -> None:
        """After `go`, in place of `publish`: what it wrote of `new` is as at `old` again."""
        paths = [path for path, *_ in self.differences]
        staged = standing.entries(self.holder, paths, standing.reading(self.holder))
        standing.take_back(self.objects, self.holder, self.new, self.old, staged, self._there)

    def _lost(self) -> list[str]:
        lost = in_the_way(self.holder.path, self.differences)
        if lost:
            # what the index holds is git's to judge: it compares it with both sides
            asked = ["ls-files", "-z", "--", *(f":(literal,top){path}" for path in lost)]
            tracked = set(self._git(asked).records)
            lost = [path for path in lost if path not in tracked]
        return lost

    def _try(self) -> commands.Answer:
        return self._git(["read-tree", "-n", "-m", "-u", self._from, self.new], expect=(0, 1, 128))

    def _edited(self) -> list[str]:
        """Which of the paths that differ have edits, staged or not, in the worktree."""
        edited: set[str] = set()
        for asked in (["diff-index", "--cached"], ["diff-index"]):
            edited.update(self._git([*asked, "-z", "--name-only", self.old, "--"], expect=(0, 1, 128)).records)
        return sorted((edited & {path for path, *_ in self.differences}) - self._there - self._begun)

    def _git(self, arguments: list[str], expect: Sequence[int] = (0,)) -> commands.Answer:
        return commands.run(arguments, cwd=self.holder.path, env=self.holder.env, expect=expect)


def blocked(holder: Worktree, cause: Cause, what: str, remedy: str = "") -> Land:
    """Main waits for this checkout. `remedy`: what ends it, where the cause alone does not say that."""
    found = what if remedy else why(cause, what)
    return Land(
        Landing.BLOCKED, f"main is checked out in {holder.path}, and {f'{found}. {remedy}'.strip(' .')}.", cause
    )


def failed(said: str) -> Hindrance:
    """git, or the system, could not write a checkout's files."""
    return Hindrance(cause_of(said), f"its files could not be written: {first_words(said)}")
