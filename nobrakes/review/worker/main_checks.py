"""Main's own checks at work: the canary, the trial, a person's question, and a main that people rewrote.

The checks on one commit while a person waits, with or without a daemon:

1. Same contract, checkout and judgement as in a review; a tree that passed is not run again.
2. The store does not know the run, so the daemon ignores it; its name says whose it is.
3. The end of waiting ends the run and removes its checkout; the next one clears what a killed command left.
"""

import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from ...beads.model import Outcome, Role, Run, RunKind
from ...checks.contract import CheckOutcome, CheckResult, Contract, Verdict, last_error, overall, setup_failed, verdict
from ...checks.proof import advice, is_empty, is_unsure, missing_program, passed
from ...checks.worker.steps import NO_PLAN
from ...checks.worker.validation import MAX_CUT_OFF, CheckClock, Validation, as_json, explain
from ...daemon.deciders import look_again, may_pass
from ...daemon.model import WATCH, Board, Starts
from ...daemon.service import control
from ...errors import GitFailed, NoMain, NotProven
from ...events.kinds import Event, Kind
from ...globs import matches
from ...host import proctable
from ...host.port import Notice, Remains
from ...ports import Ports
from ...requests.worker.epics import RemoteBranches
from ...review.main_monitor import ASKED, NOBODY
from .. import main_monitor
from ..main_monitor import Phase, Watch, run_label
from ..service.landed import off_main, taken_back
from ..waits import Land, Landing
from .culprits import BROKEN, FROZEN, REPAIR, Culprits
from .verdicts import Landings

LOOK_SECONDS = 0.05


class Proving:
    """Proves commits; `tell` reports each run."""

    def __init__(self, ports: Ports, tell: Callable[[str], None]) -> None:
        self.ports = ports
        self.tell = tell
        self.validation = Validation(ports)
        self.clock = CheckClock(self.validation)

    def prove(self, commit: str) -> None:
        """Raises NotProven with what failed."""
        ports = self.ports
        if self.validation.passed(ports.git.tree(commit)) is not None:
            return
        if not ports.config().checks:
            raise NotProven("no check is configured, so no work can be validated", "Add [[checks]] to config.toml.")
        results = self.tried(commit)
        if overall(results) is not CheckOutcome.PASS:
            raise NotProven(f"the new main would fail the checks, so main was not moved\n{explain(results)}")

    def tried(self, commit: str) -> list[CheckResult]:
        """Run today's checks on the commit; a pass is remembered."""
        run, results = self.run(commit, self.validation.present())
        self.validation.remember(self.ports.git.tree(commit), run, results)
        return results

    def again(self, commit: str, contract: Contract | None) -> tuple[Contract, list[CheckResult]]:
        """Run these checks (None: today's) on the commit; returns them and the results."""
        asked = contract or self.validation.present()
        return asked, self.run(commit, asked)[1]

    def run(self, commit: str, contract: Contract) -> tuple[Run, list[CheckResult]]:
        """Run this contract on the commit and wait for its end; an exception kills the run."""
        ports = self.ports
        self._clear()
        now = ports.store.now()
        run_id = f"{ASKED}-{commit[:12]}-{os.getpid()}-{int(now * 1000)}"
        run = Run(run_id, 0, RunKind.VALIDATION, now, active_at=now)
        try:
            born = self.validation.execute(run_id, commit, contract)
            run = Run(run_id, 0, RunKind.VALIDATION, now, born.pid, born.mark, active_at=now)
            stopped = self._wait(run)
        except BaseException:
            ports.processes.kill(run)
            self.validation.scratch.remove(run_id)
            raise
        if stopped:
            run = Run(run_id, 0, RunKind.VALIDATION, now, born.pid, born.mark, stopping=Outcome.TIMED_OUT)
        return run, self.validation.judge(run)

    def _wait(self, run: Run) -> bool:
        processes, checks = self.ports.processes, self.validation.checks(run)
        folder, told = os.path.join(self.ports.paths.runs, run.id), 0
        steps = self.validation.steps(run)
        while True:
            alive = processes.alive(run)
            ending = processes.ending(folder, steps)
            names = [check.name for check in checks]
            begun = sum(end.started for end in ending.steps if end.name in names)
            for number in range(told, begun):
                self.tell(f"check {number + 1} of {len(checks)}: {checks[number].name}")
            told = max(told, begun)
            if not alive:
                return False
            if ending.over or all(end.code is not None for end in ending.steps):
                processes.kill(run)  # what a check leaves behind is not part of the answer
            elif self.clock.is_overdue(run, partial(processes.ending, folder, steps), self.ports.store.now()):
                processes.kill(run)
                return True
            time.sleep(LOOK_SECONDS)

    def _clear(self) -> None:
        """Clean up after killed commands."""
        scratch = self.ports.paths.scratch
        for name in os.listdir(scratch) if os.path.isdir(scratch) else []:
            words = name.split("-")
            if words[0] == ASKED and len(words) == 4 and proctable.look(int(words[2])) is None:
                self.ports.processes.kill(Run(name, 0, RunKind.VALIDATION, 0.0))
                self.validation.scratch.remove(name)


