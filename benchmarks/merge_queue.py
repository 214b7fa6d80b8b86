"""Validations that a merge queue needs for each change: the shipped decider beside four other policies.

    .venv/bin/python benchmarks/merge_queue.py [--seeds N] [--search N]

Each policy gets the same queues of 200 changes. A change may be bad by itself or together with another one, and a check
may fail for nothing (a flake). A run costs 1. Two modes of the shipped decider:

- as installed: `every_commit_green`, two validators, no record of flakes. Each candidate is validated, two side by
  side, the second on top of the first; what is red is run again until it was red three times. Repeats repeat only the
  check that failed, so they are counted apart. Target: 1.02, 1.07 and 1.25 runs a change with 1, 5 and 20 % bad ones.
- batches: `every_commit_green = false`, one validator. Target: 0.125, 0.33 and 0.81, and 1.17 in the worst queue that a
  search finds.

No good change may be sent back where 2 % of the runs are flakes.

Main is looked at after each landing: `red` counts landings after which it held something bad.
"""

import argparse
import random
import statistics
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from measure import keep, table

from nobrakes.checks.contract import Verdict
from nobrakes.review.queue import Pace, Rules, at_once, decide, red

CHANGES = 200
BORS_BATCH = 16
SMALL_BATCH = 5


@dataclass
class Queue:
    """The changes, and what is wrong with them. `flakes`: the share of runs that fail for nothing."""

    bad: frozenset[int] = frozenset()
    pairs: tuple[tuple[int, int], ...] = ()
    flakes: float = 0.0
    seed: int = 0
    size: int = CHANGES

    def is_good(self, tree: Iterable[int]) -> bool:
        """Whether this set of changes passes when no check flakes."""
        held = frozenset(tree)
        return not held & self.bad and not any(a in held and b in held for a, b in self.pairs)

    def blameless(self, change: int) -> bool:
        """Whether nothing is wrong with the change, neither alone nor with another one."""
        return change not in self.bad and not any(change in pair for pair in self.pairs)


@dataclass
class Checks:
    """Runs validations, and counts them."""

    queue: Queue
    runs: int = 0
    again: int = 0  # what was red and ran again
    chance: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.chance = random.Random(f"flakes of {self.queue.seed}")  # not the draw that says who is bad

    def pass_(self, tree: Sequence[int], is_again: bool = False) -> bool:
        """Whether one run of the checks on main with these changes is green."""
        self.runs += not is_again
        self.again += is_again
        flaky = self.queue.flakes and self.chance.random() < self.queue.flakes
        return self.queue.is_good(tree) and not flaky


@dataclass
class Ends:
    """What came of a queue."""

    runs: int
    landed: list[int]
    refused: list[int]
    red: int = 0
    again: int = 0


class Main:
    """Main, and what was sent back."""

    def __init__(self, queue: Queue) -> None:
        self.queue, self.landed, self.refused, self.red = queue, [], [], 0

    def land(self, changes: Iterable[int]) -> None:
        """These are on main now."""
        self.landed.extend(changes)
        self.red += not self.queue.is_good(self.landed)

    def ends(self, checks: Checks) -> Ends:
        """The account."""
        return Ends(checks.runs, self.landed, self.refused, self.red, checks.again)


VALIDATORS = 2
"""As installed."""


def installed(queue: Queue) -> Ends:
    """nobrakes as installed: each candidate, two side by side, and what is red is repeated before it is held against
    anybody.
    """
    return _decided(queue, Rules(validators=VALIDATORS), may_flake=True)


def shipped(queue: Queue) -> Ends:
    """nobrakes, with batches."""
    return _decided(queue, Rules(validators=1, every_commit_green=False), may_flake=queue.flakes > 0)


def _decided(queue: Queue, rules: Rules, may_flake: bool) -> Ends:
    """Every decision is `review.queue.decide`'s."""
    checks, main, pace = Checks(queue), Main(queue), Pace()
    waiting, every = list(range(queue.size)), rules.every_commit_green
    known: dict[tuple[int, ...], Verdict] = {(): Verdict.GREEN}
    reds: Counter[tuple[int, ...]] = Counter()
    while waiting:
        tried = waiting[: at_once(rules, pace)]
        trees = [tuple(main.landed + tried[:i]) for i in range(len(tried) + 1)]
        verdicts = [known.get(tree, Verdict.UNKNOWN) for tree in trees]
        suspect = range(len(trees)) if may_flake else ()
        move = decide(verdicts, rules.validators, every, 0 if every else pace.together, suspect)
        for number in move.validate:
            tree = trees[number]
            green = checks.pass_(tree, is_again=reds[tree] > 0)
            reds[tree] += not green
            known[tree] = Verdict.GREEN if green else red(reds[tree])
            pace = pace.ran()
        if move.blame:
            waiting.remove(tried[move.blame - 1])
            main.refused.append(tried[move.blame - 1])
            pace = pace.blamed()
        if move.publish:
            main.land(tried[: move.publish])
            del waiting[: move.publish]
            pace = pace.landed(move.publish)
    return main.ends(checks)


def serial(queue: Queue) -> Ends:
    """One change after the other, each validated on main before it lands."""
    return _one_by_one(queue, 1)


def literal(queue: Queue) -> Ends:
    """Validate, merge, validate again, and remember nothing."""
    return _one_by_one(queue, 2)


