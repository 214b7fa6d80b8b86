"""Turns of sessions: begun by exactly one of many, ended by exactly one.

1. A turn that begins takes all that waits to be said, in the transaction that opens it.
2. An end is guarded by "not ended": whoever comes too late gets Stale and has changed nothing.
3. A token is "s<turn>.<session>.<secret>". It speaks for the turn while that is open, and for nothing else.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...core.beads.events import Kind
from ...core.beads.outcomes import Outcome
from ...core.errors import NobrakesError, Stale
from ...core.limits.breaker import Breaker
from ...core.owners import of_session
from ...core.sessions.session import Fact, Message, Session, SessionKind, State, Turn
from .. import events, rows
from ..conditions import DID
from ..database import Database, Row
from ..machine import spending, sums
from ..tokens import turn_of
from . import conversations

CUT_OFF = "cut_off"
"""In a session's data: how the turn ended that its agent had begun and could not finish."""


def open_turn(db: Database, secret: Callable[[], str], number: int) -> tuple[Turn, Sequence[Message]] | None:
    """Begin the next turn of a session that is ready; None: it is not."""
    now = db.now()
    with db.write():
        one = conversations.session(db, number)
        if one.state is not State.READY or number in conversations.held(db):
            return None  # its feature may have been paused since somebody looked
        disputed = db.one("SELECT disputed FROM sessions WHERE id = ?", (number,))[0]
        count = 1 + (db.one("SELECT max(number) FROM turns WHERE session = ?", (number,))[0] or 0)
        values = {
            "session": number,
            "number": count,
            "token": "",
            "resumes": one.begun and one.provider_session is not None and not disputed,
            "provider": one.provider,
            "started_at": now,
            "detail": "",
            "cost_usd": 0.0,
            "tokens": 0,
            "data": "{}",
        }
        made = db.insert("turns", values)
        db.run("UPDATE turns SET token = ? WHERE id = ?", (f"s{made}.{number}.{secret()}", made))
        db.run("UPDATE messages SET turn = ? WHERE session = ? AND turn IS NULL", (made, number))
        _acts_by(db, made, number, now)
        conversations.move(db, one, Fact.STARTED, now, retry_at=None, stop_asked=False)
        told = {"session": number, "turn": count, "agent": one.agent, "model": one.model}
        seq = events.append(db, now, Kind.TURN_STARTED, None, "nobrakes", told)
        db.run("UPDATE turns SET data = ? WHERE id = ?", (rows.as_json({"seq": seq}), made))
        return turn(db, made), told_to(db, made)


def _acts_by(db: Database, made: int, number: int, now: float) -> None:
    """The turn acts by the answers that it was given: nobody takes them back any more."""
    unread = """SELECT id FROM escalations WHERE read_at IS NULL
    AND id IN (SELECT escalation FROM messages WHERE turn = ? AND escalation IS NOT NULL) ORDER BY id"""
    for row in db.all(unread, (made,)):
        db.run("UPDATE escalations SET read_at = ? WHERE id = ?", (now, row["id"]))
        told = {"escalation": row["id"]}
        events.append(db, now, Kind.ANSWER_READ, None, f"Session {number}", told)


def told_to(db: Database, made: int) -> list[Message]:
    """What the turn was given to say: messages that are not its own agent's, oldest first."""
    found = db.all("SELECT * FROM messages WHERE turn = ? AND author <> '' ORDER BY id", (made,))
    return [rows.message(row) for row in found]


def hear(db: Database, made: int, provider_session: str) -> bool:
    """The turn's agent says that its session has begun; False: its id is another session's, or was given up."""
    with db.write():
        open_ = _still_open(db, made)
        row = db.maybe("SELECT id FROM sessions WHERE provider_session = ?", (provider_session,))
        if row is not None and row["id"] != open_.session:  # which of the two speaks the truth, nobody can tell
            db.run("UPDATE sessions SET disputed = 1 WHERE id = ?", (row["id"],))
            return False
        if open_.resumes and row is None:
            return False  # it was to go on with another one
        if row is not None and not open_.resumes and not open_.data.get("begun"):
            return False  # it was to begin a new one, and says the one before
        known = "UPDATE sessions SET provider_session = ?, begun = 1, disputed = 0 WHERE id = ?"
        before = db.one("SELECT * FROM sessions WHERE id = ?", (open_.session,))
        db.run(known, (provider_session, open_.session))
        if before["provider_session"] not in (None, provider_session):
            _remember(db, before)
        db.run("UPDATE turns SET data = ? WHERE id = ?", (rows.as_json({**open_.data, "begun": True}), made))
        return True


def _remember(db: Database, before: Row) -> None:
    """An id that the session had before stays known, as nobody's: another agent could say that it is its own."""
    kept = {name: value for name, value in dict(before).items() if name not in ("id", "kind", "disputed")}
    db.insert("sessions", {**kept, "kind": SessionKind.ATTEMPT.value, "disputed": True, "state": State.IDLE.value})


def note(db: Database, made: int, data: Mapping[str, Any]) -> None:
    """Set values of an open turn's data; what else is in it stays, since its agent may have written it meanwhile."""
    with db.write():
        kept = {**_still_open(db, made).data, **data}
        db.run("UPDATE turns SET data = ? WHERE id = ?", (rows.as_json(kept), made))


