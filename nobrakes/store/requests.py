"""The part of the port `Store` that remembers commands by their keys."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from ..ports.requests import Request
from .database import Database

_KEEP = "INSERT OR REPLACE INTO requests (key, command, actor, at, result) VALUES (?, ?, ?, ?, ?)"
UNKNOWN = ""
"""The result of a command that was cut off: JSON is never empty."""


class Requests:
    """Commands with keys, on one database."""

    _db: Database

    def request(self, key: str) -> Request | None:
        """What was done under the key; None: nothing."""
        row = self._db.maybe("SELECT * FROM requests WHERE key = ?", (key,))
        return None if row is None else Request(row[0], row[1], row[2], row[3], row[4] or None)

    def keep_request(self, request: Request) -> None:
        """Remember it."""
        with self._db.write():
            self._keep(request)

    def _keep(self, request: Request) -> None:
        result = UNKNOWN if request.result is None else request.result
        self._db.run(_KEEP, (request.key, request.command, request.actor, self._db.now(), result))

    @contextmanager
    def noting(self, request: Request) -> Iterator[None]:
        """Inside, each transaction that writes also remembers the request; an error takes it back."""
        self._db.before_commit = partial(self._keep, request)
        try:
            yield
        except Exception:
            self._db.before_commit = None
            with self._db.write():
                self._db.run("DELETE FROM requests WHERE key = ? AND result = ?", (request.key, UNKNOWN))
            raise
        finally:
            self._db.before_commit = None

    def forget_requests(self, before: float) -> int:
        """Forget those of before this time."""
        if self._db.maybe("SELECT 1 FROM requests WHERE at < ?", (before,)) is None:
            return 0
        with self._db.write():
            return self._db.run("DELETE FROM requests WHERE at < ?", (before,))
