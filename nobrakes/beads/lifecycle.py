"""The state machine of a bead: only this module decides a bead's next status.

1. A pair (status, kind) that is not in the table is refused; there is no default.
2. START: where a live bead starts; BACK: where it was before it stopped or closed; STAYS: unchanged.
3. If the bead is asked about (`Facts.is_asked`), it becomes escalated instead of waiting; while somebody works on it,
   only when that attempt ends.
4. Only escalated and closed beads remember where they return to.
5. docs/design.md's diagram is printed from it (tests.world.moves). The simulation replays event logs through `advance`
   and compares the store.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, Literal

from ..errors import NotAllowed
from ..events.kinds import Kind
from ..records import frozen
from .model import CLOSED, WAITING_FOR_AGENT, WORKING, Bead, BeadType, Role, Status, first_status

START: Final = "START"
BACK: Final = "BACK"
STAYS: Final = "STAYS"
Target = Status | Literal["START", "BACK", "STAYS"]


@frozen
class Facts:
    """Conditions of a move beside the bead and the kind."""

    to: str | None = None  # where a person sends the bead, or where it was before what is taken back
    is_asked: bool = False  # once this happened, something is open that stops the bead


@frozen
class Move:
    """The bead's new status, and where an escalated or closed one returns to."""

    status: Status
    return_to: Status | None = None


_NOTHING_MORE = Facts()

_AT_ANY_TIME: Mapping[Kind, Target] = {
    Kind.CANCELLED: Status.CANCELLED,
    Kind.DONE_BY_HAND: Status.DONE,
    Kind.FOUND_MERGED: Status.DONE,
}
_WAITING: Mapping[Kind, Target] = {**_AT_ANY_TIME, Kind.ESCALATED: Status.ESCALATED}
_WORKING: Mapping[Kind, Target] = {**_AT_ANY_TIME, Kind.ESCALATED: STAYS}

TABLE: Mapping[Status, Mapping[Kind, Target]] = {
    Status.DRAFT: {
        Kind.APPROVED: START,
        Kind.CANCELLED: Status.CANCELLED,
        Kind.FOUND_MERGED: Status.DONE,
        Kind.ESCALATED: STAYS,
    },
    Status.OPEN: {
        Kind.EPIC_COMPLETED: Status.DONE,
        Kind.EPIC_LANDED: Status.NEEDS_REVIEW,
        Kind.CANCELLED: Status.CANCELLED,
        Kind.DONE_BY_HAND: Status.DONE,
        Kind.UNDONE: Status.DRAFT,
        Kind.ESCALATED: STAYS,
    },
    Status.NEEDS_TESTS: {
        Kind.TEST_WRITER_STARTED: Status.WRITING_TESTS,
        Kind.UNDONE: Status.DRAFT,
        Kind.TAKEN: STAYS,
        Kind.HANDED_IN: Status.NEEDS_REVIEW,
        **_WAITING,
    },
    Status.WRITING_TESTS: {
        Kind.TESTS_PROVEN_RED: Status.NEEDS_DOER,
        Kind.TESTS_REJECTED: Status.NEEDS_TESTS,
        Kind.TEST_WRITER_STOPPED: Status.NEEDS_TESTS,
        Kind.TAKEN: Status.NEEDS_TESTS,
        **_WORKING,
    },
    Status.NEEDS_DOER: {
        Kind.DOER_STARTED: Status.DOING,
        Kind.UNDONE: Status.DRAFT,
        Kind.TAKEN: STAYS,
        Kind.HANDED_IN: Status.NEEDS_REVIEW,
        **_WAITING,
    },
    Status.DOING: {
        Kind.WORK_SUBMITTED: Status.NEEDS_REVIEW,
        Kind.DOER_STOPPED: Status.NEEDS_DOER,
        Kind.TAKEN: Status.NEEDS_DOER,
        **_WORKING,
    },
    Status.NEEDS_REVIEW: {
        Kind.REVIEW_STARTED: Status.REVIEWING,
        Kind.REVIEW_REJECTED: Status.NEEDS_DOER,  # by a person, who did not wait for it
        Kind.TAKEN: Status.NEEDS_DOER,
        Kind.HANDED_IN: Status.NEEDS_REVIEW,  # in the place of what waits there
        **_WAITING,
    },
    Status.REVIEWING: {
        Kind.MERGED: Status.DONE,
        Kind.LANDED: Status.LANDED,
        Kind.REVIEW_REJECTED: Status.NEEDS_DOER,
        Kind.REVIEW_INTERRUPTED: Status.NEEDS_REVIEW,
        Kind.TAKEN: Status.NEEDS_DOER,
        **_WORKING,
    },
    Status.LANDED: {  # what is on its epic's branch is given up by a revert alone
        Kind.FOUND_MERGED: Status.DONE,
        Kind.REVERTED: Status.NEEDS_DOER,
        Kind.ESCALATED: STAYS,
    },
    Status.ESCALATED: {
        Kind.RESOLVED: BACK,
        Kind.TAKEN: STAYS,
        Kind.HANDED_IN: Status.NEEDS_REVIEW,
        **_AT_ANY_TIME,
        Kind.ESCALATED: STAYS,
    },
    Status.DONE: {
        Kind.REOPENED: START,
        Kind.REVERTED: Status.NEEDS_DOER,
        Kind.UNDONE: BACK,
        Kind.FOUND_MERGED: Status.DONE,  # once more: it was opened again, merged, and all of that was lost
        Kind.ESCALATED: STAYS,
    },
    Status.CANCELLED: {Kind.REOPENED: START, Kind.UNDONE: BACK, Kind.FOUND_MERGED: Status.DONE, Kind.ESCALATED: STAYS},
}

