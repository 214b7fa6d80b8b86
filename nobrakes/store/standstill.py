"""The beads that stand still until a person, or a time, lets them go on (core.standstill): one pass for each kind.

What is closed, or a draft, holds nobody up by itself. Raw SQL: `status` and each `run` ask for it.
"""

from ..core.beads.bead import Status
from ..core.graph.links import Node
from ..core.standstill import SHOWN, Standstill
from . import rows
from .beads import moves
from .database import Database

_LIVE = "status NOT IN ('done', 'cancelled', 'draft')"
_FIRST = "ORDER BY priority, id LIMIT ?"
_HELD = f"held IS NOT NULL AND {_LIVE}"
_DEFERRED = f"asleep = 1 AND {_LIVE}"
_RESTING = f"resting = 1 AND {_LIVE}"
# from what is cancelled on: that is little, and each step has an index
_BLOCKED = f"""FROM beads AS blocker CROSS JOIN edges ON edges.needs = blocker.id AND edges.type = 'blocks'
CROSS JOIN beads AS live ON live.id = edges.bead WHERE blocker.status = 'cancelled' AND live.{_LIVE}"""
_CHILDREN = f"""FROM beads AS parent CROSS JOIN beads AS live ON live.epic = parent.id
WHERE parent.status = 'cancelled' AND live.{_LIVE}"""
_EMPTY = "type = 'epic' AND status = 'open' AND children = 0"
_WANTED = """SELECT DISTINCT status, type FROM beads WHERE type <> 'epic'
AND status IN ('needs_tests', 'writing_tests', 'needs_doer', 'doing') ORDER BY status, type"""


def standstill(db: Database) -> Standstill:
    """Who stands still now."""
    moves.wake(db, db.now())
    with db.read():
        epics = tuple(row[0] for row in db.plain(f"SELECT id FROM beads WHERE {_EMPTY} {_FIRST}", (SHOWN,)))
        return Standstill(
            held=_nodes(db, _HELD),
            deferred=_nodes(db, _DEFERRED),
            resting=_nodes(db, _RESTING),
            cancelled_blockers=_pairs(db, "edges.needs", _BLOCKED),
            cancelled_parents=_pairs(db, "live.epic", _CHILDREN),
            empty_epics=epics,
            wanted=tuple((Status(row[0]), str(row[1])) for row in db.plain(_WANTED)),
            counts={
                "held": _number(db, f"FROM beads WHERE {_HELD}"),
                "deferred": _number(db, f"FROM beads WHERE {_DEFERRED}"),
                "resting": _number(db, f"FROM beads WHERE {_RESTING}"),
                "cancelled_blockers": _number(db, _BLOCKED),
                "cancelled_parents": _number(db, _CHILDREN),
                "empty_epics": _number(db, f"FROM beads WHERE {_EMPTY}"),
            },
        )


def _nodes(db: Database, where: str) -> tuple[Node, ...]:
    return tuple(map(rows.node, db.all(f"{rows.NODE} WHERE {where} {_FIRST}", (SHOWN,))))


def _pairs(db: Database, other: str, which: str) -> tuple[tuple[str, str], ...]:
    """Each live bead with the other one, the first SHOWN."""
    found = db.plain(f"SELECT live.id, {other} {which} ORDER BY live.priority, live.id, 2 LIMIT ?", (SHOWN,))
    return tuple((row[0], row[1]) for row in found)


def _number(db: Database, which: str) -> int:
    return int(db.one(f"SELECT count(*) {which}")[0])
