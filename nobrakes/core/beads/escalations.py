"""Escalations: what only a person can decide, typed, with what was tried and, where it was seen, a likely cause.

1. An escalation that stops its bead remembers where the bead returns to; a suggestion stops nothing.
2. The same thing is asked once: `fingerprint` is unique among the open ones.
3. A question may have a form (core.beads.forms): then its answer is a value of it, and `answer` the same as text.
4. Since `read_at` an agent acts by the answer; until then it can be taken back.
5. The hypothesis (B42) quotes its evidence, and is empty without any (core.beads.causes).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from .approval import is_approval
from .bead import Status


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
    MERGE_REVIEW = "merge_review"
    CODE_REVIEW = "code_review"
    ASKED_AGAIN = "asked_again"
    PULL_CLOSED = "pull_closed"
    MAIN_RED = "main_red"
    CHECKOUT_BEHIND = "checkout_behind"
    MERGE_HELD_UP = "merge_held_up"
    BREAKER_OPEN = "breaker_open"
    CAP_REACHED = "cap_reached"
    NOBRAKES_FAILED = "nobrakes_failed"


FAILURES = frozenset(
    {EscalationType.REPEATED_FAILURE, EscalationType.BROKEN_CHECKS, EscalationType.BROKEN_ENVIRONMENT}
    | {EscalationType.WEAK_TESTS, EscalationType.MAIN_RED}
)
"""What has a cause, which may be known or not."""
UNKNOWN = "not known"
"""What is said of a cause for which nothing speaks that was seen."""
OF_TESTS = "of_tests"
"""In the evidence of `checks_changed`: a Test Writer changed it, so what is sent back goes to a Test Writer."""
STARTS = "starts"
"""In the evidence of the question about an agent that does not start: its provider, whose gate is closed for it."""

OF_A_WAIT = frozenset({EscalationType.CHECKOUT_BEHIND, EscalationType.MERGE_HELD_UP})
"""What keeps a merge from main: it goes on by itself when that is over."""
STOPS_BEAD = frozenset(EscalationType) - {EscalationType.DOER_SUGGESTION, *OF_A_WAIT}


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
    session: int | None = None  # the session that asks, where it is no attempt's
    form: Mapping[str, Any] | None = None  # core.beads.forms.as_values; None: any text is an answer
    value: Any = None
    read_at: float | None = None


def answer_text(asked: Escalation) -> str:
    """What the session that asked is told of the answer, or of how it was decided without one."""
    return answered_text(asked.title, asked.answer if asked.answer is not None else asked.resolution)


def answered_text(title: str, answer: str) -> str:
    """As answer_text, of the words themselves."""
    return f"You asked: {title}\nThe answer: {answer}"


def is_accepted(asked: Iterable[Escalation], type_: EscalationType, head: str, of: str = "head") -> bool:
    """Whether a person accepted what was asked about this very commit, or about what else the evidence calls `of`."""
    return any(
        one.type is type_
        and one.resolved_at is not None
        and is_approval(one.resolution)
        and one.evidence.get(of) == head
        for one in asked
    )


def fingerprint(type_: EscalationType, bead: str | None, title: str, form: str = "") -> str:
    """What makes two escalations the same: type, bead, and for questions and suggestions their words.

    `form`: the question's form in JSON; empty: it has none.
    """
    import hashlib  # loads OpenSSL, and whoever only reads escalations needs none

    words = " ".join(title.split()).lower() if type_ in _BY_WORDS else ""
    words += f"\0{form}" if form else ""
    return hashlib.sha256(f"{type_.value}\0{bead or ''}\0{words}".encode()).hexdigest()[:32]


_BY_WORDS = {EscalationType.QUESTION, EscalationType.PLAN_REVIEW, EscalationType.DOER_SUGGESTION}


def too_many_failures(failures: int, max_failures: int) -> bool:
    """Whether a bead with this many counted failures goes to a person instead of another agent."""
    return failures >= max_failures
