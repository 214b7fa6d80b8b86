"""How the loop sleeps between two turns: agents that say nothing ask for no turn."""

from collections.abc import Callable

from .attempts.metering import Meter
from .watchers import Waker


def wake_at(due_at: float | None, meter: Meter) -> float | None:
    """When something is due, or an agent is to be looked at; None: never."""
    return min((at for at in (due_at, *meter.wake_at()) if at is not None), default=None)


def rest(waker: Waker, meter: Meter, since: float, due_at: float | None, clock: Callable[[], float]) -> None:
    """Sleep from `since` until something happens, is due, or an agent has said something. A clock set back is due."""
    now = since
    while True:
        until = wake_at(due_at, meter)
        if waker.wait(None if until is None else max(0.01, until - now)):
            return
        now = clock()
        if now < since or (due_at is not None and now >= due_at) or not meter.is_silent(now):
            return
