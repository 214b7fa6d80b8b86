"""The ancestry of commits, cached since it never changes, and the differences between two trees."""

import contextlib
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING

from ..agents.limits import MAX_PATH, READ, Sizes
from ..errors import GitFailed
from . import command_line
from .location import Place
from .objects import EXECUTABLE, FILE, FOLDER, MODULE, Commit, Entry, Objects
from .port import ABSENT, SYMLINK, Change, ChangedLines, Made, Patch

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_REMEMBERED = 4096
TRAILER = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*: ?\S.*\Z")
_NEAR = 256
"""How many commits of each line are walked in Python before git, a process, is asked."""


def trailers_of(text: str) -> tuple[tuple[str, str], ...]:
    """The trailers of a commit's text, in their order."""
    rows = text.rstrip("\n").rpartition("\n\n")[2].split("\n")
    if not all(TRAILER.match(row) for row in rows) or "\n\n" not in text:
        return ()
    return tuple((key, value.strip()) for key, _, value in (row.partition(":") for row in rows))


PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color")
_HOW = {"A": "added", "D": "removed", "R": "renamed", "C": "added"}


class Enough(Exception):
    """What is written is more than is wanted of it: the program that writes it is ended."""


class First(BytesIO):
    """The first bytes of what is written."""

    def __init__(self, most: int, stops: bool = False) -> None:
        super().__init__()
        self.is_cut = False
        self._room = most
        self._stops = stops

    def write(self, piece: "ReadableBuffer", /) -> int:
        """Keeps what still fits. Raises Enough beyond it, if it `stops`."""
        given = bytes(piece)
        self.is_cut |= len(given) > self._room
        self._room -= super().write(given[: self._room])
        if self.is_cut and self._stops:
            raise Enough
        return len(given)


def _files(records: Sequence[str]) -> Iterator[ChangedLines]:
    how: dict[str, str] = {}
    left = iter(records)
    for record in left:
        if record.startswith(":"):
            letter = record.rpartition(" ")[2][:1]
            path = next(left)
            how[next(left) if letter in "RC" else path] = _HOW.get(letter, "changed")
            continue
        added, removed, path = record.split("\t", 2)
        before = ""
        if not path:
            before, path = next(left), next(left)
        more, less = (int(number) if number.isdigit() else None for number in (added, removed))
        yield ChangedLines(path, how.get(path, "changed"), more, less, before)


