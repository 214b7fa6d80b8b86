"""The loop: look, decide, do. Everything slow is a child process, so a turn is short.

1. A turn looks once and does what the deciders ask; it is repeated while anything changes.
2. Between turns the loop sleeps until a child's end, a command, or the next due moment.
3. A new daemon first takes up what an earlier one left, from the store alone (`recover`).
"""

import json
import os
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

from ... import errors
from ...agents import limits
from ...agents.worker import launch
from ...agents.worker.exit import Fetches
from ...agents.worker.launch import GuardWatch
from ...agents.worker.process import STEP, Definitions
from ...agents.worker.watch import DangerWatch, EndWatch, Meter, WorkWatch
from ...beads.model import (
    Attempt,
    Outcome,
    Role,
    Run,
    RunKind,
    bead_owner,
    called,
    is_part,
    owners_bead_of,
    part_owner,
    session_owner,
)
from ...checks.contract import CheckResult, Verdict
from ...checks.worker.validation import CheckClock
from ...decisions.model import Escalation, EscalationType, NewEscalation
from ...events.kinds import Event
from ...files import storage_errors
from ...host.port import Notice, Remains
from ...notices.worker import EventConsumer, NotificationSender, retiring
from ...parking import Owner, Unexpected, about, owner_of, park, parked, run_owner
from ...ports import Ports
from ...projects.worker import Sprints
from ...records import frozen
from ...requests.worker.epics import Reach
from ...review.journal import Journal
from ...review.waits import PASSES, WAITS, cause_of
from ...review.worker.main_checks import MainMonitor, Rewritten, Trial
from ...sessions.model import Talk
from ...sessions.worker import folder_of
from .. import deciders, model
from ..deciders import is_idle, look_again
from ..service import control
from .perform import Performer
from .recovery import Upkeep, restore, take_up

if TYPE_CHECKING:
    from ...features.worker.forge import Forge
    from ...requests.worker.issues import IssueSync

RETRY_SECONDS = 15.0
"""Seconds to the next try on a full disk or failing git."""
WAITED_OUT = (errors.DiskFull, errors.GitUnusable, errors.MachineShort, errors.NoAnswer, errors.StoreBusy)
"""Passing troubles that may meet the loop; they never end it."""


@dataclass(slots=True)
class _Alone:
    """Git fails for one owner's action: since when, next try, message."""

    since: float
    until: float
    error: errors.NobrakesError | None = None


