"""The one place where a bead's state and its effects on others change, in the caller's transaction.

1. `move` sets columns of one bead and updates every counter: of those it blocks, of its children, of its epic.
2. open_blockers = unfinished `blocks` dependencies, + 1 if the parent closes its children off. Inside an epic a bead
   landed on its branch counts as done.
3. Fan-out is one UPDATE; only parents are handled one by one.
4. `ready_since`: when a bead last lost its last blocker, was approved, released or woke up; `rank` falls by one each
   day after (`wake`), in parts. `freed_at`: when its last blocker was done.
"""

import json
from collections.abc import Iterable, Mapping
from sqlite3 import Row
from typing import Any

from ...db import rows
from ...db.database import Database
from ...db.database import row as row_of
from ...db.fast import CLAIMABLE, CLOSES_OFF, DUE, EPIC_COMPLETE, RISING, WAITS
from ...decisions.model import STOPS_BEAD
from ...errors import NoSuchBead, NotAllowed
from ...events import db as events_db
from ...events.kinds import MERGES, Event, Kind
from ...review.journal import is_landing, may_land
from ..graph import rank, rises_at
from ..lifecycle import MOVING, STAYS, TABLE, Facts, Move, advance
from ..model import CLOSED, FIELDS, WORKING, Bead, Outcome, Role, Status
from . import levels


def refuse_while_it_lands(db: Database, bead: str, status: Status) -> None:
    """NotAllowed if the bead's review moves main, has moved it, or stopped before it knew: no merge is undone here."""
    if status not in (Status.REVIEWING, Status.NEEDS_REVIEW):
        return
    last = "SELECT data, outcome FROM attempts WHERE bead = ? AND role = ? ORDER BY id DESC LIMIT 1"
    row = db.maybe(last, (bead, Role.REVIEWER.value))
    data, outcome = (json.loads(row[0]), row[1]) if row is not None else ({}, None)
    if status is Status.NEEDS_REVIEW:
        if outcome != Outcome.INTERRUPTED.value or not may_land(data):
            return
        raise NotAllowed(
            f"nobrakes does not know whether bead {bead} is on main: its review stopped before the remote answered",
            "Start nobrakes again; nobrakes then asks the remote. If the bead is not on main, repeat this command.",
        )
    if is_landing(data):
        raise NotAllowed(
            f"too late: bead {bead} is being merged, or is on main already",
            "Let nobrakes finish the merge; then undo the merge with `nobrakes undo NUMBER`.",
        )


_DERIVED = f"asleep, open_blockers, children, ready_since, {CLOSES_OFF} AS closes_off, ({CLAIMABLE}) AS is_claimable"
_STATE = f"""SELECT id, status, type, priority, epic, estimate, held, assignee, {_DERIVED} FROM beads WHERE id = ?"""
_WITH_STATE = rows.BEAD.replace("\nFROM", f", {_DERIVED}\nFROM") + " WHERE id = ?"

RISE_BATCH = 1000
"""Beads that rise in one transaction: 20 ms."""

_RISING = f"""SELECT priority, ready_since, id FROM beads
WHERE id IN ({RISING} ORDER BY rises_at LIMIT {RISE_BATCH})"""
_NEXT = f"""SELECT (SELECT min(defer_until) FROM beads WHERE asleep = 1),
(SELECT min(retry_at) FROM beads WHERE resting = 1),
(SELECT rises_at FROM beads INDEXED BY beads_rising WHERE {WAITS} ORDER BY rises_at LIMIT 1),
EXISTS (SELECT 1 FROM beads INDEXED BY beads_complete WHERE {EPIC_COMPLETE}),
EXISTS (SELECT 1 FROM beads INDEXED BY beads_status WHERE status = 'landed'),
{levels.IS_DUE}"""
"""The next times at which something wakes or rises; whether an epic is complete, a bead is on an epic's branch, or
levels lag. It contains no present time, so its answer can be cached."""
_NEXT_SOURCES = ("beads", *levels.DUE_SOURCES)
_RISE = "UPDATE beads SET rank = ?, rises_at = ? WHERE id = ?"

