"""The Reviewer: which bead is reviewed next, the steps of a review, and what follows from what it saw.

1. One review at a time: the queue is serial, so what was tested is what lands.
2. Steps are journaled before the next one begins, and each may be done again after a crash.
3. A conflict goes to a person at once. A check that could not say yes or no is never the bead's fault.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from .actions import Action, StartReview
from .bead import Role
from .board import Board
from .checks import CheckOutcome, CheckResult, overall


class Step(StrEnum):
    """The steps in their order; a lost race for main goes back to REBASE."""

    TAKE_IN = "take_in"
    BOUNDARIES = "boundaries"
    VALIDATE_BRANCH = "validate_branch"
    REBASE = "rebase"
    VALIDATE_REBASED = "validate_rebased"
    VALIDATE_BASE = "validate_base"  # only when the candidate failed: is main itself green?
    SWAP = "swap"
    VALIDATE_MAIN = "validate_main"
    CLEAN_UP = "clean_up"


@dataclass(frozen=True, slots=True)
class Journal:
    """How far a review is; kept in the attempt's data, so that any daemon can go on with it."""

    step: Step = Step.TAKE_IN
    head: str = ""  # what the Doer handed in
    fork: str = ""  # where it left main
    base: str = ""  # main when it was rebased
    candidate: str = ""  # the commit that shall become main
    chain: tuple[str, ...] = ()  # with merge = rebase: the commits that lead to it
    checked: int = 0  # how many of the chain have been validated
    kept: tuple[str, ...] = ()  # those of the chain that passed alone
    serial: int = 0  # numbers the validations
    validating: str = ""  # the commit whose validation was started and not dealt with yet
    results: tuple[Mapping[str, Any], ...] = ()  # of the last validation
    failure: str = ""  # why the candidate failed, while main itself is being looked at
    waiting: str = ""  # why main cannot be moved just now
    waiting_until: float = 0.0

    def as_data(self) -> dict[str, Any]:
        """JSON values."""
        # not asdict, which copies all results each time: JSON values are never changed in place
        data = {name: getattr(self, name) for name in Journal.__dataclass_fields__}
        data["step"] = self.step.value
        return data

    @staticmethod
    def of(data: Mapping[str, Any]) -> "Journal":
        """The journal in an attempt's data; a fresh one where there is none."""
        fields = {k: v for k, v in data.items() if k in Journal.__dataclass_fields__}
        fields["step"] = Step(fields.get("step", Step.TAKE_IN))
        for name in ("chain", "kept", "results"):
            fields[name] = tuple(fields.get(name, ()))
        return Journal(**fields)


class Judgement(StrEnum):
    """What a validation means for the bead."""

    GO_ON = "go_on"
    REJECT = "reject"  # the bead's work fails a check
    BROKEN = "broken"  # nobody can tell: a person has to look


def plan(board: Board) -> list[Action]:
    """The review to start now: the first in the queue, when none is under way."""
    if board.paused or board.stopping or not board.to_review:
        return []
    if any(attempt.role is Role.REVIEWER for attempt in board.attempts):
        return []
    return [StartReview(board.to_review[0].id)]


def judge(results: Sequence[CheckResult]) -> Judgement:
    """Only pass goes on, only fail is blamed on the bead."""
    outcome = overall(results)
    if outcome is CheckOutcome.PASS:
        return Judgement.GO_ON
    return Judgement.REJECT if outcome is CheckOutcome.FAIL else Judgement.BROKEN