def did(db: Database, made: int, what: str) -> None:
    """Note what the agent of an open turn did in it."""
    with db.write():
        _still_open(db, made)
        db.run(DID, {"turn": made, "what": what})


def spend(db: Database, made: int, cost_usd: float, tokens: int, context: float | None) -> None:
    """Set what the turn has cost, and how full its context is; the session costs what its turns do."""
    with db.write():
        if context is not None:
            db.run("UPDATE turns SET data = json_set(data, '$.context', ?) WHERE id = ?", (round(context, 3), made))
        sql, values = "UPDATE turns SET cost_usd = ?, tokens = ? WHERE id = ?", (cost_usd, tokens, made)
        if not db.run(f"{sql} AND outcome IS NULL", values):
            db.run(sql, values)
            sums.forget(db)
        of_turns = "SELECT sum({}) FROM turns WHERE session = sessions.id"
        db.run(
            f"UPDATE sessions SET cost_usd = ({of_turns.format('cost_usd')}), tokens = ({of_turns.format('tokens')}) "
            "WHERE id = (SELECT session FROM turns WHERE id = ?)",
            (made,),
        )


def close_turn(
    db: Database,
    made: int,
    fact: Fact,
    outcome: Outcome,
    detail: str,
    *,
    said: str,
    told_again: bool,
    breaker: Breaker | None,
    retry_at: float | None,
    failed: bool,
    lost: bool,
) -> Session:
    """End the turn and move its session, all or nothing."""
    now = db.now()
    with db.write():
        open_ = _still_open(db, made)
        one = conversations.session(db, open_.session)
        ended = "UPDATE turns SET outcome = ?, ended_at = ?, detail = ? WHERE id = ?"
        db.run(ended, (outcome.value, now, detail[:8000], made))
        if said:
            conversations.add_message(db, one.id, "", said, made)
        if told_again:
            db.run("UPDATE messages SET turn = NULL WHERE turn = ? AND author <> ''", (made,))
        if breaker is not None:
            spending.save_breaker(db, of_session(one.id), one.provider, breaker)
        told = {"session": one.id, "turn": open_.number, "outcome": outcome.value, "detail": detail[:500]}
        if one.state is State.ENDED:
            _ended(db, now, told, one.state)
            return one
        data = {key: value for key, value in one.data.items() if key != CUT_OFF}
        if fact is Fact.CUT_OFF and not told_again:
            data[CUT_OFF] = outcome.value
        values: dict[str, Any] = {
            "detail": detail[:2000],
            "retry_at": retry_at,
            "stop_asked": False,
            "failures": 0 if fact in (Fact.ENDED_WELL, Fact.ASKED) else one.failures + failed,
            "data": rows.as_json(data),
        }
        if lost:  # the CLI does not know it any more: the next turn begins a new one
            values |= {"begun": False}
        _ended(db, now, told, conversations.move(db, one, _waits(db, one.id, fact), now, **values))
        return conversations.session(db, one.id)


def _ended(db: Database, now: float, told: Mapping[str, Any], state: State) -> None:
    events.append(db, now, Kind.TURN_ENDED, None, "nobrakes", {**told, "state": state.value})


def _waits(db: Database, number: int, fact: Fact) -> Fact:
    """The fact, or that it was cut off where something was said meanwhile: then it goes on at once."""
    if fact is Fact.ENDED_WELL or fact is Fact.ASKED:
        waiting = "SELECT 1 FROM messages WHERE session = ? AND turn IS NULL"
        if db.maybe(waiting, (number,)) is not None:
            return Fact.CUT_OFF
        asked = db.maybe("SELECT 1 FROM escalations WHERE session = ? AND resolved_at IS NULL", (number,))
        return Fact.ASKED if asked is not None else Fact.ENDED_WELL
    return fact


def _still_open(db: Database, made: int) -> Turn:
    found = turn(db, made)
    if found.outcome is not None:
        raise Stale(f"turn {found.number} of session {found.session} has ended already")
    return found


def turn(db: Database, made: int) -> Turn:
    """One turn."""
    row = db.maybe("SELECT * FROM turns WHERE id = ?", (made,))
    if row is None:
        raise NobrakesError(f"there is no turn {made}", "`nobrakes sessions` lists the sessions.")
    return rows.turn(row)


def turns(db: Database, number: int) -> list[Turn]:
    """The turns of a session, oldest first."""
    conversations.session(db, number)
    return [rows.turn(row) for row in db.all("SELECT * FROM turns WHERE session = ? ORDER BY number", (number,))]


def opened(db: Database) -> list[Turn]:
    """The turns that have not ended, oldest first."""
    return [
        rows.turn(row) for row in db.all("SELECT * FROM turns INDEXED BY turns_open WHERE outcome IS NULL ORDER BY id")
    ]


def speaker(db: Database, token: str) -> tuple[Turn, Session]:
    """The open turn that the token speaks for, with its session."""
    from hmac import compare_digest  # loads OpenSSL, and only agents come to the door

    number = turn_of(token)
    row = None if number is None else db.maybe("SELECT * FROM turns WHERE id = ? AND outcome IS NULL", (number,))
    if row is None or not compare_digest(row["token"].encode(), token.encode("utf-8", "replace")):
        raise Stale("this turn has ended, or the token is not one of nobrakes")
    found = rows.turn(row)
    return found, conversations.session(db, found.session)
