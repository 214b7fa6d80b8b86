"""Files in a clone that an agent had its hands on, opened so that nothing leads us out. Imports nothing that costs.

Every step down from the clone's folder refuses links, and only regular files are opened, without waiting for a pipe.
"""

import os
import stat

_MAX_LOG = 4_000_000
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
_COMMITS = ("commit:", "commit (initial):", "commit (merge):")


def read_inside(clone: str, path: str, limit: int) -> bytes | None:
    """The first `limit` bytes of a regular file below the clone; None: anything else is there."""
    *folders, name = path.split("/")
    try:
        folder = os.open(clone, _FOLDER)
    except OSError:
        return None
    try:
        for part in folders:
            inner = os.open(part, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
        file = os.open(name, _FILE, dir_fd=folder)
    except OSError:
        return None
    finally:
        os.close(folder)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        return None
    with open(file, "rb") as opened:
        return opened.read(limit)


def commits_since(clone: str, since: float) -> int | None:
    """How many commits the clone's own log of HEAD tells of since then; None: it keeps none. Told, not proven."""
    log = read_inside(clone, ".git/logs/HEAD", _MAX_LOG)
    if log is None:
        return None
    count = 0
    for line in log.decode("utf-8", "replace").split("\n"):
        who, tab, what = line.partition("\t")
        when = who.rsplit(" ", 2)[-2:-1]
        if tab and what.startswith(_COMMITS):
            count += bool(when and when[0].isascii() and when[0].isdigit() and float(when[0]) >= int(since))
    return count
