"""Writes of the graph: beads and dependencies, added and removed. Each function is one transaction.

1. All or nothing: a wrong or missing bead or a circle refuses the whole call.
2. Large imports, and many beads that only wait for existing ones, are checked as a whole (importing); small ones edge
   by edge.
3. A bead imported as being worked on becomes waiting: no attempt of this store works on it.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

from ...db import rows
from ...db.database import Database
from ...db.fast import CLOSES_OFF
from ...errors import BadBead, Deadlock
from ...events import db as events_db
from ...events.kinds import Kind
from .. import lifecycle
from ..graph import rank, rises_at
from ..lifecycle import advance
from ..model import CONTENT, Bead, BeadType, Dependency, DependencyType, Said, Status, check_bead, kind_of
from ..proposals import LISTS, is_part
from . import importing, levels, moves
from .levels import learn
from .moves import get_bead

LARGE = 200
"""From so many beads and dependencies in one call on, counting the full graph may be cheaper."""


def put(db: Database, beads: Sequence[Bead], dependencies: Sequence[Dependency], actor: str) -> None:
    """Add beads (any status) and dependencies in one transaction. Raises Deadlock, BadBead."""
    now = db.now()
    wanted = _with_epics(beads, dependencies)
    for one in wanted:
        check_bead(one)
    edges = list(dict.fromkeys(dependencies))
    new = {one.id for one in wanted}
    size = len(wanted) + len(edges)
    is_large = size > LARGE and (
        size > db.one("SELECT count(*) FROM beads")[0] // 20 or importing.only_waits(db, wanted, edges)
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
    new, needs = {one.id for one in wanted}, importing.needs_of(edges)
    _insert(db, wanted, now)
    moves.require(db, (one.epic for one in wanted if one.epic is not None and one.epic not in new))
    for one in wanted:
        told = importing.event_data(lifecycle.added(one), needs.get(one.id, ()))
        events_db.append(db, now, Kind.PROPOSED, one.id, actor, told)
    if any(one.estimate for one in wanted) and learn(db):
        levels.mark_unestimated(db)
    levels.refresh(db, (one.id for one in wanted))
    for one in wanted:
        if one.epic is not None:
            connect(db, Dependency(one.id, one.epic, DependencyType.PARENT_CHILD), now)
    for edge in edges:
        if edge.type is not DependencyType.PARENT_CHILD or edge.bead not in new:
            connect(db, edge, now)


def _with_epics(beads: Sequence[Bead], dependencies: Sequence[Dependency]) -> list[Bead]:
    epics = {one.id: one.epic for one in beads}
    if len(epics) < len(beads):
        seen: set[str] = set()
        for one in beads:
            if one.id in seen:
                raise BadBead(f"bead {one.id} is given twice")
            seen.add(one.id)
    parent_child = DependencyType.PARENT_CHILD
    parents = [one for one in dependencies if one.type is parent_child and one.bead in epics]
    for dependency in parents:
        if epics[dependency.bead] not in (None, dependency.needs):
            raise importing.two_epics(dependency, epics[dependency.bead])
        epics[dependency.bead] = dependency.needs
    if not parents:
        return [*beads]
    return [replace(one, epic=epics[one.id]) if epics[one.id] != one.epic else one for one in beads]


def _insert(db: Database, wanted: Sequence[Bead], now: float) -> None:
    states, texts = [], []
    for one, came in zip(wanted, importing.created_times(len(wanted), now), strict=True):
        if db.maybe("SELECT 1 FROM beads WHERE id = ?", (one.id,)) is not None:
            raise importing.is_known(one.id)
        states.append(importing.state_of(one, lifecycle.added(one), came, now) | {"epic": None})
        texts.append(rows.text_values(one) | {"id": one.id})
    for table, values in (("beads", states), ("bead_text", texts)):
        if values:
            columns = ", ".join(f'"{name}"' for name in values[0])
            marks = ", ".join(f":{name}" for name in values[0])
            db.run_many(f"INSERT INTO {table} ({columns}) VALUES ({marks})", values)


def connect(db: Database, dependency: Dependency, now: float) -> bool:
    """Write one dependency with its counters and levels; False: it existed."""
    moves.require(db, (dependency.bead, dependency.needs))
    importing.refuse_itself(dependency)
    own = moves.state(db, dependency.bead)
    if dependency.type is DependencyType.PARENT_CHILD:
        if own["epic"] == dependency.needs:
            return False
        if own["epic"] is not None:
            raise importing.two_epics(dependency, own["epic"])
        importing.refuse_circle(db, dependency)
        moves.move_into(db, dependency.bead, dependency.needs, now)
        return True
    if dependency.type is DependencyType.BLOCKS:
        importing.refuse_circle(db, dependency)
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
    levels.refresh(db, (dependency.needs,))


def _tell(db: Database, now: float, kind: Kind, dependency: Dependency, actor: str) -> None:
    db.run("UPDATE beads SET updated_at = max(?, created_at) WHERE id = ?", (now, dependency.bead))
    events_db.append(db, now, kind, dependency.bead, actor, {"needs": dependency.needs, "type": dependency.type.value})


def add_dependency(db: Database, dependency: Dependency, actor: str) -> None:
    """Deadlock names the circle, NoSuchBead a missing end."""
    now = db.now()
    if dependency.type in (DependencyType.BLOCKS, DependencyType.PARENT_CHILD):
        levels.update_all(db)
    with db.write():
        if connect(db, dependency, now):
            _tell(db, now, Kind.DEPENDENCY_ADDED, dependency, actor)


def remove_dependency(db: Database, dependency: Dependency, actor: str) -> None:
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


_TEXTS = {*CONTENT} & {*rows.TEXT_COLUMNS}
_STATE = (*(name for name in CONTENT if name in rows.STATE_COLUMNS and name != "epic"), "status")


def change(db: Database, bead_id: str, changes: Mapping[str, Any], actor: str) -> Bead:
    """Set content fields of Bead by name. Raises NoSuchBead, BadBead, Deadlock (for `epic`)."""
    if unknown := sorted({*changes}.difference(CONTENT)):
        raise BadBead(f"'{unknown[0]}' is not a field that can be changed", f"Fields: {', '.join(sorted(CONTENT))}.")
    now = db.now()
    with db.write():
        before = get_bead(db, bead_id)
        after = replace(before, **changes)
        check_bead(after)
        differing = {
            name: {"before": _plain(getattr(before, name)), "after": _plain(getattr(after, name))}
            for name in sorted(changes)
            if getattr(before, name) != getattr(after, name)
        }
        if not differing:
            return before
        tried = db.maybe("SELECT 1 FROM attempts WHERE bead = ?", (bead_id,)) is not None
        after = replace(after, status=lifecycle.changed(before, after, tried))
        texts = rows.text_values(after)
        moves.set_texts(db, bead_id, {name: texts[name] for name in _TEXTS})
        if after.epic != before.epic:
            moves.move_into(db, after.id, None, now)
        state = rows.state_values(after)
        moves.move(db, bead_id, {name: state[name] for name in _STATE}, now)
        if "estimate" in differing and learn(db):
            levels.mark_unestimated(db)
        if before.type != after.type:
            levels.refresh(db, (row[0] for row in db.all("SELECT id FROM beads WHERE epic = ?", (bead_id,))))
        if after.epic not in (None, before.epic):  # only now: who waits for whom depends on the type
            connect(db, Dependency(bead_id, after.epic, DependencyType.PARENT_CHILD), now)
        if before.type != after.type:
            importing.refuse_circles(db)
        events_db.append(db, now, Kind.CHANGED, bead_id, actor, {"fields": differing})
        return get_bead(db, bead_id)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def open_again(db: Database, bead: str, to: Status, is_fact: bool) -> None:
    """Reopen a closed bead: Deadlock for a circle; a fact is never refused and removes a dependency instead."""
    try:
        importing.refuse_reopening(db, bead)
    except Deadlock:
        if not is_fact:
            raise
        for cut in importing.cuts(db, bead, to):
            remove_dependency(db, cut, "nobrakes")


DRAFTS = 20


def approve(db: Database, beads: Sequence[str], actor: str) -> None:
    """All or none."""
    now = db.now()
    wanted = list(dict.fromkeys(beads))
    with db.write():
        if len(wanted) > DRAFTS and _approve_many(db, wanted, actor, now):
            return
        for bead_id in wanted:
            bead = get_bead(db, bead_id)
            changes = moves.moved(db, bead, Kind.APPROVED, {}, now)
            events_db.append(db, now, Kind.APPROVED, bead_id, actor)
            moves.apply(db, bead, changes, now)


_TABLE = "temp.approving"
_IS_LISTED = f"status = ? AND id IN (SELECT id FROM {_TABLE})"


# A draft without children decides about no other bead, so many are one statement for each kind; the lifecycle is asked
# once a kind.
def _approve_many(db: Database, beads: Sequence[str], actor: str, now: float) -> bool:
    """Approve all in the caller's transaction; False: some are not drafts, and nothing was done."""
    draft = Status.DRAFT.value
    db.run(f"CREATE TEMP TABLE {_TABLE.partition('.')[2]} (id VARCHAR NOT NULL PRIMARY KEY)")  # looked up by each row
    try:
        db.run_many(f"INSERT INTO {_TABLE} VALUES (?)", ((bead,) for bead in beads))
        asked = f"SELECT type, needs_tests, count(*), sum(children > 0) FROM beads WHERE {_IS_LISTED} GROUP BY 1, 2"
        kinds = db.plain(asked, (draft,))
        if sum(many for _, _, many, _ in kinds) < len(beads):
            return False
        db.run(
            f"INSERT INTO events (at, kind, bead, actor, data) SELECT ?, ?, id, ?, '{{}}' FROM {_TABLE} ORDER BY rowid",
            (now, Kind.APPROVED.value, actor),
        )
        db.noted = True
        of_kind = "type = ? AND needs_tests = ?"
        to = {
            (type_, tested): moves.columns(
                advance(Bead("any", "Any", BeadType(type_), needs_tests=bool(tested)), Kind.APPROVED)
            )
            for type_, tested, _, _ in kinds
        }
        parents = []
        if any(with_children for _, _, _, with_children in kinds):
            parents = db.all(f"SELECT id, type, needs_tests FROM beads WHERE {_IS_LISTED} AND children > 0", (draft,))
        for kind, move in to.items():
            values = {**move, "ready_since": now, "rises_at": rises_at(now, now)}
            sets = ", ".join([*(f'"{name}" = ?' for name in values), "updated_at = max(?, created_at)"])
            db.run(
                f"UPDATE beads SET {sets}, rank = priority + ? WHERE {of_kind} AND children = 0 AND {_IS_LISTED}",
                (*values.values(), now, rank(0, now, now), *kind, draft),
            )
        for bead, type_, needs_tests in parents:
            moves.move(db, bead, to[type_, needs_tests], now)
        return True
    finally:
        db.run(f"DROP TABLE IF EXISTS {_TABLE}")  # a full disk has rolled it back already


