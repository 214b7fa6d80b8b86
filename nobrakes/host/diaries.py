"""What agent CLIs append to files of their own while they work, read on from where it was read before.

1. The files lie where an agent may write: no link is followed, only plain files are read, and nothing is waited for.
2. How many names are looked at, and how much is read in one look, is bounded.
"""

import contextlib
import os
from collections.abc import Mapping

from ..core.globs import matches
from ..walking import Beyond, folder_below, of_state, walk
from .untrusted import plain_file

MOST_ENTRIES = 10_000
"""Names below a folder that are looked at."""


def appended(folder: str, glob: str, since: float, paths: Mapping[str, int], limit: int) -> dict[str, bytes]:
    """By path, what the files below `folder` hold from their places on: those that the glob matches, and that were
    written at `since` or later. Together `limit` bytes at most.
    """
    found: dict[str, bytes] = {}
    top = folder_below(*of_state(folder))
    if top is None:
        return found  # not made yet, gone, or something else
    try:
        with contextlib.suppress(Beyond):  # more than we look at
            _walk(top, folder, glob, since, paths, limit, found)
    finally:
        os.close(top)
    return found


def _walk(
    top: int, folder: str, glob: str, since: float, paths: Mapping[str, int], limit: int, found: dict[str, bytes]
) -> None:
    left = limit
    for path, descriptor, _, names in walk(top, MOST_ENTRIES):
        for name in names:
            inner = os.path.join(path, name)
            whole = os.path.join(folder, inner)
            if left > 0 and matches(inner, (glob,)):
                found[whole] = _from(descriptor, name, since, paths.get(whole, 0), left)
                left -= len(found[whole])


def _from(folder: int, name: str, since: float, place: int, limit: int) -> bytes:
    with plain_file(folder, name, since) as file:
        if file is None:
            return b""
        file.seek(place)
        return file.read(limit)
