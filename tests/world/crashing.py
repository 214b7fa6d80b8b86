"""Ports that fail: the daemon may die before or after any call, and a call may fail and do nothing.

1. A Crash is no Exception, so that no handler of the daemon can swallow it: it ends like kill -9.
2. A call is whole or has not happened; the database's transactions are never cut in the middle by a Crash.
3. Somebody else may act between two calls of the daemon: `between` is called before some of them.
4. A look that costs no process draws nothing (LOOKS).
"""

import functools
import random
from collections.abc import Callable, Sequence
from typing import Any

from nobrakes.errors import DiskFull, GitFailed, MachineShort, NoAnswer, NobrakesError


class Crash(BaseException):
    """The daemon was killed here."""


class Dice:
    """Decides what goes wrong, and counts it."""

    def __init__(self, rng: random.Random, crash: float, trouble: float, meddle: float) -> None:
        self.rng = rng
        self.crash = crash
        self.trouble = trouble
        self.meddle = meddle
        self.between: Callable[[], None] = lambda: None
        self.stumbles: Callable[[str, Sequence[object]], None] = lambda what, given: None
        self.crashes = 0
        self.troubles = 0
        self.calls = 0

    def __str__(self) -> str:
        return f"{self.calls} calls, {self.crashes} crashes, {self.troubles} troubles"

    def calm(self) -> None:
        """From now on nothing goes wrong."""
        self.crash = self.trouble = self.meddle = 0.0

    def before(self, what: str, errors: Sequence[type[NobrakesError]]) -> None:
        """Perhaps a crash, perhaps an error, perhaps somebody else's act; mostly nothing."""
        self.calls += 1
        if self.rng.random() < self.meddle:
            self.between()
        drawn = self.rng.random()
        if drawn < self.crash / 2:
            self.crashes += 1
            raise Crash(f"before {what}")
        if errors and drawn > 1 - self.trouble:
            self.troubles += 1
            raise errors[self.troubles % len(errors)](f"{what} failed, as drawn")

    def after(self, what: str) -> None:
        """Perhaps a crash."""
        if self.rng.random() < self.crash / 2:
            self.crashes += 1
            raise Crash(f"after {what}")


_OF_GIT = (GitFailed, NoAnswer, MachineShort)
"""It fails, it hangs until it is ended, the disk answers with errors."""
_STORE_WRITES = {"record", "open_attempt", "close_attempt", "journal", "renew", "plan_run", "update_run", "end_run"}
_WRITES = frozenset(_STORE_WRITES | {"escalate", "set_setting", "save_validation", "start", "terminate"})

LOOKS = frozenset({"bring_along", "broken_refs", "made", "moves", "head", "output"})
"""A turn asks them for each run or commit: drawn for, they would make most of a world's restarts."""


class Crashing:
    """A proxy round one door."""

    def __init__(self, door: object, name: str, dice: Dice) -> None:
        self._door = door
        self._name = name
        self._dice = dice
        self._stumbles = name != "store"  # what the store meets is nobody's

    def __getattr__(self, method: str) -> Any:
        real = getattr(self._door, method)
        if method in LOOKS:
            return real
        what = f"{self._name}.{method}"
        errors: Sequence[type[NobrakesError]] = ()
        if self._name == "git":
            errors = _OF_GIT
        elif method in _WRITES:
            errors = (DiskFull,)

        @functools.wraps(real)
        def call(*args: Any, **named: Any) -> Any:
            self._dice.before(what, errors)
            if self._stumbles:
                self._dice.stumbles(what, args)
            result = real(*args, **named)
            self._dice.after(what)
            return result

        self.__dict__[method] = call  # asked for thousands of times
        return call
