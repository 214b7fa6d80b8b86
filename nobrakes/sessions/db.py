"""Conversations: begun, spoken to, ended. Each function is one transaction with its event."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..agents.db import spending
from ..agents.limits import Breaker, reset
from ..beads.model import Outcome, bead_owner, session_owner
from ..db import rows
from ..db.database import Database, Row
from ..db.fast import DID, GOING, turn_of
from ..errors import NobrakesError, NoSuchSession, NotAllowed, Stale
from ..events import db as events_db
from ..events.kinds import Kind, session_actor
from .model import CLEAN, Fact, Message, Session, SessionKind, State, Turn, advance

MAX_TEXT = 100_000
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
    data: Mapping[str, Any] | None = None,
) -> Session:
    """A new session with its first message; `agent`: name, provider and model."""
    now = db.now()
    more = {"title": title, "data": rows.as_json(dict(data or {}))}
    values = rows.new_session(kind, owner, agent, State.READY, now, **more)
    with db.write():
        number = db.insert("sessions", values)
        told = {"session": number, "kind": kind.value, "agent": agent[0], "title": title[:200]}
        events_db.append(db, now, Kind.SESSION_BEGAN, None, actor, told)
        _message(db, number, actor, text, now)
        return get_session(db, number)


def say(db: Database, number: int, text: str, author: str) -> Message:
    """Add a message for the next turn. Raises NoSuchSession, NotAllowed for an ended one."""
    now = db.now()
    with db.write():
        one = get_session(db, number)
        move(db, one, Fact.SAID, now, retry_at=None)
        if one.state is State.STUCK:  # whoever goes on with it wants it tried
            owner = session_owner(number)
            for provider, breaker in spending.breakers(db, owner).items():
                spending.save_breaker(db, owner, provider, reset(breaker))
        events_db.append(db, now, Kind.SESSION_SAID, None, author, {"session": number, "text": text[:500]})
        return _message(db, number, author, text, now)


def _message(
    db: Database, number: int, author: str, text: str, now: float, turn: int | None = None, answers: int | None = None
) -> Message:
    values = {"session": number, "author": author, "at": now, "text": text[:MAX_TEXT], "turn": turn}
    made = db.insert("messages", {**values, "escalation": answers})
    return Message(made, number, author, now, text[:MAX_TEXT], turn, answers)


def note(db: Database, number: int, data: Mapping[str, Any]) -> Session:
    """Set values in the session's data. Raises NoSuchSession."""
    with db.write():
        kept = {**get_session(db, number).data, **data}
        db.run("UPDATE sessions SET data = ?, updated_at = ? WHERE id = ?", (rows.as_json(kept), db.now(), number))
        return get_session(db, number)


def answered(db: Database, number: int, escalation: int, text: str, actor: str) -> None:
    """Pass an answer to the session's next turn, once. Needs a transaction."""
    now = db.now()
    one = get_session(db, number)
    if one.state is State.ENDED:
        return
    _message(db, number, actor, text, now, answers=escalation)
    waits = db.maybe("SELECT 1 FROM escalations WHERE session = ? AND resolved_at IS NULL", (number,))
    if waits is None or one.state is not State.ASKING:
        move(db, one, Fact.ANSWERED, now)


def questioned(db: Database, number: int) -> None:
    """An idle session now waits for its answer. Needs a transaction."""
    one = get_session(db, number)
    if one.state is State.IDLE:
        move(db, one, Fact.QUESTIONED, db.now())


def settled(db: Database, number: int) -> None:
    """Its questions were decided otherwise: without open ones it becomes idle. Needs a transaction."""
    one = get_session(db, number)
    waits = db.maybe("SELECT 1 FROM escalations WHERE session = ? AND resolved_at IS NULL", (number,))
    if one.state is State.ASKING and waits is None:
        move(db, one, Fact.SETTLED, db.now())