def propose(
    db: Database,
    bead_id: str,
    parts: Mapping[str, Mapping[str, Any] | None],
    actor: str,
    kind: Kind = Kind.CHANGE_PROPOSED,
    why: str = "",
) -> Bead:
    """Store changes beside the bead, or remove them with None. `kind`, `why`: the event's. BadBead, NoSuchBead."""
    if wrong := [part for part in parts if not is_part(part)]:
        raise BadBead(f"'{wrong[0][:80]}' cannot be proposed for a bead")
    now = db.now()
    with db.write():
        bead = get_bead(db, bead_id)
        told: dict[str, Any] = {}
        after = dict(bead.proposed)
        for part, wanted in parts.items():
            if (was := bead.proposed.get(part)) == wanted:
                continue
            told[part] = {"was": was, "is": wanted}
            if wanted is None:
                del after[part]
            else:
                after[part] = dict(wanted)
        if not told:
            return bead
        moves.set_texts(db, bead_id, {"proposed": rows.as_json(after)})
        db.run("UPDATE beads SET updated_at = max(?, created_at) WHERE id = ?", (now, bead_id))
        data: dict[str, Any] = {"parts": told}
        events_db.append(db, now, kind, bead_id, actor, data | ({"why": why} if why else {}))
        return get_bead(db, bead_id)


