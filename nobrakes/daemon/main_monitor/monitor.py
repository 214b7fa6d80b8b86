"""The canary at work: runs on main's tip in idle time, and what follows when one of them is red (core.main_monitor).

1. A run of it belongs to no attempt: nobody's work is judged. It is journaled with its process in the store's settings,
   before it is started, so that any daemon goes on with it, and nothing else takes it for a stray.
2. Every step is saved with what it says to people in one transaction.
3. Where main has to be tried before agents start (core.checks.trial) it looks at once, and remembers a pass.
4. While it has something to find out, `run` does not end for being idle; a look in idle time does not begin there.
"""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import replace

from ...core import main_monitor
from ...core.beads.attempt import Run, RunKind
from ...core.beads.bead import Role
from ...core.beads.events import Kind
from ...core.beads.outcomes import Outcome
from ...core.board import Board
from ...core.checks.contract import CheckResult
from ...core.checks.trial import Starts, is_empty, is_unsure
from ...core.checks.verdict import Verdict, verdict
from ...core.errors import NoMain
from ...core.globs import matches
from ...core.idle import look_again, may_pass
from ...core.main_monitor import Phase, Watch, told_as
from ...ports.git import Land, Landing
from ...ports.people import Notice
from ...ports.processes import Remains
from ..background.scratch import NOBODY, WATCH
from ..checks.overdue import CheckClock
from ..checks.probes import Plan
from ..checks.validation import MOST_CUT_OFF, Validation, as_json
from ..ports import Ports
from ..review.culprits import REPAIR, Culprits
from ..review.landing import Landings
from .news_of_main import NewsOfMain

Heard = Callable[[str, Sequence[CheckResult], bool], None]
"""Told of a trial: the tip, its results, and whether it is green."""

WAIT_SECONDS = 5.0
GLANCE_SECONDS = 60.0
"""So often an idle daemon looks where main is: nobody tells it of a person's commit. While it is frozen, more often."""
LINGER_SECONDS = 1.0


