"""Answers confined agents: a thread that looks at their doors, beside the loop, so that no long step makes them wait.

1. A request is answered once while this process lives, whoever looks first: the thread, or the loop at a run's end.
2. What cannot be answered just now (a full disk) waits at the door and is answered later, also by the next daemon.
3. Who asks much gets its answers in turn with the others.
4. The system says when a request was laid down (host.channel.doorkeeper), so that silent agents cost nothing. Should it
   not, whoever waits says so once more (operations.agent.folder).
"""

import os
import threading
from collections.abc import Callable, Mapping, Sequence

from ...ports.processes import Login
from ...trash import Trash
from ..files import private_folder
from . import folder
from .doorkeeper import AT_ONCE, Doorkeeper
from .logins import Logins

LAST_WORDS = 50
"""Looks at the door of a run that is dead, each AT_ONCE requests: the daemon waits for it."""


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
        self._keeper = Doorkeeper(folder, self._answer, tell)
        self._thread: threading.Thread | None = None
        self._told: set[str] = set()

    def start(self) -> None:
        """Look from now on."""
        self._thread = threading.Thread(
            target=self._keeper.attend, args=(self._ended.is_set,), name="doorkeeper", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Look no more. What waits is answered by the next one."""
        self._ended.set()
        self._keeper.wake()
        if self._thread is not None:
            self._thread.join()
        self._keeper.close()

    def begin(self, run: str, logins: Sequence[Login] = ()) -> str:
        """Make the run's door, and copies of these logins; its folder. DiskFull, StoreReadOnly."""
        door = os.path.join(self._folder, run)
        for name in ("in", "out"):
            private_folder(os.path.join(door, name))
        with self._turn:
            self._logins.give(door, logins)
        self._keeper.wake()
        return door

    def end(self, run: str) -> None:
        """The run is dead: answer its last words, then take its door away. DiskFull, StoreReadOnly."""
        door = os.path.join(self._folder, run)
        if os.path.isdir(door):
            try:
                for _ in range(0 if run in self._keeper.failed else LAST_WORDS):  # who floods it has been heard enough
                    if not self._answer(run):
                        break
            finally:
                with self._turn:
                    self._logins.look(door, last=True)
                    self._trash.take(self._folder, door)
        self._told.discard(run)
        self._keeper.failed.pop(run, None)

    def failed(self) -> Mapping[str, Exception]:
        """What nobody expected at the doors of these runs, told once."""
        found = {run: error for run, error in list(self._keeper.failed.items()) if run not in self._told}
        self._told |= found.keys()
        return found

    def _answer(self, run: str) -> int:
        """Answer at most AT_ONCE of its requests; how many there were."""
        owner = run.partition("-")[0]
        door = os.path.join(self._folder, run)
        with self._turn:
            waiting = folder.requests(door) if owner.removeprefix("s").isdigit() else []
            for name, content in waiting[:AT_ONCE]:
                folder.answer(door, name, self._reply(owner, content))
            self._logins.look(door)
        return len(waiting)
