"""Escalations: what only a person can decide, typed, with what was tried and, where it was seen, a likely cause.

1. An escalation that stops its bead remembers where the bead returns to; a suggestion stops nothing.
2. The same thing is asked once: `fingerprint` is unique among the open ones.
3. A question may have a form (decisions.forms): then its answer is a value of it, and `answer` the same as text.
4. Since `read_at` an agent acts by the answer; until then it can be taken back.
5. The hypothesis quotes its evidence, and is empty without any (decisions.causes).
"""

from collections.abc import Iterable, Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any

from ..beads.branches import is_approval
from ..beads.model import WAITING_FOR_AGENT, WORKING, Bead, Status
from ..records import frozen
from ..text.cleaning import first_of


class EscalationType(StrEnum):
    """The kind of decision."""

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
    FILTER_NOT_ALLOWED = "filter_not_allowed"
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


DECISIONS = {
    "approve": "Approve the plan, the change or the merge.",
    "add": "Create a draft from the agent's suggestion.",
    "retry": "Let an agent try again, with a failure count of zero.",
    "cancel": "Cancel the bead.",
    "done": "Mark the bead as done by hand.",
    "dismiss": "Close the escalation without any other action.",
}
"""The words of `nobrakes resolve`, with their help."""
FAILURES = frozenset(
    {EscalationType.REPEATED_FAILURE, EscalationType.BROKEN_CHECKS, EscalationType.BROKEN_ENVIRONMENT}
    | {EscalationType.WEAK_TESTS, EscalationType.MAIN_RED}
)
"""These have a cause, known or not."""
UNKNOWN = "not known"
TEST_DIGEST = "of_tests"
"""In the evidence of `checks_changed`: a Test Writer made the change and fixes it."""
STARTS = "starts"
"""In the evidence about an agent that does not start: its provider, which has a cooldown."""

FILTERS, COMMANDS = "filters", "commands"
"""In the evidence of `filter_not_allowed`: filters by name, and commands to allow them."""

WAIT_ESCALATIONS = frozenset({EscalationType.CHECKOUT_BEHIND, EscalationType.MERGE_HELD_UP})
STOPS_BEAD = frozenset(EscalationType) - {EscalationType.DOER_SUGGESTION, *WAIT_ESCALATIONS}


@frozen
class Escalation:
    """A request for a person. Open while `resolved_at` is None; `behind` counts waiting beads."""

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
    session: int | None = None  # the session that asks, where it is not an attempt's
    form: Mapping[str, Any] | None = None  # decisions.forms.as_values; None: any text is an answer
    value: Any = None
    read_at: float | None = None


NO_ANSWERS: Mapping[int, str] = {}


@frozen
class NewEscalation:
    """An escalation to file. `adds_to`: the open one it extends; 0: none. `session`: the asking session, if no attempt;
    such a question has no bead. `form`: of a question, by decisions.forms.as_values."""

    type: EscalationType
    title: str
    detail: str = ""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    hypothesis: str = ""
    adds_to: int = 0
    session: int | None = None
    form: Mapping[str, Any] | None = None


def answer_text(asked: Escalation) -> str:
    """The text that the asking session gets."""
    return answered_text(asked.title, asked.answer if asked.answer is not None else asked.resolution)


def answered_text(title: str, answer: str) -> str:
    return f"You asked: {title}\nThe answer: {answer}"


def is_accepted(asked: Iterable[Escalation], type_: EscalationType, head: str, of: str = "head") -> bool:
    """Whether a person accepted the question about this commit, or the evidence's other key `of`."""
    return any(
        one.type is type_
        and one.resolved_at is not None
        and is_approval(one.resolution)
        and one.evidence.get(of) == head
        for one in asked
    )


def fingerprint(type_: EscalationType, bead: str | None, title: str, form: str = "") -> str:
    """Identifies equal escalations: type, bead, words of questions and suggestions. `form`: JSON; empty: none."""
    import hashlib  # loads OpenSSL, and whoever only reads escalations needs none

    words = " ".join(title.split()).lower() if type_ in _BY_WORDS else ""
    words += f"\0{form}" if form else ""
    return hashlib.sha256(f"{type_.value}\0{bead or ''}\0{words}".encode()).hexdigest()[:32]


_BY_WORDS = {EscalationType.QUESTION, EscalationType.PLAN_REVIEW, EscalationType.DOER_SUGGESTION}


def too_many_failures(failures: int, max_failures: int) -> bool:
    return failures >= max_failures


@frozen
class Mend:
    """The start of the fixing bead's title; `does`: how it treats the question."""

    answers: str
    does: str = ""  # empty: it does what the note says, and only that
    of: str = ""  # the evidence without which there is nothing to mend


MENDS: Mapping[EscalationType, Mend] = {
    EscalationType.CODE_REVIEW: Mend("the code review's findings in all of", "fixes the findings", "findings"),
    EscalationType.MERGE_REVIEW: Mend("a person's changes to"),
    EscalationType.ASKED_AGAIN: Mend("people's comments on the pull request of", "answers people's comments"),
    EscalationType.PULL_CLOSED: Mend("a person's changes to the pull request of"),
}


def is_told(found: Escalation) -> bool:
    mend = MENDS.get(found.type)
    return mend is not None and bool(mend.does) and (not mend.of or bool(found.evidence.get(mend.of)))


MAX_NAMED = 20


def waiting_text(beads: Iterable[Bead]) -> str:
    """Which beads wait for a common cause."""
    waits = (*WAITING_FOR_AGENT, *WORKING, Status.NEEDS_REVIEW)
    found = [bead.id for bead in beads if bead.status in waits and bead.held is None]
    return f"Beads that this problem affects: {first_of(found, MAX_NAMED) or 'none now'}."