def _one_by_one(queue: Queue, times: int) -> Ends:
    checks, main = Checks(queue), Main(queue)
    for change in range(queue.size):
        if all(checks.pass_([*main.landed, change]) for _ in range(times)):
            main.land([change])
        else:
            main.refused.append(change)
    return main.ends(checks)


def bors(queue: Queue) -> Ends:
    """Batches of up to 16; a red one is split in halves, which go to the end of the queue."""
    return _halving(queue, BORS_BATCH)


def batch5(queue: Queue) -> Ends:
    """Batches of up to 5; a red one is run once more, then split in halves."""
    return _halving(queue, SMALL_BATCH, again=True)


def _halving(queue: Queue, size: int, again: bool = False) -> Ends:
    checks, main = Checks(queue), Main(queue)
    changes = list(range(queue.size))
    batches = deque(changes[i : i + size] for i in range(0, len(changes), size))
    while batches:
        batch = batches.popleft()
        tree = [*main.landed, *batch]
        if checks.pass_(tree) or (again and checks.pass_(tree)):
            main.land(batch)
        elif len(batch) == 1:
            main.refused += batch
        else:
            half = len(batch) // 2
            batches.extendleft([batch[half:], batch[:half]])
    return main.ends(checks)


POLICIES: dict[str, Callable[[Queue], Ends]] = {
    "as installed": installed,
    "batches": shipped,
    "serial": serial,
    "literal": literal,
    "bors, 16": bors,
    "batch of 5": batch5,
}


def drawn(share: float, pairs: float, flakes: float, seed: int, size: int = CHANGES) -> Queue:
    """A queue at random. `pairs`: the chance that two changes that stand close break each other."""
    chance = random.Random(seed)
    bad = frozenset(i for i in range(size) if chance.random() < share)
    near = [(i, j) for i in range(size) for j in range(i + 1, min(size, i + BORS_BATCH))]
    return Queue(bad, tuple(p for p in near if chance.random() < pairs), flakes, seed, size)


SCENES: dict[str, tuple[float, float, float]] = {
    "all good": (0.0, 0, 0),
    "1 % bad": (0.01, 0, 0),
    "5 % bad": (0.05, 0, 0),
    "20 % bad": (0.2, 0, 0),
    "5 % bad and pairs": (0.05, 0.002, 0),
    "2 % flakes": (0.0, 0, 0.02),
    "5 % bad, 2 % flakes": (0.05, 0, 0.02),
    "all bad": (1.0, 0, 0),
}


def worst(policy: Callable[[Queue], Ends], steps: int) -> tuple[float, frozenset[int]]:
    """The most runs a change that a search finds: from several beginnings, changes are flipped while it gets worse."""
    chance = random.Random(1)
    found = (0.0, frozenset[int]())
    for start in range(8):
        share = start / 8
        bad = frozenset(i for i in range(CHANGES) if chance.random() < share)
        if start == 1:
            bad = frozenset(range(0, CHANGES, BORS_BATCH))
        cost = policy(Queue(bad)).runs
        for _ in range(steps // 8):
            flipped = bad ^ frozenset(chance.sample(range(CHANGES), chance.choice((1, 1, 2, 4))))
            if chance.random() < 0.2:  # or a whole stretch, as it would be with a pattern
                at, span = chance.randrange(CHANGES), chance.choice((4, 8, 16))
                flipped = bad ^ frozenset(range(at, min(CHANGES, at + span)))
            worse = policy(Queue(flipped)).runs
            if worse >= cost:
                bad, cost = flipped, worse
        found = max(found, (cost / CHANGES, bad), key=lambda pair: pair[0])
    return found


def scene(policy: Callable[[Queue], Ends], name: str, seeds: int) -> dict[str, Any]:
    """What a policy needs for the queues of a scene: runs and repeats a change of each, and what went wrong."""
    share, pairs, flakes = SCENES[name]
    queues = [drawn(share, pairs, flakes, seed) for seed in range(seeds)]
    ends = [policy(queue) for queue in queues]
    return {
        "runs": [end.runs / CHANGES for end in ends],
        "again": [end.again / CHANGES for end in ends],
        "good_refused": sum(q.blameless(one) for q, e in zip(queues, ends, strict=True) for one in e.refused),
        "red_landings": sum(end.red for end in ends),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=60)
    parser.add_argument("--search", type=int, default=4000)
    given = parser.parse_args()
    rows, raw = [], {}
    for name, policy in POLICIES.items():
        row = [name]
        for title in SCENES:
            raw[f"{name}: {title}"] = found = scene(policy, title, given.seeds)
            row.append(
                f"{statistics.mean(found['runs']):.3f}"
                + (f" + {statistics.mean(found['again']):.3f}" if any(found["again"]) else "")
                + (f" ({found['good_refused']} wronged)" if found["good_refused"] else "")
                + " RED" * bool(found["red_landings"])
            )
        most, bad = worst(policy, given.search)
        raw[f"{name}: worst found"] = {"runs": most, "bad": sorted(bad)}
        rows.append([*row, f"{most:.3f}"])
    print(table([["policy", *SCENES, "worst found"], *rows]))
    keep("merge_queue", raw)


if __name__ == "__main__":
    main()
