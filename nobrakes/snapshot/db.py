"""Restoring a database, what changed since a position, the board that deciders see, and what stands still.

What was kept outside is put into an empty database (snapshot.service), or into one that is older.

1. Beads and escalations keep their ids and their times; each new bead is told of as proposed.
2. The tests that were proven red are an attempt that ended well, so that the next Doer starts from them.
3. Attempts are numbered on from those of earlier databases: a folder that bears such a number is never taken for new.
   So are events, since the file beside the database names them.
4. Ended attempts keep their numbers too; what was open when its words were written down is not among them.
5. Into an older database comes what its caller found to be later, as it is there; who works on such a bead does so no
   more. Nothing that only the database has is touched.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import Any

from ..agents.db import spending
from ..beads import lifecycle
from ..beads.db import moves, planning, transitions
from ..beads.db.levels import recompute
from ..beads.graph import Node, rank, rises_at
from ..beads.model import WORKING, Alike, Attempt, Bead, DependencyType, Frontier, Outcome, Role, Status, of_bead
from ..beads.work_status import STANDSTILL_SHOWN, Standstill
from ..checks.proof import REPAIR, Starts
from ..daemon.model import Board, Limits
from ..db import rows, views
from ..db.database import Database, Row, row
from ..db.fast import CLAIMABLE, EPIC_COMPLETE, EPIC_LANDED, IN_ORDER, REVIEWABLE
from ..db.model import Changes, Position, Restored
from ..decisions.model import Escalation, EscalationType, fingerprint
from ..events import db as events_db
from ..events.kinds import Kind
from ..features import db as features_db
from ..review.journal import LABEL
from ..review.queue import PACE, Pace
from ..review.verify import WENT_BACK
from ..sessions import db as sessions_db
from ..sessions.model import State, Talk

# What is the same in many beads is one object, so no graph is in memory. A bead that has a branch of its own is like
# itself alone: what its branch is usually called depends on its id.
_FIELDS = tuple(Bead.__dataclass_fields__)
_OWN = ("id", "title", "description", "acceptance", "notes")
_REST = tuple(name for name in _FIELDS if name not in _OWN)
_in_order = itemgetter(*map((*_OWN, "edges", *_REST).index, _FIELDS))
_BESIDE = len(_OWN) + 1
_BRANCH = _BESIDE + _REST.index("branch")
_alike: Callable[[tuple[Any, ...]], Alike] = partial(tuple.__new__, Alike)
# no id and no type has a comma or a space
_ROWS = f"""SELECT {", ".join(_OWN)}, (SELECT group_concat(needs || ' ' || type) FROM edges WHERE bead = beads.id),
{", ".join(_REST)} FROM beads JOIN bead_text USING (id) {{}} ORDER BY id"""
_OF_THESE = "WHERE beads.id IN (SELECT value FROM json_each(?))"

AT_ONCE = 4096
"""So many beads that others are like are remembered."""


def alike(db: Database, ids: Iterable[str] | None = None) -> Iterator[Alike]:
    """Those of these beads (None: of all) that are there, by id order, read as they are asked for.

    Nothing is written meanwhile.
    """
    asked = (_ROWS.format(""), ()) if ids is None else (_ROWS.format(_OF_THESE), (json.dumps([*ids]),))
    with db.read():
        known: dict[tuple[Any, ...], Bead] = {}
        for row in db.each(*asked):
            rest = row[_BESIDE:]
            like = known.get(rest)
            if like is None:
                like = rows.bead(_in_order(row))
                if not row[_BRANCH]:
                    if len(known) >= AT_ONCE:
                        known.clear()
                    known[rest] = like
            id_, title, description, acceptance, notes, edges = row[:_BESIDE]
            lines = rows.read_texts(acceptance) if acceptance != "[]" else ()
            yield _alike((id_, title, description, lines, notes, edges.split(",") if edges else (), like))


# What changed after a position is what the database says now, read in one transaction, of whatever an event after the
# position names. A position that is not in this database, or is another one there, is of another life of it: then all
# is given.
PEOPLES = ("paused", "limits", "quarantine")
"""The settings that people make (daemon.service.control, review.service.evidence)."""

_OF_SETTINGS = (Kind.PAUSED, Kind.RESUMED, Kind.LIMITS_CHANGED, Kind.QUARANTINED, Kind.QUARANTINE_LIFTED)
_QUIET = ", ".join(f"'{kind.value}'" for kind in sorted(kind for kind in Kind if kind.is_quiet))
_NAMED = f"""SELECT seq, at, bead, kind,
CASE WHEN bead IS NULL THEN json_extract(data, '$.escalation') END AS escalation FROM events
WHERE seq > ? AND kind NOT IN ({_QUIET}) ORDER BY seq LIMIT ?"""
# `:beads` would be taken for that table by the answers that are kept (db.database.tables)
_ESCALATIONS = """SELECT * FROM escalations WHERE bead IN (SELECT value FROM json_each(:whose))
OR id IN (SELECT value FROM json_each(:numbers)) ORDER BY id"""
_ENDED = f"""{rows.ATTEMPT} WHERE outcome IS NOT NULL
AND id IN (SELECT attempt FROM events WHERE seq > ? AND seq <= ? AND attempt IS NOT NULL)
ORDER BY id"""
_LAST = "SELECT seq, at, (SELECT at FROM events WHERE seq = ?) FROM events ORDER BY seq DESC LIMIT 1"
"""The last event, and when the one of a position was."""


def position(db: Database) -> Position:
    """The last event."""
    row = db.maybe("SELECT seq, at FROM events ORDER BY seq DESC LIMIT 1")
    return Position() if row is None else Position(row[0], row[1])


def changes(db: Database, after: Position, limit: int | None = None) -> Changes:
    """What changed after this position: beads, escalations and the settings that people make.

    `limit`: what the first so many events tell of (Changes.more: there are others); None: all.
    """
    with db.read():
        last = db.maybe(_LAST, (after.seq,))
        upto = Position() if last is None else Position(last[0], last[1])
        if upto == after:
            return Changes(upto)
        restarted = bool(after.seq) and (last is None or last[2] != after.at)
        begin = 0 if restarted else after.seq
        named = db.all(_NAMED, (begin, -1 if limit is None else limit))
        more = limit is not None and len(named) == limit
        if more:
            upto = Position(named[-1]["seq"], named[-1]["at"])
        beads = sorted({row["bead"] for row in named if row["bead"] is not None})
        numbers = [row["escalation"] for row in named if row["bead"] is None and row["escalation"] is not None]
        settings = any(row["kind"] in _OF_SETTINGS for row in named) or restarted
        asked = db.all(_ESCALATIONS, {"whose": json.dumps(beads), "numbers": json.dumps(numbers)})
        return Changes(
            upto,
            [*alike(db, beads)],
            [rows.escalation(row) for row in asked],
            _settings(db) if settings else None,
            restarted,
            [rows.attempt(row) for row in db.all(_ENDED, (begin, upto.seq))],
            more,
        )


def _settings(db: Database) -> dict[str, str]:
    marks = ", ".join("?" * len(PEOPLES))
    return {row[0]: row[1] for row in db.all(f"SELECT key, value FROM settings WHERE key IN ({marks})", PEOPLES)}


_SAME_MOMENT = 1e-3
"""Seconds: what is written outside has microseconds, a database may have more."""


def restore(db: Database, found: Restored, actor: str) -> None:
    """Fill this empty store with what was kept outside of the database."""
    now = db.now()
    with db.write():
        planning.put(db, found.beads, found.dependencies, actor)
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
        _count_from(db, "attempts", found.attempts)
        for bead, commit in found.tests.items():
            _proven(db, bead, commit, now)
        spending.forget(db)


def bring_back(db: Database, found: Restored, beyond: int, actor: str) -> dict[str, Any]:
    """Put in what is later than this database, and number events above `beyond`; how much that was.

    One transaction, told of by `brought_back`. Who works on a bead that comes back does so no more. What only this
    database has stays as it is.
    """
    now = db.now()
    with db.write(told=False):
        db.run("PRAGMA defer_foreign_keys = ON")
        _count_from(db, "events", beyond)
        known = {row[0] for row in db.all("SELECT id FROM beads")}
        planning.put(db, [replace(bead, epic=None) for bead in found.beads if bead.id not in known], [], actor)
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
        db.run("INSERT OR REPLACE INTO settings (key, value) VALUES (?, '1')", (WENT_BACK,))
        events_db.append(db, now, Kind.BROUGHT_BACK, None, actor, told)
    return told


def _as_it_was_later(db: Database, bead: Bead, was_here: bool, actor: str, now: float) -> None:
    before = planning.get_bead(db, bead.id)
    fence = max(before.fence, bead.fence)
    ended = None
    if before.status in WORKING:
        ended = transitions.end_open_attempt(db, before, Kind.BROUGHT_BACK.value, now)
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
    """The attempt as it ended, whether it was not known so; one that had ended here stays."""
    same = "SELECT id, outcome FROM attempts WHERE bead = ? AND abs(started_at - ?) < ?"
    row = db.maybe(same, (one.bead, one.started_at, _SAME_MOMENT))
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
    """What an ended attempt has in its row, but its id and its token."""
    return {
        "bead": one.bead,
        "number": one.number,
        "role": one.role.value,
        "name": one.name,
        "fence": one.fence,
        "started_at": one.started_at,
        "agent": one.agent,
        "base": one.base,
        "head": one.head,
        "ended_at": one.ended_at,
        "outcome": one.outcome.value if one.outcome else None,
        "detail": one.detail,
        "summary": one.log.summary,
        "blockers": one.log.blockers,
        "learnings": one.log.learnings,
        "keep_branch": one.log.keep_branch,
        "data": rows.attempt_data(one.data),
        "provider": one.provider,
        "model": one.model,
        "cost_usd": one.cost_usd,
        "tokens": one.tokens,
    }


def _asked_later(db: Database, one: Escalation) -> bool:
    """Whether the escalation was not here, or not as it is there."""
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
    return bool(row["fingerprint"] == mark and abs(row["created_at"] - one.created_at) < _SAME_MOMENT)


def _set_later(db: Database, settings: Mapping[str, str] | None) -> list[str]:
    """What people set, as it is there; what they unset goes. The names of those that were otherwise here."""
    if settings is None:
        return []
    here = {row[0]: row[1] for row in db.all("SELECT key, value FROM settings")}
    names = [name for name in PEOPLES if here.get(name) != settings.get(name)]
    for name in names:
        db.run("DELETE FROM settings WHERE key = ?", (name,))
        if name in settings:
            db.run("INSERT INTO settings (key, value) VALUES (?, ?)", (name, settings[name]))
    return names


def count_on(db: Database, attempts: int, fences: Mapping[str, int], turns: int = 0, sessions: int = 0) -> bool:
    """Number attempts, turns and sessions above these, and each bead's fence above the one given.

    Whether one of the first three was behind. A bead that is being worked on keeps its fence.
    """
    counted = "SELECT name, seq FROM sqlite_sequence WHERE name IN ('attempts', 'turns', 'sessions')"
    known = {str(row[0]): int(row[1]) for row in db.all(counted)}
    wanted = {"attempts": attempts, "turns": turns, "sessions": sessions}
    behind = {table: number for table, number in wanted.items() if number > known.get(table, 0)}
    values = [(fence, bead, fence) for bead, fence in fences.items()]
    if behind or values:
        with db.write():
            for table, number in behind.items():
                _count_from(db, table, number)
            db.run_many("UPDATE beads SET fence = ? WHERE id = ? AND fence < ? AND assignee IS NULL", values)
    return bool(behind)


def _count_from(db: Database, table: str, number: int) -> None:
    """The table's next row has a number above this one."""
    if not db.run("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (number, table)):
        db.run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, number))


