"""The state machine of a bead: one table, and everything that moves a bead is in it.

1. A pair (status, kind) that is not in the table is refused; there is no default.
2. `START` means core.bead.first_status; `BACK` means the status that an escalation or a closed bead remembered. Where
   something is still asked about the bead, it is escalated in place of waiting there.
3. docs/design.md's diagram is printed from this table (`mermaid()`), and a test compares them.
"""

from collections.abc import Mapping
from typing import Final, Literal

from .bead import Bead, Status, first_status
from .errors import NotAllowed
from .events import Kind

START: Final = "START"
BACK: Final = "BACK"
Target = Status | Literal["START", "BACK"]

_AT_ANY_TIME: Mapping[Kind, Target] = {
    Kind.CANCELLED: Status.CANCELLED,
    Kind.DONE_BY_HAND: Status.DONE,
    Kind.ESCALATED: Status.ESCALATED,
    Kind.FOUND_MERGED: Status.DONE,
}

TABLE: Mapping[Status, Mapping[Kind, Target]] = {
    Status.DRAFT: {Kind.APPROVED: START, Kind.CANCELLED: Status.CANCELLED, Kind.FOUND_MERGED: Status.DONE},
    Status.OPEN: {
        Kind.EPIC_COMPLETED: Status.DONE,
        Kind.CANCELLED: Status.CANCELLED,
        Kind.DONE_BY_HAND: Status.DONE,
        Kind.UNDONE: Status.DRAFT,
    },
    Status.NEEDS_TESTS: {
        Kind.TEST_WRITER_STARTED: Status.WRITING_TESTS,
        Kind.UNDONE: Status.DRAFT,
        **_AT_ANY_TIME,
    },
    Status.WRITING_TESTS: {
        Kind.TESTS_PROVEN_RED: Status.NEEDS_DOER,
        Kind.TESTS_REJECTED: Status.NEEDS_TESTS,
        Kind.TEST_WRITER_STOPPED: Status.NEEDS_TESTS,
        **_AT_ANY_TIME,
    },
    Status.NEEDS_DOER: {Kind.DOER_STARTED: Status.DOING, Kind.UNDONE: Status.DRAFT, **_AT_ANY_TIME},
    Status.DOING: {
        Kind.WORK_SUBMITTED: Status.NEEDS_REVIEW,
        Kind.DOER_STOPPED: Status.NEEDS_DOER,
        **_AT_ANY_TIME,
    },
    Status.NEEDS_REVIEW: {Kind.REVIEW_STARTED: Status.REVIEWING, **_AT_ANY_TIME},
    Status.REVIEWING: {
        Kind.MERGED: Status.DONE,
        Kind.REVIEW_REJECTED: Status.NEEDS_DOER,
        Kind.REVIEW_INTERRUPTED: Status.NEEDS_REVIEW,
        **_AT_ANY_TIME,
    },
    Status.ESCALATED: {
        Kind.RESOLVED: BACK,
        Kind.CANCELLED: Status.CANCELLED,
        Kind.DONE_BY_HAND: Status.DONE,
        Kind.FOUND_MERGED: Status.DONE,
    },
    Status.DONE: {
        Kind.REOPENED: START,
        Kind.REVERTED: Status.NEEDS_DOER,
        Kind.UNDONE: BACK,
        Kind.FOUND_MERGED: Status.DONE,  # once more: it was opened again, merged, and all of that was lost
    },
    Status.CANCELLED: {Kind.REOPENED: START, Kind.UNDONE: BACK, Kind.FOUND_MERGED: Status.DONE},
}

MOVING: frozenset[Kind] = frozenset(kind for row in TABLE.values() for kind in row)
"""The kinds that move a bead; every other kind is a remark on it."""

RETURNS_TO: Mapping[Status, Status] = {
    Status.WRITING_TESTS: Status.NEEDS_TESTS,
    Status.DOING: Status.NEEDS_DOER,
    Status.REVIEWING: Status.NEEDS_REVIEW,
}
"""Where an escalation brings a bead back to when it was being worked on."""


def advance(bead: Bead, kind: Kind) -> Status:
    """The status after `kind` happened to `bead`; NotAllowed where the table has no such move."""
    target = TABLE[bead.status].get(kind)
    if target is None:
        raise NotAllowed(
            f"bead {bead.id} is {bead.status.value}: '{kind.value}' cannot happen to it",
            f"`nobrakes show {bead.id}` tells where it is.",
        )
    if target == START:
        return first_status(bead)
    if target == BACK:
        return bead.return_to or first_status(bead)
    return Status(target)


def returns_to(status: Status) -> Status:
    """The waiting status that an escalated bead remembers."""
    return RETURNS_TO.get(status, status)


def mermaid() -> str:
    """The table as a Mermaid state diagram, one line a move, in the table's order."""
    lines = ["stateDiagram-v2", "    [*] --> draft"]
    for status, row in TABLE.items():
        for kind, target in row.items():
            if target == START:
                ends = (["open"] if kind is Kind.APPROVED else []) + [
                    Status.NEEDS_TESTS.value,
                    Status.NEEDS_DOER.value,
                ]
            elif target == BACK:
                ends = [Status.NEEDS_TESTS.value, Status.NEEDS_DOER.value, Status.NEEDS_REVIEW.value]
            else:
                ends = [Status(target).value]
            lines += [f"    {status.value} --> {end}: {kind.value}" for end in ends]
    lines += ["    done --> [*]", "    cancelled --> [*]"]
    return "\n".join(lines)
