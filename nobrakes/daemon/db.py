"""The board that deciders see, and what stands still."""

import json
from collections.abc import Sequence
from typing import Any

from ..agents.db import spending
from ..beads.db import moves
from ..beads.graph import Node
from ..beads.model import BeadType, ReadyBead, Role, Status, bead_owner
from ..beads.work_status import STANDSTILL_SHOWN, Standstill
from ..db import queries, rows
from ..db.database import Database, row
from ..db.fast import CLAIMABLE, EPIC_COMPLETE, EPIC_LANDED, IN_ORDER, LISTED, REVIEWABLE
from ..decisions.model import EscalationType
from ..review.journal import LABEL, PACE, Pace
from ..sessions import db as sessions_db
from ..sessions.model import State, Talk
from .model import Board, Limits, Starts

# What deciders see, from indexes alone: the same cost with a thousand beads and with a hundred thousand.
PAUSED = "paused"
STOPPING = "stopping"
FROZEN = "frozen"
STOP_ASKED = "stop_asked"
"""Attempts that a person asked to stop: ids separated by spaces."""

OPEN = queries.Few(
    "attempts",
    f"{rows.ATTEMPT} {{}} WHERE outcome IS NULL {{}} ORDER BY id",
    int,
    lambda attempt: attempt.id,
    "INDEXED BY attempts_open",
    ("sessions *",),
)
READY = f"{rows.READY_BEAD} INDEXED BY beads_claimable WHERE {CLAIMABLE} {IN_ORDER} LIMIT ?"
_MENDS = f"type = '{BeadType.REPAIR}'"
SOME_READY = {
    Starts.REPAIRS: READY.replace(CLAIMABLE, f"{CLAIMABLE} AND {_MENDS}"),
    Starts.SCAFFOLDING: READY.replace(CLAIMABLE, f"{CLAIMABLE} AND ({_MENDS} OR scaffolding)"),
}
TO_REVIEW = f"{rows.READY_BEAD} INDEXED BY beads_reviewable WHERE {REVIEWABLE} {IN_ORDER} LIMIT ?"
REPAIRS = TO_REVIEW.replace(IN_ORDER, f"AND type = 'repair' {IN_ORDER}")
"""On a red main only repairs are reviewed."""
ELSEWHERE = f"""WITH RECURSIVE below(id) AS (
SELECT value FROM json_each(?) UNION SELECT beads.id FROM below JOIN beads ON beads.epic = below.id)
{TO_REVIEW.replace(IN_ORDER, f"AND type <> 'repair' AND id IN (SELECT id FROM below) {IN_ORDER}")}"""
MENDING = TO_REVIEW.replace(
    IN_ORDER, f"AND type = 'epic' AND id IN (SELECT epic FROM beads WHERE status = 'landed' AND {_MENDS}) {IN_ORDER}"
)
"""And epics with a landed repair."""
COMPLETE = f"SELECT id FROM beads INDEXED BY beads_complete WHERE {EPIC_COMPLETE} ORDER BY id LIMIT ?"

ALL_LANDED = f"""SELECT id FROM beads WHERE {EPIC_LANDED}
AND id IN (SELECT epic FROM beads INDEXED BY beads_status WHERE status = 'landed')
AND NOT EXISTS (SELECT 1 FROM beads AS child WHERE child.epic = beads.id
AND child.status NOT IN ('landed', 'done', 'cancelled')) ORDER BY id LIMIT ?"""

TO_APPROVE = """SELECT bead, id FROM escalations INDEXED BY escalations_open
WHERE resolved_at IS NULL AND type = ? AND bead IS NOT NULL"""
BLOCKED = """SELECT attempt FROM escalations INDEXED BY escalations_open
WHERE resolved_at IS NULL AND attempt IS NOT NULL AND json_extract(evidence, '$.blocker')"""
LABELLED = """WITH RECURSIVE above(bead, id) AS (
SELECT value, value FROM json_each(?)
UNION SELECT above.bead, beads.epic FROM above JOIN beads USING (id) WHERE beads.epic IS NOT NULL)
SELECT above.bead, above.id FROM above JOIN bead_text USING (id)
WHERE instr(labels, ?) AND EXISTS (SELECT 1 FROM json_each(labels) WHERE value = ?)"""
"""The beads of a list with a label, or below an epic with it, and where the label is."""

