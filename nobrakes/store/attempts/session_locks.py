"""The lock of an agent's session: one attempt holds it at a time, and never one of another bead.

Who held it last stands in the settings, found by the session's id; what holds of that attempt is asked when the next
one comes. A database that was rebuilt knows no sessions, and no attempts that could go on with one.
"""

from ..database import Database
from . import claims

HOLDER = "session:"
"""`session:<id>` = the attempt that holds the session, or held it last."""
DISPUTED = 0
"""Stands for the holder where agents of two beads said that the session is theirs: nobody goes on with it."""
_LIVES = "SELECT 1 FROM attempts WHERE id = :id AND outcome IS NULL UNION ALL SELECT 1 FROM runs WHERE attempt = :id"


def hold_session(db: Database, session: str, attempt: int, fresh: bool = False) -> bool:
    """Give the session to the attempt; False: it is another bead's, or another run of it may live.

    `fresh`: nobody may have had it before.
    """
    with db.write():
        row = db.maybe("SELECT value FROM settings WHERE key = ?", (HOLDER + session,))
        if row is not None and int(row[0]) != attempt:
            if int(row[0]) == DISPUTED:
                return False
            holder = claims.attempt(db, int(row[0]))
            if fresh:
                # a CLI names it that was heard later: which of the two speaks the truth, nobody can tell
                if holder.bead != claims.attempt(db, attempt).bead:
                    db.run("UPDATE settings SET value = ? WHERE key = ?", (str(DISPUTED), HOLDER + session))
                return False
            if holder.bead != claims.attempt(db, attempt).bead:
                return False
            if db.maybe(_LIVES, {"id": holder.id}) is not None:
                return False
        db.run("INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)", (HOLDER + session, str(attempt)))
        return True
