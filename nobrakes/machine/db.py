"""The person's database: places of agents, what a day cost, projects, chats, clients. A method is one transaction."""

import contextlib
import json
import os
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from sqlite3 import Connection
from typing import Any

from ..db.database import translated
from ..db.fast import file_uri
from ..errors import PlaceUnusable, StoreBroken, StoreBusy, StoreReadOnly
from ..records import frozen
from ..text.cleaning import count

# A step is one version; steps are only ever added. A repository is known by its identity and not by its path; what it
# spent is kept by that, and outlasts it. Of a client's token only the hash is here.
STEPS: Sequence[Sequence[str]] = (
    (
        """CREATE TABLE repositories (identity TEXT NOT NULL PRIMARY KEY, path TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
registered_at REAL NOT NULL, seen_at REAL NOT NULL)""",
        """CREATE TABLE daemons (name TEXT NOT NULL PRIMARY KEY, repository TEXT NOT NULL, pid INTEGER NOT NULL,
born TEXT NOT NULL, since REAL NOT NULL)""",
        """CREATE TABLE places (daemon TEXT NOT NULL REFERENCES daemons (name) ON DELETE CASCADE, run TEXT NOT NULL,
since REAL NOT NULL, PRIMARY KEY (daemon, run))""",
        """CREATE TABLE spent (repository TEXT NOT NULL, day REAL NOT NULL, usd REAL NOT NULL, tokens INTEGER NOT NULL,
PRIMARY KEY (repository, day))""",
        "CREATE INDEX spent_by_day ON spent (day)",
    ),
    (
        """CREATE TABLE projects (name TEXT NOT NULL PRIMARY KEY, created_at REAL NOT NULL, created_by TEXT NOT NULL,
archived_at REAL)""",
        """CREATE TABLE chats (name TEXT NOT NULL PRIMARY KEY, confirmed_project TEXT,
is_new INTEGER NOT NULL DEFAULT 0, identity TEXT NOT NULL DEFAULT '',
client TEXT NOT NULL DEFAULT '', began_at REAL NOT NULL, seen_at REAL NOT NULL,
set_at REAL)""",
        """CREATE TABLE chat_events (seq INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, chat TEXT NOT NULL,
kind TEXT NOT NULL, data TEXT NOT NULL)""",
        """CREATE TABLE chat_runs (chat TEXT NOT NULL, project TEXT NOT NULL, tool TEXT NOT NULL,
session INTEGER NOT NULL, model TEXT NOT NULL, is_current INTEGER NOT NULL, at REAL NOT NULL,
PRIMARY KEY (project, session))""",
        """CREATE TABLE clients (name TEXT NOT NULL PRIMARY KEY, hash TEXT NOT NULL UNIQUE, made_at REAL NOT NULL,
used_at REAL, revoked_at REAL)""",
    ),
)
_MIGRATIONS = "CREATE TABLE IF NOT EXISTS migrations (version INTEGER NOT NULL PRIMARY KEY, at REAL NOT NULL)"


def version(connection: Connection) -> int:
    try:  # one question: each turn of a daemon asks it
        found = connection.execute("SELECT max(version) FROM migrations").fetchone()[0]
    except sqlite3.OperationalError as error:
        if "no such table" not in str(error):
            raise
        return 0
    return int(found or 0)


def bring_up(connection: Connection, path: str, now: float, steps: Sequence[Sequence[str]] = STEPS) -> None:
    """Upgrade the file. PlaceUnusable: a newer nobrakes wrote it, and nothing changed."""
    if version(connection) < len(steps):
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.execute(_MIGRATIONS)
            for number in range(version(connection), len(steps)):
                for statement in steps[number]:
                    connection.execute(statement)
                connection.execute("INSERT INTO migrations (version, at) VALUES (?, ?)", (number + 1, now))
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
    require_known(connection, path, steps)


def require_known(connection: Connection, path: str, steps: Sequence[Sequence[str]] = STEPS) -> None:
    """PlaceUnusable for a newer file; nothing changed."""
    if (found := version(connection)) > len(steps):
        text = f"{path} was written by a newer nobrakes (file version {found}; this nobrakes knows {len(steps)})"
        raise PlaceUnusable(text, "Update nobrakes. Your present version changed nothing in the file.")


USER_TIMEOUT_SECONDS = 5.0


