"""Waiting for one descriptor, whatever its number: `select` refuses those from 1024 on."""

import math
import select


def is_readable(descriptor: int, seconds: float | None) -> bool:
    """Whether something can be read from it, or its other end is closed, within so many seconds; None: without end."""
    watched = select.poll()
    watched.register(descriptor, select.POLLIN)
    return bool(watched.poll(None if seconds is None else max(0, math.ceil(seconds * 1000))))
