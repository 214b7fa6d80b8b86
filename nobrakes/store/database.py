"""One connection to the database: how it is opened, its transactions, its clock, its errors.

1. WAL, foreign keys, synchronous=NORMAL and a patience of 30 seconds, set on every connection.
2. A write is one BEGIN IMMEDIATE transaction: whoever has begun wins, nobody fails half-way with a locked database.
   A statement that is all there is to write is one by itself, with the same waiting (`alone`).
3. Where the folder cannot be written, a copy is read (readonly.py); writing to it is StoreReadOnly.
4. SQLite's errors leave as core.errors; anything else is a bug and passes unchanged.
5. Who asked for it is told right after a transaction in which something was `noted` is committed.
6. What asked for it (`before_commit`) is written with each transaction, in it.
7. A power cut may take the last transactions; `sync` is for those that must be on the disk before something else is.
8. After `keep_answers` a question is not asked again while its answer must be the same (cache.py).
"""

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from ..core.errors import MachineShort, StoreBroken, StoreNewer, StoreReadOnly, UsageError
from .cache import Cache, Of
from .conditions import now
from .failures import translated
from .migrations import is_earlier, migrate
from .schema import SCHEMA, VERSION

PATIENCE_SECONDS = 30.0
MEMORY = ":memory:"

Row = sqlite3.Row
Values = Sequence[Any] | Mapping[str, Any]
T = TypeVar("T")


