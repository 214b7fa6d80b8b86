"""Work that a person hands in: an attempt of theirs, ended as it begins, and the bead before the Reviewer.

1. Who hands in says under which fence: whoever else had the bead meanwhile makes it Stale, and nothing is written.
2. A bead on which somebody works is not handed in (the table knows no such move), nor one that lands just now.
3. What stopped the bead is settled by it, its hold is released, and its failures are forgotten.
"""

from ...core.beads import taking_back
from ...core.beads.attempt import FORK, Attempt
from ...core.beads.bead import Role
from ...core.beads.events import Kind
from ...core.beads.outcomes import Outcome
from ...core.errors import Stale
from ...ports import ByHand
from .. import events, rows
from ..beads import landing, transitions
from ..beads.planning import bead as whole_bead
from ..database import Database
from . import claims


def hand_in(db: Database, work: ByHand) -> Attempt:
    """Write it down, all or nothing; NotAllowed, Stale."""
    now = db.now()
    with db.write():
        bead = whole_bead(db, work.bead)
        changes = transitions.moved(db, bead, Kind.HANDED_IN, {}, now)
        landing.refuse_while_it_lands(db, bead.id, bead.status)
        if bead.fence + 1 != work.fence:
            raise Stale(f"somebody else had bead {bead.id} meanwhile", "Hand it in once more.")
        number = 1 + (db.one("SELECT max(number) FROM attempts WHERE bead = ?", (bead.id,))[0] or 0)
        data = {"start": work.fork, FORK: work.fork, **taking_back.as_data(work.takes_back, work.built)}
        attempt = db.insert(
            "attempts",
            {
                "bead": bead.id,
                "number": number,
                "role": Role.PERSON.value,
                "name": work.person,
                "fence": work.fence,
                "token": "",
                "started_at": now,
                "ended_at": now,
                "agent": Role.PERSON.value,
                "base": work.fork,
                "head": work.head,
                "outcome": Outcome.COMPLETED.value,
                "detail": "handed in",
                "summary": "",
                "blockers": "",
                "learnings": "",
                "keep_branch": True,
                "data": rows.attempt_data(data),
                "provider": "",
                "model": "",
            },
        )
        told = {"head": work.head, "number": number, "folder": work.folder, "before": bead.status.value}
        told |= {"return_to": bead.return_to and bead.return_to.value}
        events.append(db, now, Kind.HANDED_IN, bead.id, work.person, told, attempt)
        changes |= {"held": None, "fence": work.fence, "branch_kept": True}
        transitions.apply(db, bead, changes, now)
        return claims.attempt(db, attempt)
