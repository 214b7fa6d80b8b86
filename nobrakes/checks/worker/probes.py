"""Mutation probes at work: which files of a validation may be altered once its checks have passed, and what was said.

1. The bead's own tests come first, since they were seen red; else any that the check runs. Which of their tests are
   altered, and how, is drawn when the check has passed, by a step of its own (host.runs.probing).
2. That step runs the same command in the same checkout, after all checks. A bead has one such run of a check: what was
   seen in it is recorded, and stands for later reviews of the same change under the same contract. Another change (of
   tests, of code, or of the lines around them) is probed again.
3. Where a check writes its results into files, those are read before they are written once more; and an altered test
   has to be reported in such a file, too.
4. Nothing is asked for here: checks.probes says what a report is, and review.worker.queue what it means
   beside main's. Stored results call it `decoy`, as they did before.
"""

import json
import os
import random
import secrets
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...errors import GitFailed, NoMain
from ...git.port import Argv
from ...host.port import Ending, Step, StepEnd
from ...host.runs.probing import PLAN, PUT
from ...ports import Ports
from ..contract import Check, CheckOutcome, CheckResult
from ..policy.boundaries import ABSENT
from ..probes import LARGEST, endings, is_seen, likely, mutation_probes, named
from .steps import OUTPUT_TAIL, CheckStep, run_argv, run_name

POOL = 4
"""Of so many files tests may be drawn."""

LOOKED_AT = 12
"""So many files are looked at for one that can be altered."""

_RECORD = "probes "

SEEN = "seen"
UNSEEN = "unseen"

NOTHING: Mapping[str, str] = {}

Plan = Mapping[str, Sequence[str]]
"""Check to the files of tests that may be altered for it."""

Planned = tuple[Plan, str]
"""The plan of a run, and the digest of the change that it validates; empty: nothing is recorded of it."""
NO_PLAN: Planned = ({}, "")


