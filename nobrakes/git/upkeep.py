"""Packs of our own: new objects are in one until a ref names them, and packs stay few while work continues.

`git prune` and `git gc` remove what refs did not lead to when they looked, even if it got a ref since. They keep packs
with a `.keep` and newer packs; so what is fetched or made lies in such a pack before it has a ref.

One file an object costs every reader an open file: a thousand beads left 7,000 files with 52 MB, which are 3 MB in a
pack, and a checkout of a thousand files took twice as long.

1. What was made here lately, or is small and was hashed here, needs no process to be packed: git packs the rest. An
   object counts as held while its pack and `.keep` are there, for half of the time that we hold a pack.
2. A pack is made in its own folder, as `git prune` removes unfinished ones in `objects/pack`. `.keep` comes first, the
   index last, by which git knows it. `.keep` goes after HELD_SECONDS, when refs exist.
3. Every object stays; unreferenced ones are packed too.
4. Packs are rewritten only with not much larger ones (`--geometric`): a few times per object, without walking the
   history. So are those that are held: each object lies in a held pack all the time.
5. Not with borrowed or promised objects, which older git mixes up, nor if a person set `gc.auto = 0`.
"""

import contextlib
import io
import os
import struct
import time
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import accumulate, pairwise
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from ..errors import GitFailed, NobrakesError
from . import command_line
from .landing import standing
from .location import Place
from .objects import FOLDER, MODULE, OWN, Entry, Objects, differing, parse_commit, stored

if TYPE_CHECKING:
    import hashlib

T = TypeVar("T")

TRIES = 8
"""Retries while someone keeps pruning."""
LOOSE = 1000
"""Loose objects before they are packed: those of about 150 beads."""
HELD_SECONDS = 600.0
"""Minimal time to hold one of our packs: a ref follows in seconds."""
PACKS = 50
"""Packs before they are combined: each slows every lookup."""
HELD_PACKS = 60
"""Packs that are held before the small ones are combined: a bead makes four, and each git that starts looks at all."""
LEFT_SECONDS = 3600.0
"""A pack's folder of this age was left by a killed nobrakes."""
_FOLDER = "nobrakes-"
_MARK = b"nobrakes\n"
"""Content of our `.keep` files; a person's stay."""
_WINDOW = "--window=3"
"""Trees of the same folder are adjacent; a window of ten took twice the time for the same size."""


Content = tuple[str, bytes]
"""An object: its type and its bytes."""

MAX_OBJECTS = 500
MAX_BYTES = 4_000_000
"""A larger pack is git's to make: it streams, and finds deltas."""
_KNOWN = 20_000
_TYPES = {"commit": 1, "tree": 2, "blob": 3}
_INDEX = b"\xfftOc\0\0\0\2"
_NAMES = 8 + 4 * 256


