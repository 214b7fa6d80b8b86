"""What a daemon does before its first turn, so that the turns can take up what another one left."""

import contextlib
import os
from collections.abc import Collection
from dataclasses import replace

from ..core.beads.bead import CLOSED, Role
from ..core.beads.events import Event, Kind
from ..core.beads.ref_numbers import fences, last_attempt
from ..core.board import Board
from ..core.errors import NobrakesError, NoSuchBead, Stale
from ..core.evidence.reconcile import WENT_BACK
from ..core.review.journal import Journal, may_land
from ..host.runs.strays import end_all
from ..ports import Notice
from .doors import Doors
from .main_monitor.rewritten import fallen
from .reconcile import Reconciling


def take_up(doors: Doors, board: Board) -> None:
    """Look at once at what waited, take stale locks away, and tell what was found running."""
    for attempt in board.attempts:
        journal = Journal.of(attempt.data) if attempt.role is Role.REVIEWER else None
        if journal is not None and journal.waiting:  # whoever starts a daemon wants it to look at once
            again = replace(journal, waiting="", waiting_until=0.0, passing=False, passing_since=0.0)
            with contextlib.suppress(Stale):  # a person took the bead away meanwhile
                doors.store.journal(attempt.id, again.as_data())
    mended = doors.git.settle_in()
    if mended:
        text = f"the repository was moved: {len(mended)} workspaces of it borrow from its new place now"
        doors.notifier.tell(Notice(text))
    doors.git.clear_locks()
    _tell_of_checkouts(doors, board)
    _count_on(doors)
    Reconciling(doors).look()
    _tell_of_what_fell_off(doors)
    _let_candidates_go(doors)
    runs = doors.store.runs()
    alive = [run.id for run in runs if run.pid is not None and doors.processes.alive(run)]
    if runs:
        data = {"alive": alive, "ended": [run.id for run in runs if run.id not in alive]}
        doors.store.record(Event(Kind.RECOVERED, data=data))


def _tell_of_checkouts(doors: Doors, board: Board) -> None:
    """What could not be brought along, unless the review that brought it about is open: it sees to it, and tells."""
    if any(attempt.role is Role.REVIEWER and may_land(attempt.data) for attempt in board.attempts):
        return
    with contextlib.suppress(NobrakesError):  # the turns meet it again, and tell
        for text in doors.git.behind():
            doors.notifier.tell(Notice(text, urgent=True))


def _tell_of_what_fell_off(doors: Doors) -> None:
    """A person took done beads off main: theirs to decide, and told at each start for as long as it is so."""
    with contextlib.suppress(NobrakesError):  # without a main there is nothing to compare, and the turns tell of it
        text = fallen(doors)
        if text:
            doors.notifier.tell(Notice(text, urgent=True))


def _count_on(doors: Doors) -> None:
    """Where folders of runs bear attempts that the store does not know, it went back: nothing takes their numbers.

    Whoever still works for an attempt that nobody knows is ended; what it committed stays in its clone.
    """
    try:
        last = last_attempt(os.listdir(doors.places.runs))
    except FileNotFoundError:
        return
    if doors.store.count_on(last, {}) or doors.store.setting(WENT_BACK):
        doors.store.count_on(last, fences(doors.git.kept()))
        end_all(doors.places.wake, {run.id for run in doors.store.runs()})
        doors.store.set_setting(WENT_BACK, None)


def _let_candidates_go(doors: Doors) -> None:
    """Remove the refs of candidates of beads that are closed: a database that was put back may not know of a review."""
    kept: Collection[str] = ()
    with contextlib.suppress(NobrakesError):  # the next start sees to it
        kept = doors.git.kept()
    for name in kept:
        bead = name.split("/")[1] if name.startswith("candidate/") else ""
        with contextlib.suppress(NoSuchBead):
            if bead and doors.store.bead(bead).status in CLOSED:
                doors.git.pin(name, None)
