"""Every derived column checked in sets: SQL for the counters, plain numbers for the levels. What `doctor` asks.

1. The rules are those of core.graph and core.levels, said once more; `recompute` applies core's own. A property test
   holds the two against each other, on sound stores and on spoilt ones.
2. Only rows that are wrong become Python values.
"""

from collections.abc import Mapping
from typing import Any

from ..core.assigner import rank
from ..core.bead import CLOSED, BeadType, Status
from ..core.levels import weight
from ..core.moments import Needs, levels_of, needs_of, order_of
from . import moving
from .database import Database

_CLOSED = ", ".join(f"'{status.value}'" for status in CLOSED)

_COUNTERS = f"""WITH RECURSIVE
unfinished (id, n) AS (
    SELECT edges.bead, count(*) FROM edges JOIN beads ON beads.id = edges.needs
    WHERE edges.type = 'blocks' AND beads.status <> '{Status.DONE}' GROUP BY edges.bead),
family (id, n, live, done) AS (
    SELECT epic, count(*), sum(status NOT IN ({_CLOSED})), sum(status = '{Status.DONE}')
    FROM beads WHERE epic IS NOT NULL GROUP BY epic),
closing (id) AS (
    SELECT beads.id FROM family JOIN beads USING (id) LEFT JOIN unfinished USING (id)
    WHERE beads.status IN ('{Status.DRAFT}', '{Status.CANCELLED}') OR held IS NOT NULL
    OR coalesce(defer_until > :now, 0) OR unfinished.n > 0
    UNION SELECT beads.id FROM closing JOIN beads ON beads.epic = closing.id),
right (id, open_blockers_, children_, open_children_, done_children_, asleep_, resting_) AS (
    SELECT beads.id, coalesce(unfinished.n, 0) + (closing.id IS NOT NULL),
    coalesce(family.n, 0), coalesce(family.live, 0), coalesce(family.done, 0),
    coalesce(defer_until > :now, 0), coalesce(retry_at > :now, 0)
    FROM beads LEFT JOIN unfinished ON unfinished.id = beads.id LEFT JOIN family ON family.id = beads.id
    LEFT JOIN closing ON closing.id = beads.epic)
SELECT * FROM beads JOIN right USING (id) WHERE (open_blockers, children, open_children, done_children, asleep, resting)
IS NOT (open_blockers_, children_, open_children_, done_children_, asleep_, resting_)"""

_COUNTED = ("open_blockers", "children", "open_children", "done_children", "asleep", "resting")


def wrong(db: Database, now: float) -> dict[str, dict[str, tuple[Any, Any]]]:
    """Bead -> derived column -> (stored, as it must be), for what is wrong: as recompute.differences finds it."""
    moving.wake(db, now)
    found: dict[str, dict[str, tuple[Any, Any]]] = {}
    with db.read():
        for row in db.all(_COUNTERS, {"now": now}):
            found[row["id"]] = {n: (row[n], row[f"{n}_"]) for n in _COUNTED if row[n] != row[f"{n}_"]}
        for bead, priority, since, kept in db.all("SELECT id, priority, ready_since, rank FROM beads"):
            if kept != rank(priority, since):
                found.setdefault(bead, {})["rank"] = (kept, rank(priority, since))
        for bead, columns in _wrong_levels(db).items():
            found.setdefault(bead, {}).update(columns)
    return dict(sorted(found.items()))


def _wrong_levels(db: Database) -> dict[str, dict[str, tuple[int, int]]]:
    needs, live, weights = _moments(db)
    reached = levels_of(needs, weights)
    right = {bead: (reached[2 * place], reached[2 * place + 1]) for place, bead in enumerate(live)}
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for bead, start, done in db.all("SELECT id, b_level, done_level FROM beads"):
        wanted = right.get(bead, (0, 0))
        if (start, done) != wanted:
            pairs = {"b_level": (start, wanted[0]), "done_level": (done, wanted[1])}
            found[bead] = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
    return found


def told(found: Mapping[str, Mapping[str, tuple[Any, Any]]]) -> list[str]:
    """What `wrong` found, a line each."""
    return [
        f"{bead}.{name} is {kept}, and should be {right}"
        for bead, columns in found.items()
        for name, (kept, right) in columns.items()
    ]


def problems(db: Database) -> list[str]:
    """What is wrong with the file as SQLite sees it, and with references."""
    integrity = [str(row[0]) for row in db.all("PRAGMA integrity_check")]
    if integrity != ["ok"]:
        return integrity
    return [f"a row of {row[0]} refers to {row[2]} in vain" for row in db.all("PRAGMA foreign_key_check")]


def has_circles(db: Database) -> bool:
    """Whether live beads wait for each other in a circle."""
    with db.read():
        needs, live, _ = _moments(db)
    return len(order_of(needs)) < 2 * len(live)


def _moments(db: Database) -> tuple[Needs, list[str], list[int]]:
    """(core.moments of the stored graph, its live beads by id, their weights)."""
    rows = db.all(f"SELECT id, type, estimate, epic FROM beads WHERE status NOT IN ({_CLOSED}) ORDER BY id")
    needs = needs_of(
        [(row[0], row[1] == BeadType.EPIC) for row in rows],
        [(row[0], row[1]) for row in db.all("SELECT bead, needs FROM edges WHERE type = 'blocks'")],
        [(row[0], row[3]) for row in rows if row[3] is not None],
    )
    return needs, [row[0] for row in rows], [weight(row[1], row[2]) for row in rows]
