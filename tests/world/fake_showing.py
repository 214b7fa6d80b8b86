"""What FakeGit shows people of commits: its trees hold texts, and a file that both sides changed is one hunk."""

from difflib import unified_diff

from nobrakes.errors import GitFailed
from nobrakes.git.port import ChangedLines, Clash, Hunk, Patch
from nobrakes.review.journal import content_of

from .objects import Objects, differing, merge


class Showing:
    """Differences and conflicts of a FakeGit."""

    objects: Objects

    def patch(self, base: str, head: str, most: int) -> Patch:
        """What differs between two commits; nothing counts as renamed."""
        before, after = self.objects.tree_of(base), self.objects.tree_of(head)
        files, text = [], ""
        for path in differing(before, after):
            old, new = (tree.get(path, "").splitlines(keepends=True) for tree in (before, after))
            lines = list(unified_diff(old, new, f"a/{path}", f"b/{path}"))
            how = "added" if path not in before else "removed" if path not in after else "changed"
            added, removed = (sum(line.startswith(sign) for line in lines[2:]) for sign in "+-")
            files.append(ChangedLines(path, how, added, removed))
            text += "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
        shown = text if len(text) <= most else text[: text.rfind("\n", 0, most) + 1]
        return Patch(tuple(files), shown, len(text) > most)

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