MOVING: frozenset[Kind] = frozenset(kind for row in TABLE.values() for kind in row)
"""The kinds that move a bead; every other kind is a remark."""

RETURNS_TO: Mapping[Status, Status] = {
    Status.WRITING_TESTS: Status.NEEDS_TESTS,
    Status.DOING: Status.NEEDS_DOER,
    Status.REVIEWING: Status.NEEDS_REVIEW,
    Status.LANDED: Status.NEEDS_REVIEW,
}
"""Where a worked-on bead waits for the next worker."""

GIVEN_BACK: Mapping[Role, Kind] = {
    Role.TEST_WRITER: Kind.TEST_WRITER_STOPPED,
    Role.DOER: Kind.DOER_STOPPED,
    Role.REVIEWER: Kind.REVIEW_INTERRUPTED,
}
"""The move after work without a result."""

RESOLVES_TO = (Status.NEEDS_TESTS, Status.NEEDS_DOER, Status.NEEDS_REVIEW)
"""Where a person may send a bead; only there a question stops it."""

_ASKED_ABOUT = frozenset({Kind.RESOLVED, Kind.UNDONE})
"""After these, and at an attempt's end, open questions stop the bead. Who approves or reopens it has read them."""


def advance(bead: Bead, kind: Kind, facts: Facts = _NOTHING_MORE) -> Move:
    """The bead's move by `kind`. NotAllowed without such a row, or for an impossible `facts.to`."""
    if (target := TABLE[bead.status].get(kind)) is None:
        raise NotAllowed(
            f"bead {bead.id} is {bead.status.value}, so '{kind.value}' is not possible",
            f"`nobrakes show {bead.id}` shows the bead's state.",
        )
    if target == STAYS:
        return Move(bead.status, bead.return_to)
    # nobody is started on an epic, so one that is sent back just contains
    status = _named(bead, kind, target, facts)
    status = retyped(status, True) if bead.type is BeadType.EPIC else status
    if status is Status.ESCALATED:
        return Move(status, bead.status)
    if facts.is_asked and _stops(bead, status) and (bead.status in WORKING or kind in _ASKED_ABOUT):
        return Move(Status.ESCALATED, status)
    if status in CLOSED:
        remembers = bead.status in (Status.ESCALATED, *CLOSED)
        return Move(status, bead.return_to if remembers else added(replace(bead, status=returns_to(bead.status))))
    return Move(status)


def _stops(bead: Bead, status: Status) -> bool:
    return status in RESOLVES_TO or (status is Status.OPEN and bead.status not in CLOSED)  # an epic of which is asked