# A write is BEGIN IMMEDIATE: of two that want the last place one is first, and the other sees it. Nobody waits longer
# than a few seconds: StoreBusy then.
class UserDatabase:
    """The file at `path`, created if missing; `is_reading`: only an existing one, never written."""

    def __init__(
        self, path: str, now: Callable[[], float], is_reading: bool = False, timeout: float = USER_TIMEOUT_SECONDS
    ) -> None:
        self.path = path
        self._timeout = timeout
        self._now = now
        if not is_reading:
            with contextlib.suppress(OSError):  # SQLite says why
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
        with self._errors():
            self._connection = sqlite3.connect(
                file_uri(os.path.abspath(path), "mode=rw"), timeout=timeout, isolation_level=None, uri=True
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
            require_known(self._connection, self.path)
            return
        run("PRAGMA journal_mode = WAL")
        bring_up(self._connection, self.path, self._now())

    def require_present(self) -> None:
        """PlaceUnusable after a newer nobrakes upgraded it."""
        with self._errors():
            require_known(self._connection, self.path)

    def require_writable(self) -> None:
        """StoreBusy, StoreReadOnly if nothing can be written now. Writes nothing."""
        with self._errors():
            self._connection.execute("PRAGMA query_only = OFF")
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute("ROLLBACK")
            self._connection.execute("PRAGMA query_only = ON")

    def close(self) -> None:
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
                text = f"another process has kept {self.path} locked for {count(self._timeout, 'second')}"
                raise StoreBusy(
                    text, "nobrakes tries again. If this repeats, find the program that keeps this file open."
                ) from error
            if (clear := translated(error, self.path)) is None:
                raise
            if isinstance(clear, StoreBroken):
                text = f"Move this file and {self.path}-wal away; nobrakes makes new files. No repository loses data."
                raise PlaceUnusable(str(clear), text) from error
            if isinstance(clear, StoreReadOnly):
                text = "Check the permissions of this file and its folder, and that the disk is not mounted read-only."
                raise StoreReadOnly(str(clear), text) from error
            raise clear from error


_REGISTER = """INSERT INTO repositories (identity, path, name, registered_at, seen_at) VALUES (?1, ?2, ?3, ?4, ?4)
ON CONFLICT (identity) DO UPDATE SET path = ?2, name = ?3, seen_at = ?4"""
_HOLD = "INSERT OR IGNORE INTO places (daemon, run, since) VALUES (?, ?, ?)"
_LET_GO = "DELETE FROM places WHERE daemon = ? AND run NOT IN (SELECT value FROM json_each(?))"
_HOLD_ALL = "INSERT OR IGNORE INTO places (daemon, run, since) SELECT ?, value, ? FROM json_each(?)"
_SELECT_PLACES = """SELECT places.daemon, daemons.repository, daemons.pid, places.run, places.since
FROM places JOIN daemons ON daemons.name = places.daemon ORDER BY places.since, places.run"""

IsAlive = Callable[[str], bool]


@frozen
class Repository:
    """A repository of this person."""

    identity: str
    path: str
    name: str
    registered_at: float
    seen_at: float


@frozen
class Place:
    """A place held by an agent. `repository`: its identity."""

    daemon: str
    repository: str
    pid: int
    run: str
    since: float


@frozen
class DaySpent:
    """What one repository spent on a day."""

    repository: str
    usd: float
    tokens: int


# A place is a row of a daemon; a daemon that does not live has none: `is_alive` is asked inside the transaction that
# counts.
class UserStore(UserDatabase):
    """The repositories of this machine, the places that their agents hold, and what they spent."""

    # --- repositories ----------------------------------------------------------------------------

    def register(self, identity: str, path: str, name: str) -> None:
        """Forgets another repository that was at this path."""
        with self._write():
            self._run("DELETE FROM repositories WHERE path = ? AND identity <> ?", path, identity)
            self._run(_REGISTER, identity, path, name, self._now())

    def repositories(self) -> list[Repository]:
        columns = "identity, path, name, registered_at, seen_at"
        return [Repository(*row) for row in self._all(f"SELECT {columns} FROM repositories ORDER BY path")]

    def forget(self, identity: str) -> bool:
        """Its spending still counts. Whether it was known."""
        with self._write():
            return self._run("DELETE FROM repositories WHERE identity = ?", identity) > 0

    # --- places ----------------------------------------------------------------------------------

    def begin_daemon(self, name: str, repository: str, pid: int, born: str) -> None:
        with self._write():
            self._run("INSERT INTO daemons VALUES (?, ?, ?, ?, ?)", name, repository, pid, born, self._now())

    def end_daemon(self, name: str) -> None:
        with self._write():
            self._run("DELETE FROM daemons WHERE name = ?", name)

    def take(self, daemon: str, run: str, most: int | None, is_alive: IsAlive) -> bool:
        """Take a place for the run unless `most` are taken; first frees those of dead daemons."""
        with self._write():
            for (name,) in self._all("SELECT name FROM daemons"):
                if name != daemon and not is_alive(name):
                    self._run("DELETE FROM daemons WHERE name = ?", name)
            others = "SELECT count(*) FROM places WHERE NOT (daemon = ? AND run = ?)"
            if most is not None and self._all(others, daemon, run)[0][0] >= most:
                return False
            self._run(_HOLD, daemon, run, self._now())
            return True

    def set_places(self, daemon: str, runs: Collection[str]) -> None:
        """The daemon has exactly these places, whatever the limit."""
        names = json.dumps(sorted(runs))
        with self._write():
            self._run(_LET_GO, daemon, names)
            self._run(_HOLD_ALL, daemon, self._now(), names)

    def places(self, is_alive: IsAlive) -> list[Place]:
        """Places of living daemons, oldest first."""
        found = [Place(*row) for row in self._all(_SELECT_PLACES)]
        alive = {name: is_alive(name) for name in {place.daemon for place in found}}
        return [place for place in found if alive[place.daemon]]

    # --- what was spent --------------------------------------------------------------------------

    def spend(self, repository: str, day: float, usd: float, tokens: int) -> None:
        with self._write():
            self._run("INSERT OR REPLACE INTO spent VALUES (?, ?, ?, ?)", repository, day, usd, tokens)

    def spent(self, day: float) -> list[DaySpent]:
        """Also of forgotten repositories."""
        rows = self._all("SELECT repository, usd, tokens FROM spent WHERE day = ? ORDER BY repository", day)
        return [DaySpent(*row) for row in rows]


PROJECT_SET = "project.set"
_CHAT = "name, confirmed_project, is_new, identity, client, began_at, seen_at, set_at"
_INSERT_CHAT = """INSERT INTO chats (name, client, began_at, seen_at) VALUES (?1, ?2, ?3, ?3)
ON CONFLICT (name) DO UPDATE SET seen_at = ?3, client = CASE WHEN ?2 = '' THEN client ELSE ?2 END"""


@frozen
class ProjectRow:
    """A project. `archived_at` None: not archived."""

    name: str
    created_at: float
    created_by: str
    archived_at: float | None


@frozen
class Chat:
    """A chat agent's session. `confirmed_project`: a folder or None; `identity`: its repository's; `client`: who."""

    name: str
    confirmed_project: str | None
    is_new: bool
    identity: str
    client: str
    began_at: float
    seen_at: float
    set_at: float | None


@frozen
class ChatEvent:
    """Something that happened in a chat."""

    seq: int
    at: float
    chat: str
    kind: str
    data: Mapping[str, Any]


@frozen
class ChatRun:
    """A session begun by a chat's coding tool. `is_current`: the tool continues it."""

    chat: str
    project: str
    tool: str
    session: int
    model: str
    is_current: bool
    at: float


# A project's row is only what its folder cannot say. What a chat's project was before stays in the events.
class ProjectStore(UserDatabase):
    """Projects and chats."""

    def created(self, name: str, actor: str) -> None:
        """A known project stays as it is."""
        with self._write():
            self._run("INSERT OR IGNORE INTO projects VALUES (?, ?, ?, NULL)", name, self._now(), actor)

    def archive(self, name: str, is_archived: bool) -> None:
        with self._write():
            self._run("INSERT OR IGNORE INTO projects VALUES (?, ?, '', NULL)", name, self._now())
            self._run("UPDATE projects SET archived_at = ? WHERE name = ?", self._now() if is_archived else None, name)

    def projects(self) -> dict[str, ProjectRow]:
        rows = self._all("SELECT name, created_at, created_by, archived_at FROM projects ORDER BY name")
        return {row[0]: ProjectRow(*row) for row in rows}

    def see_chat(self, name: str, client: str = "") -> Chat:
        """The chat, seen now; creates an unknown one."""
        with self._write():
            self._run(_INSERT_CHAT, name, client, self._now())
        found = self.chat(name)
        assert found is not None, "the chat was just stored"
        return found

    def chat(self, name: str) -> Chat | None:
        rows = self._all(f"SELECT {_CHAT} FROM chats WHERE name = ?", name)
        return _chat(rows[0]) if rows else None

    def chats(self) -> list[Chat]:
        return [_chat(row) for row in self._all(f"SELECT {_CHAT} FROM chats ORDER BY seen_at DESC, name")]

    def set_project(self, chat: str, project: str, path: str, is_new: bool, identity: str) -> None:
        """Its coding tools begin new sessions."""
        data = {"sessionId": chat, "projectName": project, "projectPath": path, "isNew": is_new}
        now = self._now()
        with self._write():
            self._run(_INSERT_CHAT, chat, "", now)
            columns = "confirmed_project = ?, is_new = ?, identity = ?, set_at = ?"
            self._run(f"UPDATE chats SET {columns} WHERE name = ?", project, is_new, identity, now, chat)
            self._run("UPDATE chat_runs SET is_current = 0 WHERE chat = ?", chat)
            insert = "INSERT INTO chat_events (at, chat, kind, data) VALUES (?, ?, ?, ?)"
            self._run(insert, now, chat, PROJECT_SET, json.dumps(data))

    def chat_events(self, chat: str = "", most: int = 100) -> list[ChatEvent]:
        where = "WHERE ? IN ('', chat) ORDER BY seq DESC LIMIT ?"
        rows = self._all(f"SELECT seq, at, chat, kind, data FROM chat_events {where}", chat, most)
        return [ChatEvent(row[0], row[1], row[2], row[3], json.loads(row[4])) for row in rows]

    def ran(self, run: ChatRun) -> None:
        with self._write():
            before = "UPDATE chat_runs SET is_current = 0 WHERE chat = ? AND project = ? AND tool = ?"
            self._run(before, run.chat, run.project, run.tool)
            values = (run.chat, run.project, run.tool, run.session, run.model, run.is_current, self._now())
            self._run("INSERT OR REPLACE INTO chat_runs VALUES (?, ?, ?, ?, ?, ?, ?)", *values)

    def runs(self, chat: str) -> list[ChatRun]:
        columns = "chat, project, tool, session, model, is_current, at"
        rows = self._all(f"SELECT {columns} FROM chat_runs WHERE chat = ? ORDER BY at DESC, session DESC", chat)
        return [ChatRun(row[0], row[1], row[2], row[3], row[4], bool(row[5]), row[6]) for row in rows]


def _chat(row: tuple[Any, ...]) -> Chat:
    return Chat(row[0], row[1], bool(row[2]), *row[3:])


NOTED_SECONDS = 60.0
_ADD = """INSERT INTO clients (name, hash, made_at) VALUES (?1, ?2, ?3) ON CONFLICT (name) DO UPDATE
SET hash = ?2, made_at = ?3, used_at = NULL, revoked_at = NULL WHERE revoked_at IS NOT NULL"""


@frozen
class Client:
    """A caller. `revoked_at` None: its token is valid."""

    name: str
    made_at: float
    used_at: float | None
    revoked_at: float | None


class ClientStore(UserDatabase):
    """Clients by name."""

    def add(self, name: str, hashed: str) -> bool:
        """False: the name has a valid token."""
        with self._write():
            return self._run(_ADD, name, hashed, self._now()) > 0

    def revoke(self, name: str) -> bool:
        """False: it has none."""
        with self._write():
            ended = "UPDATE clients SET revoked_at = ? WHERE name = ? AND revoked_at IS NULL"
            return self._run(ended, self._now(), name) > 0

    def use(self, hashed: str) -> str:
        """The owner of a valid token, recorded as used; empty: invalid. An invalid token writes nothing. The time is
        recorded once in NOTED_SECONDS, and skipped if that had to wait."""
        rows = self._all("SELECT name, used_at FROM clients WHERE hash = ? AND revoked_at IS NULL", hashed)
        if not rows:
            return ""
        name, used_at = rows[0]
        now = self._now()
        if used_at is None or abs(now - used_at) >= NOTED_SECONDS:
            self._connection.execute("PRAGMA busy_timeout = 0")
            with suppress(StoreBusy), self._write():
                self._run("UPDATE clients SET used_at = ? WHERE hash = ? AND revoked_at IS NULL", now, hashed)
        return str(name)

    def clients(self) -> list[Client]:
        columns = "name, made_at, used_at, revoked_at"
        return [Client(*row) for row in self._all(f"SELECT {columns} FROM clients ORDER BY name")]
