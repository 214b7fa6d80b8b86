"""Packs of our own: new objects are in one until a ref names them, and packs stay few while work continues.

`git prune` and `git gc` remove what refs did not lead to when they looked, even if it got a ref since. They keep packs
with a `.keep` and newer packs; so what is fetched or made lies in such a pack before it has a ref.

One file an object costs every reader an open file: a thousand beads left 7,000 files with 52 MB, which are 3 MB in a
pack, and a checkout of a thousand files took twice as long.

1. A pack is made in its own folder, as `git prune` removes unfinished ones in `objects/pack`. `.keep` comes first, the
   index last, by which git knows it. `.keep` goes after HELD_SECONDS, when refs exist.
2. Every object stays; unreferenced ones are packed too.
3. Packs are rewritten only with not much larger ones (`--geometric`): a few times per object, without walking the
   history.
4. Not with borrowed or promised objects, which older git mixes up, nor if a person set `gc.auto = 0`.
"""

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TypeVar

from ..errors import GitFailed
from . import command_line
from .command_line import CHECKOUT
from .landing import standing
from .location import Place
from .objects import OWN

T = TypeVar("T")

TRIES = 8
"""Retries while someone keeps pruning."""
LOOSE = 1000
"""Loose objects before they are packed: those of about 150 beads."""
PACKS = 50
"""Packs before they are combined: each slows every lookup."""
HELD_SECONDS = 600.0
"""Minimal time to hold one of our packs: a ref follows in seconds."""
LEFT_SECONDS = 3600.0
"""A pack's folder of this age was left by a killed nobrakes."""
_FOLDER = "nobrakes-"
_MARK = b"nobrakes\n"
"""Content of our `.keep` files; a person's stay."""
_WINDOW = "--window=3"
"""Trees of the same folder are adjacent; a window of ten took twice the time for the same size."""


def hold(place: Place, commits: Collection[str], known: str | None) -> None:
    """Copy what the commits have beyond `known` into a held pack, unless one has it: present files may vanish."""
    asked = "".join(f"{commit}\n" for commit in commits) + (f"--not\n{known}\n" if known else "")
    packing = ["pack-objects", "--revs", "-q", "--honor-pack-keep", "--non-empty", "--window=0", "--threads=1"]
    with folder(place) as made:
        if name := place.run([*packing, os.path.join(made, "new")], stdin=asked.encode()).text:
            publish(place, os.path.join(made, f"new-{name}"), name)


def held(place: Place, make: Callable[[], T], commits: Callable[[T], Sequence[str]], known: str | None) -> T:
    """The result of `make`, with its commits held; repeats it if its objects are removed before. Raises GitFailed."""
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
    """A new folder beside our packs, on the same file system."""
    try:
        with tempfile.TemporaryDirectory(prefix=_FOLDER, dir=place.objects) as made:
            yield made
    except OSError as error:
        raise command_line.failure(["git", "pack-objects"], -1, str(error)) from None


def publish(place: Place, stem: str, name: str) -> None:
    """Move the pack (`stem`.pack, .idx and the rest) into the repository, and hold it."""
    to = os.path.join(place.objects, "pack", f"pack-{name}")
    with open(f"{to}.keep", "wb") as file:
        file.write(_MARK)
    mode = os.stat(place.objects).st_mode & 0o444
    endings = [entry.name.rpartition(".")[2] for entry in os.scandir(os.path.dirname(stem)) if "." in entry.name]
    for ending in sorted(endings, key=lambda one: (one == "idx", one)):
        os.chmod(f"{stem}.{ending}", mode)  # as in a repository that several people share
        os.replace(f"{stem}.{ending}", f"{to}.{ending}")


def release(place: Place, older: float = HELD_SECONDS) -> None:
    for entry in os.scandir(os.path.join(place.objects, "pack")):
        with suppress(FileNotFoundError):
            if entry.name.endswith(".keep") and time.time() - entry.stat().st_mtime >= older and _is_ours(entry.path):
                os.unlink(entry.path)


def left(place: Place) -> list[str]:
    ours = (entry for entry in os.scandir(place.objects) if entry.name.startswith(_FOLDER))
    return [entry.path for entry in ours if time.time() - entry.stat().st_mtime >= LEFT_SECONDS]


