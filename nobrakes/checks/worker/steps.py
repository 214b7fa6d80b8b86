"""The contract of a commit, the steps of a run for its checks, their results, and mutation probes at work.

1. A check is its tools' versions, its command, then its repetitions; each is a step with its own output.
2. Repetitions run only after a failure, for parallel checks one by one after all have ended: a failure by crowding gets
   a chance alone.
3. A step's output is bounded by host.runs.recording.MAX_OUTPUT_BYTES; the result says if it was cut.
4. The step itself enters a check's directory, only if it is in the checkout with links resolved.

Mutation probes: which files of a validation may be altered after its checks passed, and the results.

1. The bead's own tests come first, as they were seen red; else any that the check runs. Of a batch each change has its
   own, and of each at least one has to be seen. A separate step draws tests and changes (host.runs.probing).
2. That step repeats the command in the same checkout, after all checks, once for each check of a bead: its result also
   counts for later reviews of the same change under the same contract.
3. Result files are read before they are overwritten; an altered test must be reported in them too.
4. Nothing is decided here: checks.probes reads reports, and review.worker.merge_queue compares with main's. Stored
   results call it `decoy`.
"""

import json
import os
import random
import secrets
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Any, NamedTuple, TypeVar

from ...agents.known import steering
from ...beads.model import Bead, Role, Run
from ...config.settings import Config, parse
from ...errors import ConfigError, FileTooLarge, GitFailed, NoMain
from ...git.location import own_code_globs
from ...git.port import ABSENT, Argv, Git
from ...host.port import Ending, Processes, Step, StepEnd
from ...host.runs import recording
from ...host.runs.probing import PLAN, PUT
from ...ports import Ports
from ...records import frozen
from ...review.evidence import excerpt
from ...text.redaction import redact, secret_values
from ..contract import (
    ASKED_WITH,
    SETUP_FAILED,
    Check,
    CheckEnd,
    CheckOutcome,
    CheckResult,
    Contract,
    TestCounts,
    is_of_setup,
    judge,
    unmet,
)
from ..policy.boundaries import SPRINT_DOCUMENTS, Boundary, is_in_sprint
from ..policy.ownership import CONTRACT
from ..probes import LARGEST, endings, likely, mutation_probes, named, unseen
from ..runners import count_tests, failing_tests

OUTPUT_TAIL = 2_000_000

One = TypeVar("One")

SETUP = 'cd -- "$1" && { sh -c "$2" || { code=$?; echo "$3 with exit code $code"; exit "$code"; }; }'

TOOL_SECONDS = 60.0

ENTER = """\
top=$(pwd -P) && cd -P -- "./$1" || exit 126
case $(pwd -P)/ in
    "$top"/*) shift && exec "$@" ;;
esac
echo "the directory $1 leads out of the checkout" >&2
exit 126
"""


@frozen
class CheckStep:
    """A step that belongs to a check, and how long it may take."""

    name: str
    check: Check
    seconds: float
    argv: Argv
    after: str = ""


def steps_of(checks: Sequence[Check]) -> tuple[CheckStep, ...]:
    return tuple(step for group in _groups(checks) for step in _group_steps(group))


def _groups(checks: Sequence[Check]) -> Iterator[tuple[Check, ...]]:
    for parallel, some in groupby(checks, lambda check: check.parallel):
        if parallel:
            yield tuple(some)
        else:
            yield from ((check,) for check in some)


def _group_steps(group: tuple[Check, ...]) -> Iterator[CheckStep]:
    for check in group:
        for number, (tool, _) in enumerate(check.tools):
            asks = _inside(check, (tool, ASKED_WITH.get(tool, "--version")))
            yield CheckStep(f"{check.name}@tool{number + 1}", check, TOOL_SECONDS, asks)
    yield from (CheckStep(check.name, check, check.timeout, run_argv(check)) for check in group)
    for check in group:
        for number in range(check.retry):
            name = run_name(check, number + 1)
            yield CheckStep(name, check, check.timeout, run_argv(check), after=run_name(check, number))


def run_name(check: Check, number: int) -> str:
    return f"{check.name}@{number + 1}" if number else check.name


def run_argv(check: Check) -> Argv:
    return _inside(check, ("sh", "-c", check.command))


