"""A lock for each word, in one file: one byte of it is locked for as long as somebody works under the word.

The kernel takes it back when its holder dies, and nothing has to be tidied up. Two words share a byte once in 2^47.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256

from .files import storage_errors


@contextmanager
def locked(path: str, word: str) -> Iterator[None]:
    """Hold the word's lock; whoever else wants it waits. Processes exclude each other, threads of one do not."""
    with storage_errors(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        place = int.from_bytes(sha256(word.encode()).digest()[:6]) >> 1
        fcntl.lockf(descriptor, fcntl.LOCK_EX, 1, place)
        yield
    finally:
        os.close(descriptor)
