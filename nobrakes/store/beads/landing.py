"""What a person may not do with a bead any more while its review moves main, or the branch of its epic."""

import json

from ...core.beads.bead import Role, Status
from ...core.beads.outcomes import Outcome
from ...core.errors import NotAllowed
from ...core.review.journal import is_landing, may_land
from ..database import Database


def refuse_while_it_lands(db: Database, bead: str, status: Status) -> None:
    """NotAllowed when the bead's review is about to move main, has moved it, or was stopped before it knew: what is
    on main is done.
    """
    if status not in (Status.REVIEWING, Status.NEEDS_REVIEW):
        return
    last = "SELECT data, outcome FROM attempts WHERE bead = ? AND role = ? ORDER BY id DESC LIMIT 1"
    row = db.maybe(last, (bead, Role.REVIEWER.value))
    data, outcome = (json.loads(row[0]), row[1]) if row is not None else ({}, None)
    if status is Status.NEEDS_REVIEW:
        if outcome != Outcome.INTERRUPTED.value or not may_land(data):
            return
        raise NotAllowed(
            f"nobody knows whether bead {bead} is on main: its review was stopped before the remote had answered",
            "Start nobrakes again: it asks the remote, and finishes the merge or lets you say this again.",
        )
    if is_landing(data):
        raise NotAllowed(
            f"too late: bead {bead} is being merged, or is on main already",
            "Let nobrakes finish the merge; then `nobrakes undo` takes it back by the number of its event.",
        )
