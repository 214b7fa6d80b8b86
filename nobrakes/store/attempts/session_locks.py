"""The lock of an agent's session: one attempt holds it at a time, and never one of another bead.

Who held it last stands with the session; what holds of that attempt is asked when the next one comes. A database that
was rebuilt knows no sessions, and no attempts that could go on with one.
"""

from ...core.owners import of_bead
from ...core.sessions.session import SessionKind, State
from ..database import Database
from . import claims

_LIVES = "SELECT 1 FROM attempts WHERE id = :id AND outcome IS NULL UNION ALL SELECT 1 FROM runs WHERE attempt = :id"


def hold_session(db: Database, session: str, attempt: int, fresh: bool = False) -> bool:
    """Give the session to the attempt; False: it is another bead's, or another run of it may live.

    `fresh`: nobody may have had it before.
    """
    with db.write():
        row = db.maybe("SELECT * FROM sessions WHERE provider_session = ?", (session,))
        mine = claims.attempt(db, attempt)
        owner = of_bead(mine.bead)
        if row is None:
            _give(db, _new(db, session, attempt), attempt)
            return True
        if row["attempt"] != attempt:
            if row["disputed"]:
                return False
            if row["owner"] != owner:
                if fresh:  # a CLI names it that was heard later: which of the two speaks the truth, nobody can tell
                    db.run("UPDATE sessions SET disputed = 1 WHERE id = ?", (row["id"],))
                return False
            if fresh or db.maybe(_LIVES, {"id": row["attempt"]}) is not None:
                return False
        _give(db, row["id"], attempt)
        return True


def is_session(db: Database, provider_session: str) -> bool:
    """Whether a session is known by this id of its CLI."""
    return db.maybe("SELECT 1 FROM sessions WHERE provider_session = ?", (provider_session,)) is not None


def _new(db: Database, session: str, attempt: int) -> int:
    one, now = claims.attempt(db, attempt), db.now()
    values = {
        "kind": SessionKind.ATTEMPT.value,
        "owner": of_bead(one.bead),
        "title": "",
        "agent": one.agent,
        "provider": one.provider,
        "model": one.model,
        "provider_session": session,
        "begun": False,
        "disputed": False,
        "state": State.IDLE.value,
        "failures": 0,
        "stop_asked": False,
        "detail": "",
        "cost_usd": 0.0,
        "tokens": 0,
        "created_at": now,
        "updated_at": now,
        "data": "{}",
    }
    return db.insert("sessions", values)


def _give(db: Database, session: int, attempt: int) -> None:
    db.run("UPDATE sessions SET attempt = ?, updated_at = ? WHERE id = ?", (attempt, db.now(), session))
    db.run("UPDATE attempts SET session = ? WHERE id = ?", (session, attempt))
