"""`record`: an event moves its bead by the lifecycle table, and both are written at once.

1. A kind that the table does not know for the bead's status moves nothing and writes nothing.
2. Only a claim brings a bead into work (attempts.py). Whatever takes it out of work here ends the open attempt
   and raises the fence, so the agent's token is stale.
3. A review that moves main at this moment, or has moved it, is not taken away any more: NotAllowed.
4. A bead that is closed remembers where it was, and what it still asked of people is settled. When that is taken back
   it asks again, and waits for the answer as before.
5. A bead that is opened again keeps `merged_commit`: that merge is over, and a rebuilt database must know it.
"""

from typing import Any

from ...db.database import Database
from ...decisions.model import STOPS_BEAD
from ...errors import NotAllowed
from ...events import db as events_db
from ...events.kinds import MERGES, Event, Kind
from ..lifecycle import MOVING, STAYS, TABLE, Facts, Move, advance
from ..model import CLOSED, WORKING, Bead, Outcome, Status
from . import levels, moves
from .moves import get_bead, refuse_while_it_lands

_STOPPING = tuple(sorted(type_.value for type_ in STOPS_BEAD))
_SENT_ON = (Kind.RESOLVED, Kind.HANDED_IN)
"""A person decided what stopped the bead, or did it; suggestions are something else."""
_OPENING = (Kind.UNDONE, Kind.REOPENED, Kind.REVERTED)
"""What opens a closed bead again: whether it closes a circle is soon seen by the levels."""


def record(db: Database, event: Event) -> Bead | None:
    """Append the event; a moving kind advances its bead by the table. NotAllowed moves nothing.

    `data` keys with meaning: held {reason} / released, deferred {until}, resolved {to}. A person's
    cancel or done_by_hand also ends an open attempt (outcome cancelled) and raises the fence; it is NotAllowed
    while the bead's review moves main or has moved it.
    """
    now = db.now()
    if event.kind in _OPENING and not db.connection.in_transaction:
        levels.settle_all(db)
    is_quiet = event.kind.is_quiet and event.kind not in (*MOVING, *_REMARKS)
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
            stopped = event.kind is Kind.TAKEN and has_stopping(db, bead.id)
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
        elif event.kind in _REMARKS:
            changes = _REMARKS[event.kind](event)
            data |= _before(bead, event.kind)
        events_db.append(db, now, event.kind, bead.id, event.actor, data, attempt)
        if changes:
            apply(db, bead, changes, now)
        return get_bead(db, bead.id)


def _before(bead: Bead, kind: Kind) -> dict[str, Any]:
    """What a remark changes, as it was."""
    if kind is Kind.TAKEN:
        return {"before": bead.status.value, "return_to": bead.return_to and bead.return_to.value}
    return {"before": bead.defer_until if kind is Kind.DEFERRED else bead.held}


def _held(event: Event) -> dict[str, Any]:
    return {"held": str(event.data.get("reason") or "held")[:2000]}


def _released(event: Event) -> dict[str, Any]:
    return {"held": None}


def _deferred(event: Event) -> dict[str, Any]:
    until = event.data.get("until")
    return {"defer_until": None if until is None else float(until)}


def _retried(event: Event) -> dict[str, Any]:
    return {"failures": 0, "retry_at": None}


_REMARKS = {
    Kind.HELD: _held,
    Kind.RELEASED: _released,
    Kind.DEFERRED: _deferred,
    Kind.RETRIED: _retried,
    Kind.TAKEN: _held,  # of a bead that waits, or is asked about
}


