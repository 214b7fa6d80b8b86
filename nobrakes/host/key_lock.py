"""A lock for each word, in one file: one byte of it is locked for as long as somebody works under the word.

1. The kernel takes it back when its holder dies, and nothing has to be tidied up. Two words share a byte once in 2^47.
2. Each call opens the file for itself, and the lock belongs to what was opened and not to the process: threads exclude
   each other as processes do, and the kernel sees no circle between processes where their threads wait in none.
3. Elsewhere than on Linux the whole file is locked, for any word.
"""

import fcntl
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256

from .files import storage_errors
from .system.process import LINUX


@contextmanager
def locked(path: str, word: str) -> Iterator[None]:
    """Hold the word's lock; whoever else wants it waits, another process or another thread."""
    place = int.from_bytes(sha256(word.encode()).digest()[:6]) >> 1
    with storage_errors(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        _set(descriptor, fcntl.F_WRLCK, place)
        try:
            yield
        finally:
            _set(descriptor, fcntl.F_UNLCK, place)  # a process that was forked meanwhile has what was opened, too
    finally:
        os.close(descriptor)


def _set(descriptor: int, how: int, place: int) -> None:
    """Lock or unlock the byte at this place; waits for it (struct flock of 64 bits)."""
    if LINUX:
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLKW, struct.pack("hhqqi4x", how, os.SEEK_SET, place, 1, 0))
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX if how == fcntl.F_WRLCK else fcntl.LOCK_UN)
