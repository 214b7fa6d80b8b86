"""A person's checkout of main: what they staged and edit, and the commit that index and files were last brought to.

1. Index and files are that commit's, but for what is staged or edited. A plain commit takes the index, whole.
2. Who is killed in the midst of a landing leaves it behind main, with its index locked: git refuses until that is over.
3. A person may be on another branch: then main moves without the checkout. Who comes back in the moment in which main
   moves has main checked out and, in index and files, what main was before (`arrives`).
4. It follows main by all paths or not at all: what is staged or edited is in the way of a change of the same path.
"""

import random
from collections.abc import Callable, Collection
from typing import Protocol

from nobrakes.errors import GitFailed

from .objects import Objects, applied, differing
from .project import Tree

WORK = "src/b02.py"
"""What a bead makes: who overwrote it would turn main red, and nobody else would be to blame."""

LATE = 0.5
"""The chance that who is on another branch comes back in the very moment in which main moves."""

STAGED = ("README.md", "src/shared.py", "docs/staged.md", WORK)


class Checkout:
    """One checkout of main, on what would be the disk."""

    def __init__(self, objects: Objects, at: str) -> None:
        self.objects = objects
        self.at = at
        self.before = at  # where it was until the last move of main
        self.staged: dict[str, str] = {}
        self.is_away = False
        self.lands = False  # nobrakes moves main just now
        self.comes_late: Callable[[], bool] = lambda: False
        self.overtaken: set[str] = set()  # staged, and changed by a landing since: the next commit takes that back

    def index(self) -> Tree:
        """What a plain commit would make."""
        return applied(self.objects.tree_of(self.at), self.staged)

    def behind(self, main: str) -> list[str]:
        """The paths that a plain commit would take back to what they were before `main`."""
        if self.is_away:
            return []
        before, after = self.objects.tree_of(self.at), self.objects.tree_of(main)
        return [path for path in differing(before, after) if path not in self.staged] if self.at != main else []

    def clear(self) -> None:
        """Nothing is staged any more."""
        self.staged.clear()
        self.overtaken.clear()

    def in_the_way(self, new: str, edited: Collection[str]) -> set[str]:
        """What keeps it from following to `new`."""
        if self.is_away or (not self.staged and not edited):
            return set()
        changed = differing(self.objects.tree_of(self.at), self.objects.tree_of(new))
        return {*self.staged, *edited} & set(changed)

    def goes_along(self, old: str, new: str) -> None:
        """Main went from `old` to `new`, and so did the checkout if it was there."""
        lands, self.lands = self.lands, False
        if self.is_away and lands and self.comes_late():
            self.is_away, self.at = False, old
        elif self.at == old:
            self.before, self.at = old, new

    def land(self, old: str, new: str) -> None:
        """Main is about to be moved from `old` to `new` by nobrakes, which asked what is in the way."""
        self.lands = True
        if not self.is_away:
            self.overtaken |= set(self.staged) & set(differing(self.objects.tree_of(old), self.objects.tree_of(new)))

    def is_cut_off(self) -> None:
        """Who brought it along was killed after main had moved."""
        if not self.is_away:
            self.at = self.before

    def bring_along(self, main: str, edited: Collection[str]) -> None:
        """To main, wherever it was left, unless that would lose something."""
        if not self.is_away and not self.in_the_way(main, edited):
            self.before = self.at = main


class Main(Protocol):
    """The repository whose main it is a checkout of."""

    head: str
    edited: set[str]
    locked: bool

    def put_on_main(self, commit: str) -> None:
        """Main is this commit now, whoever says so."""
        ...


class Staging:
    """A person who uses the index: each act told in words. While it is locked, git refuses."""

    def __init__(self, checkout: Checkout, main: Main, rng: random.Random) -> None:
        self.checkout = checkout
        self.main = main
        self.rng = rng
        self.times = 0
        checkout.comes_late = self._comes_late

    def stage(self) -> str:
        """`git add`."""
        self._index()
        if self.checkout.is_away:
            raise GitFailed("main is not checked out")
        path = self.rng.choice(STAGED)
        if path in self.checkout.behind(self.main.head) or path in self.main.edited:
            raise GitFailed(f"{path} is as it was before main moved, and they were told")
        if path == WORK and path in self.checkout.objects.tree_of(self.main.head):
            raise GitFailed(f"{path} is a bead's")
        self.times += 1
        self.checkout.staged[path] = f"staged {self.times}"
        return f"staged {path}"

    def commit(self) -> str:
        """`git commit`: the index, whole, whatever main has become meanwhile."""
        self._index()
        if not self.checkout.staged:
            raise GitFailed("nothing is staged")
        if self.checkout.behind(self.main.head):
            raise GitFailed("the checkout is behind main, and they were told")
        told, head, objects = sorted(self.checkout.staged), self.main.head, self.checkout.objects
        made = objects.commit(self.checkout.index(), (head,), f"staged by hand {self.times}", "human", self.times)
        self.checkout.clear()
        self.main.put_on_main(made.id)
        return f"committed what was staged: {', '.join(told)}"

    def unstage(self) -> str:
        """`git restore --staged --worktree .`"""
        self._index()
        self.checkout.clear()
        return "nothing is staged"

    def leave(self) -> str:
        """`git switch` to another branch, with nothing staged."""
        self._index()
        if self.checkout.staged or self.checkout.is_away or self.checkout.behind(self.main.head):
            raise GitFailed("they stay")
        self.checkout.is_away = True
        return "main is not checked out any more"

    def come_back(self) -> str:
        """`git switch main`, while main rests."""
        self._index()
        if not self.checkout.is_away:
            raise GitFailed("they are there")
        self.checkout.is_away = False
        self.checkout.before = self.checkout.at = self.main.head
        return "main is checked out again"

    def _comes_late(self) -> bool:
        """`git switch main`, in the moment in which main moves."""
        return self.rng.random() < LATE

    def finish(self) -> None:
        """Nothing of theirs is in the way any more."""
        self.checkout.clear()
        if self.checkout.is_away:
            self.come_back()

    def _index(self) -> None:
        if self.main.locked:
            raise GitFailed("index.lock is there")


def uses_the_index(shares: bool, seed: int, asked: float) -> float:
    """How often the people of this world stage, as they were `asked` to or as the seed draws; 0: they never do.

    The dice of the rest of the world are left alone.
    """
    return 0.0 if shares else asked or float(random.Random(f"{seed} index").random() < 0.25)
