"""Reading files that agents or checks wrote, where they could lay anything else in the way."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO


@contextmanager
def plain_file(folder: int, name: str, since: float) -> Iterator[BinaryIO | None]:
    """The file of that name in an open folder; None where it is a link, gone, not a plain file, or where nobody wrote
    it since then. The moment is the inode's own (ctime), which no program can set. Opening it waits for nobody.
    """
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        yield None
        return
    with open(descriptor, "rb") as file:
        what = os.fstat(descriptor)
        yield file if stat.S_ISREG(what.st_mode) and what.st_ctime >= since else None
