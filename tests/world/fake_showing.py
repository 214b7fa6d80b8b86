"""What FakeGit shows people of commits: its trees hold texts, and a file that both sides changed is one hunk."""

from collections.abc import Mapping, Sequence
from difflib import unified_diff

from nobrakes.errors import GitFailed
from nobrakes.git.port import ChangedLines, Clash, Hunk, Patch
from nobrakes.review.journal import content_of

from .objects import Objects, differing, merge


def _lines(path: str, before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    old, new = (tree.get(path, "").splitlines(keepends=True) for tree in (before, after))
    lines = unified_diff(old, new, f"a/{path}", f"b/{path}")
    return [line if line.endswith("\n") else f"{line}\n" for line in lines]


def _first(text: str, most: int) -> tuple[str, bool]:
    is_cut = len(text) > most
    return text[: text.rfind("\n", 0, most) + 1] if is_cut else text, is_cut


class Showing:
    """Differences and conflicts of a FakeGit."""

    objects: Objects

    def patch(self, base: str, head: str, most: int) -> Patch:
        """What differs between two commits; nothing counts as renamed."""
        before, after = self.objects.tree_of(base), self.objects.tree_of(head)
        files, text = [], ""
        for path in differing(before, after):
            lines = _lines(path, before, after)
            how = "added" if path not in before else "removed" if path not in after else "changed"
            added, removed = (sum(line.startswith(sign) for line in lines[2:]) for sign in "+-")
            files.append(ChangedLines(path, how, added, removed))
            text += "".join(lines)
        return Patch(tuple(files), *_first(text, most))

    def difference(self, base: str, head: str, paths: Sequence[str], most: int) -> tuple[str, bool]:
        """The text of what differs in these files."""
        before, after = self.objects.tree_of(base), self.objects.tree_of(head)
        lines = (line for path in sorted(set(paths)) for line in _lines(path, before, after))
        return _first("".join(lines), most)

    def content(self, base: str, head: str) -> str:
        """A digest of what differs between two commits, wherever the base stands."""
        return content_of(line.encode() + b"\n" for line in self.patch(base, head, 10**9).text.splitlines())

    def clashes(self, onto: str, head: str, began: str | None = None) -> tuple[Clash, ...]:
        """What is in conflict when `head`, as one change, is put on `onto`."""
        fork = self.objects.fork(onto, head)
        if fork is None:
            raise GitFailed("the branch has no commit in common with main")
        base, ours, theirs = (self.objects.tree_of(commit) for commit in (fork, onto, head))
        found = []
        for path in merge(base, ours, theirs)[1]:
            both = path in ours and path in theirs
            sides = (tuple(tree.get(path, "").splitlines()) for tree in (ours, theirs))
            found.append(Clash(path, path in base, path in ours, path in theirs, (Hunk(1, *sides),) if both else ()))
        return tuple(found)

    def link(self, commit: str, path: str) -> str | None:
        """There are no links here."""
        return None

    def named_by_git(self) -> tuple[frozenset[str], tuple[str, ...]]:
        """Nothing: there are no settings here."""
        return frozenset(), ()

    def pack(self) -> None:
        """There are no files here."""
