"""Putting into a database what was kept outside of it: into an empty one (snapshot.service), or an older one.

1. Beads and escalations keep their ids and times; each new bead is reported as proposed.
2. Proven red tests become a successful attempt, from which the next Doer starts.
3. Attempt and event numbers continue after earlier databases', as folders and the event file bear them.
4. Ended attempts keep their numbers; what was open when it was written is left out.
5. An older database gets what its caller found to be later; work on such a bead ends. What only the database has stays.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..agents.db import spending
from ..beads import lifecycle
from ..beads.db import graph_writes, moves
from ..beads.db.attempts import count_from
from ..beads.db.importing import recompute
from ..beads.graph import rank, rises_at
from ..beads.model import WORKING, Attempt, Bead, DependencyType, Outcome, Role
from ..db import rows
from ..db.database import Database, Row
from ..decisions.model import Escalation, fingerprint
from ..events import db as events_db
from ..events.db import PEOPLES
from ..events.kinds import Kind
from ..features import db as features_db
from ..review.verify import ROLLED_BACK
from .reader import Restored

_SAME_TIME = 1e-3


def restore(db: Database, found: Restored, actor: str) -> None:
    """Fill this empty store with external data."""
    now = db.now()
    with db.write():
        graph_writes.put(db, found.beads, found.dependencies, actor)
        db.run_many(
            "UPDATE beads SET updated_at = ? WHERE id = ?",
            [(bead.updated_at, bead.id) for bead in found.beads if bead.updated_at],
        )
        features_db.bring_back(db, found.beads, now)
        for attempt in found.ended:
            _ended(db, attempt)
        for escalation in found.escalations:
            _escalation(db, escalation)
        db.run_many("INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)", list((found.settings or {}).items()))
        count_from(db, "attempts", found.attempts)
        for bead, commit in found.tests.items():
            _proven(db, bead, commit, now)
        spending.forget(db)


def bring_back(db: Database, found: Restored, beyond: int, actor: str) -> dict[str, Any]:
    """Add what is later than this database in one transaction, with the event `brought_back`; returns how much. Events
    continue above `beyond`. Workers on restored beads are stopped. What only the database has stays."""
    now = db.now()
    with db.write(told=False):
        db.run("PRAGMA defer_foreign_keys = ON")
        count_from(db, "events", beyond)
        known = {row[0] for row in db.all("SELECT id FROM beads")}
        graph_writes.put(db, [replace(bead, epic=None) for bead in found.beads if bead.id not in known], [], actor)
        ended = sum(_ended(db, attempt) for attempt in found.ended)
        for bead in found.beads:
            _as_it_was_later(db, bead, bead.id in known, actor, now)
        features_db.bring_back(db, found.beads, now)
        db.run_many("DELETE FROM edges WHERE bead = ?", [(bead.id,) for bead in found.beads])
        whose = {bead.id for bead in found.beads}
        db.run_many(
            "INSERT OR IGNORE INTO edges (bead, needs, type) VALUES (?, ?, ?)",
            [
                (edge.bead, edge.needs, edge.type.value)
                for edge in found.dependencies
                if edge.bead in whose and edge.type is not DependencyType.PARENT_CHILD
            ],
        )
        recompute(db, now)
        asked = sum(_asked_later(db, one) for one in found.escalations)
        told = {
            "beads": len(found.beads),
            "attempts": ended,
            "escalations": asked,
            "settings": _set_later(db, found.settings),
        }
        for bead_id, commit in found.tests.items():
            if bead_id in whose:
                _proven(db, bead_id, commit, now)
        spending.forget(db)
        db.run("INSERT OR REPLACE INTO settings (key, value) VALUES (?, '1')", (ROLLED_BACK,))
        events_db.append(db, now, Kind.BROUGHT_BACK, None, actor, told)
    return told


def _as_it_was_later(db: Database, bead: Bead, was_here: bool, actor: str, now: float) -> None:
    before = moves.get_bead(db, bead.id)
    fence = max(before.fence, bead.fence)
    ended = None
    if before.status in WORKING:
        ended = moves.end_open_attempt(db, before, Kind.BROUGHT_BACK.value, now)
        fence = max(fence, before.fence + 1)
    status = lifecycle.added(bead)
    values = rows.state_values(replace(bead, status=status, fence=fence, assignee=None, lease_until=None))
    values |= {name: values[name] or now for name in ("created_at", "updated_at")}
    since = db.one("SELECT ready_since FROM beads WHERE id = ?", (bead.id,))[0]
    values |= {"rank": rank(bead.priority, since, now), "rises_at": rises_at(since, now)}
    sets = ", ".join(f'"{name}" = :{name}' for name in values)
    db.run(f"UPDATE beads SET {sets} WHERE id = :id", {**values, "id": bead.id})
    moves.set_texts(db, bead.id, rows.text_values(bead))
    told = {"before": before.status.value if was_here else None, "status": status.value}
    events_db.append(db, now, Kind.BROUGHT_BACK, bead.id, actor, told, ended)


def _ended(db: Database, one: Attempt) -> bool:
    same = "SELECT id, outcome FROM attempts WHERE bead = ? AND abs(started_at - ?) < ?"
    row = db.maybe(same, (one.bead, one.started_at, _SAME_TIME))
    values = _columns(one)
    if row is not None:
        if row["outcome"] is None:
            sets = ", ".join(f'"{name}" = :{name}' for name in values)
            db.run(f"UPDATE attempts SET {sets} WHERE id = :id AND number = :number", {**values, "id": row["id"]})
        return row["outcome"] is None
    if one.id and db.maybe("SELECT 1 FROM attempts WHERE id = ?", (one.id,)) is None:
        values["id"] = one.id
    if db.maybe("SELECT 1 FROM attempts WHERE bead = ? AND number = ?", (one.bead, one.number)) is not None:
        values["number"] = 1 + db.one("SELECT max(number) FROM attempts WHERE bead = ?", (one.bead,))[0]
    db.insert("attempts", {**values, "token": ""})
    return True


def _columns(one: Attempt) -> dict[str, Any]:
    return {name: value for name, value in rows.attempt_values(one).items() if name not in ("id", "token", "session")}


def _asked_later(db: Database, one: Escalation) -> bool:
    mark = _mark(one)
    row = db.maybe("SELECT * FROM escalations WHERE id = ?", (one.id,))
    if row is not None and not _is(row, one, mark):
        same = db.all("SELECT * FROM escalations WHERE fingerprint = ?", (mark,))
        row = next((other for other in same if _is(other, one, mark)), None)
        one = replace(one, id=0 if row is None else row["id"])  # another has its number, so it gets a new one
    number = one.id if row is not None else 0
    is_open = one.resolved_at is None
    open_one = "SELECT 1 FROM escalations WHERE fingerprint = ? AND resolved_at IS NULL AND id <> ?"
    if is_open and db.maybe(open_one, (mark, number)) is not None:
        return False  # it is asked here already
    if row is None:
        _escalation(db, one)
        return True
    later = _decided(one)
    if all(row[name] == value for name, value in later.items()):
        return False
    sets = ", ".join(f"{name} = :{name}" for name in later)
    db.run(f"UPDATE escalations SET {sets} WHERE id = :id", {**later, "id": one.id})
    return True


def _is(row: Row, one: Escalation, mark: str) -> bool:
    return bool(row["fingerprint"] == mark and abs(row["created_at"] - one.created_at) < _SAME_TIME)


def _set_later(db: Database, settings: Mapping[str, str] | None) -> list[str]:
    if settings is None:
        return []
    here = {row[0]: row[1] for row in db.all("SELECT key, value FROM settings")}
    names = [name for name in PEOPLES if here.get(name) != settings.get(name)]
    for name in names:
        db.run("DELETE FROM settings WHERE key = ?", (name,))
        if name in settings:
            db.run("INSERT INTO settings (key, value) VALUES (?, ?)", (name, settings[name]))
    return names


def _escalation(db: Database, one: Escalation) -> None:
    db.insert("escalations", {**rows.escalation_values(one), "id": one.id or None, "fingerprint": _mark(one)})


def _decided(one: Escalation) -> dict[str, Any]:
    values = rows.escalation_values(one)
    names = ("answer", "answered_at", "resolved_at", "resolution", "return_to", "value", "read_at")
    return {name: values[name] for name in names}


def _mark(one: Escalation) -> str:
    return fingerprint(one.type, one.bead, one.title, rows.escalation_values(one)["form"])


def _proven(db: Database, bead: str, commit: str, now: float) -> None:
    here = "SELECT 1 FROM attempts WHERE bead = ? AND role = ? AND head = ? AND outcome = ?"
    if db.maybe(here, (bead, Role.TEST_WRITER.value, commit, Outcome.COMPLETED.value)) is not None:
        return
    number = 1 + (db.one("SELECT max(number) FROM attempts WHERE bead = ?", (bead,))[0] or 0)
    detail = "the proven tests, found again under refs/nobrakes/tests"
    found: dict[str, Any] = {"head": commit, "ended_at": now, "outcome": Outcome.COMPLETED, "detail": detail}
    one = Attempt(0, bead, number, Role.TEST_WRITER, "nobrakes", 0, "", now, "rebuilt", **found)
    db.insert("attempts", {**_columns(one), "token": ""})
