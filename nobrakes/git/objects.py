"""Reading objects through one lasting `git cat-file --batch-command`: a question costs no process.

1. An object never changes, so what was read once is remembered (small answers only).
2. When the process dies, the question is asked once more, of another; one that hangs is NoAnswer (see conversation).
"""

import itertools
import os
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from ..core.errors import GitFailed
from .conversation import Conversation, Line
from .location import Place
from .tree_content import Entry, Stored, differing, stored

T = TypeVar("T")

_REMEMBERED = 4096
_REMEMBERED_TREES = 64
_LARGE_TREE = 200
"""Entries of a tree from which on it is kept with its bytes, so that one like it is not read from its beginning."""
_LARGE_TREES = 8


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit as stored. `author` is the whole line: name, address, seconds, zone."""

    id: str
    tree: str
    parents: tuple[str, ...]
    author: str
    message: str


class Objects:
    """The objects of one repository."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self._git = Conversation(["cat-file", "--batch-command", "-z"])
        self._lock = threading.Lock()
        self._commits: dict[str, Commit] = {}
        self._trees: dict[str, Mapping[str, Entry]] = {}
        self._large: dict[str, Stored] = {}

    def close(self) -> None:
        """End the process that answers; the next question starts another."""
        self._git.close()

    def forget(self) -> None:
        """Remember nothing: objects do not change, but they may be gone."""
        with self._lock:
            self._commits.clear()
            self._trees.clear()
            self._large.clear()

    def _ask(self, question: bytes) -> tuple[str, str, bytes] | None:
        """(object id, type, content) of a `contents NAME`, (…, …, size in digits) of `info NAME`; None: not there.

        NoAnswer.
        """
        for last in (False, True):
            try:
                return self._git.hold(partial(_exchange, question), self.place.git_dir, self.place.plumbing)
            except (OSError, EOFError):
                if last:
                    raise GitFailed(f"git cat-file does not answer about {os.fsdecode(question)[:100]}") from None
        raise AssertionError("unreachable")

    def find(self, name: str) -> tuple[str, str] | None:
        """(object id, type) of what `name` stands for in git's own grammar; None: nothing."""
        oid = name.removesuffix("^{commit}")
        known = self._commits.get(oid)
        if known is not None and known.id == oid:  # any other name may stand for something else by now
            return oid, "commit"
        answer = self._ask(b"info " + os.fsencode(name))
        return None if answer is None else answer[:2]

    def size(self, name: str) -> int | None:
        """The bytes of an object's content, which is not read for it; None: not there."""
        answer = self._ask(b"info " + os.fsencode(name))
        return None if answer is None else int(answer[2])

    def content(self, name: str) -> bytes | None:
        """The raw content of an object; None: not there."""
        answer = self._ask(b"contents " + os.fsencode(name))
        return None if answer is None else answer[2]

    def is_whole(self, commit: str, known: str) -> bool:
        """Whether all is there that the commit needs beside what a whole one has."""
        asked = ["rev-list", "--objects", "--quiet", commit, f"^{known}", "--"]
        return self.place.run(asked, expect=(0, 128)).code == 0

    def stored_commit(self, commit: str) -> bytes | None:
        """A commit as it is stored; None: there is no commit with this id."""
        answer = self._ask(b"contents " + os.fsencode(commit))
        return answer[2] if answer is not None and answer[1] == "commit" else None

    def commit(self, commit: str) -> Commit:
        """The commit; GitFailed when there is none with this id."""
        known = self._commits.get(commit)
        if known is not None:
            return known
        answer = self._ask(b"contents " + os.fsencode(commit) + b"^{commit}")
        if answer is None:
            raise GitFailed(f"the repository has no commit {commit[:64]}")
        return self._learn(commit, parse_commit(answer[0], answer[2]))

    def learn_commit(self, commit: str, content: bytes) -> None:
        """Remember a commit that was just written: it will be asked for."""
        self._learn(commit, parse_commit(commit, content))

    def _learn(self, name: str, found: Commit) -> Commit:
        if len(self._commits) >= _REMEMBERED:
            self._commits.clear()
        self._commits[name] = found
        return found

    def entries(self, tree: str) -> Mapping[str, Entry] | None:
        """What a folder holds, by name; `tree` is any name of a tree. None: not there, or no folder."""
        known = self._trees.get(tree)
        if known is not None:
            return known
        large = self._large.get(tree)
        if large is not None:
            return large.entries
        answer = self._ask(b"contents " + os.fsencode(tree))
        if answer is None or answer[1] != "tree":
            return None
        try:
            return self.learn_tree(answer[0], answer[2]).entries
        except ValueError:
            raise GitFailed(f"the tree {answer[0]} cannot be read") from None

    def learn_tree(self, tree: str, raw: bytes) -> Stored:
        """Remember what the tree with this id holds, which was read or written just now. ValueError: it is no tree."""
        with self._lock:
            likely = [one for one in self._large.values() if abs(len(one.raw) - len(raw)) * 4 < len(raw)]
            found = stored(raw, len(tree) // 2, likely[-1] if likely else None)
            if len(found.entries) >= _LARGE_TREE:
                _keep(self._large, tree, found, _LARGE_TREES)
            else:
                _keep(self._trees, tree, found.entries, _REMEMBERED_TREES)
        return found

    def large(self, tree: str) -> Stored | None:
        """A large tree that is remembered with its bytes."""
        return self._large.get(tree)

    def differing(self, one: str, other: str) -> set[str] | None:
        """The names that differ in two large trees that were read; None: that is to be looked for."""
        before, after = self._large.get(one), self._large.get(other)
        return None if before is None or after is None else differing(before, after)

    def entry(self, commit: str, path: str) -> Entry | None:
        """What the path is in the commit; None: not there."""
        folder, _, name = path.rpartition("/")
        entries = self.entries(f"{commit}:{folder}" if folder else self._root(commit))
        return None if entries is None else entries.get(name)

    def _root(self, commit: str) -> str:
        known = self._commits.get(commit)
        return f"{commit}^{{tree}}" if known is None else known.tree


def _keep(known: dict[str, T], name: str, found: T, most: int) -> None:
    if len(known) >= most:
        del known[next(iter(known))]  # the one that was read first
    known[name] = found


def _exchange(question: bytes, line: Line) -> tuple[str, str, bytes] | None:
    line.say(question + b"\0")
    head = line.line()
    words = head[:-1].rsplit(b" ", 2)
    # "<name> missing", "<name> ambiguous": a name may hold spaces and line breaks, but never ends a good head
    if len(words) != 3 or not words[2].isdigit():
        while not head.endswith((b" missing\n", b" ambiguous\n")):
            head = line.line()
        return None
    content = line.read(int(words[2]) + 1)[:-1] if question.startswith(b"contents") else words[2]
    return words[0].decode("ascii"), words[1].decode("ascii"), content


def parse_commit(commit: str, raw: bytes) -> Commit:
    """A commit from its stored bytes, read as git reads it; undecodable bytes of the message are replaced.

    The first line is the tree and those right after it are the parents: git takes a commit with more of either further
    down, and does not see them.
    """
    head, _, message = raw.partition(b"\n\n")
    first, *lines = head.split(b"\n")
    tree = first.removeprefix(b"tree ").decode("ascii", "replace") if first.startswith(b"tree ") else ""
    own = list(itertools.takewhile(lambda line: line.startswith(b"parent "), lines))
    parents = tuple(line.removeprefix(b"parent ").decode("ascii", "replace") for line in own)
    others = lines[len(own) :]
    author = _header(others, b"author ").decode("utf-8", "replace")
    encoding = _header(others, b"encoding ").decode("ascii", "replace").strip().lower()
    text = message.decode(encoding if _ENCODING.fullmatch(encoding) else "utf-8", "replace")
    return Commit(commit, tree, parents, author, text)


_ENCODING = re.compile(r"utf-?8|(?:us-)?ascii|latin-?1|iso-8859-(?:[1-9]|1[0134567])|(?:windows-|cp)125[0-8]|koi8-[ru]")
"""What a message is decoded by. Python knows others, and among those some that fail or take their time."""


def _header(lines: list[bytes], name: bytes) -> bytes:
    """The value of the first line with this name; empty where there is none."""
    return next((line.removeprefix(name) for line in lines if line.startswith(name)), b"")
