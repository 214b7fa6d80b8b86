"""Validations, red proofs and the strength of new tests: the contract's commands, run in a fresh checkout.

The strength of new tests: proven red, they must also fail with a program that does nothing right (checks.stubs).

1. The test checks run once, on the tests with the stub program laid over them.
2. Only a passing run counts against the tests; a broken or slow one says nothing.
3. The journal records the judgement: after a crash the run is judged or started again.
"""

import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial
from typing import Any

from ...agents.adapter import LineKind
from ...agents.worker.end import close
from ...agents.worker.watch import LOOKS, Output, calls_in
from ...beads.model import Attempt, Outcome, Role, Run, RunKind
from ...config.settings import Config
from ...daemon.model import WATCH, Limits
from ...errors import FileTooLarge
from ...events.kinds import Event, Kind
from ...globs import matches
from ...host.confine import Confinement
from ...host.port import Command, Ending, Notice, ProcessStart
from ...parking import parked, run_owner
from ...ports import Ports
from ...records import as_values
from ...requests.worker.landing_branch import lands_on
from ...review import queue
from ...review.journal import CORES
from ...review.main_monitor import ASKED
from ...sandbox.system_paths import HOME, MADE
from ...sessions.model import name_of
from ...trash import Trash
from .. import proof as checks_proof
from ..contract import Check, CheckOutcome, CheckResult, Contract, TestCounts, digest, overall, setup_failed, weaker
from ..proof import fewer
from . import steps as run_steps

SETTING = "check_seconds"

_STEPS = {RunKind.RED_PROOF: "red_proof", RunKind.CHEAT: "test_strength"}


class Durations:
    """Remembers and tells them."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports

    def tell(self, run: str, commit: str, kind: RunKind, attempt: Attempt | None, step: str = "") -> None:
        """Record that checks begin: of an attempt, or in `step` without one."""
        step = step or _STEPS.get(kind) or str((attempt.data if attempt else {}).get("step", ""))
        data = {"step": step, "commit": commit, "run": run, "seconds": self._known().get(kind.value)}
        bead, number = (attempt.bead, attempt.id) if attempt else (None, None)
        if bead is not None and kind is RunKind.VALIDATION:
            epic = lands_on(self.ports, self.ports.store.bead(bead)).epic
            data |= {"epic": epic} if epic else {}
        self.ports.store.record(Event(Kind.CHECKS_BEGAN, bead, number, data=data))

    def note(self, run: Run, ending: Ending) -> None:
        """Remember how long a run of all its checks took, and how many cores a validation kept busy."""
        ends = [step.begun + step.seconds for step in ending.steps if step.started]
        if not ends or ending.cut_off or run.stopping is not None or ending.prologue_failed is not None:
            return
        seconds = round(max(0.0, max(ends) - run.started_at), 1)
        known = self._known()
        if known.get(run.kind.value) != seconds:
            self.ports.store.set_setting(SETTING, json.dumps(known | {run.kind.value: seconds}))
        busy = f"{round(2 * ending.cpu / seconds) / 2:g}" if seconds else "0"
        if run.kind is RunKind.VALIDATION and self.ports.store.setting(CORES) != busy:
            self.ports.store.set_setting(CORES, busy)

    def _known(self) -> dict[str, float]:
        text = self.ports.store.setting(SETTING)
        return dict(json.loads(text)) if text else {}


MAX_CUT_OFF = 3
"""How often a cut-off validation repeats in an attempt before a person is asked."""

CONTRACT = "contract.json"
"""The file in a run's folder that says what it executes."""

REMEMBERED = 256

CARRIED = "carried.json"
"""The file in a run's folder with results of checks that it skips."""

PROBED = "probes.json"
"""The file in a run's folder with the checks that repeat with an altered test."""

OVER = "over"

NOTHING: Mapping[str, Any] = {}

STUB_SECONDS = 300.0
"""Limit of a check with a stub program, which may never end; a timeout says nothing."""

