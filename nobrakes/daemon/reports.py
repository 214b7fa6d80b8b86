"""What a step of a review saw, for core.review.machine to decide on, and with what words the review ends then."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core.checks import CheckResult
from ..core.outcomes import Outcome
from ..core.review.machine import Fact
from ..core.review.train import Entry


@dataclass(frozen=True, slots=True)
class Ending:
    """With what words the attempt of a review ends that does not land."""

    outcome: Outcome
    detail: str
    head: str | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Report:
    """A fact, what it brings to the journal, and what is needed to do what follows.

    `commit`: what is to be validated. `results`: what a merge is taken back for. `train`: who would have landed
    together, itself first. `was_freed`: before that it was seen that main can be moved again.
    """

    fact: Fact
    brought: Mapping[str, Any] = field(default_factory=dict)
    ending: Ending | None = None
    commit: str = ""
    results: Sequence[CheckResult] = ()
    train: Sequence[Entry] = ()
    was_freed: bool = False


def refused(outcome: Outcome, detail: str) -> Report:
    """Work that is sent back without a run."""
    return Report(Fact.REFUSED, ending=Ending(outcome, detail))


def questioned(ending: Ending) -> Report:
    """Work about which a person is asked."""
    return Report(Fact.QUESTIONED, ending=ending)
