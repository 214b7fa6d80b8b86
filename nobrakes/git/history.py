"""Questions about how commits descend from each other. Answers never change, so they are remembered."""

from ..core.errors import GitFailed
from .objects import Commit, Objects
from .place import Place

_REMEMBERED = 4096
_NEAR = 32
"""So many commits are looked at by hand, before git is asked, which looks at dates and generations too."""


class History:
    """The ancestry of one repository's commits."""

    def __init__(self, place: Place, objects: Objects) -> None:
        self.place = place
        self.objects = objects
        self._forks: dict[tuple[str, str], str | None] = {}

    def fork(self, main: str, head: str) -> str | None:
        """The commit where `head` left main; None: unrelated."""
        if main == head:
            return main
        known = self._forks.get((main, head), "")
        if known != "":
            return known
        found = self._meeting(main, head) or self._merge_base(main, head)
        if len(self._forks) >= _REMEMBERED:
            self._forks.clear()
        self._forks[main, head] = found
        return found

    def _meeting(self, main: str, head: str) -> str | None:
        """Where two lines without merges meet, if they do so soon: then it is the only fork there can be."""
        line = self._line(main)
        return next((commit for commit in self._line(head) if commit in line), None)

    def _line(self, commit: str) -> dict[str, None]:
        """The commit and what it descends from, as far as each has one parent and we looked."""
        found = {commit: None}
        try:
            while len(found) < _NEAR and len(parents := self.objects.commit(commit).parents) == 1:
                commit = parents[0]
                found[commit] = None
        except GitFailed:
            # the end of a shallow history: git knows how to go on
            pass
        return found

    def _merge_base(self, main: str, head: str) -> str | None:
        answer = self.place.run(["merge-base", main, head], expect=(0, 1))
        return answer.text.split("\n")[0] if answer.code == 0 else None

    def contains(self, ancestor: str, descendant: str) -> bool:
        """Whether `ancestor` is `descendant` or one of its ancestors."""
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

    def merged(self, main: str) -> dict[str, str]:
        """Bead id to the newest commit on main's first-parent line that carries it as `Bead:` trailer."""
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
                "--format=%H%x01%(trailers:key=Bead,valueonly,unfold,separator=%x01)",
                main,
                "--",
            ]
        )
        found: dict[str, str] = {}
        for record in answer.out.decode("utf-8", "replace").split("\0"):
            commit, *beads = record.strip("\n").split("\x01")
            for bead in beads:
                if bead.strip():
                    found.setdefault(bead.strip(), commit)
        return found