_CALLED = {RunKind.RED_PROOF: "proof", RunKind.CHEAT: "stub", RunKind.VALIDATION: "check"}


def times_cut_off(data: Mapping[str, Any]) -> int:
    return int(data.get("cut_off", 0))


def run_id(attempt: Attempt, kind: RunKind, serial: int) -> str:
    return f"{attempt.id}-{_CALLED[kind]}{serial}"


# The commands come from the human's config, never from the candidate. What a run executes is written beside its output,
# and judged by that. Only passes are remembered, by tree and commands. A run that was cut off is done again, a few
# times. One that repeats what failed is of the whole contract: the results that stand lie beside it (CARRIED).
class Validation:
    """Starts and judges the runs in which checks are executed."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._contracts: dict[str, Contract] = {}
        self._texts: dict[tuple[str, str], str] = {}
        self._present: Contract | None = None
        self._known: dict[tuple[str, str], Mapping[str, Any] | None] = {}
        self._made: tuple[tuple[Config | None, str | None], Contract | None] = ((None, None), None)
        self.scratch = Scratch(ports)
        self.confinement = Confinement(ports, travels=True)
        self.probes = run_steps.MutationProbes(ports)
        self.durations = Durations(ports)
        self._committed = run_steps.CommittedChecks(ports.git)
        self._brought: dict[str, Contract] = {}

    def look_again(self) -> None:
        self._present = None
        self._brought.clear()
        self._known.clear()

    def present(self, brings: str = "") -> Contract:
        """The checks to run now; for a review that `brings` a contract, that commit's."""
        if brings:
            if brings not in self._brought:
                self._brought[brings] = replace(self.present(), checks=self._committed.of(brings))
            return self._brought[brings]
        if self._present is None:
            config, quarantined = self.ports.config(), self.ports.store.setting(queue.SETTING)
            made_from, present = self._made
            if present is None or made_from[0] is not config or made_from[1] != quarantined:
                pairs = queue.pairs(quarantined)
                present = Contract(config.setup, config.contract(), digest(self.confinement.seen()), pairs)
                self._made = (config, quarantined), present
            self._present = present
        return self._present

    def contract(self, brings: str = "") -> str:
        return self.present(brings).key

    def passed(self, tree: str, attempt: int | None = None, brings: str = "") -> Mapping[str, Any] | None:
        """Results of a tree that passed today's checks, in a run that can replace one. `attempt`: the asking review."""
        present = self.present(brings)
        if attempt is None and not present.cached:
            return None
        found = self.known(tree, present.key if present.cached else f"{present.key}/{attempt or 0}")
        return found if found is not None and found.get("runs") else None

    def recorded(self, tree: str) -> Mapping[str, Any] | None:
        return self.known(tree, self.contract())

    def known(self, tree: str, key: str) -> Mapping[str, Any] | None:
        place = tree, key
        if place not in self._known:
            self._known[place] = self.ports.store.validation(tree, key)
        return self._known[place]

    def save(self, tree: str, key: str, results: Mapping[str, Any]) -> None:
        self._known.pop((tree, key), None)
        self.ports.store.save_validation(tree, key, results)

    def run_contract(self, run_id: str) -> Contract | None:
        """What a run executes; None: unknown."""
        if run_id not in self._contracts:  # written once and never changed, and asked for at every look at the run
            path = os.path.join(self.ports.paths.runs, run_id, CONTRACT)
            text, present = self.ports.processes.output(path, run_steps.OUTPUT_TAIL), self.present()
            found = present if text == present.text else Contract.parse(text)
            if found is None:
                return None
            if len(self._contracts) >= REMEMBERED:
                self._contracts.clear()
            self._contracts[run_id] = found
        return self._contracts[run_id]

    def is_of_today(self, run_id: str, brings: str = "") -> bool:
        contract = self.run_contract(run_id)
        return contract is not None and contract.key == self.contract(brings)

    def start(
        self,
        attempt: Attempt,
        commit: str,
        kind: RunKind,
        serial: int,
        laid_over: Mapping[str, str] = NOTHING,
        carried: Sequence[Mapping[str, Any]] = (),
        brings: str = "",
        below: Sequence[str] = (),
    ) -> Run:
        """Plan and start the run, with these files over the checkout; repeatable. `carried`: valid results (rows of
        `as_json`) whose checks do not run. `below`: what the commit stands on, down to main."""
        ports = self.ports
        name = run_id(attempt, kind, serial)
        # one that a crash cut off is taken up as it was begun
        known = self.run_contract(name)
        contract = known or self._contract_for(kind, brings)
        probes = run_steps.NO_PLAN
        if known is not None:
            carried = self.carried(name)
        elif kind is RunKind.VALIDATION:
            probes = self.probes.plan(commit, _run(contract, carried), below, contract.key)
        checks = contract.checks
        now = ports.store.now()
        steps = run_steps.seconds_of(checks), *(step.seconds for step in run_steps.timed(checks, probes[0])), 1800.0
        run = Run(name, attempt.id, kind, now, hard_deadline=now + sum(steps), active_at=now)
        ports.store.plan_run(run)
        if known is None:
            self.durations.tell(name, commit, kind, attempt)
        born = self.execute(name, commit, contract, laid_over, carried, probes)
        ports.store.update_run(name, pid=born.pid, born=born.mark)
        return run

    def execute(
        self,
        name: str,
        commit: str,
        contract: Contract,
        laid_over: Mapping[str, str] = NOTHING,
        carried: Sequence[Mapping[str, Any]] = (),
        probes: "run_steps.Planned" = run_steps.NO_PLAN,
    ) -> ProcessStart:
        """Start the contract's commands on a fresh checkout with these files over it."""
        ports = self.ports
        path = os.path.join(ports.paths.scratch, name)
        folder = os.path.join(ports.paths.runs, name)
        files = {f"{OVER}/{file}": text.encode() for file, text in laid_over.items()}
        over = os.path.join(folder, OVER)
        # inside, since the checkout may hold links that lead out of it
        copy = (("cp", "-R", os.path.join(over, "."), path),) if files else ()
        made = ports.git.scratch(commit, path)
        reports = tuple((check.directory, check.report) for check in contract.checks if check.report)
        confined = self.confinement.check(path, folder, (over,) if files else (), commit, made, reports)
        if self.confinement.home(folder):
            files[MADE] = b""  # the folder is made with it
        if carried:
            files[CARRIED] = json.dumps(list(carried)).encode()
        files |= confined.files
        wrap = run_steps.bounded(confined.wrap)
        steps = run_steps.as_steps(_run(contract, carried), wrap)
        if any(probes):
            files[PROBED] = run_steps.as_text(probes).encode()
            steps += self.probes.steps(contract.checks, probes[0], commit, folder, wrap)
        return ports.processes.start(
            name,
            Command(
                folder=folder,
                cwd=path,
                env={**self.confinement.environment(folder), "CI": "1"},
                steps=steps + confined.closing(),
                prologue=(
                    *made,
                    *map(wrap, copy + run_steps.setup_argv(path, contract.setup)),
                ),
                keep_going=True,
                files={CONTRACT: contract.text.encode(), **files},
            ),
        )

    def _contract_for(self, kind: RunKind, brings: str) -> Contract:
        """All commands, or for new tests only the tests."""
        present = self.present(brings)
        if kind is RunKind.VALIDATION:
            return present
        # a proof wants to see them fail, and not again and again
        tests = tuple(replace(c, retry=0) for c in present.checks if c.kind == "test")
        if kind is RunKind.CHEAT:
            tests = tuple(replace(c, timeout=min(c.timeout, STUB_SECONDS)) for c in tests)
        # nor is a whole check that is quarantined forgiven there: it would never be red
        single = tuple(pair for pair in present.quarantined if pair[1] != queue.WHOLE)
        return replace(present, checks=tests, quarantined=single)

    def carried(self, run_id: str) -> Sequence[Mapping[str, Any]]:
        text = self._beside(run_id, CARRIED)
        return tuple(json.loads(text)) if text else ()

    def planned(self, run_id: str) -> "run_steps.Planned":
        return run_steps.parse_planned(self._beside(run_id, PROBED))

    def _beside(self, run_id: str, name: str) -> str:
        """Cached, since it is written once."""
        if (run_id, name) not in self._texts:
            text = self.ports.processes.output(os.path.join(self.ports.paths.runs, run_id, name), run_steps.OUTPUT_TAIL)
            if self.run_contract(run_id) is None:
                return text  # the run's folder is not there yet
            if len(self._texts) >= REMEMBERED:
                self._texts.clear()
            self._texts[run_id, name] = text
        return self._texts[run_id, name]

    def checks(self, run: Run) -> tuple[Check, ...]:
        contract = self.run_contract(run.id)
        return _run(contract, self.carried(run.id)) if contract is not None else ()

    def steps(self, run: Run) -> list[str]:
        return [step.name for step in self.timed(run)]

    def timed(self, run: Run) -> tuple[run_steps.CheckStep, ...]:
        checks = self.checks(run)
        return run_steps.steps_of(checks) + run_steps.timed(checks, self.planned(run.id)[0])

    def was_cut_off(self, run: Run) -> bool:
        """Whether the run was killed from outside without a request."""
        if run.stopping is not None:
            return False
        return self.ports.processes.ending(os.path.join(self.ports.paths.runs, run.id), self.steps(run)).cut_off

    def judge(self, run: Run) -> list[CheckResult]:
        """The results of an ended run; also removes its checkout."""
        ports = self.ports
        contract = self.run_contract(run.id)
        if contract is None:
            self.scratch.drop(run.id)
            return [CheckResult("checks", CheckOutcome.BROKEN, "the record of the check's run is missing", None, 0.0)]
        folder = os.path.join(ports.paths.runs, run.id)
        stand = {str(row["name"]): result_of(row) for row in self.carried(run.id)}
        ending = ports.processes.ending(folder, self.steps(run))
        if not stand:
            self.durations.note(run, ending)
        top = os.path.join(ports.paths.scratch, run.id)
        plan, change = self.planned(run.id)
        recorded = self.probes.recorded(change, contract.key)
        ends = run_steps.Ends(ports.processes, ending, top, folder, run.stopping is Outcome.TIMED_OUT)
        results = [
            stand.get(check.name)
            or self.probes.judged(
                queue.forgiven(run_steps.without_secrets(ports, ends.result(check)), contract.quarantined),
                check,
                ending,
                top,
                folder,
                recorded,
                [test for name, test in contract.quarantined if name == check.name],
                plan.get(check.name, ()),
            )
            for check in contract.checks
        ]
        self.probes.record(plan, contract.key, results)
        self.scratch.drop(run.id)
        return results

    def remember(self, tree: str, run: Run, results: Sequence[CheckResult]) -> None:
        contract = self.run_contract(run.id)
        if contract is not None and overall(results) is CheckOutcome.PASS:
            known = self.known(tree, contract.key)
            proofs = run_steps.with_proof(known, run_steps.proof(self.ports, run, contract, results))
            found = {"results": as_json(results), "runs": proofs}
            self.save(tree, contract.key, found)
            if not contract.cached:
                self.save(tree, f"{contract.key}/{run.attempt}", found)


