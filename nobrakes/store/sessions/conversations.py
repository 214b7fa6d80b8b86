"""Conversations: begun, spoken to, ended. Each function is one transaction with its event."""

from collections.abc import Mapping
from typing import Any

from ...core.beads.events import Kind
from ...core.errors import NoSuchSession, NotAllowed
from ...core.limits.breaker import reset
from ...core.owners import of_session
from ...core.sessions.session import CLEAN, Fact, Message, Session, SessionKind, State, advance
from .. import events, rows
from ..conditions import GOING
from ..database import Database
from ..machine import spending

MOST_TEXT = 100_000
"""Characters of one message that are kept."""
_WAITING = "(SELECT count(*) FROM messages WHERE session = sessions.id AND turn IS NULL) AS waiting"
SESSION = f"SELECT *, {_WAITING} FROM sessions"


def begin(
    db: Database,
    kind: SessionKind,
    owner: str,
    title: str,
    agent: tuple[str, str, str],
    text: str,
    actor: str,
    data: Mapping[str, Any],
) -> Session:
    """A new session with its first message."""
    now = db.now()
    name, provider, model = agent
    values = {
        "kind": kind.value,
        "owner": owner,
        "title": title,
        "agent": name,
        "provider": provider,
        "model": model,
        "begun": False,
        "disputed": False,
        "state": State.READY.value,
        "failures": 0,
        "stop_asked": False,
        "detail": "",
        "cost_usd": 0.0,
        "tokens": 0,
        "created_at": now,
        "updated_at": now,
        "data": rows.as_json(dict(data)),
    }
    with db.write():
        number = db.insert("sessions", values)
        told = {"session": number, "kind": kind.value, "agent": name, "title": title[:200]}
        events.append(db, now, Kind.SESSION_BEGAN, None, actor, told)
        _message(db, number, actor, text, now)
        return session(db, number)


def say(db: Database, number: int, text: str, author: str) -> Message:
    """Something that the next turn is told."""
    now = db.now()
    with db.write():
        one = session(db, number)
        move(db, one, Fact.SAID, now, retry_at=None)
        if one.state is State.STUCK:  # whoever goes on with it wants it tried
            owner = of_session(number)
            for provider, breaker in spending.breakers(db, owner).items():
                spending.save_breaker(db, owner, provider, reset(breaker))
        events.append(db, now, Kind.SESSION_SAID, None, author, {"session": number, "text": text[:500]})
        return _message(db, number, author, text, now)


def _message(
    db: Database, number: int, author: str, text: str, now: float, turn: int | None = None, answers: int | None = None
) -> Message:
    values = {"session": number, "author": author, "at": now, "text": text[:MOST_TEXT], "turn": turn}
    made = db.insert("messages", {**values, "escalation": answers})
    return Message(made, number, author, now, text[:MOST_TEXT], turn, answers)


def note(db: Database, number: int, data: Mapping[str, Any]) -> Session:
    """Set values of the session's data; what else is in it stays."""
    with db.write():
        kept = {**session(db, number).data, **data}
        db.run("UPDATE sessions SET data = ?, updated_at = ? WHERE id = ?", (rows.as_json(kept), db.now(), number))
        return session(db, number)


def add_message(db: Database, number: int, author: str, text: str, turn: int) -> None:
    """What an agent said in its turn, in the caller's transaction."""
    _message(db, number, author, text, db.now(), turn)


def answered(db: Database, number: int, escalation: int, text: str, actor: str) -> None:
    """A question of the session was answered: its next turn is told, once. In the caller's transaction."""
    now = db.now()
    one = session(db, number)
    if one.state is State.ENDED:
        return
    _message(db, number, actor, text, now, answers=escalation)
    waits = db.maybe("SELECT 1 FROM escalations WHERE session = ? AND resolved_at IS NULL", (number,))
    if waits is None or one.state is not State.ASKING:
        move(db, one, Fact.ANSWERED, now)


def questioned(db: Database, number: int) -> None:
    """A person is asked in the session's name: where it waits for what is said next, it waits for the answer.

    In the caller's transaction.
    """
    one = session(db, number)
    if one.state is State.IDLE:
        move(db, one, Fact.QUESTIONED, db.now())


def settled(db: Database, number: int) -> None:
    """Its questions were decided without it: where none is open, it waits for what is said to it next.

    In the caller's transaction.
    """
    one = session(db, number)
    waits = db.maybe("SELECT 1 FROM escalations WHERE session = ? AND resolved_at IS NULL", (number,))
    if one.state is State.ASKING and waits is None:
        move(db, one, Fact.SETTLED, db.now())


