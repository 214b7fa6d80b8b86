"""A person took done beads off main (`git reset --hard`, a rebase): told in the turn that sees it, once.

Whether to bring them back is theirs to decide: nothing is done about it, and nothing waits for it.
"""

from ...core.beads.events import Event, Kind
from ...core.errors import GitFailed, NoMain
from ...core.evidence.reconcile import fallen_off
from ..doors import Doors


def fallen(doors: Doors) -> str:
    """What a person is told of done beads that main does not carry any more; empty: there is none. NoMain."""
    done = doors.store.merges()
    off = doors.git.off_main(done.values()) if done else ()
    return fallen_off(done, off, doors.git.merged()) if off else ""


class Rewritten:
    """Follows main. What happened before the first turn is told by the start."""

    def __init__(self, doors: Doors) -> None:
        self.doors = doors
        self._main = ""
        self._told = ""

    def look(self) -> bool:
        """Whether something had to be told."""
        try:
            main = self.doors.git.main()
        except NoMain:
            return False
        if main == self._main:
            return False
        text = fallen(self.doors) if self._main and not self._went_on(main) else ""
        if text and text != self._told:
            self.doors.store.record(Event(Kind.MAIN_REWRITTEN, data={"commit": main, "text": text}))
            self._told = text
        self._main = main
        return bool(text)

    def _went_on(self, main: str) -> bool:
        try:
            return self.doors.git.contains(self._main, main)
        except GitFailed:  # it is gone from git, so main does not hold it
            return False
