"""What a daemon does before its first turn, so that the turns can take up what another one left."""

import contextlib
import os
from collections.abc import Collection
from dataclasses import replace
from functools import partial

from ..core.beads.bead import CLOSED, Role
from ..core.beads.events import Event, Kind
from ..core.beads.ref_numbers import fences, last_attempt, last_clone, last_turn
from ..core.board import Board
from ..core.errors import NobrakesError, NoSuchBead, Stale
from ..core.evidence.reconcile import WENT_BACK
from ..core.owners import of_bead
from ..core.review.journal import Journal, may_land
from ..core.sessions.relay import FOLDER
from ..host.runs.strays import end_all
from ..ports.people import Notice
from .main_monitor.rewritten import fallen
from .parking import of_run, parked
from .ports import Ports
from .reconcile import Reconciling


def take_up(ports: Ports, board: Board) -> None:
    """Look at once at what waited, take stale locks away, and tell what was found running."""
    for attempt in board.attempts:
        journal = Journal.of(attempt.data) if attempt.role is Role.REVIEWER else None
        if journal is not None and journal.waiting:  # whoever starts a daemon wants it to look at once
            again = replace(journal, waiting="", waiting_until=0.0, passing=False, passing_since=0.0)
            with contextlib.suppress(Stale):  # a person took the bead away meanwhile
                ports.store.journal(attempt.id, again.as_data())
    mended = ports.git.settle_in()
    if mended:
        text = f"the repository was moved: {len(mended)} workspaces of it borrow from its new place now"
        ports.notifier.tell(Notice(text))
    ports.git.clear_locks()
    _tell_of_checkouts(ports, board)
    _count_on(ports)
    Reconciling(ports, lambda bead: parked(ports, of_bead(bead))).look()
    _tell_of_what_fell_off(ports)
    _let_candidates_go(ports)
    runs = ports.store.runs()
    alive = []
    for run in runs:
        with parked(ports, partial(of_run, ports, run.id)):
            alive += [run.id] if run.pid is not None and ports.processes.alive(run) else []
    if runs:
        data = {"alive": alive, "ended": [run.id for run in runs if run.id not in alive]}
        ports.store.record(Event(Kind.RECOVERED, data=data))


def _tell_of_checkouts(ports: Ports, board: Board) -> None:
    """What could not be brought along, unless the review that brought it about is open: it sees to it, and tells."""
    if any(attempt.role is Role.REVIEWER and may_land(attempt.data) for attempt in board.attempts):
        return
    with contextlib.suppress(NobrakesError):  # the turns meet it again, and tell
        for text in ports.git.behind():
            ports.notifier.tell(Notice(text, urgent=True))


def _tell_of_what_fell_off(ports: Ports) -> None:
    """A person took done beads off main: theirs to decide, and told at each start for as long as it is so."""
    with contextlib.suppress(NobrakesError):  # without a main there is nothing to compare, and the turns tell of it
        text = fallen(ports)
        if text:
            ports.notifier.tell(Notice(text, urgent=True))


def _count_on(ports: Ports) -> None:
    """Where folders bear attempts or sessions that the store does not know, it went back: nothing takes their numbers.

    Whoever still works for an attempt that nobody knows is ended; what it committed stays in its clone.
    """
    names = _names(ports.paths.runs)
    last, turns = last_attempt(names), last_turn(names)
    sessions = last_clone(_names(os.path.join(ports.paths.folder, FOLDER)))
    if ports.store.count_on(last, {}, turns, sessions) or ports.store.setting(WENT_BACK):
        ports.store.count_on(last, fences(ports.git.kept()), turns)
        end_all(ports.paths.wake, {run.id for run in ports.store.runs()})
        ports.store.set_setting(WENT_BACK, None)


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []


def _let_candidates_go(ports: Ports) -> None:
    """Remove the refs of candidates of beads that are closed: a database that was put back may not know of a review."""
    kept: Collection[str] = ()
    with contextlib.suppress(NobrakesError):  # the next start sees to it
        kept = ports.git.kept()
    for name in kept:
        bead = name.split("/")[1] if name.startswith("candidate/") else ""
        with contextlib.suppress(NoSuchBead), parked(ports, of_bead(bead) if bead else ""):
            if bead and ports.store.bead(bead).status in CLOSED:
                ports.git.pin(name, None)
