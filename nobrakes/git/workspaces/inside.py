"""Files in a clone that an agent had its hands on, opened so that nothing leads us out. Imports nothing that costs.

Every step down from the clone's folder refuses links, and only regular files are opened, without waiting for a pipe.
"""

import os
import stat

_MAX_LOG = 4_000_000
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
_COMMITS = ("commit:", "commit (initial):", "commit (merge):")


def read_inside(clone: str, path: str, limit: int) -> bytes | None:
    """The first `limit` bytes of a regular file below the clone; None: anything else is there."""
    above, _, name = path.rpartition("/")
    folder = _folder_inside(clone, above)
    if folder is None:
        return None
    try:
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


def replace_inside(clone: str, path: str, content: bytes) -> bool:
    """Put a file of ours in the place of one below the clone; False: its folder is none, or cannot be written."""
    above, _, name = path.rpartition("/")
    folder = _folder_inside(clone, above)
    if folder is None:
        return False
    ours = f"{name}.{os.getpid()}"
    try:
        with open(os.open(ours, _NEW, 0o644, dir_fd=folder), "wb") as file:
            file.write(content)
        os.rename(ours, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        return False
    finally:
        os.close(folder)
    return True


def _folder_inside(clone: str, path: str) -> int | None:
    """A folder below the clone, opened; None: a link or anything else is on the way."""
    try:
        folder = os.open(clone, _FOLDER)
    except OSError:
        return None
    for part in path.split("/") if path else ():
        try:
            inner = os.open(part, _FOLDER, dir_fd=folder)
        except OSError:
            return None
        finally:
            os.close(folder)
        folder = inner
    return folder


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
