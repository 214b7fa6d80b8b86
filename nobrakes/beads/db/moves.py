"""The one place where a bead's state changes, and what follows from it for others, in the caller's transaction.

1. `move` sets columns of one bead and brings every counter along: of those it blocks, of its children, of its epic.
2. open_blockers = the `blocks` dependencies that are not done, + 1 when the parent closes its children off. Inside of
   an epic one that has landed on its branch counts as done.
3. Fan-out is one UPDATE; only beads that are parents themselves are looked at one by one.
4. `ready_since` is when a bead last lost its last blocker, was approved, was released or woke up; `rank` follows, and
   goes down by one each day after (`wake`), a part of those that wait at a time.
"""

import json
from collections.abc import Iterable, Mapping
from sqlite3 import Row
from typing import Any

from ...db import rows
from ...db.database import Database
from ...db.database import row as row_of
from ...db.fast import CLAIMABLE, CLOSES_OFF, DUE, EPIC_COMPLETE, RISING, WAITS
from ...errors import NoSuchBead, NotAllowed
from ...review.journal import is_landing, may_land
from ..graph import rank, rises_at
from ..model import CLOSED, Bead, Outcome, Role, Status
from . import levels


def refuse_while_it_lands(db: Database, bead: str, status: Status) -> None:
    """NotAllowed when the bead's review is about to move main, has moved it, or was stopped before it knew: what is
    on main is done.
    """
    if status not in (Status.REVIEWING, Status.NEEDS_REVIEW):
        return
    last = "SELECT data, outcome FROM attempts WHERE bead = ? AND role = ? ORDER BY id DESC LIMIT 1"
    row = db.maybe(last, (bead, Role.REVIEWER.value))
    data, outcome = (json.loads(row[0]), row[1]) if row is not None else ({}, None)
    if status is Status.NEEDS_REVIEW:
        if outcome != Outcome.INTERRUPTED.value or not may_land(data):
            return
        raise NotAllowed(
            f"it is not known whether bead {bead} is on main: its review was stopped before the remote had answered",
            "Start nobrakes again: it asks the remote, and finishes the merge or lets you say this again.",
        )
    if is_landing(data):
        raise NotAllowed(
            f"too late: bead {bead} is being merged, or is on main already",
            "Let nobrakes finish the merge; then `nobrakes undo` takes it back by the number of its event.",
        )


_STATE = f"""SELECT id, status, type, priority, epic, estimate, held, asleep, open_blockers, children, ready_since,
{CLOSES_OFF} AS closes_off, assignee, ({CLAIMABLE}) AS is_claimable FROM beads WHERE id = ?"""

RISE_AT_ONCE = 1000
"""Beads that rise in one transaction: 20 ms."""

_RISING = f"""SELECT priority, ready_since, id FROM beads
WHERE id IN ({RISING} ORDER BY rises_at LIMIT {RISE_AT_ONCE})"""
_NEXT = f"""SELECT (SELECT min(defer_until) FROM beads WHERE asleep = 1),
(SELECT min(retry_at) FROM beads WHERE resting = 1),
(SELECT rises_at FROM beads INDEXED BY beads_rising WHERE {WAITS} ORDER BY rises_at LIMIT 1),
EXISTS (SELECT 1 FROM beads INDEXED BY beads_complete WHERE {EPIC_COMPLETE}),
EXISTS (SELECT 1 FROM beads INDEXED BY beads_status WHERE status = 'landed'),
{levels.IS_DUE}"""
"""The next moments at which something is let in, or rises, whether an epic is complete, whether a bead is on the branch
of one, and whether levels lag: asked in each look, and mostly nothing is due. It names no moment, so its answer may
hold for a while.
"""
_NEXT_SOURCES = ("beads", *levels.DUE_SOURCES)
_RISE = "UPDATE beads SET rank = ?, rises_at = ? WHERE id = ?"

_SHIFT = """UPDATE beads SET open_blockers = open_blockers + :by,
ready_since = CASE WHEN open_blockers + :by = 0 THEN :now ELSE ready_since END,
rank = CASE WHEN open_blockers + :by = 0 THEN priority ELSE rank END,
rises_at = CASE WHEN open_blockers + :by = 0 THEN :next ELSE rises_at END"""

_NOT_OPEN = frozenset((Status.DRAFT, Status.LANDED, *CLOSED))
_OTHERS_HANG_ON = frozenset(("held", "asleep", "type", "estimate"))
"""What of a bead others hang on, beside whether it is a draft or closed."""

