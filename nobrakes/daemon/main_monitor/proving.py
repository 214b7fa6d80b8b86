"""The checks on one commit while a person waits for the answer, with or without a daemon beside it.

1. The same contract, checkout and judgement as in a review; a tree that passed already is not run again.
2. The store knows nothing of the run, so that a daemon leaves it alone; its name says whose it is.
3. Whatever ends the waiting ends the run, and its checkout is removed; what a killed command left, the next one clears.
"""

import os
import time
from collections.abc import Callable
from functools import partial

from ...core.beads.attempt import Run, RunKind
from ...core.beads.outcomes import Outcome
from ...core.checks.contract import CheckOutcome, CheckResult, Contract, overall
from ...core.errors import NotProven
from ...host.system import proctable
from ..background.scratch import ASKED
from ..checks.overdue import CheckClock
from ..checks.validation import Validation, explain
from ..ports import Ports

LOOK_SECONDS = 0.05


class Proving:
    """Proves commits; `tell` hears what is being run."""

    def __init__(self, ports: Ports, tell: Callable[[str], None]) -> None:
        self.ports = ports
        self.tell = tell
        self.validation = Validation(ports)
        self.clock = CheckClock(self.validation)

    def prove(self, commit: str) -> None:
        """Return when the commit passes every check; NotProven says what did not pass."""
        ports = self.ports
        if self.validation.passed(ports.git.tree(commit)) is not None:
            return
        if not ports.config().checks:
            raise NotProven("no check is configured, so nothing can be proven", "Add [[checks]] to config.toml.")
        results = self.tried(commit)
        if overall(results) is not CheckOutcome.PASS:
            raise NotProven(f"what would become main does not pass the checks; main was not moved\n{explain(results)}")

    def tried(self, commit: str) -> list[CheckResult]:
        """What the checks of today say of the commit, run now; a pass is remembered."""
        run, results = self.run(commit, self.validation.present())
        self.validation.remember(self.ports.git.tree(commit), run, results)
        return results

    def again(self, commit: str, contract: Contract | None) -> tuple[Contract, list[CheckResult]]:
        """What these checks (None: today's) say of the commit now, and which they were."""
        asked = contract or self.validation.present()
        return asked, self.run(commit, asked)[1]

    def run(self, commit: str, contract: Contract) -> tuple[Run, list[CheckResult]]:
        """Run these checks on the commit, and remember nothing of it."""
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
        """Until the run has ended; whether it was stopped because a check had had its time."""
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
                processes.kill(run)  # what a check leaves behind is no part of the answer
            elif self.clock.is_overdue(run, partial(processes.ending, folder, steps), self.ports.store.now()):
                processes.kill(run)
                return True
            time.sleep(LOOK_SECONDS)

    def _clear(self) -> None:
        """End and remove what commands left that were killed while they waited."""
        scratch = self.ports.paths.scratch
        for name in os.listdir(scratch) if os.path.isdir(scratch) else []:
            words = name.split("-")
            if words[0] == ASKED and len(words) == 4 and proctable.look(int(words[2])) is None:
                self.ports.processes.kill(Run(name, 0, RunKind.VALIDATION, 0.0))
                self.validation.scratch.remove(name)
