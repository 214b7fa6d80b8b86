"""One connection to the database: its transactions, its clock, kept answers, and errors that a person can act on."""

import contextlib
import os
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from time import monotonic
from typing import Any, TypeVar

from ..errors import (
    DiskFull,
    MachineShort,
    NobrakesError,
    StoreBroken,
    StoreBusy,
    StoreNewer,
    StoreReadOnly,
    UsageError,
)
from .fast import VERSION, file_uri, now

_BY_CODE: dict[int, tuple[type[NobrakesError], str]] = {
    sqlite3.SQLITE_CORRUPT: (StoreBroken, "the database is damaged"),
    sqlite3.SQLITE_NOTADB: (StoreBroken, "the database's file is not a database"),
    sqlite3.SQLITE_CANTOPEN: (StoreBroken, "the database cannot be opened"),
    sqlite3.SQLITE_IOERR: (MachineShort, "the database's file cannot be read or written"),
    sqlite3.SQLITE_NOMEM: (MachineShort, "no memory is left for the database"),
    sqlite3.SQLITE_READONLY: (StoreReadOnly, "the database cannot be written"),
    sqlite3.SQLITE_PERM: (StoreReadOnly, "this account may not open the database"),
    sqlite3.SQLITE_FULL: (DiskFull, "no space is left for the database"),
    sqlite3.SQLITE_BUSY: (StoreBusy, "another process has kept the database locked for 30 seconds"),
    sqlite3.SQLITE_LOCKED: (StoreBusy, "another connection has kept the database locked"),
}
_NO_SPACE_FOR_SHARED_MEMORY = sqlite3.SQLITE_IOERR_SHMSIZE


def translated(error: sqlite3.Error, path: str) -> NobrakesError | None:
    """None: a bug of ours."""
    if (code := getattr(error, "sqlite_errorcode", None)) is None:
        return None
    if code == _NO_SPACE_FOR_SHARED_MEMORY:
        return DiskFull(f"no space is left next to the database: {path}")
    if (found := _BY_CODE.get(code & 0xFF)) is None:
        missing = "no such table" in str(error) or "no such column" in str(error)
        return StoreBroken(f"the database has a missing table or column: {path} ({error})") if missing else None
    class_, what = found
    if code == sqlite3.SQLITE_IOERR_SHORT_READ:
        class_, what = StoreBroken, "the database file is incomplete"
    if code & 0xFF == sqlite3.SQLITE_CANTOPEN and os.path.isfile(path):
        # it is there: what is missing is the right, or a descriptor
        class_, what = (MachineShort, what) if _writable(path) else (StoreReadOnly, "the database cannot be written")
    return class_(f"{what}: {path} ({error})")


def _writable(path: str) -> bool:
    return os.access(path, os.W_OK) and os.access(os.path.dirname(path) or ".", os.W_OK)


# An answer holds until something is written that it was read from: a table that its question names, or a row (`row`).
# Another connection's writes are seen by SQLite's `data_version`, asked after each `doubt`, once a transaction, and
# each CACHE_SECONDS: who waited for somebody's word has to `doubt` first. A transaction that did not come about forgets
# all, and a question that names a moment (a float) is asked each time.
CACHE_SECONDS = 0.1
MAX_CACHED = 2048
MAX_ROWS = 20_000

_WORD = re.compile(r"\w+")

Of = tuple[str, ...]
"""What an answer reads or a statement writes: tables, and rows of them."""


@cache
def schema() -> str:
    with open(os.path.join(os.path.dirname(__file__), "schema.sql"), encoding="utf-8") as file:
        return file.read().partition("\n")[2]


@cache
def _tables() -> frozenset[str]:
    return frozenset(re.findall(r"CREATE TABLE (\w+)", schema()))


@lru_cache(maxsize=1024)
def tables(sql: str) -> Of:
    """Tables in a statement, perhaps with names that are also columns. Empty: another table, outside the schema."""
    return () if "temp." in sql else tuple(_tables().intersection(_WORD.findall(sql)))


def row(table: str, key: object) -> Of:
    return f"{table} {key}", f"{table} *"


