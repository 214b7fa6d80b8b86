"""What differs between two commits, with all that the boundaries want to know of it.

The trees are compared by reading those folders that differ: as `git diff-tree -r --no-renames` does, without a process.
"""

from collections.abc import Mapping

from ..core.errors import GitFailed
from ..core.limits.sizes import LONGEST_PATH, READ, Sizes
from ..core.policy.boundaries import ABSENT, SYMLINK, Change
from .manifests.sections import changed_dependencies, changed_sections, is_shared
from .objects import Objects
from .tree_content import EXECUTABLE, FILE, FOLDER, Entry

_FILES = (FILE, EXECUTABLE)


class TooMuch(Exception):
    """The commits differ by more than was asked for; `str(error)` says by what."""


def raw(objects: Objects, base: str, head: str, sizes: Sizes | None = None) -> list[tuple[str, str, str, str, str]]:
    """(path, mode before, mode after, object before, object after) by path. TooMuch: it is beyond the sizes."""
    return of_trees(objects, objects.commit(base).tree, objects.commit(head).tree, sizes)


def of_trees(
    objects: Objects, base: str, head: str, sizes: Sizes | None = None
) -> list[tuple[str, str, str, str, str]]:
    """The same of two trees."""
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
    dependencies = False
    if after == SYMLINK:
        size = objects.size(new) or 0
        target = objects.content(new) if size <= LONGEST_PATH else b"/a target of %d bytes" % size  # it leads nowhere
        link = None if target is None else target.decode("utf-8", "surrogateescape")
    if is_shared(path):
        one, other = _text(objects, before, old), _text(objects, after, new)
        sections, dependencies = changed_sections(path, one, other), changed_dependencies(path, one, other)
    return Change(path, before, after, link, sections, dependencies)


def _text(objects: Objects, mode: str, oid: str) -> bytes | None:
    if mode == ABSENT:
        return None
    size = objects.size(oid) if mode in _FILES else None
    content = objects.content(oid) if size is not None and size <= READ else None
    # neither a link nor a giant is a file that could be compared; both count as unreadable
    return b"\0" if content is None else content
