"""Merges that a person approves first: which work asks for it, for what a yes counts, and when none is needed any more.

1. `review.approve` says it: "always" for all work; "labelled" for a bead with the label `merge-review`, or below an
   epic that has it; "never" for none.
2. A person is asked when everything else has passed, right before the merge, about one content: the difference that
   would come to main (core.review.content). On another base a yes counts as long as that is the same.
3. A yes is for one merge: what was merged and taken back, and is to be merged again, is asked about again.
4. Where nothing asks for it any more, the bead goes on without a yes, and the event log says why.
"""

from collections.abc import Iterable

from .beads.approval import is_approval
from .beads.escalations import Escalation, EscalationType
from .beads.events import Event
from .board import Board

LABEL = "merge-review"
NOT_ASKED = "no approval is asked for any more: "


def needed(board: Board, bead: str) -> str:
    """Why the bead's merge waits for a person's yes; empty: it does not."""
    if board.limits.approve == "always":
        return 'review.approve is "always"'
    holder = board.labelled.get(bead) if board.limits.approve == "labelled" else None
    if holder is None:
        return ""
    return f"it has the label {LABEL}" if holder == bead else f"its epic {holder} has the label {LABEL}"


def given(
    asked: Iterable[Escalation], content: str, said: Iterable[Event], merged: int
) -> tuple[Escalation, Event] | None:
    """The latest yes for this very content, and the event by which a person said it; None: there is none.

    `said`: the bead's events of kind RESOLVED; `merged`: the place in the log of its last merge, 0: there was none. A
    clock may jump, so its times say nothing of what came first.
    """
    yes = {
        one.id: one
        for one in asked
        if one.type is EscalationType.MERGE_REVIEW
        and one.resolved_at is not None
        and is_approval(one.resolution)
        and one.evidence.get("content") == content
    }
    if not yes:
        return None  # no decision is read where none could count
    found = [one for one in said if one.seq > merged and one.data.get("escalation") in yes]
    last = max(found, key=lambda one: one.seq, default=None)
    return None if last is None else (yes[last.data["escalation"]], last)


def not_asked_any_more(board: Board) -> list[tuple[int, str]]:
    """The open questions whose beads need no yes now, each with the words in which that is resolved."""
    if board.limits.approve == "never":
        why = 'review.approve is "never"'
    else:
        why = f'neither the bead nor an epic above it has the label {LABEL}, and review.approve is not "always"'
    return [(number, NOT_ASKED + why) for bead, number in board.to_approve.items() if not needed(board, bead)]
