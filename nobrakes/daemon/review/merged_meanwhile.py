"""Requests that people merge while nobody reviews their beads: a question about the bead is open, or an epic waits for
more of it. They are looked at as often as others, and a review of theirs ends what was asked.
"""

import contextlib
from dataclasses import replace

from ...core.beads.bead import BeadType, Status
from ...core.beads.escalations import STOPS_BEAD
from ...core.beads.events import Event, Kind
from ...core.board import Board
from ...core.errors import HostRefused, HostUnavailable, NotAllowed
from ...core.pulls.pull import PullRequest, PullState
from ...ports.codehosts import CodeHost
from ...ports.people import Notice
from ..ports import Ports
from .beside import NOBODY, Beside

NAME = "pulls merged meanwhile"
UNREVIEWED = (Status.ESCALATED, Status.OPEN)
"""A question about it is open; an epic has more to do."""
SAID = "people merged its pull request"


class MergedMeanwhile:
    """Looks at them."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._beside: Beside[list[PullRequest]] = Beside(ports.background)
        self._due = 0.0
        self._waits = False

    def turn(self, board: Board) -> bool:
        """Ask about them when that is due; whether a review of one begins."""
        pulls = self.ports.pulls
        if self._beside.is_pending(NAME):
            merged = self._beside.end(NAME)
            if merged is None:
                return False
            self._due = board.now + self.ports.config().review.poll_seconds  # from its end on: else no run ever rests
            return True in [self._reviewed(pull) for pull in merged]
        waiting = self._waiting() if pulls is not None and pulls.host.tells else []
        self._waits = bool(waiting)
        if pulls is None or not waiting or board.now < self._due:
            return False
        host = pulls.host
        self._beside.begin(NOBODY, NAME, lambda: [pull for pull in waiting if _is_merged(host, pull)])
        return False

    def wake_at(self) -> float | None:
        """When they are looked at again; None: none is, or its end wakes the loop."""
        return self._due if self._waits and not self._beside.is_pending(NAME) else None

    def _waiting(self) -> list[PullRequest]:
        store = self.ports.store
        return [one for one in store.pulls() if one.number and store.bead(one.bead).status in UNREVIEWED]

    def _reviewed(self, pull: PullRequest) -> bool:
        """Have the bead reviewed: who reviews it sees the merge."""
        store = self.ports.store
        now, bead = store.pull(pull.bead), store.bead(pull.bead)
        if now is None or now.number != pull.number:
            return False
        with store.together(), contextlib.suppress(NotAllowed):  # a person decided it meanwhile
            store.save_pull(replace(now, state=PullState.OPEN))
            for one in store.escalations(bead=bead.id):
                if one.type in STOPS_BEAD:
                    store.resolve(one.id, SAID, "nobrakes", Status.NEEDS_REVIEW)
            if bead.type is BeadType.EPIC and bead.status is Status.OPEN:
                store.record(Event(Kind.EPIC_LANDED, bead.id))
            self.ports.notifier.tell(Notice(f"{SAID} {pull.name}: what was asked about {bead.id} is over", bead.id))
        return True


def _is_merged(host: CodeHost, pull: PullRequest) -> bool:
    try:
        host.ready()
        return host.look(pull.number).state is PullState.MERGED
    except (HostUnavailable, HostRefused):
        return False
