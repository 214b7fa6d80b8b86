"""Branches of the remote that are asked about beside the loop: what others push there nobody tells."""

from collections.abc import Iterable, Mapping

from ...core.pulls.delivery import Where
from ...ports.git import Land
from ...roles.delivery import git_at
from ..ports import Ports
from .beside import NOBODY, Beside


class RemoteBranches:
    """Has each that is wanted heard of, and again from the time on that was said. Main's name is empty here."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._beside: Beside[Land] = Beside(ports.background)
        self._going: set[str] = set()
        self._due: dict[str, float] = {}

    def turn(self, wanted: Iterable[str], now: float) -> Mapping[str, Land]:
        """Ask about those that are due; what came of it, by branch, also of those that are not wanted any more."""
        heard: dict[str, Land] = {}
        for branch in sorted(self._going):
            if self._beside.is_pending(_asking(branch)):  # else it failed, and who heard of that was told
                land = self._beside.end(_asking(branch))
                if land is None:
                    continue
                heard[branch] = land
            self._going.remove(branch)
        for branch in wanted:
            if branch not in self._going and branch not in heard and self._due.get(branch, 0.0) <= now:
                self._going.add(branch)
                self._beside.begin(NOBODY, _asking(branch), git_at(self.ports.git, Where(branch)).catch_up)
        return heard

    def again(self, branch: str, at: float) -> None:
        """It is not asked about before that time."""
        self._due[branch] = at

    def at_once(self) -> None:
        """The clock jumped: nothing is waited for."""
        self._due.clear()

    def wake_at(self, wanted: Iterable[str]) -> float | None:
        """When the next of those is asked about again; None: none is, or its end wakes the loop."""
        return min((self._due[one] for one in wanted if one in self._due and one not in self._going), default=None)


def _asking(branch: str) -> str:
    return f"remote {branch}"