# Rows are compared as they are written and as they come, so that the graph is never in memory beside a large plan.
AT_ONCE = 5000
MANY = 5
"""A plan with more than one in so many beads is compared by reading full tables."""

_EDGES = "(SELECT group_concat(type || ' ' || needs) FROM edges WHERE bead = beads.id)"
_IDS = "(SELECT value FROM json_each(?))"
_KINDS = tuple(kind.value for kind in LISTS.values())
_NEEDS = f"{_KINDS[0]} "
_COULD_START = """SELECT id, epic, open_blockers FROM beads
WHERE status IN ('draft', 'needs_tests', 'needs_doer') AND type <> 'epic' AND held IS NULL AND asleep = 0
AND resting = 0 AND assignee IS NULL AND (open_blockers = 0 OR epic IS NOT NULL)"""
_PARENT = f"""SELECT epic, status, held IS NOT NULL OR asleep = 1 AS aside, open_blockers, {CLOSES_OFF} AS closes_off
FROM beads WHERE id = ?"""


def as_said(db: Database, said: Sequence[Said]) -> dict[str, Status]:
    with db.read():
        if len(said) * MANY > db.one("SELECT count(*) FROM beads")[0]:
            return _as_said(db, {one[0]: one for one in said}, "", ())
        found: dict[str, Status] = {}
        for first in range(0, len(said), AT_ONCE):
            part = {one[0]: one for one in said[first : first + AT_ONCE]}
            found |= _as_said(db, part, f"WHERE beads.id IN {_IDS}", (json.dumps([*part]),))
        return found