def moved(db: Database, bead: Bead, kind: Kind, data: Any, now: float, *, is_asked: bool = False) -> dict[str, Any]:
    """The columns that change when `kind` moves the bead; NotAllowed, Deadlock."""
    to = data.get("to")
    move = advance(bead, kind, Facts(None if to is None else str(to), is_asked))
    if move.status in WORKING:
        raise NotAllowed(f"bead {bead.id} comes into work by a claim only", "Start the daemon; it assigns ready beads.")
    if kind is Kind.EPIC_COMPLETED and moves.state(db, bead.id)["children"]:
        row = db.one("SELECT open_children FROM beads WHERE id = ?", (bead.id,))
        if row[0]:
            raise NotAllowed(f"epic {bead.id} has {row[0]} open children", f"`nobrakes show {bead.id}` names them.")
    changes = columns(move) | _closing(bead, kind, move.status, data, now)
    if bead.status in CLOSED and move.status not in CLOSED:
        from .planning import open_again  # rare, and the daemon loads all that plans for nothing else

        open_again(db, bead.id, move.status, is_fact=kind is Kind.REVERTED)
    if kind in _SENT_ON:
        changes |= {"failures": 0, "retry_at": None}
    if kind in (*_SENT_ON, Kind.CANCELLED, Kind.DONE_BY_HAND, Kind.FOUND_MERGED):
        resolve_escalations(db, bead.id, kind, now)
    return changes


def columns(move: Move) -> dict[str, Any]:
    """A move, as it is written."""
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


def apply(db: Database, bead: Bead, changes: dict[str, Any], now: float) -> None:
    """Write columns of either table."""
    texts = {name: changes.pop(name) for name in ("close_reason",) if name in changes}
    moves.set_texts(db, bead.id, texts)
    moves.move(db, bead.id, changes, now)


def end_open_attempt(db: Database, bead: Bead, why: str, now: float) -> int | None:
    """End the bead's open attempt as cancelled; its number in the store."""
    row = db.maybe("SELECT id FROM attempts WHERE bead = ? AND outcome IS NULL", (bead.id,))
    if row is None:
        return None
    ended = (Outcome.CANCELLED.value, now, why, row[0])
    db.run("UPDATE attempts SET outcome = ?, ended_at = ?, detail = ? WHERE id = ?", ended)
    return int(row[0])


def resolve_escalations(db: Database, bead: str, kind: Kind, now: float) -> None:
    """What was asked about the bead is settled by what a person did with it; suggestions stay while it is live."""
    only = f" AND type IN ({', '.join('?' * len(_STOPPING))})" if kind in _SENT_ON else ""
    db.run(
        f"UPDATE escalations SET resolved_at = ?, resolution = ? WHERE bead = ? AND resolved_at IS NULL{only}",
        (now, kind.value, bead, *(_STOPPING if only else ())),
    )


def has_stopping(db: Database, bead: str, but: int = 0) -> bool:
    """Whether an open escalation stops the bead, apart from number `but`."""
    if not may_be_asked(db, bead):
        return False
    marks = ", ".join("?" * len(_STOPPING))
    sql = f"SELECT 1 FROM escalations WHERE bead = ? AND resolved_at IS NULL AND id <> ? AND type IN ({marks})"
    return db.maybe(sql, (bead, but, *_STOPPING)) is not None


def may_be_asked(db: Database, bead: str) -> bool:
    """Whether an open escalation may be about the bead; True where that would have to be asked for it alone."""
    if not db.keeps_answers:
        return True
    open_ = db.all("SELECT bead FROM escalations INDEXED BY escalations_open WHERE resolved_at IS NULL")
    return any(row[0] == bead for row in open_)


def remember(db: Database, bead: str, return_to: str | None) -> None:
    """Note on the open escalations of a bead that is stopped where it will return to."""
    if return_to is not None:
        marks = ", ".join("?" * len(_STOPPING))
        db.run(
            f"UPDATE escalations SET return_to = ? WHERE bead = ? AND resolved_at IS NULL AND type IN ({marks})",
            (return_to, bead, *_STOPPING),
        )


def _ask_again(db: Database, bead: Bead) -> list[int]:
    """Open again what the bead's close settled, which bears its moment; the numbers of those that stop it."""
    settled = db.all(
        "SELECT id, type FROM escalations AS one WHERE bead = ? AND resolved_at = ? AND resolution IN (?, ?) "
        "AND NOT EXISTS (SELECT 1 FROM escalations AS other WHERE other.fingerprint = one.fingerprint "
        "AND other.resolved_at IS NULL) ORDER BY id",
        (bead.id, bead.closed_at, Kind.CANCELLED.value, Kind.DONE_BY_HAND.value),
    )
    for row in settled:
        db.run("UPDATE escalations SET resolved_at = NULL, resolution = '' WHERE id = ?", (row["id"],))
    return [row["id"] for row in settled if row["type"] in _STOPPING]