# What the machine lacks, and what git or a person has in the way, pauses the daemon and is told once; what lasts is
# asked about, whatever it is and wherever it is met. Where git fails for one bead or session that one waits, less and
# less often, and is parked after PASSES. What nobody expected parks its bead or session, makes a part wait, or, about
# nobody, ends the daemon.
class Troubles:
    """Present troubles."""

    def __init__(self, ports: Ports, sender: NotificationSender) -> None:
        self.ports = ports
        self.sender = sender
        self.until = 0.0
        self._met: errors.NobrakesError | None = None
        self._since = 0.0
        self._noted: str | None = "of an earlier daemon"
        self.alone: dict[tuple[str, str], _Alone] = {}

    def guarded(self, do: Callable[[], bool], owner: Owner = "", what: str = "") -> bool:
        """Do it for this owner (beads.model); an error ends only this, and loses nothing."""
        named = owner if isinstance(owner, str) else ""
        if self.holds(named, what):
            return False
        try:
            with storage_errors(self.ports.paths.folder), about(self.ports, owner):
                done = do()
                self.alone.pop((named, what), None)
                return done
        except errors.Stale:
            return True  # a person took the bead away meanwhile: the next look sees it
        except errors.RepositoryReplaced:
            raise
        except errors.GitFailed as error:
            if named and not is_part(named) and self._git_works():
                with suppress(errors.NobrakesError):  # it may be what failed, and is tried again with this
                    restore(self.ports, in_depth=True)
                return self._fails(named, what, error)
            self.pause(error)
            return False
        except errors.NobrakesError as error:
            self.pause(error)
            return False
        except Unexpected as met:
            if is_part(met.owner):
                self._wait(named, what)
            return self.guarded(partial(park, self.ports, met))

    def holds(self, owner: str, what: str) -> bool:
        waits = self.alone.get((owner, what))
        return waits is not None and self.ports.store.now() < waits.until

    def _git_works(self) -> bool:
        with suppress(errors.NobrakesError):
            self.ports.git.kept()
            return True
        return False

    def _fails(self, owner: str, what: str, error: errors.GitFailed) -> bool:
        now = self.ports.store.now()
        waits = self.alone.setdefault((owner, what), _Alone(now, now))
        if now >= waits.since + PASSES:
            del self.alone[owner, what]
            met = Unexpected(owner)
            met.__cause__ = error
            return self.guarded(partial(park, self.ports, met))
        if waits.since == now:
            text = f"{called(owner)} failed; nobrakes tries again soon, and other work continues: {error}"
            self.ports.notifier.tell(Notice(text, owners_bead_of(owner), urgent=True))
        waits.error = error
        self._wait(owner, what)
        return False

    def _wait(self, owner: str, what: str) -> None:
        now = self.ports.store.now()
        waits = self.alone.setdefault((owner, what), _Alone(now, now))
        waits.until = now + look_again(waits.since, now, RETRY_SECONDS)

    def wake_at(self) -> list[float]:
        now = self.ports.store.now()
        return [moment for moment in (self.until, *(one.until for one in self.alone.values())) if moment > now]

    def pause(self, error: errors.NobrakesError) -> None:
        """Pause for it, and report a new trouble."""
        now = self.ports.store.now()
        self.until = now + RETRY_SECONDS
        known = self._met is not None and str(error) == str(self._met)
        if self._met is None:
            self._since = now
        self._met = error
        if not known:
            stops = isinstance(
                error,
                errors.DiskFull | errors.GitUnusable | errors.MachineShort | errors.RefsBroken | errors.StoreReadOnly,
            )
            word = "No work starts until you fix this problem: " if stops else "nobrakes tries again soon: "
            with bearing(self.ports.paths.folder):
                self.ports.notifier.tell(Notice(f"{word}{error.whole}", urgent=True))
                self.sender.trouble(f"{word}{error.whole}", stops)
        with bearing(self.ports.paths.folder):
            self._note(error, "", self._since)

    def settle(self, now: float) -> bool:
        """Record for `status` what waits alone, or that nothing blocks."""
        if now < self.until:
            return False
        self._met = None  # should it come back, it is told again
        for (owner, _), alone in self.alone.items():
            if alone.error is not None and now < alone.until + PASSES:  # else nobody tries it any more
                self._note(alone.error, f"{called(owner)} waits: ", alone.since)
                return False
        if self._noted is not None:
            self.ports.store.set_setting(control.TROUBLE, None)
            for one in self._asked():
                if one.resolved_at is None:
                    self.ports.store.resolve(one.id, "the problem is fixed", "nobrakes")
            self._noted = None
        return False

    def _note(self, error: errors.NobrakesError, whose: str, since: float) -> None:
        """Ask a person once about lasting trouble; an answer restarts its time."""
        store, what = self.ports.store, f"{whose}{error.whole}"
        if self._noted != what:
            store.set_setting(control.TROUBLE, what)
            self._noted = what
        is_away = isinstance(error, errors.ObjectsAway)
        passes = WAITS[cause_of(error.said, is_push=False)].passes if isinstance(error, errors.ObjectsAway) else PASSES
        if store.now() < since + passes or (whose and not is_away):  # that is parked, which asks
            return
        if all(one.resolved_at is not None and store.now() >= one.resolved_at + passes for one in self._asked()):
            detail = (
                f"{error.hint}\n\nUntil then nobrakes pauses work that meets this problem, and counts no failure. "
                "nobrakes tries again automatically, and withdraws this question when the problem is fixed."
            )
            new = NewEscalation(EscalationType.BROKEN_ENVIRONMENT, str(error), detail, {control.TROUBLE: True})
            store.escalate(new, None, None, "nobrakes")

    def _asked(self) -> list[Escalation]:
        return [one for one in self.ports.store.escalations(open_only=False) if control.TROUBLE in one.evidence]

    def measure_again(self) -> None:
        self.until, self._since, self.alone = 0.0, self.ports.store.now(), {}

    @property
    def present(self) -> errors.NobrakesError | None:
        """Why the daemon cannot work now."""
        return self._met if self.ports.store.now() < self.until else None