_SHIFT = """UPDATE beads SET open_blockers = open_blockers + :by,
freed_at = CASE WHEN open_blockers + :by = 0 THEN coalesce(:freed, freed_at) ELSE freed_at END,
ready_since = CASE WHEN open_blockers + :by = 0 THEN :now ELSE ready_since END,
rank = CASE WHEN open_blockers + :by = 0 THEN priority ELSE rank END,
rises_at = CASE WHEN open_blockers + :by = 0 THEN :next ELSE rises_at END"""

_NOT_OPEN = frozenset((Status.DRAFT, Status.LANDED, *CLOSED))
_OTHERS_HANG_ON = frozenset(("held", "asleep", "type", "estimate"))
"""Fields that affect other beads, beside draft and closed."""

_ARE_DEPENDENTS = "id IN (SELECT bead FROM edges WHERE needs = :id AND type = 'blocks')"
_HAS_DEPENDENTS = "SELECT 1 FROM edges WHERE needs = ? AND type = 'blocks' LIMIT 1"
_INSIDE = f"{_ARE_DEPENDENTS} AND epic = :epic"
_OUTSIDE = f"{_ARE_DEPENDENTS} AND epic IS NOT :epic"
_ARE_CHILDREN = "epic = :id"

_LANDED_BEFORE = """SELECT count(*) FROM edges JOIN beads ON beads.id = edges.needs
WHERE edges.bead = :bead AND edges.type = 'blocks' AND beads.status = 'landed' AND beads.epic = :epic"""


def state(db: Database, bead: str) -> Row:
    """Raises NoSuchBead."""
    if (row := db.maybe(_STATE, (bead,), row_of("beads", bead))) is None:
        raise NoSuchBead(f"there is no bead '{bead[:80]}'")
    return row


def get_bead(db: Database, bead_id: str) -> Bead:
    """Raises NoSuchBead."""
    return bead_with_state(db, bead_id)[0]


def bead_with_state(db: Database, bead_id: str) -> tuple[Bead, Row]:
    """A bead, and its `state`. Raises NoSuchBead."""
    row = db.maybe(_WITH_STATE, (bead_id,), row_of("beads", bead_id) + row_of("bead_text", bead_id))
    if row is None:
        raise NoSuchBead(f"there is no bead '{bead_id[:80]}'")
    return rows.bead(tuple(row)[: len(FIELDS)]), row


def is_closed(status: str) -> bool:
    return status in CLOSED


def is_finished_for(db: Database, blocker: str, bead: str) -> bool:
    """Whether the bead no longer waits for the blocker."""
    it = state(db, blocker)
    if it["status"] != Status.LANDED:
        return bool(it["status"] == Status.DONE)
    return it["epic"] is not None and it["epic"] == state(db, bead)["epic"]


def move(db: Database, bead: str, changes: Mapping[str, Any], now: float, known: Row | None = None) -> None:
    """Set state columns of one bead, but not `epic`, whose counters follow. `known`: its `state` read in this write."""
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
    sets = ", ".join(["updated_at = max(:now, created_at)", *(f'"{name}" = :{name}' for name in values)])
    db.run(f"UPDATE beads SET {sets} WHERE id = :id", {**values, "id": bead, "now": now}, (f"beads {bead}",))
    if not _OTHERS_HANG_ON.isdisjoint(values) or before["status"] in _NOT_OPEN or status in _NOT_OPEN:
        _spread(db, before, state(db, bead), now)


def _spread(db: Database, before: Row, after: Row, now: float) -> None:
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
    if by:
        _shift(db, whose, row["id"], by, now, row["epic"])


def shift_one(db: Database, bead: str, by: int, now: float) -> None:
    _shift(db, "id = :id", bead, by, now)


