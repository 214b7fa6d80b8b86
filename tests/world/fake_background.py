"""Work beside the loop, in the simulation: done at once or put off, as drawn; a crash forgets what was put off."""

import random
from collections.abc import Callable


class FakeBackground:
    """Background without a thread: what was put off is done when its end is asked for."""

    def __init__(self, rng: random.Random, put_off: float = 0.5) -> None:
        self._rng = rng
        self._put_off = put_off
        self._jobs: dict[str, Callable[[], None]] = {}
        self._ended: dict[str, Exception | None] = {}
        self._wake: Callable[[], None] = lambda: None

    def forget(self) -> None:
        """The daemon died."""
        self._jobs.clear()
        self._ended.clear()

    def wakes(self, wake: Callable[[], None]) -> None:
        """Called after each job."""
        self._wake = wake

    def begin(self, name: str, job: Callable[[], None], far: bool = False) -> None:
        """Do the job now or later."""
        if self.busy(name):
            return
        self._jobs[name] = job
        if self._rng.random() >= self._put_off:
            self._do(name)

    def over(self, name: str) -> bool:
        """Whether no such job goes on."""
        if name in self._jobs:
            if self._rng.random() < self._put_off:
                return False
            self._do(name)
        error = self._ended.pop(name, None)
        if error is not None:
            raise error
        return True

    def busy(self, name: str) -> bool:
        """Whether its end was not told yet."""
        return name in self._jobs or name in self._ended

    def is_empty(self) -> bool:
        """Whether every end was told."""
        return not self._jobs and not self._ended

    def close(self) -> None:
        """Do what was put off."""
        for name in list(self._jobs):
            self._do(name)

    def _do(self, name: str) -> None:
        job = self._jobs.pop(name)
        try:
            job()
            self._ended[name] = None
        except Exception as error:
            self._ended[name] = error
        self._wake()