def _inside(check: Check, argv: Argv) -> Argv:
    return ("sh", "-c", ENTER, "sh", check.directory, *argv) if check.directory else argv


def bounded(wrap: Callable[[Argv], Argv]) -> Callable[[Argv], Argv]:
    return lambda argv: recording.capped(wrap(argv))


def as_steps(checks: Sequence[Check], wrap: Callable[[Argv], Argv]) -> tuple[Step, ...]:
    beside = {check.name for group in _groups(checks) if len(group) > 1 for check in group}
    return tuple(
        Step(one.name, wrap(one.argv), join_output=True, beside=one.name in beside, after=one.after)
        for one in steps_of(checks)
    )


def seconds_of(checks: Sequence[Check]) -> float:
    total = 0.0
    for group in _groups(checks):
        total += max(check.timeout for check in group)
        total += sum(check.timeout * check.retry + TOOL_SECONDS * len(check.tools) for check in group)
    return total


def setup_argv(path: str, setup: str) -> tuple[tuple[str, ...], ...]:
    return (("sh", "-c", SETUP, "sh", path, setup, SETUP_FAILED),) if setup else ()


def setup_said(prologue: str | None) -> str:
    _, _, said = (prologue or "").partition("\n")  # the first line is the wrapper's own
    return said if is_of_setup(said) else ""


class Ends:
    """The meaning of a run's steps for its checks. `top`: its checkout, `folder`: its files."""

    def __init__(self, processes: Processes, ending: Ending, top: str, folder: str, overdue: bool) -> None:
        self.processes = processes
        self.by_name: Mapping[str, StepEnd] = {end.name: end for end in ending.steps}
        self.failed = ending.prologue_failed
        self.top = top
        self.folder = folder
        self.overdue = overdue  # the run was stopped, since a check had had its time

    def result(self, check: Check) -> CheckResult:
        """The check's last run, with its failed earlier ones."""
        runs = [self.by_name[check.name]]
        for number in range(check.retry):
            again = self.by_name[run_name(check, number + 1)]
            runs += [again] if again.started else []
        judged = [self._judged(check, end, last=end is runs[-1]) for end in runs]
        result = replace(judged[-1], repeated=tuple(judged[:-1]))
        if result.repeated and result.outcome is CheckOutcome.PASS:
            return replace(result, reason=f"the check passed in run {len(judged)}, and failed before")
        return result

    def _judged(self, check: Check, end: StepEnd, last: bool) -> CheckResult:
        output = self.failed if self.failed is not None else self.processes.output(end.output, OUTPUT_TAIL)
        reports, trouble = None, ""
        if check.report and last and end.started:
            keep = os.path.join(self.folder, f"{end.name}.reports")
            found = self.processes.reports(self.top, check.directory, check.report, end.begun, keep)
            reports, trouble = "\n".join(found.texts), found.trouble
        told = output if reports is None else reports
        (counts, names), unreadable = _safely(lambda: _counted(told, check), UNCOUNTED)
        whole = CheckEnd(
            check,
            end.code,
            end.seconds,
            end.started,
            self._late(check, end),
            output,
            "" if end.started else setup_said(self.failed) or self.failed or "",
            self._unmet(check),
            trouble,
            recording.left_out(output),
            unreadable,
        )
        return judge(whole, counts, names)

    def _late(self, check: Check, end: StepEnd) -> bool:
        if not self.overdue or not end.started or end.code is not None:
            return False
        others = [one for one in self.by_name.values() if one.started and one.code is None]
        return len(others) == 1 or end.seconds >= check.timeout

    def _unmet(self, check: Check) -> str:
        for number, (tool, wanted) in enumerate(check.tools):
            end = self.by_name[f"{check.name}@tool{number + 1}"]
            if not end.started:
                return ""
            if (why_not := unmet(tool, wanted, end.code, self.processes.output(end.output, OUTPUT_TAIL))) is not None:
                return why_not
        return ""


Counted = tuple[TestCounts | None, tuple[str, ...]]
UNCOUNTED: Counted = (None, ())


def _counted(told: str, check: Check) -> Counted:
    counts = count_tests(told, check.read_as) if check.kind == "test" else None
    return counts, failing_tests(told, check.read_as, counts)


