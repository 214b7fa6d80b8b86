"""The loop: look, decide, do. Everything that takes long is a child process, so a turn is short.

1. A turn looks once, lets the deciders decide, and does what they ask; it is repeated while it changes anything.
2. Between turns the loop sleeps until something wakes it: a child's end, a command, or the next due moment.
3. A daemon that starts takes up what an earlier one left: nothing has to be told to it (`recover`).
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from ..core import assigner, reviewer, supervision
from ..core.actions import Action, StartAgent, Terminate
from ..core.attempt import Run, RunKind
from ..core.bead import Role
from ..core.board import Board
from ..core.errors import ConfigError, DiskFull, GitTooOld, NoAgent, NobrakesError, NoMain, Stale, StoreReadOnly
from ..core.events import Event, Kind
from ..core.outcomes import Outcome
from ..core.reviewer import Journal
from ..host.files import storage_errors
from ..ports import Notice
from .doors import Doors
from .launch import STEP
from .news import News
from .overdue import CheckClock
from .perform import Performer

LINGER_SECONDS = 1.0
"""A process that lives on so long after its run has ended is stopped."""
RETRY_SECONDS = 15.0
"""When the disk is full or git fails, the loop tries again so much later."""
NEEDS_A_PERSON = (ConfigError, GitTooOld, NoAgent, NoMain, StoreReadOnly)
"""Trouble that does not pass by itself: a run that would end when idle ends with it."""


class Waker(Protocol):
    """What the loop sleeps on."""

    def wait(self, timeout: float | None) -> bool:
        """Sleep until something happened (True) or `timeout` seconds are over (False)."""
        ...


class View(Protocol):
    """Who watches a run."""

    def event(self, event: Event) -> None:
        """Something happened."""
        ...

    def board(self, board: Board) -> None:
        """The board after a turn."""
        ...


@dataclass(frozen=True, slots=True)
class Turn:
    """What a turn did, and when the next one is due without anything happening."""

    changed: bool
    board: Board
    events: Sequence[Event]
    wake_at: float | None


class Daemon:
    """One daemon over one set of doors. It keeps nothing in memory that a new one would miss."""

    def __init__(self, doors: Doors) -> None:
        self.doors = doors
        self.performer = Performer(doors)
        self.news = News(doors)
        self.checks = CheckClock(self.performer.validation)
        self._ended_at: dict[str, float] = {}
        self._trouble_until = 0.0
        self._trouble: NobrakesError | None = None

    def recover(self) -> None:
        """Make good what a killed daemon left half done; the turns then take up the rest."""
        doors = self.doors
        for attempt in self._look().attempts:
            journal = Journal.of(attempt.data) if attempt.role is Role.REVIEWER else None
            if journal is not None and journal.waiting:  # whoever starts a daemon wants it to look at once
                doors.store.journal(attempt.id, replace(journal, waiting="", waiting_until=0.0).as_data())
        doors.git.clear_locks()
        runs = doors.store.runs()
        alive = [run.id for run in runs if run.pid is not None and doors.processes.alive(run)]
        if runs:
            data = {"alive": alive, "ended": [run.id for run in runs if run.id not in alive]}
            doors.store.record(Event(Kind.RECOVERED, data=data))

    def tick(self, seen: Board | None = None) -> Turn:
        """One turn. `seen`: the board of the turn that has just ended, when nothing was waited for since."""
        board = seen or self._look()
        changed = False
        ended = self._ended(board)
        for run in ended:
            changed |= self._guarded(partial(self._close, run, board))
        if ended:
            board = self._look()
        if board.now >= self._trouble_until:
            for action in self._decide(board):
                changed |= self._guarded(partial(self.performer.perform, action, board))
            if board.now >= self._trouble_until:
                self._trouble = None  # it was mended: should it come back, it is told again
        events: list[Event] = []
        if not changed or board.stopping:
            # what is told and tidied up may wait until everybody has work
            self._guarded(partial(self._read_news, board, events))
        if changed:
            board = self._look()
        self._forget(board)
        return Turn(changed or bool(events), board, events, self._wake_at(board))

    def _forget(self, board: Board) -> None:
        """Drop what is remembered of runs that are gone or being stopped: it would wake the loop for nothing."""
        watched = {run.id for run in board.runs.values() if run.term_at is None}
        self._ended_at = {run: since for run, since in self._ended_at.items() if run in watched}
        self.checks.keep(watched)

    def _look(self) -> Board:
        return self.doors.store.board(self.doors.limits())

    def _ended(self, board: Board) -> list[Run]:
        """The runs to close in this turn: validations first and alone, since the whole queue waits for them."""
        held = {attempt.id for attempt in board.attempts}
        runs = [run for run in board.runs.values() if run.pid is not None or run.attempt not in held]
        for validations in (True, False):
            ended = [r for r in runs if (r.kind is RunKind.VALIDATION) is validations and self._has_ended(r, board)]
            if ended:
                return ended
        return []

    def _close(self, run: Run, board: Board) -> bool:
        self.performer.ended(run, board)
        return True

    def _read_news(self, board: Board, events: list[Event]) -> bool:
        events.extend(self.news.read(board))
        return bool(events)

    def _decide(self, board: Board) -> list[Action]:
        haunted = self._haunted(board)
        return [
            action
            for action in (*supervision.plan(board), *reviewer.plan(board), *assigner.plan(board))
            if not (isinstance(action, StartAgent) and action.bead in haunted)
        ]

    def _haunted(self, board: Board) -> set[str]:
        """Beads whose former attempt still has a living process: nobody else may start on them."""
        held = {attempt.id for attempt in board.attempts}
        return {self.doors.store.attempt(run.attempt).bead for run in board.runs.values() if run.attempt not in held}

    def _has_ended(self, run: Run, board: Board) -> bool:
        """Whether the whole tree is dead. What goes on after the run's own end is stopped after a moment."""
        if not self.doors.processes.alive(run):
            return True
        if run.term_at is not None:
            return False
        steps = [STEP] if run.kind is RunKind.AGENT else [c.name for c in self.performer.validation.checks(run.kind)]
        ending = self.doors.processes.ending(os.path.join(self.doors.places.runs, run.id), steps)
        if all(end.code is not None for end in ending.steps):
            since = self._ended_at.setdefault(run.id, board.now)
            if board.now >= since + LINGER_SECONDS:
                self._guarded(partial(self._stop_leftovers, run, board))
        elif run.kind is not RunKind.AGENT and self.checks.is_overdue(run, ending, board.now):
            self._guarded(partial(self._stop_check, run, board))
        return False

    def _stop_check(self, run: Run, board: Board) -> bool:
        return self.performer.perform(Terminate(run.id, Outcome.TIMED_OUT), board)

    def _stop_leftovers(self, run: Run, board: Board) -> bool:
        self.doors.store.update_run(run.id, term_at=board.now)
        self.doors.processes.terminate(run)
        return True

    def _guarded(self, do: Callable[[], bool]) -> bool:
        """Trouble of the machine pauses the daemon and is told once; it never ends it, and nothing is lost."""
        try:
            with storage_errors(self.doors.places.folder):
                return do()
        except Stale:
            return True  # a person took the bead away meanwhile: the next look sees it
        except NobrakesError as error:
            self._trouble_until = self.doors.store.now() + RETRY_SECONDS
            known = self._trouble is not None and str(error) == str(self._trouble)
            self._trouble = error
            if not known:
                pause = isinstance(error, DiskFull | StoreReadOnly)
                word = "Nothing is started until it is mended: " if pause else "Trying again soon: "
                self.doors.notifier.tell(Notice(f"{word}{error} {error.hint}".strip(), urgent=True))
            return False

    def _wake_at(self, board: Board) -> float | None:
        times = [supervision.wake_at(board), board.wake_at]
        times += [since + LINGER_SECONDS for since in self._ended_at.values()]
        times += self.checks.wake_at()
        times += [
            Journal.of(a.data).waiting_until
            for a in board.attempts
            if a.role is Role.REVIEWER and Journal.of(a.data).waiting_until > board.now
        ]
        if self._trouble_until > board.now:
            times.append(self._trouble_until)
        return min((t for t in times if t is not None), default=None)

    def works(self, board: Board) -> bool:
        """Whether any child process is still alive."""
        return any(run.pid is not None and self.doors.processes.alive(run) for run in board.runs.values())

    @property
    def trouble(self) -> NobrakesError | None:
        """What keeps the daemon from working just now; None when nothing does."""
        return self._trouble if self.doors.store.now() < self._trouble_until else None