_ARE_DEPENDENTS = "id IN (SELECT bead FROM edges WHERE needs = :id AND type = 'blocks')"
_HAS_DEPENDENTS = "SELECT 1 FROM edges WHERE needs = ? AND type = 'blocks' LIMIT 1"
_INSIDE = f"{_ARE_DEPENDENTS} AND epic = :epic"
_OUTSIDE = f"{_ARE_DEPENDENTS} AND epic IS NOT :epic"
_ARE_CHILDREN = "epic = :id"

_LANDED_BEFORE = """SELECT count(*) FROM edges JOIN beads ON beads.id = edges.needs
WHERE edges.bead = :bead AND edges.type = 'blocks' AND beads.status = 'landed' AND beads.epic = :epic"""
"""How many of a bead's blockers have landed on the branch of that epic."""


def state(db: Database, bead: str) -> Row:
    """The columns that decide about others; NoSuchBead."""
    row = db.maybe(_STATE, (bead,), row_of("beads", bead))
    if row is None:
        raise NoSuchBead(f"there is no bead '{bead[:80]}'")
    return row


def get_bead(db: Database, bead_id: str) -> Bead:
    """One bead, whole; NoSuchBead."""
    row = db.maybe(f"{rows.BEAD} WHERE id = ?", (bead_id,), row_of("beads", bead_id) + row_of("bead_text", bead_id))
    if row is None:
        raise NoSuchBead(f"there is no bead '{bead_id[:80]}'")
    return rows.bead(row)


def is_closed(status: str) -> bool:
    """Whether the bead is done or cancelled."""
    return status in CLOSED


def is_finished_for(db: Database, blocker: str, bead: str) -> bool:
    """Whether the bead does not wait for the blocker (any more)."""
    it = state(db, blocker)
    if it["status"] != Status.LANDED:
        return bool(it["status"] == Status.DONE)
    return it["epic"] is not None and it["epic"] == state(db, bead)["epic"]


def move(db: Database, bead: str, changes: Mapping[str, Any], now: float, known: Row | None = None) -> None:
    """Set state columns of one bead. `epic` has its own function, since the epic's counters hang on it.

    `known`: its `state`, read in this transaction.
    """
    assert "epic" not in changes, "use move_into"
    before = known or state(db, bead)
    values = dict(changes)
    if "defer_until" in values:
        values["asleep"] = int(values["defer_until"] is not None and values["defer_until"] > now)
    if "retry_at" in values:
        values["resting"] = int(values["retry_at"] is not None and values["retry_at"] > now)
    asleep = values.get("asleep", before["asleep"])
    wakes = before["asleep"] and not asleep
    released = before["held"] is not None and "held" in values and values["held"] is None
    status = values.get("status", before["status"])
    begins = before["status"] in (Status.DRAFT, *CLOSED) and status not in (Status.DRAFT, *CLOSED)
    since = now if wakes or released or begins else before["ready_since"]
    if since != before["ready_since"] or "priority" in values:  # what time alone changes is `wake`'s
        values["ready_since"] = since
        values["rank"] = rank(values.get("priority", before["priority"]), since, now)
        values["rises_at"] = rises_at(since, now)
    values["updated_at"] = now
    sets = ", ".join(f'"{name}" = :{name}' for name in values)
    db.run(f"UPDATE beads SET {sets} WHERE id = :id", {**values, "id": bead}, (f"beads {bead}",))
    if not _OTHERS_HANG_ON.isdisjoint(values) or before["status"] in _NOT_OPEN or status in _NOT_OPEN:
        _spread(db, before, state(db, bead), now)


def _spread(db: Database, before: Row, after: Row, now: float) -> None:
    """Tell those who hang on the bead what changed about it."""
    bead = after["id"]
    was_done, is_done = (row["status"] == Status.DONE for row in (before, after))
    was_landed, is_landed = (row["status"] == Status.LANDED for row in (before, after))
    if was_landed or is_landed:
        _shift_around(db, after, (was_done or was_landed) - (is_done or is_landed), now, _INSIDE)
        _shift_around(db, after, was_done - is_done, now, _OUTSIDE)
    elif was_done != is_done:
        by = -1 if is_done else 1
        if db.maybe(_HAS_DEPENDENTS, (bead,)) is not None:
            _shift(db, _ARE_DEPENDENTS, bead, by, now)
    if before["closes_off"] != after["closes_off"]:
        _shift(db, _ARE_CHILDREN, bead, after["closes_off"] - before["closes_off"], now)
    was_closed, is_now_closed = is_closed(before["status"]), is_closed(after["status"])
    if after["epic"] is not None and (was_closed, was_done) != (is_now_closed, is_done):
        db.run(
            "UPDATE beads SET open_children = open_children + ?, done_children = done_children + ? WHERE id = ?",
            (int(was_closed) - int(is_now_closed), int(is_done) - int(was_done), after["epic"]),
        )
    if was_closed != is_now_closed or any(before[c] != after[c] for c in ("type", "estimate")):
        levels.refresh(db, [bead])


