"""Validations that a merge queue needs for each change, and when it lands: the shipped decider beside other policies.

    .venv/bin/python benchmarks/merge_queue.py [--seeds N] [--search N]

Each policy gets the same queues of 200 changes. A change may be bad by itself or together with another one, and a check
may fail for nothing (a flake). A run costs 1 and takes 1 of a virtual clock. The shipped decider is asked as installed,
with two validators and no record of flakes: what is red is run again until it was red three times, and each of these
runs is counted. "Load": all changes wait from the beginning. "One at a time": each comes when the one before it is
over. Beside it every_commit_green, and one validator.

No good change may be sent back where 2 % of the runs are flakes. Main is looked at after each landing: `red` counts
landings after which it held something bad.
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
from nobrakes.review.journal import Pace, Rules
from nobrakes.review.queue import Move, at_once, decide, red

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
    waited: float = 0.0  # from when a change came until it landed, in runs, the mean of those that landed
    ended: float = 0.0


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
"""As installed on a machine with two cores."""
APART = 5.0
"""Changes that come one at a time come so many runs after one another."""
INSTALLED = Rules(validators=VALIDATORS)
EACH = Rules(validators=VALIDATORS, every_commit_green=True)


def installed(queue: Queue) -> Ends:
    """nobrakes as installed, under load."""
    return decided(queue, INSTALLED)


def one_at_a_time(queue: Queue) -> Ends:
    """nobrakes as installed, where no change waits for another."""
    return decided(queue, INSTALLED, APART)


def each_alone(queue: Queue) -> Ends:
    """nobrakes with every_commit_green, under load."""
    return decided(queue, EACH)


def one_validator(queue: Queue) -> Ends:
    """nobrakes with one validator, under load."""
    return decided(queue, Rules(validators=1))


def decided(queue: Queue, rules: Rules, gap: float = 0.0) -> Ends:
    """Every decision is `review.queue`'s, on a virtual clock. `gap`: between two changes that come."""
    checks, main, pace = Checks(queue), Main(queue), Pace()
    coming, train = deque(range(queue.size)), list[int]()
    known: dict[tuple[int, ...], Verdict] = {(): Verdict.GREEN}
    reds: Counter[tuple[int, ...]] = Counter()
    running: list[tuple[float, tuple[int, ...]]] = []
    now, times = 0.0, list[float]()
    while coming or train:
        while coming and coming[0] * gap <= now and len(train) < at_once(rules, pace):
            train.append(coming.popleft())
        trees = [tuple(main.landed + train[:place]) for place in range(min(len(train), at_once(rules, pace)) + 1)]
        running = [(end, tree) for end, tree in running if tree in trees]  # else its prefix is built again
        begun = {tree for _, tree in running}
        verdicts = [Verdict.RUNNING if tree in begun else known.get(tree, Verdict.UNKNOWN) for tree in trees]
        suspect = [place for place, tree in enumerate(trees) if reds[tree]]
        waiting = sum(one * gap <= now for one in coming) + len(train) - len(trees) + 1
        free = rules.validators - len(running)
        move = decide(verdicts, free, rules.every_commit_green, pace.together, suspect, coming=waiting)
        for place in move.validate:
            pace = pace if reds[trees[place]] else pace.ran()
            running.append((now + 1, trees[place]))
        if move.blame:
            main.refused.append(train.pop(move.blame - 1))
            pace = pace.blamed()
        if move.publish:
            times += [now - one * gap for one in train[: move.publish]]
            main.land(train[: move.publish])
            del train[: move.publish]
            pace = pace.landed(move.publish)
        if move == Move():
            comes = [coming[0] * gap] if coming and coming[0] * gap > now else []
            now = min([end for end, _ in running] + comes)
            for tree in [tree for end, tree in running if end <= now]:
                green = checks.pass_(tree, is_again=reds[tree] > 0)
                reds[tree] += not green
                known[tree] = Verdict.GREEN if green else red(reds[tree])
            running = [(end, tree) for end, tree in running if end > now]
    return Ends(checks.runs, main.landed, main.refused, main.red, checks.again, statistics.mean(times or [0.0]), now)


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
    "one at a time": one_at_a_time,
    "each alone": each_alone,
    "one validator": one_validator,
    "serial": serial,
    "literal": literal,
    "bors, 16": bors,
    "batch of 5": batch5,
}


def drawn(share: float, pairs: float, flakes: float, seed: int, size: int = CHANGES) -> Queue:
    """A queue at random. `pairs`: the chance that two changes that stand close break each other."""
    chance = random.Random(seed)
    bad = frozenset(chance.sample(range(size), round(share * size)))
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


def all_runs(policy: Callable[[Queue], Ends], bad: frozenset[int]) -> int:
    """With those that confirm."""
    ends = policy(Queue(bad))
    return ends.runs + ends.again


def worst(policy: Callable[[Queue], Ends], steps: int) -> tuple[float, frozenset[int]]:
    """The most runs a change that a search finds: from several beginnings, changes are flipped while it gets worse."""
    chance = random.Random(1)
    found = (0.0, frozenset[int]())
    for start in range(8):
        share = start / 8
        bad = frozenset(i for i in range(CHANGES) if chance.random() < share)
        if start == 1:
            bad = frozenset(range(0, CHANGES, BORS_BATCH))
        cost = all_runs(policy, bad)
        for _ in range(steps // 8):
            flipped = bad ^ frozenset(chance.sample(range(CHANGES), chance.choice((1, 1, 2, 4))))
            if chance.random() < 0.2:  # or a whole stretch, as it would be with a pattern
                at, span = chance.randrange(CHANGES), chance.choice((4, 8, 16))
                flipped = bad ^ frozenset(range(at, min(CHANGES, at + span)))
            worse = all_runs(policy, flipped)
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