class Cache:
    """One connection's cached answers, if `is_on`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.is_on = False
        self._connection = connection
        self._answers: dict[tuple[bool, str, tuple[Any, ...]], tuple[int, Of, list[Any]]] = {}
        self._written: dict[str, int] = {}
        self._writes = 0
        self._unknown = 0  # what was written before this one is not known
        self.version = -1
        self._sure_until = 0.0
        self.asked = 0

    def doubt(self) -> None:
        self._sure_until = 0.0

    def forget(self) -> None:
        """Keep nothing of before."""
        self._answers.clear()
        self._written.clear()
        self._writes += 1
        self._unknown = self._writes
        self.doubt()

    def writes(self, sql: str, rows: Of) -> None:
        """A statement writes these rows, or anything if none is named."""
        if not self.is_on:
            return
        if len(self._written) > MAX_ROWS:
            self.forget()
        self._writes += 1
        named = tables(sql) or _tables()
        for one in (*named, *(rows or (f"{table} *" for table in named))):
            self._written.pop(one, None)  # it is the latest from now on
            self._written[one] = self._writes

    @property
    def stamp(self) -> int:
        """A moment for `written_since`; -1: answers are not kept."""
        return self._writes if self.is_on else -1

    def written_since(self, table: str, stamp: int, but: Of) -> set[str] | None:
        """The keys of the table's rows that this connection wrote since; None: unknown, or one of `but` was written."""
        if not self.is_on or stamp < self._unknown or not (monotonic() < self._sure_until or self.is_same()):
            return None
        found, prefix = set(), f"{table} "
        for one, at in reversed(self._written.items()):
            if at <= stamp:
                break
            if one in but:
                return None
            if one.startswith(prefix):
                found.add(one[len(prefix) :])
        return found

    def rows(
        self, sql: str, values: Sequence[Any] | Mapping[str, Any], ask: Callable[[], list[Any]], one: bool, of: Of
    ) -> list[Any]:
        """The answer; `ask` queries the database. `one`: only the first row."""
        if not self.is_on:
            return ask()
        given = tuple(values.items()) if isinstance(values, Mapping) else tuple(values)
        of = of or tables(sql)
        if not of or any(type(value) is float or (type(value) is tuple and type(value[1]) is float) for value in given):
            self.asked += 1
            return ask()
        key = one, sql, given
        if (known := self._answers.get(key)) is not None and self._holds(known[0], known[1]):
            return list(known[2])
        self.asked += 1
        found = ask()
        self._answers.pop(key, None)  # it is the newest from now on
        if len(self._answers) >= MAX_CACHED:
            for old in list(self._answers)[: MAX_CACHED // 2]:
                del self._answers[old]
        self._answers[key] = self._writes, of, found
        return list(found)

    def _holds(self, since: int, of: Of) -> bool:
        written = self._written
        if any(written.get(one, 0) > since for one in of):
            return False
        return monotonic() < self._sure_until or self.is_same()

    def is_same(self) -> bool:
        """Whether no one else wrote since the last query; else all answers are dropped."""
        version = _data_version(self._connection)
        self._sure_until = monotonic() + CACHE_SECONDS
        if version == self.version:
            return True
        self.version = version
        self._answers.clear()
        self._writes += 1
        self._unknown = self._writes
        return False


TIMEOUT_SECONDS = 30.0
MEMORY = ":memory:"

Row = sqlite3.Row
Values = Sequence[Any] | Mapping[str, Any]
T = TypeVar("T")


def secret() -> str:
    from secrets import token_urlsafe  # only whoever opens an attempt needs one

    return token_urlsafe(24)


# A write is one BEGIN IMMEDIATE transaction: whoever has begun wins. Where the folder cannot be written a copy is read,
# and writing is StoreReadOnly. A power cut may take the last transactions: `sync` is for those that must be on the disk
# first.
class Database:
    """A connection, for one thread and process."""

    def __init__(
        self,
        path: str,
        now: Callable[[], float] | None = None,
        create: bool = False,
        token_source: Callable[[], str] = secret,
    ) -> None:
        self.path = path
        self.token_source = token_source
        self._given_now = now
        self.noted = False
        self._told: Callable[[], None] | None = None
        self._settle: Callable[[], None] | None = None
        self.before_commit: Callable[[], None] | None = None
        self.guard: Callable[[], None] = lambda: None  # may raise, before a transaction that writes is committed
        self._errors = _Errors(path)
        if path != MEMORY and not create and not os.path.exists(path):
            raise missing(path)
        self.is_copy = False
        if create and path != MEMORY:
            with contextlib.suppress(OSError):  # SQLite says why
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))  # its -wal and -shm follow it
        try:
            with self._errors:
                self._open(sqlite3.connect(path, timeout=TIMEOUT_SECONDS, isolation_level=None), create)
        except StoreReadOnly:
            if create:
                raise
            with self._errors:
                self.is_copy = True
                self._open(copy_of(path), create)

    def _open(self, connection: sqlite3.Connection, create: bool) -> None:
        self.connection, self.cache = connection, Cache(connection)
        self.kept: dict[Callable[[Any], Any], tuple[int, dict[Any, tuple[tuple[Any, ...], Any]], list[Any]]] = {}
        connection.row_factory = sqlite3.Row
        try:
            self._prepare(create or self.path == MEMORY)
        except BaseException:
            connection.close()
            raise

    def _prepare(self, create: bool) -> None:
        run = self.connection.execute
        run("PRAGMA foreign_keys = ON")
        run("PRAGMA synchronous = NORMAL")
        if create:
            run("PRAGMA journal_mode = WAL")
            with self.write():
                if _version(self.connection) == 0 and not run("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone():
                    for statement in schema().split(";\n"):
                        run(statement)
                    run(f"PRAGMA user_version = {VERSION}")
        if _version(self.connection) < VERSION:
            from .migrations import is_earlier, migrate

            if is_earlier(_version(self.connection)):
                with self.write():
                    found = _version(self.connection)  # another process may have been first
                    if is_earlier(found):
                        migrate(self.connection, found)
        require_version(_version(self.connection), self.path)

    def close(self) -> None:
        self.connection.close()

    def keep_answers(self) -> None:
        """Cache answers; callers that wait for other writers call `doubt`."""
        self.cache.is_on, self.cache.version = True, self.data_version()

    @property
    def keeps_answers(self) -> bool:
        return self.cache.is_on

    def data_version(self) -> int:
        return _data_version(self.connection)

    def doubt(self) -> None:
        """The next query also sees others' commits."""
        self.cache.doubt()

    def sync(self) -> None:
        """On return all commits are on disk, with the files beside the database. Raises MachineShort."""
        if self._settle is not None:
            self._settle()
        if self.path == MEMORY:
            return
        with contextlib.suppress(FileNotFoundError):  # what is in no write-ahead log was synced by SQLite
            _flush(f"{self.path}-wal")  # a file on which SQLite has no lock: it loses none when we close it
        _flush(os.path.dirname(self.path) or ".")  # the names of files that are new

    def tell(self, told: Callable[[], None], settle: Callable[[], None]) -> None:
        """Call `told` after each transaction that changed `changes`, and `settle` in `sync`."""
        self._told, self._settle = told, settle

    def now(self) -> float:
        """Seconds since 1970 UTC."""
        return self._given_now() if self._given_now is not None else now()

    @contextmanager
    def write(self, *, derived: bool = False, told: bool = True) -> Iterator[None]:
        """A writing transaction or part of one. `derived`: derived values, which a copy takes too. `told`: notify."""
        if self.is_copy and not derived:
            raise StoreReadOnly(f"cannot write to the database: {self.path}")
        if self.connection.in_transaction:
            with self._errors, _savepoint(self.connection, self.cache):
                yield
            return
        self.noted = False
        with self._errors, _transaction(self.connection, self.cache, "BEGIN IMMEDIATE"):
            yield
            if self.before_commit is not None and not derived:
                self.before_commit()
            self.guard()
        if self.noted and told and self._told is not None:
            self._told()

    def alone(self, sql: str, values: Values = (), rows: Of = ()) -> int:
        """`run` a statement as a transaction, or within the outer one."""
        if self.connection.in_transaction:
            return self.run(sql, values, rows)
        if self.can_write_alone:
            self.guard()
            return self.run(sql, values, rows)
        with self.write():
            return self.run(sql, values, rows)

    @property
    def can_write_alone(self) -> bool:
        """Whether no other writes belong to a statement."""
        return not self.is_copy and self.before_commit is None

    def moment(self, look: Callable[[], T]) -> T:
        """Reads of `look` at one consistent state; no transaction if answers are cached and no other process wrote."""
        if self.cache.is_on and not self.connection.in_transaction:
            asked, version = self.cache.asked, self.cache.version
            with self._errors:
                found = look()
                # a question in between may have seen the write of another one, and counts from there on
                if self.cache.asked == asked or (self.cache.is_same() and self.cache.version == version):
                    return found
        with self.read():
            return look()

    @contextmanager
    def read(self) -> Iterator[None]:
        """A consistent state for several reads; continues an outer transaction."""
        with self._errors:
            if self.connection.in_transaction:
                yield
                return
            with _transaction(self.connection, self.cache, "BEGIN"):
                yield

    def run(self, sql: str, values: Values = (), rows: Of = ()) -> int:
        """The number of changed rows. `rows`: those it may change, if known."""
        self.cache.writes(sql, rows)
        with self._errors:
            return self.connection.execute(sql, values).rowcount

    def run_many(self, sql: str, rows: Iterable[Values]) -> None:
        self.cache.writes(sql, ())
        with self._errors:
            self.connection.executemany(sql, rows)

    def insert(self, table: str, values: Mapping[str, Any], rows: Of = ()) -> int:
        """Returns the rowid. `rows` as in `run`."""
        columns = ", ".join(f'"{name}"' for name in values)
        marks = ", ".join("?" * len(values))
        sql = f"INSERT INTO {table} ({columns}) VALUES ({marks})"
        self.cache.writes(sql, rows)
        with self._errors:
            cursor = self.connection.execute(sql, tuple(values.values()))
        return cursor.lastrowid or 0

    def all(self, sql: str, values: Values = (), of: Of = ()) -> list[Row]:
        """`of`: what the answer depends on, if less than full tables."""

        def ask() -> list[Row]:
            with self._errors:
                return self.connection.execute(sql, values).fetchall()

        return self.cache.rows(sql, values, ask, False, of)

    def plain(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """As `all`, uncached plain tuples, for answers as long as the graph."""
        self.cache.asked += 1
        with self._errors:
            cursor = self.connection.cursor()
            cursor.row_factory = None
            return cursor.execute(sql, values).fetchall()

    def computed(self, name: str, values: Values, make: Callable[[], Iterable[Any]], of: Of) -> list[Any]:
        """What `make` reads and computes, cached under the name and the values; `of` as in `all`."""
        return self.cache.rows(name, values, lambda: [*make()], False, of)

    def each(self, sql: str, values: Values = ()) -> Iterator[tuple[Any, ...]]:
        """As `plain`, row by row; nothing may be written meanwhile."""
        with self._errors:
            cursor = self.connection.cursor()
            cursor.row_factory = None
            yield from cursor.execute(sql, values)

    def maybe(self, sql: str, values: Values = (), of: Of = ()) -> Row | None:
        """The first row. `of` as in `all`."""

        def ask() -> list[Row | None]:
            with self._errors:
                return [self.connection.execute(sql, values).fetchone()]

        found: Row | None = self.cache.rows(sql, values, ask, True, of)[0]
        return found

    def one(self, sql: str, values: Values = (), of: Of = ()) -> Row:
        """The first row of a non-empty answer. `of` as in `all`."""
        row = self.maybe(sql, values, of)
        assert row is not None, f"a query that must find a row found none: {sql}"
        return row


def _data_version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA data_version").fetchone()[0])


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


@contextmanager
def _transaction(connection: sqlite3.Connection, cache: Cache, begin: str) -> Iterator[None]:
    cache.doubt()
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        cache.forget()
        # a full disk has rolled the transaction back already
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def _savepoint(connection: sqlite3.Connection, cache: Cache) -> Iterator[None]:
    connection.execute("SAVEPOINT part")
    try:
        yield
    except BaseException:
        cache.forget()
        if connection.in_transaction:
            connection.execute("ROLLBACK TO part")
            connection.execute("RELEASE part")
        raise
    connection.execute("RELEASE part")


def _flush(path: str) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise MachineShort(f"{error.strerror}: {path}") from error


class _Errors:
    """Around every statement, so a class and not a generator."""

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, sqlite3.Error):
            if (clear := translated(error, self._path)) is not None:
                raise clear from error
        elif isinstance(error, OverflowError):
            raise UsageError("the number is too large for the database", "Use a smaller number.") from None


def missing(path: str) -> StoreBroken:
    return StoreBroken(f"there is no database at {path}", "`nobrakes doctor --repair rebuild` rebuilds the database.")


def require_version(found: int, path: str) -> None:
    """StoreBroken for an older version, StoreNewer for a newer one."""
    if found > VERSION:
        raise StoreNewer(f"{path} was written by a newer nobrakes (version {found}; this nobrakes knows {VERSION})")
    if found < VERSION:
        raise StoreBroken(f"{path} is not a nobrakes database (version {found}, expected {VERSION})")


def require_not_newer(path: str) -> None:
    """StoreNewer for a newer file. Changes nothing; unreadable files pass."""
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA query_only = ON")
        if (found := _version(connection)) > VERSION:
            require_version(found, path)


def is_current(path: str) -> bool:
    """Whether the file has this version's schema: opened, an older one would be migrated. Changes nothing."""
    uri = file_uri(os.path.abspath(path), "mode=ro")
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(uri, uri=True)) as connection:
        return _version(connection) == VERSION
    return False


def copy_of(path: str) -> sqlite3.Connection:
    """A copy in memory, where SQLite cannot make its log or shared memory. Raises sqlite3.Error, OSError. 1. It is one
    consistent state, not updated. 2. A present writer's shared memory and log are used. 3. Otherwise file and log are
    copied and joined elsewhere. The file alone counts only without a log."""
    import shutil
    import tempfile

    for _ in range(5):
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
    raise sqlite3.OperationalError("the database changes faster than nobrakes can read it")


def _in_memory(uri: str) -> sqlite3.Connection:
    source = sqlite3.connect(uri, uri=True, timeout=TIMEOUT_SECONDS)
    try:
        made = sqlite3.connect(MEMORY, isolation_level=None)
        source.backup(made)
        return made
    finally:
        source.close()


def _marks(path: str) -> tuple[tuple[int, int], tuple[int, int] | None]:
    main = os.stat(path)
    try:
        log = os.stat(path + "-wal")
    except FileNotFoundError:
        return (main.st_mtime_ns, main.st_size), None
    return (main.st_mtime_ns, main.st_size), (log.st_mtime_ns, log.st_size) if log.st_size else None
