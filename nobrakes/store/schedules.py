"""The part of the port `Store` that is schedules of sprints.

What came of a due time and the yes that it is are one transaction: a second daemon, and a second look, find it written.
"""

import json
from typing import Any

from ..core.beads.events import Kind as EventKind
from ..core.projects.schedules import Came, Due, Schedule
from . import events, rows
from .database import Database, Row
from .sprints import BY, Sprints

_ALL = """SELECT schedules.*, coalesce((SELECT max(due) FROM schedule_starts WHERE schedule = id), 0) AS last_due
FROM schedules WHERE removed_at IS NULL ORDER BY id"""


class Schedules(Sprints):
    """Schedules on one database."""

    _db: Database

    def add_schedule(self, wanted: Schedule) -> Schedule:
        """Keep it; its number and its time are given here."""
        db = self._db
        now = db.now()
        with db.write():
            values: dict[str, Any] = {"at": wanted.at, "days": ",".join(wanted.days), "zone": wanted.zone}
            values |= {"sprints": wanted.sprints, "late_hours": wanted.late_hours, "needs_tests": wanted.needs_tests}
            values |= {"terms": rows.as_json(dict(wanted.terms)), "actor": wanted.actor, "created_at": now}
            made = db.insert("schedules", values)
            told = {"state": "scheduled", "reason": f"schedule {made}: {wanted.sprints} sprints at {wanted.at}"}
            events.append(db, now, EventKind.SPRINT_MOVED, None, wanted.actor, told)
            return next(one for one in self.schedules() if one.id == made)

    def remove_schedule(self, schedule: int, actor: str) -> bool:
        """It begins nothing any more; False: it did not before."""
        db = self._db
        now = db.now()
        with db.write():
            if not db.run("UPDATE schedules SET removed_at = ? WHERE id = ? AND removed_at IS NULL", (now, schedule)):
                return False
            told = {"state": "unscheduled", "reason": f"schedule {schedule}"}
            events.append(db, now, EventKind.SPRINT_MOVED, None, actor, told)
            return True

    def schedules(self) -> list[Schedule]:
        """Those that begin something, by number."""
        return [_schedule(row) for row in self._db.all(_ALL)]

    def settle_due(self, due: Due) -> bool:
        """Write down what came of a due time, and begin its sprints where they start; False: it was written down."""
        db = self._db
        now = db.now()
        with db.write():
            known = "SELECT 1 FROM schedule_starts WHERE schedule = ? AND due = ?"
            one = next((one for one in self.schedules() if one.id == due.schedule), None)
            if one is None or db.maybe(known, (due.schedule, due.at)) is not None:
                return False
            run = None
            if due.came is Came.STARTED:
                run = self.begin_sprints(one.sprints, one.needs_tests, one.terms, one.actor).id
            values = {"schedule": due.schedule, "due": due.at, "came": due.came.value, "why": due.why}
            db.insert("schedule_starts", {**values, "run": run, "at": now})
            told = {"state": due.came.value, "reason": f"schedule {due.schedule}" + (f": {due.why}" if due.why else "")}
            events.append(db, now, EventKind.SPRINT_MOVED, None, BY, told)
            return True


def _schedule(row: Row) -> Schedule:
    values = {key: value for key, value in dict(row).items() if key != "removed_at"}
    values |= {"days": tuple(day for day in row["days"].split(",") if day), "terms": json.loads(row["terms"])}
    return Schedule(**values | {"needs_tests": bool(row["needs_tests"])})
