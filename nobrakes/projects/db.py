"""A project's sprints. Each function is one transaction with its event.

1. One run goes on at a time: the database itself refuses a second one.
2. A new yes takes over the sprint that the run before it left unfinished: nothing that was planned or built is lost,
   and what a person gave up of it (a bead, a planner without a plan) is made again.
3. What agents hand in for its documents is taken until its review goes to main.
"""

from collections.abc import Mapping
from typing import Any

from ..agents.limits import Cost
from ..beads.model import bead_owner
from ..db import fast, rows
from ..db.database import Database
from ..errors import NotAllowed
from ..events import db as events_db
from ..events.kinds import Kind as EventKind
from ..text.cleaning import count
from .model import Document, Due, DueEnd, Going, Kind, RunState, Schedule, Sprint, SprintRun, Stage, going_already

_FIELDS = frozenset({"name", "stage", "run", "session", "bead", "opening", "closing", "nudged"})
_LAST = "SELECT * FROM sprint_runs ORDER BY id DESC LIMIT 1"
_OPEN = "SELECT * FROM sprints WHERE run = ? AND stage <> 'done' ORDER BY number DESC LIMIT 1"
_ABOVE = """WITH RECURSIVE above(id) AS (
SELECT ? UNION SELECT beads.epic FROM beads JOIN above ON beads.id = above.id WHERE beads.epic IS NOT NULL)
SELECT sprints.* FROM sprints JOIN above ON sprints.bead = above.id ORDER BY number DESC LIMIT 1"""
_COST = f"""WITH RECURSIVE mine(id) AS (SELECT bead FROM sprints WHERE run = :run AND bead IS NOT NULL
UNION SELECT beads.id FROM beads JOIN mine ON beads.epic = mine.id)
{fast.PAID_RUN} attempts WHERE bead IN mine AND {fast.BY_AGENTS} UNION ALL {fast.PAID_RUN} turns WHERE session IN (
SELECT sessions.id FROM mine JOIN sessions ON owner = '{bead_owner("")}' || mine.id AND sessions.attempt IS NULL)"""
_ROLLED_BACK = "(SELECT state FROM features WHERE id = sprints.bead) = 'rolled_back'"
_GIVEN_UP = f"iif((SELECT status FROM beads WHERE id = sprints.{{0}}) = 'cancelled' OR {_ROLLED_BACK}, NULL, {{0}})"
_TAKEN_OVER = f"""UPDATE sprints SET run = ?, nudged = 0, bead = {_GIVEN_UP.format("bead")},
opening = {_GIVEN_UP.format("opening")}, closing = {_GIVEN_UP.format("closing")} WHERE stage <> 'done'"""
"""Cancelled parts are created again."""
BY = "nobrakes"
MAX_DOCUMENTS = 200


def begin_sprints(db: Database, asked: int, needs_tests: bool, terms: Mapping[str, str], actor: str) -> SprintRun:
    """Store a person's approval of so many sprints. NotAllowed while a run is going."""
    now = db.now()
    with db.write():
        last = db.maybe(_LAST)
        before = None if last is None else rows.record(SprintRun, last)
        if before is not None and before.state is RunState.GOING:
            raise going_already(before)
        values = {"asked": asked, "needs_tests": needs_tests, "terms": rows.as_json(dict(terms)), "why": ""}
        values |= {"state": RunState.GOING.value, "actor": actor, "created_at": now, "updated_at": now}
        made = db.insert("sprint_runs", values)
        if before is not None:
            db.run("UPDATE sprint_runs SET state = 'over' WHERE id = ? AND state = 'waits'", (before.id,))
            db.run(_TAKEN_OVER, (made,))
        told = {"state": RunState.GOING.value, "reason": count(asked, "sprint")}
        events_db.append(db, now, EventKind.SPRINT_MOVED, None, actor, told)
        return rows.record(SprintRun, db.one("SELECT * FROM sprint_runs WHERE id = ?", (made,)))


def sprints_going(db: Database) -> Going | None:
    """The last run with its current sprint and the documents handed in for it."""
    return db.moment(lambda: _going(db))


def sprints(db: Database) -> list[Sprint]:
    return [rows.record(Sprint, row) for row in db.all("SELECT * FROM sprints ORDER BY number")]


def set_run_state(db: Database, run: int, state: RunState, why: str, actor: str) -> bool:
    """False: the run was in this state already, or is not the last one."""
    now = db.now()
    with db.write():
        sql = "UPDATE sprint_runs SET state = ?, why = ?, updated_at = ? WHERE id = ? AND state <> ?"
        sql += " AND id = (SELECT max(id) FROM sprint_runs)"
        if not db.run(sql, (state.value, why, now, run, state.value)):
            return False
        events_db.append(db, now, EventKind.SPRINT_MOVED, None, actor, {"state": state.value, "reason": why})
        return True


def sprints_cost(db: Database, run: int) -> Cost:
    """What the sprints of the run have cost: planning, reviews of plans, attempts."""
    return Cost.of(fast.cost(db.all, _COST, {"run": run}))


def add_sprint(db: Database, number: int, run: int, feature: str) -> Sprint:
    """A sprint begins: this feature."""
    now = db.now()
    with db.write():
        if (known := db.maybe("SELECT * FROM sprints WHERE number = ?", (number,))) is not None:
            return rows.record(Sprint, known)
        values = {"number": number, "run": run, "name": "", "stage": Stage.PLANNING.value, "bead": feature}
        db.insert("sprints", {**values, "nudged": 0, "began_at": now})
        events_db.append(db, now, EventKind.SPRINT_MOVED, None, BY, {"sprint": number, "state": Stage.PLANNING.value})
        return _one(db, number)


