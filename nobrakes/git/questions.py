"""What is asked of commits, trees and main's line."""

import os
from collections.abc import Collection

from ..core.errors import FileTooLarge, GitFailed
from ..core.evidence.record import Made
from ..core.limits.sizes import READ, Sizes
from ..core.policy.boundaries import ABSENT, Change
from . import differences, ignored, refs
from .tools import Tools
from .tree_content import EXECUTABLE, FILE, LINK

_REMEMBERED = 16
"""Pairs of commits whose changes are remembered: one review asks for the same ones several times."""


_PATHS_KEPT = 8
"""The trees of so many commits are remembered as lists of paths: one is asked for several times in a review."""


_LITTLE = Sizes(paths=100)
"""Paths and folders that differ, up to which a list of paths is made from another one."""


class Questions(Tools):
    """Questions about commits. Answers never change, but for main's own."""

    def main(self) -> str:
        """The commit that main points to; NoMain."""
        return refs.main(self.place)

    def tree(self, commit: str) -> str:
        """The commit's tree."""
        return self.objects.commit(commit).tree

    def has(self, commit: str) -> bool:
        """Whether the commit is still there."""
        return self.objects.content(commit) is not None

    def is_whole(self, commit: str) -> bool:
        """Whether the commit is there with all that it needs, as one sees who begins to look only now."""
        self._forget()
        return self.objects.is_whole(commit, refs.main(self.place))

    def fork(self, main: str, head: str, began: str | None = None) -> str | None:
        """The commit where `head` left main, or `began` where main was rewritten since; None: unrelated."""
        return self.history.fork(main, head, began)

    def contains(self, ancestor: str, descendant: str) -> bool:
        """Whether `ancestor` is `descendant` or one of its ancestors."""
        return self.history.contains(ancestor, descendant)

    def between(self, base: str, tip: str) -> tuple[str, ...] | None:
        """The commits by which main came from `base` to `tip`, oldest first, by first parents; None: it did not."""
        return self.history.between(base, tip)

    def moves(self, commit: str) -> tuple[tuple[str, str, str], ...]:
        """(path, what it was, what it became) of what the commit changed against its first parent."""
        parents = self.objects.commit(commit).parents
        found = differences.raw(self.objects, parents[0], commit) if parents else ()
        return tuple((path, f"{was} {old}", f"{is_} {new}") for path, was, is_, old, new in found)

    def changes(self, base: str, head: str) -> tuple[Change, ...]:
        """What differs between two commits' trees, by path; renames are a removal and an addition."""
        known = self._changes.get((base, head))
        if known is None:
            known = ignored.told(self.place, self.objects, differences.changes(self.objects, base, head), base, head)
            if known and self.filters.is_on and (self.filters.names(base) or self.filters.names(head)):
                known = self.filters.changes(base, head, known, differences.raw(self.objects, base, head))
            while len(self._changes) >= _REMEMBERED:
                del self._changes[next(iter(self._changes))]
            if refs.is_oid(base) and refs.is_oid(head):
                self._changes[base, head] = known
        return known

    def read(self, commit: str, path: str, most: int | None = READ) -> bytes | None:
        """A file's content in a commit; None: not there, or not a file. FileTooLarge: more than `most` bytes."""
        entry = self.objects.entry(commit, path)
        if entry is None or entry.mode not in (FILE, EXECUTABLE):
            return None
        size = None if most is None else self.objects.size(entry.id)
        if size is not None and most is not None and size > most:
            raise FileTooLarge(f"{path!r} in {commit[:12]} has {size:,} bytes, and {most:,} are read at most")
        return self.objects.content(entry.id)

    def link(self, commit: str, path: str) -> str | None:
        """Where a symbolic link of the commit leads, as it is written; None: not there, or no link."""
        entry = self.objects.entry(commit, path)
        content = self.objects.content(entry.id) if entry is not None and entry.mode == LINK else None
        return None if content is None else os.fsdecode(content)

    def paths(self, commit: str) -> frozenset[str]:
        """Every path in a commit's tree."""
        found = self._paths.get(commit)
        if found is None:
            found = self._paths_by_another(commit)
            if found is None:
                ran = self.place.run(["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit])
                found = frozenset(ran.records)
            if len(commit) in (40, 64):  # an object's name, which never stands for another one
                while len(self._paths) >= _PATHS_KEPT:
                    del self._paths[next(iter(self._paths))]
                self._paths[commit] = found
        return found

    def _paths_by_another(self, commit: str) -> frozenset[str] | None:
        """By the paths of the commit that was asked for last, if they differ by little; no process is needed then."""
        if not self._paths or len(commit) not in (40, 64):
            return None
        like = next(reversed(self._paths))
        try:
            differ = differences.raw(self.objects, like, commit, _LITTLE)
        except (differences.TooMuch, GitFailed):
            return None
        gone = {path for path, _, after, _, _ in differ if after == ABSENT}
        return self._paths[like] - gone | {path for path, _, after, _, _ in differ if after != ABSENT}

    def named_by_git(self) -> tuple[frozenset[str], tuple[str, ...]]:
        """(paths of the tree that git's own settings and hooks name, folders of the tree in which all is named)."""
        from . import named_paths

        return named_paths.by_git(self.place)

    def merged(self, since: str | None = None) -> dict[str, str]:
        """Bead id to commit on main, by the `Bead:` trailers; without what a later `Reverts-Bead:` took back."""
        return self.history.merged(refs.main(self.place), since)

    def off_main(self, commits: Collection[str]) -> frozenset[str]:
        """Those of the commits that main does not contain, also where they are gone from git."""
        return self.history.outside(refs.main(self.place), commits)

    def made(self, name: str) -> Made | None:
        """The commit that `name` stands for, in git's own grammar of revisions; None: there is none."""
        return self._chain.made(name)

    def line(self, tip: str, since: str | None = None) -> tuple[Made, ...]:
        """`tip` and its first parents, newest first, without `since` and what it was made from."""
        return self._chain.line(tip, since)
