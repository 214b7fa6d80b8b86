"""The loop: look, decide, do. Everything that takes long is a child process, so a turn is short.

1. A turn looks once, lets the deciders decide, and does what they ask; it is repeated while it changes anything.
2. Between turns the loop sleeps until something wakes it: a child's end, a command, or the next due moment.
3. A daemon that starts takes up what an earlier one left: nothing has to be told to it (`recover`). It begins no turn
   before that is done.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from ..core import assigner, supervision, turns
from ..core.actions import Action, StartAgent, Terminate
from ..core.beads.attempt import Run, RunKind
from ..core.beads.bead import Role
from ..core.beads.events import Event
from ..core.beads.outcomes import Outcome
from ..core.board import Board
from ..core.errors import ConfigError, GitFailed, GitTooOld, NoAgent, NoMain, RefsBroken, StoreReadOnly
from ..core.idle import is_idle
from ..core.limits import caps, cooldowns
from ..core.owners import of_bead, of_part
from ..core.review.journal import Journal
from ..host.files import storage_errors
from ..ports.people import Notice
from ..ports.processes import Remains
from .agent_ends import STEP
from .attempts.end_watch import EndWatch
from .attempts.fetch import Fetches
from .attempts.guard_watch import GuardWatch
from .attempts.metering import Meter
from .attempts.work_watch import WorkWatch
from .background.upkeep import Upkeep
from .checks.overdue import CheckClock
from .clock_jumps import Jumps
from .courier import Courier
from .danger_watch import DangerWatch
from .forge.turn import Forge
from .main_monitor.monitor import MainMonitor
from .main_monitor.rewritten import Rewritten
from .main_monitor.trial import Trial
from .news import News, retiring
from .parking import Unexpected, about, of_run, park, parked, subject
from .perform import Performer
from .ports import Ports
from .recovery import take_up
from .resting import rest, wake_at
from .review.reach import Reach
from .sprints.turn import Sprints
from .troubles import RETRY_SECONDS, WAITED_OUT, Troubles, bearing
from .watchers import View, Waker

LINGER_SECONDS = 1.0
"""A process that lives on so long after its run has ended is stopped."""
CLOSE = "close"
"""Closing a run, to `Troubles`."""
LOOK_ASIDE_SECONDS = 1.0
"""Work beside the loop wakes it when it is done; it is looked at so often in any case."""
NEEDS_A_PERSON = (ConfigError, GitTooOld, NoAgent, NoMain, RefsBroken, StoreReadOnly)
"""Trouble that does not pass by itself: a run that would end when idle ends with it."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What a turn did, when the next one is due without anything happening, and when if no agent says anything."""

    changed: bool
    board: Board
    events: Sequence[Event]
    wake_at: float | None
    due_at: float | None


