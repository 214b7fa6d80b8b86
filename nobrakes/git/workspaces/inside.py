"""Files in a clone that an agent had its hands on, opened so that nothing leads us out. Imports nothing that costs.

Every step down from the clone's folder refuses links, and only regular files are opened, without waiting for a pipe.
"""

import io
import os

from ...walking import below, folder_below

_MAX_LOG = 4_000_000
_NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
_COMMITS = ("commit:", "commit (initial):", "commit (merge):")


def read_inside(clone: str, path: str, limit: int) -> bytes | None:
    """The first `limit` bytes of a regular file below the clone; None: anything else is there."""
    with below(clone, path) or io.BytesIO() as file:
        return None if isinstance(file, io.BytesIO) else file.read(limit)


def replace_inside(clone: str, path: str, content: bytes) -> bool:
    """Put a file of ours in the place of one below the clone; False: its folder is none, or cannot be written."""
    above, _, name = path.rpartition("/")
    folder = folder_below(clone, above)
    if folder is None:
        return False
    ours = f"{name}.{os.getpid()}"
    try:
        with open(os.open(ours, _NEW, 0o644, dir_fd=folder), "wb") as file:
            file.write(content)
        os.rename(ours, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        try:  # noqa: SIM105
            os.unlink(ours, dir_fd=folder)
        except OSError:  # it was never made; `contextlib` would cost more than all of this
            pass
        return False
    finally:
        os.close(folder)
    return True


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