def _run(contract: Contract, carried: Sequence[Mapping[str, Any]]) -> tuple[Check, ...]:
    stand = {row["name"] for row in carried}
    return tuple(check for check in contract.checks if check.name not in stand)


def result_of(row: Mapping[str, Any]) -> CheckResult:
    """A result as `as_json` wrote it, without its output."""
    counts = TestCounts(**row["counts"]) if row["counts"] else None
    forgiven = tuple(row["quarantined"])
    outcome, reason, seconds = CheckOutcome(row["outcome"]), str(row["reason"]), float(row["seconds"])
    decoy = str(row.get("decoy", ""))
    name = str(row["name"])
    missed = tuple(row.get("missed", ()))
    code = row["code"]
    return CheckResult(name, outcome, reason, code, seconds, counts, quarantined=forgiven, decoy=decoy, missed=missed)


def as_json(results: Sequence[CheckResult]) -> list[dict[str, Any]]:
    """Results as JSON values, outputs cut for people."""
    rows = []
    for result in results:
        row = as_values(result)
        row["counts"] = result.counts and as_values(result.counts)
        passed = result.outcome is CheckOutcome.PASS and not result.quarantined
        row["tail"] = result.tail[-4000:] if not passed else ""
        row["repeated"] = as_json(result.repeated)
        rows.append(row)
    return rows


