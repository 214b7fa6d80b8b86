"""The person's database as one SQLite file: opened, brought up, written in whole transactions. Its tables are others'.

1. A write is BEGIN IMMEDIATE: of two that want the last place one is first, and the other sees it.
2. Nobody waits longer than a few seconds for another process's transaction: StoreBusy then, and the caller tries again.
"""

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ...core.errors import PlaceUnusable, StoreBroken, StoreBusy, StoreReadOnly
from ..failures import translated
from . import schema

PATIENCE_SECONDS = 5.0


class UserDatabase:
    """The file at `path`, made where it is missing; `is_reading`: only an existing one, and never written."""

    def __init__(
        self, path: str, now: Callable[[], float], is_reading: bool = False, patience: float = PATIENCE_SECONDS
    ) -> None:
        self.path = path
        self._patience = patience
        self._now = now
        if not is_reading:
            with contextlib.suppress(OSError):  # SQLite says why
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
        with self._errors():
            self._connection = sqlite3.connect(
                f"file:{_quoted(path)}?mode=rw", timeout=patience, isolation_level=None, uri=True
            )
            try:
                self._prepare(is_reading)
            except BaseException:
                self._connection.close()
                raise

    def _prepare(self, is_reading: bool) -> None:
        run = self._connection.execute
        run("PRAGMA foreign_keys = ON")
        run("PRAGMA synchronous = NORMAL")
        if is_reading:
            run("PRAGMA query_only = ON")
            schema.require_known(self._connection, self.path)
            return
        run("PRAGMA journal_mode = WAL")
        schema.bring_up(self._connection, self.path, self._now())

    def require_present(self) -> None:
        """PlaceUnusable where a newer nobrakes has brought the file to a version that this one does not know."""
        with self._errors():
            schema.require_known(self._connection, self.path)

    def require_writable(self) -> None:
        """StoreBusy, StoreReadOnly where nothing can be written now. Nothing is, here or by this reader later."""
        with self._errors():
            self._connection.execute("PRAGMA query_only = OFF")
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute("ROLLBACK")
            self._connection.execute("PRAGMA query_only = ON")

    def close(self) -> None:
        """Release it."""
        self._connection.close()

    def _run(self, sql: str, *values: Any) -> int:
        return self._connection.execute(sql, values).rowcount

    def _all(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._errors():
            return self._connection.execute(sql, values).fetchall()

    @contextmanager
    def _write(self) -> Iterator[None]:
        with self._errors():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY:
                text = f"another process has kept {self.path} locked for {self._patience:g} seconds"
                raise StoreBusy(
                    text, "nobrakes tries again; if it lasts, look for what holds this file open."
                ) from error
            clear = translated(error, self.path)
            if clear is None:
                raise
            if isinstance(clear, StoreBroken):
                text = f"Move it away with {self.path}-wal; nobrakes makes a new one. No repository's own is touched."
                raise PlaceUnusable(str(clear), text) from error
            if isinstance(clear, StoreReadOnly):
                text = "Check the permissions of this file and its folder, and that the disk is not mounted read-only."
                raise StoreReadOnly(str(clear), text) from error
            raise clear from error


def _quoted(path: str) -> str:
    return os.path.abspath(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
