"""UserStore: the person's database in one SQLite file. Each method is one transaction.

1. A place is a row of a daemon; a daemon that does not live has none, whatever the rows say. Who lives is asked
   of `lives`, inside the transaction that counts, so nobody takes a place on what was true a moment ago.
"""

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass

from .connection import UserDatabase

_REGISTER = """INSERT INTO repositories (identity, path, name, registered_at, seen_at) VALUES (?1, ?2, ?3, ?4, ?4)
ON CONFLICT (identity) DO UPDATE SET path = ?2, name = ?3, seen_at = ?4"""
_HOLD = "INSERT OR IGNORE INTO places (daemon, run, since) VALUES (?, ?, ?)"
_LET_GO = "DELETE FROM places WHERE daemon = ? AND run NOT IN (SELECT value FROM json_each(?))"
_HOLD_ALL = "INSERT OR IGNORE INTO places (daemon, run, since) SELECT ?, value, ? FROM json_each(?)"
_PLACES = """SELECT places.daemon, daemons.repository, daemons.pid, places.run, places.since
FROM places JOIN daemons ON daemons.name = places.daemon ORDER BY places.since, places.run"""

Lives = Callable[[str], bool]
"""Whether the daemon of this name lives."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository of this person."""

    identity: str
    path: str
    name: str
    registered_at: float
    seen_at: float


@dataclass(frozen=True, slots=True)
class Place:
    """A place that an agent holds. `repository` is the identity."""

    daemon: str
    repository: str
    pid: int
    run: str
    since: float


@dataclass(frozen=True, slots=True)
class DaySpent:
    """What one repository spent on a day."""

    repository: str
    usd: float
    tokens: int


class UserStore(UserDatabase):
    """The repositories of this machine, the places that their agents hold, and what they spent."""

    # --- repositories ----------------------------------------------------------------------------

    def register(self, identity: str, path: str, name: str) -> None:
        """Know the repository, where it is now. Who was at this path before is there no more."""
        with self._write():
            self._run("DELETE FROM repositories WHERE path = ? AND identity <> ?", path, identity)
            self._run(_REGISTER, identity, path, name, self._now())

    def repositories(self) -> list[Repository]:
        """All that are known, by path."""
        columns = "identity, path, name, registered_at, seen_at"
        return [Repository(*row) for row in self._all(f"SELECT {columns} FROM repositories ORDER BY path")]

    def forget(self, identity: str) -> bool:
        """Know the repository no more; what it spent still counts. Whether it was known."""
        with self._write():
            return self._run("DELETE FROM repositories WHERE identity = ?", identity) > 0

    # --- places ----------------------------------------------------------------------------------

    def begin_daemon(self, name: str, repository: str, pid: int, born: str) -> None:
        """A daemon lives under this name; without a place so far."""
        with self._write():
            self._run("INSERT INTO daemons VALUES (?, ?, ?, ?, ?)", name, repository, pid, born, self._now())

    def end_daemon(self, name: str) -> None:
        """It has ended, and its places are free."""
        with self._write():
            self._run("DELETE FROM daemons WHERE name = ?", name)

    def take(self, daemon: str, run: str, most: int | None, lives: Lives) -> bool:
        """Take a place for the run unless `most` are taken; the dead are swept away first."""
        with self._write():
            for (name,) in self._all("SELECT name FROM daemons"):
                if name != daemon and not lives(name):
                    self._run("DELETE FROM daemons WHERE name = ?", name)
            others = "SELECT count(*) FROM places WHERE NOT (daemon = ? AND run = ?)"
            if most is not None and self._all(others, daemon, run)[0][0] >= most:
                return False
            self._run(_HOLD, daemon, run, self._now())
            return True

    def set_places(self, daemon: str, runs: Collection[str]) -> None:
        """The daemon has places for these runs, whatever the limit is, and no other."""
        names = json.dumps(sorted(runs))
        with self._write():
            self._run(_LET_GO, daemon, names)
            self._run(_HOLD_ALL, daemon, self._now(), names)

    def places(self, lives: Lives) -> list[Place]:
        """The places of the daemons that live, oldest first."""
        found = [Place(*row) for row in self._all(_PLACES)]
        alive = {name: lives(name) for name in {place.daemon for place in found}}
        return [place for place in found if alive[place.daemon]]

    # --- what was spent --------------------------------------------------------------------------

    def spend(self, repository: str, day: float, usd: float, tokens: int) -> None:
        """What the repository has spent on that day, in all."""
        with self._write():
            self._run("INSERT OR REPLACE INTO spent VALUES (?, ?, ?, ?)", repository, day, usd, tokens)

    def spent(self, day: float) -> list[DaySpent]:
        """What each repository spent on that day, also those that are known no more."""
        rows = self._all("SELECT repository, usd, tokens FROM spent WHERE day = ? ORDER BY repository", day)
        return [DaySpent(*row) for row in rows]
