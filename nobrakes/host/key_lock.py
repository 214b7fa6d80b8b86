"""A lock for each word, in one file: one byte of it is locked for as long as somebody works under the word.

1. The kernel takes it back when its holder dies, and nothing has to be tidied up. Two words share a byte once in 2^47.
2. Such a lock is a process's, and the first descriptor of the file that is closed gives all of them back. So threads of
   one process also exclude each other here, and share one descriptor for as long as any of them needs it.
"""

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256

from .files import storage_errors


@dataclass(slots=True)
class _Shared:
    """What threads share under a name, and how many of them do."""

    descriptor: int = -1
    lock: threading.Lock = field(default_factory=threading.Lock)
    users: int = 0


_files: dict[str, _Shared] = {}
_words: dict[tuple[str, int], _Shared] = {}
_guard = threading.Lock()


@contextmanager
def locked(path: str, word: str) -> Iterator[None]:
    """Hold the word's lock; whoever else wants it waits, another process or another thread."""
    place = int.from_bytes(sha256(word.encode()).digest()[:6]) >> 1
    with _in_turn(path, place), _descriptor(path) as descriptor:
        fcntl.lockf(descriptor, fcntl.LOCK_EX, 1, place)
        try:
            yield
        finally:
            fcntl.lockf(descriptor, fcntl.LOCK_UN, 1, place)


@contextmanager
def _in_turn(path: str, place: int) -> Iterator[None]:
    with _guard:
        shared = _words.setdefault((path, place), _Shared())
        shared.users += 1
    try:
        with shared.lock:
            yield
    finally:
        with _guard:
            shared.users -= 1
            if not shared.users:
                del _words[path, place]


@contextmanager
def _descriptor(path: str) -> Iterator[int]:
    with _guard:
        shared = _files.setdefault(path, _Shared())
        if not shared.users:
            try:
                with storage_errors(path):
                    shared.descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            except BaseException:
                del _files[path]
                raise
        shared.users += 1
    try:
        yield shared.descriptor
    finally:
        with _guard:
            shared.users -= 1
            if not shared.users:
                del _files[path]
                os.close(shared.descriptor)
