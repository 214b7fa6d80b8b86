"""Objects that lie in files of their own are put into packs while work goes on: each bead leaves some.

A file an object costs every reader an open file, and each commit a whole copy of its folders: a thousand beads left
7,000 files with 52 MB, which are 3 MB in a pack, and a checkout of a thousand files took twice its time.

1. Every object stays. Those that no ref leads to are packed with the others, and nothing is pruned.
2. What is packed is written again only with packs that are not much larger (`--geometric`), so that an object is
   written a few times, however many there come to be. The history is not walked for it.
3. Not where a part of the objects lies elsewhere (borrowed, or promised by a remote): older git mixes those up. Not
   where a person has said that git is not to do such a thing by itself (`gc.auto = 0` in the repository's settings).
"""

import os

from .location import Place

LOOSE = 1000
"""Objects in files of their own before they are packed: those of some 150 beads."""
_WINDOW = "--window=3"
"""Trees of the same folder lie beside each other; ten candidates for each took twice the time for the same size."""


def pack_objects(place: Place, many: int = LOOSE) -> bool:
    """Pack where more than so many objects lie in files of their own; whether that was done.

    NobrakesError: nothing was lost, and the objects lie where they lay.
    """
    if not _may(place) or not _are_more(place.objects, many):
        return False
    settings = ("-c", "pack.threads=1", "-c", "repack.writeBitmaps=false")  # others work beside it; ours alone it keeps
    place.run([*settings, "repack", "--geometric=2", "-d", "-l", "-q", "-n", _WINDOW])
    return True


def _may(place: Place) -> bool:
    """Whether all objects are the repository's own, and nobody has said that they are not to be packed."""
    borrows = os.path.exists(os.path.join(place.objects, "info", "alternates"))
    promised = "extensions.partialclone" in place.settings
    return not borrows and not promised and place.settings.get("gc.auto") != "0"


def _are_more(objects: str, many: int) -> bool:
    """Whether more than so many objects lie in files of their own."""
    count = 0
    for number in range(256):
        try:
            count += len(os.listdir(os.path.join(objects, f"{number:02x}")))
        except OSError:  # there is none, or nobody may look
            continue
        if count > many:
            return True
    return False