@contextmanager
def bearing(folder: str) -> Iterator[None]:
    with suppress(*WAITED_OUT, errors.StoreReadOnly), storage_errors(folder):
        yield


class Waker(Protocol):
    """What the loop sleeps on."""

    def wait(self, timeout: float | None) -> bool:
        """True: something happened; False: timeout."""

    def set(self) -> None:
        """Callable from any thread."""

    def taken(self) -> Set[str] | None:
        """The runs that may have changed since the last call; None: any."""


class View(Protocol):
    """Watches a run."""

    def event(self, event: Event) -> None: ...

    def board(self, board: model.Board) -> None: ...


def wake_at(due_at: float | None, *looks: Meter | EndWatch | Definitions) -> float | None:
    """When something is due, or an agent is polled; None: never."""
    times = (due_at, *(at for look in looks for at in look.wake_at()))
    return min((at for at in times if at is not None), default=None)


def rest(
    waker: Waker,
    looks: Sequence[Meter | EndWatch | Definitions],
    since: float,
    due_at: float | None,
    clock: Callable[[], float],
) -> None:
    """Sleep until an event, a due time, or an agent's output. A clock set back counts as due."""
    now = since
    while True:
        until = wake_at(due_at, *looks)
        if waker.wait(None if until is None else max(0.01, until - now)):
            return
        now = clock()
        if now < since or (due_at is not None and now >= due_at) or not all(_is_silent(look, now) for look in looks):
            return


def _is_silent(look: Meter | EndWatch | Definitions, now: float) -> bool:
    try:
        return look.is_silent(now)
    except Exception:
        return False  # the turn meets it again, and there it is dealt with


KEPT = "clock"
"""The setting: the boot, and the wall clock's offset from the steady one."""

JUMP = 2.0
"""Seconds; smaller offsets are slow corrections."""


