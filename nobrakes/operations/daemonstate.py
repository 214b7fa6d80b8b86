"""Whether a daemon works in a repository, for those who only look."""

import fcntl
import os

from ..places import Places


def daemon_pid(places: Places) -> int | None:
    """The pid of the daemon that holds the lock; None: nobody does."""
    try:
        descriptor = os.open(places.lock, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            text = os.read(descriptor, 32).split()
            return int(text[0]) if text and text[0].isdigit() else 0
        return None
    finally:
        os.close(descriptor)
