"""Waiting for one descriptor, whatever its number: `select` refuses those from 1024 on."""

import math
import select

_LONGEST = 2**31 - 1
"""Milliseconds that `poll` takes: 24 days. Who waits for longer is told "not yet" then, and asks again."""


def is_readable(descriptor: int, seconds: float | None) -> bool:
    """Whether something can be read from it, or its other end is closed, within so many seconds; None: without end."""
    watched = select.poll()
    watched.register(descriptor, select.POLLIN)
    return bool(watched.poll(None if seconds is None else math.ceil(max(0.0, min(seconds * 1000, _LONGEST)))))
