"""The tables of user.db, and how a file of an earlier version becomes one of this.

1. A step is one version; steps are only ever added. Each leaves a line in `migrations`.
2. All that are missing are one transaction: whoever comes first makes them, the others find them made.
3. A repository is known by its identity (operations.machine_wide.identity) and not by its path, which may change. What
   it spent is kept by that, too, and outlasts it.
4. A project is known by the name of its folder, never by a path. A chat is a chat agent's session, by its own name; a
   client is who may speak by HTTP, and of its token only the hash is here.
"""

from collections.abc import Sequence
from sqlite3 import Connection

from ...core.errors import PlaceUnusable

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
    """How many steps the file has."""
    there = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'migrations'").fetchone()
    found = connection.execute("SELECT max(version) FROM migrations").fetchone()[0] if there else None
    return int(found or 0)


def bring_up(connection: Connection, path: str, now: float, steps: Sequence[Sequence[str]] = STEPS) -> None:
    """Bring the file to the last step. PlaceUnusable: a newer nobrakes wrote it, and nothing was changed."""
    found = version(connection)
    if found < len(steps):
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
    """PlaceUnusable: a newer nobrakes wrote the file, and nothing was changed."""
    found = version(connection)
    if found > len(steps):
        text = f"{path} was written by a newer nobrakes (its version is {found}, this one knows {len(steps)})"
        raise PlaceUnusable(text, "Update nobrakes. Nothing was changed.")