# A clock that jumps counts against nobody: how far it stands from one that goes on while the machine is awake is kept
# for each boot, and measured times (limits, silence, stops, leases, patience, minutes) are moved along. What is counted
# by the clock is counted again where it went back. What a person named (defer) stays, and what waits for a moment is
# moved only with a clock that went back.
class Jumps:
    """Detects jumps of the clock, also while no daemon worked."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._kept: tuple[str, float] | None = None

    def settle(self) -> float:
        """Move measured times; returns the jump in seconds since the last look."""
        if (steady := self.ports.steady()) is None:
            return 0.0
        boot, seconds = steady
        store = self.ports.store
        apart = store.now() - seconds
        before = self._kept or _read(store.setting(KEPT))
        jump = apart - before[1] if before is not None and before[0] == boot else 0.0
        if before is None or before[0] != boot or abs(jump) >= JUMP:
            with store.write():
                if before is not None:  # over a restart of the machine nobody knows how far it jumped
                    self._move(jump)
                store.set_setting(KEPT, json.dumps([boot, apart]))
            before = (boot, apart)
        else:
            jump = 0.0
        self._kept = before
        if jump:
            text = f"the clock jumped by {jump / 60:+.0f} min (set, or the machine slept): time limits ignore the jump"
            self.ports.notifier.tell(Notice(text))
        return jump

    def _move(self, jump: float) -> None:
        store = self.ports.store
        store.move_times(jump)
        for review in store.reviewing():
            store.journal(review.id, _moved(review, jump).as_data())


def _read(text: str | None) -> tuple[str, float] | None:
    boot, apart = json.loads(text) if text else ("", 0.0)
    return (str(boot), float(apart)) if text else None


def _moved(review: Attempt, jump: float) -> Journal:
    journal = Journal.of(review.data)
    waiting, passing = journal.merging.waiting_since, journal.merging.passing_since
    return journal.with_values(
        waiting_until=max(0.0, journal.merging.waiting_until + min(jump, 0.0)),
        waiting_since=waiting and waiting + jump,
        passing_since=passing and passing + jump,
    )


ASK_SECONDS = 5.0
"""Seconds after which a run is asked whether it lives, though nothing told of a change."""


class Asks:
    """When runs are asked whether they live: if something told of a change, and otherwise now and then."""

    def __init__(self) -> None:
        self.at: dict[str, float] = {}  # by run
        self._asked: set[str] = set()

    def hear(self, signs: Set[str] | None) -> None:
        """These may have changed; None: any."""
        for run in [*self.at] if signs is None else signs:
            self.at.pop(run, None)

    def due(self, board: model.Board) -> list[Run]:
        """Those to ask in this turn."""
        at, now = self.at, board.now
        runs = [run for run in board.all_runs if run.term_at is not None or at.get(run.id, now) <= now]
        runs = [run for run in runs if run.pid is not None or board.work_of(run) is None]
        self._asked = {run.id for run in runs}
        return runs

    def before(self, do: Callable[[model.Action, model.Board], bool], action: model.Action, board: model.Board) -> bool:
        """Do it, but ask a run first, in the next turn, that it would end: how it ended by itself counts."""
        if not isinstance(action, model.Terminate) or action.run in self._asked:
            return do(action, board)
        self.at.pop(action.run, None)
        return True


LINGER_SECONDS = 1.0
"""Seconds that a process may outlive its run's end."""
CLOSE = "close"
RECHECK_SECONDS = 1.0
NEEDS_A_PERSON = (
    errors.ConfigError,
    errors.GitTooOld,
    errors.GitUnusable,
    errors.NoAgent,
    errors.NoMain,
    errors.RefsBroken,
    errors.StoreReadOnly,
)
"""Lasting troubles: a run until idle ends with them."""


@frozen
class Turn:
    """A turn's result, the next due time, and the next if agents stay silent."""

    changed: bool
    board: model.Board
    events: Sequence[Event]
    wake_at: float | None
    due_at: float | None


