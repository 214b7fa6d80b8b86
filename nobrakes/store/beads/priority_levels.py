"""Keeps `b_level` and `done_level` as core.graph.priority_levels defines them, looking only at what a change can reach.

1. A level is computed from the levels of what waits for the bead; a changed one is passed on to what it waits for.
2. Lowest level first. What a level is computed from is lower, so each bead is settled once, after all that it is
   computed from; only epics, which weigh nothing, can tie with what is below them and be settled again.
3. One transaction settles at most PART beads. The rest is written down (`levels_due`) and settled by those that come
   next, so that no change holds the write lock longer than that. Levels may lag; readiness never does.
4. When what a bead takes as a rule is another number, every open bead without an estimate is due. They are marked in
   parts as well (`MARKED` is the last one that was); until all are, nothing is settled, since lowest first would not
   hold.
5. While something is due, levels are no compass: who needs one calls `settle_all` first, or looks everywhere.
6. In a circle levels would grow for ever. The store lets none in, but a database may be another's or an older one's:
   when many more parts were settled than the graph has, all is computed anew. That is done outside of the write lock,
   and what differs is written in parts, marked before, as long as nobody else writes; else parts are settled on.
"""

import heapq
from collections.abc import Iterable
from functools import partial

from ...core.beads.bead import CLOSED
from ...core.graph.priority_levels import levels
from ...core.graph.usual import Usual, weight
from ..cache import row as row_of
from ..database import Database, Row
from .usual import learn, usual
from .whole import all_links

PART = 1000
"""Beads that are settled in one transaction: 40 ms."""

MARKS = 20_000
"""Beads that are marked in one transaction: 40 ms."""

MARKED = "levels_marked"
"""The setting that keeps the last bead that was marked, by id."""

PARTS = "levels_parts"
"""The setting that keeps how many parts were settled since nothing was due."""

MANY = 2
"""With so many parts due at once, as after several plans in a row, beads would be settled once for each of those."""

SPARE = 10
"""So many parts more than three times those that the graph has are a circle's."""

_OWN = "SELECT status, type, estimate, epic, b_level, done_level FROM beads WHERE id = ?"
_WAITING = """SELECT max(b_level) FROM edges JOIN beads ON beads.id = edges.bead
WHERE edges.needs = ? AND edges.type = 'blocks'"""
_EPIC = "SELECT max(done_level) FROM beads WHERE id = ? AND type = 'epic'"
_CHILDREN = "SELECT max(b_level) FROM beads WHERE epic = ?"
_NEEDED = """SELECT beads.b_level, beads.id FROM edges JOIN beads ON beads.id = edges.needs
WHERE edges.bead = ? AND edges.type = 'blocks'"""
_LEVEL = "SELECT b_level, id FROM beads WHERE id = ?"
_LEVELS_OF_CHILDREN = "SELECT b_level, id FROM beads WHERE epic = ?"
_CLOSED = ", ".join(f"'{status.value}'" for status in CLOSED)
_TO_MARK = f"""SELECT b_level, id FROM beads WHERE id > ? AND estimate IS NULL AND type <> 'epic'
AND status NOT IN ({_CLOSED}) ORDER BY id LIMIT ?"""
_MARKING = f"SELECT value FROM settings WHERE key = '{MARKED}'"
_MARKED = row_of("settings", MARKED)
IS_DUE = f"(EXISTS (SELECT 1 FROM levels_due) OR EXISTS ({_MARKING}))"
OF_DUE = ("levels_due", *_MARKED)
"""Whether some levels lag behind the graph, as a part of a question, and what that is read from."""
_MARK = "INSERT OR IGNORE INTO levels_due (level, id) VALUES (?, ?)"
_SET = "UPDATE beads SET b_level = ?, done_level = ? WHERE id = ?"
_FIRST_DUE = "SELECT level, id FROM levels_due ORDER BY level, id LIMIT ?"

Entry = tuple[int, str]
"""A bead's level before it is settled, and its id."""


def refresh(db: Database, beads: Iterable[str]) -> None:
    """Bring the levels of these beads up to date, and of all that depend on them, as far as one transaction may."""
    _settle_part(db, [(row[0], row[1]) for bead in dict.fromkeys(beads) for row in db.all(_LEVEL, (bead,))])


def mark(db: Database, beads: Iterable[str]) -> None:
    """The levels of these beads are due: something waits for them now."""
    db.run_many(f"INSERT OR IGNORE INTO levels_due (level, id) {_LEVEL}", [(bead,) for bead in beads])


def is_due(db: Database) -> bool:
    """Whether some levels lag behind the graph."""
    return bool(db.one(f"SELECT {IS_DUE}", (), OF_DUE)[0])


def settle_some(db: Database) -> None:
    """Settle a part of what is due, in a transaction of its own; or all of it, where parts have no end."""
    if is_due(db):
        if _has_no_end(db):
            _compute_anew(db)
            return
        with db.write(derived=True):
            _settle_part(db, [])


def settle_all(db: Database) -> None:
    """Settle all that is due, a transaction for each part. Inside of a transaction, in that one."""
    if db.one("SELECT count(*) FROM (SELECT 1 FROM levels_due LIMIT ?)", (MANY * PART,))[0] == MANY * PART:
        _compute_anew(db)  # who waits for all gets it sooner so
    while is_due(db):
        settle_some(db)


