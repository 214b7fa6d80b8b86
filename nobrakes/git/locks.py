"""Lock files that a killed nobrakes left, so that the next one is not blocked for ever.

1. Only a daemon that holds the daemon's lock may call this: then no nobrakes is alive that could own one.
2. Below refs/nobrakes/ nobody but nobrakes writes. On main, HEAD and packed-refs a human's git may be at work this
   moment: their locks live for milliseconds, so only old ones are removed.
3. A human's index.lock is never touched; ours has our mark in it.
"""

import contextlib
import os
import shutil
import time

from . import packing
from .landing import worktrees
from .location import Place
from .refs import OWN

SHARED_AGE = 2.0
"""Seconds after which a lock on main or HEAD is stale; no git command holds one that long."""

PACKED_AGE = 60.0
"""Seconds for packed-refs: rewriting it takes time where there are many refs."""


def clear(place: Place) -> None:
    """Remove the stale lock files, but those of indexes; waits up to SHARED_AGE for one that is young."""
    for folder, _, names in os.walk(os.path.join(place.git_dir, OWN)):
        for name in names:
            if name.endswith(".lock"):
                _remove(os.path.join(folder, name))
    for folder in packing.left(place):
        shutil.rmtree(folder, ignore_errors=True)
    shared = [os.path.join(place.git_dir, place.ref + ".lock")]
    for worktree in worktrees.all_of(place):
        _wait_for(worktree.copy + ".lock")
        shared.append(os.path.join(worktree.git_dir, "HEAD.lock"))
    for lock in shared:
        _remove_when_old(lock)
    packed = os.path.join(place.git_dir, "packed-refs.lock")
    if _age(packed) > PACKED_AGE:
        _remove(packed)


def clear_indexes(place: Place) -> None:
    """Remove what a killed nobrakes left of its work on indexes."""
    for worktree in worktrees.all_of(place):
        worktrees.clear(worktree)


def _wait_for(lock: str) -> None:
    """A git command that outlived its daemon may be at work on files; wait until it is done, or is no more."""
    while 0 <= _age(lock) <= SHARED_AGE:
        time.sleep(0.05)


def _remove_when_old(lock: str) -> None:
    """Wait until the lock is gone or old enough, then remove it."""
    age = _age(lock)
    while 0 <= age <= SHARED_AGE:
        time.sleep(0.05)
        age = _age(lock)
    if age > SHARED_AGE:
        _remove(lock)


def _age(path: str) -> float:
    """Seconds since the file was written, by its file system; -1: it is not there. A future time counts as old."""
    try:
        age = time.time() - os.lstat(path).st_mtime
    except OSError:
        return -1.0
    return age if age >= 0 else SHARED_AGE + PACKED_AGE


def _remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
