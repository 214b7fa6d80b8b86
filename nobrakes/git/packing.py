"""Packs of our own: what is new is held in one until a ref names it, and packs become few while work goes on.

`git prune` and `git gc` look which objects refs lead to, and remove the others some time later. What got its ref in
between would be gone, and the ref would lead nowhere. No git removes a pack that has a `.keep` beside it, or that came
after it looked. So what comes in, and what is made here, lies in such a pack before it has a ref.

A file an object costs every reader an open file, and each commit a whole copy of its folders: a thousand beads left
7,000 files with 52 MB, which are 3 MB in a pack, and a checkout of a thousand files took twice its time.

1. A pack is made in a folder of its own: `git prune` removes what git has not finished in `objects/pack`. Its `.keep`
   comes first and its index last, by which git knows it. The `.keep` goes after HELD_SECONDS, when refs lead to it.
2. Every object stays. Those that no ref leads to are packed with the others, and nothing is pruned.
3. What is packed is written again only with packs that are not much larger (`--geometric`), so that an object is
   written a few times, however many there come to be. The history is not walked for it.
4. Not where a part of the objects lies elsewhere (borrowed, or promised by a remote): older git mixes those up. Not
   where a person has said that git is not to do such a thing by itself (`gc.auto = 0` in the repository's settings).
"""

import os
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TypeVar

from ..core.errors import GitFailed
from . import commands
from .location import Place

T = TypeVar("T")

TRIES = 8
"""So often something is made again, while somebody prunes without a pause."""
LOOSE = 1000
"""Objects in files of their own before they are packed: those of some 150 beads."""
PACKS = 50
"""Packs before they are put together: each costs whoever looks for an object."""
HELD_SECONDS = 600.0
"""So long a pack of ours is held at least: a ref follows in seconds."""
LEFT_SECONDS = 3600.0
"""A folder of a pack that is so old was left by a killed nobrakes."""
_FOLDER = "nobrakes-"
_MARK = b"nobrakes\n"
"""What is in a `.keep` of ours; one of a person stays."""
_WINDOW = "--window=3"
"""Trees of the same folder lie beside each other; ten candidates for each took twice the time for the same size."""


def hold(place: Place, commits: Collection[str], known: str | None) -> None:
    """Put what the commits have beyond `known` into a pack that is held, unless it lies in such a one.

    Each object is copied: the files that hold it now may be removed at any moment.
    """
    asked = "".join(f"{commit}\n" for commit in commits) + (f"--not\n{known}\n" if known else "")
    packing = ["pack-objects", "--revs", "-q", "--honor-pack-keep", "--non-empty", "--window=0", "--threads=1"]
    with folder(place) as made:
        name = place.run([*packing, os.path.join(made, "new")], stdin=asked.encode()).text
        if name:
            publish(place, os.path.join(made, f"new-{name}"), name)


def held(place: Place, make: Callable[[], T], commits: Callable[[T], Sequence[str]], known: str | None) -> T:
    """What `make` made, with its commits held; made again where their objects are removed before that. GitFailed."""
    for left in reversed(range(TRIES)):
        try:
            made = make()
            if named := commits(made):
                hold(place, named, known)
            return made
        except GitFailed:
            if not left:
                raise
    raise AssertionError("unreachable")


@contextmanager
def folder(place: Place) -> Iterator[str]:
    """A folder beside our packs, on the same file system, where one is made."""
    try:
        with tempfile.TemporaryDirectory(prefix=_FOLDER, dir=place.objects) as made:
            yield made
    except OSError as error:
        raise commands.failure(["git", "pack-objects"], -1, str(error)) from None


def publish(place: Place, stem: str, name: str) -> None:
    """Move the pack (`stem`.pack, .idx and what else belongs to it) among the repository's, and hold it."""
    to = os.path.join(place.objects, "pack", f"pack-{name}")
    with open(f"{to}.keep", "wb") as file:
        file.write(_MARK)
    mode = os.stat(place.objects).st_mode & 0o444
    endings = [entry.name.rpartition(".")[2] for entry in os.scandir(os.path.dirname(stem)) if "." in entry.name]
    for ending in sorted(endings, key=lambda one: (one == "idx", one)):
        os.chmod(f"{stem}.{ending}", mode)  # as in a repository that several people share
        os.replace(f"{stem}.{ending}", f"{to}.{ending}")


def release(place: Place, older: float = HELD_SECONDS) -> None:
    """Hold the packs no more that have been held for so many seconds."""
    packs = os.path.join(place.objects, "pack")
    for entry in os.scandir(packs):
        with suppress(FileNotFoundError):
            if entry.name.endswith(".keep") and time.time() - entry.stat().st_mtime >= older and _is_ours(entry.path):
                os.unlink(entry.path)


def left(place: Place) -> list[str]:
    """The folders of packs that were never finished."""
    ours = (entry for entry in os.scandir(place.objects) if entry.name.startswith(_FOLDER))
    return [entry.path for entry in ours if time.time() - entry.stat().st_mtime >= LEFT_SECONDS]


def _is_ours(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(len(_MARK) + 1) == _MARK


def pack_objects(place: Place, many: int = LOOSE) -> bool:
    """Pack where more than so many objects lie in files of their own, or many packs do; whether that was done.

    NobrakesError: nothing was lost, and the objects lie where they lay.
    """
    if not _may(place) or not (_are_more(place.objects, many) or _packs(place.objects) > PACKS):
        return False
    settings = ("-c", "pack.threads=1", "-c", "repack.writeBitmaps=false")  # others work beside it; ours alone it keeps
    place.run([*settings, "repack", "--geometric=2", "-d", "-l", "-q", "-n", _WINDOW])
    return True


def _packs(objects: str) -> int:
    """How many packs nothing holds."""
    names = os.listdir(os.path.join(objects, "pack"))
    return sum(name.endswith(".pack") for name in names) - sum(name.endswith(".keep") for name in names)


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