def _shift(db: Database, whose: str, bead: str, by: int, now: float, epic: str | None = None) -> None:
    """Change open_blockers, then those of children that this closes off or opens."""
    todo = [(whose, bead, by)]
    freed = now if _ARE_DEPENDENTS in whose else None
    while todo:
        whose, bead, by = todo.pop()
        parents = f"SELECT id, {CLOSES_OFF} AS closes_off FROM beads WHERE children > 0 AND {whose}"
        before = db.all(parents, {"id": bead, "epic": epic})
        values = {"id": bead, "epic": epic, "by": by, "now": now, "freed": freed, "next": rises_at(now, now)}
        db.run(f"{_SHIFT} WHERE {whose}", values)
        for row in before:
            if changed := state(db, row["id"])["closes_off"] - row["closes_off"]:
                todo.append((_ARE_CHILDREN, row["id"], changed))


def move_into(db: Database, bead: str, epic: str | None, now: float) -> None:
    """Set the bead's epic and both epics' counters. NotAllowed while it is on the old epic's branch."""
    own = state(db, bead)
    if own["epic"] == epic:
        return
    if own["status"] == Status.LANDED and own["epic"] is not None:
        raise NotAllowed(
            f"bead {bead} is merged into the branch of {own['epic']}, so it cannot leave this epic",
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
    db.run("UPDATE beads SET epic = ?, updated_at = max(?, created_at) WHERE id = ?", (epic, now, bead))
    if by:
        shift_one(db, bead, by, now)
    levels.refresh(db, [b for b in (bead, own["epic"], epic) if b is not None])


def wake(db: Database, now: float) -> None:
    """Let in deferred and retrying beads whose time has come; settle some due levels, let some waiting beads rise."""
    deferral, retry, rises, _, _, lags = db.one(_NEXT, (), _NEXT_SOURCES)
    if lags:
        levels.update_some(db)
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
    """The next deferral and retry, whether an epic is complete, and whether a bead is on an epic's branch."""
    row = db.one(_NEXT, (), _NEXT_SOURCES)
    return row[0], row[1], bool(row[3]), bool(row[4])


def set_texts(db: Database, bead: str, values: Mapping[str, Any]) -> None:
    if values:
        sets = ", ".join(f'"{name}" = :{name}' for name in values)
        rows = (f"bead_text {bead}",) if values.keys() == {"close_reason"} else ()  # of which only its bead tells
        db.run(f"UPDATE bead_text SET {sets} WHERE id = :id", {**values, "id": bead}, rows)


def require(db: Database, beads: Iterable[str]) -> None:
    """Raises NoSuchBead for the first missing bead."""
    for bead in beads:
        if db.maybe("SELECT 1 FROM beads WHERE id = ?", (bead,)) is None:
            raise NoSuchBead(f"there is no bead '{bead[:80]}'")


# `record`: an event moves its bead by the lifecycle table, and both are written at once.
#
# 1. A kind that the table does not know for the bead's status moves nothing and writes nothing.
# 2. Only a claim brings a bead into work (attempts.py). Whatever takes it out of work here ends the open attempt
#    and raises the fence, so the agent's token is stale.
# 3. A review that moves main at this moment, or has moved it, can no longer be taken: NotAllowed.
# 4. A bead that is closed remembers where it was, and what it still asked of people is settled. When that is taken back
#    it asks again, and waits for the answer as before.
# 5. A bead that is opened again keeps `merged_commit`: that merge is over, and a rebuilt database must know it.

_STOPPING = tuple(sorted(type_.value for type_ in STOPS_BEAD))
# a person decided what stopped the bead, or did it; suggestions stay open while the bead is live
_SENT_ON = (Kind.RESOLVED, Kind.HANDED_IN)
_OPENING = (Kind.UNDONE, Kind.REOPENED, Kind.REVERTED)


def record(db: Database, event: Event) -> Bead | None:
    """Append the event; a moving kind advances its bead by the table, unless NotAllowed. `data`: held {reason} /
    released, deferred {until}, resolved {to}. A person's cancel or done_by_hand also ends an open attempt (cancelled)
    and raises the fence; NotAllowed while the bead's review moves main or has moved it."""
    now = db.now()
    if event.kind in _OPENING and not db.connection.in_transaction:
        levels.update_all(db)  # due levels could not bound the search for a circle
    is_quiet = event.kind.is_quiet and event.kind not in (*MOVING, *_COMMENTS)
    if event.bead is not None and is_quiet and db.can_write_alone:
        found = get_bead(db, event.bead)
        db.guard()
        events_db.append(db, now, event.kind, event.bead, event.actor, event.data, event.attempt)
        return found
    with db.write():
        if event.bead is None:
            events_db.append(db, now, event.kind, None, event.actor, event.data, event.attempt)
            return None
        bead = get_bead(db, event.bead)
        changes: dict[str, Any] = {}
        data = dict(event.data)
        attempt = event.attempt
        if event.kind in MOVING and TABLE[bead.status].get(event.kind) != STAYS:
            asked = _ask_again(db, bead) if event.kind is Kind.UNDONE and bead.status in CLOSED else []
            stopped = event.kind in (Kind.TAKEN, Kind.REVIEW_REJECTED) and has_stopping(db, bead.id)
            changes = moved(db, bead, event.kind, event.data, now, is_asked=bool(asked) or stopped)
            if event.kind is not Kind.FOUND_MERGED:  # which is of main, and no wish of a person
                refuse_while_it_lands(db, bead.id, bead.status)
            data |= {"before": bead.status.value, "return_to": bead.return_to and bead.return_to.value}
            if asked and changes["status"] == Status.ESCALATED:
                data["asked"] = asked
            if bead.status in WORKING:
                attempt = end_open_attempt(db, bead, event.kind.value, now)
                # should the step be taken back, the next attempt goes on with what this one had
                kept = event.kind is not Kind.FOUND_MERGED
                changes |= {"assignee": None, "lease_until": None, "fence": bead.fence + 1, "branch_kept": kept}
            if event.kind is Kind.TAKEN:
                changes |= _held(event)
            if stopped:
                remember(db, bead.id, changes["return_to"])
        elif event.kind in _COMMENTS:
            changes = _COMMENTS[event.kind](event)
            data |= _before(bead, event.kind)
        events_db.append(db, now, event.kind, bead.id, event.actor, data, attempt)
        if changes:
            apply(db, bead, changes, now)
        return get_bead(db, bead.id)


def _before(bead: Bead, kind: Kind) -> dict[str, Any]:
    if kind is Kind.TAKEN:
        return {"before": bead.status.value, "return_to": bead.return_to and bead.return_to.value}
    return {"before": bead.defer_until if kind is Kind.DEFERRED else bead.held}


def _held(event: Event) -> dict[str, Any]:
    return {"held": str(event.data.get("reason") or "no reason given")[:2000]}


def _deferred(event: Event) -> dict[str, Any]:
    until = event.data.get("until")
    return {"defer_until": None if until is None else float(until)}


_COMMENTS = {
    Kind.HELD: _held,
    Kind.RELEASED: lambda event: {"held": None},
    Kind.DEFERRED: _deferred,
    Kind.RETRIED: lambda event: {"failures": 0, "retry_at": None},
    Kind.TAKEN: _held,  # of a bead that waits, or is asked about
}


def moved(db: Database, bead: Bead, kind: Kind, data: Any, now: float, *, is_asked: bool = False) -> dict[str, Any]:
    """The columns that change when `kind` moves the bead. Raises NotAllowed, Deadlock."""
    to = data.get("to")
    move = advance(bead, kind, Facts(None if to is None else str(to), is_asked))
    if move.status in WORKING:
        raise NotAllowed(f"only the daemon can start work on bead {bead.id}", "Type `nobrakes daemon start`.")
    if kind is Kind.EPIC_COMPLETED and state(db, bead.id)["children"]:
        row = db.one("SELECT open_children FROM beads WHERE id = ?", (bead.id,))
        if row[0]:
            raise NotAllowed(f"epic {bead.id} has {row[0]} open children", f"`nobrakes show {bead.id}` names them.")
    changes = columns(move) | _closing(bead, kind, move.status, data, now)
    if bead.status in CLOSED and move.status not in CLOSED:
        from .graph_writes import open_again  # rare, and the daemon loads all that plans for nothing else

        open_again(db, bead.id, move.status, is_fact=kind is Kind.REVERTED)
    if kind in _SENT_ON:
        changes |= {"failures": 0, "retry_at": None}
    if kind in (*_SENT_ON, Kind.CANCELLED, Kind.DONE_BY_HAND, Kind.FOUND_MERGED):
        only = f" AND type IN ({', '.join('?' * len(_STOPPING))})" if kind in _SENT_ON else ""
        db.run(
            f"UPDATE escalations SET resolved_at = ?, resolution = ? WHERE bead = ? AND resolved_at IS NULL{only}",
            (now, kind.value, bead.id, *(_STOPPING if only else ())),
        )
    return changes


def columns(move: Move) -> dict[str, Any]:
    return {"status": move.status.value, "return_to": move.return_to and move.return_to.value}


def _closing(bead: Bead, kind: Kind, status: Status, data: Any, now: float) -> dict[str, Any]:
    if status in CLOSED:
        reason = str(data.get("reason") or kind.value.replace("_", " "))[:8000]
        changes = {"closed_at": now, "close_reason": reason, "retry_at": None}
        if kind is Kind.FOUND_MERGED:
            changes |= {"branch_kept": False}
        if kind in MERGES and data.get("merged_commit"):
            changes["merged_commit"] = data["merged_commit"]
        return changes
    if bead.status in CLOSED:
        opened = {"closed_at": None, "close_reason": ""}
        return opened if kind is Kind.UNDONE else opened | {"failures": 0, "branch_kept": False}
    return {}


def apply(db: Database, bead: Bead, changes: dict[str, Any], now: float, known: Row | None = None) -> None:
    """`known` as for `move`."""
    set_texts(db, bead.id, {name: changes.pop(name) for name in ("close_reason",) if name in changes})
    move(db, bead.id, changes, now, known)


def end_open_attempt(db: Database, bead: Bead, why: str, now: float) -> int | None:
    """End the bead's open attempt as cancelled; returns its id."""
    if (row := db.maybe("SELECT id FROM attempts WHERE bead = ? AND outcome IS NULL", (bead.id,))) is None:
        return None
    ended = (Outcome.CANCELLED.value, now, why, row[0])
    db.run("UPDATE attempts SET outcome = ?, ended_at = ?, detail = ? WHERE id = ?", ended)
    return int(row[0])


def has_stopping(db: Database, bead: str, but: int = 0) -> bool:
    """Whether an open escalation other than `but` stops the bead."""
    if not may_be_asked(db, bead):
        return False
    marks = ", ".join("?" * len(_STOPPING))
    sql = f"SELECT 1 FROM escalations WHERE bead = ? AND resolved_at IS NULL AND id <> ? AND type IN ({marks})"
    return db.maybe(sql, (bead, but, *_STOPPING)) is not None


def may_be_asked(db: Database, bead: str) -> bool:
    """True also if only another query could tell."""
    if not db.keeps_answers:
        return True
    open_ = db.all("SELECT bead FROM escalations INDEXED BY escalations_open WHERE resolved_at IS NULL")
    return any(row[0] == bead for row in open_)


def remember(db: Database, bead: str, return_to: str | None) -> None:
    if return_to is not None:
        marks = ", ".join("?" * len(_STOPPING))
        db.run(
            f"UPDATE escalations SET return_to = ? WHERE bead = ? AND resolved_at IS NULL AND type IN ({marks})",
            (return_to, bead, *_STOPPING),
        )


def _ask_again(db: Database, bead: Bead) -> list[int]:
    """Reopen what the bead's close settled, by its timestamp; returns those that stop it."""
    settled = db.all(
        "SELECT id, type FROM escalations AS one WHERE bead = ? AND resolved_at = ? AND resolution IN (?, ?) "
        "AND NOT EXISTS (SELECT 1 FROM escalations AS other WHERE other.fingerprint = one.fingerprint "
        "AND other.resolved_at IS NULL) ORDER BY id",
        (bead.id, bead.closed_at, Kind.CANCELLED.value, Kind.DONE_BY_HAND.value),
    )
    for row in settled:
        db.run("UPDATE escalations SET resolved_at = NULL, resolution = '' WHERE id = ?", (row["id"],))
    return [row["id"] for row in settled if row["type"] in _STOPPING]