class Daemon:
    """One daemon over one set of ports. It holds nothing in memory that a new one would miss."""

    def __init__(self, ports: Ports, tries_main: bool = False) -> None:
        """`tries_main`: main has to pass before the first agent (checks.proof)."""
        self.ports = ports
        self._no_nodes: str | None = None
        self.sender = NotificationSender(ports)
        self.fetches = Fetches(ports)
        self.work = WorkWatch(ports, self.fetches.left)
        self.performer = Performer(ports, self.sender.trouble, self.fetches.refused, self.work, self._found_red)
        self.consumer = EventConsumer(ports, self.sender.wanted)
        self.checks = CheckClock(self.performer.validation)
        self.guards = GuardWatch(ports)
        self.meter = Meter(ports)
        self.ends = EndWatch(ports)
        self.danger = DangerWatch(ports, folder_of)
        self.definitions = Definitions(ports)
        self.reach = Reach(ports)
        self.upkeep = Upkeep(ports)
        self.sprints = Sprints(ports)
        self._issues: IssueSync | None = None
        self._forge: Forge | None = None
        landings = self.performer.review.main.review_steps.landings
        self.monitor = MainMonitor(ports, self.performer.validation, landings, self._heard)
        self.jumps = Jumps(ports)
        self.rewritten = Rewritten(ports, self.sender.trouble)
        self.trial = Trial(ports, self.performer.validation, self.monitor) if tries_main else None
        self._ended_at: dict[str, float] = {}
        self.asks = Asks()
        self.troubles = Troubles(ports, self.sender)

    @property
    def forge(self) -> "Forge":
        """Loaded with the first feature or complete epic: few repositories have one."""
        from ...features.worker.forge import Forge

        self._forge = self._forge or Forge(self.ports, self.sprints.covers)
        return self._forge

    def _plan_features(self, board: model.Board) -> bool:
        features = self.ports.store.features()
        return bool(features or self._forge) and self.forge.turn(board, features)

    def _sync_issues(self, board: model.Board) -> bool:
        """Loaded once the settings say how often: few repositories do."""
        if self._issues is None and self.ports.config().issues.minutes:
            from ...requests.worker.issues import IssueSync

            self._issues = IssueSync(self.ports)
        return self._issues is not None and self._issues.turn(board)

    def _found_red(self, results: Sequence[CheckResult]) -> None:
        self.monitor.found_red(results)  # which is made of parts of the performer, who tells it

    def _heard(self, tip: str, results: Sequence[CheckResult], seen: Verdict) -> None:
        if self.trial is not None:
            self.trial.heard(tip, results, seen)

    def recover(self) -> None:
        take_up(self.ports, self._look())

    def tick(self, seen: model.Board | None = None, signs: Set[str] | None = None) -> Turn:
        """One turn. `seen`: the board of a turn that just ended. `signs`: runs that may have changed; None: any."""
        board = seen or self._look()
        self.asks.hear(signs)
        changed = False
        guarded = self.troubles.guarded
        if guarded(partial(self.definitions.look, board)):
            board = self._look()
        ended, failed = self._ended(board)
        for run, met in failed:
            guarded(partial(self._let_go, run, met))
        if ended:
            self.ports.store.doubt()  # each may have spoken just before it died
        for run_id, error in self.ports.channel.failed().items():
            changed |= guarded(partial(_raised, error), partial(run_owner, self.ports, run_id))
        guarded(partial(self.danger.look, board, {run.id for run in ended}))
        for run in ended:
            changed |= guarded(partial(self._close, run, board), run_owner(self.ports, run.id), CLOSE)
        if ended or failed:
            board = self._look()
        watched = guarded(partial(self._watch_guards, self.fetches.without_dead(board)))
        if guarded(partial(self.meter.look, self.fetches.without_dead(board))) or watched:
            changed, board = True, self._look()
        guarded(partial(self.work.look, self.fetches.without_dead(board)), part_owner("the watch over agents' work"))
        if begun := board.now >= self.troubles.until:
            parts = {
                "planning": self._plan_features,
                "sprints": self.sprints.turn,
                "the review": self.performer.review.turn,
            }
            if sum(guarded(partial(turn, board), part_owner(name)) for name, turn in parts.items()):  # each in turn
                changed, board = True, self._look()
            for action in self._decide(board):
                do = partial(self.asks.before, self.performer.perform, action, board)
                changed |= guarded(do, _subject(self.ports, action, board), type(action).__name__)
            changed |= guarded(partial(self.monitor.turn, board), part_owner("the monitor of main"))
        guarded(self.rewritten.look)  # in a pause as well: the end of a run may have moved main
        events: list[Event] = []
        if not changed or board.stopping:
            # what is told and tidied up may wait until everybody has work
            guarded(partial(self._consume_events, board, events))
            guarded(self.performer.validation.scratch.settle)
            settles = {
                "relay sessions": self.performer.finish_relays,
                "the ends of reviews": self.performer.review.settle,
            }
            for name, tidy in {"notices": self.sender.turn, **settles, "tidying up": self.upkeep.turn}.items():
                guarded(partial(tidy, board), part_owner(name))
            changed |= guarded(partial(self._sync_issues, board), part_owner("issues"))
            if self.ports.states is not None:
                guarded(partial(self.ports.states.turn, board), part_owner("takeover"))
            self.ports.export()
            if begun:
                guarded(partial(self.troubles.settle, board.now))
        board = self._look() if changed else board
        self._forget(board)
        due_at = self._due_at(board)
        return Turn(changed or bool(events), board, events, wake_at(due_at, self.meter), due_at)

    def _forget(self, board: model.Board) -> None:
        watched, known = {run.id for run in board.all_runs if run.term_at is None}, {run.id for run in board.all_runs}
        for times in (self._ended_at, self.asks.at):
            for run in times.keys() - watched:
                del times[run]
        for living in (self.checks, self.guards, self.meter, self.ends):
            living.keep(watched)
        for each in (self.fetches, self.work, self.danger):
            each.keep(known)

    def _look(self) -> model.Board:
        self.ports.store.doubt()
        if jump := self.jumps.settle():
            self._ended_at = {}
            self.asks.hear(None)
            self.troubles.measure_again()
            for watch in (self.checks, self.meter, self.ends, self.work):
                watch.keep(set())
            self.performer.measure_again()
            self.monitor.measure_again(jump)
            self.sender.measure_again()
        self.performer.validation.look_again()
        limits = self.ports.limits()
        if self.trial is not None:
            limits = replace(limits, starts=self.trial.starts())
        board = self._on_nodes(self.ports.store.board(limits))
        board = self.performer.seen(self.reach.seen(board))
        board = self.forge.seen(board) if board.epics_done else board
        providers = {name: self._provider(name) for name in board.limits.agent_choice.names()}
        agents, roles = self.ports.config().agents, deciders.ROLE_FOR.values()
        models = {(name, role.value): agents.model_of(name, role.value) for name in providers for role in roles}
        room = self.performer.share.room(board)
        board = replace(board, providers=providers, models=models, contexts=self.meter.contexts(board), machine=room)
        return self.work.seen(replace(board, finished=self.ends.finished(self.fetches.without_dead(board))))

    def _on_nodes(self, board: model.Board) -> model.Board:
        """The board by the nodes; tells people when they take no work any more."""
        board = self.ports.on_nodes(board)
        why = board.no_nodes.what if board.no_nodes else None
        if why != self._no_nodes:  # else what is told would be found again at every turn
            self._no_nodes = why
            launch.tell(self.ports)
        return board

    def _provider(self, agent: str) -> str:
        try:
            return self.ports.adapter(agent).provider
        except errors.NoAgent:
            return ""  # whoever is to start it says so

    def _ended(self, board: model.Board) -> tuple[list[Run], list[tuple[Run, Unexpected]]]:
        failed: list[tuple[Run, Unexpected]] = []
        runs = self.asks.due(board)
        self.fetches.unseen = set()
        for validations in (True, False):
            some = (run for run in runs if (run.kind is RunKind.VALIDATION) is validations)
            if ended := [run for run in some if self._is_over(run, board, failed)]:
                self.fetches.unseen = {run.id for run in runs if validations and run.kind is not RunKind.VALIDATION}
                return ended, failed
        return [], failed

    def _is_over(self, run: Run, board: model.Board, failed: list[tuple[Run, Unexpected]]) -> bool:
        try:
            if self.troubles.alone and self.troubles.holds(run_owner(self.ports, run.id), CLOSE):
                return False
            with about(self.ports, partial(run_owner, self.ports, run.id)):
                return (run.id in self.fetches.begun or self._has_ended(run, board)) and self.fetches.is_over(run)
        except Unexpected as met:
            failed.append((run, met))
            return False

    def _close(self, run: Run, board: model.Board) -> bool:
        try:
            with about(self.ports, partial(run_owner, self.ports, run.id)):
                self.performer.ended(run, board)
        except Unexpected as met:
            return self._let_go(run, met)
        return True

    def _let_go(self, run: Run, met: Unexpected) -> bool:
        park(self.ports, met)
        if met.owner == run_owner(self.ports, run.id):
            with suppress(Unexpected), about(self.ports, met.owner):
                self.ports.processes.kill(run)
                self.ports.store.end_run(run.id)  # else it stays known: nothing lives on without a trace
        return True

    def _consume_events(self, board: model.Board, events: list[Event]) -> bool:
        events.extend(self.consumer.read(board))
        return bool(events)

    def _decide(self, board: model.Board) -> list[model.Action]:
        with_leftovers = self._with_leftovers(board)
        return [
            action
            for action in (
                *deciders.plan_supervision(board, self.fetches.exempt),
                *deciders.reviews(board),
                *deciders.plan_assignments(board),
            )
            if not (isinstance(action, model.StartAgent) and action.bead in with_leftovers)
        ]

    def _with_leftovers(self, board: model.Board) -> set[str]:
        """Beads whose former attempt still lives or whose clone is being archived."""
        held = {attempt.id for attempt in board.attempts}
        former = {self.ports.store.attempt(run.attempt).bead for run in board.runs.values() if run.attempt not in held}
        return former | {bead.id for bead in board.ready if self.ports.background.busy(retiring(bead.id))}

    def _has_ended(self, run: Run, board: model.Board) -> bool:
        """Whether the tree is dead; processes that outlive their run are stopped soon."""
        is_agent, now = run.kind is RunKind.AGENT, board.now
        folder = os.path.join(self.ports.paths.runs, run.id)
        steps = [STEP] if is_agent else self.performer.validation.steps(run)
        self.asks.at.pop(run.id, None)
        if (remains := self.ports.processes.remains(run, folder, steps)) is Remains.NOTHING:
            return True
        if run.term_at is not None:
            return False
        # a check is its exit code, which nobody would see; an agent without its wrapper may finish: what it does is in
        # its tree, and what it says in its output
        if remains is Remains.REST or (remains is Remains.STEP and not is_agent):
            if now >= self._ended_at.setdefault(run.id, now) + LINGER_SECONDS:
                self.troubles.guarded(partial(self._stop_leftovers, run, steps, board))
        elif not is_agent and self.checks.is_overdue(run, partial(self.ports.processes.ending, folder, steps), now):
            self.troubles.guarded(partial(self.performer.perform, model.Terminate(run.id, Outcome.TIMED_OUT), board))
        elif remains is Remains.WHOLE:
            self.asks.at[run.id] = min([now + ASK_SECONDS, *(() if is_agent else self.checks.due(run.id))])
        return False

    def _watch_guards(self, board: model.Board) -> bool:
        changed = False
        for action in self.guards.plan(board):
            changed |= self.asks.before(self.performer.perform, action, board)
        return changed

    def _stop_leftovers(self, run: Run, steps: list[str], board: model.Board) -> bool:
        self.ports.store.update_run(run.id, term_at=board.now)
        if self.ports.processes.ending(os.path.join(self.ports.paths.runs, run.id), steps).cut_off:
            text = f"run {run.id}: its supervisor was killed; nobrakes ended the leftover processes"
            self.ports.notifier.tell(Notice(text, urgent=True))
        self.ports.processes.terminate(run)
        return True

    def _due_at(self, board: model.Board) -> float | None:
        times = [deciders.wake_at(board, self.fetches.begun), board.wake_at]
        times += [deciders.turns_wake_at(board), self.sender.wake_at(board.now)]
        waits = board.no_nodes is not None and bool(board.ready or board.to_review)
        if board.node_seconds and (waits or board.all_runs):  # what else waits does not wait for nodes
            times.append(board.now + board.node_seconds)
        if board.ready or board.sessions:
            times += [limits.cooldowns_wake_at(board.gates, board.agents, board.now)]
            times += [limits.wake_at(board.limits.caps, board.spent, board.now)]
        times += [*self.performer.wake_at(board), *self.rewritten.wake_at(board.now)]
        times += [since + LINGER_SECONDS for since in self._ended_at.values()]
        times += [] if self._forge is None else self._forge.wake_at()
        times += [one.wake_at() for one in (self._issues, self.ports.states) if one is not None]
        times += self.work.wake_at() + self.sprints.wake_at(board.now)
        times += self.checks.wake_at() + self.guards.wake_at(board.now) + self.monitor.wake_at()
        times += [
            Journal.of(a.data).merging.waiting_until
            for a in board.attempts
            if a.role is Role.REVIEWER and Journal.of(a.data).merging.waiting_until > board.now
        ]
        times += self.troubles.wake_at()
        if not self.ports.background.is_empty():
            times.append(board.now + RECHECK_SECONDS)
        return min((t for t in times if t is not None), default=None)

    def finish(self, waker: Waker) -> None:
        """At the end of a run: check the checkouts, and send due notices within bounds."""
        self.troubles.guarded(self.rewritten.look)
        self.troubles.guarded(partial(self.sender.finish, self._look, waker.wait))

    def works(self, board: model.Board) -> bool:
        """Whether a child lives, or main is being checked."""
        runs = board.all_runs
        return self.monitor.is_at_work() or any(r.pid is not None and self.ports.processes.alive(r) for r in runs)


