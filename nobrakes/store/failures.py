"""What SQLite reports, as errors that a person can act on."""

import os
import sqlite3

from ..core.errors import DiskFull, MachineShort, NobrakesError, StoreBroken, StoreBusy, StoreReadOnly

_BY_CODE: dict[int, tuple[type[NobrakesError], str]] = {
    sqlite3.SQLITE_CORRUPT: (StoreBroken, "the database is damaged"),
    sqlite3.SQLITE_NOTADB: (StoreBroken, "the database's file is not a database"),
    sqlite3.SQLITE_CANTOPEN: (StoreBroken, "the database cannot be opened"),
    sqlite3.SQLITE_IOERR: (MachineShort, "the database's file cannot be read or written"),
    sqlite3.SQLITE_NOMEM: (MachineShort, "no memory is left for the database"),
    sqlite3.SQLITE_READONLY: (StoreReadOnly, "the database cannot be written"),
    sqlite3.SQLITE_PERM: (StoreReadOnly, "the database may not be opened"),
    sqlite3.SQLITE_FULL: (DiskFull, "no space is left for the database"),
    sqlite3.SQLITE_BUSY: (StoreBusy, "another process has kept the database locked for 30 seconds"),
    sqlite3.SQLITE_LOCKED: (StoreBusy, "another connection has kept the database locked"),
}
_NO_SPACE_FOR_SHARED_MEMORY = sqlite3.SQLITE_IOERR_SHMSIZE


def translated(error: sqlite3.Error, path: str) -> NobrakesError | None:
    """The error for people; None where it is a bug of ours."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return None
    if code == _NO_SPACE_FOR_SHARED_MEMORY:
        return DiskFull(f"no space is left beside the database: {path}")
    found = _BY_CODE.get(code & 0xFF)
    if found is None:
        missing = "no such table" in str(error) or "no such column" in str(error)
        return StoreBroken(f"the database lacks a part of itself: {path} ({error})") if missing else None
    class_, what = found
    if code == sqlite3.SQLITE_IOERR_SHORT_READ:
        class_, what = StoreBroken, "the database is cut off"
    if code & 0xFF == sqlite3.SQLITE_CANTOPEN and os.path.isfile(path):
        # it is there: what is missing is the right, or a descriptor
        class_, what = (MachineShort, what) if _writable(path) else (StoreReadOnly, "the database cannot be written")
    return class_(f"{what}: {path} ({error})")


def _writable(path: str) -> bool:
    """Whether the file and its folder may be written: the log beside the database is made there."""
    return os.access(path, os.W_OK) and os.access(os.path.dirname(path) or ".", os.W_OK)
