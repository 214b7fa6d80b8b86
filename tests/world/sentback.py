"""What flakes cost: how many of the good changes that were reviewed went back, came off main, or cost a question.

1. The worlds have the settings as installed, and nothing goes wrong in them but what the given rates say.
2. Whether a change is good is a property of its tree (project.green), whatever the runs of its tests said.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

from nobrakes.beads.model import Outcome
from nobrakes.config.sections import ReviewSettings
from nobrakes.decisions.model import EscalationType
from nobrakes.events.kinds import Event, Kind
from nobrakes.review.journal import Journal

from .drawn import settings
from .project import SLOW, green
from .rates import Rates
from .world import World

BEADS = 40
"""So many beads a world has: enough for a queue."""

CANARY = "canary-"

NOTHING_ELSE = {"fail", "conflict", "machine", "cut", "crash", "trouble", "people", "edits", "refuse"}
"""The rates that are 0 in these worlds."""


@dataclass(frozen=True, slots=True)
class Count:
    """What became of good changes. `runs`: of the checks; `wrong`: those that flaked; `ledger`: what was seen as it."""

    good: int = 0
    sent_back: int = 0
    taken_back: int = 0
    asked: int = 0
    runs: int = 0
    wrong: int = 0
    ledger: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))

    def __str__(self) -> str:
        return (
            f"{self.good} good changes, {self.sent_back} sent back, {self.taken_back} taken off main, "
            f"{self.asked} questions about main; of {self.runs} runs {self.wrong} flaked, {self.ledger} in the ledger"
        )


def kind(rates: Rates) -> Rates:
    """These rates, and nothing else goes wrong."""
    return replace(rates, **dict.fromkeys(NOTHING_ELSE, 0.0))


def of_world(world: World) -> Count:
    """What a world that came to its end says."""
    events = world.store.events(0, 1_000_000)
    sent_back = sum(was_good(world, event) for event in events if event.kind is Kind.REVIEW_REJECTED)
    runs = [child for run, child in world.processes.children.items() if "-check" in run or run.startswith(CANARY)]
    merged = sum(event.kind is Kind.MERGED for event in events)
    return Count(
        good=merged + sent_back,
        sent_back=sent_back,
        taken_back=sum(event.kind is Kind.REVERTED for event in events),
        asked=sum(one.type is EscalationType.MAIN_RED for one in world.store.escalations(open_only=False)),
        runs=len(runs),
        wrong=sum(any(SLOW in text for text in child.outputs.values()) for child in runs),
        ledger=sum(event.kind is Kind.FLAKED for event in events),
    )


def was_good(world: World, rejected: Event) -> bool:
    """Whether what a review sent back for its checks passes every one: alone, and as it would have landed; no change is
    none.
    """
    assert rejected.attempt is not None
    if rejected.data.get("outcome") != Outcome.FAILED_REVIEW.value:
        return False  # it was not blamed for what the checks say
    journal = Journal.of(world.store.attempt(rejected.attempt).data)
    judged = [commit for commit in (journal.change.head, journal.build.candidate) if commit]
    return bool(judged) and all(green(world.git.objects.tree_of(commit)) for commit in judged)


def worlds(good: int, seed: int, rates: Rates, beads: int = BEADS) -> Iterator[tuple[int, Count]]:
    """The seed of each world and all that was counted so far, until so many good changes were reviewed."""
    total = Count()
    while total.good < good:
        installed = replace(settings(random.Random(seed)), review=ReviewSettings())
        world = World(seed, beads, kind(rates), installed)
        world.run()
        total += of_world(world)
        yield seed, total
        seed += 1
