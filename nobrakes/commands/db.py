"""Commands by their keys, so that one that is sent twice is done once."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial

from ..db.database import Database
from ..records import frozen


@frozen
class Request:
    """A command under its key. `result` None: it was cut off after a change."""

    key: str
    command: str
    actor: str
    at: float = 0.0
    result: str | None = None


_KEEP = "INSERT OR REPLACE INTO requests (key, command, actor, at, result) VALUES (?, ?, ?, ?, ?)"
UNKNOWN = ""
"""The result of a cut-off command: JSON is never empty."""


def request(db: Database, key: str) -> Request | None:
    row = db.maybe("SELECT * FROM requests WHERE key = ?", (key,))
    return None if row is None else Request(row[0], row[1], row[2], row[3], row[4] or None)


def keep_request(db: Database, request: Request) -> None:
    with db.write():
        _keep(db, request)


def _keep(db: Database, request: Request) -> None:
    result = UNKNOWN if request.result is None else request.result
    db.run(_KEEP, (request.key, request.command, request.actor, db.now(), result))


def noting(db: Database, request: Request) -> AbstractContextManager[None]:
    """Each transaction inside also stores the request; an error removes it."""
    return _noting(db, request)


@contextmanager
def _noting(db: Database, request: Request) -> Iterator[None]:
    db.before_commit = partial(_keep, db, request)
    try:
        yield
    except Exception:
        db.before_commit = None
        with db.write():
            db.run("DELETE FROM requests WHERE key = ? AND result = ?", (request.key, UNKNOWN))
        raise
    finally:
        db.before_commit = None


def forget_requests(db: Database, before: float) -> int:
    if db.maybe("SELECT 1 FROM requests WHERE at < ?", (before,)) is None:
        return 0
    with db.write():
        return db.run("DELETE FROM requests WHERE at < ?", (before,))
