"""Work beside the loop: a few threads that do what need not be waited for, and one for far jobs.

1. A job uses git and files, never the store: a database connection belongs to one thread.
2. A job is known by its name until its end was told once. Asked for again after that, it is done again.
3. What one job waits for keeps no others waiting while a thread is free. Jobs may be done in any order.
4. Nothing is remembered over a restart: whoever asks keeps its own account of what is done.
5. A thread has the name of the job that it does, so that a stop that is cut can tell which one it left.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

from .stopping import IDLE

NEAR = 4
"""Jobs at a time: a clone that takes long to be taken in holds up none but its own bead."""


class ThreadBackground:
    """Background by threads that start with the first job and end with the process, its last job done."""

    def __init__(self) -> None:
        self._near = ThreadPoolExecutor(max_workers=NEAR, thread_name_prefix=IDLE)
        self._far = ThreadPoolExecutor(max_workers=1, thread_name_prefix=IDLE)
        self._jobs: dict[str, Future[None]] = {}
        self._wake: Callable[[], None] = lambda: None

    def wakes(self, wake: Callable[[], None]) -> None:
        """`wake` is called from the thread after each job."""
        self._wake = wake

    def begin(self, name: str, job: Callable[[], None], far: bool = False) -> None:
        """Do the job, unless one of this name was begun and its end not told yet."""
        if name not in self._jobs:
            self._jobs[name] = (self._far if far else self._near).submit(partial(_do, name, job))
            self._jobs[name].add_done_callback(lambda _: self._wake())

    def over(self, name: str) -> bool:
        """Whether no such job goes on; the error of one that failed is raised, and with that it is told."""
        future = self._jobs.get(name)
        if future is None:
            return True
        if not future.done():
            return False
        del self._jobs[name]
        future.result()
        return True

    def busy(self, name: str) -> bool:
        """Whether the job was begun and its end not told yet."""
        return name in self._jobs

    def is_empty(self) -> bool:
        """Whether the end of everything that was begun was told."""
        return not self._jobs

    def close(self) -> None:
        """Wait for what was begun."""
        self._near.shutdown(wait=True)
        self._far.shutdown(wait=True)


def _do(name: str, job: Callable[[], None]) -> None:
    thread = threading.current_thread()
    thread.name = name
    try:
        job()
    finally:
        thread.name = IDLE