def _named(bead: Bead, kind: Kind, target: Target, facts: Facts) -> Status:
    if target == START:
        return first_status(bead)
    if target != BACK:
        return Status(target)
    if facts.to is None:
        return bead.return_to or first_status(bead)
    if kind is Kind.RESOLVED:
        if (to := facts.to) not in RESOLVES_TO:
            allowed = ", ".join(status.value for status in RESOLVES_TO)
            raise NotAllowed(f"bead {bead.id} cannot get the status '{to[:40]}'", f"Use one of: {allowed}.")
        return Status(to)
    if facts.to not in (Status.DRAFT, *((Status.OPEN,) if bead.type is BeadType.EPIC else RESOLVES_TO)):
        raise NotAllowed(f"bead {bead.id} cannot get the status '{facts.to[:40]}' back")
    return Status(facts.to)


def retyped(status: Status, is_epic: bool) -> Status:
    """What waited for an agent is open as an epic, on which none works; an open epic waits for one as a bead."""
    if is_epic:
        return Status.OPEN if status in (*WAITING_FOR_AGENT, Status.LANDED) else status
    return Status.NEEDS_DOER if status is Status.OPEN else status


def given_up() -> Status:
    return Status(_AT_ANY_TIME[Kind.CANCELLED])


def returns_to(status: Status) -> Status:
    return RETURNS_TO.get(status, status)


def live(bead: Bead) -> Bead:
    return replace(bead, status=live_status(bead), closed_at=None, close_reason="")


def live_status(bead: Bead) -> Status:
    return first_status(bead)


def draft(bead: Bead) -> Bead:
    if bead.status is Status.DRAFT and bead.closed_at is None and not bead.close_reason:
        return bead
    return replace(bead, status=Status.DRAFT, closed_at=None, close_reason="")


def closed(bead: Bead, how: Status, at: float | None) -> Bead:
    return replace(bead, status=how, closed_at=bead.closed_at or at)


def told(bead: Bead, word: Status) -> Bead:
    """The bead with a file's status; only git can tell that it is on an epic's branch."""
    return replace(bead, status=returns_to(word) if word is Status.LANDED else word)


def added(bead: Bead) -> Status:
    """The status of an added bead: not worked on, and an epic only contains."""
    if bead.status is Status.LANDED:  # only a rebuilt database knows of one
        return bead.status
    waits = returns_to(bead.status)
    return Status.OPEN if bead.type is BeadType.EPIC and waits in RESOLVES_TO else waits


def changed(before: Bead, after: Bead, was_tried: bool) -> Status:
    """The status after an edit of type or `needs_tests`; NotAllowed. `was_tried`: later tests discard no work."""
    if before.status in (Status.DRAFT, *CLOSED):
        return before.status
    if (before.type is BeadType.EPIC) != (after.type is BeadType.EPIC):
        if before.status not in (Status.OPEN, *WAITING_FOR_AGENT):
            raise NotAllowed(
                f"bead {before.id} is {before.status.value}: its type cannot change to or from epic now",
                "Wait until no agent works on the bead, or add a new bead.",
            )
        return first_status(after)
    if (
        before.needs_tests != after.needs_tests
        and before.status in WAITING_FOR_AGENT
        and not (after.needs_tests and was_tried)
    ):
        return first_status(after)
    return before.status


def merged(bead: Bead, commit: str) -> Bead:
    return replace(bead, status=Status.DONE, merged_commit=commit, closed_at=bead.updated_at or None)


def landed(bead: Bead) -> Bead:
    return replace(bead, status=Status.LANDED)


def recovered(bead: Bead, has_tests: bool, is_asked: bool) -> Bead:
    """A lost database's bead where the next agent can go on: handed-in work is forgotten, a Doer needs the proven tests
    (`has_tests`), and open questions stop it again."""
    if bead.status is Status.NEEDS_REVIEW:
        bead = replace(bead, status=Status.NEEDS_DOER)
    if bead.status is Status.NEEDS_DOER and bead.needs_tests and not has_tests:
        bead = replace(bead, status=Status.NEEDS_TESTS, branch_kept=False)
    if is_asked and bead.status in RESOLVES_TO:
        bead = replace(bead, status=Status.ESCALATED, return_to=bead.status)
    return bead