def counts_of(recorded: Mapping[str, Any] | None) -> TestCounts | None:
    total: TestCounts | None = None
    for row in (recorded or {}).get("results", []):
        if row.get("counts"):
            counts = TestCounts(**row["counts"])
            old = total or TestCounts(0, 0, 0)
            total = TestCounts(old.passed + counts.passed, old.failed + counts.failed, old.skipped + counts.skipped)
    return total


def sum_counts(results: Sequence[CheckResult]) -> TestCounts | None:
    return counts_of({"results": as_json(results)})


def explain(results: Sequence[CheckResult]) -> str:
    """The failed checks for the attempt's log: one line each, and the last lines of the output."""
    parts = []
    if why := setup_failed(results):  # each check would say the same
        results = [replace(one, name="setup", reason=why) for one in results if one.reason == why][:1]
    for result in results:
        if result.outcome is not CheckOutcome.PASS:
            tail = "\n".join(result.tail.strip().splitlines()[-30:])
            parts.append(f"{result.name}: {result.outcome.value}: {result.reason}" + (f"\n{tail}" if tail else ""))
    return "\n\n".join(parts) or "no check is configured"


PREPARING_SECONDS = 1.0


# What is remembered is when a check was first seen running, so a new daemon gives it its time once more. Nobody tells
# when one ends and the next begins: a run is looked at again within the time of each that has not begun.
class CheckClock:
    """Watches the checks of validations and red proofs."""

    def __init__(self, validation: Validation) -> None:
        self.validation = validation
        self._seen: dict[str, dict[str, float]] = {}  # by run: the steps that are running, and when each is due

    def is_overdue(self, run: Run, look: Callable[[], Ending], now: float) -> bool:
        """Whether a running check's timeout passed. `look` is called only if one may have."""
        known = self._seen.get(run.id, {})
        if known and now < min(known.values()):
            return False
        ending = look()
        running = {end.name for end in ending.steps if end.started and end.code is None}
        whole = self.validation.timed(run)
        steps = [step for step in whole if step.name in running]
        if not steps:
            self._seen[run.id] = {"": now + PREPARING_SECONDS}
            return False
        seen = {step.name: known.get(step.name, now + step.seconds) for step in steps}
        self._seen[run.id] = seen
        is_overdue = now >= min(seen.values())
        begun = {end.name for end in ending.steps if end.started}
        if later := [step.seconds for step in whole if step.name not in begun]:
            beside = any(step.check.parallel for step in steps)  # neighbours begin at nearly the same time
            seen[""] = now + (PREPARING_SECONDS if beside else min(later))
        return is_overdue

    def keep(self, runs: Set[str]) -> None:
        for run in self._seen.keys() - runs:
            del self._seen[run]

    def due(self, run: str) -> Collection[float]:
        """When something of the run may be overdue; empty: unknown."""
        return self._seen.get(run, {}).values()

    def wake_at(self) -> list[float]:
        return [due for seen in self._seen.values() for due in seen.values()]


