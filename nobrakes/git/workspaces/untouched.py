"""Whether a folder holds the files of a tree and nothing else, told by reading them: for small ones, without a process.

1. Every file is read and hashed; neither times nor an index are believed.
2. "No" only means that git has to be asked: what is ignored, converted, a repository of its own, or not worth the
   time (MOST_ENTRIES, MOST_BYTES) is told apart there.
3. No link is followed, and nothing but regular files is opened.
"""

import hashlib
import os
import stat
from itertools import islice

from ...core.errors import GitFailed
from ..objects import EXECUTABLE, FILE, FOLDER, LINK, Entry, Objects

MOST_ENTRIES = 500
MOST_BYTES = 2_000_000
"""More than that is quicker told by git, which knows from its index what need not be read."""


class _Unlike(Exception):
    """Something there is not as it is in the tree, or cannot be compared."""


def is_just(objects: Objects, folder: str, tree: str) -> bool:
    """Whether what lies in the folder, but for its `.git`, is the tree. False: it is not, or git has to tell."""
    try:
        _compare(objects, folder, tree)
    except (_Unlike, OSError, GitFailed):
        return False
    return True


def _compare(objects: Objects, folder: str, tree: str) -> None:
    hashing = "sha256" if len(tree) == 64 else "sha1"
    entries_left, bytes_left = MOST_ENTRIES, MOST_BYTES
    left = [(folder, tree)]
    while left:
        path, held_by = left.pop()
        with os.scandir(path) as found:
            there = [one for one in islice(found, entries_left + 2) if path != folder or one.name != ".git"]
        entries_left -= len(there)
        expected = objects.entries(held_by) if entries_left >= 0 else None
        if expected is None or len(expected) != len(there):
            raise _Unlike
        for one in there:
            entry, info = expected.get(one.name), one.stat(follow_symlinks=False)
            if entry is None or entry.mode != _mode(info.st_mode):
                raise _Unlike
            if entry.mode == FOLDER:
                left.append((one.path, entry.id))
                continue
            bytes_left -= info.st_size
            if bytes_left < 0:
                raise _Unlike
            content = _content(one.path, entry, info.st_size)
            if hashlib.new(hashing, b"blob %d\0" % len(content) + content).hexdigest() != entry.id:
                raise _Unlike


def _mode(mode: int) -> str:
    """The mode that git would give to it; empty: git keeps nothing of the kind."""
    if stat.S_ISREG(mode):
        return EXECUTABLE if mode & stat.S_IXUSR else FILE
    return FOLDER if stat.S_ISDIR(mode) else LINK if stat.S_ISLNK(mode) else ""


def _content(path: str, entry: Entry, size: int) -> bytes:
    """What the blob of a file or link holds; one that grows meanwhile is cut, and with that another one."""
    if entry.mode == LINK:
        return os.fsencode(os.readlink(path))
    opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return os.read(opened, size + 1)
    finally:
        os.close(opened)
