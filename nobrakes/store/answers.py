"""How questions are answered: exactly once, taken back until somebody acts by the answer, and since then no more.

1. Who is given an answer acts by it (`read_at`, an event): an attempt when what it begins with is journaled, an agent
   when it reads it. An answer that was taken back was never read, and whoever was to begin with it does not.
2. A question that is open again stops its bead as it did, and asks again. The bead's failures stay forgiven.
3. Answers that were given before a version knew who read them count as read.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ..core.beads.bead import CLOSED, Status
from ..core.beads.escalations import STOPS_BEAD, Escalation
from ..core.beads.events import Kind
from ..core.beads.lifecycle import advance
from ..core.errors import NoSuchEscalation, NotAllowed
from ..core.sessions.session import State
from . import escalations, events, rows
from .beads import landing, moves, transitions
from .beads.planning import bead as whole_bead
from .database import Database
from .forge import reviews as findings
from .sessions import conversations


def answer(db: Database, number: int, text: str, actor: str, value: Any = None, to: Status | None = None) -> Escalation:
    """Answer and resolve, exactly once; the bead goes back to `to`, or to where it was."""
    now = db.now()
    with db.write():
        escalations.open_row(db, number)
        kept = None if value is None else rows.as_json(value)
        db.run(
            "UPDATE escalations SET answer = ?, value = ?, answered_at = ?, read_at = NULL WHERE id = ?",
            (text, kept, now, number),
        )
        row = escalations.open_row(db, number)
        told = {"escalation": number, "answer": text}
        events.append(db, now, Kind.ANSWERED, row["bead"], actor, told, row["attempt"])
        escalations.settle(db, row, "answered", actor, to, now)
    return escalations.escalation(db, number)


def act_by(db: Database, answers: Mapping[int, str], actor: str, attempt: int | None) -> bool:
    """Note that somebody acts by these answers, as they were given."""
    now = db.now()
    with db.write():
        standing = [(_standing(db, number, given), number) for number, given in answers.items()]
        if any(row is None for row, _ in standing):
            return False
        for row, number in standing:
            if row is not None and row["read_at"] is None:
                db.run("UPDATE escalations SET read_at = ? WHERE id = ?", (now, number))
                events.append(db, now, Kind.ANSWER_READ, row["bead"], actor, {"escalation": number}, attempt)
    return True


def _standing(db: Database, number: int, given: str) -> Any:
    sql = "SELECT bead, read_at FROM escalations WHERE id = ? AND answer = ? AND resolved_at IS NOT NULL"
    return db.maybe(sql, (number, given))


def take_back(db: Database, number: int, actor: str) -> Escalation:
    """Open the question again; NotAllowed where somebody acts by the answer, or it is past."""
    now = db.now()
    with db.write():
        row = db.maybe("SELECT * FROM escalations WHERE id = ?", (number,))
        if row is None:
            raise NoSuchEscalation(f"there is no escalation {number}")
        _refuse_what_is_past(db, row)
        db.run(
            "UPDATE escalations SET answer = NULL, value = NULL, answered_at = NULL, resolved_at = NULL, "
            "resolution = '' WHERE id = ?",
            (number,),
        )
        data = {"escalation": number, "answer": row["answer"]}
        events.append(db, now, Kind.ANSWER_TAKEN_BACK, row["bead"], actor, data)
        findings.reopen(db, number)
        if row["session"] is not None and not conversations.take_back(db, row["session"], number):
            raise _is_read(db, row)
        if row["type"] in STOPS_BEAD:
            _stop_again(db, row, actor, now)
    return escalations.escalation(db, number)


def _refuse_what_is_past(db: Database, row: Any) -> None:
    number = row["id"]
    if row["resolved_at"] is None:
        raise NotAllowed(f"escalation {number} has no answer to take back", "It is open: answer it.")
    if row["answer"] is None:
        why = "it was decided without an answer, or its bead was"
        raise NotAllowed(f"escalation {number} has no answer to take back: {why}")
    if row["read_at"] is not None:
        raise _is_read(db, row)
    if row["session"] is not None and conversations.session(db, row["session"]).state is State.ENDED:
        raise NotAllowed(
            f"the answer to escalation {number} is past: session {row['session']}, which asked, has ended",
            f"`nobrakes session show {row['session']}` shows what was said in it.",
        )
    same = db.maybe("SELECT id FROM escalations WHERE fingerprint = ? AND resolved_at IS NULL", (row["fingerprint"],))
    if same is not None:
        raise NotAllowed(f"the same is asked again since, as escalation {same[0]}", "Answer that one.")
    if row["bead"] is None:
        return
    bead = whole_bead(db, row["bead"])
    if bead.status in CLOSED or bead.status is Status.REVIEWING:
        raise NotAllowed(
            f"the answer to escalation {number} is past: bead {bead.id} is {bead.status.value}",
            f"`nobrakes history {bead.id}` tells what happened since.",
        )
    landing.refuse_while_it_lands(db, bead.id, bead.status)


def _is_read(db: Database, row: Any) -> NotAllowed:
    """Since when who acts by the answer."""
    last = "SELECT actor FROM events WHERE kind = ? AND bead IS ? AND json_extract(data, '$.escalation') = ?"
    found = db.maybe(f"{last} ORDER BY seq DESC LIMIT 1", (Kind.ANSWER_READ.value, row["bead"], row["id"]))
    since = datetime.fromtimestamp(row["read_at"], UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    return NotAllowed(
        f"too late: {found[0] if found else 'an agent'} acts by the answer to escalation {row['id']} since {since}",
        f"Add what is to be different to the bead: `nobrakes edit {row['bead']} --notes …`." if row["bead"] else "",
    )


def _stop_again(db: Database, row: Any, actor: str, now: float) -> None:
    if row["bead"] is not None:
        bead = whole_bead(db, row["bead"])
        move = advance(bead, Kind.ESCALATED)
        if move.status is not bead.status:
            moves.move(db, bead.id, transitions.columns(move), now)
        if move.status is Status.ESCALATED:
            escalations.remember(db, bead.id, move)
    told = {"escalation": row["id"], "type": row["type"], "title": row["title"]}
    if row["session"] is not None:
        told["session"] = row["session"]
    if row["form"]:
        told["form"] = json.loads(row["form"])
    events.append(db, now, Kind.ESCALATED, row["bead"], actor, told)
