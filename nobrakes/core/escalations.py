"""Escalations: what only a person can decide, typed, with what was tried and a guess at the cause.

1. An escalation that stops its bead remembers where the bead returns to; a suggestion stops nothing.
2. The same thing is asked once: `fingerprint` is unique among the open ones.
3. The hypothesis (B42) is derived from the outcomes alone, so it is the same each time.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from .attempt import Attempt
from .bead import Status
from .outcomes import TABLE, Outcome


class EscalationType(StrEnum):
    """What kind of decision is asked for."""

    CONFLICT = "conflict"
    REPEATED_FAILURE = "repeated_failure"
    WEAK_TESTS = "weak_tests"
    DOER_SUGGESTION = "doer_suggestion"
    QUESTION = "question"
    PLAN_REVIEW = "plan_review"
    BROKEN_CHECKS = "broken_checks"
    BROKEN_ENVIRONMENT = "broken_environment"
    CHECKS_CHANGED = "checks_changed"
    UNUSUAL_CONTENT = "unusual_content"
    MAIN_RED = "main_red"
    CHECKOUT_BEHIND = "checkout_behind"
    BREAKER_OPEN = "breaker_open"
    CAP_REACHED = "cap_reached"


STOPS_BEAD = frozenset(EscalationType) - {EscalationType.DOER_SUGGESTION, EscalationType.CHECKOUT_BEHIND}


@dataclass(frozen=True, slots=True)
class Escalation:
    """A request for a person. Open while `resolved_at` is None; `behind` counts the beads that wait for it."""

    id: int
    type: EscalationType
    bead: str | None
    title: str
    detail: str = ""
    target: str = "human"
    attempt: int | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)
    hypothesis: str = ""
    created_at: float = 0.0
    answer: str | None = None
    answered_at: float | None = None
    resolved_at: float | None = None
    resolution: str = ""
    return_to: Status | None = None
    behind: int = 0


def fingerprint(type_: EscalationType, bead: str | None, title: str) -> str:
    """What makes two escalations the same: type, bead, and for questions and suggestions their words."""
    import hashlib  # loads OpenSSL, and whoever only reads escalations needs none

    words = " ".join(title.split()).lower() if type_ in _BY_WORDS else ""
    return hashlib.sha256(f"{type_.value}\0{bead or ''}\0{words}".encode()).hexdigest()[:32]


_BY_WORDS = {EscalationType.QUESTION, EscalationType.PLAN_REVIEW, EscalationType.DOER_SUGGESTION}


def too_many_failures(failures: int, max_failures: int) -> bool:
    """Whether a bead with this many counted failures goes to a person instead of another agent."""
    return failures >= max_failures


_MACHINE = "the environment: the machine, the provider or a check is broken, not the bead"
_UNCLEAR = "a flawed requirement: tests and description may contradict each other"
_CONTEXT = "missing context: the agents could not find out what they needed"
_BIG = "a hard or too large bead: it does not fit into one session; consider splitting it"

_HYPOTHESES: Mapping[Outcome, str] = {
    Outcome.GAVE_UP_CONTEXT: _BIG,
    Outcome.CONTEXT_OVERFLOW: _BIG,
    Outcome.TURN_LIMIT: _BIG,
    Outcome.TIMED_OUT: _BIG,
    Outcome.GAVE_UP_TESTS: _UNCLEAR,
    Outcome.FAILED_REVIEW: _UNCLEAR,
    Outcome.NOT_RED: _UNCLEAR,
    Outcome.WEAK_TESTS: _UNCLEAR,
    Outcome.NO_WORK: _CONTEXT,
    Outcome.FAILED: _CONTEXT,
    Outcome.CONTRADICTED_ITSELF: _CONTEXT,
    Outcome.BOUNDARY: "the test boundary: the work seems to need a file that the role may not change",
    Outcome.STALLED: _MACHINE,
    Outcome.CRASHED: _MACHINE,
    Outcome.KILLED: _MACHINE,
}


def hypothesis(attempts: Sequence[Attempt]) -> str:
    """The likeliest reason why these attempts failed; of equally frequent ones, the latest."""
    failed = [a.outcome for a in attempts if a.outcome is not None and TABLE[a.outcome].counts]
    if not failed:
        return _MACHINE
    guesses = [_HYPOTHESES.get(outcome, _CONTEXT) for outcome in failed]
    counted = Counter(guesses)
    best = max(counted.values())
    return next(guess for guess in reversed(guesses) if counted[guess] == best)
