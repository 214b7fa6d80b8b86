"""Reading files that agents or checks wrote, where they could lay anything else in the way."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from ..walking import within


@contextmanager
def plain_file(folder: int, name: str, since: float) -> Iterator[BinaryIO | None]:
    """The file of that name in an open folder; None where there is no plain one (walking.within), or where nobody wrote
    it since then. The moment is the inode's own (ctime), which no program can set.
    """
    file = within(folder, name)
    if file is None:
        yield None
        return
    with file:
        yield file if os.fstat(file.fileno()).st_ctime >= since else None
