"""Commits and trees as plain values, named by their content: the same input gives the same id.

1. A tree maps paths to texts; a commit has its tree, its parents and its words.
2. A merge is three-way and path by path: a path that both sides changed differently is a conflict.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from nobrakes.errors import GitFailed

from .project import Tree


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit. `parents` are ids, `tree` is a tree's id."""

    id: str
    tree: str
    parents: tuple[str, ...]
    subject: str
    author: str
    when: float
    trailers: tuple[tuple[str, str], ...] = ()


def _name(value: object) -> str:
    return hashlib.sha1(json.dumps(value, sort_keys=True).encode()).hexdigest()


class Objects:
    """Everything that was ever committed, by id."""

    def __init__(self) -> None:
        self.commits: dict[str, Commit] = {}
        self.trees: dict[str, Tree] = {}
        self._depth: dict[str, int] = {}  # how many commits each was made from, in its line

    def keep_tree(self, tree: Tree) -> str:
        """The tree's id."""
        plain = dict(tree)
        name = _name(plain)
        self.trees[name] = plain
        return name

    def commit(
        self,
        tree: Tree,
        parents: tuple[str, ...],
        subject: str,
        author: str,
        when: float,
        trailers: tuple[tuple[str, str], ...] = (),
    ) -> Commit:
        """A commit; the same words make the same one."""
        tree_id = self.keep_tree(tree)
        name = _name([tree_id, parents, subject, author, when, trailers])
        self.commits[name] = Commit(name, tree_id, parents, subject, author, when, trailers)
        self._depth[name] = self._depth[parents[0]] + 1 if parents else 0
        return self.commits[name]

    def find(self, commit: str) -> Commit:
        """The commit; GitFailed where there is none."""
        try:
            return self.commits[commit]
        except KeyError:
            raise GitFailed(f"no commit {commit[:12]}") from None

    def tree_of(self, commit: str) -> Tree:
        """The files of a commit."""
        return self.trees[self.find(commit).tree]

    def line(self, head: str) -> Iterator[Commit]:
        """`head` and what it was made from, newest first, along first parents."""
        following: str | None = head
        while following is not None:
            commit = self.find(following)
            yield commit
            following = commit.parents[0] if commit.parents else None

    def contains(self, ancestor: str, descendant: str) -> bool:
        """Whether `ancestor` is `descendant` or one of its line. Only as much of the line is walked as can hold it."""
        deep = self._depth.get(ancestor)
        if deep is None:
            return False
        for commit in self.line(descendant):
            if self._depth[commit.id] <= deep:
                return commit.id == ancestor
        return False

    def reachable(self, heads: Iterable[str]) -> set[str]:
        """The heads and everything that they were made from."""
        reached: set[str] = set()
        for head in heads:
            for commit in self.line(head):
                if commit.id in reached:
                    break
                reached.add(commit.id)
        return reached

    def fork(self, one: str, other: str) -> str | None:
        """The newest commit that both come from; None: unrelated."""
        return next((commit.id for commit in self.line(other) if self.contains(commit.id, one)), None)


def differing(before: Tree, after: Tree) -> list[str]:
    """The paths that two trees do not agree on, sorted."""
    return sorted(path for path in {*before, *after} if before.get(path) != after.get(path))


def merge(base: Tree, ours: Tree, theirs: Tree) -> tuple[dict[str, str], tuple[str, ...]]:
    """The three-way merge of two trees, and the paths in conflict."""
    merged = dict(ours)
    conflicts = []
    for path in differing(base, theirs):
        if ours.get(path) not in (base.get(path), theirs.get(path)):
            conflicts.append(path)
        elif path in theirs:
            merged[path] = theirs[path]
        else:
            merged.pop(path, None)
    return merged, tuple(conflicts)


def applied(tree: Tree, changes: Mapping[str, str | None]) -> dict[str, str]:
    """The tree with the changes; None removes a path."""
    result = dict(tree)
    for path, text in changes.items():
        if text is None:
            result.pop(path, None)
        else:
            result[path] = text
    return result
