"""The door to what several daemons of one person share on a machine: places for agents, and what a day has cost."""

from collections.abc import Collection
from typing import Protocol

from ..agents.limits import MachineRoom


class MachineWide(Protocol):
    """One daemon's view. Where nothing is shared, `look` answers None and `take` gives every place."""

    def look(self, at_work: Collection[str]) -> MachineRoom | None:
        """What is allowed and taken now; None: nothing is limited.

        `at_work` are the runs of this daemon's living agents: from now on they hold places, beyond the limit too, and
        no other place is this daemon's.
        """
        ...

    def take(self, name: str) -> bool:
        """Take a place for an agent that is about to start; False: there is none. The same name has one place."""
        ...

    def give_back(self, name: str) -> None:
        """Nothing was started under this name after all."""
        ...

    def hold(self, name: str) -> None:
        """Have a place for an agent that lives already, whatever the limit is."""
        ...

    def spent(self, day: float, usd: float, tokens: int) -> None:
        """What this repository has spent on the day that began at `day`, in all."""
        ...

    def close(self) -> None:
        """Give every place back. Whoever is killed gives them back, too."""
        ...


class Alone:
    """A daemon that shares nothing."""

    def look(self, at_work: Collection[str]) -> MachineRoom | None:
        """Nothing is limited."""
        return None

    def take(self, name: str) -> bool:
        """There is always room."""
        return True

    def give_back(self, name: str) -> None:
        """Nobody counts."""

    def hold(self, name: str) -> None:
        """Nobody counts."""

    def spent(self, day: float, usd: float, tokens: int) -> None:
        """Nobody adds up."""

    def close(self) -> None:
        """Nothing was taken."""
