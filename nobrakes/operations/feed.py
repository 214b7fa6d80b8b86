"""What happens in a repository as it happens, for a viewer: events by their numbers, and the lines of agents.

Made and used in one thread, but for `wake`. Nothing is written, and no daemon is asked.
"""

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..agents.registry import adapter
from ..core.beads.events import Event
from ..core.errors import NobrakesError
from ..core.transcript import Line
from ..host.changes import Changes
from ..host.locks import holder
from ..sessions.ring import Ring
from .sessions import of
from .views.bar import unread

if TYPE_CHECKING:
    from ..paths import Paths
    from ..ports.store import Store

PAGE = 500


class Feed:
    """One repository."""

    def __init__(self, store: "Store", paths: "Paths", after: int) -> None:
        self._store = store
        self._paths = paths
        self.seq = after
        self._changed = threading.Event()
        self._rings: dict[int, tuple[Ring, int]] = {}
        self._changes = Changes(paths.folder, "nobrakes.db", self._changed.set)

    def wait(self, seconds: float) -> bool:
        """Until something was written, or for so long; whether something was."""
        found = self._changed.wait(seconds)
        self._changed.clear()
        return found

    def wake(self) -> None:
        """End the wait now."""
        self._changed.set()

    def events(self) -> Sequence[Event]:
        """Those that nobody was given yet, oldest first; at most a page of them."""
        found = self._store.events(self.seq, PAGE)
        if found:
            self.seq = found[-1].seq
        return found

    def daemon(self) -> tuple[int | None, bool]:
        """The daemon's pid, and whether it leaves a word to it lying: what no event tells."""
        pid = holder(self._paths.lock)
        return pid, pid is not None and unread(self._paths) is not None

    def lines(self, attempt: int) -> tuple[int, list[Line]]:
        """(the number of the first one, the lines of the attempt's agent that are new); none where there is no such."""
        if attempt not in self._rings:
            try:
                session = of(self._paths, self._store.attempt(attempt))
            except NobrakesError:
                return 0, []
            self._rings[attempt] = Ring(session.path, adapter(session.agent).lines), 0
        ring, count = self._rings[attempt]
        found = list(ring.read_on())
        self._rings[attempt] = ring, count + len(found)
        return count, found

    def forget(self, attempt: int) -> None:
        """Nobody wants its lines any more."""
        self._rings.pop(attempt, None)

    def close(self) -> None:
        """Look no more."""
        self._changes.close()
