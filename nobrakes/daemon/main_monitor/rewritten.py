"""What a person's git did to main: done beads that were taken off it, and checkouts that came to it late. Told in the
turn that sees it, once.

1. Whether to bring beads back is the person's to decide: nothing is done about it, and nothing waits for it.
2. A checkout that came to main while main moved is brought along, at each turn. One that cannot follow is tried again
   after a while.
"""

from collections.abc import Callable

from ...core.beads.events import Event, Kind
from ...core.errors import GitFailed, NoMain
from ...ports.people import Notice
from ...roles.delivery import off_main, taken_back
from ..ports import Ports

AGAIN_SECONDS = 15.0
"""So long a checkout that cannot follow is left alone."""


def fallen(ports: Ports, went_on: bool = False) -> str:
    """What a person is told of done beads that main does not carry any more, or whose changes were taken back; empty:
    there is none. `went_on`: main still holds all that it held. NoMain."""
    off = "" if went_on else off_main(ports.store, ports.git, ports.config())
    lost = taken_back(ports.store, ports.git)
    return ". ".join(filter(None, (off, *(f"{one.told()}: {one.advice()}" for one in lost))))


class Rewritten:
    """Follows main. What happened before the first turn is told by the start."""

    def __init__(self, ports: Ports, trouble: Callable[[str, bool], None]) -> None:
        """`trouble`: where a notice goes that may have to wait for its channel."""
        self.ports = ports
        self._trouble = trouble
        self._main = ""
        self._told = ""
        self._told_of: tuple[str, ...] = ()
        self._again_at = 0.0

    def look(self) -> bool:
        """Whether something had to be told."""
        try:
            main = self.ports.git.main()
        except NoMain:
            return False
        is_told = self._look_at_checkouts(main != self._main)
        if main == self._main:
            return is_told
        text = fallen(self.ports, self._went_on(main)) if self._main else ""
        if text and text != self._told:
            self.ports.store.record(Event(Kind.MAIN_REWRITTEN, data={"commit": main, "text": text}))
            self._told = text
        self._main = main
        return bool(text) or is_told

    def wake_at(self, now: float) -> list[float]:
        """When it wants to look again, if nothing else happens."""
        return [self._again_at] if self._waits(now) else []

    def _look_at_checkouts(self, has_moved: bool) -> bool:
        now = self.ports.store.now()
        if not has_moved and self._waits(now):
            return False
        found = self.ports.git.bring_along()
        new = [text for text in found if text not in self._told_of]
        for text in new:
            self.ports.notifier.tell(Notice(text, urgent=True))
            self._trouble(text, True)
        self._told_of = found
        self._again_at = now + AGAIN_SECONDS if found else 0.0
        return bool(new)

    def _waits(self, now: float) -> bool:
        """Whether it is too soon to try again; a clock that went back makes nobody wait longer."""
        return now < self._again_at <= now + AGAIN_SECONDS

    def _went_on(self, main: str) -> bool:
        try:
            return self.ports.git.contains(self._main, main)
        except GitFailed:  # it is gone from git, so main does not hold it
            return False