AT_WORK_ON = """SELECT DISTINCT attempts.bead, touches FROM attempts JOIN bead_text ON bead_text.id = attempts.bead
WHERE outcome IS NULL AND touches <> '[]' ORDER BY attempts.bead"""

FRONT = 64


def board(db: Database, limits: Limits, front: int | None = None) -> Board:
    """The deciders' snapshot in one read transaction. `front`: beads of each queue; None: what deciders need."""
    now = db.now()
    moves.wake(db, now)
    spending.move_on(db, limits.caps, now)
    return db.moment(lambda: _board(db, limits, front, now))


def _board(db: Database, limits: Limits, front: int | None, now: float) -> Board:
    at_work = queries.few(db, OPEN, rows.attempt)
    agents = sum(1 for attempt in at_work if attempt.role is not Role.REVIEWER)
    whole = FRONT if front is None else front
    wanted = 1 if front is None and agents >= limits.doers else whole
    settings = _snapshot_settings(db)
    runs = queries.runs(db)
    opened = sessions_db.opened(db)
    going = {one.id: one for one in sessions_db.going_sessions(db)}
    going |= {one.session: sessions_db.get_session(db, one.session) for one in opened if one.session not in going}
    held = sessions_db.held(db) if going else frozenset()
    gates = spending.gates(db)
    opening = [gate.until for gate in gates.values() if gate.is_closed(now)]
    deferral, retry, has_complete, has_landed = moves.next_due(db)
    times = [moment for moment in (deferral, retry, *opening) if moment is not None]
    ready_now = tuple(rows.ready_bead(row) for row in db.all(SOME_READY.get(limits.starts, READY), (wanted,)))
    names = [bead.id for bead in ready_now]
    to_approve = {row[0]: row[1] for row in db.all(TO_APPROVE, (EscalationType.MERGE_REVIEW.value,))}
    to_review = tuple(rows.ready_bead(row) for row in db.all(REPAIRS if FROZEN in settings else TO_REVIEW, (whole,)))
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
        taken={row[0]: tuple(json.loads(row[1])) for row in db.all(AT_WORK_ON)}
        if at_work and any(bead.touches for bead in ready_now)
        else {},
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
        pace=Pace.parse(settings.get(PACE)),
        frozen=FROZEN in settings,
        elsewhere=frozenset(bead.id for bead in others),
        gates=gates,
        breakers=spending.breakers_of(db, [bead_owner(name) for name in names]),
        spent=spending.spent(db, limits.caps, [*names, *(attempt.bead for attempt in at_work)], now),
        wake_at=min(times, default=None),
        retry_at=retry,
    )


def _elsewhere(db: Database, epics: tuple[str, ...], most: int) -> tuple[ReadyBead, ...]:
    found = {row[0]: row for row in db.all(ELSEWHERE, (json.dumps(epics), most))} if epics else {}
    found |= {row[0]: row for row in db.all(MENDING, (most,))}
    return tuple(rows.ready_bead(row) for row in found.values())


def _labelled(db: Database, beads: list[str]) -> dict[str, str]:
    if not beads:
        return {}
    found: dict[str, str] = {}
    of = ("beads *", "bead_text *")  # no move of a bead changes its labels or its epic
    for bead, holder in db.all(LABELLED, (rows.as_json(beads), LABEL, LABEL), of):
        found[bead] = bead if holder == bead else found.get(bead, holder)
    return found


def _snapshot_settings(db: Database) -> dict[str, Any]:
    wanted = (PAUSED, STOPPING, FROZEN, PACE, STOP_ASKED)
    of = tuple(one for key in wanted for one in row("settings", key))
    found = db.all("SELECT key, value FROM settings WHERE key IN (?, ?, ?, ?, ?)", wanted, of)
    return {row[0]: row[1] for row in found}


