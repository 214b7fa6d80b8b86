"""Which paths a change of ignore files hides from git: asked of git itself, with those files alone.

1. Compared are all files of both trees, and beside each kind of file in a folder a new one of that kind, which somebody
   may be about to add.
2. Hidden is what git ignores by the new files and did not by the old ones. `dist/` hides nothing where none lies.
"""

import os
import tempfile
from collections.abc import Iterable
from dataclasses import replace

from ..core.policy.boundaries import ABSENT, Change
from .location import Place
from .objects import Objects
from .tree_content import EXECUTABLE, FILE

NAME = ".gitignore"
NEW = "nobrakes-new"
LARGEST = 1_000_000
SHOWN = 20


def told(place: Place, objects: Objects, changes: tuple[Change, ...], base: str, head: str) -> tuple[Change, ...]:
    """The changes, those of ignore files with what they hide."""
    if not any(_is_one(change.path) for change in changes):
        return changes
    listed = place.run(["ls-tree", "-r", "-z", "--name-only", "--full-tree", base]).records
    there = {*listed, *(change.path for change in changes if change.after != ABSENT)}
    asked = there | {_beside(path) for path in there}
    files = {path for path in there if _is_one(path)}
    hidden = _ignored(place, objects, head, files, asked) - _ignored(place, objects, base, files, asked)
    shown = tuple(sorted(hidden, key=lambda path: (path not in there, path))[:SHOWN])
    return tuple(replace(change, hidden=shown) if _is_one(change.path) else change for change in changes)


def _is_one(path: str) -> bool:
    return path.rpartition("/")[2].casefold() == NAME


def _beside(path: str) -> str:
    folder, _, name = path.rpartition("/")
    return f"{folder}/{NEW}{os.path.splitext(name)[1]}".lstrip("/")


def _ignored(place: Place, objects: Objects, commit: str, files: Iterable[str], asked: set[str]) -> set[str]:
    """Those of the paths that git ignores by the commit's ignore files."""
    with tempfile.TemporaryDirectory(prefix="nobrakes-ignored-", dir=place.git_dir) as folder:
        for path in files:
            entry = objects.entry(commit, path)
            if entry is None or entry.mode not in (FILE, EXECUTABLE):
                continue  # a link is not followed by git either
            size = objects.size(entry.id)
            content = objects.content(entry.id) if size is not None and size <= LARGEST else b"*\n"
            whole = os.path.join(folder, path)
            os.makedirs(os.path.dirname(whole), exist_ok=True)
            with open(whole, "wb") as file:
                file.write(content or b"")
        question = b"".join(os.fsencode(path) + b"\0" for path in sorted(asked))
        words = ["check-ignore", "--no-index", "-z", "--stdin"]
        answer = place.run(words, env={"GIT_WORK_TREE": folder}, stdin=question, expect=(0, 1))
        return set(answer.records)
