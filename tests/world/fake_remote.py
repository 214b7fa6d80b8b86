"""FakeGit whose main is decided at a remote: others push there, it may not answer, refuse, or answer and not be heard.

`there` is the remote's main. A push arrives before main here moves; `between` is called at that moment.
"""

import random
from collections.abc import Callable

from nobrakes.errors import GitFailed, NotAllowed
from nobrakes.review.waits import Cause, Land, Landing

from .crashing import Crash, Dice
from .fake_git import FakeGit
from .project import FIRST_TREE, Tree

SHARED = 0.25
REFUSES = "the remote refuses"
MIDDLE = 30.0
"""So much likelier than any other moment a crash is between the remote's swap and ours."""


class SharedFakeGit(FakeGit):
    """The repository, and the remote that it shares main with."""

    def __init__(self, root: str, rng: random.Random, first: Tree = FIRST_TREE) -> None:
        super().__init__(root, first)
        self.rng = rng
        self.there = self.head
        self.deaf = 0.0  # how likely the remote does not answer
        self.strict = 0.0  # how likely it refuses
        self.protects = 0.0  # how likely it refuses from then on, until a person mends that
        self.is_protected = False
        self.due: dict[int, float] = {}  # by review, when it must have tried again after that
        self.busy = 0.0  # how likely somebody else pushes first
        self.late = 0.0  # how likely a person's commit is at the remote and not here yet
        self.pushes = 0
        self.lost = ("", "", 0)  # the push that was too late, until the remote is looked at or a call fails
        self.asked_again: list[str] = []
        self.midway: Callable[[], None] = lambda: None
        self.is_calm: Callable[[], bool] = lambda: False
        self.troubles: Callable[[], int] = lambda: 0

    def daemon_died(self) -> None:
        """What it was answered is forgotten, unless it was written down: it may ask the same again."""
        self.lost = ("", "", 0)

    def is_shared(self) -> bool:
        """The remote decides."""
        return True

    def catch_up(self) -> Land:
        """Bring main to where the remote's is."""
        self._refuse_when_locked()
        if self._drawn(self.deaf):
            return _waits("the remote does not answer", Cause.SILENT)
        self.lost = ("", "", 0)
        return self._follow(landed=False)

    def obstacle(self, new: str, old: str) -> Land | None:
        """Why the checkout keeps main from moving."""
        return self._edits(old, new)

    def land(self, new: str, old: str) -> Land:
        """Move the remote's main from `old` to `new`, then main here."""
        self._refuse_when_locked()
        if not self.contains(new, self.there):
            if self.head != old:
                return (
                    _waits("main here is ahead", Cause.AHEAD) if self.contains(new, self.head) else Land(Landing.LOST)
                )
            in_the_way = self._edits(old, new)
            if in_the_way:
                return in_the_way
            if self._drawn(self.busy):
                self.somebody_pushes()
            if self._drawn(self.deaf):
                if self._drawn(0.5):
                    self._arrive(new, old)
                return _waits("the remote does not answer", Cause.SILENT, may_have_landed=True)
            self.is_protected |= self._drawn(self.protects)
            if self.is_protected or self._drawn(self.strict):
                return _waits(REFUSES, Cause.PROTECTED)
            if not self._arrive(new, old):
                lost = (new, old, self.troubles())  # an answer that could not be written down is asked for again
                if self.lost == lost:
                    self.asked_again.append(f"{new[:12]} was pushed again to a main that had moved on")
                self.lost = lost
                return Land(Landing.LOST)
            self.midway()
        return self._follow(landed=True)

    def put_on_main(self, commit: str) -> None:
        """A person's commit; they push it, now and then before they have it here."""
        if self.there != self.head:
            raise GitFailed("somebody else pushed: pull first")
        self.there = self.objects.find(commit).id
        if not self._drawn(self.late):
            super().put_on_main(commit)

    def pull(self) -> None:
        """A person brings main here to where the remote's is."""
        super().put_on_main(self.there)

    def mend(self) -> str:
        """A person lets nobrakes push to main, and tells nobody."""
        if not self.is_protected:
            raise NotAllowed("it takes what is pushed")
        self.leave_open()
        return "a person mended the rules of the remote"

    def leave_open(self) -> None:
        """It takes what is pushed."""
        self.is_protected = False

    def somebody_pushes(self) -> str:
        """Another person pushes what is green."""
        self.pushes += 1
        tree = {**self.objects.tree_of(self.there), f"src/other{self.pushes}.py": "else"}
        self.there = self.objects.commit(tree, (self.there,), "elsewhere", "human", self.pushes).id
        return f"somebody pushed {self.there[:12]}"

    def _arrive(self, new: str, old: str) -> bool:
        if self.there != old:
            return False
        self.there = new
        self._landed(new, old)
        return True

    def _follow(self, landed: bool) -> Land:
        if self.contains(self.head, self.there):
            in_the_way = self._edits(self.head, self.there, landed)
            if in_the_way:
                return in_the_way
            super().put_on_main(self.there)
            return Land(Landing.MOVED)
        return _waits("main here has parted from the remote's", Cause.PARTED, landed)

    def _edits(self, old: str, new: str, landed: bool = False) -> Land | None:
        in_the_way = self.edited & {change.path for change in self.changes(old, new)}
        words = f"edits in the way: {', '.join(sorted(in_the_way))}"
        return Land(Landing.BLOCKED, words, Cause.EDITS, landed) if in_the_way else None

    def _drawn(self, chance: float) -> bool:
        return chance > 0 and not self.is_calm() and self.rng.random() < chance


def some_git(root: str, seed: int, protects: float) -> FakeGit:
    """The repository of this seed: one in four shares its main, and each where the remote begins to protect it."""
    rng = random.Random(f"{seed} remote")  # of its own, so that the stories of all others stay theirs
    if rng.random() >= SHARED and not protects:
        return FakeGit(root)
    git = SharedFakeGit(root, rng)
    git.protects = protects
    git.deaf, git.strict, git.busy, git.late = (rng.choice([0.0, 0.2, 0.4]) for _ in range(4))
    return git


def meet(git: FakeGit, dice: Dice) -> None:
    """Let the dice say when it is calm, and whether the daemon dies in the middle of a landing."""
    if isinstance(git, SharedFakeGit):

        def between() -> None:
            if git.rng.random() < dice.crash * MIDDLE:
                dice.crashes += 1
                raise Crash("in git.land")

        git.midway, git.is_calm = between, lambda: not (dice.crash or dice.trouble or dice.meddle)
        git.troubles = lambda: dice.troubles


def _waits(reason: str, cause: Cause, may_have_landed: bool = False) -> Land:
    return Land(Landing.BLOCKED, reason, cause, may_have_landed)
