"""What happened since the daemon last looked at the event log: people are told, clones of closed beads archived.

The place in the log is kept in the store, so nothing is told or cleaned up twice, whoever wrote the events.
"""

from collections.abc import Callable, Sequence
from functools import partial

from ..core.beads.bead import Bead, Role, Status
from ..core.beads.escalations import EscalationType
from ..core.beads.events import MERGES, Event, Kind
from ..core.board import Board
from ..core.errors import NobrakesError
from ..core.notices.events import FOR_PEOPLE, cap_text, notice_of, refusal
from ..core.notices.notice import NewNotice
from ..core.notices.pacing import SAME_WITHIN
from ..core.owners import of_bead
from ..core.sessions.session import name_of
from ..git.workspaces.remove import forget_sessions
from ..ports.people import Notice
from ..trash import Trash
from .attempts.launch import tests_pin
from .parking import parked
from .ports import Ports
from .reconcile import Reconciling
from .review.landing_records import landing_pin
from .review.lost import pin_of

CURSOR = "news"

MOST = 500
"""Events that are read at a time; while so many wait, no more are read."""

_CLOSING = frozenset({Kind.MERGED, Kind.FOUND_MERGED, Kind.CANCELLED, Kind.DONE_BY_HAND, Kind.BROUGHT_BACK})

_REVIEW_OVER = frozenset({Kind.REVIEW_REJECTED, Kind.REVIEW_INTERRUPTED})


Wanted = Callable[[Sequence[NewNotice]], list[NewNotice]]
"""Which of the notices some channel takes."""


def retiring(bead: str) -> str:
    """The name of the job that archives and removes the bead's clone: nobody starts on the bead meanwhile."""
    return f"retire {bead}"


def retire(ports: Ports, bead: Bead) -> None:
    """Archive and remove a closed bead's clone; the sessions of its agents, which belong to that clone, go with it.

    What an agent said is kept in the output of its run.
    """
    ports.git.retire(bead, bead.fence)
    forget_sessions(Trash(ports.paths.trash), ports.paths.agents, bead.id)


def _whose(event: Event) -> str:
    return of_bead(event.bead) if event.bead is not None else ""


class News:
    """Follows the event log."""

    def __init__(self, ports: Ports, wanted: Wanted) -> None:
        self.ports = ports
        self.wanted = wanted
        self.read_to = int(ports.store.setting(CURSOR) or 0)
        self.waiting: list[Event] = []
        """Read, and not dealt with yet."""

    def read(self, board: Board) -> Sequence[Event]:
        """The new events, after what they ask for has been done."""
        fresh = self.ports.store.events(self.read_to, MOST) if len(self.waiting) < MOST else ()
        for event in (*self.waiting[:1], *fresh):  # what the first one asks for may have failed
            with parked(self.ports, _whose(event)):
                self._begin(event, board)
        self.waiting += fresh
        self.read_to = self.waiting[-1].seq if self.waiting else self.read_to
        done = 0
        for event in self.waiting:
            try:
                with parked(self.ports, _whose(event)):
                    if not self._react(event):
                        break  # the clone is still being archived, and what comes later is not told before
            except NobrakesError:
                if not done:
                    raise
                break  # it comes first at the next look, and those before it are not told twice
            done += 1
        if not done:
            return []
        self._note(self.waiting[:done])
        dealt_with, self.waiting = self.waiting[:done], self.waiting[done:]
        return dealt_with

    def _note(self, events: Sequence[Event]) -> None:
        """They are dealt with: in one transaction with their notices, so that none is written twice or lost."""
        store, place = self.ports.store, str(events[-1].seq)
        notices = self.wanted([notice for event in events if (notice := notice_of(event)) is not None])
        if not notices:
            store.set_setting(CURSOR, place)
            return
        with store.together():
            store.add_notices(notices, SAME_WITHIN)
            store.set_setting(CURSOR, place)

    def _begin(self, event: Event, board: Board) -> None:
        """Archive and remove the clone of a bead that was closed, unless something still works in it."""
        if event.kind in _REVIEW_OVER and event.bead is not None:
            self._let_go(event.bead, board)
        if event.data.get("type") == EscalationType.NOBRAKES_FAILED.value:  # its review may have moved main
            Reconciling(self.ports, lambda bead: parked(self.ports, of_bead(bead))).look()
        if event.kind is Kind.SESSION_ENDED:
            session = int(event.data["session"])
            self.ports.background.begin(f"forget session {session}", partial(self._forget, session))
        if event.kind not in _CLOSING or event.bead is None or self.ports.background.busy(retiring(event.bead)):
            return
        store = self.ports.store
        bead = store.bead(event.bead)
        if bead.status not in (Status.DONE, Status.CANCELLED):
            return
        beads = {attempt.id: attempt.bead for attempt in board.attempts}
        runs = board.runs.values()
        if any((beads.get(run.attempt) or store.attempt(run.attempt).bead) == bead.id for run in runs):
            return  # its process is being stopped; the end of it cleans up
        self.ports.background.begin(retiring(bead.id), partial(self._retire, bead, event.kind in MERGES))

    def _let_go(self, bead: str, board: Board) -> None:
        """The candidate of a review that is over may go, unless another review of the bead has begun."""
        if not any(attempt.role is Role.REVIEWER and attempt.bead == bead for attempt in board.attempts):
            self.ports.git.pin(pin_of(bead), None)

    def _retire(self, bead: Bead, merged: bool) -> None:
        """Done aside, so without a look at the store."""
        retire(self.ports, bead)
        if merged:
            self.ports.git.pin(tests_pin(bead.id), None)
            self.ports.git.pin(landing_pin(bead.id), None)

    def _forget(self, session: int) -> None:
        """What the CLI kept of a session that was ended, done aside; its checkout goes with those of no run."""
        forget_sessions(Trash(self.ports.paths.trash), self.ports.paths.agents, name_of(session))

    def _react(self, event: Event) -> bool:
        """Tell what has to be told; False: what the event asks for is not done yet."""
        if event.kind in (Kind.ESCALATED, Kind.SUGGESTED):
            number = event.data.get("escalation")
            title = event.data.get("title", "")
            text = f"escalation {number}: {event.data.get('type', '')}: {title}"
            self.ports.notifier.tell(Notice(text, event.bead, urgent=event.kind is Kind.ESCALATED))
        elif event.kind is Kind.GATE_CLOSED:
            if event.data["times"] == 1:  # it closes again as long as it lasts, and that is no news
                self.ports.notifier.tell(Notice(refusal(event), urgent=event.data["reason"] in FOR_PEOPLE))
        elif event.kind is Kind.CAP_REACHED:
            self.ports.notifier.tell(Notice(cap_text(event), urgent=True))
        elif event.kind is Kind.MAIN_REWRITTEN:
            self.ports.notifier.tell(Notice(str(event.data["text"]), urgent=True))
        elif event.kind is Kind.NOTIFIED:
            self.ports.notifier.tell(Notice(str(event.data.get("text", "")), event.bead))
        elif event.kind is Kind.SESSION_ENDED:
            return self.ports.background.over(f"forget session {event.data['session']}")
        elif event.kind in _CLOSING and event.bead is not None:
            return self.ports.background.over(retiring(event.bead))
        return True
