"""What a step of a review saw, for core.review.machine to decide on, and with what words the review ends then."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core.beads.outcomes import Outcome
from ...core.checks.contract import CheckResult
from ...core.review.journal import Journal
from ...core.review.machine import Fact
from ...core.review.train import Entry


@dataclass(frozen=True, slots=True)
class AttemptEnd:
    """The outcome and the words with which the attempt of a review ends that does not land.

    `form`: the one in which a person is asked (core.beads.forms).
    """

    outcome: Outcome
    detail: str
    head: str | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)
    form: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """A fact, what it brings to the journal, and what is needed to do what follows.

    `results`: what a merge is taken back for. `train`: who would have landed together, itself first.
    `was_freed`: before that it was seen that main can be moved again.
    """

    fact: Fact
    brought: Mapping[str, Any] = field(default_factory=dict)
    ending: AttemptEnd | None = None
    results: Sequence[CheckResult] = ()
    train: Sequence[Entry] = ()
    was_freed: bool = False


def refused(outcome: Outcome, detail: str) -> Report:
    """Work that is sent back without a run."""
    return Report(Fact.REFUSED, ending=AttemptEnd(outcome, detail))


def questioned(ending: AttemptEnd) -> Report:
    """Work about which a person is asked."""
    return Report(Fact.QUESTIONED, ending=ending)


def blamed(journal: Journal) -> Report:
    """Work that fails where main does not: it is sent back with what the checks said."""
    said = {"results": list(journal.results)}
    return Report(Fact.MAIN_PASSES, ending=AttemptEnd(Outcome.FAILED_REVIEW, journal.failure, journal.head, said))


def unsure(journal: Journal) -> AttemptEnd:
    """The end of a review whose run said neither yes nor no: a person looks, and nobody is blamed."""
    detail = "The checks could not say whether the work is good.\n" + journal.failure
    said = {"results": list(journal.results)}
    return AttemptEnd(Outcome.BROKEN_CHECKS, detail, journal.head, said)
