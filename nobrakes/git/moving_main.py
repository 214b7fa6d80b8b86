"""Moving main, here or where a remote decides, and what main left behind."""

from typing import Self

from ..ports.git import BASES, EPICS, REQUESTS, Land, Landing
from . import locks, moved, refs
from .landing import landed
from .tools import Tools


class MovingMain(Tools):
    """Main is moved by compare-and-swap, and its checkouts follow."""

    def is_shared(self) -> bool:
        """Whether main is decided at a remote."""
        return self.shared is not None

    def catch_up(self) -> Land:
        """Bring main to where it is decided, when that loses nothing."""
        return self._lands.catch_up()

    def land(self, new: str, old: str) -> Land:
        """Move main from `old` to `new` by compare-and-swap, and a clean checkout of it along with it.

        GitFailed: a part of `new` is gone; it was tested when it was there, and main does not move to what is not.
        """
        if refs.main(self.place) == old:
            self._hold(new, old)
        land = self._lands.land(new, old)
        if land.landing is Landing.MOVED and self._is_main():
            landed.keep(self.place, self.history, new)
        return land

    def _is_main(self) -> bool:
        """Whether main is the one of all here."""
        return not self.own and not self.place.ref.startswith(refs.own_ref(BASES))

    def of_base(self, branch: str, direct: bool = False) -> Self:
        """The same repository where main is that branch of the remote, as it was heard of last; `direct`: it is pushed
        to.
        """
        assert self.shared is not None, "who has no remote has one main"
        return self._of_base(branch, self.shared, direct)

    def of_epic(self, epic: str) -> Self:
        """The same repository where main is the branch of the epic, or the one of all, as long as that is not there."""
        return self._of_own(f"{EPICS}/{epic}", f"the branch of {epic}")

    def of_request(self, bead: str) -> Self:
        """The same repository where main is what the bead's pull request brings, or the one of all."""
        return self._of_own(f"{REQUESTS}/{bead}", f"the pull request of {bead}")

    def settle_in(self) -> tuple[str, ...]:
        """Mend the workspaces that point to where the repository was before it was moved; their names."""
        return moved.settle(self.place, self.places)

    def clear_locks(self) -> None:
        """Remove the lock files that a killed nobrakes left, and bring along the checkouts of main that it left behind
        while their locks still keep everybody else out."""
        locks.clear(self.place)
        self._lander.take_up()
        locks.clear_indexes(self.place)

    def bring_along(self) -> tuple[str, ...]:
        """Bring along each checkout that came to main late; what a person has to know of those that cannot follow."""
        return self._lander.bring_along()

    def behind(self) -> tuple[str, ...]:
        """What a person has to know of each checkout of main that is behind it."""
        return self._lander.behind()