def _escalation(db: Database, one: Escalation) -> None:
    """As it was, but for the attempt that it came from: that is lost."""
    values = {
        "id": one.id or None,
        "type": one.type.value,
        "bead": one.bead,
        "title": one.title,
        "detail": one.detail,
        "target": one.target,
        "evidence": rows.as_json(dict(one.evidence)),
        "hypothesis": one.hypothesis,
        "created_at": one.created_at,
        **_decided(one),
        "fingerprint": _mark(one),
        "form": _form(one),
    }
    db.insert("escalations", values)


def _decided(one: Escalation) -> dict[str, Any]:
    """What became of it, as columns."""
    return {
        "answer": one.answer,
        "answered_at": one.answered_at,
        "resolved_at": one.resolved_at,
        "resolution": one.resolution,
        "return_to": one.return_to.value if one.return_to else None,
        "value": None if one.value is None else rows.as_json(one.value),
        "read_at": one.read_at,
    }


def _form(one: Escalation) -> str:
    return "" if one.form is None else rows.as_json(dict(one.form))


def _mark(one: Escalation) -> str:
    return fingerprint(one.type, one.bead, one.title, _form(one))


def _proven(db: Database, bead: str, commit: str, now: float) -> None:
    here = "SELECT 1 FROM attempts WHERE bead = ? AND role = ? AND head = ? AND outcome = ?"
    if db.maybe(here, (bead, Role.TEST_WRITER.value, commit, Outcome.COMPLETED.value)) is not None:
        return
    values = {
        "bead": bead,
        "number": 1 + (db.one("SELECT max(number) FROM attempts WHERE bead = ?", (bead,))[0] or 0),
        "role": Role.TEST_WRITER.value,
        "name": "nobrakes",
        "fence": 0,
        "token": "",
        "started_at": now,
        "agent": "rebuilt",
        "head": commit,
        "ended_at": now,
        "outcome": Outcome.COMPLETED.value,
        "detail": "the proven tests, found again under refs/nobrakes/tests",
        "summary": "",
        "blockers": "",
        "learnings": "",
        "keep_branch": True,
        "data": "{}",
    }
    db.insert("attempts", values)