class History:
    """The ancestry of one repository's commits."""

    def __init__(self, place: Place, objects: Objects) -> None:
        self.place = place
        self.objects = objects
        self._forks: dict[tuple[str, str], tuple[str | None, bool]] = {}

    def made(self, name: str) -> Made | None:
        """The commit that `name` stands for; None: there is none."""
        found = self.objects.find(f"{name}^{{commit}}")
        if found is None:
            return None
        commit = self.objects.commit(found[0])
        who = "".join(commit.author.rpartition(">")[:2])
        made = (commit.id, commit.tree, commit.parents, commit.message.lstrip("\n").partition("\n")[0], who)
        return Made(*made, trailers_of(commit.message), commit.at)

    def patch(self, base: str, head: str, most: int) -> Patch:
        asked = ["diff-tree", "-r", "-M", *PLAIN]
        files = self.place.run([*asked, "-z", "--raw", "--numstat", base, head]).records
        return Patch(tuple(_files(files)), *self.first_lines([*asked, "-p", base, head], most))

    def first_lines(self, asked: Sequence[str], most: int) -> tuple[str, bool]:
        """The whole lines in the first `most` bytes of git's answer, and whether there are more."""
        said = First(most, stops=True)
        with contextlib.suppress(Enough):
            self.place.run(asked, stdout=said)
        text = said.getvalue()
        return text[: text.rfind(b"\n") + 1 if said.is_cut else None].decode("utf-8", "replace"), said.is_cut

    def forget(self) -> None:
        self._forks.clear()

    def fork(self, main: str, head: str, began: str | None = None) -> str | None:
        found = self._fork(main, head)[0]
        if began is None or found == began or not self.contains(began, head):
            return found
        return began if found is None or self.contains(found, began) else found

    def only_fork(self, main: str, head: str) -> str | None:
        """The fork of two lines without merges, if it is near: then it is the only one. None: there may be several."""
        found, is_only = self._fork(main, head)
        return found if is_only else None

    def _fork(self, main: str, head: str) -> tuple[str | None, bool]:
        if main == head:
            return main, True
        known = self._forks.get((main, head))
        if known is None:
            near = self._meeting(main, head)
            known = (self._merge_base(main, head), False) if near is None else (near, True)
            if len(self._forks) >= _REMEMBERED:
                self._forks.clear()
            self._forks[main, head] = known
        return known

    def _meeting(self, main: str, head: str) -> str | None:
        """Where two lines without merges meet nearby: the only possible fork."""
        seen: tuple[set[str], set[str]] = ({main}, {head})
        ends: list[str | None] = [main, head]
        for _ in range(_NEAR):
            # in turns, so that a fork close to both is found close to both
            for side in (0, 1):
                ends[side] = end = self._only_parent(ends[side])
                if end is not None:
                    if end in seen[1 - side]:
                        return end
                    seen[side].add(end)
        return None

    def _only_parent(self, commit: str | None) -> str | None:
        if commit is None:
            return None
        try:
            parents = self.objects.commit(commit).parents
        except GitFailed:
            return None  # the end of a shallow history: git knows how to go on
        return parents[0] if len(parents) == 1 else None

    def _merge_base(self, main: str, head: str) -> str | None:
        answer = self.place.run(["merge-base", main, head], expect=(0, 1))
        return answer.text.split("\n")[0] if answer.code == 0 else None

    def contains(self, ancestor: str, descendant: str) -> bool:
        if ancestor == descendant or ancestor in self.objects.commit(descendant).parents:
            return True
        return self.fork(descendant, ancestor) == ancestor

    def since(self, fork: str | None, head: str) -> list[Commit]:
        """The commits of `head` that are not in `fork`, oldest first."""
        if fork == head:
            return []
        commit = self.objects.commit(head)
        if fork is not None and commit.parents == (fork,):
            return [commit]
        asked = ["rev-list", "--reverse", "--topo-order", head]
        answer = self.place.run(asked if fork is None else [*asked, f"^{fork}"])
        return [self.objects.commit(oid) for oid in answer.text.split()]

    def outside(self, tip: str, commits: Collection[str]) -> frozenset[str]:
        """The commits that `tip` lacks: one command where all exist, else a second one finds which exist."""
        wanted = frozenset(commits)
        try:
            return wanted & self._reached(wanted, tip)
        except GitFailed:
            there = self._commits(wanted)
            return wanted - there | wanted & self._reached(there, tip)

    def _reached(self, commits: Collection[str], tip: str) -> frozenset[str]:
        if not commits:
            return frozenset()
        asked = "".join(f"{commit}\n" for commit in sorted(commits))
        return frozenset(self.place.run(["rev-list", "--stdin"], stdin=f"{asked}^{tip}\n".encode()).text.split())

    def _commits(self, names: Collection[str]) -> frozenset[str]:
        asked = "".join(f"{name}\n" for name in sorted(names)).encode()
        found = self.place.run(["cat-file", "--batch-check=%(objectname) %(objecttype)"], stdin=asked).text.split("\n")
        return frozenset(line.removesuffix(" commit") for line in found if line.endswith(" commit"))

    def between(self, base: str, tip: str) -> tuple[str, ...] | None:
        if base == tip:
            return ()
        found = self.place.run(["rev-list", "--first-parent", "--reverse", tip, f"^{base}"]).text.split()
        # a base that came in by a merge is an ancestor, and no place that main ever was at
        return tuple(found) if found and self.objects.commit(found[0]).parents[:1] == (base,) else None

    def merged(self, main: str, since: str | None = None) -> dict[str, str]:
        answer = self.place.run(
            [
                "log",
                "-z",
                "--first-parent",
                "--no-show-signature",
                "--no-decorate",
                "--no-color",
                "--basic-regexp",
                "--grep=^Bead:",
                "--grep=^Reverts-Bead:",
                "--format=%H%x01%(trailers:key=Bead,key=Reverts-Bead,unfold,separator=%x01)",
                main,
                *([f"^{since}"] if since else []),
                "--",
            ]
        )
        found: dict[str, str] = {}
        for record in answer.out.decode("utf-8", "replace").split("\0"):
            commit, *trailers = record.strip("\n").split("\x01")
            for trailer in trailers:
                key, _, bead = trailer.partition(":")
                if bead.strip():
                    found.setdefault(bead.strip(), commit if key.lower() == "bead" else "")
        return {bead: commit for bead, commit in found.items() if commit}


