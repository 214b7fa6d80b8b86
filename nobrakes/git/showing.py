"""Differences for people: a patch with its counts, and the places where a branch and main changed the same lines.

1. Nothing is written into the repository: the merge that shows a conflict makes its objects in a folder that is
   removed, so that who only reads leaves no trace, and a repository that cannot be written is shown all the same.
2. No program that a person or an agent configured is run: no textconv, no external difference, no merge driver.
3. A marker of a conflict is so long that no line of a file is taken for one.
"""

import os
import tempfile
from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import TYPE_CHECKING

from ..core.errors import GitFailed
from ..core.review.content import content_of
from ..ports.shown import ChangedLines, Clash, Hunk, Patch
from .tools import Tools

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color")
_NOBODYS = ("-c", "core.quotePath=true", "-c", "diff.suppressBlankEmpty=false", "-c", "diff.indentHeuristic=true")
"""What the plumbing takes from the repository's settings, as git has it by itself."""
_HOW = {"A": "added", "D": "removed", "R": "renamed", "C": "added"}
_MARKER = 60
_READ = 1_000_000
"""Bytes of a file in conflict that are looked through."""


class _First(BytesIO):
    """The first bytes of what is written."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.is_cut = False
        self._room = most

    def write(self, piece: "ReadableBuffer", /) -> int:
        """Keep what there is room for."""
        given = bytes(piece)
        self.is_cut |= len(given) > self._room
        self._room -= super().write(given[: self._room])
        return len(given)


class Showing(Tools):
    """What people are shown of commits."""

    def patch(self, base: str, head: str, most: int) -> Patch:
        """What differs between the trees of two commits, with at most `most` bytes of text."""
        asked = ["diff-tree", "-r", "-M", *_PLAIN]
        files = self.place.run([*asked, "-z", "--raw", "--numstat", base, head]).records
        said = _First(most)
        self.place.run([*asked, "-p", base, head], stdout=said)
        text = said.getvalue()
        if said.is_cut:
            text = text[: text.rfind(b"\n") + 1]
        return Patch(tuple(_files(files)), text.decode("utf-8", "replace"), said.is_cut)

    def content(self, base: str, head: str) -> str:
        """A digest of what differs between the trees of two commits, wherever the base stands, and whatever is set."""
        asked = ["diff-tree", "-r", "-p", "--no-renames", "-U3", "--diff-algorithm=myers", "--text"]
        with tempfile.TemporaryFile() as said:
            self.place.run([*_NOBODYS, *asked, *_PLAIN, base, head], stdout=said)
            said.seek(0)
            return content_of(said)

    def clashes(self, onto: str, head: str, began: str | None = None) -> tuple[Clash, ...]:
        """What is in conflict when `head`, as one change, is put on `onto`."""
        fork = self.history.fork(onto, head, began)
        if fork is None:
            raise GitFailed("the branch has no commit in common with main")
        with tempfile.TemporaryDirectory(prefix="nobrakes-shown-") as folder:
            lent = os.pathsep.join(self.place.lent())
            env = {"GIT_OBJECT_DIRECTORY": folder, "GIT_ALTERNATE_OBJECT_DIRECTORIES": lent}
            ours, theirs = onto, head
            if fork != self.history.fork(onto, head):  # main was rewritten: both sides stand on where the work began
                ours, theirs = (self._joint(commit, fork, env) for commit in (onto, head))
            return tuple(self._merged(ours, theirs, onto, env))

    def _joint(self, commit: str, parent: str, env: dict[str, str]) -> str:
        when = {"GIT_AUTHOR_DATE": "0 +0000", "GIT_COMMITTER_DATE": "0 +0000"}
        tree = self.objects.commit(commit).tree
        return self.place.run(["commit-tree", "-m", "joint", "-p", parent, tree], env={**env, **when}).text

    def _merged(self, ours: str, theirs: str, main: str, env: dict[str, str]) -> Iterator[Clash]:
        with tempfile.NamedTemporaryFile(prefix="nobrakes-attributes-") as file:
            file.write(f"* conflict-marker-size={_MARKER}\n{self._merger.ways(main)}".encode(errors="surrogateescape"))
            file.flush()
            asked = ["merge-tree", "--write-tree", "-z", "--no-messages", ours, theirs]
            said = self.place.run(["-c", f"core.attributesFile={file.name}", *asked], env=env, expect=(0, 1))
        if said.code == 0:
            return
        tree, *rows = said.records
        stages: dict[str, set[str]] = {}
        for row in rows:
            about, _, path = row.partition("\t")
            if path:
                stages.setdefault(path, set()).add(about[-1])
        for path, found in sorted(stages.items()):
            hunks = self._hunks(tree, path, env) if {"2", "3"} <= found else ()
            yield Clash(path, "1" in found, "2" in found, "3" in found, hunks)

    def _hunks(self, tree: str, path: str, env: dict[str, str]) -> tuple[Hunk, ...]:
        said = _First(_READ)
        asked = ["cat-file", "blob", f"{tree}:{path}"]
        answer = self.place.run(asked, env=env, stdout=said, expect=(0, 128))
        content = said.getvalue()
        if answer.code or b"\0" in content:
            return ()
        return tuple(_parted(content.decode("utf-8", "replace").split("\n")))


def _files(records: Sequence[str]) -> Iterator[ChangedLines]:
    """From `--raw --numstat -z`: the raw rows come first, in the order of the numbers."""
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


def _parted(lines: Sequence[str]) -> Iterator[Hunk]:
    """The hunks between the markers; `line` counts as if main's lines stood there alone."""
    begin, middle, end = (sign * _MARKER for sign in "<=>")
    main: list[str] | None = None
    branch: list[str] | None = None
    number = place = 1
    for line in lines:
        if main is None and line.startswith(f"{begin} "):
            main, branch, place = [], None, number
        elif main is not None and branch is None and line.rstrip("\r") == middle:
            branch = []
        elif main is not None and branch is not None and line.startswith(f"{end} "):
            yield Hunk(place, tuple(main), tuple(branch))
            number = place + len(main)
            main = None
        elif main is None:
            number += 1
        else:
            (main if branch is None else branch).append(line)
