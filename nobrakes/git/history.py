"""Questions about how commits descend from each other. Answers never change, so they are remembered."""

from .objects import Commit, Objects
from .place import Place

_REMEMBERED = 4096


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
        answer = self.place.run(["merge-base", main, head], expect=(0, 1))
        found = answer.text.split("\n")[0] if answer.code == 0 else None
        if len(self._forks) >= _REMEMBERED:
            self._forks.clear()
        self._forks[main, head] = found
        return found

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
