"""Pull requests: the newest of each bead, as it was seen last, among the machine's small facts (`settings`)."""

import json

from ..db import queries
from ..db.database import Database
from ..records import as_values, restore
from .model import WAITING, PullRequest, PullState

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


def save_pull(db: Database, pull: PullRequest) -> None:
    queries.set_setting(db, _KEY + pull.bead, json.dumps(as_values(pull), sort_keys=True))


def _made(bead: str, text: str) -> PullRequest:
    return restore(PullRequest, {**json.loads(text), "bead": bead})