class Held:
    """The objects of one repository that were made here lately, or lie in a pack that is surely still held."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._made: dict[str, Content] = {}
        self._size = 0
        self._packs: dict[str, tuple[str, float]] = {}
        self._added = 0

    def learn(self, oid: str, kind: str, content: bytes) -> None:
        """An object that was just written into the repository."""
        with self._lock:
            self._size += len(content) - len(self._made.pop(oid, ("", b""))[1])
            self._made[oid] = kind, content
            while self._size > MAX_BYTES:
                self._size -= len(self._made.pop(next(iter(self._made)))[1])

    def made(self, oid: str) -> Content | None:
        return self._made.get(oid)

    def add(self, stem: str, oids: Iterable[str]) -> None:
        """These lie in the pack `stem`, which has just been held."""
        until = time.monotonic() + HELD_SECONDS / 2
        with self._lock:
            for oid in oids:
                self._packs.pop(oid, None)
                self._packs[oid] = stem, until
            while len(self._packs) > _KNOWN:
                del self._packs[next(iter(self._packs))]
            self._added += 1

    def are_many(self) -> bool:
        """Whether HELD_PACKS packs were added since this was true."""
        with self._lock:
            self._added %= HELD_PACKS
            return self._added == 0

    def has(self, oid: str) -> bool:
        stem, until = self._packs.get(oid, ("", 0.0))
        return time.monotonic() < until and all(os.path.exists(stem + end) for end in (".keep", ".pack", ".idx"))


def loose(read: Callable[[str, int], bytes | None], oid: str) -> Content | None:
    """A loose object by `read` (its path among the objects, most bytes), hashed; None: no small, sound one is there."""
    packed = read(f"{oid[:2]}/{oid[2:]}", MAX_BYTES)
    try:
        whole = zlib.decompressobj().decompress(packed or b"", MAX_BYTES)
    except zlib.error:
        return None
    head, _, content = whole.partition(b"\0")
    kind = head.partition(b" ")[0].decode("ascii", "replace")
    is_sound = kind in _TYPES and head == f"{kind} {len(content)}".encode() and _hash(oid)(whole).hexdigest() == oid
    return (kind, content) if is_sound else None


def pack(objects: Mapping[str, Content]) -> tuple[bytes, bytes]:
    """These objects as a pack, and its index."""
    names = sorted(objects)
    parts = [_entry(*objects[oid]) for oid in names]
    head = b"PACK" + struct.pack(">II", 2, len(names))
    made = _ended(head + b"".join(parts), names[0])
    firsts = [bytes.fromhex(oid)[0] for oid in names]
    offsets = accumulate(map(len, parts[:-1]), initial=len(head))
    index = io.BytesIO()
    index.write(_INDEX)
    index.write(struct.pack(">256I", *accumulate(firsts.count(byte) for byte in range(256))))
    index.write(b"".join(map(bytes.fromhex, names)))
    index.write(struct.pack(f">{len(names)}I", *map(zlib.crc32, parts)))
    index.write(struct.pack(f">{len(names)}I", *offsets))
    index.write(made[-len(names[0]) // 2 :])
    return made, _ended(index.getvalue(), names[0])


def names_in(index: str, width: int) -> Sequence[str]:
    """The objects of a pack by its index; none of one with very many."""
    with open(index, "rb") as file:
        if os.fstat(file.fileno()).st_size > MAX_BYTES:
            return ()
        content = file.read()
    count = int.from_bytes(content[_NAMES - 4 : _NAMES], "big")
    return [content[at:end].hex() for at, end in pairwise(range(_NAMES, _NAMES + width * (count + 1), width))]


def _hash(oid: str) -> Callable[[bytes], "hashlib._Hash"]:
    import hashlib  # loads OpenSSL, and a look at main hashes nothing

    return hashlib.sha1 if len(oid) == 40 else hashlib.sha256


def _ended(content: bytes, oid: str) -> bytes:
    return content + _hash(oid)(content).digest()


def _entry(kind: str, content: bytes) -> bytes:
    size = len(content) >> 4
    head = [_TYPES[kind] << 4 | len(content) & 0x0F]
    while size:
        head[-1] |= 0x80
        head.append(size & 0x7F)
        size >>= 7
    return bytes(head) + zlib.compress(content, 1)


def hold(place: Place, objects: Objects, commits: Collection[str], known: str | None) -> None:
    """Copy what the commits have beyond `known` into a held pack, unless one has it: present files may vanish."""
    found = beyond(place, objects, commits, place.held.made, lambda commit: commit == known)
    if found is not None:
        if found:
            _hold(place, found)
        return
    asked = "".join(f"{commit}\n" for commit in commits) + (f"--not\n{known}\n" if known else "")
    packing = ["pack-objects", "--revs", "-q", "--honor-pack-keep", "--non-empty", "--window=0", "--threads=1"]
    with folder(place) as made:
        if name := place.run([*packing, os.path.join(made, "new")], stdin=asked.encode()).text:
            publish(place, os.path.join(made, f"new-{name}"), name)


def _hold(place: Place, found: Mapping[str, Content]) -> None:
    with folder(place) as made:
        stem = os.path.join(made, "new")
        whole, index = pack(found)
        for ending, content in (("pack", whole), ("idx", index)):
            with open(f"{stem}.{ending}", "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        publish(place, stem, whole[-len(next(iter(found))) // 2 :].hex())


def beyond(
    place: Place,
    objects: Objects,
    commits: Collection[str],
    read: Callable[[str], Content | None],
    is_reached: Callable[[str], bool],
) -> dict[str, Content] | None:
    """The objects that the commits have beyond reached commits and held packs, by `read`; None: it lacks one, or they
    are other or more than is packed here. `is_reached` may raise Unknown."""
    found: dict[str, Content] = {}
    trees: list[tuple[str, str | None]] = []
    left = list(commits)
    size = 0

    def is_new(oid: str, kind: str) -> bool:
        nonlocal size
        if (oid in found and found[oid][0] == kind) or place.held.has(oid):
            return False
        content = read(oid)
        if content is None or content[0] != kind or len(found) == MAX_OBJECTS:
            raise Unknown
        size += len(content[1])
        if size > MAX_BYTES:
            raise Unknown
        found[oid] = content
        return True

    try:
        while left:
            commit = left.pop()
            if not is_reached(commit) and is_new(commit, "commit"):
                own = parse_commit(commit, found[commit][1])
                if len(own.parents) > 2:
                    raise Unknown
                left += own.parents
                trees.append((own.tree, _tree_of(objects, read, own.parents[0]) if own.parents else None))
        while trees:
            tree, before = trees.pop()
            if tree != before and is_new(tree, "tree"):
                for old, new in _changed(objects, found, tree, before):
                    if new.mode == FOLDER:
                        trees.append((new.id, old.id if old is not None and old.mode == FOLDER else None))
                    elif new.mode != MODULE:
                        is_new(new.id, "blob")
    except (Unknown, ValueError):
        return None
    return found


class Unknown(Exception):
    """Git has to find and pack the objects."""


def _tree_of(objects: Objects, read: Callable[[str], Content | None], commit: str) -> str:
    content = read(commit)
    return objects.commit(commit).tree if content is None else parse_commit(commit, content[1]).tree


def _changed(
    objects: Objects, found: Mapping[str, Content], tree: str, before: str | None
) -> list[tuple[Entry | None, Entry]]:
    """(before, after) of each entry of a new tree that the tree `before` has not."""
    like = None if before is None else objects.large(before)
    after = stored(found[tree][1], len(tree) // 2, like)
    if before is None:
        known: Mapping[str, Entry] = {}
    elif before in found:
        known = stored(found[before][1], len(tree) // 2).entries
    else:
        known = objects.entries(before) or {}
    names = after.entries if like is None else after.entries.keys() & differing(like, after)
    pairs = ((known.get(name), after.entries[name]) for name in names)
    return [(old, new) for old, new in pairs if old != new]


def held(
    place: Place, objects: Objects, make: Callable[[], T], commits: Callable[[T], Sequence[str]], known: str | None
) -> T:
    """The result of `make`, with its commits held; repeats it if its objects are removed before. Raises GitFailed."""
    for left in reversed(range(TRIES)):
        try:
            made = make()
            if named := commits(made):
                hold(place, objects, named, known)
            return made
        except GitFailed:
            if not left:
                raise
    raise AssertionError("unreachable")


@contextmanager
def folder(place: Place) -> Iterator[str]:
    """A new folder beside our packs, on the same file system."""
    import tempfile

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
    width = 32 if place.settings.get("extensions.objectformat") == "sha256" else 20
    place.held.add(to, names_in(f"{to}.idx", width))
    if place.held.are_many() and _may(place) and not _are_listed(place):
        with suppress(NobrakesError, OSError):  # as they are, they serve as well: the next ones try again
            _combine(place)


def _combine(place: Place) -> None:
    """Replace the small held packs by one that is held before they go. Large ones stay, so that no object is written
    at each turn."""
    small: list[str] = []
    total = 0
    whole = (stem for stem in _ours(place) if os.path.exists(f"{stem}.idx"))
    for size, stem in sorted((os.path.getsize(f"{stem}.pack"), stem) for stem in whole):
        if len(small) > HELD_PACKS // 2 and size > total:
            break
        small.append(stem)
        total += size
    asked = "".join(f"{os.path.basename(stem)}.pack\n" for stem in small)
    packing = ["pack-objects", "--stdin-packs", "-q", "--window=0", "--threads=1"]
    with folder(place) as made:
        name = place.run([*packing, os.path.join(made, "new")], stdin=asked.encode()).text
        publish(place, os.path.join(made, f"new-{name}"), name)
    for stem in () if _are_listed(place) else small:  # it may have come meanwhile
        if not stem.endswith(name):
            for ending in ("idx", "rev", "pack", "keep"):  # git knows a pack by its index, and reads elsewhere
                _remove(f"{stem}.{ending}")


def _are_listed(place: Place) -> bool:
    """Whether a person has an index of many packs: git calls a repository corrupt where one that it lists is gone."""
    return any(name.startswith("multi-pack-index") for name in os.listdir(os.path.join(place.objects, "pack")))


def release(place: Place, older: float = HELD_SECONDS) -> None:
    for stem in _ours(place):
        with suppress(FileNotFoundError):
            if time.time() - os.stat(f"{stem}.keep").st_mtime >= older:
                os.unlink(f"{stem}.keep")


def _ours(place: Place) -> list[str]:
    """The packs that are held, or will be once they are whole, without their endings."""
    folder = os.path.join(place.objects, "pack")
    stems = [os.path.join(folder, name.removesuffix(".keep")) for name in os.listdir(folder) if name.endswith(".keep")]
    return [stem for stem in stems if _is_ours(f"{stem}.keep")]


def left(place: Place) -> list[str]:
    ours = (entry for entry in os.scandir(place.objects) if entry.name.startswith(_FOLDER))
    return [entry.path for entry in ours if time.time() - entry.stat().st_mtime >= LEFT_SECONDS]


def _is_ours(keep: str) -> bool:
    try:
        with open(keep, "rb") as file:
            return file.read(len(_MARK) + 1) == _MARK
    except (FileNotFoundError, PermissionError):  # another person's git holds it for them alone
        return False


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
    import shutil

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