MAIN = ("",)


class RemoteMain:
    """Polls the remote as often as requests."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self.remote = RemoteBranches(ports)
        self._wanted: tuple[str, ...] = ()

    def turn(self, board: Board, is_red: bool) -> bool:
        """Whether the remote has answered. `is_red`: the queue is frozen."""
        is_kept_back = is_red or board.limits.starts in (Starts.SCAFFOLDING, Starts.REPAIRS)
        waits = self.ports.pulls is not None and any(one.role is Role.REVIEWER for one in board.attempts)
        self._wanted = MAIN if (is_kept_back or waits) and self.ports.git.is_shared() else ()
        heard = self.remote.turn(self._wanted, board.now)
        for branch, land in heard.items():
            self.remote.again(branch, board.now + (land.wait or self.ports.config().review.poll_seconds))
        return bool(heard)

    def wake_at(self) -> float | None:
        return self.remote.wake_at(self._wanted)


VerdictConsumer = Callable[[str, Sequence[CheckResult], Verdict], None]

WAIT_SECONDS = 5.0
GLANCE_SECONDS = 60.0
LINGER_SECONDS = 1.0


# The canary: a run of it belongs to no attempt. It is journaled with its process in the store's settings before it is
# started, so that any daemon goes on with it. Every step is saved with what it says to people in one transaction. While
# it has something to find out `run` does not end for being idle.
class MainMonitor:
    """Watches over main's tip."""

    def __init__(self, ports: Ports, validation: Validation, landings: Landings, heard: VerdictConsumer) -> None:
        """`heard` is told of each trial."""
        self.ports, self.heard = ports, heard
        self.validation = validation
        self.landings = landings
        self.culprits = Culprits(ports)
        self.remote_main = RemoteMain(ports)
        self.clock = CheckClock(validation)
        self._watch: Watch | None = None
        self._idle_since: float | None = None
        self._again_at = 0.0
        self._passing = False
        self._passing_since: float | None = None
        self._alone_since: float | None = None
        self._ours: tuple[str, float | None] = ("", None)
        self._wake: float | None = None
        self._is_held = False
        self._reported: str | None = None
        self._polls_again = False

    @property
    def watch(self) -> Watch:
        if self._watch is None:
            text = self.ports.store.setting(WATCH)
            self._watch = Watch.of(json.loads(text)) if text else Watch()
        return self._watch

    def is_at_work(self) -> bool:
        """Whether it is running something, and waits for no person."""
        if not self.ports.config().review.watch_hours and not self.watch.trial:
            return False
        waits = self._is_held or (self._again_at > self.ports.store.now() and not self._passing)
        return self.watch.phase is not Phase.REST and not waits

    def wake_at(self) -> list[float]:
        return [at for at in (self._wake, self.remote_main.wake_at()) if at is not None]

    def measure_again(self, jump: float) -> None:
        """The clock jumped: nothing becomes due or waits longer."""
        self._again_at, self._wake = 0.0, None
        self.remote_main.remote.at_once()
        self._idle_since = self._passing_since = self._alone_since = None
        self.clock.keep(set())
        if jump < 0:
            self._save(replace(self.watch, looked_at=max(0.0, self.watch.looked_at + jump)))

    def turn(self, board: Board) -> bool:
        """Do what is possible now; whether anything was."""
        self.landings.settle({NOBODY, *(attempt.id for attempt in board.attempts)})
        self._wake = None
        config = self.ports.config()
        if self.remote_main.turn(board, self.watch.frozen):
            return True
        on_trial = self.watch.trial or board.limits.starts is Starts.UNTRIED
        if not config.checks or not (config.review.watch_hours or on_trial):
            return self._rest_unwatched(board) if self.watch.unwatched else self._switch_off()
        if board.stopping:
            return self._put_off()
        if self.watch.phase is Phase.REST:
            return self._perhaps_look(board)
        if self.watch.frozen and not board.paused and self.watch.phase is not Phase.LAND and self._has_moved():
            self._drop_run()
            return self._save(main_monitor.look(self.watch, self.ports.git.main()))
        self._is_held = board.paused and not self.watch.commit
        if self.watch.commit:
            return self._follow(board)
        if self._is_held:
            return False  # what runs goes on, and nothing new is started
        if board.now < self._again_at:
            self._wake = self._again_at
            return False
        return self._go_on(board)

    def opened(self) -> None:
        """Main was tried, or a person allowed starts: the question about unrunnable checks is over."""
        if self.watch.escalation and self.watch.phase is Phase.REST and not self.watch.frozen:
            with self.ports.store.write():
                self._save(self.culprits.let_go(self.watch))

    def poll_again(self) -> None:
        self._polls_again = True

    def found_red(self, results: Sequence[CheckResult]) -> None:
        """A review found main red: stop merging."""
        if self.watch.frozen:
            return
        self._drop_run()
        self._polls_again = False  # what begins now is this run's look
        main, rows = self.ports.git.main(), as_json(results)
        if self.ports.config().review.watch_hours:
            frozen = main_monitor.freeze_red(self.watch, main, rows)
        else:
            now = self.ports.store.now()
            frozen = main_monitor.freeze_unwatched(self.watch, main, rows, self.validation.contract(), now)
        with self.ports.store.write():
            self._save(self.culprits.freeze(frozen, results, "as a review found"))

    # --- when to look ----------------------------------------------------------------------------

    def _perhaps_look(self, board: Board) -> bool:
        watch = self.watch
        if board.limits.starts is Starts.UNTRIED and board.ready and not board.paused:
            trial = replace(main_monitor.look(watch, self.ports.git.main()), trial=True)
            return self._save(replace(trial, contract=self.validation.contract()))
        if not main_monitor.may_begin(watch, board):
            self._idle_since = None
            return False
        if self._idle_since is None:
            self._idle_since = board.now
        try:
            main = self.ports.git.main()
        except NoMain:
            return False
        known = self._landed_at(main), self._idle_since, self.ports.config().review.watch_hours
        due = main_monitor.due_at(watch, board, main, *known, self.culprits.broken_since(watch))
        contract = self.validation.contract()
        asked = self._polls_again or self.culprits.was_decided(watch)
        self._polls_again = False
        at_once = main_monitor.is_mended(watch, contract) or (watch.frozen and asked)
        if due > board.now and not at_once:
            self._wake = min(due, board.now + (WAIT_SECONDS if watch.frozen else GLANCE_SECONDS))
            return False
        return self._save(replace(main_monitor.look(watch, main), contract=contract))

    def _landed_at(self, main: str) -> float | None:
        if self._ours[0] != main:
            last = self.ports.store.latest_events((Kind.MERGED,), limit=1)
            ours = bool(last) and last[0].data.get("merged_commit") == main
            self._ours = (main, last[0].at if ours else None)
        return self._ours[1]

    def _has_moved(self) -> bool:
        return self.ports.git.main() != (self.watch.onto or self.watch.tip)

    # --- runs ------------------------------------------------------------------------------------

    def _go_on(self, board: Board) -> bool:
        watch = self.watch
        if watch.phase is Phase.LOOK:
            if (caught_up := self._catch_up(board)) is not None:
                return caught_up
        elif watch.phase is Phase.KNOWN and not watch.line:
            line = self.ports.git.between(watch.green, watch.tip) if watch.green else None
            if not line:
                why = "nothing_known" if line is None else "environment"
                return self._save(self.culprits.tell(main_monitor.at_rest(watch, board.now), why))
            return self._save(replace(watch, line=line))
        elif watch.phase is Phase.PROVE and not watch.candidate:
            return self._save(self.culprits.prepare(watch, board.now))
        elif watch.phase is Phase.LAND:
            return self._land(board)
        # the first one is numbered by the clock: what an earlier database ran is not taken for it
        serial, commit = (self.watch.serial or int(board.now)) + 1, main_monitor.wanted(self.watch)
        self._save(replace(self.watch, serial=serial, commit=commit, started_at=board.now, pid=None, timed_out=False))
        self.validation.durations.tell(self.watch.run, commit, RunKind.VALIDATION, None, run_label(watch.phase))
        return self._start()

    def _catch_up(self, board: Board) -> bool | None:
        """Fetch a remote main; None: this main is current."""
        land = self.landings.catch_up(NOBODY)
        if land is None:
            return False
        if land.landing is Landing.BLOCKED and self.watch.frozen:
            return self._wait(board, land, f"main is red, and nobrakes cannot update it: {land.reason}")
        main = self.ports.git.main()
        return self._save(replace(self.watch, tip=main)) if main != self.watch.tip else None

    def _start(self) -> bool:
        watch = self.watch
        known = self.validation.run_contract(watch.run)
        contract = known or self.validation.present()
        is_probed = watch.trial and known is None  # what a trial leaves is compared with a candidate's
        probes = self.validation.probes.plan(watch.commit, contract.checks) if is_probed else NO_PLAN
        born = self.validation.execute(watch.run, watch.commit, contract, probes=probes)
        return self._save(replace(watch, pid=born.pid, born=born.mark))

    def _follow(self, board: Board) -> bool:
        if self.watch.pid is None:  # a crash came before its start
            return self._start()
        run = _run_of(self.watch)
        folder = os.path.join(self.ports.paths.runs, run.id)
        steps = self.validation.steps(run)
        remains = self.ports.processes.remains(run, folder, steps)
        if remains is Remains.NOTHING:
            return self._ended(run, board)
        if remains is Remains.WHOLE and not self.watch.timed_out:
            self._alone_since = None
            if self.clock.is_overdue(run, lambda: self.ports.processes.ending(folder, steps), board.now):
                self._save(replace(self.watch, timed_out=True))
                self.ports.processes.terminate(run)  # its wrapper can still say which check had its time
                return True
            self._wake = min(self.clock.wake_at(), default=None)
            return False
        # what had its time, what a check left behind, or a check that nobody will know the end of
        self._alone_since = self._alone_since or board.now
        if board.now >= self._alone_since + LINGER_SECONDS:
            self.ports.processes.kill(run)
            return True
        self._wake = self._alone_since + LINGER_SECONDS
        return False

    def _ended(self, run: Run, board: Board) -> bool:
        watch = self.watch
        self._alone_since = None
        self.clock.keep(set())
        cut_off = self.validation.was_cut_off(run)
        of_today = self.validation.is_of_today(run.id)
        results = self.validation.judge(run)
        again = replace(watch, commit="", pid=None, timed_out=False)
        is_known = self.ports.store.setting(BROKEN) is not None  # whoever found that ran them again and again
        if cut_off and watch.cut_off < MAX_CUT_OFF and not is_known:
            return self._save(replace(again, cut_off=watch.cut_off + 1))
        if not of_today:  # what other checks said is nothing to go by
            return self._save(again if watch.phase is not Phase.CONFIRM else main_monitor.look(again, watch.tip))
        if watch.trial:
            self.validation.remember(self.ports.git.tree(watch.tip), run, results)
            seen = verdict(results)
            if seen is not Verdict.GREEN and is_unsure(results, self.validation.present().checks):
                seen = Verdict.UNSURE
            begins = is_empty(results) and _is_without_tests(self.ports, watch.tip)
            mended = replace(board.limits, starts=Starts.SCAFFOLDING)
            needs_nobody = not watch.frozen and (begins or self.ports.store.board(mended).ready)
            if seen is Verdict.UNSURE and needs_nobody:
                self.heard(watch.tip, results, Verdict.GREEN if begins else seen)
                return self._save(replace(main_monitor.at_rest(again, board.now), trial=False))
            return self._conclude(watch, seen, results, board)
        return self._conclude(watch, verdict(results), results, board)

    def _conclude(self, watch: Watch, seen: Verdict, results: Sequence[CheckResult], board: Board) -> bool:
        if seen is Verdict.RED:
            watch = replace(watch, results=tuple(as_json(results)))
        following = main_monitor.after(watch, seen, board.now)
        if watch.trial and following.phase is not Phase.CONFIRM:
            self.heard(watch.tip, results, seen)
            following = replace(following, trial=False)
            if following.frozen and not self.ports.config().review.watch_hours:
                rows = as_json(results)
                contract = self.validation.contract()
                following = main_monitor.freeze_unwatched(following, watch.tip, rows, contract, board.now)
        if watch.phase in main_monitor.TIP_PHASES:  # a review may have begun it; the run is of today's checks
            following = replace(following, contract=self.validation.contract())
        with self.ports.store.write():
            if seen is Verdict.GREEN and watch.phase in main_monitor.TIP_PHASES:
                self.culprits.tell_green(watch)
            if following.frozen and not watch.frozen:
                following = self.culprits.freeze(following, results, "three times in a row")
            elif not following.frozen and (watch.frozen or (seen is Verdict.GREEN and watch.escalation)):
                following = self.culprits.let_go(following)
            elif following.phase is Phase.REST and seen is not Verdict.GREEN:
                following = self.culprits.tell_end(watch, following, seen, results)
            return self._save(following)

    # --- taking back -----------------------------------------------------------------------------

    def _land(self, board: Board) -> bool:
        watch = self.watch
        land = self.landings.land(NOBODY, (), watch.candidate, watch.onto)
        if land is None:
            return False
        if land.landing is Landing.LOST:  # it may be green by now
            return self._save(main_monitor.look(watch, self.ports.git.main()))
        if land.landing is Landing.BLOCKED:
            return self._wait(board, land, f"main is red, and its repair is waiting: {land.reason}")
        with self.ports.store.write():
            return self._save(self.culprits.taken_back(watch, board.now))

    def _wait(self, board: Board, land: Land, why: str) -> bool:
        if self._reported != land.cause:
            self.ports.notifier.tell(Notice(why, urgent=True))
        self._reported, now, seconds = land.cause, board.now, land.wait
        since = now if self._passing_since is None else self._passing_since
        self._passing_since = since if land.timeout else None
        self._passing = may_pass(land.timeout, since, now)
        self._again_at = self._wake = now + (look_again(since, now, seconds) if self._passing else seconds)
        return False

    # --- ends ------------------------------------------------------------------------------------

    def _rest_unwatched(self, board: Board) -> bool:
        watch = self.watch
        moved = self.ports.git.main() != watch.tip or self.validation.contract() != watch.contract
        if moved or not watch.frozen or self.culprits.was_decided(watch):
            over = replace(watch, unwatched=False)
            why = "main or its checks have changed; the next review checks whether it is green"
            with self.ports.store.write():
                return self._save(self.culprits.let_go(over, why))
        broken_since = self.culprits.broken_since(watch)
        due = broken_since is not None and board.now >= main_monitor.again_at(watch, broken_since)
        if due and main_monitor.may_begin(watch, board):
            return self._save(replace(main_monitor.look(watch, watch.tip), trial=True))
        self._wake = board.now + WAIT_SECONDS
        return False

    def _switch_off(self) -> bool:
        """When switched off, release what it froze."""
        watch = self.watch
        if watch.phase is Phase.REST and not watch.frozen:
            return False
        self._drop_run()
        with self.ports.store.write():
            off = replace(self.watch, phase=Phase.REST, tip="", searched="", culprit="", candidate="", line=())
            return self._save(self.culprits.let_go(off))

    def _put_off(self) -> bool:
        """The daemon is stopping: the next one runs it again, or checks when idle."""
        watch = self.watch
        if not watch.commit and (watch.frozen or watch.phase is Phase.REST):
            return False
        self._drop_run()
        return self._save(self.watch if watch.frozen else replace(self.watch, phase=Phase.REST))

    def _drop_run(self) -> None:
        if self.watch.commit:
            run = _run_of(self.watch)
            self.ports.processes.kill(run)
            self.validation.scratch.drop(run.id)
            self._save(replace(self.watch, commit="", pid=None, timed_out=False))

    def _save(self, watch: Watch) -> bool:
        before = self.watch
        self._watch = None  # should it fail, what is kept counts
        if watch != before:
            self.ports.store.set_setting(WATCH, json.dumps(watch.as_data()))
        self._watch = watch
        if before.candidate and not watch.candidate:
            self.ports.git.pin(REPAIR, None)
        if watch.phase is not before.phase:
            self._again_at, self._idle_since, self._reported = 0.0, None, None
            self._passing, self._passing_since = False, None
        return True