def _shift_around(db: Database, row: Row, by: int, now: float, whose: str) -> None:
    """The same for those inside of the bead's epic, or outside of it."""
    if by:
        _shift(db, whose, row["id"], by, now, row["epic"])


def shift_one(db: Database, bead: str, by: int, now: float) -> None:
    """One bead got or lost a blocker."""
    _shift(db, "id = :id", bead, by, now)


def _shift(db: Database, whose: str, bead: str, by: int, now: float, epic: str | None = None) -> None:
    """Change open_blockers of some beads, then of the children of those that closed off or opened by it."""
    todo = [(whose, bead, by)]
    while todo:
        whose, bead, by = todo.pop()
        parents = f"SELECT id, {CLOSES_OFF} AS closes_off FROM beads WHERE children > 0 AND {whose}"
        before = db.all(parents, {"id": bead, "epic": epic})
        values = {"id": bead, "epic": epic, "by": by, "now": now, "next": rises_at(now, now)}
        db.run(f"{_SHIFT} WHERE {whose}", values)
        for row in before:
            if changed := state(db, row["id"])["closes_off"] - row["closes_off"]:
                todo.append((_ARE_CHILDREN, row["id"], changed))


def move_into(db: Database, bead: str, epic: str | None, now: float) -> None:
    """Set the bead's epic, with the counters of the old and the new one. NotAllowed where it is on the branch of the
    old one.
    """
    own = state(db, bead)
    if own["epic"] == epic:
        return
    if own["status"] == Status.LANDED and own["epic"] is not None:
        raise NotAllowed(
            f"bead {bead} has landed on the branch of {own['epic']}, and cannot leave it",
            f"Wait until the pull request of {own['epic']} is merged.",
        )
    refuse_while_it_lands(db, bead, Status(own["status"]))
    closed, done = is_closed(own["status"]), own["status"] == Status.DONE
    by = 0
    for parent, sign in ((own["epic"], -1), (epic, 1)):
        if parent is None:
            continue
        by += sign * (state(db, parent)["closes_off"] - db.one(_LANDED_BEFORE, {"bead": bead, "epic": parent})[0])
        db.run(
            "UPDATE beads SET children = children + ?, open_children = open_children + ?, "
            "done_children = done_children + ? WHERE id = ?",
            (sign, sign * (not closed), sign * done, parent),
        )
    db.run("UPDATE beads SET epic = ?, updated_at = ? WHERE id = ?", (epic, now, bead))
    if by:
        shift_one(db, bead, by, now)
    levels.refresh(db, [b for b in (bead, own["epic"], epic) if b is not None])


def wake(db: Database, now: float) -> None:
    """Let in what was deferred or had to wait before a retry, now that its time has come. Begins its own write.

    Who asks also settles a part of the levels that are due, and lets a part of those rise that have waited a day.
    """
    deferral, retry, rises, _, _, lags = db.one(_NEXT, (), _NEXT_SOURCES)
    if lags:
        levels.settle_some(db)
    if rises is not None and rises <= now:
        with db.write(derived=True):
            rising = db.all(_RISING, {"now": now})
            ranks = [(rank(urgent, since, now), rises_at(since, now), bead) for urgent, since, bead in rising]
            db.run_many(_RISE, ranks)
    if all(moment is None or moment > now for moment in (deferral, retry)):
        return
    with db.write(derived=True):
        for row in db.all(DUE, {"now": now}):
            move(db, row["id"], {"asleep": 0} if row["asleep"] else {"resting": 0}, now)


def next_due(db: Database) -> tuple[float | None, float | None, bool, bool]:
    """The earliest deferral and the earliest retry that lie ahead, whether an epic is complete already, and whether a
    bead has landed on the branch of one.
    """
    row = db.one(_NEXT, (), _NEXT_SOURCES)
    return row[0], row[1], bool(row[3]), bool(row[4])


def set_texts(db: Database, bead: str, values: Mapping[str, Any]) -> None:
    """Set columns of `bead_text`."""
    if values:
        sets = ", ".join(f'"{name}" = :{name}' for name in values)
        rows = (f"bead_text {bead}",) if values.keys() == {"close_reason"} else ()  # of which only its bead tells
        db.run(f"UPDATE bead_text SET {sets} WHERE id = :id", {**values, "id": bead}, rows)


def require(db: Database, beads: Iterable[str]) -> None:
    """NoSuchBead for the first that does not exist."""
    for bead in beads:
        if db.maybe("SELECT 1 FROM beads WHERE id = ?", (bead,)) is None:
            raise NoSuchBead(f"there is no bead '{bead[:80]}'")