def renew(db: Database, number: int, seat: tuple[str, str, str] | None) -> Session:
    """The next turn begins a new conversation, perhaps with another agent: name, provider, model.

    What the turn was told that another agent could not finish is told again. NotAllowed while a turn is at work.
    """
    with db.write():
        one = session(db, number)
        if one.state is State.RUNNING:
            raise NotAllowed(f"session {number} is at work", "Its next turn can begin afresh when this one has ended.")
        values: dict[str, Any] = {"begun": False}
        if seat is not None and one.agent != seat[0]:
            values |= {"agent": seat[0], "provider": seat[1], "model": seat[2], "failures": 0, "retry_at": None}
            last = db.maybe("SELECT id, outcome FROM turns WHERE session = ? ORDER BY id DESC LIMIT 1", (number,))
            if last is not None and last["outcome"] not in CLEAN:
                db.run("UPDATE messages SET turn = NULL WHERE turn = ? AND author <> ''", (last["id"],))
            if one.state is State.STUCK:
                values |= {"state": State.READY.value}
        columns = ", ".join(f"{name} = ?" for name in values)
        db.run(f"UPDATE sessions SET {columns}, updated_at = ? WHERE id = ?", (*values.values(), db.now(), number))
        return session(db, number)


def read_answer(db: Database, turn: int, escalation: int) -> None:
    """The turn at work read the answer itself: no later one is told of it. In the caller's transaction."""
    db.run("UPDATE messages SET turn = ? WHERE escalation = ? AND turn IS NULL", (turn, escalation))


def take_back(db: Database, number: int, escalation: int) -> bool:
    """The answer was taken back: no turn is told of it. False: one was already. In the caller's transaction."""
    one = session(db, number)
    if not db.run("DELETE FROM messages WHERE escalation = ? AND turn IS NULL", (escalation,)):
        return False
    if one.state is State.READY and one.waiting == 1 and not one.data.get("cut_off"):
        db.run("UPDATE sessions SET state = ? WHERE id = ?", (State.ASKING.value, number))
    return True


def end(db: Database, number: int, actor: str) -> Session:
    """End the session. Its open questions are over; a turn at work is ended by the daemon."""
    now = db.now()
    with db.write():
        one = session(db, number)
        move(db, one, Fact.CLOSED, now, ended_at=now)
        over = "UPDATE escalations SET resolved_at = ?, resolution = ? WHERE session = ? AND resolved_at IS NULL"
        db.run(over, (now, "the session was ended", number))
        events.append(db, now, Kind.SESSION_ENDED, None, actor, {"session": number})
        return session(db, number)


def ask_to_stop(db: Database, number: int, actor: str) -> Session:
    """Ask the turn at work to stop."""
    now = db.now()
    with db.write():
        one = session(db, number)
        if one.state is State.RUNNING and not one.stop_asked:
            db.run("UPDATE sessions SET stop_asked = 1, updated_at = ? WHERE id = ?", (now, number))
            events.append(db, now, Kind.STOP_ASKED, None, actor, {"session": number})
        return session(db, number)


def move(db: Database, one: Session, fact: Fact, now: float, **values: Any) -> State:
    """Bring the session to where the fact leads; NotAllowed. In the caller's transaction."""
    after = advance(one.state, fact)
    columns = {"state": after.value, "updated_at": now, **values}
    sets = ", ".join(f"{name} = ?" for name in columns)
    db.run(f"UPDATE sessions SET {sets} WHERE id = ?", (*columns.values(), one.id))
    return after


def session(db: Database, number: int) -> Session:
    """One session; NoSuchSession."""
    row = db.maybe(f"{SESSION} WHERE id = ?", (number,))
    if row is None:
        raise NoSuchSession(f"there is no session {number}")
    return rows.session(row)


def going(db: Database) -> list[Session]:
    """The sessions that are no attempt's and go on, oldest first."""
    return [rows.session(row) for row in db.all(f"{SESSION} INDEXED BY sessions_going WHERE {GOING} ORDER BY id")]


def reading(db: Database, owner: str) -> list[Session]:
    """The sessions that read the owner's work, oldest first."""
    which = "INDEXED BY sessions_reading WHERE kind = 'code_review' AND owner = ? ORDER BY id"
    return [rows.session(row) for row in db.all(f"{SESSION} {which}", (owner,))]


_HELD = """SELECT session FROM features
WHERE session IS NOT NULL AND (state <> 'active' OR json_extract(data, '$.held') > '')
UNION ALL SELECT plan_reviews.session FROM plan_reviews JOIN features ON features.id = plan_reviews.feature
WHERE plan_reviews.state = 'running' AND plan_reviews.session IS NOT NULL AND features.state <> 'active'"""


def held(db: Database) -> frozenset[int]:
    """The sessions that begin no turn: of features that are paused, expired or in error, reviewers' as well.

    So does the Shaper's of one that waits for a person's word.
    """
    return frozenset(int(row[0]) for row in db.all(_HELD))


def listed(db: Database) -> list[Session]:
    """All sessions, those of attempts as well, newest first."""
    return [rows.session(row) for row in db.all(f"{SESSION} ORDER BY id DESC")]


def messages(db: Database, number: int) -> list[Message]:
    """All that was said in it, oldest first."""
    session(db, number)
    return [rows.message(row) for row in db.all("SELECT * FROM messages WHERE session = ? ORDER BY id", (number,))]