# What deciders see, from indexes alone: the same cost with a thousand beads and with a hundred thousand.
PAUSED = "paused"
STOPPING = "stopping"
FROZEN = "frozen"
STOP_ASKED = "stop_asked"
"""The attempts that a person asked to stop: their ids, with spaces between."""

OPEN = f"{rows.ATTEMPT} INDEXED BY attempts_open WHERE outcome IS NULL ORDER BY id"
"""By the index: the order of the ids alone would lead through all attempts there ever were."""
READY = f"{rows.FRONTIER} INDEXED BY beads_claimable WHERE {CLAIMABLE} {IN_ORDER} LIMIT ?"
_MENDS = f"type = '{REPAIR}'"
SOME_READY = {
    Starts.REPAIRS: READY.replace(CLAIMABLE, f"{CLAIMABLE} AND {_MENDS}"),
    Starts.SCAFFOLDING: READY.replace(CLAIMABLE, f"{CLAIMABLE} AND ({_MENDS} OR scaffolding)"),
}
"""Those that may be started while the trial of main keeps the others back: they may stand far behind them."""
TO_REVIEW = f"{rows.FRONTIER} INDEXED BY beads_reviewable WHERE {REVIEWABLE} {IN_ORDER} LIMIT ?"
REPAIRS = TO_REVIEW.replace(IN_ORDER, f"AND type = 'repair' {IN_ORDER}")
"""On a red main all others wait, however many they are."""
ELSEWHERE = f"""WITH RECURSIVE below(id) AS (
SELECT value FROM json_each(?) UNION SELECT beads.id FROM below JOIN beads ON beads.epic = below.id)
{TO_REVIEW.replace(IN_ORDER, f"AND type <> 'repair' AND id IN (SELECT id FROM below) {IN_ORDER}")}"""
"""But for what is for another branch: the beads below these epics."""
MENDING = TO_REVIEW.replace(
    IN_ORDER, f"AND type = 'epic' AND id IN (SELECT epic FROM beads WHERE status = 'landed' AND {_MENDS}) {IN_ORDER}"
)
"""And for epics on whose branches a repair has landed."""
COMPLETE = f"SELECT id FROM beads INDEXED BY beads_complete WHERE {EPIC_COMPLETE} ORDER BY id LIMIT ?"

