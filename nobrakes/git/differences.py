"""What differs between two commits, with all that the boundaries want to know of it."""

from ..core.boundaries import SYMLINK, Change
from .objects import EXECUTABLE, FILE, Objects
from .place import Place
from .sections import changed_sections, is_shared

ABSENT = "000000"
_MAX_SHARED = 4_000_000
_FILES = (FILE, EXECUTABLE)


def raw(place: Place, base: str, head: str) -> list[tuple[str, str, str, str, str]]:
    """(path, mode before, mode after, object before, object after) by path."""
    answer = place.run(
        ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--ignore-submodules=none", base, head, "--"]
    )
    records = answer.records
    found = []
    for header, path in zip(records[::2], records[1::2], strict=True):
        before, after, old, new, _ = header[1:].split(" ")
        found.append((path, before, after, old, new))
    return sorted(found)


def changes(place: Place, objects: Objects, base: str, head: str) -> tuple[Change, ...]:
    """The differing paths; renames are a removal and an addition."""
    if base == head:
        return ()
    return tuple(_change(objects, *entry) for entry in raw(place, base, head))


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