class Daemon:
    """One daemon over one set of doors. It keeps nothing in memory that a new one would miss."""

    def __init__(self, ports: Ports, tries_main: bool = False) -> None:
        """`tries_main`: before the first agent starts, main has to pass its checks (core.checks.trial)."""
        self.ports = ports
        self.performer = Performer(ports)
        self.courier = Courier(ports)
        self.performer.share.trouble = self.courier.trouble
        self.news = News(ports, self.courier.wanted)
        self.checks = CheckClock(self.performer.validation)
        self.guards = GuardWatch(ports)
        self.intake = Fetches(ports)
        self.performer.endings.refused = self.intake.refused
        self.meter = Meter(ports)
        self.ends = EndWatch(ports)
        self.work = WorkWatch(ports)
        self.danger = DangerWatch(ports)
        self.performer.endings.work, self.work.left = self.work, self.intake.left
        self.reach = Reach(ports)
        self.upkeep = Upkeep(ports)
        self.forge = Forge(ports)
        self.sprints = Sprints(ports)
        self.monitor = MainMonitor(ports, self.performer.validation, self.performer.review.main.queueing.landings)
        self.performer.review.main.judging.watchman = self.monitor.found_red
        self.jumps = Jumps(ports)
        self.rewritten = Rewritten(ports, self.courier.trouble)
        self.trial = Trial(ports, self.performer.validation, self.monitor) if tries_main else None
        self._ended_at: dict[str, float] = {}
        self.troubles = Troubles(ports, self.courier)

    def recover(self) -> None:
        """Make good what a killed daemon left half done; the turns then take up the rest."""
        take_up(self.ports, self._look())

    def tick(self, seen: Board | None = None) -> Turn:
        """One turn. `seen`: the board of the turn that has just ended, when nothing was waited for since."""
        board = seen or self._look()
        changed = False
        ended = self._ended(board)
        if ended:
            self.ports.store.doubt()  # each may have spoken just before it died
        guarded = self.troubles.guarded
        for run_id, error in self.ports.channel.failed().items():
            changed |= guarded(partial(_raised, error), partial(of_run, self.ports, run_id))
        guarded(partial(self.danger.look, board, {run.id for run in ended}))
        for run in ended:
            changed |= guarded(partial(self._close, run, board), of_run(self.ports, run.id), CLOSE)
        if ended:
            board = self._look()
        watched = guarded(partial(self._watch_guards, self.intake.without_dead(board)))
        if guarded(partial(self.meter.look, self.intake.without_dead(board))) or watched:
            changed, board = True, self._look()
        guarded(partial(self.work.look, self.intake.without_dead(board)), of_part("the watch over agents' work"))
        if board.now >= self.troubles.until:
            parts = {
                "planning": self.forge.turn,
                "sprints": self.sprints.turn,
                "the review": self.performer.review.turn,
            }
            if sum(guarded(partial(turn, board), of_part(name)) for name, turn in parts.items()):  # each has its turn
                changed, board = True, self._look()
            for action in self._decide(board):
                do = partial(self.performer.perform, action, board)
                changed |= guarded(do, subject(self.ports, action, board), type(action).__name__)
            changed |= guarded(partial(self.monitor.turn, board), of_part("the monitor of main"))
            guarded(self.rewritten.look)
            if board.now >= self.troubles.until:
                self.troubles.mended()
        events: list[Event] = []
        if not changed or board.stopping:
            # what is told and tidied up may wait until everybody has work
            guarded(partial(self._read_news, board, events))
            guarded(self.performer.validation.scratch.settle)
            settles = {
                "relay sessions": self.performer.settle_relays,
                "the ends of reviews": self.performer.review.settle,
            }
            for name, tidy in {"notices": self.courier.turn, **settles, "tidying up": self.upkeep.turn}.items():
                guarded(partial(tidy, board), of_part(name))
            self.ports.export()
        board = self._look() if changed else board
        self._forget(board)
        due_at = self._due_at(board)
        return Turn(changed or bool(events), board, events, wake_at(due_at, self.meter), due_at)

    def _forget(self, board: Board) -> None:
        """Drop what is remembered of runs that are gone or being stopped: it would wake the loop for nothing."""
        watched, known = {run.id for run in board.all_runs if run.term_at is None}, {run.id for run in board.all_runs}
        self._ended_at = {run: since for run, since in self._ended_at.items() if run in watched}
        for living in (self.checks, self.guards, self.meter, self.ends):
            living.keep(watched)
        for each in (self.intake, self.work, self.danger):
            each.keep(known)

    def _look(self) -> Board:
        self.ports.store.doubt()
        if jump := self.jumps.settle():
            self._measure_anew(jump)
        self.performer.validation.look_again()
        limits = self.ports.limits()
        if self.trial is not None:
            limits = replace(limits, starts=self.trial.starts())
        board = self.forge.seen(self.performer.seen(self.reach.seen(self.ports.store.board(limits))))
        providers = {name: self._provider(name) for name in board.limits.agent_choice.names()}
        room = self.performer.share.room(board)
        board = replace(board, providers=providers, contexts=self.meter.contexts(board), machine=room)
        finished = self.ends.finished(self.intake.without_dead(board))
        return self.work.seen(replace(board, finished=finished))

    def _measure_anew(self, jump: float) -> None:
        """What is remembered by the clock is forgotten, as by a new daemon."""
        self._ended_at = {}
        self.troubles.measure_anew()
        for watch in (self.checks, self.meter, self.ends, self.work):
            watch.keep(set())
        self.performer.measure_anew()
        self.monitor.measure_anew(jump)
        self.courier.measure_anew()

    def _provider(self, agent: str) -> str:
        try:
            return self.ports.adapter(agent).provider
        except NoAgent:
            return ""  # whoever is to start it says so

    def _ended(self, board: Board) -> list[Run]:
        """The runs to close in this turn: validations first and alone, since the whole queue waits for them."""
        runs = [run for run in board.all_runs if run.pid is not None or board.work_of(run) is None]
        self.intake.unseen = set()
        for validations in (True, False):
            some = (run for run in runs if (run.kind is RunKind.VALIDATION) is validations)
            if ended := [run for run in some if self._is_over(run, board)]:
                self.intake.unseen = {run.id for run in runs if validations and run.kind is not RunKind.VALIDATION}
                return ended
        return []

    def _is_over(self, run: Run, board: Board) -> bool:
        """Whether the run's whole tree is dead, what it left is taken in, and it is not to be closed later."""
        try:
            if self.troubles.are_some and self.troubles.holds(of_run(self.ports, run.id), CLOSE):
                return False
            with about(self.ports, partial(of_run, self.ports, run.id)):
                return (run.id in self.intake.begun or self._has_ended(run, board)) and self.intake.is_over(run)
        except Unexpected as met:
            self._let_go(run, met)
            return False

    def _close(self, run: Run, board: Board) -> bool:
        try:
            with about(self.ports, partial(of_run, self.ports, run.id)):
                self.performer.ended(run, board)
        except Unexpected as met:
            self._let_go(run, met)
        return True

    def _let_go(self, run: Run, met: Unexpected) -> None:
        """Park whom it is about, and forget the run if that is who it served: the same would be met again."""
        park(self.ports, met)
        if met.owner == of_run(self.ports, run.id):
            with suppress(Unexpected), about(self.ports, met.owner):
                self.ports.processes.kill(run)
                self.ports.store.end_run(run.id)  # else it stays known: nothing lives on without a trace

    def _read_news(self, board: Board, events: list[Event]) -> bool:
        events.extend(self.news.read(board))
        return bool(events)

    def _decide(self, board: Board) -> list[Action]:
        haunted = self._haunted(board)
        return [
            action
            for action in (
                *supervision.plan(board, self.intake.excused),
                *assigner.reviews(board),
                *assigner.plan(board),
            )
            if not (isinstance(action, StartAgent) and action.bead in haunted)
        ]

    def _haunted(self, board: Board) -> set[str]:
        """Beads whose former attempt still has a living process or a clone that is being archived."""
        held = {attempt.id for attempt in board.attempts}
        former = {self.ports.store.attempt(run.attempt).bead for run in board.runs.values() if run.attempt not in held}
        return former | {bead.id for bead in board.ready if self.ports.background.busy(retiring(bead.id))}

    def _has_ended(self, run: Run, board: Board) -> bool:
        """Whether the whole tree is dead. What goes on after the run's own end is stopped after a moment."""
        is_agent, now = run.kind is RunKind.AGENT, board.now
        folder = os.path.join(self.ports.paths.runs, run.id)
        steps = [STEP] if is_agent else self.performer.validation.steps(run)
        remains = self.ports.processes.remains(run, folder, steps)
        if remains is Remains.NOTHING:
            return True
        if run.term_at is not None:
            return False
        # a check is its exit code, which nobody would see; an agent without its wrapper may finish: what it does is in
        # its tree, and what it says in its output
        if remains is Remains.REST or (remains is Remains.STEP and not is_agent):
            if now >= self._ended_at.setdefault(run.id, now) + LINGER_SECONDS:
                self.troubles.guarded(partial(self._stop_leftovers, run, steps, board))
        elif not is_agent and self.checks.is_overdue(run, partial(self.ports.processes.ending, folder, steps), now):
            self.troubles.guarded(partial(self._stop_check, run, board))
        return False

    def _watch_guards(self, board: Board) -> bool:
        changed = False
        for action in self.guards.plan(board):
            changed |= self.performer.perform(action, board)
        return changed

    def _stop_check(self, run: Run, board: Board) -> bool:
        return self.performer.perform(Terminate(run.id, Outcome.TIMED_OUT), board)

    def _stop_leftovers(self, run: Run, steps: list[str], board: Board) -> bool:
        self.ports.store.update_run(run.id, term_at=board.now)
        if self.ports.processes.ending(os.path.join(self.ports.paths.runs, run.id), steps).cut_off:
            text = f"run {run.id}: what ran it was killed, and what it left running is ended"
            self.ports.notifier.tell(Notice(text, urgent=True))
        self.ports.processes.terminate(run)
        return True

    def _due_at(self, board: Board) -> float | None:
        times = [supervision.wake_at(board, self.intake.begun), board.wake_at]
        times += [turns.wake_at(board), self.courier.wake_at(board.now)]
        if board.ready or board.sessions:
            times += [cooldowns.wake_at(board.gates, board.agents, board.now)]
            times += [caps.wake_at(board.limits.caps, board.spent, board.now)]
        times += [*self.performer.wake_at(board), *self.rewritten.wake_at(board.now)]
        times += [since + LINGER_SECONDS for since in self._ended_at.values()]
        times += self.forge.wake_at() + self.work.wake_at() + self.sprints.wake_at(board.now)
        times += self.checks.wake_at() + self.guards.wake_at(board.now) + self.monitor.wake_at()
        times += [
            Journal.of(a.data).waiting_until
            for a in board.attempts
            if a.role is Role.REVIEWER and Journal.of(a.data).waiting_until > board.now
        ]
        times += self.troubles.wake_at()
        if not self.ports.background.is_empty():
            times.append(board.now + LOOK_ASIDE_SECONDS)
        return min((t for t in times if t is not None), default=None)

    def finish(self, waker: Waker) -> None:
        """A run has nothing left to do: a last look at checkouts, and notices that are due get a bounded chance."""
        self.troubles.guarded(self.rewritten.look)
        self.troubles.guarded(partial(self.courier.finish, self._look, waker.wait))

    def works(self, board: Board) -> bool:
        """Whether any child process is still alive, or main is being looked at."""
        runs = board.all_runs
        return self.monitor.is_at_work() or any(r.pid is not None and self.ports.processes.alive(r) for r in runs)


