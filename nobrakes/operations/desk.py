"""The Decision Desk: what waits for a person, and the ways to decide it.

1. An escalation is decided once; the second time is refused.
2. What a person writes is kept as the escalation's answer, so that the next attempt can be told.
"""

from typing import Literal

from ..core.beads.approval import APPROVE
from ..core.beads.bead import Status
from ..core.beads.escalations import Escalation, EscalationType
from ..core.beads.events import Event, Kind
from ..core.errors import NotAllowed, UsageError
from ..paths import Paths
from ..ports import Store
from .waking import wake

How = Literal["approve", "retry", "cancel", "done", "dismiss"]
HOWS: tuple[How, ...] = ("approve", "retry", "cancel", "done", "dismiss")
_OF_A_HEAD = (EscalationType.CHECKS_CHANGED, EscalationType.UNUSUAL_CONTENT)
"""What is approved is one commit, whose review goes on."""
_APPROVED = (EscalationType.PLAN_REVIEW, *_OF_A_HEAD)
_ENDS = {"cancel": Kind.CANCELLED, "done": Kind.DONE_BY_HAND}


def escalations(store: Store, all: bool = False) -> list[Escalation]:
    """What is open, costliest first: by how many beads wait behind it. With `all`, what was decided too."""
    return store.escalations(open_only=not all)


def show(store: Store, n: int) -> Escalation:
    """One escalation; NoSuchEscalation."""
    return store.escalation(n)


def answer(store: Store, n: int, text: str, actor: str, paths: Paths | None = None) -> Escalation:
    """Answer; the bead goes on, and the answer is in its next prompt. NotAllowed when it was decided before."""
    if not text.strip():
        raise UsageError("the answer is empty")
    found = store.answer(n, text, actor)
    if paths is not None:
        wake(paths)
    return found


def resolve(
    store: Store, n: int, how: How | str, note: str = "", actor: str = "person", paths: Paths | None = None
) -> Escalation:
    """Decide an escalation. NotAllowed: it was decided before, or there is no bead to cancel or finish.

    approve: the agent's plan is followed, with the note, or the change of the checks is accepted, and the review of
    that very commit goes on; of these two only. retry: the bead goes back with a clean count of failures, and the note
    is in its next prompt. cancel, done: so is the bead. dismiss: nothing is to be done about
    it; a bead that was stopped by it goes on.
    """
    if how not in HOWS:
        raise UsageError(f"'{how[:40]}' is no way to decide an escalation", f"Use one of: {', '.join(HOWS)}.")
    found = store.escalation(n)
    if found.resolved_at is not None:
        raise NotAllowed(f"escalation {n} is decided already: {found.resolution}")
    if how == APPROVE and found.type not in _APPROVED:
        raise NotAllowed(
            f"escalation {n} is no plan and no change of the checks to approve",
            f"`nobrakes escalation {n}` shows what it is.",
        )
    if how in _ENDS:
        if found.bead is None:
            raise NotAllowed(f"escalation {n} is about no single bead", "Use --retry or --dismiss.")
        with store.together():
            store.record(Event(_ENDS[how], found.bead, actor=actor, data={"reason": note, "escalation": n}))
            if store.escalation(n).resolved_at is None:
                store.resolve(n, _words(how, note), actor)
    elif how == APPROVE and found.type in _OF_A_HEAD:
        store.resolve(n, _words(how, note), actor, Status.NEEDS_REVIEW)
    elif how == "retry" and note.strip():
        store.answer(n, note, actor)
    else:
        store.resolve(n, _words(how, note), actor)
    if paths is not None:
        wake(paths)
    return store.escalation(n)


def _words(how: str, note: str) -> str:
    return f"{how}: {note}" if note.strip() else how
