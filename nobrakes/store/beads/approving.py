"""Many drafts made live at once: a statement for each kind of bead, and one by one only those that have children.

A draft without children decides about no other bead: nothing hangs on what it becomes but its own row and its event.
Where it goes is the lifecycle's word, asked once for each kind.
"""

from collections.abc import Callable, Sequence
from typing import Any

from ...core.beads.bead import Bead, BeadType, Status
from ...core.beads.events import Kind
from ...core.graph.ranks import rank, rises_at
from ..database import Database
from . import moves

_TABLE = "temp.approving"
_OF_THEM = f"status = ? AND id IN (SELECT id FROM {_TABLE})"


def at_once(
    db: Database, beads: Sequence[str], approved: Callable[[Bead], dict[str, Any]], actor: str, now: float
) -> bool:
    """Make these live in the caller's transaction; False: not all of them are drafts, and nothing was done.

    `approved`: what changes of a draft by it.
    """
    draft = Status.DRAFT.value
    db.run(f"CREATE TEMP TABLE {_TABLE.partition('.')[2]} (id VARCHAR NOT NULL PRIMARY KEY)")  # looked up by each row
    try:
        db.run_many(f"INSERT INTO {_TABLE} VALUES (?)", ((bead,) for bead in beads))
        asked = f"SELECT type, needs_tests, count(*), sum(children > 0) FROM beads WHERE {_OF_THEM} GROUP BY 1, 2"
        kinds = db.plain(asked, (draft,))
        if sum(many for _, _, many, _ in kinds) < len(beads):
            return False
        db.run(
            f"INSERT INTO events (at, kind, bead, actor, data) SELECT ?, ?, id, ?, '{{}}' FROM {_TABLE} ORDER BY rowid",
            (now, Kind.APPROVED.value, actor),
        )
        db.noted = True
        of_kind = "type = ? AND needs_tests = ?"
        to = {(type_, tested): approved(_of_kind(type_, tested)) for type_, tested, _, _ in kinds}
        parents = []
        if any(with_children for _, _, _, with_children in kinds):
            parents = db.all(f"SELECT id, type, needs_tests FROM beads WHERE {_OF_THEM} AND children > 0", (draft,))
        for kind, move in to.items():
            values = {**move, "ready_since": now, "rises_at": rises_at(now, now), "updated_at": now}
            sets = ", ".join(f'"{name}" = ?' for name in values)
            db.run(
                f"UPDATE beads SET {sets}, rank = priority + ? WHERE {of_kind} AND children = 0 AND {_OF_THEM}",
                (*values.values(), rank(0, now, now), *kind, draft),
            )
        for bead, type_, needs_tests in parents:
            moves.move(db, bead, to[type_, needs_tests], now)
        return True
    finally:
        db.run(f"DROP TABLE IF EXISTS {_TABLE}")  # a full disk has rolled it back already


def _of_kind(type_: str, needs_tests: int) -> Bead:
    """A draft of that kind."""
    return Bead("any", "Any", BeadType(type_), needs_tests=bool(needs_tests))
