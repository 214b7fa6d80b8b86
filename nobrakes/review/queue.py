"""The merge queue, as pure rules: prefixes, the queue, quarantine, and what may be a flake.

Flakes: a pass and a failure of the same tree and contract.

1. A flake names the failed tests if the report had all of them, else only the check.
2. By default a red counts after TIMES failures without a green: only failed checks repeat, with the build checks before
   them, in a fresh checkout.
3. `confirm = "flaky"` repeats a failure only if the ledger knows each failed check.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from enum import StrEnum
from typing import Any

from ..checks.contract import Check, CheckOutcome, CheckResult, Verdict
from ..events.kinds import Event
from ..records import frozen
from ..text.cleaning import first_of
from .journal import Journal, Pace, Rules

TIMES = 3
"""Red runs in a row before blame. With one run in fifty failing by chance, one run wrongs one good change in 50, two
one in 2,500, three one in 125,000."""

LEDGER = 5000
"""The latest flakes that count."""


class Confirm(StrEnum):
    """When a failing validation repeats before anyone is blamed."""

    FLAKY = "flaky"
    ALWAYS = "always"
    NEVER = "never"


@frozen
class Flake:
    """A check with two results for one tree. `tests`: the failed ones; empty: unknown."""

    check: str
    tests: tuple[str, ...]
    tree: str
    bead: str | None = None
    at: float = 0.0
    seq: int = 0

    @staticmethod
    def of(event: Event) -> "Flake":
        data = event.data
        return Flake(str(data["check"]), tuple(data["tests"]), str(data["tree"]), event.bead, event.at, event.seq)


@frozen
class Line:
    """A check or one of its tests in the ledger: how often, and when last."""

    check: str
    test: str
    times: int
    last: Flake


def failures(results: Sequence[CheckResult]) -> list[dict[str, Any]]:
    """Failures as JSON values, remembered until the same tree passes."""
    return [
        {"check": r.name, "tests": list(r.failing)} for r in results if r.outcome is CheckOutcome.FAIL or r.quarantined
    ]


def found(
    tree: str, results: Sequence[CheckResult], failed: Sequence[Mapping[str, Any]], has_passed: bool
) -> list[Flake]:
    """Flakes: repeats that passed, earlier failures (`failed`) that pass now, failures of a tree that passed before."""
    flakes = []
    before = {str(one["check"]): tuple(map(str, one["tests"])) for one in failed}
    for result in results:
        passes = result.outcome is CheckOutcome.PASS and not result.quarantined
        again = [one for one in result.repeated if one.outcome is CheckOutcome.FAIL]
        if passes and again:
            flakes.append(Flake(result.name, _tests(one.failing for one in again), tree))
        elif passes and result.name in before:
            flakes.append(Flake(result.name, before[result.name], tree))
        elif has_passed and result.outcome is CheckOutcome.FAIL:
            flakes.append(Flake(result.name, result.failing, tree))
    return flakes


def _tests(failing: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    runs = list(failing)
    return tuple(sorted({test for run in runs for test in run})) if all(runs) else ()


def is_flaky(result: CheckResult, ledger: Sequence[Flake]) -> bool:
    """Whether the ledger knows what failed here."""
    known = [flake for flake in ledger if flake.check == result.name]
    if not known or not result.failing or any(not flake.tests for flake in known):
        return bool(known)
    return set(result.failing) <= {test for flake in known for test in flake.tests}


def wants_confirming(
    how: Confirm, results: Sequence[CheckResult], checks: Sequence[Check], ledger: Sequence[Flake]
) -> bool:
    """Whether failures run again before blame; not if each failed check already repeated often enough."""
    failed = [result for result in results if result.outcome is CheckOutcome.FAIL]
    if how is Confirm.NEVER or all(len(result.repeated) + 1 >= TIMES for result in failed):
        return False
    repeated = {check.name for check in checks if check.retry}
    return how is Confirm.ALWAYS or all(r.name in repeated or is_flaky(r, ledger) for r in failed)


def carried(results: Sequence[CheckResult], checks: Sequence[Check]) -> list[CheckResult]:
    builds = {check.name for check in checks if check.kind == "build"}
    return [one for one in results if one.outcome is CheckOutcome.PASS and one.name not in builds]


def lines(ledger: Sequence[Flake]) -> list[Line]:
    """The ledger by check and test, the most frequent first."""
    by_name: dict[tuple[str, str], list[Flake]] = {}
    for flake in ledger:
        for test in flake.tests or ("",):
            by_name.setdefault((flake.check, test), []).append(flake)
    made = [Line(*name, len(some), max(some, key=lambda one: one.seq)) for name, some in by_name.items()]
    return sorted(made, key=lambda line: (-line.times, line.check, line.test))


SETTING = "quarantine"

WHOLE = ""
"""Instead of a test: the whole check."""

Pair = tuple[str, str]
"""A check, and its test or WHOLE."""


# Only a failure is forgiven, and single tests only where the report names all that failed and each is quarantined. It
# is a part of the contract: a pass of before does not stand when it is lifted.
@frozen
class Quarantined:
    """One decision of a person."""

    check: str
    test: str
    reason: str
    by: str
    at: float

    @property
    def pair(self) -> Pair:
        return self.check, self.test


def parse(text: str | None) -> tuple[Quarantined, ...]:
    return tuple(Quarantined(**one) for one in json.loads(text)) if text else ()


def as_text(entries: Iterable[Quarantined]) -> str | None:
    rows = [asdict(one) for one in sorted(entries, key=lambda one: one.pair)]
    return json.dumps(rows, ensure_ascii=False) if rows else None


def pairs(text: str | None) -> tuple[Pair, ...]:
    return tuple(sorted(one.pair for one in parse(text)))


def forgiven(result: "CheckResult", quarantined: Collection[Pair]) -> "CheckResult":
    """A pass with a note if everything that failed is quarantined; else the result itself."""
    if result.outcome is not CheckOutcome.FAIL:
        return result
    whole = (result.name, WHOLE) in quarantined
    if not whole and not (result.failing and all((result.name, test) in quarantined for test in result.failing)):
        return result
    tests = result.failing or (result.name,)
    reason = f"{result.reason}; a person has quarantined what failed: {first_of(tests, 5)}"
    return replace(result, outcome=CheckOutcome.PASS, reason=reason, quarantined=tests)


# The merge queue. Prefix i is main with the first i waiting changes on it; only one that was validated green is
# published. A change is blamed when the prefix that ends with it is red and the one before it green, and main is known
# to be green: the search is binary, in three where two validators idle. While no more changes wait than validators are
# free, each is validated by itself, on top of those before it; else they go together. How many doubles when all were
# good and halves with each blame; who has cost more runs than were won (`Pace.debt`) goes one by one until that is paid
# back, so N changes cost at most N + 2 MAX_BATCH + log2(MAX_BATCH) + 1 runs (and CONFIRMING more for each blame that
# may be a flake). A change that is `apart` shares its run with no other: the prefix before it needs a pass of its own,
# too, so what it takes from the tests shows against exactly that one, whatever others add. Validators that idle take
# the next batch (`Pace.deep`). With `every` each prefix is validated by itself.
CONFIRMING = TIMES - 1
"""Repeats of a possibly flaky red prefix before a change is blamed."""

PROBED = 5
"""From so many changes on, two probes search a red batch."""

_RED = (Verdict.RED, Verdict.CONFIRMED)


@frozen
class Move:
    """The next action. Numbers are prefixes; 0: none, but in `validate` main itself."""

    validate: tuple[int, ...] = ()
    publish: int = 0
    blame: int = 0


def red(runs: int) -> Verdict:
    return Verdict.CONFIRMED if runs > CONFIRMING else Verdict.RED


def decide(
    verdicts: Sequence[Verdict],
    free: int,
    every: bool,
    size: int = 0,
    suspect: Collection[int] = (),
    apart: Collection[int] = (),
    coming: int = 0,
) -> Move:
    """The queue's next action. `verdicts`: of prefix 0, which is main, to the one with all waiting changes. `free`:
    idle validators. `every`: each prefix must be green. `size`: changes in a batch; the rest is the next batch; 0: one
    batch. `suspect`: possibly flaky prefixes, confirmed before blame. `apart`: prefixes that end with a change that
    goes alone. `coming`: changes that wait and have not joined."""
    if len(verdicts) < 2:
        return Move()
    if every:
        return _each(verdicts, free, suspect)
    return _in_batches(verdicts, free, size or len(verdicts), suspect, apart, coming)


def _in_batches(
    verdicts: Sequence[Verdict],
    free: int,
    size: int,
    suspect: Collection[int],
    apart: Collection[int],
    coming: int,
) -> Move:
    last = len(verdicts) - 1
    stops = [*sorted({stop for place in apart for stop in (place - 1, place) if 0 < stop < last}), last]
    low = 0
    for stop in stops:
        low = max((i for i in range(low + 1, stop + 1) if verdicts[i] is Verdict.GREEN), default=low)
        if low < stop:
            break
    high = next((i for i in range(low + 1, last + 1) if verdicts[i] in _RED), None)
    if high is None or high > stop:  # what stands on a red one waits
        again = next((i for i in range(low + 1, last) if i in suspect and verdicts[i] is Verdict.RUNNING), last)
        end = min(again, (high or last + 1) - 1)
        return Move(validate=_next(verdicts, low, end, stops, size, free, coming), publish=low)
    if high > low + 1:
        is_probed = Verdict.RUNNING in verdicts[low + 1 : high]
        return Move(validate=() if is_probed else _unknown(verdicts, _probes(low, high, free), free), publish=low)
    return _culprit(verdicts, low, high, free, suspect)


def _next(
    verdicts: Sequence[Verdict], low: int, end: int, stops: Sequence[int], size: int, free: int, coming: int
) -> tuple[int, ...]:
    """The prefixes from `low` to `end` to validate now: each, or the end of each batch."""
    tried = max((i for i in range(low + 1, end + 1) if verdicts[i] is Verdict.RUNNING), default=low)
    wanted = [stop for stop in stops if low < stop <= tried]  # their run was cut off
    if end - tried + coming <= free:
        wanted += range(tried + 1, min(end, low + size) + 1)
        tried = end
    while tried < end:
        tried = min(tried + size, end, *(stop for stop in stops if stop > tried))
        wanted.append(tried)
    return _unknown(verdicts, wanted, free)


def _probes(low: int, high: int, free: int) -> tuple[int, ...]:
    between = high - low
    if free < 2 or between < PROBED:
        return ((low + high) // 2,)
    return low + round(between / 3), low + round(2 * between / 3)


def _each(verdicts: Sequence[Verdict], free: int, suspect: Collection[int]) -> Move:
    last = len(verdicts) - 1
    low = 0
    while low < last and verdicts[low + 1] is Verdict.GREEN:
        low += 1
    first = low + 1
    if low == last or verdicts[first] not in _RED:
        # what lies behind a red one will be rebuilt without it
        stop = next((i for i in range(low + 1, last + 1) if verdicts[i] in _RED), last + 1)
        return Move(validate=_unknown(verdicts, range(low + 1, stop), free), publish=low)
    return _culprit(verdicts, low, first, free, suspect)


def _culprit(verdicts: Sequence[Verdict], low: int, high: int, free: int, suspect: Collection[int]) -> Move:
    """`high` is red, and the prefix before it is green or main."""
    if high in suspect and verdicts[high] is not Verdict.CONFIRMED:
        return Move(validate=(high,) if free else (), publish=low)
    if verdicts[low] is not Verdict.GREEN:
        return Move(validate=_unknown(verdicts, (0,), free))
    return Move(publish=low, blame=high)


def _unknown(verdicts: Sequence[Verdict], wanted: Sequence[int], free: int) -> tuple[int, ...]:
    return tuple([i for i in wanted if verdicts[i] is Verdict.UNKNOWN][: max(0, free)])


# Who is in the queue, and in which order, is read from the journals and from main alone. What leaves the middle leaves
# those behind it on nothing, and they are built again. Scaffolding is the last of its queue: nobody is blamed for it.
@frozen
class Entry:
    """One open review in the queue."""

    attempt: int
    bead: str
    journal: Journal


def at_once(rules: Rules, pace: Pace) -> int:
    if rules.is_serial:
        return 1
    return rules.validators if rules.every_commit_green else pace.together * pace.deep(rules.validators)


def joined(main: str, entries: Sequence[Entry], contract: Callable[[str], str]) -> list[Entry]:
    """The reviews that build on main or one another, in that order. `entries`: in order of opening; `contract`: today's
    key of the checks, for what a review brings."""
    left = [
        entry
        for entry in entries
        if entry.journal.build.candidate and entry.journal.build.contract == contract(entry.journal.change.brings)
    ]
    found: list[Entry] = []
    onto = main
    while True:
        entry = next((entry for entry in left if entry.journal.build.base == onto), None)
        if entry is None:
            return found
        found.append(entry)
        left.remove(entry)
        onto = entry.journal.build.candidate


def may_join(entries: Sequence[Entry], rules: Rules, pace: Pace) -> bool:
    return len(entries) < at_once(rules, pace) and not any(entry.journal.change.is_scaffolding for entry in entries)


def to_land(entries: Sequence[Entry], tip: str) -> list[Entry]:
    """The queue up to the candidate `tip`; empty if it is not there."""
    for number, entry in enumerate(entries, 1):
        if entry.journal.build.candidate == tip:
            return list(entries[:number])
    return []
