"""A pack of what an agent made, put together by hand from the loose objects of its clone: `git pack-objects` for few.

1. What is new lies in the clone as files of their own, and what is not new is in main at the same path or is main's
   commit. Anything else (a pack, an object of somewhere else, many objects, large ones) gives None: git packs then.
2. Nothing is believed: `git unpack-objects --strict` hashes and checks all of it, and looks where its links lead. An
   object that is not what its name says is left to git, too, which refuses it.
3. Only a line of commits: each with one parent.
"""

import hashlib
import zlib
from collections.abc import Callable, Mapping

from ...core.errors import GitFailed
from ..objects import FOLDER, MODULE, Commit, Entry, Objects, parse_commit, parse_tree
from ..refs import is_oid
from .inside import read_inside

MOST = 100
LARGEST = 1_000_000
"""Characters of one object, and of all together."""
_DEEPEST = 100
_TYPES = {b"commit": 1, b"tree": 2, b"blob": 3}


class _Elsewhere(Exception):
    """Git has to find it."""


class _New:
    """What is new in a clone, as it is found."""

    def __init__(self, objects: Objects, clone: str, is_main: Callable[[str], bool]) -> None:
        self.objects = objects
        self.clone = clone
        self.is_main = is_main
        self.found: dict[str, tuple[int, bytes]] = {}
        self.room = LARGEST

    def take(self, oid: str, kind: int) -> bytes:
        """An object that lies loose in the clone."""
        if oid in self.found:
            return self.found[oid][1]
        if len(self.found) >= MOST:
            raise _Elsewhere
        stored = read_inside(self.clone, f".git/objects/{oid[:2]}/{oid[2:]}", self.room)
        if stored is None:
            raise _Elsewhere
        try:
            head, nul, content = zlib.decompressobj().decompress(stored, self.room).partition(b"\0")
        except zlib.error:
            raise _Elsewhere from None
        word, _, size = head.partition(b" ")
        if not nul or _TYPES.get(word) != kind or size != str(len(content)).encode():
            raise _Elsewhere  # also where it was cut
        if _digest(oid)(head + nul + content).hexdigest() != oid:
            raise _Elsewhere  # it is not what its name says: what is needed by that name would stay away
        self.room -= len(content)
        self.found[oid] = (kind, content)
        return content

    def commits(self, head: str) -> None:
        """The commit and those below it, to where main begins, each with its files."""
        line: list[Commit] = []
        left: str | None = head
        while left is not None:
            commit = parse_commit(left, self.take(left, 1))
            # of several parents each would be a question, and a path may be known by one and new to another
            if len(commit.parents) != 1 or not all(map(is_oid, (commit.tree, *commit.parents))):
                raise _Elsewhere
            line.append(commit)
            left = None if self.is_main(commit.parents[0]) else commit.parents[0]
        known = self.objects.commit(line[-1].parents[0]).tree
        for commit in reversed(line):
            self.tree(commit.tree, known, 0)
            known = commit.tree

    def tree(self, oid: str, known: str | None, depth: int) -> None:
        """The folder's new objects; `known` is the folder at the same path that is taken or main's."""
        if oid == known or oid in self.found:
            return
        if depth > _DEEPEST:
            raise _Elsewhere
        there = self.entries(known)
        for name, entry in parse_tree(self.take(oid, 2), len(oid) // 2).items():
            old = there.get(name)
            if entry == old or entry.mode == MODULE:
                continue
            if entry.mode == FOLDER:
                self.tree(entry.id, old.id if old is not None and old.mode == FOLDER else None, depth + 1)
            else:
                self.take(entry.id, 3)

    def entries(self, tree: str | None) -> Mapping[str, Entry]:
        """What a folder that is known holds."""
        if tree is None:
            return {}
        if tree in self.found:
            return parse_tree(self.found[tree][1], len(tree) // 2)
        entries = self.objects.entries(tree)
        if entries is None:
            raise _Elsewhere
        return entries


def packed(objects: Objects, clone: str, head: str, is_main: Callable[[str], bool]) -> bytes | None:
    """The pack of what `head` in the clone has beyond main; None: git has to make it.

    `is_main` tells of a commit whether main has it, and with it all that it needs.
    """
    new = _New(objects, clone, is_main)
    try:
        new.commits(head)
    except (_Elsewhere, GitFailed, ValueError, IndexError):  # a tree or a commit that is none
        return None
    body = b"PACK" + (2).to_bytes(4, "big") + len(new.found).to_bytes(4, "big")
    body += b"".join(_entry(kind, content) for kind, content in new.found.values())
    return body + _digest(head)(body).digest()


def _digest(oid: str) -> Callable[[bytes], "hashlib._Hash"]:
    return hashlib.sha1 if len(oid) == 40 else hashlib.sha256


def _entry(kind: int, content: bytes) -> bytes:
    """One object as a pack holds it: its type and length in groups of bits, then the content, compressed."""
    size = len(content)
    first, size = kind << 4 | size & 15, size >> 4
    head = bytearray()
    while size:
        head.append(first | 0x80)
        first, size = size & 0x7F, size >> 7
    head.append(first)
    return bytes(head) + zlib.compress(content, 1)