def _run_of(watch: Watch) -> Run:
    of = watch.run, NOBODY, RunKind.VALIDATION, watch.started_at, watch.pid, watch.born
    return Run(*of, active_at=watch.started_at, stopping=Outcome.TIMED_OUT if watch.timed_out else None)


def _is_without_tests(ports: Ports, tip: str) -> bool:
    tests = ports.config().boundary_at(ports.git, tip, Role.DOER).tests
    return not any(matches(path, tests) for path in ports.git.paths(tip))


AGAIN_SECONDS = 15.0


def fallen(ports: Ports, went_on: bool = False) -> str:
    """A message about done beads that main lost or reverted; empty: none. `went_on`: main only grew. Raises NoMain."""
    off = "" if went_on else off_main(ports.store, ports.git, ports.config())
    lost = taken_back(ports.store, ports.git)
    return ". ".join(filter(None, (off, *(f"{one.told()}: {one.advice()}" for one in lost))))


# Whether to bring beads back that a person took off main is theirs to decide: it is told in the turn that sees it,
# once. A checkout that came to main while main moved is brought along, at each turn; one that cannot follow is tried
# again after a while.
class Rewritten:
    """Follows main after the first turn; the start reports what came before."""

    def __init__(self, ports: Ports, trouble: Callable[[str, bool], None]) -> None:
        self.ports = ports
        self._trouble = trouble
        self._main = ""
        self._told = ""
        self._reported: tuple[str, ...] = ()
        self._again_at = 0.0

    def look(self) -> bool:
        """Report a rewritten main, and bring checkouts along; whether there was news."""
        try:
            main = self.ports.git.main()
        except NoMain:
            return False
        is_told = self._look_at_checkouts(main != self._main)
        if main == self._main:
            return is_told
        text = fallen(self.ports, self._went_on(main)) if self._main else ""
        if text and text != self._told:
            self.ports.store.record(Event(Kind.MAIN_REWRITTEN, data={"commit": main, "text": text}))
            self._told = text
        self._main = main
        return bool(text) or is_told

    def wake_at(self, now: float) -> list[float]:
        return [self._again_at] if self._waits(now) else []

    def _look_at_checkouts(self, has_moved: bool) -> bool:
        now = self.ports.store.now()
        if not has_moved and self._waits(now):
            return False
        found = self.ports.git.bring_along()
        new = [text for text in found if text not in self._reported]
        for text in new:
            self.ports.notifier.tell(Notice(text, urgent=True))
            self._trouble(text, True)
        self._reported = found
        self._again_at = now + AGAIN_SECONDS if found else 0.0
        return bool(new)

    def _waits(self, now: float) -> bool:
        """Whether the retry must wait; a clock that went back makes it no longer."""
        return now < self._again_at <= now + AGAIN_SECONDS

    def _went_on(self, main: str) -> bool:
        try:
            return self.ports.git.contains(self._main, main)
        except GitFailed:  # it is gone from git, so main does not hold it
            return False


