"""The clients that may reach the workspace by HTTP. Each method is one transaction; of tokens only hashes come here."""

from contextlib import suppress
from dataclasses import dataclass

from ...core.errors import StoreBusy
from .connection import UserDatabase

NOTED_SECONDS = 60.0
_ADD = """INSERT INTO clients (name, hash, made_at) VALUES (?1, ?2, ?3) ON CONFLICT (name) DO UPDATE
SET hash = ?2, made_at = ?3, used_at = NULL, revoked_at = NULL WHERE revoked_at IS NOT NULL"""


@dataclass(frozen=True, slots=True)
class Client:
    """Who may call. `revoked_at` None: its token is good."""

    name: str
    made_at: float
    used_at: float | None
    revoked_at: float | None


class ClientStore(UserDatabase):
    """Clients by name."""

    def add(self, name: str, hashed: str) -> bool:
        """Give the name this token; False: it has one that is good."""
        with self._write():
            return self._run(_ADD, name, hashed, self._now()) > 0

    def revoke(self, name: str) -> bool:
        """End the name's token; False: it has none."""
        with self._write():
            ended = "UPDATE clients SET revoked_at = ? WHERE name = ? AND revoked_at IS NULL"
            return self._run(ended, self._now(), name) > 0

    def use(self, hashed: str) -> str:
        """The name whose token this is, which is used now; empty: nobody's, or it was revoked.

        Who has no good token writes nothing. The time is noted once in NOTED_SECONDS, and left out where that had
        to wait.
        """
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
        """All of them, by name."""
        columns = "name, made_at, used_at, revoked_at"
        return [Client(*row) for row in self._all(f"SELECT {columns} FROM clients ORDER BY name")]
