"""What differs between two commits, with all that the boundaries want to know of it.

The trees are compared by reading those folders that differ: as `git diff-tree -r --no-renames` does, without a process.
"""

from collections.abc import Mapping

from ..core.boundaries import SYMLINK, Change
from ..core.errors import GitFailed
from .objects import EXECUTABLE, FILE, FOLDER, Entry, Objects
from .sections import changed_sections, is_shared

ABSENT = "000000"
_MAX_SHARED = 4_000_000
_FILES = (FILE, EXECUTABLE)


def raw(objects: Objects, base: str, head: str) -> list[tuple[str, str, str, str, str]]:
    """(path, mode before, mode after, object before, object after) by path."""
    found = []
    none = "0" * len(base)
    # a list of what is left to compare, since an agent may nest folders deeper than Python may recurse
    left: list[tuple[str, str | None, str | None]] = [("", objects.commit(base).tree, objects.commit(head).tree)]
    while left:
        folder, old_tree, new_tree = left.pop()
        before, after = _entries(objects, old_tree), _entries(objects, new_tree)
        for name in {**before, **after}:
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
    return sorted(found)


def _entries(objects: Objects, tree: str | None) -> Mapping[str, Entry]:
    if tree is None:
        return {}
    entries = objects.entries(tree)
    if entries is None:
        raise GitFailed(f"the repository has no tree {tree}")
    return entries


def _apart(entry: Entry | None) -> tuple[str | None, Entry | None]:
    """The tree of a folder, or the entry of anything else."""
    if entry is None:
        return None, None
    return (entry.id, None) if entry.mode == FOLDER else (None, entry)


def changes(objects: Objects, base: str, head: str) -> tuple[Change, ...]:
    """The differing paths; renames are a removal and an addition."""
    if base == head:
        return ()
    return tuple(_change(objects, *entry) for entry in raw(objects, base, head))


def _change(objects: Objects, path: str, before: str, after: str, old: str, new: str) -> Change:
    link = None
    sections: tuple[str, ...] = ()
    if after == SYMLINK:
        target = objects.content(new)
        link = None if target is None else target.decode("utf-8", "surrogateescape")
    if is_shared(path):
        sections = changed_sections(path, _text(objects, before, old), _text(objects, after, new))
    return Change(path, before, after, link, sections)


def _text(objects: Objects, mode: str, oid: str) -> bytes | None:
    if mode == ABSENT:
        return None
    content = objects.content(oid) if mode in _FILES else None
    # neither a link nor a giant is a file that could be compared; both count as unreadable
    return b"\0" if content is None or len(content) > _MAX_SHARED else content
