"""Pull requests: the newest of each bead, as it was seen last, among the machine's small facts (`settings`)."""

import json
from dataclasses import replace

from ..beads.model import BeadType, Status
from ..db import queries
from ..db.database import Database
from ..records import as_values, restore
from ..review.journal import waits_for_people
from .model import WAITING, PullRequest, PullState, RequestLine, landed, page_of

_KEY = "pull/"


def pull(db: Database, bead: str) -> PullRequest | None:
    kept = queries.setting(db, _KEY + bead)
    return None if kept is None else _made(bead, kept)


def pulls(db: Database, waiting: bool = True) -> list[PullRequest]:
    """The waiting requests, or all; oldest first."""
    # the loop asks in each quiet turn: what is over is large, and is not read
    rows = db.all(
        "SELECT key, value FROM settings WHERE key >= 'pull/' AND key < 'pull0' AND "
        "coalesce(json_extract(value, '$.state'), 'opening') IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(WAITING if waiting else PullState)),),
    )
    found = [_made(str(row[0]).removeprefix(_KEY), str(row[1])) for row in rows]
    return sorted(found, key=lambda one: (one.opened_at, one.bead))


def requested(db: Database) -> dict[str, RequestLine]:
    """Bead -> its request, while it only waits for that; on an epic's branch the epic's, which has no column."""
    found = {}
    for attempt in queries.reviewing(db):
        if waits_for_people(attempt.data):
            waiting, one = str(attempt.data.get("waiting") or ""), pull(db, attempt.bead)
            if one is None or not one.waits:
                found[attempt.bead] = RequestLine(0, PullState.OPENING.value, "", waiting)
            else:
                found[attempt.bead] = RequestLine(one.number, one.state.value, page_of(one.url), waiting or one.says)
    if not found:
        return {}
    for bead in queries.beads(db, (Status.LANDED,)):
        if (of_epic := found.get(str(bead.epic))) is not None:
            found[bead.id] = replace(of_epic, says=f"{landed(str(bead.epic))}; {of_epic.says}")
    return {bead.id: found[bead.id] for bead in queries.beads(db, ids=found) if bead.type is not BeadType.EPIC}


def save_pull(db: Database, pull: PullRequest) -> None:
    queries.set_setting(db, _KEY + pull.bead, json.dumps(as_values(pull), sort_keys=True))


def _made(bead: str, text: str) -> PullRequest:
    return restore(PullRequest, {**json.loads(text), "bead": bead})