_JSON: Mapping[type, type] = {tuple: list, Mapping: dict, bool: bool, int: int}
NEEDS = "needs"


def as_written(db: Database, beads: Sequence[Any]) -> dict[str, Status]:
    """Beads of a JSON plan, not judged yet, that say in our own words and types what is stored; perhaps not all."""
    if not all(type(one) is dict for one in beads):
        return {}
    ids = (json.dumps([id_ for one in beads if type(id_ := one.get("id")) is str]),)
    if db.maybe(f"SELECT 1 FROM beads WHERE id IN {_IDS}", ids) is None:
        return {}
    kinds = {"id": str, NEEDS: list, **{name: _JSON.get(kind_of(name), str) for name in CONTENT}}
    names: dict[tuple[Any, ...], list[str]] = {}
    said: dict[str, Said] = {}
    for one in beads:
        if (own := names.get(shape := (*one, *map(type, one.values())))) is None:
            is_plain = "id" in one and all(type(value) is kinds.get(name) for name, value in one.items())
            own = names[shape] = [name for name in one if name in CONTENT] if is_plain else []
        if own and all(type(other) is str for other in one.get(NEEDS, ())):
            said[one["id"]] = one["id"], {name: one[name] for name in own}, (one.get(NEEDS), None, None)
    return _as_said(db, said, f"WHERE beads.id IN {_IDS}", ids)