def _safely(read: Callable[[], One], otherwise: One) -> tuple[One, str]:
    """What a reader says, and why it could not: no text of a bead's stops a review."""
    try:
        return read(), ""
    except Exception as error:
        return otherwise, f"nobrakes cannot read the check's output: {type(error).__name__}"


KEPT = 4

Proof = dict[str, Any]


def clean(ports: Ports, text: str) -> str:
    if not text:
        return ""
    values = _values((*ports.credentials.items(), *ports.environment.items()))
    return redact(text, values).encode("utf-8", "replace").decode()


@lru_cache(maxsize=4)  # a daemon's environment stays as it is, and each text that is kept asks for it
def _values(environment: tuple[tuple[str, str], ...]) -> frozenset[str]:
    return secret_values(environment)


def without_secrets(ports: Ports, result: CheckResult) -> CheckResult:
    repeated = tuple(without_secrets(ports, one) for one in result.repeated)
    return replace(result, tail=clean(ports, result.tail), repeated=repeated)


def proof(ports: Ports, run: Run, contract: Contract, results: Sequence[CheckResult]) -> Proof:
    return {
        "run": run.id,
        "attempt": run.attempt,
        "at": ports.store.now(),
        "contract": json.loads(contract.text),
        "checks": [row(ports, result) for result in results],
    }


def row(ports: Ports, result: CheckResult) -> Proof:
    counts = result.counts
    return {
        "name": result.name,
        "code": result.code,
        "outcome": result.outcome.value,
        "reason": result.reason,
        "seconds": result.seconds,
        "counts": counts and {"passed": counts.passed, "failed": counts.failed, "skipped": counts.skipped},
        "decoy": result.decoy,
        "excerpt": excerpt(result.tail),
    }


def with_proof(known: Mapping[str, Any] | None, fresh: Proof) -> list[Proof]:
    """The stored runs of a tree, with this one last; a repetition after a crash counts once."""
    before = [one for one in (known or {}).get("runs", ()) if one["run"] != fresh["run"]]
    return [*before, fresh][-KEPT:]


LARGEST_CONTRACT = 200_000


class CommittedChecks:
    """The checks of commits, each read once."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._checks: dict[str, tuple[Check, ...]] = {}

    def of(self, commit: str) -> tuple[Check, ...]:
        if commit not in self._checks:
            if len(self._checks) >= 32:
                self._checks.clear()
            self._checks[commit] = parse(text(self._git, commit) or "", CONTRACT).contract()
        return self._checks[commit]


def config(git: Git, commit: str) -> Config:
    """Raises ConfigError."""
    found = text(git, commit)
    return Config() if found is None else parse(found, f"{CONTRACT} of {commit[:12]}")


def is_same(git: Git, commit: str, other: str) -> bool:
    return git.read(commit, CONTRACT, LARGEST_CONTRACT) == git.read(other, CONTRACT, LARGEST_CONTRACT)


def text(git: Git, commit: str) -> str | None:
    """None: the commit has none. ConfigError: too large, or not text."""
    try:
        content = git.read(commit, CONTRACT, LARGEST_CONTRACT)
        return None if content is None else content.decode()
    except (FileTooLarge, UnicodeDecodeError):
        raise ConfigError(f"{CONTRACT} is too large, or not a text file") from None


def boundary_at(ports: Ports, base: str, role: Role, head: str = "", bead: Bead | None = None) -> Boundary:
    """The boundary for a role's work from `base` to `head`. `bead`: its bead."""
    found = with_agents(ports.config().boundary_at(ports.git, base, role, head))
    documents = SPRINT_DOCUMENTS if bead is not None and is_in_sprint(ports.store, bead) else ()
    return replace(found, steering=(*found.steering, *own_code_globs(ports.paths.root)), documents=documents)


def with_agents(boundary: Boundary) -> Boundary:
    return replace(boundary, steering=tuple(dict.fromkeys((*boundary.steering, *steering()))))


POOL = 4

MAX_SAMPLED = 12

_RECORD = "probes "

NOTICED = "seen"
UNSEEN = "unseen"

NOTHING: Mapping[str, str] = {}


