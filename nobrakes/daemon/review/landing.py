"""Landing and catching up with main, beside the loop where a remote decides about it.

1. What asks a remote may take long: it is begun, and asked for again each turn until its end is there.
2. Before a push its commit is pinned. So a review that was interrupted, and whose push landed all the same, is known
   to have landed by whoever reviews that bead next.
3. Before main moves the store is on the disk: a power cut may not leave a main that it never heard of.
4. Nothing lands where another repository, or another database, took this one's place.
5. Where main is decided here, nothing of this happens: a call does what it says at once.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from ...core.owners import of_bead
from ...core.review.train import Entry
from ...ports.git import Land
from ..parking import about
from ..ports import Ports
from .beside import Beside

PINS = "pushed"


@dataclass(frozen=True, slots=True)
class Pushed:
    """A candidate on its base, the key of the checks that it passed, and the candidate that was pushed with it."""

    base: str
    candidate: str
    contract: str
    tip: str


class Landings:
    """How reviews reach main."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._beside: Beside[Land] = Beside(ports.background)

    def catch_up(self, attempt: int) -> Land | None:
        """Bring main to where it is decided; None: it goes on."""
        git = self.ports.git
        return self._ask(attempt, _catching_up(attempt), git.catch_up)

    def land(self, attempt: int, train: Sequence[Entry], new: str, old: str) -> Land | None:
        """Move main from `old` to `new`, which brings the beads of `train` (none: it did already); None: it goes on."""
        self.ports.in_place()
        git = self.ports.git
        if train and not self.is_pending(attempt):
            self.ports.store.sync()  # here, since beside the loop nobody may touch it
        if git.is_shared() and not self._beside.is_pending(_landing(attempt)):
            for entry in train:
                journal = entry.journal
                name = f"{PINS}/{entry.bead}/{journal.base}-{journal.contract}-{journal.tip}"
                with about(self.ports, of_bead(entry.bead)):
                    git.pin(name, journal.candidate)
        return self._ask(attempt, _landing(attempt), lambda: git.land(new, old))

    def take_back(self, attempt: int, new: str, old: str) -> Land | None:
        """Move main from `old` to `new`, which takes a merge back; None: it goes on."""
        self.ports.in_place()
        if not self.is_pending(attempt):
            self.ports.store.sync()
        return self._ask(attempt, _landing(attempt), lambda: self.ports.git.land(new, old))

    def settle(self, attempts: Collection[int]) -> None:
        """Hear the ends of what was begun for reviews that are not open any more: nobody else asks for them."""
        self._beside.settle(attempts)

    def goes_on(self, attempt: int) -> bool:
        """Whether one of them was begun for this review and is not over."""
        background = self.ports.background
        return any(
            background.busy(name) and not background.over(name) for name in (_landing(attempt), _catching_up(attempt))
        )

    def is_pending(self, attempt: int) -> bool:
        """Whether one of them was begun for this review, and nobody heard its end yet."""
        return any(self._beside.is_pending(name) for name in (_landing(attempt), _catching_up(attempt)))

    def landed_before(self, bead: str) -> Pushed | None:
        """What was pushed of this bead by a review that did not hear of it, and is on main."""
        git = self.ports.git
        if not git.is_shared():
            return None
        main = git.main()
        for name, commit in git.kept().items():
            if name.startswith(f"{PINS}/{bead}/") and git.contains(commit, main):
                base, contract, tip = name.rpartition("/")[2].split("-")
                return Pushed(base, commit, contract, tip)
        return None

    def forget(self, bead: str) -> None:
        """What landed has been dealt with."""
        git = self.ports.git
        if git.is_shared():
            for name in [name for name in git.kept() if name.startswith(f"{PINS}/{bead}/")]:
                git.pin(name, None)

    def _ask(self, attempt: int, name: str, ask: Callable[[], Land]) -> Land | None:
        return self._beside.ask(attempt, name, ask) if self.ports.git.is_shared() else ask()


def _landing(attempt: int) -> str:
    return f"land {attempt}"


def _catching_up(attempt: int) -> str:
    return f"catch up {attempt}"