def is_idle(board: Board) -> bool:
    """Whether nothing is left that this machine could do without a person."""
    if board.attempts or board.runs:
        waits = [Journal.of(a.data).waiting for a in board.attempts if a.role is Role.REVIEWER]
        only_waits = len(waits) == len(board.attempts) and all(waits) and not board.runs
        return only_waits and (not board.ready or board.paused)
    if board.paused or board.stopping:
        return True
    return not (board.ready or board.to_review or board.epics_done or _retries(board))


def _retries(board: Board) -> bool:
    return board.retry_at is not None


def _never(_: Board) -> bool:
    return False


def run(
    daemon: Daemon, waker: Waker, view: View, until_idle: bool, should_end: Callable[[Board], bool] = _never
) -> Board:
    """Turn until told to end, or with `until_idle` until nothing is left to do; the last board.

    With `until_idle`, trouble that only a person can mend is raised once nothing runs any more.
    """
    seen: Board | None = None
    while True:
        turn = daemon.tick(seen)
        seen = turn.board if turn.changed else None
        for event in turn.events:
            view.event(event)
        view.board(turn.board)
        if should_end(turn.board):
            return turn.board
        if turn.changed:
            continue
        trouble = daemon.trouble
        if until_idle and isinstance(trouble, NEEDS_A_PERSON) and not daemon.works(turn.board):
            raise trouble
        if until_idle and is_idle(turn.board) and trouble is None:
            return turn.board
        timeout = None
        if turn.wake_at is not None:
            timeout = max(0.01, turn.wake_at - turn.board.now)
        waker.wait(timeout)