class Group(NamedTuple):
    """Test files of which some are altered, and the changes that these speak for: pairs of commit and digest."""

    changes: tuple[tuple[str, str], ...] = ()
    paths: tuple[str, ...] = ()


Plan = Mapping[str, Sequence[Group]]
"""Check to what may be altered for it."""

Planned = tuple[Plan, str]
"""A run's plan, and the digest of the last change; empty: nothing is recorded."""
NO_PLAN: Planned = ({}, "")


class MutationProbes:
    """Plans and judges the mutation probes of validations."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._dice = random.Random(secrets.token_bytes(16))

    def recorded(self, change: str, contract: str) -> Mapping[str, str]:
        return (self.ports.store.validation(change, _RECORD + contract) or {}) if change else {}

    def record(self, plan: Plan, contract: str, results: Sequence[CheckResult]) -> None:
        """Remember the changes whose altered tests were seen."""
        for one in results:
            was_seen = one.decoy.startswith(NOTICED)
            for commit, change in (pair for group in plan.get(one.name, ()) for pair in group.changes):
                if change and (was_seen or (one.missed and commit not in one.missed)):
                    told = {one.name: one.decoy if was_seen else f"{NOTICED} a test"}
                    found = {**self.recorded(change, contract), **told}
                    self.ports.store.save_validation(change, _RECORD + contract, found)

    def plan(self, commit: str, checks: Sequence[Check], below: Sequence[str] = (), contract: str = "") -> Planned:
        """The probes of a run, and the digest of the commit's change. `below`: what it stands on, down to main: each of
        these is a change of its own. What was seen under the `contract` is not repeated. For main nothing is recorded.
        """
        tests = [check for check in checks if check.kind == "test" and check.read_as != "exit"]
        if not tests or not self.ports.config().review.mutation_probes:
            return NO_PLAN
        git = self.ports.git
        try:
            main = git.main()
            places = list(below if commit in below[:1] else [commit, *below])
            is_recorded = len(places) > 1 and commit != main
            changes: list[tuple[str, str]] = []
            owner: dict[str, str] = {}
            for base, head in pairwise(reversed(places if is_recorded else [commit, main])):
                owner |= {one.path: head for one in git.changes(base, head) if one.after != ABSENT}
                changes.append((head, git.content(base, head) if is_recorded else ""))
            known = {change: self.recorded(change, contract) for _, change in changes}
            found = {}
            for check in tests:
                left = [one for one in changes if check.name not in known[one[1]]]
                if groups := self._for(check, commit, left, owner) if left else ():
                    found[check.name] = groups
            return found, changes[-1][1]
        except (GitFailed, NoMain):
            return NO_PLAN  # the run itself says what is wrong with the repository

    def _for(
        self, check: Check, commit: str, changes: Sequence[tuple[str, str]], owner: Mapping[str, str]
    ) -> list[Group]:
        """A group for each change with tests of its own, and one for the others. A file is the last one's."""
        below, ends = (f"{check.directory.strip('/')}/" if check.directory else ""), endings(check)
        every = (path for path in sorted(self.ports.git.paths(commit)) if path.startswith(below))
        run = named(check.command, check.directory, [path for path in every if path.endswith(ends) and likely(path)])
        drawn = [(one, self._drawn(commit, [path for path in run if owner.get(path) == one[0]])) for one in changes]
        groups = [Group((one,), paths) for one, paths in drawn if paths]
        rest = tuple(one for one, paths in drawn if not paths)
        used = {path for group in groups for path in group.paths}
        if not rest:
            return groups
        if paths := self._drawn(commit, [path for path in run if path not in used]):
            return [*groups, Group(rest, paths)]
        return [Group((*group.changes, *rest), group.paths) for group in groups]

    def _drawn(self, commit: str, paths: Sequence[str]) -> tuple[str, ...]:
        looked_at = self._dice.sample(paths, min(len(paths), MAX_SAMPLED))
        return tuple([path for path in looked_at if self._can_be_altered(commit, path)][:POOL])

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
        groups: Sequence[Group] = (),
    ) -> CheckResult:
        """A passed check's result with its probe's. `top`, `folder`: see Ends. `exempt`: may fail (review.queue).
        `groups`: as planned."""
        end = next((end for end in ending.steps if end.name == step_name(check)), None)
        if result.outcome is not CheckOutcome.PASS:
            return result
        if end is None or not end.started:
            return replace(result, decoy="" if groups else recorded.get(check.name, ""))
        kept = self.ports.processes.output(os.path.join(folder, end.name + PLAN), OUTPUT_TAIL)
        rows = json.loads(kept) if kept else []
        if kept and not rows:
            return result
        altered: list[list[tuple[str, str]]] = [[] for _ in groups or (Group(),)]
        for path, test, *number in rows:  # an earlier version numbered no groups
            altered[number[0] if number else 0].append((str(path), str(test)))
        tests, every = [[test for _, test in group] for group in altered], list(range(len(altered)))
        said = self._said(check, end, top, folder) if rows else ""
        missed = _safely(lambda: unseen(said, check.read_as, tests, exempt), every)[0] if rows else every
        told = ", ".join(f"{path}::{test}" for at in missed or every for path, test in altered[at]) or "a test"
        if missed:
            commits = (commit for at in missed for group in groups[at : at + 1] for commit, _ in group.changes)
            return replace(result, decoy=f"{UNSEEN} {told}", missed=tuple(filter(None, dict.fromkeys(commits))))
        reason = f"{result.reason}; an altered test failed ({end.seconds:.1f} s more)"
        return replace(result, decoy=f"{NOTICED} {told}", reason=reason)

    def _said(self, check: Check, end: StepEnd, top: str, folder: str) -> str:
        if not check.report:
            return self.ports.processes.output(end.output, OUTPUT_TAIL)
        keep = os.path.join(folder, f"{end.name}.reports")
        return "\n".join(self.ports.processes.reports(top, check.directory, check.report, end.begun, keep).texts)