def renew(db: Database, number: int, spec: tuple[str, str, str] | None = None) -> Session:
    """Begin a new conversation next turn, perhaps with another agent (name, provider, model); messages of an unfinished
    turn are repeated. NotAllowed during a turn."""
    with db.write():
        one = get_session(db, number)
        if one.state is State.RUNNING:
            raise NotAllowed(f"session {number} is working", "Try again when the session's turn has ended.")
        values: dict[str, Any] = {"begun": False}
        if spec is not None and one.agent != spec[0]:
            values |= {"agent": spec[0], "provider": spec[1], "model": spec[2], "failures": 0, "retry_at": None}
            last = db.maybe("SELECT id, outcome FROM turns WHERE session = ? ORDER BY id DESC LIMIT 1", (number,))
            if last is not None and last["outcome"] not in CLEAN:
                db.run("UPDATE messages SET turn = NULL WHERE turn = ? AND author <> ''", (last["id"],))
            if one.state is State.STUCK:
                values |= {"state": State.READY.value}
        columns = ", ".join(f"{name} = ?" for name in values)
        db.run(f"UPDATE sessions SET {columns}, updated_at = ? WHERE id = ?", (*values.values(), db.now(), number))
        return get_session(db, number)


def take_back(db: Database, number: int, escalation: int) -> bool:
    """The answer was taken back; False: a turn has read it. Needs a transaction."""
    one = get_session(db, number)
    if not db.run("DELETE FROM messages WHERE escalation = ? AND turn IS NULL", (escalation,)):
        return False
    if one.state is State.READY and one.waiting == 1 and not one.data.get("cut_off"):
        db.run("UPDATE sessions SET state = ? WHERE id = ?", (State.ASKING.value, number))
    return True


def end(db: Database, number: int, actor: str) -> Session:
    """Ends its open questions; the daemon stops a running turn."""
    now = db.now()
    with db.write():
        one = get_session(db, number)
        move(db, one, Fact.CLOSED, now, ended_at=now)
        over = "UPDATE escalations SET resolved_at = ?, resolution = ? WHERE session = ? AND resolved_at IS NULL"
        db.run(over, (now, "the session was ended", number))
        events_db.append(db, now, Kind.SESSION_ENDED, None, actor, {"session": number})
        return get_session(db, number)


def ask_to_stop(db: Database, number: int, actor: str) -> Session:
    now = db.now()
    with db.write():
        one = get_session(db, number)
        if one.state is State.RUNNING and not one.stop_asked:
            db.run("UPDATE sessions SET stop_asked = 1, updated_at = ? WHERE id = ?", (now, number))
            events_db.append(db, now, Kind.STOP_ASKED, None, actor, {"session": number})
        return get_session(db, number)


def move(db: Database, one: Session, fact: Fact, now: float, **values: Any) -> State:
    """Apply the fact to the session. Raises NotAllowed. Needs a transaction."""
    after = advance(one.state, fact)
    columns = {"state": after.value, "updated_at": now, **values}
    sets = ", ".join(f"{name} = ?" for name in columns)
    db.run(f"UPDATE sessions SET {sets} WHERE id = ?", (*columns.values(), one.id))
    return after


def get_session(db: Database, number: int) -> Session:
    """Raises NoSuchSession."""
    row = db.maybe(f"{SESSION} WHERE id = ?", (number,))
    if row is None:
        raise NoSuchSession(f"there is no session {number}")
    return rows.session(row)


def going_sessions(db: Database) -> list[Session]:
    """Open sessions without those of attempts, oldest first."""
    return [rows.session(row) for row in db.all(f"{SESSION} INDEXED BY sessions_going WHERE {GOING} ORDER BY id")]


def code_reviews(db: Database, bead: str) -> list[Session]:
    which = "INDEXED BY sessions_reading WHERE kind = 'code_review' AND owner = ? ORDER BY id"
    return [rows.session(row) for row in db.all(f"{SESSION} {which}", (bead_owner(bead),))]


_HELD = """SELECT session FROM features
WHERE session IS NOT NULL AND (state <> 'active' OR json_extract(data, '$.held') > '')
UNION ALL SELECT plan_reviews.session FROM plan_reviews JOIN features ON features.id = plan_reviews.feature
WHERE plan_reviews.state = 'running' AND plan_reviews.session IS NOT NULL AND features.state <> 'active'"""


def held(db: Database) -> frozenset[int]:
    """Sessions that begin no turn: of paused, expired or failed features, with reviewers, and Shapers that wait for a
    person."""
    return frozenset(int(row[0]) for row in db.all(_HELD))


