"""Pull requests: the newest of each bead, as it was seen last, among the machine's small facts (`settings`)."""

import json
from typing import TYPE_CHECKING

from .database import Database

if TYPE_CHECKING:
    from ..core.pulls.pull import PullRequest

_KEY = "pull/"


class Pulls:
    """The part of the port `Store` that keeps them."""

    _db: Database

    def pull(self, bead: str) -> "PullRequest | None":
        """The bead's request; None: there was none."""
        row = self._db.maybe("SELECT value FROM settings WHERE key = ?", (_KEY + bead,))
        return None if row is None else _made(bead, str(row[0]))

    def pulls(self, waiting: bool = True) -> "list[PullRequest]":
        """The requests that wait, or all of them; oldest first."""
        rows = self._db.all("SELECT key, value FROM settings WHERE key >= 'pull/' AND key < 'pull0'")
        found = [_made(str(row[0]).removeprefix(_KEY), str(row[1])) for row in rows]
        kept = (one for one in found if not waiting or one.waits)
        return sorted(kept, key=lambda one: (one.opened_at, one.bead))

    def save_pull(self, pull: "PullRequest") -> None:
        """Keep it in the place of the bead's last one."""
        from ..core.serialise import as_values

        values = json.dumps(as_values(pull), sort_keys=True)
        with self._db.write():
            self._db.run("INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)", (_KEY + pull.bead, values))


def _made(bead: str, text: str) -> "PullRequest":
    from ..core.pulls.pull import PullRequest  # most repositories have none
    from ..core.serialise import of_values

    return of_values(PullRequest, {**json.loads(text), "bead": bead})
