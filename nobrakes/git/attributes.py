"""How files are merged: main's own .gitattributes, as far as they name a way that is built into git.

1. Only main's are read, never a candidate's: an agent could name a way there that hides a conflict.
2. Only `merge=union`, `merge=text`, `merge=binary`, `merge`, `-merge`, `!merge` and `binary` are taken over. A way that
   somebody configured is a program, and none is run here; such a file is merged as text.
3. `merge-tree` has no worktree to read them from, so they are handed over in a file, those of deeper folders last.
"""

import os

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
    listed = place.run(["ls-tree", "-r", "-z", "--name-only", commit]).records
    paths = [path for path in listed if path == NAME or path.endswith(f"/{NAME}")]
    lines: list[str] = []
    for path in sorted(paths, key=lambda found: found.count("/")):
        entry = objects.entry(commit, path)
        if entry is not None and entry.mode in (FILE, EXECUTABLE):
            folder = path.removesuffix(NAME)
            size = objects.size(entry.id)
            content = objects.content(entry.id) if size is not None and size <= READ else None
            lines += _lines(os.fsdecode(content or b""), folder)
    return "".join(f"{line}\n" for line in lines)


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
        landings = [_WAYS[word] for word in words if word in _WAYS]
        if landings:
            found.append(f"{_from_top(pattern, folder)} {landings[-1]}")
    return found


def _from_top(pattern: str, folder: str) -> str:
    """The pattern of a deeper folder as one of the top folder."""
    if not folder:
        return pattern
    return f"/{folder}{pattern.lstrip('/')}" if "/" in pattern else f"/{folder}**/{pattern}"