def _as_said(db: Database, said: Mapping[str, Said], where: str, ids: Sequence[str]) -> dict[str, Status]:
    named: set[str] = set()
    for _, fields, _ in said.values():
        if not named.issuperset(fields):
            named.update(fields)
    places = {name: place for place, name in enumerate(named, 3)}
    columns = ", ".join(("id", "status", _EDGES, *named))
    shapes: dict[tuple[str, ...], _Shape] = {}
    found = {}
    for row in db.each(f"SELECT {columns} FROM beads JOIN bead_text USING (id) {where}", ids):
        if (one := said.get(row[0])) is None:
            continue
        names = (*one[1],)
        if (shape := shapes.get(names)) is None:
            shape = shapes[names] = _Shape(names, places)
        if shape.is_same(one[1], row) and _needs_the_same(one[2], row[2]):
            found[row[0]] = rows.STATUSES[row[1]]
    return found


class _Shape:
    """Row positions of a bead's fields; most beads of a plan name the same fields."""

    def __init__(self, names: Sequence[str], places: Mapping[str, int]) -> None:
        self._written = [(name, places[name]) for name in names if name in rows.WRITTEN]
        plain = [name for name in names if name not in rows.WRITTEN]
        # itemgetter gives no tuple of less than two
        self._read_fields: Callable[[Mapping[str, Any]], Any] = itemgetter(*plain) if plain else _nothing
        self._read_row: Callable[[Sequence[Any]], Any] = itemgetter(*map(places.get, plain)) if plain else _nothing

    def is_same(self, fields: Mapping[str, Any], row: Sequence[Any]) -> bool:
        if self._read_fields(fields) != self._read_row(row):
            return False
        try:
            for name, place in self._written:
                if rows.WRITTEN[name](fields[name]) != row[place]:
                    return False
        except (TypeError, ValueError):  # no JSON value: whoever writes it says so
            return False
        return True


def _nothing(_: object) -> None: ...


def _needs_the_same(lists: Sequence[Sequence[str] | None], edges: str | None) -> bool:
    """Whether the edges (`<type> <id>`, with commas; None: none) match the lists of each kind."""
    if edges and lists[0] and edges == f"{_NEEDS}{f',{_NEEDS}'.join(sorted(lists[0]))}" and not (lists[1] or lists[2]):
        return True  # as of most beads
    there = {*edges.split(",")} if edges else set()
    wanted = {f"{kind} {one}" for needs, kind in zip(lists, _KINDS, strict=True) if needs for one in needs}
    if there == wanted:
        return True
    told = tuple(f"{kind} " for needs, kind in zip(lists, _KINDS, strict=True) if needs is not None)
    return {one for one in there if one.startswith(told)} == wanted


def ready_once_approved(db: Database, beads: Sequence[str]) -> list[str]:
    """Those beads that could start if the drafts among them were approved, in order."""
    moves.wake(db, db.now())
    approved = frozenset(beads)
    closes_off: dict[str, bool] = {}
    ready: set[str] = set()
    with db.read():
        for bead, epic, blockers in db.plain(_COULD_START):
            if epic is not None and bead in approved:
                blockers += _once_approved(db, epic, approved, closes_off) - db.one(_PARENT, (epic,))["closes_off"]
            if not blockers:
                ready.add(bead)
    return [bead for bead in beads if bead in ready]


def _once_approved(db: Database, epic: str, approved: frozenset[str], known: dict[str, bool]) -> bool:
    """Whether the epic closes its children off once these are approved."""
    chain: list[str] = []
    above: str | None = epic
    while above is not None and above not in known and above not in chain:
        chain.append(above)
        above = db.one(_PARENT, (above,))["epic"]
    for bead in reversed(chain):
        row = db.one(_PARENT, (bead,))
        blockers = row["open_blockers"]
        if row["epic"] is not None:
            blockers += known[row["epic"]] - db.one(_PARENT, (row["epic"],))["closes_off"]
        is_draft = row["status"] == Status.DRAFT and bead not in approved
        known[bead] = bool(is_draft or row["status"] == Status.CANCELLED or row["aside"] or blockers)
    return known[epic]
