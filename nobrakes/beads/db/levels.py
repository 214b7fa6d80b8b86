"""Keeps `b_level` and `done_level` as beads.graph defines them, looking only at what a change can reach.

1. A level is computed from the levels of what waits for the bead; a changed one propagates to what it waits for.
2. Lowest level first, so each bead is settled once; only epics, which weigh nothing, can tie with beads below them and
   be settled again.
3. One transaction settles at most PART beads; the rest is in `levels_due` for the next, so that no change holds the
   write lock longer. Levels may lag; readiness never does.
4. When the typical minutes change, every open bead without an estimate is due. They are marked in parts (`MARKED`: the
   last one); until all are, nothing is settled, or rule 2 would not hold.
5. While something is due, levels are unreliable: call `update_all` first, or look everywhere.
6. In a circle levels would grow for ever. The store allows none, but a database may be foreign or old: when far more
   parts were settled than the graph has, all is recomputed outside of the write lock and written in parts, as long as
   nobody else writes.
"""

import heapq
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from ...db import rows
from ...db.database import Database, Row
from ...db.database import row as row_of
from ...db.fast import BY_AGENTS, ESTIMATED, UNFINISHED
from .. import graph
from ..graph import OUTLIER, Links, Node, TypicalMinutes, levels, weight
from ..model import CLOSED, Dependency, DependencyType

# Another number makes every open bead without an estimate due: where many are it has to differ by more than a quarter.
TYPICAL_MINUTES = "usual_minutes"
"""The setting that holds it."""

MANY_OPEN = 1000
"""From so many open beads without an estimate on, they are marked in parts."""

_FROM = f"FROM beads INDEXED BY beads_estimated WHERE {ESTIMATED}"
_MEDIAN = f"SELECT estimate {_FROM} ORDER BY estimate LIMIT 1 OFFSET (SELECT count(*) / 2 {_FROM})"
_TYPICAL = f"SELECT sum(min(estimate, {OUTLIER} * ({_MEDIAN}))), count(*) {_FROM}"
_PAST = f"""WITH latest AS (SELECT bead FROM (SELECT bead, max(id) AS last FROM attempts NOT INDEXED
WHERE attempts.{BY_AGENTS} AND id > (SELECT max(id) FROM attempts) - 1000 GROUP BY bead ORDER BY last DESC LIMIT 200))
SELECT beads.type, beads.estimate, sum(attempts.ended_at - attempts.started_at) / 60.0
FROM latest JOIN beads ON beads.id = latest.bead JOIN attempts ON attempts.bead = latest.bead
WHERE beads.status = 'done' AND attempts.{BY_AGENTS} AND attempts.ended_at IS NOT NULL
GROUP BY beads.id ORDER BY beads.id"""
_OPEN = f"""SELECT count(*) FROM (SELECT 1 FROM beads WHERE estimate IS NULL AND type <> 'epic'
AND {UNFINISHED} LIMIT ?)"""


def typical_minutes(db: Database) -> TypicalMinutes:
    row = db.maybe("SELECT value FROM settings WHERE key = ?", (TYPICAL_MINUTES,), row_of("settings", TYPICAL_MINUTES))
    return TypicalMinutes() if row is None else TypicalMinutes(**json.loads(row[0]))


def learn(db: Database, anyhow: bool = False) -> bool:
    """Store today's typical minutes; whether levels have to follow. `anyhow`: all are recomputed, so any difference."""
    before, now = typical_minutes(db), learnt(db)
    if now == before or not (anyhow or _differs(before, now) or db.one(_OPEN, (MANY_OPEN,))[0] < MANY_OPEN):
        return False
    keep(db, now)
    return True


