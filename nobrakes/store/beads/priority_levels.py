"""Keeps `b_level` and `done_level` as core.graph.priority_levels defines them, looking only at what a change can reach.

1. A level is computed from the levels of what waits for the bead; a changed one is passed on to what it waits for.
2. First in, first out, each bead once in the queue: a change settles in few rounds on any graph without circles.
3. A change that reaches further than LIMIT is settled by computing the whole graph once.
"""

from collections import deque
from collections.abc import Iterable

from ...core.beads.bead import CLOSED
from ...core.graph.priority_levels import weight
from ..database import Database

LIMIT = 20_000
"""Recomputations after which the whole graph is cheaper."""

_OWN = "SELECT status, type, estimate, epic, b_level, done_level FROM beads WHERE id = ?"
_WAITING = """SELECT max(b_level) FROM edges JOIN beads ON beads.id = edges.bead
WHERE edges.needs = ? AND edges.type = 'blocks'"""
_EPIC = "SELECT max(done_level) FROM beads WHERE id = ? AND type = 'epic'"
_CHILDREN = "SELECT max(b_level) FROM beads WHERE epic = ?"


def refresh(db: Database, beads: Iterable[str]) -> None:
    """Bring the levels of these beads up to date, and of all that depend on them."""
    queue = deque(dict.fromkeys(beads))
    queued = set(queue)
    rounds = 0
    while queue:
        bead = queue.popleft()
        queued.discard(bead)
        rounds += 1
        if rounds > LIMIT:
            from .recompute import recompute_levels

            recompute_levels(db)
            return
        for other in _settle(db, bead):
            if other not in queued:
                queued.add(other)
                queue.append(other)


def _settle(db: Database, bead: str) -> list[str]:
    """Compute one bead's levels; the beads whose levels are computed from what changed."""
    own = db.one(_OWN, (bead,))
    start, done = 0, 0
    if own["status"] not in CLOSED:
        done = db.one(_WAITING, (bead,))[0] or 0
        if own["epic"] is not None:
            done = max(done, db.one(_EPIC, (own["epic"],))[0] or 0)
        children = db.one(_CHILDREN, (bead,))[0] or 0
        start = max(weight(own["type"], own["estimate"]) + done, children)
    if (start, done) == (own["b_level"], own["done_level"]):
        return []
    db.run("UPDATE beads SET b_level = ?, done_level = ? WHERE id = ?", (start, done, bead))
    others: list[str] = []
    if start != own["b_level"]:
        others += [row[0] for row in db.all("SELECT needs FROM edges WHERE bead = ? AND type = 'blocks'", (bead,))]
        if own["epic"] is not None:
            others.append(own["epic"])
    if done != own["done_level"]:
        others += [row[0] for row in db.all("SELECT id FROM beads WHERE epic = ?", (bead,))]
    return others
