"""A repository that was moved or copied while nothing worked in it: what points to its old place points to the new one.

1. Workspaces and checkouts borrow their objects by the full path of ours. Where that is is noted at each start, in a
   file beside the workspaces, so that a lost database changes nothing.
2. Only what pointed to the place of before is written anew. Whatever else stands there an agent wrote, and it stays
   refused.
3. The note changes last: whoever is killed meanwhile does it again.
"""

import contextlib
import os
from collections.abc import Iterator

from ..paths import Paths
from ..replacing import replacing
from .location import Place
from .workspaces.clones import is_folder
from .workspaces.inside import read_inside, replace_inside

_BORROWS = ".git/objects/info/alternates"
_MOST = 10_000
_NOTE = "place"


def settle(place: Place, places: Paths) -> tuple[str, ...]:
    """Mend what points to where the repository was at the last start; the names of the workspaces that did."""
    note = os.path.join(places.folder, _NOTE)
    here = os.fsencode(place.objects)
    before = _read(note)
    if before == here:
        return ()
    mended = [os.path.basename(clone) for clone in _clones(places) if before and _mend(clone, before, here)]
    with replacing(note, 0o600) as file:
        file.write(here)
    return tuple(mended)


def _read(note: str) -> bytes:
    with contextlib.suppress(FileNotFoundError), open(note, "rb") as file:
        return file.read(_MOST)
    return b""


def _clones(places: Paths) -> Iterator[str]:
    for folder in (places.workspaces, places.scratch):
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        yield from (path for name in names if is_folder(path := os.path.join(folder, name)))


def _mend(clone: str, before: bytes, here: bytes) -> bool:
    borrowed = read_inside(clone, _BORROWS, _MOST)
    if borrowed is None or borrowed.strip(b"\n") != before:
        return False
    return replace_inside(clone, _BORROWS, here + b"\n")
