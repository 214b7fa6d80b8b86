"""The ways in which an escalation can be decided: which there are for each type, and nobody offers or takes another.

1. `answer` is said with words (operations.desk.answer); each other way is a word of `nobrakes resolve`.
2. A way that moves a bead needs one: what is about no bead is looked at again, or dismissed.
3. The usual way comes first. It is no recommendation: see `USUAL`.
"""

from collections.abc import Mapping
from typing import Literal, get_args

from .escalations import Escalation, EscalationType

How = Literal["answer", "approve", "add", "retry", "done", "cancel", "dismiss"]
HOWS: tuple[How, ...] = get_args(How)

_STOPPED: tuple[How, ...] = ("retry", "done", "cancel", "dismiss")
_OF_A_HEAD: tuple[How, ...] = ("approve", "retry", "done", "cancel")

WAYS: Mapping[EscalationType, tuple[How, ...]] = {
    EscalationType.CONFLICT: _STOPPED,
    EscalationType.REPEATED_FAILURE: _STOPPED,
    EscalationType.WEAK_TESTS: _STOPPED,
    EscalationType.DOER_SUGGESTION: ("add", "dismiss"),
    EscalationType.QUESTION: ("answer", *_STOPPED),
    EscalationType.PLAN_REVIEW: ("approve", "answer", "done", "cancel"),
    EscalationType.BROKEN_CHECKS: _STOPPED,
    EscalationType.BROKEN_ENVIRONMENT: _STOPPED,
    EscalationType.CHECKS_CHANGED: _OF_A_HEAD,
    EscalationType.UNUSUAL_CONTENT: _OF_A_HEAD,
    EscalationType.MERGE_REVIEW: _OF_A_HEAD,
    EscalationType.CODE_REVIEW: _OF_A_HEAD,
    EscalationType.ASKED_AGAIN: _STOPPED,
    EscalationType.PULL_CLOSED: _STOPPED,
    EscalationType.MAIN_RED: _STOPPED,
    EscalationType.CHECKOUT_BEHIND: ("dismiss", "cancel"),
    EscalationType.MERGE_HELD_UP: ("dismiss", "cancel"),
    EscalationType.BREAKER_OPEN: _STOPPED,
    EscalationType.CAP_REACHED: _STOPPED,
    EscalationType.NOBRAKES_FAILED: _STOPPED,
}
"""Of one that is about a bead."""

OF_A_HEAD = frozenset(type_ for type_, ways in WAYS.items() if ways is _OF_A_HEAD)
"""What is approved is one commit, whose review goes on."""

ANSWERED = frozenset(type_ for type_, ways in WAYS.items() if "answer" in ways)
"""What is answered with words; of everything else only what has a form is."""

OF_BEADS = frozenset(("approve", "done", "cancel"))

USUAL: Mapping[EscalationType, How] = {
    EscalationType.CONFLICT: "retry",
    EscalationType.BROKEN_CHECKS: "retry",
    EscalationType.BROKEN_ENVIRONMENT: "retry",
}
"""Where nearly everybody decides in one way, once what is broken is mended."""


def ways(found: Escalation) -> tuple[How, ...]:
    """How it can be decided, the usual first; nothing once it was decided."""
    if found.resolved_at is not None:
        return ()
    of_type = WAYS[found.type]
    if found.form is not None and "answer" not in of_type:
        of_type = ("answer", *of_type)
    if found.bead is not None:
        return of_type
    if found.session is not None:  # it goes on with what it is told
        told = ("answer", "dismiss", "approve") if found.type is EscalationType.PLAN_REVIEW else ("answer", "dismiss")
        return tuple(how for how in of_type if how in told)
    return tuple(how for how in of_type if how not in OF_BEADS)