def learnt(db: Database, more: Sequence[int] = ()) -> TypicalMinutes:
    together, count = _with(db, more) if more else db.one(_TYPICAL)
    past = [graph.FinishedBead(*row) for row in db.plain(_PAST)]
    return graph.typical_minutes(-(-together // count) if count else None, past)


def _with(db: Database, more: Sequence[int]) -> tuple[int, int]:
    found = sorted([*(row[0] for row in db.plain(f"SELECT estimate {_FROM}")), *more])
    most = OUTLIER * found[len(found) // 2]
    return sum(min(one, most) for one in found), len(found)


def keep(db: Database, found: TypicalMinutes) -> None:
    text = json.dumps(asdict(found), sort_keys=True)
    db.run("INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)", (TYPICAL_MINUTES, text))


def _differs(before: TypicalMinutes, now: TypicalMinutes) -> bool:
    pairs = [(before.minutes, now.minutes)]
    pairs += [(before.of(type_), now.of(type_)) for type_ in {*before.by_type, *now.by_type}]
    return any(4 * abs(new - old) > old for old, new in pairs)


OVER = ", ".join(f"'{status.value}'" for status in CLOSED)
MINUTES = """CASE one.type WHEN 'epic' THEN 0
ELSE coalesce(nullif(one.estimate, 0), json_extract(:by_type, '$.' || one.type), :minutes) END"""
_CHILD = f"""SELECT id FROM beads WHERE epic = chain.id AND b_level = chain.reached AND status NOT IN ({OVER})
ORDER BY id LIMIT 1"""
_WAITS = f"""SELECT beads.id FROM edges JOIN beads ON beads.id = edges.bead
WHERE edges.needs = chain.id AND edges.type = 'blocks' AND b_level = chain.left AND status NOT IN ({OVER})
ORDER BY beads.id LIMIT 1"""
_EPIC_ENDS = f"""SELECT id FROM beads
WHERE id = chain.epic AND type = 'epic' AND done_level = chain.left AND status NOT IN ({OVER})"""
# A step is a bead's start, or an epic's end. `reached`: its level; `left`: what follows the bead; `within`: an epic
# whose longest chain goes through a child.
_CHAIN = f"""WITH RECURSIVE chain (id, epic, type, is_end, reached, left, within) AS (
SELECT * FROM (SELECT id, epic, type, 0, b_level, done_level, {MINUTES} + done_level < b_level FROM beads AS one
WHERE status NOT IN ({OVER}) ORDER BY b_level DESC, id LIMIT 1)
UNION ALL
SELECT one.id, one.epic, one.type, one.id IS chain.epic, iif(chain.within, chain.reached, chain.left),
iif(one.id IS chain.epic, chain.left, one.done_level),
one.id IS NOT chain.epic AND {MINUTES} + one.done_level < iif(chain.within, chain.reached, chain.left)
FROM chain JOIN beads AS one ON one.id = iif(chain.within, ({_CHILD}), coalesce(({_WAITS}), ({_EPIC_ENDS})))
WHERE chain.within OR chain.left > 0)
SELECT id FROM chain WHERE NOT (within OR is_end) AND type <> 'epic' LIMIT :limit"""


# A moment's successor on the longest chain is one whose level is what is left; of several the smallest id.
def critical_path(db: Database, limit: int | None = None) -> list[str]:
    """The longest chain of live work by estimate, without epics. `limit`: its first beads; None: all."""
    with db.read():
        expected = typical_minutes(db)
        given = {"by_type": json.dumps(dict(expected.by_type)), "minutes": expected.minutes}
        return [row[0] for row in db.all(_CHAIN, {**given, "limit": -1 if limit is None else limit})]


# what `_make` does without its check of the length: a whole graph is tens of thousands of them
node_of_places: Callable[[tuple[Any, ...]], Node] = partial(tuple.__new__, Node)
_DEPENDENCY: Callable[[tuple[Any, ...]], Dependency] = partial(tuple.__new__, Dependency)


def all_nodes(db: Database) -> list[Node]:
    statuses, found = rows.STATUSES, db.plain(f"{rows.NODE} ORDER BY beads.rowid")
    return list(map(node_of_places, [(row[0], statuses[row[1]], *row[2:]) for row in found]))


def nodes_of(db: Database, beads: Iterable[str]) -> list[Node]:
    found = db.plain(f"{rows.NODE} WHERE beads.id IN (SELECT value FROM json_each(?))", (json.dumps([*beads]),))
    return [rows.plain_node(row) for row in found]


def all_dependencies(db: Database) -> list[Dependency]:
    """Every dependency, with parents as rows, sorted."""
    # in the order in which the table lies, and sorted here: nearly sorted is sorted in no time
    found = db.plain("SELECT bead, needs, type FROM edges ORDER BY bead, type, needs")
    found += db.plain("SELECT id, epic, 'parent-child' FROM beads WHERE epic IS NOT NULL")
    found.sort()
    types = {type_.value: type_ for type_ in DependencyType}
    return list(map(_DEPENDENCY, [(bead, needs, types[word]) for bead, needs, word in found]))


def all_links(db: Database) -> Links:
    return Links(all_nodes(db), all_dependencies(db))


PART = 1000
"""Beads settled in one transaction: 40 ms."""

MARKS = 20_000
"""Beads marked in one transaction: 40 ms."""

MARKED = "levels_marked"

PARTS = "levels_parts"

MANY = 2
"""With so many due parts, e.g. after several plans, parts would settle beads repeatedly."""

SPARE = 10
"""More parts than three times the graph's plus these mean a circle."""

_OWN = "SELECT status, type, estimate, epic, b_level, done_level FROM beads WHERE id = ?"
_WAITING = """SELECT max(b_level) FROM edges JOIN beads ON beads.id = edges.bead
WHERE edges.needs = ? AND edges.type = 'blocks'"""
_EPIC = "SELECT max(done_level) FROM beads WHERE id = ? AND type = 'epic'"
_CHILDREN = "SELECT max(b_level) FROM beads WHERE epic = ?"
_NEEDED = """SELECT beads.b_level, beads.id FROM edges JOIN beads ON beads.id = edges.needs
WHERE edges.bead = ? AND edges.type = 'blocks'"""
_LEVEL = "SELECT b_level, id FROM beads WHERE id = ?"
_LEVELS_OF_CHILDREN = "SELECT b_level, id FROM beads WHERE epic = ?"
_TO_MARK = f"""SELECT b_level, id FROM beads WHERE id > ? AND estimate IS NULL AND type <> 'epic'
AND status NOT IN ({OVER}) ORDER BY id LIMIT ?"""
_MARKING = f"SELECT value FROM settings WHERE key = '{MARKED}'"
_MARKED = row_of("settings", MARKED)
IS_DUE = f"(EXISTS (SELECT 1 FROM levels_due) OR EXISTS ({_MARKING}))"
DUE_SOURCES = ("levels_due", *_MARKED)
_MARK = "INSERT OR IGNORE INTO levels_due (level, id) VALUES (?, ?)"
_SET = "UPDATE beads SET b_level = ?, done_level = ? WHERE id = ?"
_FIRST_DUE = "SELECT level, id FROM levels_due ORDER BY level, id LIMIT ?"

Entry = tuple[int, str]
"""A bead's level before it is settled, and its id."""


def refresh(db: Database, beads: Iterable[str]) -> None:
    _update_part(db, [(row[0], row[1]) for bead in dict.fromkeys(beads) for row in db.all(_LEVEL, (bead,))])


def mark(db: Database, beads: Iterable[str]) -> None:
    db.run_many(f"INSERT OR IGNORE INTO levels_due (level, id) {_LEVEL}", [(bead,) for bead in beads])


def is_due(db: Database) -> bool:
    return bool(db.one(f"SELECT {IS_DUE}", (), DUE_SOURCES)[0])


def update_some(db: Database) -> None:
    if is_due(db):
        # settling goes on for so long that it may go in circles
        parts = _parts(db)
        if parts > SPARE and parts > SPARE + 3 * int(db.one("SELECT count(*) FROM beads")[0]) // PART:
            _compute_all(db)
            return
        with db.write(derived=True):
            _update_part(db, [])


def update_all(db: Database) -> None:
    if db.one("SELECT count(*) FROM (SELECT 1 FROM levels_due LIMIT ?)", (MANY * PART,))[0] == MANY * PART:
        _compute_all(db)  # who waits for all gets it sooner so
    while is_due(db):
        update_some(db)


def nothing_due(db: Database) -> None:
    db.run("DELETE FROM levels_due")
    db.run("DELETE FROM settings WHERE key IN (?, ?)", (MARKED, PARTS))


def mark_unestimated(db: Database) -> None:
    db.run("INSERT OR REPLACE INTO settings (key, value) VALUES (?, '')", (MARKED,))
    _update_part(db, [])


def relearn(db: Database) -> bool:
    with db.write(derived=True):
        if changed := learn(db):
            mark_unestimated(db)
    return changed


def _mark_part(db: Database, after: str) -> bool:
    found = [(row[0], row[1]) for row in db.all(_TO_MARK, (after, MARKS))]
    db.run_many(_MARK, found)
    if len(found) == MARKS:
        db.run("UPDATE settings SET value = ? WHERE key = ?", (found[-1][1], MARKED))
        return True
    db.run("DELETE FROM settings WHERE key = ?", (MARKED,))
    return False


def _update_part(db: Database, entries: list[Entry]) -> None:
    if (marking := db.maybe(_MARKING, (), _MARKED)) is not None and _mark_part(db, marking[0]):
        db.run_many(_MARK, entries)
        return
    expected = typical_minutes(db)
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
        # count the parts that were settled since nothing was due
        if db.maybe(_FIRST_DUE, (1,)) is None:
            db.run("DELETE FROM settings WHERE key = ?", (PARTS,))
        else:
            db.run("INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)", (PARTS, str(_parts(db) + 1)))


def _parts(db: Database) -> int:
    before = db.maybe("SELECT value FROM settings WHERE key = ?", (PARTS,), row_of("settings", PARTS))
    return 0 if before is None else int(before[0])


def _compute_all(db: Database) -> None:
    """Compute all levels and write the changed ones; uses the caller's transaction if there is one."""
    with db.read():
        version = db.data_version()
        known = {row[0]: (row[1], row[2]) for row in db.each("SELECT id, b_level, done_level FROM beads")}
        found = levels(all_links(db), typical_minutes(db)).items()
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


def _settle(db: Database, bead: str, expected: TypicalMinutes) -> list[Entry]:
    """Compute one bead's levels; returns the beads that depend on the change."""
    own = db.one(_OWN, (bead,))
    start, done = _ranks(db, bead, own, expected)
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


def _ranks(db: Database, bead: str, own: Row, expected: TypicalMinutes) -> tuple[int, int]:
    if own["status"] in CLOSED:
        return 0, 0
    done = db.one(_WAITING, (bead,))[0] or 0
    if own["epic"] is not None:
        done = max(done, db.one(_EPIC, (own["epic"],))[0] or 0)
    children = db.one(_CHILDREN, (bead,))[0] or 0
    return max(weight(own["type"], own["estimate"], expected) + done, children), done
