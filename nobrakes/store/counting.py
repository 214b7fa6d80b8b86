"""Every derived column checked in sets: SQL for the counters, plain numbers for the levels. What `doctor` asks.

1. The rules are those of core.graph and core.levels, said once more; `recompute` applies core's own. A property test
   holds the two against each other, on sound stores and on spoilt ones.
2. Only rows that are wrong become Python values. Levels that fit each other everywhere are right, where nothing goes
   in a circle; only where some do not, they are counted anew.
3. SQLite looks at the file in a thread of its own, with its own connection, while the levels are counted here.
"""

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from ..core.bead import CLOSED, BeadType, Status
from ..core.errors import NobrakesError
from ..core.levels import weight
from ..core.moments import Needs, levels_of, needs_of, order_of
from ..core.ranks import AGEING_SECONDS, rank
from . import moving
from .database import MEMORY, Database

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
        _add_wrong_counters(db, found, now)
        if not _levels_hold(db):
            _add_wrong_ranks_and_levels(db, found, _moments(db))
    return dict(sorted(found.items()))


def _add_wrong_counters(db: Database, found: dict[str, dict[str, tuple[Any, Any]]], now: float) -> None:
    for row in db.all(_COUNTERS, {"now": now}):
        wrong_ = {n: (row[n], row[f"{n}_"]) for n in _COUNTED if row[n] != row[f"{n}_"]}
        found.setdefault(row["id"], {}).update(wrong_)


def _add_wrong_ranks_and_levels(
    db: Database, found: dict[str, dict[str, tuple[Any, Any]]], moments: "Moments", order: Sequence[int] | None = None
) -> None:
    needs, live, weights = moments
    reached = levels_of(needs, weights, order)
    right = {bead: (reached[2 * place], reached[2 * place + 1]) for place, bead in enumerate(live)}
    for bead, priority, since, kept, start, done in db.plain(
        "SELECT id, priority, ready_since, rank, b_level, done_level FROM beads"
    ):
        wanted = (rank(priority, since), *right.get(bead, (0, 0)))
        if (kept, start, done) != wanted:
            pairs = zip(("rank", "b_level", "done_level"), zip((kept, start, done), wanted, strict=True), strict=True)
            found.setdefault(bead, {}).update({name: pair for name, pair in pairs if pair[0] != pair[1]})


_MISFIT = f"""SELECT EXISTS (SELECT 1 FROM beads LEFT JOIN beads AS parent ON parent.id = beads.epic
AND parent.type = '{BeadType.EPIC}' AND parent.status NOT IN ({_CLOSED})
WHERE beads.ready_since < 0 OR beads.estimate < 0
OR beads.rank <> beads.priority + CAST(beads.ready_since AS INTEGER) / {int(AGEING_SECONDS)}
OR CASE WHEN beads.status IN ({_CLOSED}) THEN beads.b_level <> 0 OR beads.done_level <> 0 ELSE
    beads.done_level <> max(coalesce(parent.done_level, 0), coalesce((
        SELECT max(later.b_level) FROM edges JOIN beads AS later ON later.id = edges.bead
        WHERE edges.needs = beads.id AND edges.type = 'blocks' AND later.status NOT IN ({_CLOSED})), 0))
    OR beads.b_level <> max(beads.done_level +
        CASE beads.type WHEN '{BeadType.EPIC}' THEN 0 ELSE coalesce(nullif(beads.estimate, 0), 1) END,
        coalesce((SELECT max(inside.b_level) FROM beads AS inside
        WHERE inside.epic = beads.id AND inside.status NOT IN ({_CLOSED})), 0)) END)"""
_WEIGHTLESS = f"""status NOT IN ({_CLOSED}) AND (type = '{BeadType.EPIC}' OR id IN (
SELECT epic FROM beads WHERE epic IS NOT NULL))"""


def _levels_hold(db: Database) -> bool:
    """Whether each rank is right, and each level what its neighbours' levels ask for, and nothing goes in a circle.

    A level exceeds those behind it by the weight between, so levels that fit leave only circles without any weight;
    these lead over epics and parents alone.
    """
    if db.plain(_MISFIT)[0][0]:
        return False
    needs, _, _ = _moments(db, _WEIGHTLESS)
    return len(order_of(needs)) == len(needs)


def examined(db: Database, now: float) -> tuple[list[str], bool]:
    """(what `problems` and then `wrong` find, whether live beads wait for each other in a circle), in one go."""
    moving.wake(db, now)
    if db.path == MEMORY:
        return problems(db) or told(wrong(db, now)), has_circles(db)
    looked: list[list[str] | BaseException] = []

    def look() -> None:
        try:
            own = Database(db.path)
            try:
                looked.append(problems(own))
            finally:
                own.close()
        except BaseException as error:
            looked.append(error)

    thread = threading.Thread(target=look)
    thread.start()
    found: dict[str, dict[str, tuple[Any, Any]]] = {}
    try:
        with db.read():
            _add_wrong_counters(db, found, now)
            in_circles = False
            if not _levels_hold(db):
                moments = _moments(db)
                order = order_of(moments[0])
                in_circles = len(order) < len(moments[0])
                _add_wrong_ranks_and_levels(db, found, moments, order)
    except NobrakesError as error:
        thread.join()
        if isinstance(looked[0], list) and looked[0]:
            return looked[0], False  # a damaged file is why it could not be read
        raise error
    thread.join()
    if isinstance(looked[0], BaseException):
        raise looked[0]
    return looked[0] or told(dict(sorted(found.items()))), in_circles


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
    """Whether live beads wait for each other in a circle, though no write lets one in."""
    with db.read():
        needs, live, _ = _moments(db)
    return len(order_of(needs)) < 2 * len(live)


Moments = tuple[Needs, list[str], list[int]]


def _moments(db: Database, of: str = f"status NOT IN ({_CLOSED})") -> Moments:
    """(core.moments of the stored graph, its live beads by id, their weights); `of` says of which beads."""
    rows = db.plain(f"SELECT id, type, estimate, epic FROM beads WHERE {of} ORDER BY id")
    needs = needs_of(
        [(row[0], row[1] == BeadType.EPIC) for row in rows],
        db.plain("SELECT bead, needs FROM edges WHERE type = 'blocks'") if rows else (),
        [(row[0], row[3]) for row in rows if row[3] is not None],
    )
    return needs, [row[0] for row in rows], [weight(row[1], row[2]) for row in rows]
