"""Writes of the graph: beads and dependencies, added and removed. Each function is one transaction.

1. Nothing half: a bead that is wrong, missing or part of a circle refuses the whole call.
2. A large import is checked and counted as a whole (importing), and so are many beads that only wait for what is
   there; a small one is checked edge by edge.
3. A bead that comes in as being worked on comes in as waiting: no attempt of this store works on it.
"""

from collections.abc import Sequence
from dataclasses import replace

from ...core.beads import lifecycle
from ...core.beads.bead import Bead, Dependency, DependencyType, Status, check_bead
from ...core.beads.events import Kind
from ...core.errors import BadBead, Deadlock, NoSuchBead
from .. import events, rows
from ..cache import row as row_of
from ..database import Database
from . import cycles, importing, moves, priority_levels
from .usual import learn

LARGE = 200
"""Beads and dependencies in one call from which on counting the whole graph may be cheaper."""


def bead(db: Database, bead_id: str) -> Bead:
    """One bead, whole; NoSuchBead."""
    row = db.maybe(f"{rows.BEAD} WHERE id = ?", (bead_id,), row_of("beads", bead_id) + row_of("bead_text", bead_id))
    if row is None:
        raise NoSuchBead(f"there is no bead '{bead_id[:80]}'")
    return rows.bead(row)


def put(db: Database, beads: Sequence[Bead], dependencies: Sequence[Dependency], actor: str) -> None:
    """Add beads and dependencies."""
    now = db.now()
    wanted = _with_epics(beads, dependencies)
    for one in wanted:
        check_bead(one)
    edges = list(dict.fromkeys(dependencies))
    new = {one.id for one in wanted}
    size = len(wanted) + len(edges)
    is_large = size > LARGE and (
        size > db.one("SELECT count(*) FROM beads")[0] // 20 or importing.is_beside(db, wanted, edges)
    )
    staged = importing.stage(db, wanted, edges, now) if is_large else None
    with db.write():
        db.run("PRAGMA defer_foreign_keys = ON")
        if staged is not None:
            importing.bring_in(db, staged, wanted, edges, actor, now)
        else:
            _put_each(db, wanted, edges, actor, now)
        for edge in edges:
            if edge.bead not in new:
                _tell(db, now, Kind.DEPENDENCY_ADDED, edge, actor)
    if staged is not None:
        importing.clear(db)


def _put_each(db: Database, wanted: Sequence[Bead], edges: Sequence[Dependency], actor: str, now: float) -> None:
    """Write beads and dependencies one by one, each with what follows from it for others."""
    new, needs = {one.id for one in wanted}, importing.needs_of(edges)
    _insert(db, wanted, now)
    moves.require(db, (one.epic for one in wanted if one.epic is not None and one.epic not in new))
    for one in wanted:
        told = importing.event_data(lifecycle.added(one), needs.get(one.id, ()))
        events.append(db, now, Kind.PROPOSED, one.id, actor, told)
    if any(one.estimate for one in wanted) and learn(db):
        priority_levels.mark_unestimated(db)
    priority_levels.refresh(db, (one.id for one in wanted))
    for one in wanted:
        if one.epic is not None:
            connect(db, Dependency(one.id, one.epic, DependencyType.PARENT_CHILD), now)
    for edge in edges:
        if edge.type is not DependencyType.PARENT_CHILD or edge.bead not in new:
            connect(db, edge, now)


def _with_epics(beads: Sequence[Bead], dependencies: Sequence[Dependency]) -> list[Bead]:
    """The beads with their parent-child dependencies as `epic`."""
    epics = {one.id: one.epic for one in beads}
    if len(epics) < len(beads):
        seen: set[str] = set()
        for one in beads:
            if one.id in seen:
                raise BadBead(f"bead {one.id} is given twice")
            seen.add(one.id)
    for dependency in dependencies:
        if dependency.type is DependencyType.PARENT_CHILD and dependency.bead in epics:
            if epics[dependency.bead] not in (None, dependency.needs):
                raise importing.two_epics(dependency, epics[dependency.bead])
            epics[dependency.bead] = dependency.needs
    return [replace(one, epic=epics[one.id]) if epics[one.id] != one.epic else one for one in beads]


