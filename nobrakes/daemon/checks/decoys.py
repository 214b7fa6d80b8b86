"""Decoys at work: which tests of a validation are altered once its checks have passed, and what the runner said.

1. The bead's own tests come first, since they were seen red; else the one that main's last run reported; else any.
   Which one is drawn, of those
   whose expected value can be altered if there are any, and nobody knows it before the checks have run.
2. They are steps of the same run in the same checkout, after all checks; the second is run when the first went
   unnoticed.
3. Where a check writes its results into files, those are read before a decoy writes others in their place, by a step of
   its own; and a decoy has to be reported in such a file, too.
4. What was planned lies beside the run (PLAN), so that any daemon judges it. Nothing is asked for here:
   core.checks.decoys says what a report is, and daemon.review.queue what it means beside main's.
"""

import json
import os
import random
import secrets
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...core.checks.contract import Check, CheckOutcome, CheckResult
from ...core.checks.decoys import LARGEST, Decoy, decoys, endings, is_reported, likely, named, narrowed
from ...core.errors import GitFailed, NoMain
from ...core.policy.boundaries import ABSENT
from ...ports import Argv, Ending, Step, StepEnd
from ..ports import Ports
from .steps import OUTPUT_TAIL, TOOL_SECONDS, CheckStep, run_argv, run_name

PLAN = "decoys.json"
"""The file in a run's folder that says which tests are altered for which check."""

FOLDER = "decoys"
"""The folder in a run's folder with the altered files."""

MOST = 2
"""So many tests of a check are altered at most, one after the other."""

LOOKED_AT = 12
"""So many files are looked at for one that can be altered."""

SEEN = "seen"
UNSEEN = "unseen"

_PUT = 'cp -- "$1" "./$2" && shift 2 && exec "$@"'

Plan = Mapping[str, Sequence[Decoy]]
"""Check to the tests that are altered for it."""


class Decoys:
    """Plans and judges the decoys of validations."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._draw = random.Random(secrets.token_bytes(16))

    def plan(self, commit: str, checks: Sequence[Check], recorded: Callable[[str], Mapping[str, Any] | None]) -> Plan:
        """The decoys for a run of these checks on the commit. `recorded`: what is remembered of a tree."""
        tests = [check for check in checks if check.kind == "test" and check.read_as != "exit"]
        if not tests or not self.ports.config().review.decoy:
            return {}
        git = self.ports.git
        try:
            main = git.main()
            changes = git.changes(main, commit)
            own = [change.path for change in changes if change.after != ABSENT and likely(change.path)]
            reported = decoys_of(recorded(git.tree(main)))
            return {check.name: found for check in tests if (found := self._for(check, commit, own, reported))}
        except (GitFailed, NoMain):
            return {}  # the run itself says what is wrong with the repository

    def _for(self, check: Check, commit: str, own: Sequence[str], reported: Mapping[str, str]) -> list[Decoy]:
        fits = self._fits(check)
        there = [one for one in sorted(self.ports.git.paths(commit)) if likely(one) and fits(one)]
        run = named(check.command, check.directory, there)
        mine = self._drawn(commit, [path for path in own if path in run])
        if mine:
            return mine
        word, _, name = reported.get(check.name, "").partition(" ")
        path, _, test = name.partition("::")
        if word == SEEN and path in run:
            again = [one for one in self._of(commit, path) if one.test == test]
            if again:
                return again[:1]
        return self._drawn(commit, run)

    def _fits(self, check: Check) -> Callable[[str], bool]:
        below, ends = (f"{check.directory.strip('/')}/" if check.directory else ""), endings(check)
        return lambda path: path.startswith(below) and path.endswith(ends)

    def _drawn(self, commit: str, paths: Sequence[str]) -> list[Decoy]:
        found: list[Decoy] = []
        for path in self._draw.sample(paths, min(len(paths), LOOKED_AT)):
            some = self._of(commit, path)
            best = [one for one in some if one.by_value] or some
            found += [self._draw.choice(best)] if best else []
            if len(found) == MOST:
                break
        return found

    def _of(self, commit: str, path: str) -> list[Decoy]:
        content = self.ports.git.read(commit, path)
        if content is None or len(content) > LARGEST:
            return []
        try:
            return decoys(path, content.decode(), self._draw.randrange(10**11))
        except UnicodeDecodeError:
            return []

    def judged(
        self, result: CheckResult, check: Check, plan: Sequence[Decoy], ending: Ending, top: str, folder: str
    ) -> CheckResult:
        """The result of a check that passed, with what became of its decoys. `top`, `folder`: see checksteps.Ends."""
        if result.outcome is not CheckOutcome.PASS or not plan:
            return result
        ends = {end.name: end for end in ending.steps}
        seconds, last = 0.0, plan[0]
        for number, decoy in enumerate(plan):
            end = ends[step_name(check, number)]
            if not end.started:
                break
            seconds, last = seconds + end.seconds, decoy
            if is_reported(self._said(check, end, top, folder), check.read_as, decoy.test):
                told = f"{result.reason}; an altered test was reported in {seconds:.1f} s more"
                return replace(result, decoy=f"{SEEN} {decoy.path}::{decoy.test}", reason=told)
        return replace(result, decoy=f"{UNSEEN} {last.path}::{last.test}")

    def _said(self, check: Check, end: StepEnd, top: str, folder: str) -> str:
        """What the runner said of an altered test: in its reports where the check has some, else in its output."""
        if not check.report:
            return self.ports.processes.output(end.output, OUTPUT_TAIL)
        keep = os.path.join(folder, f"{end.name}.reports")
        found = self.ports.processes.reports(top, check.directory, check.report, end.begun, keep)
        return "\n".join(found.texts)


def decoys_of(recorded: Mapping[str, Any] | None) -> dict[str, str]:
    """Check to what became of its decoys, in recorded results; without the checks that had none."""
    rows = (recorded or {}).get("results", ())
    return {str(row["name"]): str(row["decoy"]) for row in rows if row.get("decoy")}


def unnoticed(recorded: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """(check, altered test) of those that were not reported, in recorded results."""
    told = ((check, decoy.partition(" ")) for check, decoy in decoys_of(recorded).items())
    return [(check, test) for check, (word, _, test) in told if word == UNSEEN]


def step_name(check: Check, number: int) -> str:
    """What the step is called that runs the check with a test altered."""
    return f"{check.name}@decoy{number + 1}"


def keep_name(check: Check) -> str:
    """What the step is called that reads the check's reports before a decoy writes over them."""
    return f"{check.name}@reports"