def _raised(error: Exception) -> bool:
    raise error


def recover(daemon: Daemon, waker: Waker, met: Callable[[], None], should_end: Callable[[], bool]) -> bool:
    """Take up what an earlier daemon left, once nothing of the machine or of git is in the way; False: told to end.

    What is in the way is told and waited out as in a turn; `met` is called then.
    """
    while not should_end():
        try:
            with storage_errors(daemon.ports.paths.folder):
                daemon.recover()
        except (*WAITED_OUT, GitFailed) as error:
            daemon.troubles.pause(error)
            met()
            waker.wait(RETRY_SECONDS)
        else:
            return True
    return False


def run(
    daemon: Daemon, waker: Waker, view: View, until_idle: bool, should_end: Callable[[Board], bool] = lambda _: False
) -> Board:
    """Turn until told to end, or with `until_idle` until nothing is left to do; the last board.

    With `until_idle`, trouble that only a person can mend is raised once nothing runs any more.
    """
    seen: Board | None = None
    background = daemon.ports.background
    background.wakes(waker.set)
    daemon.ports.channels.wakes(waker.set)
    folder = daemon.ports.paths.folder
    while True:
        try:
            with storage_errors(folder):
                turn = daemon.tick(seen)
                seen = turn.board if turn.changed else None
                is_over = should_end(turn.board)
        except WAITED_OUT as error:
            seen = None
            daemon.troubles.pause(error)
            waker.wait(RETRY_SECONDS)
            continue
        with bearing(folder):
            for event in turn.events:
                with parked(daemon.ports, of_bead(event.bead) if event.bead else ""):
                    view.event(event)
            view.board(turn.board)
        if is_over:
            return turn.board
        if turn.changed:
            continue
        trouble = daemon.troubles.present
        if until_idle and isinstance(trouble, NEEDS_A_PERSON) and not daemon.works(turn.board):
            raise trouble
        rests = until_idle and is_idle(turn.board) and trouble is None and background.is_empty()
        if rests and not daemon.works(turn.board):
            daemon.finish(waker)
            return turn.board
        rest(waker, (daemon.meter, daemon.ends), turn.board.now, turn.due_at, daemon.ports.store.now)