class MainMonitor:
    """Watches over main's tip."""

    def __init__(self, ports: Ports, validation: Validation, landings: Landings) -> None:
        self.ports = ports
        self.validation = validation
        self.landings = landings
        self.culprits = Culprits(ports)
        self.news = NewsOfMain(ports)
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
        self._told_of: str | None = None
        self._looks_anew = False
        self._tried: tuple[str, str, Verdict] | None = None
        self.heard: Heard = lambda tip, results, is_green: None

    @property
    def watch(self) -> Watch:
        """How far it is, as it is kept."""
        if self._watch is None:
            text = self.ports.store.setting(WATCH)
            self._watch = Watch.of(json.loads(text)) if text else Watch()
        return self._watch

    def is_at_work(self) -> bool:
        """Whether it finds something out just now, and waits for no person."""
        if not self.ports.config().review.watch_hours and not self.watch.trial:
            return False
        waits = self._is_held or (self._again_at > self.ports.store.now() and not self._passing)
        return self.watch.phase is not Phase.REST and not waits

    def wake_at(self) -> list[float]:
        """When it wants to be asked again, if nothing else happens."""
        return [at for at in (self._wake, self.news.wake_at()) if at is not None]

    def measure_anew(self, jump: float) -> None:
        """The clock jumped: nothing is due for that, and nothing waits longer."""
        self._again_at, self._wake = 0.0, None
        self.news.remote.at_once()
        self._idle_since = self._passing_since = self._alone_since = None
        self.clock.keep(set())
        if jump < 0:
            self._save(replace(self.watch, looked_at=max(0.0, self.watch.looked_at + jump)))

    def turn(self, board: Board) -> bool:
        """Do what can be done now; whether anything was."""
        self.landings.settle({NOBODY, *(attempt.id for attempt in board.attempts)})
        self._wake = None
        config = self.ports.config()
        if self.news.turn(board, self.watch.frozen):
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
        """Main was tried, or a person lets agents start: what was asked when its checks could not be run is over."""
        if self.watch.escalation and self.watch.phase is Phase.REST and not self.watch.frozen:
            with self.ports.store.together():
                self._save(self.culprits.let_go(self.watch))

    def tried(self, main: str) -> Verdict | None:
        """What a trial said of this tip and today's checks; None: there was none, or a person has dealt with it."""
        if self._tried is None or self._tried[:2] != (main, self.validation.contract()):
            return None
        return None if self.culprits.was_decided(self.watch) else self._tried[2]

    def look_anew(self) -> None:
        """A run begins: what is frozen is looked at once more, since the machine may have been mended."""
        self._looks_anew = True

    def found_red(self, results: Sequence[CheckResult]) -> None:
        """A review found main red: from now on nothing is merged."""
        if self.watch.frozen:
            return
        self._drop_run()
        main, rows = self.ports.git.main(), as_json(results)
        if self.ports.config().review.watch_hours:
            frozen = main_monitor.told_red(self.watch, main, rows)
        else:
            frozen = main_monitor.told_unwatched(self.watch, main, rows, self.validation.contract())
        with self.ports.store.together():
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
        hours = self.ports.config().review.watch_hours
        due = main_monitor.due_at(watch, board, main, self._landed_at(main), self._idle_since, hours)
        contract = self.validation.contract()
        asked = self._looks_anew or self.culprits.was_decided(watch)
        self._looks_anew = False
        at_once = main_monitor.is_mended(watch, contract) or (watch.frozen and asked)
        if due > board.now and not at_once:
            self._wake = min(due, board.now + (WAIT_SECONDS if watch.frozen else GLANCE_SECONDS))
            return False
        return self._save(replace(main_monitor.look(watch, main), contract=contract))

    def _landed_at(self, main: str) -> float | None:
        """When a review landed this very tip; None: somebody else moved main."""
        if self._ours[0] != main:
            last = self.ports.store.latest_events((Kind.MERGED,), limit=1)
            ours = bool(last) and last[0].data.get("merged_commit") == main
            self._ours = (main, last[0].at if ours else None)
        return self._ours[1]

    def _has_moved(self) -> bool:
        """Whether main is elsewhere than what is being looked at."""
        return self.ports.git.main() != (self.watch.onto or self.watch.tip)

    # --- runs ------------------------------------------------------------------------------------

    def _go_on(self, board: Board) -> bool:
        """The phase's next step, when nothing runs."""
        watch = self.watch
        if watch.phase is Phase.LOOK:
            caught_up = self._catch_up(board)
            if caught_up is not None:
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
        self.validation.durations.tell(self.watch.run, commit, RunKind.VALIDATION, None, told_as(watch.phase))
        return self._start()

    def _catch_up(self, board: Board) -> bool | None:
        """Where a remote decides about main, look at what it is there; None: main is what there is to be looked at."""
        land = self.landings.catch_up(NOBODY)
        if land is None:
            return False
        if land.landing is Landing.BLOCKED and self.watch.frozen:
            return self._wait(board, land, f"main is red, and cannot be brought along: {land.reason}")
        main = self.ports.git.main()
        return self._save(replace(self.watch, tip=main)) if main != self.watch.tip else None

    def _start(self) -> bool:
        watch = self.watch
        known = self.validation.of_run(watch.run)
        contract = known or self.validation.present()
        probes: Plan = {}
        if watch.trial and known is None:  # what a trial leaves is compared with a candidate's
            probes = self.validation.probes.plan(watch.commit, contract.checks)
        born = self.validation.execute(watch.run, watch.commit, contract, probes=probes)
        return self._save(replace(watch, pid=born.pid, born=born.mark))

    def _run(self) -> Run:
        watch = self.watch
        of = watch.run, NOBODY, RunKind.VALIDATION, watch.started_at, watch.pid, watch.born
        return Run(*of, active_at=watch.started_at, stopping=Outcome.TIMED_OUT if watch.timed_out else None)

    def _follow(self, board: Board) -> bool:
        if self.watch.pid is None:  # a crash came before its start
            return self._start()
        run = self._run()
        folder = os.path.join(self.ports.paths.runs, run.id)
        steps = self.validation.steps(run)
        remains = self.ports.processes.remains(run, folder, steps)
        if remains is Remains.NOTHING:
            return self._ended(run, board)
        if remains is Remains.WHOLE:
            self._alone_since = None
            if self.clock.is_overdue(run, lambda: self.ports.processes.ending(folder, steps), board.now):
                self._save(replace(self.watch, timed_out=True))
                self.ports.processes.kill(run)
                return True
            self._wake = min(self.clock.wake_at(), default=None)
            return False
        # what a check left behind, or a check that nobody will know the end of
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
        if cut_off and watch.cut_off < MOST_CUT_OFF:
            return self._save(replace(again, cut_off=watch.cut_off + 1))
        if not of_today:  # what other checks said is nothing to go by
            return self._save(again if watch.phase is not Phase.CONFIRM else main_monitor.look(again, watch.tip))
        if watch.trial:
            self.validation.remember(self.ports.git.tree(watch.tip), run, results)
            seen = verdict(results)
            if seen is not Verdict.GREEN and is_unsure(results, self.validation.present().checks):
                seen = Verdict.UNSURE
            begins = is_empty(results) and self._is_without_tests(watch.tip)
            mended = replace(board.limits, starts=Starts.SCAFFOLDING)
            if seen is Verdict.UNSURE and (begins or self.ports.store.board(mended).ready):  # no person is needed
                self._hear(watch.tip, Verdict.GREEN if begins else seen, results)
                return self._save(replace(main_monitor.at_rest(again, board.now), trial=False))
            return self._conclude(watch, seen, results, board)
        return self._conclude(watch, verdict(results), results, board)

    def _conclude(self, watch: Watch, seen: Verdict, results: Sequence[CheckResult], board: Board) -> bool:
        if seen is Verdict.RED:
            watch = replace(watch, results=tuple(as_json(results)))
        following = main_monitor.after(watch, seen, board.now)
        if watch.trial and following.phase is not Phase.CONFIRM:
            self._hear(watch.tip, seen, results)
            following = replace(following, trial=False)
            if following.frozen and not self.ports.config().review.watch_hours:
                rows = as_json(results)
                following = main_monitor.told_unwatched(following, watch.tip, rows, self.validation.contract())
        if watch.phase in (Phase.LOOK, Phase.CONFIRM):  # a review may have begun it; the run is of today's checks
            following = replace(following, contract=self.validation.contract())
        store = self.ports.store
        with store.together():
            if seen is Verdict.GREEN and watch.phase in (Phase.LOOK, Phase.CONFIRM):
                self.culprits.tell_green(watch)
            if following.frozen and not watch.frozen:
                following = self.culprits.freeze(following, results, "three times in a row")
            elif not following.frozen and (watch.frozen or (seen is Verdict.GREEN and watch.escalation)):
                following = self.culprits.let_go(following)
            elif following.phase is Phase.REST and seen is not Verdict.GREEN:
                following = self.culprits.tell_end(watch, following, seen, results)
            return self._save(following)

    def _hear(self, tip: str, seen: Verdict, results: Sequence[CheckResult]) -> None:
        self._tried = (tip, self.validation.contract(), seen)
        self.heard(tip, results, seen is Verdict.GREEN)

    def _is_without_tests(self, tip: str) -> bool:
        git = self.ports.git
        tests = self.ports.config().boundary_at(git, tip, Role.DOER).tests
        return not any(matches(path, tests) for path in git.paths(tip))

    # --- taking back -----------------------------------------------------------------------------

    def _land(self, board: Board) -> bool:
        watch = self.watch
        land = self.landings.take_back(NOBODY, watch.candidate, watch.onto)
        if land is None:
            return False
        if land.landing is Landing.LOST:  # it may be green by now
            return self._save(main_monitor.look(watch, self.ports.git.main()))
        if land.landing is Landing.BLOCKED:
            return self._wait(board, land, f"main is red, and its repair waits: {land.reason}")
        with self.ports.store.together():
            return self._save(self.culprits.taken_back(watch, board.now))

    def _wait(self, board: Board, land: Land, why: str) -> bool:
        if self._told_of != land.cause:
            self.ports.notifier.tell(Notice(why, urgent=True))
        self._told_of, now, seconds = land.cause, board.now, land.wait
        since = now if self._passing_since is None else self._passing_since
        self._passing_since = since if land.patience else None
        self._passing = may_pass(land.patience, since, now)
        self._again_at = self._wake = now + (look_again(since, now, seconds) if self._passing else seconds)
        return False

    # --- ends ------------------------------------------------------------------------------------

    def _rest_unwatched(self, board: Board) -> bool:
        watch = self.watch
        moved = self.ports.git.main() != watch.tip or self.validation.contract() != watch.contract
        if moved or not watch.frozen or self.culprits.was_decided(watch):
            over = replace(watch, unwatched=False)
            why = "main or its checks have changed; the next review sees whether it is green"
            with self.ports.store.together():
                return self._save(self.culprits.let_go(over, why))
        self._wake = board.now + WAIT_SECONDS
        return False

    def _switch_off(self) -> bool:
        """Off is off: what it froze is let go."""
        watch = self.watch
        if watch.phase is Phase.REST and not watch.frozen:
            return False
        self._drop_run()
        with self.ports.store.together():
            off = replace(self.watch, phase=Phase.REST, tip="", searched="", culprit="", candidate="", line=())
            return self._save(self.culprits.let_go(off))

    def _put_off(self) -> bool:
        """The daemon is being stopped: the next one runs it again, or looks when nobody works."""
        watch = self.watch
        if not watch.commit and (watch.frozen or watch.phase is Phase.REST):
            return False
        self._drop_run()
        return self._save(self.watch if watch.frozen else replace(self.watch, phase=Phase.REST))

    def _drop_run(self) -> None:
        if self.watch.commit:
            run = self._run()
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
            self._again_at, self._idle_since, self._told_of = 0.0, None, None
            self._passing, self._passing_since = False, None
        return True