def nothing_due(db: Database) -> None:
    """All levels were just computed anew."""
    db.run("DELETE FROM levels_due")
    db.run("DELETE FROM settings WHERE key IN (?, ?)", (MARKED, PARTS))


def mark_unestimated(db: Database) -> None:
    """What a bead takes as a rule has changed."""
    db.run("INSERT OR REPLACE INTO settings (key, value) VALUES (?, '')", (MARKED,))
    _settle_part(db, [])


def relearn(db: Database) -> bool:
    """Learn what is usual in a transaction of its own, and mark what follows; whether it changed."""
    with db.write(derived=True):
        changed = learn(db)
        if changed:
            mark_unestimated(db)
    return changed


def _mark_part(db: Database, after: str) -> bool:
    """Mark a part of what has to be; whether more is left."""
    found = [(row[0], row[1]) for row in db.all(_TO_MARK, (after, MARKS))]
    db.run_many(_MARK, found)
    if len(found) == MARKS:
        db.run("UPDATE settings SET value = ? WHERE key = ?", (found[-1][1], MARKED))
        return True
    db.run("DELETE FROM settings WHERE key = ?", (MARKED,))
    return False


def _settle_part(db: Database, entries: list[Entry]) -> None:
    marking = db.maybe(_MARKING, (), _MARKED)
    if marking is not None and _mark_part(db, marking[0]):
        db.run_many(_MARK, entries)
        return
    expected = usual(db)
    due = [(row[0], row[1]) for row in db.all(_FIRST_DUE, (PART,))]
    beyond = due[-1] if len(due) == PART else None  # what is due above this one is not in the heap
    if due:
        db.run_many("DELETE FROM levels_due WHERE id = ?", [(bead,) for _, bead in due])
    heap = list({bead: (level, bead) for level, bead in [*due, *entries]}.values())
    heapq.heapify(heap)
    queued = {bead for _, bead in heap}
    settled = 0
    while heap and settled < PART and not (settled and beyond is not None and heap[0] > beyond):
        _, bead = heapq.heappop(heap)
        queued.discard(bead)
        settled += 1
        for entry in _settle(db, bead, expected):
            if entry[1] not in queued:
                queued.add(entry[1])
                heapq.heappush(heap, entry)
    if heap:
        db.run_many(_MARK, heap)
    if heap or due:
        _count_part(db)


def _count_part(db: Database) -> None:
    """Count the parts that were settled since nothing was due."""
    if db.maybe(_FIRST_DUE, (1,)) is None:
        db.run("DELETE FROM settings WHERE key = ?", (PARTS,))
    else:
        db.run("INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)", (PARTS, str(_parts(db) + 1)))


def _parts(db: Database) -> int:
    before = db.maybe("SELECT value FROM settings WHERE key = ?", (PARTS,), row_of("settings", PARTS))
    return 0 if before is None else int(before[0])


def _has_no_end(db: Database) -> bool:
    """Whether settling goes on for so long that it may go in circles."""
    parts = _parts(db)
    return parts > SPARE and parts > SPARE + 3 * int(db.one("SELECT count(*) FROM beads")[0]) // PART


def _compute_anew(db: Database) -> None:
    """Compute all levels from the whole graph, and write those that differ. Inside of a transaction, in that one."""
    with db.read():
        version = db.data_version()
        known = {row[0]: (row[1], row[2]) for row in db.each("SELECT id, b_level, done_level FROM beads")}
        found = levels(all_links(db), usual(db)).items()
        wrong = [(one.start, one.done, bead) for bead, one in found if known.get(bead) != (one.start, one.done)]
    del known, found
    marks = [(level, bead) for level, _, bead in wrong]
    size = MARKS // 2
    # first marked, so that none of them is forgotten where somebody else writes before all of them are right
    writes = [partial(db.run_many, _MARK, marks[at : at + size]) for at in range(0, len(marks), size)]
    writes += [partial(db.run_many, _SET, wrong[at : at + size]) for at in range(0, len(wrong), size)]
    for write in (*writes, partial(nothing_due, db)):
        with db.write(derived=True):
            if db.data_version() != version:
                db.run("DELETE FROM settings WHERE key = ?", (PARTS,))
                return
            write()


def _settle(db: Database, bead: str, expected: Usual) -> list[Entry]:
    """Compute one bead's levels; the beads whose levels are computed from what changed."""
    own = db.one(_OWN, (bead,))
    start, done = _levels(db, bead, own, expected)
    if (start, done) == (own["b_level"], own["done_level"]):
        return []
    db.run("UPDATE beads SET b_level = ?, done_level = ? WHERE id = ?", (start, done, bead), (f"beads {bead}",))
    others: list[Row] = []
    if start != own["b_level"]:
        others += db.all(_NEEDED, (bead,))
        if own["epic"] is not None:
            others += db.all(_LEVEL, (own["epic"],))
    if done != own["done_level"]:
        others += db.all(_LEVELS_OF_CHILDREN, (bead,))
    return [(row[0], row[1]) for row in others]


def _levels(db: Database, bead: str, own: Row, expected: Usual) -> tuple[int, int]:
    """(b_level, done_level) by what waits for the bead, as that stands now."""
    if own["status"] in CLOSED:
        return 0, 0
    done = db.one(_WAITING, (bead,))[0] or 0
    if own["epic"] is not None:
        done = max(done, db.one(_EPIC, (own["epic"],))[0] or 0)
    children = db.one(_CHILDREN, (bead,))[0] or 0
    return max(weight(own["type"], own["estimate"], expected) + done, children), done