class MutationProbes:
    """Plans and judges the mutation probes of validations."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._dice = random.Random(secrets.token_bytes(16))

    def recorded(self, change: str, contract: str) -> Mapping[str, str]:
        """Check to what was seen of this change before, under the contract with this key."""
        return (self.ports.store.validation(change, _RECORD + contract) or {}) if change else {}

    def record(self, change: str, contract: str, results: Sequence[CheckResult]) -> None:
        """Keep what was seen of a change, so that its next validation need not run it again."""
        known = self.recorded(change, contract)
        found = {**known, **{one.name: one.decoy for one in results if one.decoy.startswith(SEEN)}}
        if change and found != known:
            self.ports.store.save_validation(change, _RECORD + contract, found)

    def plan(self, commit: str, checks: Sequence[Check], base: str = "", contract: str = "") -> Planned:
        """The probes of a run of these checks on the commit, and the digest of what that changes on its `base`.

        What was seen of that change under the `contract` is not run again. Of main nothing is recorded.
        """
        tests = [check for check in checks if check.kind == "test" and check.read_as != "exit"]
        if not tests or not self.ports.config().review.mutation_probes:
            return NO_PLAN
        git = self.ports.git
        try:
            main = git.main()
            change = git.content(base, commit) if base and commit not in (base, main) else ""
            known = self.recorded(change, contract)
            own = [one.path for one in git.changes(main, commit) if one.after != ABSENT and likely(one.path)]
            left = (check for check in tests if check.name not in known)
            return {check.name: found for check in left if (found := self._for(check, commit, own))}, change
        except (GitFailed, NoMain):
            return NO_PLAN  # the run itself says what is wrong with the repository

    def _for(self, check: Check, commit: str, own: Sequence[str]) -> list[str]:
        below, ends = (f"{check.directory.strip('/')}/" if check.directory else ""), endings(check)
        every = (path for path in sorted(self.ports.git.paths(commit)) if path.startswith(below))
        run = named(check.command, check.directory, [path for path in every if path.endswith(ends) and likely(path)])
        mine = self._drawn(commit, [path for path in own if path in run])
        return mine or self._drawn(commit, run)

    def _drawn(self, commit: str, paths: Sequence[str]) -> list[str]:
        looked_at = self._dice.sample(paths, min(len(paths), LOOKED_AT))
        return [path for path in looked_at if self._can_be_altered(commit, path)][:POOL]

    def _can_be_altered(self, commit: str, path: str) -> bool:
        content = self.ports.git.read(commit, path)
        if content is None or len(content) > LARGEST:
            return False
        try:
            return bool(mutation_probes(path, content.decode(), self._dice))
        except UnicodeDecodeError:
            return False

    def steps(
        self, checks: Sequence[Check], plan: Plan, commit: str, folder: str, wrap: Callable[[Argv], Argv]
    ) -> tuple[Step, ...]:
        """The steps that alter tests and run their checks, after all others of the run."""
        repository = os.path.dirname(self.ports.git.lent()[0])
        planned = [check for check in checks if check.name in plan]
        return tuple(_step(check, plan[check.name], commit, repository, folder, wrap) for check in planned)

    def judged(
        self,
        result: CheckResult,
        check: Check,
        ending: Ending,
        top: str,
        folder: str,
        recorded: Mapping[str, str] = NOTHING,
        exempt: Sequence[str] = (),
    ) -> CheckResult:
        """The result of a check that passed, with what became of its probe. `top`, `folder`: see steps.Ends.

        `exempt`: tests that may fail (review.queue).
        """
        end = next((end for end in ending.steps if end.name == step_name(check)), None)
        if result.outcome is not CheckOutcome.PASS:
            return result
        if end is None or not end.started:
            return replace(result, decoy=recorded.get(check.name, ""))
        kept = self.ports.processes.output(os.path.join(folder, end.name + PLAN), OUTPUT_TAIL)
        altered = [(str(path), str(test)) for path, test in json.loads(kept)] if kept else []
        if kept and not altered:
            return result
        told = ", ".join(f"{path}::{test}" for path, test in altered) or "a test"
        tests = [test for _, test in altered]
        if not tests or not is_seen(self._said(check, end, top, folder), check.read_as, tests, exempt):
            return replace(result, decoy=f"{UNSEEN} {told}")
        reason = f"{result.reason}; an altered test was reported in {end.seconds:.1f} s more"
        return replace(result, decoy=f"{SEEN} {told}", reason=reason)

    def _said(self, check: Check, end: StepEnd, top: str, folder: str) -> str:
        """What the runner said of an altered test: in its reports where the check has some, else in its output."""
        if not check.report:
            return self.ports.processes.output(end.output, OUTPUT_TAIL)
        keep = os.path.join(folder, f"{end.name}.reports")
        found = self.ports.processes.reports(top, check.directory, check.report, end.begun, keep)
        return "\n".join(found.texts)


def probes_of(recorded: Mapping[str, Any] | None) -> dict[str, str]:
    """Check to what became of its mutation probe, in recorded results; without the checks that had none."""
    rows = (recorded or {}).get("results", ())
    return {str(row["name"]): str(row["decoy"]) for row in rows if row.get("decoy")}


def unnoticed(recorded: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """(check, altered tests) of those that were not reported alone, in recorded results."""
    told = ((check, said.partition(" ")) for check, said in probes_of(recorded).items())
    return [(check, test) for check, (word, _, test) in told if word == UNSEEN]


def step_name(check: Check) -> str:
    """What the step is called that runs the check with tests altered."""
    return f"{check.name}@probe"


def _step(
    check: Check, paths: Sequence[str], commit: str, repository: str, folder: str, wrap: Callable[[Argv], Argv]
) -> Step:
    passed = tuple(run_name(check, again) for again in range(check.retry + 1))
    words = {
        "folder": folder,
        "name": step_name(check),
        "repository": repository,
        "commit": commit,
        "paths": paths,
        "put": wrap(PUT),
        "run": wrap(run_argv(check)),
        "report": (check.directory, check.report, *passed) if check.report else (),
    }
    argv = (sys.executable, "-I", "-m", "nobrakes.host.runs.probing", json.dumps(words))
    return Step(step_name(check), argv, join_output=True, when_passed=passed)


def timed(checks: Sequence[Check], plan: Plan) -> tuple[CheckStep, ...]:
    """The probes' steps, as the clock of the checks knows them."""
    return tuple(CheckStep(step_name(check), check, check.timeout, ()) for check in checks if check.name in plan)


def as_text(planned: Planned) -> str:
    """What is kept of it: which checks are run once more, and the change."""
    return json.dumps([sorted(planned[0]), planned[1]])


def of_text(text: str) -> Planned:
    """What was kept; before, that was a list of checks alone."""
    kept = json.loads(text or "[]")
    checks, change = kept if kept and isinstance(kept[0], list) else (kept, "")
    return dict.fromkeys(checks, ()), change