ALL_LANDED = f"""SELECT id FROM beads WHERE {EPIC_LANDED}
AND id IN (SELECT epic FROM beads INDEXED BY beads_status WHERE status = 'landed')
AND NOT EXISTS (SELECT 1 FROM beads AS child WHERE child.epic = beads.id
AND child.status NOT IN ('landed', 'done', 'cancelled')) ORDER BY id LIMIT ?"""
"""Epics all of whose beads are on their branches, or closed."""

TO_APPROVE = """SELECT bead, id FROM escalations INDEXED BY escalations_open
WHERE resolved_at IS NULL AND type = ? AND bead IS NOT NULL"""
"""Of the open questions, of which there are few."""
BLOCKED = """SELECT attempt FROM escalations INDEXED BY escalations_open
WHERE resolved_at IS NULL AND attempt IS NOT NULL AND json_extract(evidence, '$.blocker')"""
"""Who cannot go on (decisions.forms)."""
LABELLED = """WITH RECURSIVE above(bead, id) AS (
SELECT value, value FROM json_each(?)
UNION SELECT above.bead, beads.epic FROM above JOIN beads USING (id) WHERE beads.epic IS NOT NULL)
SELECT above.bead, above.id FROM above JOIN bead_text USING (id)
WHERE instr(labels, ?) AND EXISTS (SELECT 1 FROM json_each(labels) WHERE value = ?)"""
"""The beads of a list that have a label, and those below an epic that has it, each with who has it."""