class Database:
    """A connection. Not to be shared between threads or across a fork."""

    def __init__(self, path: str, now: Callable[[], float] | None = None, create: bool = False) -> None:
        self.path = path
        self._given_now = now
        self.noted = False
        self.tell: Callable[[], None] | None = None
        self.settle: Callable[[], None] | None = None
        self.before_commit: Callable[[], None] | None = None
        self._cache: Cache | None = None
        self._errors = _Errors(path)
        if path != MEMORY and not create and not os.path.exists(path):
            raise missing(path)
        self.is_copy = False
        if create and path != MEMORY:
            with contextlib.suppress(OSError):  # SQLite says why
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))  # its -wal and -shm follow it
        try:
            with self.errors():
                self._open(sqlite3.connect(path, timeout=PATIENCE_SECONDS, isolation_level=None), create)
        except StoreReadOnly:
            if create:
                raise
            from .readonly import copy_of

            with self.errors():
                self.is_copy = True
                self._open(copy_of(path), create)

    def _open(self, connection: sqlite3.Connection, create: bool) -> None:
        self.connection = connection
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
                if self._version() == 0 and not run("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone():
                    for statement in SCHEMA.split(";\n"):
                        run(statement)
                    run(f"PRAGMA user_version = {VERSION}")
        if is_earlier(self._version()):
            with self.write():
                found = self._version()  # another process may have been first
                if is_earlier(found):
                    migrate(self.connection, found)
        require_version(self._version(), self.path)

    def _version(self) -> int:
        return int(self.connection.execute("PRAGMA user_version").fetchone()[0])

    def close(self) -> None:
        """Release it."""
        self.connection.close()

    def keep_answers(self) -> None:
        """From now on answers are kept; who waits for what others write calls `doubt`."""
        self._cache = Cache(self.data_version)

    @property
    def keeps_answers(self) -> bool:
        """Whether a question that was asked before mostly costs nothing."""
        return self._cache is not None

    def data_version(self) -> int:
        """Another number when another connection has committed since."""
        return int(self.connection.execute("PRAGMA data_version").fetchone()[0])

    def doubt(self) -> None:
        """The next question also sees what others have written until then."""
        if self._cache is not None:
            self._cache.doubt()

    def _forget(self) -> None:
        if self._cache is not None:
            self._cache.forget()

    def _writes(self, sql: str, rows: Of = ()) -> None:
        if self._cache is not None:
            self._cache.writes(sql, rows)

    def sync(self) -> None:
        """Whatever was committed is on the disk when this returns, and what was written beside it. MachineShort."""
        if self.settle is not None:
            self.settle()
        if self.path == MEMORY:
            return
        with contextlib.suppress(FileNotFoundError):  # what is in no write-ahead log was synced by SQLite
            _flush(f"{self.path}-wal")  # a file on which SQLite has no lock: it loses none when we close it
        _flush(os.path.dirname(self.path) or ".")  # the names of files that are new

    def now(self) -> float:
        """Seconds since 1970 UTC by the database's own clock, unless another was given."""
        if self._given_now is not None:
            return self._given_now()
        return now()

    def errors(self) -> "_Errors":
        """SQLite's errors inside become core.errors."""
        return self._errors

    @contextmanager
    def write(self, *, derived: bool = False, told: bool = True) -> Iterator[None]:
        """One transaction that writes: all of it or nothing. Inside another one it is a part of that.

        `derived`: only what follows from the facts and the clock, so that a copy for reading takes it, too.
        `told=False`: nobody is told of what was noted in it.
        """
        if self.is_copy and not derived:
            raise StoreReadOnly(f"the database cannot be written: {self.path}")
        if self.connection.in_transaction:
            with self.errors(), self._savepoint():
                yield
            return
        self.noted = False
        with self.errors(), self._transaction("BEGIN IMMEDIATE"):
            yield
            if self.before_commit is not None and not derived:
                self.before_commit()
        if self.noted and told and self.tell is not None:
            self.tell()

    def alone(self, sql: str, values: Values = (), rows: Of = ()) -> int:
        """`run` a statement that is a whole transaction. Inside one, a part of it."""
        if self.connection.in_transaction or self.can_write_alone:
            return self.run(sql, values, rows)
        with self.write():
            return self.run(sql, values, rows)

    @property
    def can_write_alone(self) -> bool:
        """Whether a statement by itself is a whole transaction: nothing has to be written with it."""
        return not self.is_copy and self.before_commit is None

    def moment(self, look: Callable[[], T]) -> T:
        """What `look` finds, which asks several questions and writes nothing: all of one moment of the database.

        Where answers are kept it takes no transaction to see that nobody wrote meanwhile; where somebody did, it does.
        """
        if self._cache is not None and not self.connection.in_transaction:
            asked, version = self._cache.asked, self._cache.version
            with self.errors():
                found = look()
                # a question in between may have seen the write of another one, and counts from there on
                if self._cache.asked == asked or (self._cache.is_same() and self._cache.version == version):
                    return found
        with self.read():
            return look()

    @contextmanager
    def read(self) -> Iterator[None]:
        """One moment of the database for several questions. Inside a transaction, that one goes on."""
        with self.errors():
            if self.connection.in_transaction:
                yield
                return
            with self._transaction("BEGIN"):
                yield

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        self.doubt()
        self.connection.execute(begin)
        try:
            yield
            self.connection.execute("COMMIT")
        except BaseException:
            self._forget()
            # a full disk has rolled the transaction back already
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            raise

    @contextmanager
    def _savepoint(self) -> Iterator[None]:
        self.connection.execute("SAVEPOINT part")
        try:
            yield
        except BaseException:
            self._forget()
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK TO part")
                self.connection.execute("RELEASE part")
            raise
        self.connection.execute("RELEASE part")

    def run(self, sql: str, values: Values = (), rows: Of = ()) -> int:
        """Execute a statement; the number of rows it changed. `rows`: those that it may change, where that is known."""
        self._writes(sql, rows)
        with self.errors():
            return self.connection.execute(sql, values).rowcount

    def run_many(self, sql: str, rows: Iterable[Values]) -> None:
        """Execute a statement for each of `rows`."""
        self._writes(sql)
        with self.errors():
            self.connection.executemany(sql, rows)

    def insert(self, table: str, values: Mapping[str, Any], rows: Of = ()) -> int:
        """Insert one row; its rowid. `rows` as in `run`."""
        columns = ", ".join(f'"{name}"' for name in values)
        marks = ", ".join("?" * len(values))
        sql = f"INSERT INTO {table} ({columns}) VALUES ({marks})"
        self._writes(sql, rows)
        with self.errors():
            cursor = self.connection.execute(sql, tuple(values.values()))
        return cursor.lastrowid or 0

    def all(self, sql: str, values: Values = (), of: Of = ()) -> list[Row]:
        """Every row of the answer. `of`: what alone it is read from, where that is less than whole tables."""
        if self._cache is not None:
            return self._cache.rows(sql, values, lambda: self._all(sql, values), False, of)
        return self._all(sql, values)

    def _all(self, sql: str, values: Values) -> list[Row]:
        with self.errors():
            return self.connection.execute(sql, values).fetchall()

    def plain(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """As `all`, as plain tuples: for answers that are as long as the graph, and are not kept."""
        if self._cache is not None:
            self._cache.asked += 1
        with self.errors():
            cursor = self.connection.cursor()
            cursor.row_factory = None
            return cursor.execute(sql, values).fetchall()

    def each(self, sql: str, values: Values = ()) -> Iterator[tuple[Any, ...]]:
        """As `plain`, row by row, for answers that are not kept. Nothing may be written meanwhile."""
        with self.errors():
            cursor = self.connection.cursor()
            cursor.row_factory = None
            yield from cursor.execute(sql, values)

    def maybe(self, sql: str, values: Values = (), of: Of = ()) -> Row | None:
        """The first row of the answer, if there is one. `of` as in `all`."""
        if self._cache is not None:
            found: Row | None = self._cache.rows(sql, values, lambda: [self._first(sql, values)], True, of)[0]
            return found
        return self._first(sql, values)

    def _first(self, sql: str, values: Values) -> Row | None:
        with self.errors():
            row: Row | None = self.connection.execute(sql, values).fetchone()
            return row

    def one(self, sql: str, values: Values = (), of: Of = ()) -> Row:
        """The first row of an answer that cannot be empty. `of` as in `all`."""
        row = self.maybe(sql, values, of)
        assert row is not None, f"an answer was certain: {sql}"
        return row


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
            clear = translated(error, self._path)
            if clear is not None:
                raise clear from error
        elif isinstance(error, OverflowError):
            raise UsageError("a number is larger than any that is counted here", "Give a smaller one.") from None


def missing(path: str) -> StoreBroken:
    """The error for a database that is not there."""
    return StoreBroken(f"there is no database at {path}", "`nobrakes doctor --repair rebuild` makes it anew.")


def require_version(found: int, path: str) -> None:
    """StoreBroken unless the database is of the version that this nobrakes writes; StoreNewer above it."""
    if found > VERSION:
        raise StoreNewer(f"{path} was written by a newer nobrakes (its version is {found}, this one knows {VERSION})")
    if found < VERSION:
        raise StoreBroken(f"{path} is no database of nobrakes (version {found}, expected {VERSION})")


def require_not_newer(path: str) -> None:
    """StoreNewer where a newer nobrakes wrote the file. Nothing is changed; what cannot be read is not newer."""
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA query_only = ON")
        found = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if found > VERSION:
            require_version(found, path)
