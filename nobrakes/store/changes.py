"""What changed after a position in the event log: all that has to be written down outside of the database.

1. It is what the database says now, read in one transaction, of whatever an event after the position names.
2. A position whose event is not in this database, or is another one there, is of another life of it: then all is given.
3. It costs what changed: the events after the position, and the beads that they name.
"""

import json

from ..core.beads.events import Kind
from ..ports.store import Changes, Position
from . import rows
from .alike import alike
from .database import Database
from .events import QUIET

PEOPLES = ("paused", "limits", "quarantine")
"""The settings that people make (operations.control, operations.flakes)."""

_OF_SETTINGS = (Kind.PAUSED, Kind.RESUMED, Kind.LIMITS_CHANGED, Kind.QUARANTINED, Kind.QUARANTINE_LIFTED)
_QUIET = ", ".join(f"'{kind.value}'" for kind in sorted(QUIET))
_NAMED = f"""SELECT seq, at, bead, kind,
CASE WHEN bead IS NULL THEN json_extract(data, '$.escalation') END AS escalation FROM events
WHERE seq > ? AND kind NOT IN ({_QUIET}) ORDER BY seq LIMIT ?"""
# `:beads` would be taken for that table by the answers that are kept (cache.tables)
_ESCALATIONS = """SELECT * FROM escalations WHERE bead IN (SELECT value FROM json_each(:whose))
OR id IN (SELECT value FROM json_each(:numbers)) ORDER BY id"""
_ENDED = f"""{rows.ATTEMPT} WHERE outcome IS NOT NULL
AND id IN (SELECT attempt FROM events WHERE seq > ? AND seq <= ? AND attempt IS NOT NULL)
ORDER BY id"""


_LAST = "SELECT seq, at, (SELECT at FROM events WHERE seq = ?) FROM events ORDER BY seq DESC LIMIT 1"
"""The last event, and when the one of a position was."""


def position(db: Database) -> Position:
    """The last event."""
    row = db.maybe("SELECT seq, at FROM events ORDER BY seq DESC LIMIT 1")
    return Position() if row is None else Position(row[0], row[1])


def changes(db: Database, after: Position, limit: int | None = None) -> Changes:
    """What changed after it; by the first `limit` events that tell of a change (None: by all)."""
    with db.read():
        last = db.maybe(_LAST, (after.seq,))
        upto = Position() if last is None else Position(last[0], last[1])
        if upto == after:
            return Changes(upto)
        restarted = bool(after.seq) and (last is None or last[2] != after.at)
        begin = 0 if restarted else after.seq
        named = db.all(_NAMED, (begin, -1 if limit is None else limit))
        more = limit is not None and len(named) == limit
        if more:
            upto = Position(named[-1]["seq"], named[-1]["at"])
        beads = sorted({row["bead"] for row in named if row["bead"] is not None})
        numbers = [row["escalation"] for row in named if row["bead"] is None and row["escalation"] is not None]
        settings = any(row["kind"] in _OF_SETTINGS for row in named) or restarted
        asked = db.all(_ESCALATIONS, {"whose": json.dumps(beads), "numbers": json.dumps(numbers)})
        return Changes(
            upto,
            [*alike(db, beads)],
            [rows.escalation(row) for row in asked],
            _settings(db) if settings else None,
            restarted,
            [rows.attempt(row) for row in db.all(_ENDED, (begin, upto.seq))],
            more,
        )


def _settings(db: Database) -> dict[str, str]:
    marks = ", ".join("?" * len(PEOPLES))
    return {row[0]: row[1] for row in db.all(f"SELECT key, value FROM settings WHERE key IN ({marks})", PEOPLES)}
