"""Reading a database whose folder cannot be written, so that SQLite can make neither its log nor its shared memory.

1. What is read is a copy in memory of one whole moment, so nothing is ever wrong or half there. It is not kept up.
2. Somebody who can write is at work there: their shared memory and log are used, and what is in the log is seen.
3. Nobody is: the file and the log that a killed writer left are copied and put together away from there. The file
alone counts only where there is no log.
"""

import os
import shutil
import sqlite3
import tempfile

from .fast import file_uri

TRIES = 5


def copy_of(path: str) -> sqlite3.Connection:
    """The database in memory; sqlite3.Error, OSError: it cannot be read."""
    for _ in range(TRIES):
        if os.path.exists(path + "-shm"):
            return _in_memory(file_uri(os.path.abspath(path), "mode=ro"))
        before = _marks(path)
        if not before[1]:
            made = _in_memory(file_uri(os.path.abspath(path), "immutable=1"))
        else:
            with tempfile.TemporaryDirectory(prefix="nobrakes-read-") as folder:
                copied = os.path.join(folder, "copy.db")
                shutil.copyfile(path, copied)
                shutil.copyfile(path + "-wal", copied + "-wal")
                made = _in_memory(file_uri(os.path.abspath(copied), "mode=rw"))
        if _marks(path) == before and not os.path.exists(path + "-shm"):
            return made
        made.close()  # somebody began to write meanwhile
    raise sqlite3.OperationalError("the database changes faster than it can be read")


def _in_memory(uri: str) -> sqlite3.Connection:
    source = sqlite3.connect(uri, uri=True, timeout=30.0)
    try:
        made = sqlite3.connect(":memory:", isolation_level=None)
        source.backup(made)
        return made
    finally:
        source.close()


def _marks(path: str) -> tuple[tuple[int, int], tuple[int, int] | None]:
    """What shows that the file or its log was written; no second part: there is no log with anything in it."""
    main = os.stat(path)
    try:
        log = os.stat(path + "-wal")
    except FileNotFoundError:
        return (main.st_mtime_ns, main.st_size), None
    return (main.st_mtime_ns, main.st_size), (log.st_mtime_ns, log.st_size) if log.st_size else None