def change_sprint(db: Database, number: int, values: Mapping[str, Any], actor: str) -> Sprint:
    assert set(values) <= _FIELDS, f"a sprint has no such fields: {set(values) - _FIELDS}"
    now = db.now()
    with db.write():
        before = _one(db, number)
        after = {name: getattr(value, "value", value) for name, value in values.items()}
        if after.get("stage") == Stage.DONE.value:
            after["ended_at"] = now
        sets = ", ".join(f"{name} = ?" for name in after)
        db.run(f"UPDATE sprints SET {sets} WHERE number = ?", (*after.values(), number))
        if after.get("stage", before.stage.value) != before.stage.value:
            told = {"sprint": number, "state": after["stage"]}
            events_db.append(db, now, EventKind.SPRINT_MOVED, before.bead, actor, told)
        return _one(db, number)


def sprint_of(db: Database, bead: str) -> Sprint | None:
    """The sprint whose work this bead is: it, or an epic above it, is the sprint's."""
    row = db.maybe(_ABOVE, (bead,))
    return None if row is None else rows.record(Sprint, row)


def hand_in_document(db: Database, sprint: int, kind: Kind, text: str, actor: str) -> Document:
    """Keep what an agent handed in."""
    now = db.now()
    with db.write():
        one = _one(db, sprint)
        if one.stage in (Stage.CLOSING, Stage.DONE):
            raise NotAllowed(f"sprint {sprint} has ended: nobrakes is merging its documents into main", "")
        if (many := db.one("SELECT count(*) FROM sprint_documents WHERE sprint = ?", (sprint,))[0]) >= MAX_DOCUMENTS:
            raise NotAllowed(f"sprint {sprint} already has {count(many, 'document')}", "Extend one of those documents.")
        values = {"sprint": sprint, "kind": kind.value, "text": text, "actor": actor, "at": now}
        made = db.insert("sprint_documents", values)
        told = {"sprint": sprint, "state": one.stage.value, "reason": f"a {kind.value} was handed in"}
        events_db.append(db, now, EventKind.SPRINT_MOVED, one.bead, actor, told)
        return rows.record(Document, db.one("SELECT * FROM sprint_documents WHERE id = ?", (made,)))


def _one(db: Database, number: int) -> Sprint:
    return rows.record(Sprint, db.one("SELECT * FROM sprints WHERE number = ?", (number,)))


def _going(db: Database) -> Going | None:
    if (row := db.maybe(_LAST)) is None:
        return None
    run = rows.record(SprintRun, row)
    found = db.maybe(_OPEN, (run.id,))
    sprint = None if found is None else rows.record(Sprint, found)
    done = int(db.one("SELECT count(*) FROM sprints WHERE run = ? AND stage = 'done'", (run.id,))[0])
    last = int(db.one("SELECT coalesce(max(number), 0) FROM sprints")[0])
    number = 0 if sprint is None else sprint.number
    told = db.all("SELECT * FROM sprint_documents WHERE sprint = ? ORDER BY id", (number,))
    return Going(run, sprint, done, last, tuple(rows.record(Document, one) for one in told))


# What came of a schedule's due time and the approval that it is are one transaction: a second daemon finds it written.
_ALL = """SELECT schedules.*, coalesce((SELECT max(due) FROM schedule_starts WHERE schedule = id), 0) AS last_due
FROM schedules WHERE removed_at IS NULL ORDER BY id"""


def add_schedule(db: Database, wanted: Schedule) -> Schedule:
    """Store it; number and time are assigned here."""
    now = db.now()
    with db.write():
        values: dict[str, Any] = {"at": wanted.at, "days": ",".join(wanted.days), "zone": wanted.zone}
        values |= {"sprints": wanted.sprints, "late_hours": wanted.late_hours, "needs_tests": wanted.needs_tests}
        values |= {"terms": rows.as_json(dict(wanted.terms)), "actor": wanted.actor, "created_at": now}
        made = db.insert("schedules", values)
        told = {"state": "scheduled", "reason": f"schedule {made}: {count(wanted.sprints, 'sprint')} at {wanted.at}"}
        events_db.append(db, now, EventKind.SPRINT_MOVED, None, wanted.actor, told)
        return next(one for one in schedules(db) if one.id == made)


def remove_schedule(db: Database, schedule: int, actor: str) -> bool:
    """False: it did not exist."""
    now = db.now()
    with db.write():
        if not db.run("UPDATE schedules SET removed_at = ? WHERE id = ? AND removed_at IS NULL", (now, schedule)):
            return False
        told = {"state": "unscheduled", "reason": f"schedule {schedule}"}
        events_db.append(db, now, EventKind.SPRINT_MOVED, None, actor, told)
        return True


def schedules(db: Database) -> list[Schedule]:
    return [rows.record(Schedule, row, days=tuple(filter(None, row["days"].split(",")))) for row in db.all(_ALL)]


def record_due(db: Database, due: Due) -> bool:
    """Record the result of a due time and begin its sprints if they start; False: it was recorded before."""
    now = db.now()
    with db.write():
        known = "SELECT 1 FROM schedule_starts WHERE schedule = ? AND due = ?"
        one = next((one for one in schedules(db) if one.id == due.schedule), None)
        if one is None or db.maybe(known, (due.schedule, due.at)) is not None:
            return False
        run = None
        if due.came is DueEnd.STARTED:
            run = begin_sprints(db, one.sprints, one.needs_tests, one.terms, one.actor).id
        values = {"schedule": due.schedule, "due": due.at, "came": due.came.value, "why": due.why}
        db.insert("schedule_starts", {**values, "run": run, "at": now})
        told = {"state": due.came.value, "reason": f"schedule {due.schedule}" + (f": {due.why}" if due.why else "")}
        events_db.append(db, now, EventKind.SPRINT_MOVED, None, BY, told)
        return True