# Beads that stand still until a person, or a time, lets them go on (beads.work_status): one pass for each kind. What is
# closed, or a draft, holds nobody up by itself. Raw SQL: `status` and each `run` ask for it.
_LIVE = "status NOT IN ('done', 'cancelled', 'draft')"
_FIRST = f"{LISTED} LIMIT ?"
_HELD = f"held IS NOT NULL AND {_LIVE}"
_DEFERRED = f"asleep = 1 AND {_LIVE}"
_RESTING = f"resting = 1 AND {_LIVE}"
# from what is cancelled on: that is little, and each step has an index
_BLOCKED = f"""FROM beads AS blocker CROSS JOIN edges ON edges.needs = blocker.id AND edges.type = 'blocks'
CROSS JOIN beads AS live ON live.id = edges.bead WHERE blocker.status = 'cancelled' AND live.{_LIVE}"""
_CHILDREN = f"""FROM beads AS parent CROSS JOIN beads AS live ON live.epic = parent.id
WHERE parent.status = 'cancelled' AND live.{_LIVE}"""
_EMPTY = "type = 'epic' AND status = 'open' AND open_children = 0 AND done_children = 0"
# each type of each status from the one before it, where all rows of the index would be read for DISTINCT
_WANTED = """WITH RECURSIVE found (status, type) AS (
SELECT value, (SELECT min(type) FROM beads WHERE status = value) FROM json_each(?) UNION ALL
SELECT status, (SELECT min(type) FROM beads WHERE beads.status = found.status AND beads.type > found.type) FROM found
WHERE type IS NOT NULL) SELECT status, type FROM found WHERE type <> 'epic' ORDER BY status, type"""
_FOR_AGENTS = json.dumps([Status.NEEDS_TESTS, Status.WRITING_TESTS, Status.NEEDS_DOER, Status.DOING])


def standstill(db: Database) -> Standstill:
    moves.wake(db, db.now())
    with db.read():
        epics = db.plain(f"SELECT id FROM beads WHERE {_EMPTY} {_FIRST}", (STANDSTILL_SHOWN,))
        held, deferred, resting = (_nodes(db, where) for where in (_HELD, _DEFERRED, _RESTING))
        blockers, parents = _pairs(db, "edges.needs", _BLOCKED), _pairs(db, "live.epic", _CHILDREN)
        return Standstill(
            held=held,
            deferred=deferred,
            resting=resting,
            cancelled_blockers=blockers,
            cancelled_parents=parents,
            empty_epics=tuple(row[0] for row in epics),
            wanted=tuple((Status(row[0]), str(row[1])) for row in db.plain(_WANTED, (_FOR_AGENTS,))),
            counts={
                "held": _number(db, held, f"FROM beads WHERE {_HELD}"),
                "deferred": _number(db, deferred, f"FROM beads WHERE {_DEFERRED}"),
                "resting": _number(db, resting, f"FROM beads WHERE {_RESTING}"),
                "cancelled_blockers": _number(db, blockers, _BLOCKED),
                "cancelled_parents": _number(db, parents, _CHILDREN),
                "empty_epics": _number(db, epics, f"FROM beads WHERE {_EMPTY}"),
            },
        )


def _nodes(db: Database, where: str) -> tuple[Node, ...]:
    return tuple(map(rows.node, db.all(f"{rows.NODE} WHERE {where} {_FIRST}", (STANDSTILL_SHOWN,))))


def _pairs(db: Database, other: str, which: str) -> tuple[tuple[str, str], ...]:
    order = "live.priority, live.created_at, live.rowid, 2"
    found = db.plain(f"SELECT live.id, {other} {which} ORDER BY {order} LIMIT ?", (STANDSTILL_SHOWN,))
    return tuple((row[0], row[1]) for row in found)


def _number(db: Database, first: Sequence[object], which: str) -> int:
    """Of all of them; `first`: so many as are shown at most."""
    return len(first) if len(first) < STANDSTILL_SHOWN else int(db.one(f"SELECT count(*) {which}")[0])
