"""The train: open reviews whose candidates stand on one another, the first of them on main.

1. Who may be on it and in which order is read from the journals and from where main is, and kept nowhere else: what a
   crash, a cancel or a person's push takes out of the middle, leaves those behind it standing on nothing, and they
   are built anew.
2. Work that may prove less than before (scaffolding) is the last one of its train, so that nobody is blamed for it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .queue import Pace

if TYPE_CHECKING:
    from .journal import Journal


@dataclass(frozen=True, slots=True)
class Rules:
    """How the merge queue works, as the config says.

    `validators`: validations that run at once. `every_commit_green`: each bead's own commit needs a pass, not only
    main's tips. `is_serial`: one review after the other, since each one needs runs of its own.
    """

    validators: int = 2
    every_commit_green: bool = True
    is_serial: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """One open review as the train sees it."""

    attempt: int
    bead: str
    journal: "Journal"


def at_once(rules: Rules, pace: Pace) -> int:
    """How many reviews may be open, and thereby on the train."""
    if rules.is_serial:
        return 1
    return rules.validators if rules.every_commit_green else pace.together * pace.deep(rules.validators)


def joined(main: str, entries: Sequence[Entry], contract: Callable[[str], str]) -> list[Entry]:
    """Those of the reviews that stand on main, directly or on one another, in that order.

    `entries` are in the order in which they were opened; `contract` gives the key of the checks of now, for what a
    review brings.
    """
    left = [
        entry
        for entry in entries
        if entry.journal.candidate and entry.journal.contract == contract(entry.journal.brings)
    ]
    train: list[Entry] = []
    onto = main
    while True:
        entry = next((entry for entry in left if entry.journal.base == onto), None)
        if entry is None:
            return train
        train.append(entry)
        left.remove(entry)
        onto = entry.journal.candidate


def may_join(train: Sequence[Entry], rules: Rules, pace: Pace) -> bool:
    """Whether another candidate may be put on the last one of the train."""
    return len(train) < at_once(rules, pace) and not any(entry.journal.is_scaffolding for entry in train)


def to_land(train: Sequence[Entry], tip: str) -> list[Entry]:
    """The head of the train up to the candidate `tip`; empty when that is not on it."""
    for number, entry in enumerate(train, 1):
        if entry.journal.candidate == tip:
            return list(train[:number])
    return []
