"""How the loop sleeps between two turns: agents that say nothing ask for no turn."""

from collections.abc import Callable, Sequence

from .attempts.end_watch import EndWatch
from .attempts.metering import Meter
from .watchers import Waker


def wake_at(due_at: float | None, *looks: Meter | EndWatch) -> float | None:
    """When something is due, or an agent is to be looked at; None: never."""
    times = (due_at, *(at for look in looks for at in look.wake_at()))
    return min((at for at in times if at is not None), default=None)


def rest(
    waker: Waker, looks: Sequence[Meter | EndWatch], since: float, due_at: float | None, clock: Callable[[], float]
) -> None:
    """Sleep from `since` until something happens, is due, or an agent has said something. A clock set back is due."""
    now = since
    while True:
        until = wake_at(due_at, *looks)
        if waker.wait(None if until is None else max(0.01, until - now)):
            return
        now = clock()
        if now < since or (due_at is not None and now >= due_at) or not all(_is_silent(look, now) for look in looks):
            return


def _is_silent(look: Meter | EndWatch, now: float) -> bool:
    try:
        return look.is_silent(now)
    except Exception:
        return False  # the turn meets it again, and there it is dealt with
