"""The text of the tracked snapshot: what it was, with the lines of what changed since made anew.

1. What nobrakes wrote last is remembered in the store by its digest, with the last event and the time of that moment.
   While the file still is that text, only beads that an event names since, or that changed since, are read.
2. Anything else (another text, other rules of writing, nothing remembered) makes the whole text anew.
3. The text is the same either way, byte by byte; a test holds the two against each other.
"""

import json
import os
from bisect import bisect_left
from dataclasses import dataclass
from hashlib import sha256

from ... import __version__
from ...interop import beads as interop
from ...paths import Paths
from ...ports.store import Store

WRITTEN = "snapshot_written"
"""The setting that remembers the text that was written last."""
FEW = 8
"""When less than one line in so many changed, the others are kept."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The text, and what has to be remembered of it once it is written."""

    text: bytes
    mark: str


def snapshot(store: Store, paths: Paths) -> Snapshot:
    """The graph as text."""
    known = json.loads(store.setting(WRITTEN) or "{}")
    old = _written_before(paths, known)
    # first of all: what changes after it is read again the next time
    seq, now, touched = store.touched(known["seq"], known["at"]) if old is not None else store.touched(None, None)
    lines = None if old is None else old.split(b"\n")[:-1]
    if lines is None or len(touched) * FEW > len(lines):
        text = interop.dump(store.alike()).encode()
    else:
        text = _brought_along(store, lines, touched)
    mark = {"by": _writer(), "digest": sha256(text).hexdigest(), "seq": seq, "at": now}
    return Snapshot(text, json.dumps(mark))


def remember(store: Store, written: Snapshot) -> None:
    """The text lies in its file now."""
    store.set_setting(WRITTEN, written.mark)


def _written_before(paths: Paths, known: dict[str, str]) -> bytes | None:
    """The text that we wrote last, if it is there unchanged and we would still write it so."""
    if known.get("by") != _writer():
        return None
    try:
        with open(paths.snapshot, "rb") as file:
            text = file.read()
    except OSError:
        return None
    return text if sha256(text).hexdigest() == known["digest"] else None


def _writer() -> str:
    own = os.stat(interop.__file__)
    return f"{__version__} {own.st_mtime_ns} {own.st_size}"


def _brought_along(store: Store, lines: list[bytes], touched: list[str]) -> bytes:
    """The lines, with those of the touched beads made anew in their places."""
    for line in interop.dump(store.alike(touched)).encode().split(b"\n")[:-1]:
        place = bisect_left(lines, _id(line), key=_id)
        same = place < len(lines) and _id(lines[place]) == _id(line)
        lines[place : place + same] = [line]
    return b"".join(line + b"\n" for line in lines)


_BEGIN = len(b'{"id":"')


def _id(line: bytes) -> str:
    """The bead's id: ids need no escapes, and the line begins with it."""
    return line[_BEGIN : line.index(b'"', _BEGIN)].decode()