# It runs nothing itself: the canary looks at the tip, and what passed is remembered as any validation. A tip that
# passed and that main still holds opens the trial, and once open it stays so in a run.
class Trial:
    """Decides which beads may start."""

    def __init__(self, ports: Ports, validation: Validation, monitor: MainMonitor) -> None:
        self.ports = ports
        self.validation = validation
        self.monitor = monitor
        self._is_open = False
        self._proven, self._waiting = "", ports.store.setting(control.TRIAL_WAITS) or ""
        self._tried: tuple[str, str, Verdict] | None = None
        self._told: set[str] = set()
        self._waits("")  # what an earlier run waited for is not what this one does
        monitor.poll_again()

    def starts(self) -> Starts:
        """Called once a turn."""
        if not self.ports.config().checks:
            self._tell(
                "no check", "No check is configured: agents start only on beads of type repair or marked --scaffolding."
            )
            return Starts.SCAFFOLDING
        if self._is_open and self.ports.store.setting(BROKEN) is None:
            return Starts.OPEN
        try:
            main = self.ports.git.main()
        except NoMain:
            return Starts.OPEN  # whoever is to be started says so
        starts = self._at(main)
        self._is_open = starts is Starts.OPEN
        if self._is_open:
            self._waits("")
            self.monitor.opened()
        return starts

    def _at(self, main: str) -> Starts:
        store = self.ports.store
        broken = store.setting(BROKEN)  # nothing of what agents make could be checked
        if store.setting(control.RED_MAIN) == main and broken is None:
            return Starts.OPEN
        if store.setting(FROZEN) is not None:
            why = broken or "main is red"
            why = f"{why} at {main[:12]}: agents start only on beads of type repair. `nobrakes escalations` says why."
            self._tell(f"red {main}", why)
            return Starts.REPAIRS
        if self.validation.recorded(self.ports.git.tree(main)) is not None:
            return Starts.OPEN
        if self._proven and self.ports.git.contains(self._proven, main):
            return Starts.OPEN  # main went on while it was tried: what came since is for main's monitor and the reviews
        tried = self._verdict(main)
        if tried is None:
            tip = self.monitor.watch.tip
            if self.monitor.watch.trial and tip != main:  # agents do not wait for its newest commit
                what = f"main moved to {main[:12]} while nobrakes checks {tip[:12]}"
                self._waits(f"{what}: agents start once {tip[:12]} passes.")
                self._tell(f"moved {tip}", self._waiting)
            return Starts.UNTRIED
        return Starts.OPEN if tried is Verdict.GREEN else Starts.SCAFFOLDING

    def _verdict(self, main: str) -> Verdict | None:
        if self._tried is None or self._tried[:2] != (main, self.validation.contract()):
            return None
        return None if self.monitor.culprits.was_decided(self.monitor.watch) else self._tried[2]

    def heard(self, tip: str, results: Sequence[CheckResult], seen: Verdict) -> None:
        """The tip was tried."""
        self._tried = (tip, self.validation.contract(), seen)
        self._waits("")
        if seen is Verdict.GREEN:
            self._proven = tip
            self._tell(f"green {tip}", passed(results))
            return
        checks = self.validation.present().checks
        what = f"main at {tip[:12]} fails its checks, so agents start only on repairs."
        if setup_failed(results):
            what = f"The set-up of the checks failed on main at {tip[:12]}, so agents start only on repairs."
        again = "`nobrakes run --red-main` lets agents start anyway."
        self._tell(f"tried {tip}", "\n".join([what, *said_of(results), *advice(results, checks), again]))

    def _waits(self, what: str) -> None:
        if what != self._waiting:
            self._waiting = what
            self.ports.store.set_setting(control.TRIAL_WAITS, what or None)

    def _tell(self, key: str, text: str) -> None:
        if key not in self._told:
            self._told.add(key)
            for line in text.splitlines():
                self.ports.notifier.tell(Notice(line, urgent=not key.startswith("green")))


def said_of(results: Sequence[CheckResult]) -> list[str]:
    """A line for each check that did not pass; one for a failed set-up."""
    if why := setup_failed(results):
        return [why]
    return [
        f"{one.name}: {missing_program(one) or one.reason + _last(one)}"
        for one in results
        if one.outcome is not CheckOutcome.PASS
    ]


def _last(result: CheckResult) -> str:
    """The error that its output ends with, or its last line where no test was counted."""
    line = last_error(result.tail) or (result.tail.strip().rpartition("\n")[2] if result.counts is None else "")
    return f" ({line.strip()[:200]})" if line else ""