def listed(db: Database) -> list[Session]:
    """With those of attempts, newest first."""
    return [rows.session(row) for row in db.all(f"{SESSION} ORDER BY id DESC")]


def sessions(db: Database, going: bool = True) -> list[Session]:
    return going_sessions(db) if going else listed(db)


def messages(db: Database, number: int) -> list[Message]:
    get_session(db, number)
    return [rows.message(row) for row in db.all("SELECT * FROM messages WHERE session = ? ORDER BY id", (number,))]


# A turn takes all that waits to be said, in the transaction that opens it. Its end is guarded by "not ended": whoever
# comes too late gets Stale and has changed nothing. Its token is "s<turn>.<session>.<secret>", good while it is open.
CUT_OFF = "cut_off"


def open_turn(db: Database, number: int) -> tuple[Turn, Sequence[Message]] | None:
    """Begin the next turn of a ready session; None: it is not ready."""
    now = db.now()
    with db.write():
        one = get_session(db, number)
        if one.state is not State.READY or number in held(db):
            return None  # its feature may have been paused since somebody looked
        disputed = db.one("SELECT disputed FROM sessions WHERE id = ?", (number,))[0]
        count = 1 + (db.one("SELECT max(number) FROM turns WHERE session = ?", (number,))[0] or 0)
        resumes = one.begun and one.provider_session is not None and not disputed
        turn = Turn(0, number, count, "", resumes, one.provider, now)
        made = db.insert("turns", {**rows.columns(turn), "id": None})
        db.run("UPDATE turns SET token = ? WHERE id = ?", (f"s{made}.{number}.{db.token_source()}", made))
        db.run("UPDATE messages SET turn = ? WHERE session = ? AND turn IS NULL", (made, number))
        _acts_by(db, made, number, now)
        move(db, one, Fact.STARTED, now, retry_at=None, stop_asked=False)
        told = {"session": number, "turn": count, "agent": one.agent, "model": one.model}
        seq = events_db.append(db, now, Kind.TURN_STARTED, None, "nobrakes", told)
        db.run("UPDATE turns SET data = ? WHERE id = ?", (rows.as_json({"seq": seq}), made))
        return get_turn(db, made), turn_messages(db, made)


def _acts_by(db: Database, made: int, number: int, now: float) -> None:
    unread = """SELECT id FROM escalations WHERE read_at IS NULL
    AND id IN (SELECT escalation FROM messages WHERE turn = ? AND escalation IS NOT NULL) ORDER BY id"""
    for row in db.all(unread, (made,)):
        db.run("UPDATE escalations SET read_at = ? WHERE id = ?", (now, row["id"]))
        told = {"escalation": row["id"]}
        events_db.append(db, now, Kind.ANSWER_READ, None, session_actor(number), told)


def turn_messages(db: Database, made: int) -> list[Message]:
    """The messages given to the turn, oldest first."""
    found = db.all("SELECT * FROM messages WHERE turn = ? AND author <> '' ORDER BY id", (made,))
    return [rows.message(row) for row in found]


def hear(db: Database, made: int, provider_session: str) -> bool:
    """The turn's agent reports its session id; False: another session has or had it."""
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
    """A former id stays reserved: another agent could claim it."""
    kept = {name: value for name, value in dict(before).items() if name not in ("id", "kind", "disputed")}
    db.insert("sessions", {**kept, "kind": SessionKind.ATTEMPT.value, "disputed": True, "state": State.IDLE.value})


def note_turn(db: Database, made: int, data: Mapping[str, Any]) -> None:
    """Set values in an open turn's data; others stay, since its agent may have written them meanwhile."""
    with db.write():
        kept = {**_still_open(db, made).data, **data}
        db.run("UPDATE turns SET data = ? WHERE id = ?", (rows.as_json(kept), made))


def did(db: Database, made: int, what: str) -> None:
    """Record what the turn's agent did, once: its words need not be parsed then. Raises Stale."""
    with db.write():
        _still_open(db, made)
        db.run(DID, {"turn": made, "what": what})


