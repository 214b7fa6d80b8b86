"""All that touches the repository: one thread with an app of its own, so that the screen never waits.

1. It looks for changes cheaply (sessions.service.live), reads when there are some, and does what it is asked.
2. A database that was replaced is opened anew. One that is gone is not made anew behind a person's back: it is said,
   and done when they ask for it.
3. No error leaves the thread: each is told as words, and what was read last stays.
"""

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import NobrakesError

if TYPE_CHECKING:
    from ..app import App
    from ..sessions.service.live import LiveReader, LiveView

LOOK_SECONDS = 0.5
"""Between looks for changes."""
READ_SECONDS = 1.0
"""Between readings while it changes all the time."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why something could not be read or done, and what to do; `hint` may be empty."""

    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """What the thread is asked to do, and who is told: what came of it, or a Trouble."""

    do: Callable[["App"], Any]
    done: Callable[[Any], None]


class Reader(threading.Thread):
    """`seen` is called with each LiveView or Trouble, in this thread; so is `finished`, with a job and what came of it.

    `start` of a thread begins it; `close` ends it.
    """

    def __init__(
        self,
        folder: str | None,
        seen: Callable[["LiveView | Trouble"], None],
        finished: Callable[[Job, Any], None],
    ) -> None:
        super().__init__(name="reader", daemon=True)
        self._folder, self._seen, self._finished = folder, seen, finished
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._app: App | None = None
        self._live: LiveReader | None = None
        self._identity: object = None
        self._mark: object = None
        self._read_at = 0.0
        self._trouble: Trouble | None = None
        self._wanted = ""
        self._may_make = False

    # --- asked from another thread ---------------------------------------------------------------------------------

    def ask(self, do: Callable[["App"], Any], done: Callable[[Any], None]) -> None:
        """Have it done soon; `done` is handed to `finished`."""
        self._jobs.put(Job(do, done))

    def want(self, words: str) -> None:
        """Show only beads whose line has these words."""
        self._jobs.put(Job(lambda app: self._want(words), lambda result: None))

    def again(self) -> None:
        """Read everything anew, and make the database anew where it is gone."""
        self._may_make = True
        self._jobs.put(Job(lambda app: self._forget(), lambda result: None))

    def close(self, seconds: float = 5.0) -> None:
        """End the thread."""
        self._jobs.put(None)
        if self.is_alive():
            self.join(seconds)

    # --- the thread ------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Look, read and do until it is closed."""
        try:
            while True:
                self._attempt(self._look)
                try:
                    job = self._jobs.get(timeout=LOOK_SECONDS)
                except queue.Empty:
                    continue
                if job is None:
                    return
                self._do(job)
        finally:
            self._close()

    def _attempt(self, step: Callable[[], None]) -> None:
        """Do a step; what goes wrong is told once."""
        try:
            step()
            self._trouble = None
        except Exception as error:
            self._close()
            found = trouble_of(error)
            if found != self._trouble:
                self._trouble = found
                self._seen(found)

    def _do(self, job: Job) -> None:
        try:
            self._open()
            assert self._app is not None
            result = job.do(self._app)
        except Exception as error:
            result = trouble_of(error)
        self._mark = None  # what was done is seen at once
        self._read_at = 0.0
        self._finished(job, result)

    def _look(self) -> None:
        self._open()
        assert self._live is not None
        if time.monotonic() - self._read_at < READ_SECONDS:
            return
        mark = self._live.mark()
        if mark == self._mark:
            return
        view = self._live.read(self._wanted)
        # what happened while it was read is seen the next time
        self._mark, self._read_at = mark, time.monotonic()
        self._seen(view)

    def _open(self) -> None:
        """The app as it is now: opened anew where its database is another one."""
        from ..app import open_app
        from ..sessions.service.live import LiveReader, identity

        if self._app is not None:
            if identity(self._app.paths) == self._identity:
                return
            self._close()
        app = open_app(self._folder, is_reading=True)
        if identity(app.paths) is None and not self._may_make:
            raise Gone()
        self._may_make = False
        self._live = LiveReader(app.store, app.paths, app.config)
        self._app, self._identity = app, identity(app.paths)

    def _want(self, words: str) -> None:
        self._wanted = words
        self._forget()

    def _forget(self) -> None:
        self._mark = None

    def _close(self) -> None:
        app, self._app, self._live, self._mark = self._app, None, None, None
        if app is not None:
            try:
                app.close()
            except Exception:
                return  # it is gone, and that was said


class Gone(NobrakesError):
    """The database is not there."""

    hint = "Press r to make it anew from what is kept beside it, as every command does."

    def __init__(self) -> None:
        super().__init__("the database is gone")


def trouble_of(error: Exception) -> Trouble:
    """An error in words: nobrakes' own as it says itself, any other as what it is."""
    if isinstance(error, NobrakesError):
        return Trouble(str(error), error.hint)
    return Trouble(f"{type(error).__name__}: {error}")
