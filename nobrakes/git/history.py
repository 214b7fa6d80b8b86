"""Questions about how commits descend from each other. Answers never change, so they are remembered."""

from collections.abc import Collection

from ..errors import GitFailed
from .location import Place
from .objects import Commit, Objects

_REMEMBERED = 4096
_NEAR = 256
"""How many commits of each line are walked in Python before git, a process, is asked."""


class History:
    """The ancestry of one repository's commits."""

    def __init__(self, place: Place, objects: Objects) -> None:
        self.place = place
        self.objects = objects
        self._forks: dict[tuple[str, str], tuple[str | None, bool]] = {}

    def forget(self) -> None:
        self._forks.clear()

    def fork(self, main: str, head: str, began: str | None = None) -> str | None:
        found = self._fork(main, head)[0]
        if began is None or found == began or not self.contains(began, head):
            return found
        return began if found is None or self.contains(found, began) else found

    def only_fork(self, main: str, head: str) -> str | None:
        """The fork of two lines without merges, if it is near: then it is the only one. None: there may be several."""
        found, is_only = self._fork(main, head)
        return found if is_only else None

    def _fork(self, main: str, head: str) -> tuple[str | None, bool]:
        if main == head:
            return main, True
        known = self._forks.get((main, head))
        if known is None:
            near = self._meeting(main, head)
            known = (self._merge_base(main, head), False) if near is None else (near, True)
            if len(self._forks) >= _REMEMBERED:
                self._forks.clear()
            self._forks[main, head] = known
        return known

    def _meeting(self, main: str, head: str) -> str | None:
        """Where two lines without merges meet nearby: the only possible fork."""
        seen: tuple[set[str], set[str]] = ({main}, {head})
        ends: list[str | None] = [main, head]
        for _ in range(_NEAR):
            # in turns, so that a fork close to both is found close to both
            for side in (0, 1):
                ends[side] = end = self._only_parent(ends[side])
                if end is not None:
                    if end in seen[1 - side]:
                        return end
                    seen[side].add(end)
        return None

    def _only_parent(self, commit: str | None) -> str | None:
        if commit is None:
            return None
        try:
            parents = self.objects.commit(commit).parents
        except GitFailed:
            return None  # the end of a shallow history: git knows how to go on
        return parents[0] if len(parents) == 1 else None

    def _merge_base(self, main: str, head: str) -> str | None:
        answer = self.place.run(["merge-base", main, head], expect=(0, 1))
        return answer.text.split("\n")[0] if answer.code == 0 else None

    def contains(self, ancestor: str, descendant: str) -> bool:
        if ancestor == descendant or ancestor in self.objects.commit(descendant).parents:
            return True
        return self.fork(descendant, ancestor) == ancestor

    def since(self, fork: str | None, head: str) -> list[Commit]:
        """The commits of `head` that are not in `fork`, oldest first."""
        if fork == head:
            return []
        commit = self.objects.commit(head)
        if fork is not None and commit.parents == (fork,):
            return [commit]
        asked = ["rev-list", "--reverse", "--topo-order", head]
        answer = self.place.run(asked if fork is None else [*asked, f"^{fork}"])
        return [self.objects.commit(oid) for oid in answer.text.split()]

    def outside(self, tip: str, commits: Collection[str]) -> frozenset[str]:
        """The commits that `tip` does not contain, in one command where all exist. If one is gone, git refuses; a
        second command then finds which exist."""
        wanted = frozenset(commits)
        try:
            return wanted & self._reached(wanted, tip)
        except GitFailed:
            there = self._commits(wanted)
            return wanted - there | wanted & self._reached(there, tip)

    def _reached(self, commits: Collection[str], tip: str) -> frozenset[str]:
        if not commits:
            return frozenset()
        asked = "".join(f"{commit}\n" for commit in sorted(commits))
        return frozenset(self.place.run(["rev-list", "--stdin"], stdin=f"{asked}^{tip}\n".encode()).text.split())

    def _commits(self, names: Collection[str]) -> frozenset[str]:
        asked = "".join(f"{name}\n" for name in sorted(names)).encode()
        found = self.place.run(["cat-file", "--batch-check=%(objectname) %(objecttype)"], stdin=asked).text.split("\n")
        return frozenset(line.removesuffix(" commit") for line in found if line.endswith(" commit"))

    def between(self, base: str, tip: str) -> tuple[str, ...] | None:
        if base == tip:
            return ()
        found = self.place.run(["rev-list", "--first-parent", "--reverse", tip, f"^{base}"]).text.split()
        # a base that came in by a merge is an ancestor, and no place that main ever was at
        return tuple(found) if found and self.objects.commit(found[0]).parents[:1] == (base,) else None

    def merged(self, main: str, since: str | None = None) -> dict[str, str]:
        answer = self.place.run(
            [
                "log",
                "-z",
                "--first-parent",
                "--no-show-signature",
                "--no-decorate",
                "--no-color",
                "--basic-regexp",
                "--grep=^Bead:",
                "--grep=^Reverts-Bead:",
                "--format=%H%x01%(trailers:key=Bead,key=Reverts-Bead,unfold,separator=%x01)",
                main,
                *([f"^{since}"] if since else []),
                "--",
            ]
        )
        found: dict[str, str] = {}
        for record in answer.out.decode("utf-8", "replace").split("\0"):
            commit, *trailers = record.strip("\n").split("\x01")
            for trailer in trailers:
                key, _, bead = trailer.partition(":")
                if bead.strip():
                    found.setdefault(bead.strip(), commit if key.lower() == "bead" else "")
        return {bead: commit for bead, commit in found.items() if commit}