AT_WORK_ON = """SELECT DISTINCT attempts.bead, touches FROM attempts JOIN bead_text ON bead_text.id = attempts.bead
WHERE outcome IS NULL AND touches <> '[]' ORDER BY attempts.bead"""

FRONT = 64
"""So many beads of each queue are looked at: a cooldown may hold back those before the first that can be started."""


def board(db: Database, limits: Limits, front: int | None = None) -> Board:
    """The deciders' snapshot, in one read transaction.

    `front`: so many beads of each queue; None: what deciders need, which is one ready bead while no Doer is free.
    """
    now = db.now()
    moves.wake(db, now)
    spending.move_on(db, limits.caps, now)
    return db.moment(lambda: _board(db, limits, front, now))


def _board(db: Database, limits: Limits, front: int | None, now: float) -> Board:
    at_work = [rows.attempt(row) for row in db.all(OPEN)]
    agents = sum(1 for attempt in at_work if attempt.role is not Role.REVIEWER)
    whole = FRONT if front is None else front
    wanted = 1 if front is None and agents >= limits.doers else whole
    settings = _snapshot_settings(db)
    runs = views.runs(db)
    opened = sessions_db.opened(db)
    going = {one.id: one for one in sessions_db.going_sessions(db)}
    going |= {one.session: sessions_db.get_session(db, one.session) for one in opened if one.session not in going}
    held = sessions_db.held(db) if going else frozenset()
    gates = spending.gates(db)
    opening = [gate.until for gate in gates.values() if gate.is_closed(now)]
    deferral, retry, has_complete, has_landed = moves.next_due(db)
    times = [moment for moment in (deferral, retry, *opening) if moment is not None]
    ready_now = tuple(rows.frontier(row) for row in db.all(SOME_READY.get(limits.starts, READY), (wanted,)))
    names = [bead.id for bead in ready_now]
    to_approve = {row[0]: row[1] for row in db.all(TO_APPROVE, (EscalationType.MERGE_REVIEW.value,))}
    to_review = tuple(rows.frontier(row) for row in db.all(REPAIRS if FROZEN in settings else TO_REVIEW, (whole,)))
    others = _elsewhere(db, limits.elsewhere, whole) if FROZEN in settings else ()
    to_review += others
    reviewed = [bead.id for bead in to_review]  # a review may begin and land in the turn of this board
    reviewed += [attempt.bead for attempt in at_work if attempt.role is Role.REVIEWER]
    return Board(
        now=now,
        limits=limits,
        ready=ready_now,
        to_review=to_review,
        attempts=tuple(at_work),
        taken=_taken(db) if at_work and any(bead.touches for bead in ready_now) else {},
        runs={run.attempt: run for run in runs if run.attempt},
        turn_runs={run.turn: run for run in runs if run.turn},
        sessions=tuple(one for one in going.values() if one.state is State.READY and one.id not in held),
        talks=tuple(Talk(going[one.session], one) for one in opened),
        epics_done=tuple(row[0] for row in db.all(COMPLETE, (whole,))) if has_complete else (),
        epics_landed=tuple(row[0] for row in db.all(ALL_LANDED, (whole,))) if has_landed else (),
        to_approve=to_approve,
        labelled=_labelled(db, [*reviewed, *to_approve]),
        paused=PAUSED in settings,
        stopping=STOPPING in settings,
        stop_asked=frozenset(int(word) for word in settings.get(STOP_ASKED, "").split()),
        blocked=frozenset(row[0] for row in db.all(BLOCKED)) if at_work else frozenset(),
        pace=Pace.of_text(settings.get(PACE)),
        frozen=FROZEN in settings,
        elsewhere=frozenset(bead.id for bead in others),
        gates=gates,
        breakers=spending.breakers_of(db, [of_bead(name) for name in names]),
        spent=spending.spent(db, limits.caps, [*names, *(attempt.bead for attempt in at_work)], now),
        wake_at=min(times, default=None),
        retry_at=retry,
    )


def _elsewhere(db: Database, epics: tuple[str, ...], most: int) -> tuple[Frontier, ...]:
    found = {row[0]: row for row in db.all(ELSEWHERE, (json.dumps(epics), most))} if epics else {}
    found |= {row[0]: row for row in db.all(MENDING, (most,))}
    return tuple(rows.frontier(row) for row in found.values())