def _insert(db: Database, wanted: Sequence[Bead], now: float) -> None:
    states, texts = [], []
    for one in wanted:
        if db.maybe("SELECT 1 FROM beads WHERE id = ?", (one.id,)) is not None:
            raise importing.is_known(one.id)
        states.append(importing.state_of(one, lifecycle.added(one), now) | {"epic": None})
        texts.append(rows.text_values(one) | {"id": one.id})
    for table, values in (("beads", states), ("bead_text", texts)):
        if values:
            columns = ", ".join(f'"{name}"' for name in values[0])
            marks = ", ".join(f":{name}" for name in values[0])
            db.run_many(f"INSERT INTO {table} ({columns}) VALUES ({marks})", values)


def connect(db: Database, dependency: Dependency, now: float) -> bool:
    """Write one dependency with its counters and levels; False: it was there."""
    moves.require(db, (dependency.bead, dependency.needs))
    importing.refuse_itself(dependency)
    own = moves.state(db, dependency.bead)
    if dependency.type is DependencyType.PARENT_CHILD:
        if own["epic"] == dependency.needs:
            return False
        if own["epic"] is not None:
            raise importing.two_epics(dependency, own["epic"])
        cycles.refuse_circle(db, dependency)
        moves.move_into(db, dependency.bead, dependency.needs, now)
        return True
    if dependency.type is DependencyType.BLOCKS:
        cycles.refuse_circle(db, dependency)
    added = db.run(
        "INSERT OR IGNORE INTO edges (bead, type, needs) VALUES (?, ?, ?)",
        (dependency.bead, dependency.type.value, dependency.needs),
    )
    if added and dependency.type is DependencyType.BLOCKS:
        _count(db, dependency, 1, now)
    return bool(added)


def _count(db: Database, dependency: Dependency, by: int, now: float) -> None:
    db.run("UPDATE beads SET dependents = dependents + ? WHERE id = ?", (by, dependency.needs))
    if not moves.is_finished_for(db, dependency.needs, dependency.bead):
        moves.shift_one(db, dependency.bead, by, now)
    priority_levels.refresh(db, (dependency.needs,))


def _tell(db: Database, now: float, kind: Kind, dependency: Dependency, actor: str) -> None:
    db.run("UPDATE beads SET updated_at = ? WHERE id = ?", (now, dependency.bead))
    events.append(db, now, kind, dependency.bead, actor, {"needs": dependency.needs, "type": dependency.type.value})


def add_dependency(db: Database, dependency: Dependency, actor: str) -> None:
    """Add one dependency; nothing happens when it is there."""
    now = db.now()
    if dependency.type in (DependencyType.BLOCKS, DependencyType.PARENT_CHILD):
        priority_levels.settle_all(db)
    with db.write():
        if connect(db, dependency, now):
            _tell(db, now, Kind.DEPENDENCY_ADDED, dependency, actor)


def remove_dependency(db: Database, dependency: Dependency, actor: str) -> None:
    """Remove one dependency; nothing happens when it is not there."""
    now = db.now()
    with db.write():
        if dependency.type is DependencyType.PARENT_CHILD:
            row = db.maybe("SELECT 1 FROM beads WHERE id = ? AND epic = ?", (dependency.bead, dependency.needs))
            if row is not None:
                moves.move_into(db, dependency.bead, None, now)
                _tell(db, now, Kind.DEPENDENCY_REMOVED, dependency, actor)
            return
        removed = db.run(
            "DELETE FROM edges WHERE bead = ? AND type = ? AND needs = ?",
            (dependency.bead, dependency.type.value, dependency.needs),
        )
        if removed:
            if dependency.type is DependencyType.BLOCKS:
                _count(db, dependency, -1, now)
                if moves.state(db, dependency.bead)["stacks_on"] == dependency.needs:
                    moves.stack(db, dependency.bead, None, now)
            _tell(db, now, Kind.DEPENDENCY_REMOVED, dependency, actor)


def stack(db: Database, bead: str, on: str | None) -> None:
    """The bead is worked on on top of the request of this blocker of it, or of nobody's."""
    with db.write():
        moves.stack(db, bead, on, db.now())


def stacked(db: Database) -> list[tuple[str, str]]:
    """The beads that stack, each with the one on whose request, by id order."""
    found = db.all("SELECT id, stacks_on FROM beads WHERE stacks_on IS NOT NULL ORDER BY id")
    return [(row[0], row[1]) for row in found]


def cut_circles(db: Database, bead: str, to: Status) -> None:
    """Remove a dependency of each circle that the closed bead closes with that status: nobody in it could start.

    It was accepted while the bead was done, and bound nobody then.
    """
    try:
        cycles.refuse_reopening(db, bead)
    except Deadlock:
        for cut in cycles.cuts(db, bead, to):
            remove_dependency(db, cut, "nobrakes")
