"""All that reads the repository: one thread with an app of its own, so that the screen never waits.

1. It looks for changes cheaply (sessions.service.live), and reads when there are some or when something else is wanted.
2. A database that was replaced is opened anew. One that is gone is said, and not made anew: a board only looks.
3. No error leaves the thread: each is told as words, and what was read last stays.
"""

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..errors import NobrakesError
from ..records import frozen

if TYPE_CHECKING:
    from ..app import App
    from ..beads.service.bead_page import BeadHistory
    from ..sessions.service.live import LiveReader, LiveView

LOOK_SECONDS = 0.5
"""Between looks for changes."""
READ_SECONDS = 1.0
"""Between readings while it changes all the time."""


@frozen
class Wanted:
    """What is looked at: the beads whose line has these words, and the bead whose page is open; empty: all, none."""

    words: str = ""
    bead: str = ""


@frozen
class Moment:
    """What was read at once; `page` is the bead's that was wanted."""

    view: "LiveView"
    page: "BeadHistory | None"


@frozen
class Trouble:
    """Why it could not be read, and what to type; `hint` may be empty."""

    message: str
    hint: str = ""


class Gone(NobrakesError):
    """The database is not there."""

    hint = "`nobrakes status` makes it anew from what is kept beside it."

    def __init__(self) -> None:
        super().__init__("the database is gone")


class Reader(threading.Thread):
    """`seen` is called with each Moment or Trouble, in this thread. `start` begins it, `close` ends it."""

    def __init__(self, folder: str | None, seen: Callable[[Moment | Trouble], None]) -> None:
        super().__init__(name="reader", daemon=True)
        self._folder, self._seen = folder, seen
        self._wanted = Wanted()
        self._wake, self._ended = threading.Event(), threading.Event()
        self._app: App | None = None
        self._live: LiveReader | None = None
        self._identity: object = None
        self._mark: object = None
        self._read_at = 0.0
        self._trouble: Trouble | None = None

    def want(self, wanted: Wanted) -> None:
        """Read this from now on."""
        self._wanted = wanted
        self._wake.set()

    def close(self, seconds: float = 5.0) -> None:
        """End the thread."""
        self._ended.set()
        self._wake.set()
        if self.is_alive():
            self.join(seconds)

    def run(self) -> None:
        """Look until it is closed."""
        try:
            while not self._ended.is_set():
                try:
                    self._look()
                    self._trouble = None
                except Exception as error:
                    self._close()
                    self._tell(trouble_of(error))
                self._wake.wait(LOOK_SECONDS)
                self._wake.clear()
        finally:
            self._close()

    def _tell(self, found: Trouble) -> None:
        """What goes wrong is told once."""
        if found != self._trouble:
            self._trouble = found
            self._seen(found)

    def _look(self) -> None:
        from ..beads.service.bead_page import history

        app, live = self._opened()
        wanted = self._wanted
        seen = self._mark
        if isinstance(seen, tuple) and seen[0] == wanted and time.monotonic() - self._read_at < READ_SECONDS:
            return
        mark = (wanted, live.mark())
        if mark == seen:
            return
        found = Moment(live.read(wanted.words), history(app.store, None, wanted.bead) if wanted.bead else None)
        # what happened while it was read is seen the next time
        self._mark, self._read_at = mark, time.monotonic()
        self._seen(found)

    def _opened(self) -> "tuple[App, LiveReader]":
        """The app as it is now: opened anew where its database is another one."""
        from ..app import open_app
        from ..sessions.service.live import LiveReader, identity

        if self._app is not None and self._live is not None:
            if identity(self._app.paths) == self._identity:
                return self._app, self._live
            self._close()
        app = open_app(self._folder, is_reading=True)
        self._identity = identity(app.paths)
        if self._identity is None:
            raise Gone()
        self._app, self._live = app, LiveReader(app.store, app.paths, app.config)
        return self._app, self._live

    def _close(self) -> None:
        app, self._app, self._live, self._mark = self._app, None, None, None
        if app is not None:
            try:
                app.close()
            except Exception:
                return  # it is gone, and that was said


def trouble_of(error: Exception) -> Trouble:
    """An error in words: nobrakes' own as it says itself, any other as what it is."""
    if isinstance(error, NobrakesError):
        return Trouble(str(error), error.hint)
    return Trouble(f"{type(error).__name__}: {error}")
