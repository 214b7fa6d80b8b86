"""New databases in memory are copies of one: the schema is run once a process, and not for each of thousands of tests."""

import sqlite3
from functools import cache

from nobrakes.db.database import MEMORY, Database

_open = Database._open


@cache
def _empty() -> sqlite3.Connection:
    """An empty database as the program makes it. It is only read, by whichever thread."""
    made = sqlite3.connect(MEMORY, check_same_thread=False)
    source = Database(MEMORY, create=True)
    source.connection.backup(made)
    source.close()
    return made


def _open_copy(self: Database, connection: sqlite3.Connection, create: bool) -> None:
    if self.path == MEMORY:
        _empty().backup(connection)
    _open(self, connection, create)


def copy_empty_databases() -> None:
    """From now on, in this process."""
    _empty()
    Database._open = _open_copy  # type: ignore[method-assign]
