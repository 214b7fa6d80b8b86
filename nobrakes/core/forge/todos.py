"""Comments that say what is left to do, found in one file's text; and what one scan has that another had not.

1. The files are source files of some languages, outside of folders that people do not write (`FOLDERS`).
2. A find is one a line: a comment's opener, the word in capitals, a colon, and what is left to do.
3. Two finds are the same where file, word and text are; of several such in a file they are counted (`nth`), so that
   lines that moved make nothing new.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from .feature import ItemKind

ENDINGS = (".ts", ".tsx", ".js", ".jsx", ".py", ".go", ".rs", ".java")
FOLDERS = frozenset({"node_modules", ".git", "dist", "build", "vendor"})
MOST_TEXT = 500
MOST_BYTES = 1_000_000
"""Of one file; a larger one is none that people write."""
_WORDS = "|".join(kind.name for kind in (ItemKind.TODO, ItemKind.FIXME))
_FIND = re.compile(rf"(?://|#|/\*)\s*({_WORDS}):[ \t]*(.*)")


@dataclass(frozen=True, slots=True)
class Todo:
    """One find; `line` counts from 1, `nth` those of the file with the same word and text."""

    kind: ItemKind
    text: str
    file: str
    line: int
    nth: int = 1


def is_scanned(path: str) -> bool:
    """Whether the file, by its path in the repository, is looked into."""
    *folders, name = path.split("/")
    return name.endswith(ENDINGS) and not FOLDERS.intersection(folders)


def scan(path: str, text: str) -> tuple[Todo, ...]:
    """The finds of one file, by line; none in a file that is not looked into."""
    if not is_scanned(path):
        return ()
    found: list[Todo] = []
    seen: Counter[tuple[ItemKind, str]] = Counter()
    for number, line in enumerate(text.split("\n"), start=1):
        match = _FIND.search(line)
        if match is None:
            continue
        kind = ItemKind[match[1]]
        words = " ".join(match[2].partition("*/")[0].split())[:MOST_TEXT]
        seen[kind, words] += 1
        found.append(Todo(kind, words, path, number, seen[kind, words]))
    return tuple(found)


def new_in(after: Iterable[Todo], before: Iterable[Todo]) -> tuple[Todo, ...]:
    """What `after` has that `before` had not, wherever its line is."""
    known = {_key(one) for one in before}
    return tuple(one for one in after if _key(one) not in known)


def _key(one: Todo) -> tuple[str, ItemKind, str, int]:
    return one.file, one.kind, one.text, one.nth


def is_affected(path: str, files: Sequence[str]) -> bool:
    """Whether the file is one of these: named, matched by a pattern, or in a folder that is named."""
    return any(path == one or fnmatchcase(path, one) or path.startswith(f"{one.rstrip('/')}/") for one in files)
