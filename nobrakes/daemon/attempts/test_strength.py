"""The strength of new tests: proven red, they must also fail with programs that do nothing right
(core.checks.stub_programs).

1. One cheat after the other, each a run of the test checks on a checkout of the tests with the cheat laid over it.
2. Only a run that passes is held against the tests. One that is broken, or takes too long, says nothing.
3. The journal says how far it is: after a crash the run that was on its way is judged or started again.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ...core.beads.attempt import Attempt, Run, RunKind
from ...core.beads.events import Kind
from ...core.beads.outcomes import Outcome
from ...core.board import Limits
from ...core.checks.contract import CheckOutcome, overall
from ...core.checks.stub_programs.plan import Cheat, judge_cheats, plan
from ...core.checks.stub_programs.tree import Tree
from ...core.errors import FileTooLarge
from ..checks.validation import MOST_CUT_OFF, Validation, run_id
from ..ports import Ports
from .end import close

PHASE = "cheats"
LARGEST = 1_000_000
"""Bytes of a file that are read to make a cheat of it."""


class Strength:
    """Tries the cheats on an attempt's tests; `proven` is told of those that catch all of them."""

    def __init__(self, ports: Ports, validation: Validation, proven: Callable[[Attempt], None]) -> None:
        self.ports = ports
        self.validation = validation
        self.proven = proven

    def begin(self, attempt: Attempt, limits: Limits, red_proof: list[dict[str, Any]]) -> None:
        """The tests are red: now they are tried."""
        data = {**attempt.data, "phase": PHASE, "red_proof": red_proof, "cheat": 0, "met": [], "cut_off": 0}
        attempt = replace(attempt, data=data)
        self.ports.store.journal(attempt.id, data)
        self.go_on(attempt, limits)

    def go_on(self, attempt: Attempt, limits: Limits) -> None:
        """Start the next run, or end when there is none; doing it twice starts it once."""
        cheats = self._cheats(attempt)
        place = int(attempt.data["cheat"])
        if place < len(cheats):
            head = str(attempt.data["head"])
            self.validation.start(attempt, head, RunKind.CHEAT, _serial(attempt.data), cheats[place].files)
            return
        why_not = judge_cheats(attempt.data["met"])
        if why_not is None:
            self.proven(attempt)
            return
        evidence = {"red_proof": attempt.data["red_proof"], "cheats": attempt.data["met"]}
        head = str(attempt.data["head"])
        kind = Kind.TESTS_REJECTED
        close(self.ports, limits, attempt, Outcome.WEAK_TESTS, why_not, kind=kind, head=head, evidence=evidence)

    def ended(self, attempt: Attempt, run: Run, limits: Limits) -> None:
        """A run with a cheat ended."""
        data = dict(attempt.data)
        cut_off = self.validation.was_cut_off(run)
        results = self.validation.judge(run)
        if run.stopping is Outcome.INTERRUPTED:
            close(
                self.ports,
                limits,
                attempt,
                Outcome.INTERRUPTED,
                "stopped while the tests were tried",
                head=data["head"],
            )
            return
        if run.id == run_id(attempt, RunKind.CHEAT, _serial(data)):  # else it was judged, and a crash hid it
            if cut_off and data["cut_off"] < MOST_CUT_OFF:
                data["cut_off"] += 1
            else:
                if results and overall(results) is CheckOutcome.PASS:
                    data["met"] = [*data["met"], self._cheats(attempt)[data["cheat"]].name]
                data |= {"cheat": data["cheat"] + 1, "cut_off": 0}
            self.ports.store.journal(attempt.id, data)
        self.ports.store.end_run(run.id)
        self.go_on(replace(attempt, data=data), limits)

    def _cheats(self, attempt: Attempt) -> tuple[Cheat, ...]:
        """The same ones each time, from the tree with the tests and what the red proof printed."""
        if self.ports.config().review.test_strength == "red":
            return ()
        git = self.ports.git
        head = str(attempt.data["head"])

        def read(path: str) -> str | None:
            try:
                content = git.read(head, path, LARGEST)
                return None if content is None else content.decode()
            except (FileTooLarge, UnicodeDecodeError):
                return None

        paths = git.paths(head)
        changed = [c.path for c in git.changes(str(attempt.data["start"]), head) if c.path in paths]
        tests = {path: text for path in changed if (text := read(path)) is not None}
        output = "\n".join(str(row.get("tail", "")) for row in attempt.data["red_proof"])
        return plan(tests, Tree(paths, read), output)


def _serial(data: Mapping[str, Any]) -> int:
    """The number of the run that is to be done next."""
    return int(data["cheat"]) * 10 + int(data["cut_off"]) + 1
