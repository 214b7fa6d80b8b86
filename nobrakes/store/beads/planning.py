"""Writes of the graph: beads and dependencies, added and removed. Each function is one transaction.

1. Nothing half: a bead that is wrong, missing or part of a circle refuses the whole call.
2. A large import is written first and then checked and counted as a whole; a small one is checked edge by edge.
3. A bead that comes in as being worked on comes in as waiting: no attempt of this store works on it.
"""

from collections.abc import Sequence
from dataclasses import replace

from ...core.beads import lifecycle
from ...core.beads.bead import Bead, Dependency, DependencyType, Status, check_bead
from ...core.beads.events import Kind
from ...core.errors import BadBead, NoSuchBead
from ...core.graph.ranks import rank, rises_at
from .. import events, rows
from ..database import Database
from . import cycles, moves, priority_levels
from .recompute import recompute
from .usual import learn

LARGE = 200
"""Beads and dependencies in one call from which on counting the whole graph may be cheaper."""


def bead(db: Database, bead_id: str) -> Bead:
    """One bead, whole; NoSuchBead."""
    row = db.maybe(f"{rows.BEAD} WHERE id = ?", (bead_id,))
    if row is None:
        raise NoSuchBead(f"there is no bead '{bead_id[:80]}'")
    return rows.bead(row)


def put(db: Database, beads: Sequence[Bead], dependencies: Sequence[Dependency], actor: str) -> None:
    """Add beads and dependencies."""
    now = db.now()
    wanted = [_as_added(one, now) for one in _with_epics(beads, dependencies)]
    edges = list(dict.fromkeys(dependencies))
    new = {one.id for one in wanted}
    needs: dict[str, list[list[str]]] = {}
    for edge in edges:
        needs.setdefault(edge.bead, []).append([edge.needs, edge.type.value])
    with db.write():
        db.run("PRAGMA defer_foreign_keys = ON")
        _insert(db, wanted, now)
        moves.require(db, (one.epic for one in wanted if one.epic is not None and one.epic not in new))
        for one in wanted:
            data = {"status": one.status.value, "needs": needs.get(one.id, [])}
            events.append(db, now, Kind.PROPOSED, one.id, actor, data)
        size = len(wanted) + len(edges)
        if size > LARGE and size > db.one("SELECT count(*) FROM beads")[0] // 20:
            _connect_all(db, wanted, edges, now)
        else:
            if any(one.estimate for one in wanted) and learn(db):
                priority_levels.mark_unestimated(db)
            priority_levels.refresh(db, (one.id for one in wanted))
            for one in wanted:
                if one.epic is not None:
                    connect(db, Dependency(one.id, one.epic, DependencyType.PARENT_CHILD), now)
            for edge in edges:
                if edge.type is not DependencyType.PARENT_CHILD or edge.bead not in new:
                    connect(db, edge, now)
        for edge in edges:
            if edge.bead not in new:
                _tell(db, now, Kind.DEPENDENCY_ADDED, edge, actor)


def _with_epics(beads: Sequence[Bead], dependencies: Sequence[Dependency]) -> list[Bead]:
    """The beads with their parent-child dependencies as `epic`."""
    epics = {one.id: one.epic for one in beads}
    if len(epics) < len(beads):
        twice = next(one.id for place, one in enumerate(beads) if one.id in {b.id for b in beads[:place]})
        raise BadBead(f"bead {twice} is given twice")
    for dependency in dependencies:
        if dependency.type is DependencyType.PARENT_CHILD and dependency.bead in epics:
            if epics[dependency.bead] not in (None, dependency.needs):
                raise _two_epics(dependency, epics[dependency.bead])
            epics[dependency.bead] = dependency.needs
    return [replace(one, epic=epics[one.id]) if epics[one.id] != one.epic else one for one in beads]


def _two_epics(dependency: Dependency, epic: str | None) -> BadBead:
    return BadBead(
        f"bead {dependency.bead} is in epic {epic} already, so it cannot be in {dependency.needs} too",
        "A bead has one epic: remove the first parent-child dependency, or set `epic`.",
    )


def _as_added(one: Bead, now: float) -> Bead:
    check_bead(one)
    return replace(
        one,
        status=lifecycle.added(one),
        assignee=None,
        lease_until=None,
        created_at=one.created_at or now,
        updated_at=one.updated_at or one.created_at or now,
    )


def _insert(db: Database, wanted: Sequence[Bead], now: float) -> None:
    states, texts = [], []
    for one in wanted:
        if db.maybe("SELECT 1 FROM beads WHERE id = ?", (one.id,)) is not None:
            raise BadBead(f"there is a bead {one.id} already", f"`nobrakes show {one.id}` shows it.")
        states.append(
            rows.state_values(one)
            | {
                "id": one.id,
                "epic": None,
                "asleep": int(one.defer_until is not None and one.defer_until > now),
                "resting": int(one.retry_at is not None and one.retry_at > now),
                "ready_since": now,
                "rank": rank(one.priority, now, now),
                "rises_at": rises_at(now, now),
            }
        )
        texts.append(rows.text_values(one) | {"id": one.id})
    for table, values in (("beads", states), ("bead_text", texts)):
        if values:
            columns = ", ".join(f'"{name}"' for name in values[0])
            marks = ", ".join(f":{name}" for name in values[0])
            db.run_many(f"INSERT INTO {table} ({columns}) VALUES ({marks})", values)


def _connect_all(db: Database, wanted: Sequence[Bead], edges: Sequence[Dependency], now: float) -> None:
    """Write all connections at once, then look for circles and count."""
    db.run_many("UPDATE beads SET epic = ? WHERE id = ?", [(one.epic, one.id) for one in wanted if one.epic])
    known = {row[0] for row in db.all("SELECT id FROM beads")}
    for edge in edges:
        _refuse_itself(edge)
        for end in (edge.bead, edge.needs):
            if end not in known:
                raise NoSuchBead(f"there is no bead '{end[:80]}'")
        if edge.type is DependencyType.PARENT_CHILD:
            _set_epic(db, edge)
    db.run_many(
        "INSERT OR IGNORE INTO edges (bead, type, needs) VALUES (?, ?, ?)",
        [(e.bead, e.type.value, e.needs) for e in edges if e.type is not DependencyType.PARENT_CHILD],
    )
    cycles.refuse_circles(db)
    recompute(db, now)


def _set_epic(db: Database, edge: Dependency) -> None:
    epic = db.one("SELECT epic FROM beads WHERE id = ?", (edge.bead,))[0]
    if epic not in (None, edge.needs):
        raise _two_epics(edge, epic)
    db.run("UPDATE beads SET epic = ? WHERE id = ?", (edge.needs, edge.bead))


def _refuse_itself(dependency: Dependency) -> None:
    if dependency.bead == dependency.needs and dependency.type in (
        DependencyType.RELATED,
        DependencyType.DISCOVERED_FROM,
    ):
        raise BadBead(f"bead {dependency.bead} cannot be {dependency.type.value} itself")


def connect(db: Database, dependency: Dependency, now: float) -> bool:
    """Write one dependency with its counters and levels; False: it was there."""
    moves.require(db, (dependency.bead, dependency.needs))
    _refuse_itself(dependency)
    own = moves.state(db, dependency.bead)
    if dependency.type is DependencyType.PARENT_CHILD:
        if own["epic"] == dependency.needs:
            return False
        if own["epic"] is not None:
            raise _two_epics(dependency, own["epic"])
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
    if moves.state(db, dependency.needs)["status"] != Status.DONE:
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
            _tell(db, now, Kind.DEPENDENCY_REMOVED, dependency, actor)
