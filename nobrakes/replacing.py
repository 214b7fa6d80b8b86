"""Writing a file in the place of another: readers see the old one or the new one, and nothing is left of one half."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO


@contextmanager
def replacing(path: str, mode: int = 0o666) -> Iterator[BinaryIO]:
    """Replaces `path` once it is complete; on an error nothing remains."""
    temporary = f"{path}.{os.getpid()}"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
        with open(descriptor, "wb") as file:
            yield file
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
