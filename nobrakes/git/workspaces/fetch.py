"""Taking a branch in from an agent's clone: objects only, checked, and then one ref of our own.

1. The branch's head is read by hand (see clones); git runs in our repository under our configuration, with the
   clone's objects as a second place to read from. It never starts in the clone.
2. What main does not have is packed, and unpacked with --strict: every object is hashed and checked again, and
   every link must lead to an object that we have. So nothing broken or missing comes in.
3. The pack is taken from head to main whatever lies about already: what a killed run left cannot make holes.
"""

import contextlib
import os
import stat
import tempfile
from typing import IO

from ...core.errors import GitFailed, Tampered
from ...core.limits.sizes import DEFAULT, Sizes
from ..differences import TooMuch, raw
from ..history import History
from ..location import Place
from ..objects import Objects
from . import clones, measurement

_UNPACKED = 100
"""Up to this many objects become files of their own; more stay in a pack, as with git's own fetch."""


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
    with tempfile.TemporaryFile() as pack:
        place.run(
            [*measurement.PLAIN, "pack-objects", "--revs", "--stdout", "-q", "--window=0", "--threads=1"],
            env={"GIT_ALTERNATE_OBJECT_DIRECTORIES": measurement.quoted(folder)},
            stdin=f"{head}\n--not\n{main}\n".encode(),
            stdout=pack,
        )
        count = _count(pack)
        if count > _UNPACKED:
            place.run(["index-pack", "--stdin", "--strict", "--fix-thin"], stdin=pack)
        elif count:
            _unpack(place, pack)


def _unpack(place: Place, pack: IO[bytes]) -> None:
    """Unpack beside our objects and move what was found to be right: git leaves what it refuses where it unpacks."""
    with tempfile.TemporaryDirectory(prefix="incoming-", dir=place.objects) as folder:
        env = {"GIT_OBJECT_DIRECTORY": folder, "GIT_ALTERNATE_OBJECT_DIRECTORIES": measurement.quoted(place.objects)}
        place.run(["unpack-objects", "-q", "--strict"], env=env, stdin=pack)
        mode = stat.S_IMODE(os.stat(place.objects).st_mode)
        for name in (entry.name for entry in os.scandir(folder) if len(entry.name) == 2):
            ours = os.path.join(place.objects, name)
            with contextlib.suppress(FileExistsError):
                os.mkdir(ours)
                os.chmod(ours, mode)  # as in a repository that several people share
            for entry in os.scandir(os.path.join(folder, name)):
                os.replace(entry.path, os.path.join(ours, entry.name))


def _count(pack: IO[bytes]) -> int:
    """The number of objects in a pack, from its header; the file is rewound."""
    pack.seek(8)
    header = pack.read(4)
    # the next process reads from the file's own position, so Python's buffer must not have moved it
    os.lseek(pack.fileno(), 0, os.SEEK_SET)
    pack.seek(0)
    if len(header) != 4:
        raise GitFailed("git pack-objects wrote no pack")
    return int.from_bytes(header, "big")