def probes_of(recorded: Mapping[str, Any] | None) -> dict[str, str]:
    """By check, the result of its mutation probe; without checks that had none."""
    return {str(row["name"]): str(row["decoy"]) for row in (recorded or {}).get("results", ()) if row.get("decoy")}


def unnoticed(recorded: Mapping[str, Any] | None) -> list[tuple[str, str, frozenset[str]]]:
    """(check, altered tests, the changes that these speak for) of each probe that was not seen."""
    rows = ((row, str(row.get("decoy", "")).partition(" ")) for row in (recorded or {}).get("results", ()))
    return [
        (str(row["name"]), test, frozenset(row.get("missed", ()))) for row, (word, _, test) in rows if word == UNSEEN
    ]


def step_name(check: Check) -> str:
    return f"{check.name}@probe"


def _step(
    check: Check, groups: Sequence[Group], commit: str, repository: str, folder: str, wrap: Callable[[Argv], Argv]
) -> Step:
    passed = tuple(run_name(check, again) for again in range(check.retry + 1))
    words = {
        "folder": folder,
        "name": step_name(check),
        "repository": repository,
        "commit": commit,
        "groups": [group.paths for group in groups],
        "put": wrap(PUT),
        "run": wrap(run_argv(check)),
        "report": (check.directory, check.report, *passed) if check.report else (),
    }
    argv = (sys.executable, "-I", "-m", "nobrakes.host.runs.probing", json.dumps(words))
    return Step(step_name(check), argv, join_output=True, when_passed=passed)


def timed(checks: Sequence[Check], plan: Plan) -> tuple[CheckStep, ...]:
    return tuple(CheckStep(step_name(check), check, check.timeout, ()) for check in checks if check.name in plan)


def as_text(planned: Planned) -> str:
    """Without the files."""
    checks = {name: [group.changes for group in groups] for name, groups in planned[0].items()}
    return json.dumps({"checks": checks, "change": planned[1]})


def parse_planned(text: str) -> Planned:
    """Older texts are a list of checks alone, or of those and the change."""
    kept = json.loads(text or "[]")
    if isinstance(kept, dict):
        checks = kept["checks"].items()
        plan = {name: tuple(Group(tuple(map(tuple, changes))) for changes in groups) for name, groups in checks}
        return plan, str(kept["change"])
    names, change = kept if kept and isinstance(kept[0], list) else (kept, "")
    return dict.fromkeys(names, (Group((("", change),) if change else ()),)), change
