"""The files that a check wrote its results into, read from its checkout when all of its processes have ended.

1. Only what was written since the check began counts: what is committed, or what an earlier run left, is no result.
   The moment is the inode's own (ctime), which no program can set.
2. No link is followed, neither to a file nor to a folder; what is no plain file is not opened for long.
3. The number of files looked at, and the size of what is read, are bounded. More than that is told, and not cut short.
4. What was read is kept beside the run's output: a run may be judged again when its checkout is gone. As a program, it
   does so between two steps of a run, before the second writes over what the first one wrote.
"""

import json
import os
import sys

from ...core.globs import matches
from ...ports.processes import Reports
from ...walking import FAULTS, Beyond, walk
from ..files import write_atomic
from ..untrusted import plain_file

MOST_ENTRIES = 500_000
"""Names in the checkout that are looked at."""
MOST_FILES = 2_000
_LEFT = frozenset((".git",))
MOST_BYTES = 20_000_000
"""Of all reports of one check together."""


def kept(top: str, folder: str, glob: str, since: float, keep: str) -> Reports:
    """What `read` gives, or gave when it was asked for the first time."""
    try:
        with open(keep, encoding="utf-8") as file:
            values = json.load(file)
    except FileNotFoundError:
        found = read(top, folder, glob, since)
        write_atomic(keep, json.dumps([found.texts, found.trouble]).encode())
        return found
    return Reports(tuple(values[0]), values[1])


def read(top: str, folder: str, glob: str, since: float) -> Reports:
    """The reports in `folder` below the checkout `top` that the glob matches, in the order of their paths."""
    try:
        return _read(top, folder, glob, since)
    except Beyond as error:
        return Reports(trouble=str(error))
    except OSError as error:
        if error.errno in FAULTS:
            raise
        return Reports(trouble=f"the folder {folder} cannot be read: {error.strerror}")


def _read(top: str, folder: str, glob: str, since: float) -> Reports:
    begin = os.path.join(top, folder)
    if os.path.realpath(begin) != os.path.normpath(os.path.join(os.path.realpath(top), folder)):
        return Reports(trouble=f"the folder {folder} is a link")
    if not os.path.isdir(begin):
        return Reports()  # the check itself could not run there
    texts: list[str] = []
    left = MOST_BYTES
    for path, descriptor, _, names in walk(begin, MOST_ENTRIES, leave=_LEFT):
        for name in names:
            if not matches(os.path.join(path, name), (glob,)):
                continue
            found = _content(descriptor, name, since, left)
            if found is None:
                continue
            left -= len(found)
            if left < 0 or len(texts) >= MOST_FILES:
                return Reports(trouble=f"the reports have more than {MOST_BYTES // 1_000_000} MB or {MOST_FILES} files")
            texts.append(found.decode("utf-8", "replace"))
    return Reports(tuple(texts))


def _content(folder: int, name: str, since: float, limit: int) -> bytes | None:
    """What the file holds, or a byte more than the limit; None: it is no plain file, or an old one."""
    with plain_file(folder, name, since) as file:
        return None if file is None else file.read(limit + 1)


def main(folder: str, directory: str, glob: str, *steps: str) -> int:
    """Keep, in the run's folder, what the last of these steps that began wrote. The checkout is the current folder."""
    from .endings import begun_at

    started = {name: since for name in steps if (since := begun_at(os.path.join(folder, name))) is not None}
    name, since = list(started.items())[-1]
    kept(os.getcwd(), directory, glob, since, os.path.join(folder, f"{name}.reports"))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
