"""Pull requests: the newest of each bead, as it was seen last, among the machine's small facts (`settings`)."""

import json
from typing import TYPE_CHECKING

from .database import Database
from .machine import facts

if TYPE_CHECKING:
    from ..core.pulls.pull import PullRequest

_KEY = "pull/"


class Pulls:
    """The part of the port `Store` that keeps them."""

    _db: Database

    def pull(self, bead: str) -> "PullRequest | None":
        """The bead's request; None: there was none."""
        kept = facts.setting(self._db, _KEY + bead)
        return None if kept is None else _made(bead, kept)

    def pulls(self, waiting: bool = True) -> "list[PullRequest]":
        """The requests that wait, or all of them; oldest first."""
        from ..core.pulls.pull import WAITING, PullState

        # the loop asks in each quiet turn: what is over is large, and is not read
        states = json.dumps(sorted(WAITING if waiting else PullState))
        rows = self._db.all(
            "SELECT key, value FROM settings WHERE key >= 'pull/' AND key < 'pull0' AND "
            "coalesce(json_extract(value, '$.state'), 'opening') IN (SELECT value FROM json_each(?))",
            (states,),
        )
        found = [_made(str(row[0]).removeprefix(_KEY), str(row[1])) for row in rows]
        return sorted(found, key=lambda one: (one.opened_at, one.bead))

    def save_pull(self, pull: "PullRequest") -> None:
        """Keep it in the place of the bead's last one."""
        from ..core.serialise import as_values

        facts.set_setting(self._db, _KEY + pull.bead, json.dumps(as_values(pull), sort_keys=True))


def _made(bead: str, text: str) -> "PullRequest":
    from ..core.pulls.pull import PullRequest  # most repositories have none
    from ..core.serialise import of_values

    return of_values(PullRequest, {**json.loads(text), "bead": bead})