def _raised(error: Exception) -> bool:
    raise error


def recover(
    daemon: Daemon, waker: Waker, met: Callable[[], None], should_end: Callable[[], bool], until_idle: bool = False
) -> bool:
    """Take up an earlier daemon's work; False: told to end. Troubles call `met` and are waited out as in a turn."""
    ports = daemon.ports
    while not should_end():
        try:
            with storage_errors(ports.paths.folder):
                daemon.recover()
        except (*WAITED_OUT, errors.GitFailed) as error:
            daemon.troubles.pause(error)
            met()
            if until_idle and isinstance(error, NEEDS_A_PERSON) and not daemon.works(ports.store.board(ports.limits())):
                raise
            waker.wait(RETRY_SECONDS)
        else:
            return True
    return False


def run(
    daemon: Daemon,
    waker: Waker,
    view: View,
    until_idle: bool,
    should_end: Callable[[model.Board], bool] = lambda _: False,
) -> model.Board:
    """Turn until told to end or, `until_idle`, until idle, raising troubles then; returns the last board."""
    seen: model.Board | None = None
    background = daemon.ports.background
    background.wakes(waker.set)
    daemon.ports.channels.wakes(waker.set)
    folder = daemon.ports.paths.folder
    while True:
        try:
            with storage_errors(folder):
                turn = daemon.tick(seen, waker.taken())
                seen = turn.board if turn.changed else None
                is_over = should_end(turn.board)
        except WAITED_OUT as error:
            seen = None
            daemon.troubles.pause(error)
            waker.wait(RETRY_SECONDS)
            continue
        with bearing(folder):
            for event in turn.events:
                with parked(daemon.ports, bead_owner(event.bead) if event.bead else ""):
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
        looks = (daemon.meter, daemon.ends, daemon.definitions)
        rest(waker, looks, turn.board.now, turn.due_at, daemon.ports.store.now)


def _subject(ports: Ports, action: model.Action, board: model.Board) -> Owner:
    if isinstance(action, model.StartAgent | model.StartReview | model.AskPerson):
        return bead_owner(action.bead)
    if isinstance(action, model.CompleteEpic | model.LandEpic):
        return bead_owner(action.epic)
    if isinstance(action, model.StartTurn):
        return session_owner(action.session)
    work: Attempt | Talk | None = None
    if isinstance(action, model.Resume):
        work = board.attempt(action.attempt)
    elif isinstance(action, model.ResumeTurn):
        work = next((one for one in board.talks if one.turn.id == action.turn), None)
    elif isinstance(action, model.Terminate | model.Kill | model.Sample):
        return partial(run_owner, ports, action.run)  # also of one whose attempt is over
    return owner_of(work) if work else ""
