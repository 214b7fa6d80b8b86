"""Taking a branch in from an agent's clone: objects only, checked, and then one ref of our own.

1. The branch's head is read by hand (see clones); git runs in our repository under our configuration, with the
   clone's objects as a second place to read from. It never starts in the clone.
2. What main does not have becomes a pack of ours, with --strict: every object is hashed and checked again, and every
   link must lead to an object that we have. So nothing broken or missing comes in.
3. The pack is taken from head to main whatever lies about already: what a killed run left cannot make holes.
4. The pack is held (packing) until a ref names the commit: a `git gc` that a person runs takes nothing of it.
"""

import os
from typing import IO

from ...core.errors import GitFailed, Tampered
from ...core.limits.sizes import DEFAULT, Sizes
from .. import packing
from ..differences import TooMuch, raw
from ..history import History
from ..location import Place
from ..objects import Objects
from . import clones, measurement


def take(
    place: Place, objects: Objects, history: History, main: str, clone: str, head: str, sizes: Sizes = DEFAULT
) -> None:
    """Copy the commit `head` and what it needs from the clone; Tampered when that is not there whole.

    TooLarge: it is more than `sizes` allow, and then nothing of it is copied.
    """
    if head == main:
        return
    try:
        _copy(place, objects, main, clone, head, sizes)
    except GitFailed as error:
        if isinstance(error, Tampered):
            raise
        # missing or damaged objects, or ones that git refuses (--strict): the clone was whole when it was made
        raise Tampered(f"what lies in the workspace {os.path.basename(clone)} cannot be taken in: {error}") from None
    if objects.find(f"{head}^{{commit}}") is None:
        raise Tampered(f"the branch's head {head} is not a commit that could be taken in")
    try:
        raw(objects, history.fork(main, head) or main, head, sizes)
    except TooMuch as error:
        raise measurement.too_large(clone, str(error)) from None
    except GitFailed as error:
        # git lets in a tree whose modes it reads itself in one way or another; nothing more is done with such a one
        raise Tampered(f"what lies in the workspace {os.path.basename(clone)} cannot be read: {error}") from None


def _copy(place: Place, objects: Objects, main: str, clone: str, head: str, sizes: Sizes) -> None:
    folder = clones.objects_folder(clone, place.objects)
    measurement.on_disk(clone, folder, sizes)
    measure = measurement.Measuring(place, objects, main, clone, folder, sizes)
    try:
        measure.measure(head)
    finally:
        measure.close()
    with packing.folder(place) as made:
        stem = os.path.join(made, "new")
        with open(f"{stem}.pack", "w+b") as pack:
            place.run(
                [*measurement.PLAIN, "pack-objects", "--revs", "--stdout", "-q", "--window=0", "--threads=1"],
                env={"GIT_ALTERNATE_OBJECT_DIRECTORIES": measurement.quoted(folder)},
                stdin=f"{head}\n--not\n{main}\n".encode(),
                stdout=pack,
            )
            count = _count(pack)
        if count:
            name = place.run(["index-pack", "--strict", f"{stem}.pack"]).text.split()[-1]
            packing.publish(place, stem, name)


def _count(pack: IO[bytes]) -> int:
    """The number of objects in a pack, from its header."""
    pack.seek(8)
    header = pack.read(4)
    if len(header) != 4:
        raise GitFailed("git pack-objects wrote no pack")
    return int.from_bytes(header, "big")
