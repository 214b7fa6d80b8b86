"""A person took done beads off main (`git reset --hard`, a rebase): told in the turn that sees it, once.

Whether to bring them back is theirs to decide: nothing is done about it, and nothing waits for it.
"""

from ...core.beads.events import Event, Kind
from ...core.errors import GitFailed, NoMain
from ...roles.delivery import off_main
from ..ports import Ports


def fallen(ports: Ports) -> str:
    """What a person is told of done beads that main does not carry any more; empty: there is none. NoMain."""
    return off_main(ports.store, ports.git, ports.config())


class Rewritten:
    """Follows main. What happened before the first turn is told by the start."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._main = ""
        self._told = ""

    def look(self) -> bool:
        """Whether something had to be told."""
        try:
            main = self.ports.git.main()
        except NoMain:
            return False
        if main == self._main:
            return False
        text = fallen(self.ports) if self._main and not self._went_on(main) else ""
        if text and text != self._told:
            self.ports.store.record(Event(Kind.MAIN_REWRITTEN, data={"commit": main, "text": text}))
            self._told = text
        self._main = main
        return bool(text)

    def _went_on(self, main: str) -> bool:
        try:
            return self.ports.git.contains(self._main, main)
        except GitFailed:  # it is gone from git, so main does not hold it
            return False
