"""Who of those that wrote something may write to the repository: asked of the host, and believed for a while."""

from collections.abc import Callable

from ..core.errors import HostRefused

_HOLDS = 600.0
_MOST = 1000


class Writers:
    """Asks once for each person. `ask`: whether they may; HostRefused says no."""

    def __init__(self, clock: Callable[[], float], ask: Callable[[str], bool]) -> None:
        self.clock = clock
        self.ask = ask
        self._known: dict[str, tuple[bool, float]] = {}

    def may(self, name: str) -> bool:
        """Whether they may. HostUnavailable: nobody knows just now."""
        known, until = self._known.get(name, (False, 0.0))
        if self.clock() < until:
            return known
        try:
            known = self.ask(name)
        except HostRefused:
            known = False
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known[name] = known, self.clock() + _HOLDS
        return known
