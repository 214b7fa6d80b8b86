"""Answers confined agents: a thread that looks at their doors, beside the loop, so that no long step makes them wait.

1. A request is answered once while this process lives, whoever looks first: the thread, or the loop at a run's end.
2. What cannot be answered just now (a full disk) waits at the door and is answered later, also by the next daemon.
3. Who asks much gets its answers in turn with the others.
4. The system says when a request was laid down (`Arrivals`), so that silent agents cost nothing. Where it cannot, and
   for what no event tells of (a login that was renewed, a request that met trouble), the thread looks by itself.
"""

import os
import threading
import time
from collections.abc import Callable, Sequence

from ...core.errors import NobrakesError
from ...ports import Login
from ...trash import Trash
from ..files import private_folder
from . import folder
from .arrivals import Arrivals
from .logins import Logins

BUSY = 0.01
"""Seconds between two looks while somebody speaks, and for a second after."""
PAUSE = 0.1
"""Seconds between two looks while there are doors that the system does not watch."""
QUIET = 5.0
"""Seconds between two looks while nobody says anything: whoever makes a door or a request says so at once."""
TROUBLE = 0.5
"""Seconds between two looks while requests cannot be answered."""
LAST_WORDS = 50
"""Looks at the door of a run that is dead, each AT_ONCE requests: the daemon waits for it."""
AT_ONCE = 10
"""Requests of one run that are answered before another run is looked at."""


class FolderChannelServer:
    """Keeps the doors in one folder.

    `reply` makes the answer for who speaks there (a run's name up to "-"); it is called from two threads in turn.
    """

    def __init__(
        self,
        folder: str,
        trash: Trash,
        reply: Callable[[str, bytes | None], bytes],
        tell: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._folder = folder
        self._trash = trash
        self._logins = Logins(tell)
        self._reply = reply
        self._turn = threading.Lock()
        self._ended = threading.Event()
        self._called = threading.Event()
        self._arrivals = Arrivals(self._called.set)
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Look from now on."""
        self._thread = threading.Thread(target=self._attend, name="doorkeeper", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Look no more. What waits is answered by the next one."""
        self._ended.set()
        self._called.set()
        if self._thread is not None:
            self._thread.join()
        self._arrivals.close()

    def begin(self, run: str, logins: Sequence[Login] = ()) -> str:
        """Make the run's door, and copies of these logins; its folder. DiskFull, StoreReadOnly."""
        door = os.path.join(self._folder, run)
        for name in ("in", "out"):
            private_folder(os.path.join(door, name))
        with self._turn:
            self._logins.give(door, logins)
        self._called.set()
        return door

    def end(self, run: str) -> None:
        """The run is dead: answer its last words, then take its door away. DiskFull, StoreReadOnly."""
        door = os.path.join(self._folder, run)
        if os.path.isdir(door):
            for _ in range(LAST_WORDS):  # who floods its door has been heard enough
                if not self._answer(run):
                    break
            with self._turn:
                self._logins.look(door, last=True)
                self._trash.take(self._folder, door)

    def _attend(self) -> None:
        pause, busy_until = 0.0, 0.0
        while not self._ended.is_set():
            self._called.wait(pause)
            self._called.clear()
            try:
                runs = os.listdir(self._folder)
            except FileNotFoundError:
                runs = []
            pause = QUIET if self._arrivals.watch([self._inbox(run) for run in runs]) else PAUSE
            for run in runs:
                try:
                    if self._answer(run):
                        busy_until = time.monotonic() + 1
                except (NobrakesError, OSError):
                    pause = TROUBLE  # the loop meets the same trouble and tells of it
                    busy_until = 0.0
            if time.monotonic() < busy_until:
                pause = BUSY

    def _inbox(self, run: str) -> str:
        return os.path.join(self._folder, run, "in")

    def _answer(self, run: str) -> bool:
        owner = run.partition("-")[0]
        door = os.path.join(self._folder, run)
        with self._turn:
            waiting = folder.requests(door)[:AT_ONCE] if owner.removeprefix("s").isdigit() else []
            for name, content in waiting:
                folder.answer(door, name, self._reply(owner, content))
            self._logins.look(door)
        return bool(waiting)