PHASE = "cheats"
WEAK = (
    "the new tests also pass with fake code, so they prove little. In the fake code each function always returns the "
    "same value: the value that the test compares with, true, or nothing. Add cases that fail with such code: another "
    "input with another result, an edge case, an error."
)
LARGEST = 1_000_000


class Strength:
    """Tries the stub program on an attempt's tests; `proven` gets those that fail with it."""

    def __init__(self, ports: Ports, validation: Validation, proven: Callable[[Attempt], None]) -> None:
        self.ports = ports
        self.validation = validation
        self.proven = proven

    def begin(self, attempt: Attempt, limits: Limits, red_proof: list[dict[str, Any]]) -> None:
        data = {**attempt.data, "phase": PHASE, "red_proof": red_proof}
        self.ports.store.journal(attempt.id, data)
        self.go_on(replace(attempt, data=data), limits)

    def go_on(self, attempt: Attempt, limits: Limits) -> None:
        """Start the run, or finish if it was judged or impossible; repeatable."""
        data, head = attempt.data, str(attempt.data["head"])
        if "weak" not in data and (program := self._program(attempt)):
            self.validation.start(attempt, head, RunKind.CHEAT, times_cut_off(data) + 1, program)
        elif data.get("weak"):
            evidence, kind = {"red_proof": data["red_proof"]}, Kind.TESTS_REJECTED
            close(self.ports, limits, attempt, Outcome.WEAK_TESTS, WEAK, kind=kind, head=head, evidence=evidence)
        else:
            self.proven(attempt)

    def ended(self, attempt: Attempt, run: Run, limits: Limits) -> None:
        """Record in the journal whether the stub program passed, then go on; a run that was cut off starts again."""
        data = dict(attempt.data)
        cut_off = self.validation.was_cut_off(run)
        results = self.validation.judge(run)
        if run.stopping is Outcome.INTERRUPTED:
            why = "stopped while nobrakes tried the new tests with fake code"
            close(self.ports, limits, attempt, Outcome.INTERRUPTED, why, head=data["head"])
            return
        # else it was judged, and a crash hid it, or a version of before began it
        if run.id == run_id(attempt, RunKind.CHEAT, times_cut_off(data) + 1) and "weak" not in data:
            if cut_off and times_cut_off(data) < MAX_CUT_OFF:
                data["cut_off"] = times_cut_off(data) + 1
            else:
                data["weak"] = bool(results) and overall(results) is CheckOutcome.PASS
            self.ports.store.journal(attempt.id, data)
        self.ports.store.end_run(run.id)
        self.go_on(replace(attempt, data=data), limits)

    def _program(self, attempt: Attempt) -> Mapping[str, str]:
        if self.ports.config().review.test_strength == "red":
            return {}
        from ..stubs import Tree, plan  # most beads have no Test Writer

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
        return plan(tests, Tree(paths, read), "\n".join(str(row.get("tail", "")) for row in attempt.data["red_proof"]))