# What differs between two commits, with all that the boundaries want to know of it.
#
# The trees are compared by reading those folders that differ: as `git diff-tree -r --no-renames` does, without a
# process.

_FILES = (FILE, EXECUTABLE)


class TooMuch(Exception):
    """The commits differ by more than was asked for; `str(error)` says by what."""


def raw(objects: Objects, base: str, head: str, sizes: Sizes | None = None) -> list[tuple[str, str, str, str, str]]:
    """(path, mode before, mode after, object before, object after) by path. Raises TooMuch."""
    return tree_changes(objects, objects.commit(base).tree, objects.commit(head).tree, sizes)


def tree_changes(
    objects: Objects, base: str, head: str, sizes: Sizes | None = None
) -> list[tuple[str, str, str, str, str]]:
    """As `raw`, of two trees."""
    found: list[tuple[str, str, str, str, str]] = []
    looked = 0
    none = "0" * len(base)
    # a list of what is left to compare, since an agent may nest folders deeper than Python may recurse
    left: list[tuple[str, str | None, str | None]] = [("", base, head)]
    while left:
        folder, old_tree, new_tree = left.pop()
        if sizes is not None:
            looked += 1
            why = sizes.path_beyond(folder) or sizes.count_beyond(max(len(found), looked))
            if why is not None:
                raise TooMuch(why)
        before, after = _entries(objects, old_tree), _entries(objects, new_tree)
        names = objects.differing(old_tree, new_tree) if old_tree and new_tree else None
        for name in {**before, **after} if names is None else names:
            old, new = before.get(name), after.get(name)
            if old == new:
                continue
            old_folder, old_file = _apart(old)
            new_folder, new_file = _apart(new)
            if old_folder != new_folder:
                left.append((f"{folder}{name}/", old_folder, new_folder))
            if old_file != new_file:
                gone = Entry(ABSENT, none)
                one, other = old_file or gone, new_file or gone
                found.append((folder + name, one.mode, other.mode, one.id, other.id))
    if sizes is not None:
        why = next(filter(None, (sizes.path_beyond(path) for path, *_ in found)), sizes.count_beyond(len(found)))
        if why is not None:
            raise TooMuch(why)
    return sorted(found)


def _entries(objects: Objects, tree: str | None) -> Mapping[str, Entry]:
    if tree is None:
        return {}
    entries = objects.entries(tree)
    if entries is None:
        raise GitFailed(f"the repository has no tree {tree}")
    return entries


def _apart(entry: Entry | None) -> tuple[str | None, Entry | None]:
    if entry is None:
        return None, None
    return (entry.id, None) if entry.mode == FOLDER else (None, entry)


def changes(objects: Objects, base: str, head: str) -> tuple[Change, ...]:
    return () if base == head else tuple(_change(objects, *entry) for entry in raw(objects, base, head))


def _change(objects: Objects, path: str, before: str, after: str, old: str, new: str) -> Change:
    from .manifests import changed_parts, is_shared  # `status` compares no contents

    link = None
    sections: tuple[str, ...] = ()
    dependencies = False
    if after == SYMLINK:
        size = objects.size(new) or 0
        target = objects.content(new) if size <= MAX_PATH else b"/a target of %d bytes" % size  # it leads nowhere
        link = None if target is None else target.decode("utf-8", "surrogateescape")
    if is_shared(path):
        sections, dependencies = changed_parts(path, _text(objects, before, old), _text(objects, after, new))
    return Change(path, before, after, link, sections, dependencies)