def steps_for(check: Check, plan: Sequence[Decoy], folder: str, wrap: Callable[[Argv], Argv]) -> list[Step]:
    """The steps that put the altered files in their places and run the check, after all others of the run."""
    passed = tuple(run_name(check, again) for again in range(check.retry + 1))
    found: list[Step] = []
    if plan and check.report:
        keep = (
            sys.executable,
            "-I",
            "-m",
            "nobrakes.host.runs.reports",
            folder,
            check.directory,
            check.report,
            *passed,
        )
        found.append(Step(keep_name(check), keep, join_output=True, when_passed=passed))
        passed = (keep_name(check),)
    for number, decoy in enumerate(plan):
        altered = os.path.join(folder, file_name(check, number))
        run = run_argv(replace(check, command=narrowed(check.command, decoy.test)))
        argv = wrap(("sh", "-c", _PUT, "sh", altered, decoy.path, *run))
        needs = (step_name(check, number - 1),) if number else passed
        found.append(Step(step_name(check, number), argv, join_output=True, when_passed=needs))
    return found


def timed(checks: Sequence[Check], plan: Plan) -> tuple[CheckStep, ...]:
    """The decoys' steps, as the clock of the checks knows them."""
    found: list[CheckStep] = []
    for check in checks:
        planned = plan.get(check.name, ())
        found += [CheckStep(keep_name(check), check, TOOL_SECONDS, ())] if planned and check.report else []
        found += [CheckStep(step_name(check, number), check, check.timeout, ()) for number in range(len(planned))]
    return tuple(found)


def file_name(check: Check, number: int) -> str:
    """Where an altered file lies, below the run's folder."""
    return f"{FOLDER}/{check.name}-{number + 1}"


def as_text(plan: Plan) -> str:
    """The plan as it is kept, without the altered texts."""
    return json.dumps({check: [[one.path, one.test] for one in some] for check, some in plan.items()})


def of_text(text: str) -> Plan:
    """The plan that was kept; empty where none was."""
    kept = json.loads(text) if text else {}
    return {check: [Decoy(path, test, "") for path, test in some] for check, some in kept.items()}
