"""The machine that the simulated daemon shares with daemons of other repositories, which have dice of their own.

1. Others take places, give them back and are killed at any time, also between two looks of the daemon.
2. A daemon that is killed has no place any more; who comes after it has those of the agents that it finds alive.
3. What breaks a promise is kept until the promise asks for it.
"""

import random
from collections.abc import Collection

from nobrakes.agents.limits import MachineLimits, MachineRoom

BUSY = 0.3
"""How often somebody else does something, in a step."""


class FakeMachine:
    """The port MachineWide, and everybody else on the machine."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(f"{seed} the machine")
        self.most = self.rng.randint(1, 4)
        self.others = self.rng.randint(0, self.most)
        self.own: set[str] = set()
        self.granted = 0  # places that were taken and under which nothing was started so far
        self.is_calm = False
        self._breaches: list[str] = []

    # --- the port --------------------------------------------------------------------------------

    def look(self, at_work: Collection[str]) -> MachineRoom | None:
        """What is taken now."""
        self.own, self.granted = set(at_work), 0
        return MachineRoom(MachineLimits(agents=self.most), len(self.own) + self.others, len(self.own))

    def take(self, name: str) -> bool:
        """A place, unless somebody else was faster."""
        if not self.is_calm and self.rng.random() < BUSY / 3:
            self._take_one()
        if name not in self.own and len(self.own) + self.others >= self.most:
            return False
        self.own.add(name)
        self.granted += 1
        return True

    def give_back(self, name: str) -> None:
        """Nothing was started."""
        if name in self.own:
            self.own.discard(name)
            self.granted = max(0, self.granted - 1)  # none is left of who started and was ended at once

    def hold(self, name: str) -> None:
        """It lives already."""
        self.own.add(name)

    def spent(self, day: float, usd: float, tokens: int) -> None:
        """Nobody adds up."""

    def close(self) -> None:
        """The daemon ended in order."""
        self.killed()

    # --- everybody else --------------------------------------------------------------------------

    def killed(self) -> None:
        """This daemon is gone, and its places with it."""
        self.own, self.granted = set(), 0
        if not self.is_calm and self.rng.random() < BUSY:
            self._take_one()

    def move(self) -> str:
        """Somebody else does something, or nobody; when all is calm they only come to their end."""
        if self.rng.random() >= BUSY:
            return ""
        drawn = self.rng.random()
        before = self.others
        if drawn < 0.1:
            self.others = 0  # a daemon was killed
        elif drawn < 0.55 or self.is_calm:
            self.others = max(0, self.others - 1)
        else:
            self._take_one()
        return f"other repositories: {before} agents, now {self.others}" if before != self.others else ""

    def _take_one(self) -> None:
        if len(self.own) + self.others < self.most:
            self.others += 1

    # --- what is promised ------------------------------------------------------------------------

    def starts(self, run: str) -> None:
        """An agent is started."""
        self.granted -= 1
        if self.granted < 0:
            self._breaches.append(f"{run} was started without a place")

    def take_breaches(self) -> list[str]:
        """What was broken since the last question."""
        found, self._breaches = self._breaches, []
        return found