def _labelled(db: Database, beads: list[str]) -> dict[str, str]:
    """Of these beads and the epics above them: which has the label that asks for approval, itself before its epics."""
    if not beads:
        return {}
    found: dict[str, str] = {}
    of = ("beads *", "bead_text *")  # no move of a bead changes its labels or its epic
    for bead, holder in db.all(LABELLED, (rows.as_json(beads), LABEL, LABEL), of):
        found[bead] = bead if holder == bead else found.get(bead, holder)
    return found


def _taken(db: Database) -> dict[str, tuple[str, ...]]:
    return {row[0]: tuple(json.loads(row[1])) for row in db.all(AT_WORK_ON)}


def _snapshot_settings(db: Database) -> dict[str, Any]:
    wanted = (PAUSED, STOPPING, FROZEN, PACE, STOP_ASKED)
    of = tuple(one for key in wanted for one in row("settings", key))
    found = db.all("SELECT key, value FROM settings WHERE key IN (?, ?, ?, ?, ?)", wanted, of)
    return {row[0]: row[1] for row in found}


# Beads that stand still until a person, or a time, lets them go on (beads.work_status): one pass for each kind. What is
# closed, or a draft, holds nobody up by itself. Raw SQL: `status` and each `run` ask for it.
_LIVE = "status NOT IN ('done', 'cancelled', 'draft')"
_FIRST = "ORDER BY priority, id LIMIT ?"
_HELD = f"held IS NOT NULL AND {_LIVE}"
_DEFERRED = f"asleep = 1 AND {_LIVE}"
_RESTING = f"resting = 1 AND {_LIVE}"
# from what is cancelled on: that is little, and each step has an index
_BLOCKED = f"""FROM beads AS blocker CROSS JOIN edges ON edges.needs = blocker.id AND edges.type = 'blocks'
CROSS JOIN beads AS live ON live.id = edges.bead WHERE blocker.status = 'cancelled' AND live.{_LIVE}"""
_CHILDREN = f"""FROM beads AS parent CROSS JOIN beads AS live ON live.epic = parent.id
WHERE parent.status = 'cancelled' AND live.{_LIVE}"""
_EMPTY = "type = 'epic' AND status = 'open' AND children = 0"
_WANTED = """SELECT DISTINCT status, type FROM beads WHERE type <> 'epic'
AND status IN ('needs_tests', 'writing_tests', 'needs_doer', 'doing') ORDER BY status, type"""


def standstill(db: Database) -> Standstill:
    """Who stands still until a person, or a time, lets it go on."""
    moves.wake(db, db.now())
    with db.read():
        epics = tuple(row[0] for row in db.plain(f"SELECT id FROM beads WHERE {_EMPTY} {_FIRST}", (STANDSTILL_SHOWN,)))
        return Standstill(
            held=_nodes(db, _HELD),
            deferred=_nodes(db, _DEFERRED),
            resting=_nodes(db, _RESTING),
            cancelled_blockers=_pairs(db, "edges.needs", _BLOCKED),
            cancelled_parents=_pairs(db, "live.epic", _CHILDREN),
            empty_epics=epics,
            wanted=tuple((Status(row[0]), str(row[1])) for row in db.plain(_WANTED)),
            counts={
                "held": _number(db, f"FROM beads WHERE {_HELD}"),
                "deferred": _number(db, f"FROM beads WHERE {_DEFERRED}"),
                "resting": _number(db, f"FROM beads WHERE {_RESTING}"),
                "cancelled_blockers": _number(db, _BLOCKED),
                "cancelled_parents": _number(db, _CHILDREN),
                "empty_epics": _number(db, f"FROM beads WHERE {_EMPTY}"),
            },
        )


def _nodes(db: Database, where: str) -> tuple[Node, ...]:
    return tuple(map(rows.node, db.all(f"{rows.NODE} WHERE {where} {_FIRST}", (STANDSTILL_SHOWN,))))


def _pairs(db: Database, other: str, which: str) -> tuple[tuple[str, str], ...]:
    """Each live bead with the other one, the first SHOWN."""
    found = db.plain(f"SELECT live.id, {other} {which} ORDER BY live.priority, live.id, 2 LIMIT ?", (STANDSTILL_SHOWN,))
    return tuple((row[0], row[1]) for row in found)


def _number(db: Database, which: str) -> int:
    return int(db.one(f"SELECT count(*) {which}")[0])
