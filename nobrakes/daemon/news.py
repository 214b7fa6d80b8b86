"""What happened since the daemon last looked at the event log: people are told, clones of closed beads archived.

The place in the log is kept in the store, so nothing is told or cleaned up twice, whoever wrote the events.
"""

from collections.abc import Sequence

from ..core.bead import Status
from ..core.board import Board
from ..core.errors import NobrakesError
from ..core.events import Event, Kind
from ..ports import Notice
from .doors import Doors
from .launch import tests_pin

CURSOR = "news"


class News:
    """Follows the event log."""

    def __init__(self, doors: Doors) -> None:
        self.doors = doors
        self.seen = int(doors.store.setting(CURSOR) or 0)

    def read(self, board: Board) -> Sequence[Event]:
        """The new events, after what they ask for has been done."""
        done: list[Event] = []
        for event in self.doors.store.events(self.seen, 500):
            try:
                self._react(event, board)
            except NobrakesError:
                if not done:
                    raise
                break  # it comes first at the next look, and those before it are not told twice
            done.append(event)
        if done:
            self.seen = done[-1].seq
            self.doors.store.set_setting(CURSOR, str(self.seen))
        return done

    def _react(self, event: Event, board: Board) -> None:
        if event.kind in (Kind.ESCALATED, Kind.SUGGESTED):
            number = event.data.get("escalation")
            title = event.data.get("title", "")
            text = f"escalation {number}: {event.data.get('type', '')}: {title}"
            self.doors.notifier.tell(Notice(text, event.bead, urgent=event.kind is Kind.ESCALATED))
        elif event.kind is Kind.NOTIFIED:
            self.doors.notifier.tell(Notice(str(event.data.get("text", "")), event.bead))
        elif event.kind in (Kind.MERGED, Kind.CANCELLED, Kind.DONE_BY_HAND) and event.bead is not None:
            self._clean_up(event.bead, board)
            if event.kind is Kind.MERGED:
                self.doors.git.pin(tests_pin(event.bead), None)

    def _clean_up(self, bead_id: str, board: Board) -> None:
        """Archive and remove the clone of a bead that was closed, unless something still works in it."""
        store = self.doors.store
        bead = store.bead(bead_id)
        if bead.status not in (Status.DONE, Status.CANCELLED):
            return
        if any(store.attempt(run.attempt).bead == bead_id for run in board.runs.values()):
            return  # its process is being stopped; the end of it cleans up
        self.doors.git.retire(bead, bead.fence)
