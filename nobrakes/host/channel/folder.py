"""The daemon's side of an agent's door: files in a folder that the agent writes, answers in one that it only reads.

1. What the agent left is bytes that may lie: no link is followed, only plain files of a bounded size are opened.
2. Nothing is ever written where the agent may write. An answer is whole or not there.
3. A request is removed after its answer is there: a daemon that is killed in between answers it again.
"""

import contextlib
import io
import itertools
import os
import re

from ...walking import below, of_state
from ..files import write_private

LARGEST = 400_000
"""Bytes of one request."""
MOST = 200
"""Entries that are looked at in one go, and answers that are kept."""
_NAME = re.compile(r"[0-9a-f]{1,20}-[0-9]{1,10}-[0-9a-f]{1,16}\.json")


def requests(door: str) -> list[tuple[str, bytes | None]]:
    """(name, content) of what waits at a door, oldest first; None: it is no request."""
    try:
        with os.scandir(os.path.join(door, "in")) as entries:
            some = [entry for entry in itertools.islice(entries, MOST) if _NAME.fullmatch(entry.name)]
            names = sorted(entry.name for entry in some if entry.is_file(follow_symlinks=False))
    except OSError:
        return []
    return [(name, _read(os.path.join(door, "in"), name)) for name in names]


def _read(folder: str, name: str) -> bytes | None:
    with below(*of_state(os.path.join(folder, name))) or io.BytesIO() as file:
        # an unread giant costs nothing
        is_request = not isinstance(file, io.BytesIO) and os.fstat(file.fileno()).st_size < LARGEST
        return file.read(LARGEST) if is_request else None


def answer(door: str, name: str, content: bytes) -> None:
    """Lay the answer down, then take the request away."""
    out = os.path.join(door, "out")
    with contextlib.suppress(FileNotFoundError):  # the run has ended, and nobody reads it
        # not written through to the disk: after a loss of power nobody waits for it
        write_private(os.path.join(out, ".new"), content)
        os.replace(os.path.join(out, ".new"), os.path.join(out, name))
        for old in sorted(os.listdir(out))[:-MOST]:
            os.unlink(os.path.join(out, old))
    request = os.path.join(door, "in", name)
    with contextlib.suppress(
        FileNotFoundError, IsADirectoryError
    ):  # the agent took it away, or put another thing there
        try:
            os.unlink(request)
        except PermissionError:  # it locked its own folder
            os.chmod(os.path.dirname(request), 0o700)
            os.unlink(request)