def spend(db: Database, made: int, cost_usd: float, tokens: int, context: float | None = None) -> None:
    """Set the turn's cost and how full its context is (0 to 1); the session costs the sum."""
    with db.write():
        if context is not None:
            db.run("UPDATE turns SET data = json_set(data, '$.context', ?) WHERE id = ?", (round(context, 3), made))
        sql, values = "UPDATE turns SET cost_usd = ?, tokens = ? WHERE id = ?", (cost_usd, tokens, made)
        if not db.run(f"{sql} AND outcome IS NULL", values):
            db.run(sql, values)
            spending.forget(db)
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
    said: str = "",
    resends: bool = False,
    breaker: Breaker | None = None,
    retry_at: float | None = None,
    failed: bool = False,
    lost: bool = False,
) -> Session:
    """End the turn. Raises Stale. `said`: the agent's words; `resends`: its messages wait again; `breaker`: the
    session's at its provider; `failed`: a failure in a row; `lost`: its CLI has lost the session."""
    now = db.now()
    with db.write():
        open_ = _still_open(db, made)
        one = get_session(db, open_.session)
        ended = "UPDATE turns SET outcome = ?, ended_at = ?, detail = ? WHERE id = ?"
        db.run(ended, (outcome.value, now, detail[:8000], made))
        if said:
            _message(db, one.id, "", said, db.now(), made)
        if resends:
            db.run("UPDATE messages SET turn = NULL WHERE turn = ? AND author <> ''", (made,))
        if breaker is not None:
            spending.save_breaker(db, session_owner(one.id), one.provider, breaker)
        told = {"session": one.id, "turn": open_.number, "outcome": outcome.value, "detail": detail[:500]}
        if one.state is State.ENDED:
            _ended(db, now, told, one.state)
            return one
        data = {key: value for key, value in one.data.items() if key != CUT_OFF}
        if fact is Fact.CUT_OFF and not resends:
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
        _ended(db, now, told, move(db, one, _waits(db, one.id, fact), now, **values))
        return get_session(db, one.id)


def _ended(db: Database, now: float, told: Mapping[str, Any], state: State) -> None:
    events_db.append(db, now, Kind.TURN_ENDED, None, "nobrakes", {**told, "state": state.value})


def _waits(db: Database, number: int, fact: Fact) -> Fact:
    """The fact, or cut off if messages arrived meanwhile, so that it goes on immediately."""
    if fact is Fact.ENDED_WELL or fact is Fact.ASKED:
        waiting = "SELECT 1 FROM messages WHERE session = ? AND turn IS NULL"
        if db.maybe(waiting, (number,)) is not None:
            return Fact.CUT_OFF
        asked = db.maybe("SELECT 1 FROM escalations WHERE session = ? AND resolved_at IS NULL", (number,))
        return Fact.ASKED if asked is not None else Fact.ENDED_WELL
    return fact


def _still_open(db: Database, made: int) -> Turn:
    found = get_turn(db, made)
    if found.outcome is not None:
        raise Stale(f"turn {found.number} of session {found.session} has ended already")
    return found


def get_turn(db: Database, made: int) -> Turn:
    row = db.maybe("SELECT * FROM turns WHERE id = ?", (made,))
    if row is None:
        raise NobrakesError(f"there is no turn {made}", "`nobrakes sessions` lists the sessions.")
    return rows.turn(row)


def turns(db: Database, number: int) -> list[Turn]:
    get_session(db, number)
    return [rows.turn(row) for row in db.all("SELECT * FROM turns WHERE session = ? ORDER BY number", (number,))]


def opened(db: Database) -> list[Turn]:
    return [
        rows.turn(row) for row in db.all("SELECT * FROM turns INDEXED BY turns_open WHERE outcome IS NULL ORDER BY id")
    ]


def turn_of_token(db: Database, token: str) -> tuple[Turn, Session]:
    """Raises Stale."""
    from hmac import compare_digest  # loads OpenSSL, and only agents come to the door

    number = turn_of(token)
    row = None if number is None else db.maybe("SELECT * FROM turns WHERE id = ? AND outcome IS NULL", (number,))
    if row is None or not compare_digest(row["token"].encode(), token.encode("utf-8", "replace")):
        raise Stale("this turn has ended, or nobrakes did not issue this token")
    found = rows.turn(row)
    return found, get_session(db, found.session)