def _text(objects: Objects, mode: str, oid: str) -> bytes | None:
    if mode == ABSENT:
        return None
    size = objects.size(oid) if mode in _FILES else None
    content = objects.content(oid) if size is not None and size <= READ else None
    # neither a link nor a giant is a file that could be compared; both count as unreadable
    return b"\0" if content is None else content


_DEEPEST = 100
"""Nested folders before git is asked: Python limits recursion."""


class _Meets(Exception):
    """Git has to be asked."""


# A merge by trees, without git, where `git merge-tree` can give one answer: theirs adds and changes paths that ours
# left as they were, and removes nothing, so that no content is merged and no rename can concern it. Whatever else gives
# None.
def merged(
    objects: Objects,
    write: Callable[[str, Mapping[str, Entry], Mapping[str, Entry]], str],
    base: str,
    ours: str,
    theirs: str,
) -> str | None:
    """The tree with both sides' changes against `base`; None: git has to merge. `write` stores the tree `ours` with
    these entries and changes, and returns its id."""

    def folder(tree: str | None) -> Mapping[str, Entry]:
        entries = {} if tree is None else objects.entries(tree)
        if entries is None:
            raise _Meets
        return entries

    def merge(base: str | None, ours: str, theirs: str, depth: int) -> str:
        if depth > _DEEPEST:
            raise _Meets
        before, mine, other = folder(base), folder(ours), folder(theirs)
        names = objects.differing(base, theirs) if base else None
        if not (before.keys() if names is None else before.keys() & names) <= other.keys():
            raise _Meets
        changed = {}
        for name in other if names is None else names:
            new, old, here = other[name], before.get(name), mine.get(name)
            if new == old:
                continue
            if FOLDER in (new.mode, old.mode if old else "") or (here is not None and here.mode == FOLDER):
                changed[name] = _folders(old, here, new, merge, depth)
            elif here != old or MODULE in (new.mode, old.mode if old else ""):
                raise _Meets
            else:
                changed[name] = new
        return ours if all(mine.get(name) == entry for name, entry in changed.items()) else write(ours, mine, changed)

    try:
        return merge(base, ours, theirs, 0)
    except _Meets:
        return None


def _folders(
    old: Entry | None, here: Entry | None, new: Entry, merge: Callable[[str | None, str, str, int], str], depth: int
) -> Entry:
    if old is None and here is None:
        return new  # a folder that only theirs has
    if new.mode != FOLDER or here is None or here.mode != FOLDER or (old is not None and old.mode != FOLDER):
        raise _Meets
    return Entry(FOLDER, merge(old.id if old else None, here.id, new.id, depth + 1))


NAME = ".gitattributes"
_STRATEGIES = {
    "merge=union": "merge=union",
    "merge=text": "merge=text",
    "merge=binary": "merge=binary",
    "merge": "merge",
    "-merge": "-merge",
    "!merge": "!merge",
    "binary": "-merge",
}


# Only main's attributes are read: an agent could name a way that hides a conflict. A configured way is a program, and
# none is run: such a file is merged as text, one that comes through a filter not at all. `merge-tree` has no worktree,
# so they are handed over in a file, deeper folders last.
def merging(place: Place, objects: Objects, commit: str) -> str:
    """An attributes file with the built-in merge drivers of the commit's attributes; "": none."""
    lines: list[str] = []
    for path, _, text in files(place, objects, commit):
        lines += _lines(os.fsdecode(text), path.removesuffix(NAME))
    return "".join(f"{line}\n" for line in lines)


def files(place: Place, objects: Objects, commit: str) -> Iterator[tuple[str, str, bytes]]:
    """(path, object, content) of each attributes file of the commit, deeper folders last."""
    listed = place.run(["ls-tree", "-r", "-z", "--name-only", commit]).records
    paths = [path for path in listed if path == NAME or path.endswith(f"/{NAME}")]
    for path in sorted(paths, key=lambda found: found.count("/")):
        entry = objects.entry(commit, path)
        if entry is not None and entry.mode in (FILE, EXECUTABLE):
            size = objects.size(entry.id)
            content = objects.content(entry.id) if size is not None and size <= READ else None
            yield path, entry.id, content or b""


