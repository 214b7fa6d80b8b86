"""Which protected sections of a shared file differ: parts of pyproject.toml, package.json and other manifests that
decide whether work is good. Pure.

1. A file that is added or removed changes the protected sections that it has.
2. New content that cannot be read counts as a change of everything: ("unreadable",).
"""

from collections.abc import Mapping
from typing import Any

from .formats import Parts, reader

UNREADABLE = "unreadable"


def is_shared(path: str) -> bool:
    """Whether the file at this repository path has protected sections among others."""
    return reader(path) is not None


def changed_sections(path: str, before: bytes | None, after: bytes | None) -> tuple[str, ...]:
    """The names of the protected sections that differ, sorted; None stands for an absent file."""
    return _changed(path, before, after)[0]


def changed_dependencies(path: str, before: bytes | None, after: bytes | None) -> bool:
    """Whether the lists of dependencies differ."""
    return _changed(path, before, after)[1]


def _changed(path: str, before: bytes | None, after: bytes | None) -> tuple[tuple[str, ...], bool]:
    read = reader(path)
    if read is None or before == after:
        return (), False
    nothing: Parts = ({}, {})
    try:
        new = nothing if after is None else read(after)
        # what was broken and is whole now cannot be compared, so a person looks at it
        old = nothing if before is None else read(before)
    except (ValueError, RecursionError, AttributeError, TypeError):
        return (UNREADABLE,), True
    return _differ(old[0], new[0]), bool(_differ(old[1], new[1]))


def _differ(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(name for name in sorted({*old, *new}) if not _same(old.get(name, ...), new.get(name, ...)))


def _same(old: Any, new: Any) -> bool:
    """Equality that tells 1 from True, and keeps the order of keys out of it."""
    if type(old) is not type(new):
        return False
    if isinstance(old, dict):
        return old.keys() == new.keys() and all(_same(old[key], new[key]) for key in old)
    if isinstance(old, list):
        return len(old) == len(new) and all(_same(a, b) for a, b in zip(old, new, strict=True))
    return bool(old == new)
