"""How files are merged: main's own .gitattributes, as far as they name a way that is built into git.

1. Only main's are read, never a candidate's: an agent could name a way there that hides a conflict.
2. Only `merge=union`, `merge=text`, `merge=binary`, `merge`, `-merge`, `!merge` and `binary` are taken over. A way that
   somebody configured is a program, and none is run here; such a file is merged as text, and one that comes through a
   filter not at all: a person decides where both sides changed it.
3. `merge-tree` has no worktree to read them from, so they are handed over in a file, those of deeper folders last.
"""

import os
from collections.abc import Iterator

from ..core.limits.sizes import READ
from .differences import raw
from .location import Place
from .objects import Objects
from .tree_content import EXECUTABLE, FILE

NAME = ".gitattributes"
_WAYS = {
    "merge=union": "merge=union",
    "merge=text": "merge=text",
    "merge=binary": "merge=binary",
    "merge": "merge",
    "-merge": "-merge",
    "!merge": "!merge",
    "binary": "-merge",
}


def merging(place: Place, objects: Objects, commit: str) -> str:
    """The lines of an attributes file with the built-in ways that the commit's own files name; "": none."""
    lines: list[str] = []
    for path, _, content in files(place, objects, commit):
        lines += _lines(os.fsdecode(content), path.removesuffix(NAME))
    return "".join(f"{line}\n" for line in lines)


def files(place: Place, objects: Objects, commit: str) -> Iterator[tuple[str, str, bytes]]:
    """(path, object, content) of each attributes file of the commit, those of deeper folders last."""
    listed = place.run(["ls-tree", "-r", "-z", "--name-only", commit]).records
    paths = [path for path in listed if path == NAME or path.endswith(f"/{NAME}")]
    for path in sorted(paths, key=lambda found: found.count("/")):
        entry = objects.entry(commit, path)
        if entry is not None and entry.mode in (FILE, EXECUTABLE):
            size = objects.size(entry.id)
            content = objects.content(entry.id) if size is not None and size <= READ else None
            yield path, entry.id, content or b""


def differ(objects: Objects, old: str, new: str) -> bool:
    """Whether an attributes file of the two commits differs."""
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
        landings += [_WAYS[word] for word in words if word in _WAYS]
        if landings:
            found.append(f"{_from_top(pattern, folder)} {landings[-1]}")
    return found


def _from_top(pattern: str, folder: str) -> str:
    """The pattern of a deeper folder as one of the top folder."""
    if not folder:
        return pattern
    return f"/{folder}{pattern.lstrip('/')}" if "/" in pattern else f"/{folder}**/{pattern}"
