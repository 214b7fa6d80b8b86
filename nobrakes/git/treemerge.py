"""A merge in which nothing meets: theirs adds and changes paths that ours left as they were. By trees, without git.

1. It answers only where `git merge-tree` can give one answer: every path that theirs changed is in ours what it was in
   the base, and theirs removed nothing. So no content is merged, and no rename can concern a path of theirs: git takes
   only what was removed for renamed, and a folder of theirs that ours renamed would be gone from ours.
2. Whatever else it meets (a removal, a submodule, a file in the place of a folder) gives None: git is asked.
"""

from collections.abc import Callable, Mapping

from .objects import Objects
from .tree_content import FOLDER, MODULE, Entry

_DEEPEST = 100
"""Folders inside each other, before git is asked: Python's own calls have an end."""


class _Meets(Exception):
    """Git has to be asked."""


def merged(
    objects: Objects,
    write: Callable[[str, Mapping[str, Entry], Mapping[str, Entry]], str],
    base: str,
    ours: str,
    theirs: str,
) -> str | None:
    """The tree with both sides' changes against the tree `base`; None: this is no merge to be made here.

    `write` gives the id of the tree `ours` with these entries and these changes of it; it is in the repository then.
    """

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
        if all(mine.get(name) == entry for name, entry in changed.items()):
            return ours
        return write(ours, mine, changed)

    try:
        return merge(base, ours, theirs, 0)
    except _Meets:
        return None


def _folders(
    old: Entry | None, here: Entry | None, new: Entry, merge: Callable[[str | None, str, str, int], str], depth: int
) -> Entry:
    """What a name is where at least one side has a folder there."""
    if old is None and here is None:
        return new  # a folder that only theirs has
    if new.mode != FOLDER or here is None or here.mode != FOLDER or (old is not None and old.mode != FOLDER):
        raise _Meets
    return Entry(FOLDER, merge(old.id if old else None, here.id, new.id, depth + 1))