def _is_ours(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(len(_MARK) + 1) == _MARK


def pack_objects(place: Place, many: int = LOOSE) -> bool:
    """Pack if over `many` objects are loose, or packs are many; whether it did. On NobrakesError nothing is lost."""
    if not _may(place) or not (_are_more(place.objects, many) or _packs(place.objects) > PACKS):
        return False
    settings = ("-c", "pack.threads=1", "-c", "repack.writeBitmaps=false")  # others work beside it; ours alone it keeps
    place.run([*settings, "repack", "--geometric=2", "-d", "-l", "-q", "-n", _WINDOW])
    return True


def _packs(objects: str) -> int:
    names = os.listdir(os.path.join(objects, "pack"))
    return sum(name.endswith(".pack") for name in names) - sum(name.endswith(".keep") for name in names)


def _may(place: Place) -> bool:
    """Whether all objects are the repository's own and packing is not forbidden."""
    borrows = os.path.exists(os.path.join(place.objects, "info", "alternates"))
    promised = "extensions.partialclone" in place.settings
    return not borrows and not promised and place.settings.get("gc.auto") != "0"


def _are_more(objects: str, many: int) -> bool:
    count = 0
    for number in range(256):
        try:
            count += len(os.listdir(os.path.join(objects, f"{number:02x}")))
        except OSError:  # there is none, or nobody may look
            continue
        if count > many:
            return True
    return False


SHARED_AGE = 2.0
"""Seconds after which a lock on main or HEAD is stale; no git command holds one that long."""

PACKED_AGE = 60.0
"""Seconds for packed-refs: rewriting many refs takes time."""


# Only who holds the daemon's lock may call this. On main, HEAD and packed-refs a human's git may be at work this
# moment, so only old locks are removed there. A human's index.lock is never touched; ours has our mark in it.
def clear(place: Place) -> None:
    """Remove stale lock files, except those of indexes; waits up to SHARED_AGE for a young one."""
    for folder, _, names in os.walk(os.path.join(place.git_dir, OWN)):
        for name in names:
            if name.endswith(".lock"):
                _remove(os.path.join(folder, name))
    for folder in left(place):
        shutil.rmtree(folder, ignore_errors=True)
    shared = [os.path.join(place.git_dir, place.ref + ".lock")]
    for worktree in standing.all_of(place):
        while 0 <= _age(worktree.copy + ".lock") <= SHARED_AGE:  # a git command that outlived its daemon still writes
            time.sleep(0.05)
        shared.append(os.path.join(worktree.git_dir, "HEAD.lock"))
    for lock in shared:
        age = _age(lock)
        while 0 <= age <= SHARED_AGE:
            time.sleep(0.05)
            age = _age(lock)
        if age > SHARED_AGE:
            _remove(lock)
    packed = os.path.join(place.git_dir, "packed-refs.lock")
    if _age(packed) > PACKED_AGE:
        _remove(packed)


def clear_indexes(place: Place) -> None:
    for worktree in standing.all_of(place):
        standing.clear(worktree)


def _age(path: str) -> float:
    """Seconds since the file was written, by its file system's clock; -1: missing. A future time counts as old."""
    try:
        age = time.time() - os.lstat(path).st_mtime
    except OSError:
        return -1.0
    return age if age >= 0 else SHARED_AGE + PACKED_AGE


def _remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


_FILES = ("core.attributesfile", "core.excludesfile")
_PROGRAMS = (".clean", ".smudge", ".process", ".driver")


def folders(place: Place) -> tuple[str, ...]:
    return tuple(dict.fromkeys([place.git_dir, *(worktree.path for worktree in standing.all_of(place)), *place.lent()]))


def settings(place: Place) -> tuple[str, ...]:
    found = []
    for key, value, file in said(place):
        found += [file, *_named(key, value, os.path.dirname(file))]
    return tuple(dict.fromkeys(found))


def said(place: Place) -> Iterator[tuple[str, str, str]]:
    """(key, value, file) of git's settings, without those of our environment."""
    asked = ["config", "--list", "--show-origin", "--includes", "-z"]
    answer = command_line.run(asked, cwd=place.git_dir, env={**CHECKOUT, "GIT_DIR": place.git_dir})
    for origin, record in zip(answer.records[::2], answer.records[1::2], strict=False):
        key, _, value = record.partition("\n")
        if origin.startswith("file:"):
            yield key, value, os.path.join(place.git_dir, origin.removeprefix("file:"))


def _named(key: str, value: str, folder: str) -> Iterator[str]:
    if key.startswith("include") and key.endswith(".path"):
        yield os.path.join(folder, os.path.expanduser(value))
    elif key in _FILES:
        yield os.path.expanduser(value)
    elif key.endswith(_PROGRAMS):
        words = [os.path.expanduser(word) for word in value.split()]
        yield from (word for word in words if os.path.isabs(word) and os.path.isfile(word))