# Numbers are those that the checks told; assertions are counted in the touched test files. Only a scaffolding bead may
# take tests away.
def proves_less(
    ports: Ports, base: str, head: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> str | None:
    """Why `head` proves less than `base`, by recorded results and test files."""
    return weaker(counts_of(before), counts_of(after)) or fewer_assertions(ports, base, head)


def fewer_assertions(ports: Ports, base: str, head: str) -> str | None:
    """Test files of `head` with fewer assertions than in `base`, with numbers; None: none."""
    globs = ports.config().within(ports.git, base, Role.TEST_WRITER, head).boundary().tests
    paths = [change.path for change in ports.git.changes(base, head) if matches(change.path, globs)]
    try:
        lost = fewer(_texts(ports, base, paths), _texts(ports, head, paths))
    except FileTooLarge as error:
        return f"nobrakes cannot count a test's assertions: {error}"
    return "assertions were removed: " + "; ".join(map(str, lost)) if lost else None


def _texts(ports: Ports, commit: str, paths: list[str]) -> dict[str, str]:
    found = {path: content for path in paths if (content := ports.git.read(commit, path)) is not None}
    return {path: content[:LARGEST].decode("utf-8", "replace") for path, content in found.items()}


EVENTS = 100_000


def count(ports: Ports, attempt: Attempt, run: Run) -> int:
    """The visible rounds: of a CLI that reports no calls, only those of `nobrakes agent test`."""
    told = ports.store.events(0, EVENTS, attempt.bead)
    at_channel = sum(1 for event in told if event.attempt == attempt.id and event.kind is Kind.TESTED)
    contract = ports.config().contract()
    pattern = checks_proof.runs(contract)
    if pattern is None:
        return at_channel
    adapter, words = ports.adapter(attempt.agent), [word.encode() for word in checks_proof.words(contract)]
    calls: list[str] = []
    output = Output.of(ports, run)
    for _ in range(LOOKS):
        text, more = output.read(ports, at_end=True)
        calls += [line.text for line in calls_in(text, words, adapter) if line.kind is LineKind.TOOL_CALL]
        if not more:
            break
    return at_channel + checks_proof.count(calls, pattern)


EMPTYING = "empty the trash"
EMPTYING_SECONDS = 2.0
"""Seconds at a time: other background work waits."""


class Scratch:
    """The checkouts of judged runs, and the trash, removed in the background. 1. What lies there and belongs to no run
    is removed. 2. Checkouts for commands and main's monitor are their own (review.worker.main_checks). 3. A session's
    checkout stays with it. 4. What cannot be removed is reported once and tried again later (nobrakes.trash)."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self.trash = Trash(ports.paths.trash)
        self._leaving: set[str] = set()
        self._told: set[str] = set()

    def drop(self, run: str) -> None:
        self._leaving.add(run)
        self.ports.background.begin(f"drop {run}", partial(self.remove, run))

    def remove(self, run: str) -> None:
        """Remove a run's checkout, and before it the home of its checks."""
        folder = os.path.join(self.ports.paths.runs, run)
        self.trash.take(folder, os.path.join(folder, HOME))
        self.ports.git.drop_scratch(os.path.join(self.ports.paths.scratch, run))

    def settle(self) -> bool:
        """Finish ended removals and begin others; raises their error. Always False: no turn depends on it."""
        for run in tuple(self._leaving):
            self._leaving.discard(run)  # should it have failed, it still lies there
            with parked(self.ports, partial(run_owner, self.ports, run)):
                if not self.ports.background.over(f"drop {run}"):
                    self._leaving.add(run)
        found = {os.path.basename(path): path for path in self.ports.git.scratches()}
        left = {name for name in found if name not in self._leaving and not name.startswith(f"{ASKED}-")}
        if left:  # nobody is asked where nothing can be removed: this is looked at in each quiet turn
            # the checkouts of runs, and of sessions that go on or whose agent still runs
            store = self.ports.store
            runs = store.runs()
            names = {run.id for run in runs} | {name_of(session.id) for session in store.sessions()}
            left -= names | {name_of(store.turn(run.turn).session) for run in runs if run.turn}
        for name in sorted(left):
            if not self._is_watched(name) and not self.trash.is_stuck(found[name]):
                self.drop(name)
        self._empty()
        return False

    def _empty(self) -> None:
        if not self.ports.background.over(EMPTYING):
            return
        for one in self.trash.left():
            if one.why and one.path not in self._told:
                self._told.add(one.path)
                text = f"{one.path} cannot be removed ({one.why}); its remaining files are in {one.at}"
                self.ports.notifier.tell(Notice(text, urgent=True))
        if self.trash.is_due():
            self.ports.background.begin(EMPTYING, partial(self.trash.empty, EMPTYING_SECONDS))

    def _is_watched(self, name: str) -> bool:
        if not name.startswith(f"{WATCH}-"):
            return False
        watch = json.loads(self.ports.store.setting(WATCH) or "{}")
        return bool(watch.get("commit")) and name == f"{WATCH}-{watch.get('serial')}"