def differ(objects: Objects, old: str, new: str) -> bool:
    return any(os.path.basename(path) == NAME for path, *_ in raw(objects, old, new))


def _lines(text: str, folder: str) -> list[str]:
    found = []
    for line in text.splitlines():
        pattern, *words = line.split()[:50] or [""]
        # quoted patterns and macros are rare, and what is not taken over is merged as text
        if not pattern or pattern[0] in '#"[!':
            continue
        # what comes through a filter may be encrypted: lines of it mean nothing
        landings = ["-merge" for word in words if word.startswith("filter=")]
        landings += [_STRATEGIES[word] for word in words if word in _STRATEGIES]
        if landings:
            found.append(f"{_from_top(pattern, folder)} {landings[-1]}")
    return found


def _from_top(pattern: str, folder: str) -> str:
    if not folder:
        return pattern
    return f"/{folder}{pattern.lstrip('/')}" if "/" in pattern else f"/{folder}**/{pattern}"


KEPT = "gitmodules.refused"
"""The new name, in the same folder, of a file that git refuses."""
_PERHAPS = re.compile(rb"gitmod|gi7eb|\xe2\x80|\xe2\x81|\xef\xbb\xbf", re.IGNORECASE)
_SHORT = re.compile(r"(gitmod|gi7eb[0-9a-f]?)[0-9]*~[0-9]+")
_MODULES_FILES = ("100644", "100755")


def is_special(name: str) -> bool:
    """Whether some file system takes the name for `.gitmodules`."""
    plain = "".join(letter for letter in name if letter.isascii()).casefold().split(":")[0].rstrip(". ")
    return plain == ".gitmodules" or bool(_SHORT.fullmatch(plain))


# A tree that `git fsck` refuses would make the whole repository look broken for ever: what a clone has so is kept
# beside its place, with every byte. What the base has as well is left.
def move_away(folder: str, env: Mapping[str, str], base: str) -> None:
    """Rename in the index what git would refuse; `folder` is an empty git folder of our own."""
    with open(env["GIT_INDEX_FILE"], "rb") as file:
        if not _PERHAPS.search(file.read()):
            return
    moves: list[str] = []
    known: frozenset[str] | None = None
    for row in command_line.run(["ls-files", "-s", "-z"], cwd=folder, env=env).records:
        facts, _, path = row.partition("\t")
        mode, oid, _ = facts.split(" ")
        parts = path.split("/")
        if not any(map(is_special, parts)):
            continue
        if known is None:
            known = frozenset(command_line.run(["ls-tree", "-r", "-z", base], cwd=folder, env=env).records)
        whole = not any(map(is_special, parts[:-1])) and mode in _MODULES_FILES
        if any(found.endswith(f" {oid}\t{path}") for found in known) or (whole and _is_accepted(folder, env, oid)):
            continue
        other = "/".join(KEPT if is_special(part) else part for part in parts)
        moves += [f"0 {'0' * len(oid)}\t{path}", f"{mode} {oid}\t{other}"]
    if moves:
        listed = b"".join(os.fsencode(move) + b"\0" for move in moves)
        command_line.run(["update-index", "-z", "--index-info"], cwd=folder, env=env, stdin=listed)


def _is_accepted(folder: str, env: Mapping[str, str], oid: str) -> bool:
    own = {**env, "GIT_OBJECT_DIRECTORY": os.path.join(folder, "objects")}
    own["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = env["GIT_OBJECT_DIRECTORY"]
    tree = command_line.run(["mktree"], cwd=folder, env=own, stdin=f"100644 blob {oid}\t.gitmodules\n".encode()).text
    asked = ["fsck", "--no-full", "--strict", "--no-dangling", "--no-progress", tree]
    return command_line.run(asked, cwd=folder, env=own, expect=range(128)).code == 0
