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
class Car:
    """One open review as the train sees it."""

    attempt: int
    bead: str
    journal: "Journal"


def at_once(rules: Rules, pace: Pace) -> int:
    """How many reviews may be open, and thereby on the train."""
    if rules.is_serial:
        return 1
    return rules.validators if rules.every_commit_green else pace.together


def joined(main: str, cars: Sequence[Car], contract: Callable[[str], str]) -> list[Car]:
    """Those of the reviews that stand on main, directly or on one another, in that order.

    `cars` are in the order in which they were opened; `contract` gives the key of the checks of now, for what a
    review brings.
    """
    left = [car for car in cars if car.journal.candidate and car.journal.contract == contract(car.journal.brings)]
    train: list[Car] = []
    onto = main
    while True:
        car = next((car for car in left if car.journal.base == onto), None)
        if car is None:
            return train
        train.append(car)
        left.remove(car)
        onto = car.journal.candidate


def may_join(train: Sequence[Car], rules: Rules, pace: Pace) -> bool:
    """Whether another candidate may be put on the last one of the train."""
    return len(train) < at_once(rules, pace) and not any(car.journal.is_scaffolding for car in train)


def to_land(train: Sequence[Car], tip: str) -> list[Car]:
    """The head of the train up to the candidate `tip`; empty when that is not on it."""
    for number, car in enumerate(train, 1):
        if car.journal.candidate == tip:
            return list(train[:number])
    return []
