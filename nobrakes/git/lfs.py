"""Files that Git LFS keeps: git has a pointer, the content lies in a store beside, by its SHA-256.

1. Pointers and store are read and written by hand: no program runs for it, and no `.lfsconfig` of a branch is heard.
2. What comes from an agent's clone is hashed before it is kept; no link there is followed.
"""

import contextlib
import hashlib
import os
import re
import stat
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from .location import Place

NAME = "lfs"
LARGEST_POINTER = 1024
_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:ext-[^\n]*\n)*oid sha256:([0-9a-f]{64})\nsize ([0-9]{1,18})\n"
)
_CHUNK = 1 << 20


class Pointer(NamedTuple):
    """Git's pointer to a file that LFS stores."""

    oid: str
    size: int

    @property
    def content(self) -> bytes:
        return f"version https://git-lfs.github.com/spec/v1\noid sha256:{self.oid}\nsize {self.size}\n".encode()


def parse(content: bytes) -> Pointer | None:
    found = _POINTER.fullmatch(content) if len(content) < LARGEST_POINTER else None
    return None if found is None else Pointer(found[1].decode(), int(found[2]))


def store(place: Place) -> str:
    """The folder of the contents; it may be missing."""
    return os.path.join(place.git_dir, os.path.expanduser(place.settings.get("lfs.storage", "lfs")), "objects")


def is_used(place: Place) -> bool:
    return os.path.isdir(os.path.join(place.git_dir, "lfs")) or os.path.isdir(store(place))


def path(folder: str, oid: str) -> str:
    return os.path.join(folder, oid[:2], oid[2:4], oid)


def has(folder: str, pointer: Pointer) -> bool:
    with contextlib.suppress(OSError):
        return os.stat(path(folder, pointer.oid)).st_size == pointer.size
    return False


def keep(folder: str, content: bytes) -> Pointer:
    found = Pointer(hashlib.sha256(content).hexdigest(), len(content))
    if not has(folder, found):
        with _new(folder, found.oid) as file:
            file.write(content)
    return found


def take(folder: str, clone: str, pointer: Pointer) -> bool:
    """Copy the content from a clone's own store; whether the store has it now."""
    if not has(folder, pointer):
        with contextlib.suppress(OSError), _plain(clone, pointer) as source:
            digest, left = hashlib.sha256(), pointer.size
            with _new(folder, pointer.oid) as file:
                while left and (piece := source.read(min(left, _CHUNK))):
                    digest.update(piece)
                    file.write(piece)
                    left -= len(piece)
                if left or digest.hexdigest() != pointer.oid:
                    raise OSError(f"the Git LFS object {pointer.oid} does not match its name")
    return has(folder, pointer)


@contextlib.contextmanager
def _plain(clone: str, pointer: Pointer) -> Iterator[BinaryIO]:
    """The plain file with the content in an agent's clone; follows no link. Raises OSError."""
    at = os.open(clone, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in (".git", NAME, "objects", pointer.oid[:2], pointer.oid[2:4]):
            below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
            os.close(at)
            at = below
        descriptor = os.open(pointer.oid, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=at)
    finally:
        os.close(at)
    with open(descriptor, "rb") as file:
        seen = os.fstat(descriptor)
        if not stat.S_ISREG(seen.st_mode) or seen.st_size != pointer.size:
            raise OSError(f"the Git LFS object {pointer.oid} does not match its pointer")
        yield file


@contextlib.contextmanager
def _new(folder: str, oid: str) -> Iterator[BinaryIO]:
    """A new file of the store that appears complete or not at all."""
    whole = path(folder, oid)
    os.makedirs(os.path.dirname(whole), exist_ok=True)
    begun = f"{whole}.{os.getpid()}"
    try:
        with open(begun, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(begun, whole)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(begun)
