"""SqliteStore: the port `Store` on one SQLite file. Its parts are small classes, each beside what it calls."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from .attempts.life import Life
from .attempts.reviewing import Reviewing
from .database import Database
from .forging import Collected, Features, Shapers
from .graph import Graph
from .log import EventLog
from .outbox import Outbox
from .people import People
from .pulls import Pulls
from .questions import Questions
from .requests import Requests
from .schedules import Schedules
from .spender import Spender
from .state import Machine
from .talks import Talks
from .upkeep import Upkeep

if TYPE_CHECKING:
    from ..ports.people import Clock


def _secret() -> str:
    """A token that nobody guesses."""
    from secrets import token_urlsafe  # only whoever opens an attempt needs one

    return token_urlsafe(24)


class SqliteStore(
    Graph,
    Questions,
    Life,
    Reviewing,
    Spender,
    Talks,
    Features,
    Shapers,
    Collected,
    Schedules,
    Outbox,
    Machine,
    Pulls,
    People,
    EventLog,
    Requests,
    Upkeep,
):
    """The store. `clock` replaces the database's own clock, `token_source` the secrets in tokens: for simulation."""

    def __init__(
        self, path: str, clock: "Clock | None" = None, create: bool = False, token_source: Callable[[], str] = _secret
    ) -> None:
        self._db = Database(path, clock.now if clock is not None else None, create)
        self.is_copy = self._db.is_copy  # the folder cannot be written: what is read is a copy
        self._token_source = token_source

    def now(self) -> float:
        """The store's clock."""
        return self._db.now()

    def close(self) -> None:
        """Release the database."""
        self._db.close()

    def keep_answers(self) -> None:
        """Ask no question again while its answer must be the same: for who asks all the time."""
        self._db.keep_answers()

    def doubt(self) -> None:
        """What others have written until now is seen by the next question."""
        self._db.doubt()

    def together(self, told: bool = True) -> AbstractContextManager[None]:
        """Several calls as one transaction."""
        return self._db.write(told=told)

    def sync(self) -> None:
        """Have on the disk what was committed, and what is kept beside the database."""
        self._db.sync()

    def tell(self, told: Callable[[], None], settle: Callable[[], None]) -> None:
        """Call `told` after each transaction that changed what `changes` gives, and `settle` in `sync`."""
        self._db.tell, self._db.settle = told, settle
