"""What is held because the branch that it lands on does not pass by itself: it goes on when that is elsewhere.

1. The event by which it is held says at which tip (`red`). What a person holds, or holds again, is theirs to release.
2. Another branch of the remote is asked about as often as requests are looked at.
"""

from contextlib import suppress

from ...core.beads.bead import CLOSED, Bead, BeadType
from ...core.beads.events import Event, Kind
from ...core.board import Board
from ...core.errors import NoMain
from ...core.owners import of_bead
from ...ports.people import Notice
from ...roles.delivery import git_at
from .. import epics
from ..parking import parked
from ..ports import Ports
from .bases import Bases

MOST = 1000
"""So many of the last events are looked through by a daemon that begins."""


class RedBranches:
    """Holds beads for red branches, and lets them go on."""

    def __init__(self, ports: Ports, bases: Bases) -> None:
        self.ports = ports
        self.bases = bases
        self._held: dict[str, str] | None = None  # bead to the red tip; None: not looked for yet

    def hold(self, bead: str, tip: str, reason: str, more: str) -> None:
        """Hold it while its branch is at that tip; `more` is told with the reason."""
        epics.hold(self.ports, bead, reason, more, {"red": tip})
        self._held = None

    def turn(self, board: Board) -> bool:
        """Release what has another branch to land on by now; whether anything was."""
        if not self.ports.config().review.by_request:
            return False
        if self._held is None:
            self._held = self._known()
        changed = False
        for bead in self.ports.store.beads(ids=list(self._held)) if self._held else ():
            with parked(self.ports, of_bead(bead.id)):
                changed |= self._look_at(bead, self._held[bead.id], self._held, board.now)
        return changed

    def _look_at(self, bead: Bead, tip: str, held: dict[str, str], now: float) -> bool:
        """Whether it goes on."""
        if bead.held is not None and bead.status not in CLOSED and tip in self._tips(bead):
            self.bases.ask_again(epics.lands_on(self.ports, bead).base, self._poll(now))
            return False
        del held[bead.id]
        if bead.held is None or bead.status in CLOSED:
            return False
        self._release(bead)
        return True

    def _poll(self, now: float) -> float:
        return now + self.ports.config().review.poll_seconds

    def _known(self) -> dict[str, str]:
        """The held beads, and at which tip their branch was red."""
        last: dict[str, Event] = {}
        for event in self.ports.store.latest_events((Kind.HELD, Kind.RELEASED), limit=MOST):
            last.setdefault(str(event.bead), event)
        return {bead: str(one.data["red"]) for bead, one in last.items() if one.data.get("red")}

    def _tips(self, bead: Bead) -> set[str]:
        """Where the branches are by which the bead is proven; the tip of an epic's own, too."""
        branches = [git_at(self.ports.git, epics.lands_on(self.ports, bead))]
        if bead.type is BeadType.EPIC:
            branches.append(self.ports.git.of_epic(bead.id))
        found = set[str]()
        for branch in branches:
            with suppress(NoMain):
                found.add(branch.main())
        return found

    def _release(self, bead: Bead) -> None:
        self.ports.store.record(Event(Kind.RELEASED, bead.id))
        text = f"{bead.id} goes on: the branch that it lands on was red, and is elsewhere by now"
        self.ports.notifier.tell(Notice(text, bead.id))
