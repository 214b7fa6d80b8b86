"""Walking through folders that agents and checks filled: no link is followed, nothing is waited for, all is bounded.

1. Folders are opened below their open parents and not by their paths: a path may be too long, and may lead elsewhere
   a moment later. As many are open as the walk is deep.
2. Nothing is called for each level, so that depth breaks nothing; more of it than asked for is Beyond.
"""

import os
import stat
from collections.abc import Iterator

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
MOST_ENTRIES = 1_000_000
"""Names of one walk; whoever wants fewer says so."""
DEEPEST = 200
"""Folders in each other of one walk."""
_HANDLE = getattr(os, "O_PATH", 0) | os.O_NOFOLLOW | os.O_CLOEXEC


class Beyond(Exception):
    """There is more than is looked at; `str(error)` says of what."""


def walk(
    top: str, most: int = MOST_ENTRIES, deepest: int = DEEPEST, leave: frozenset[str] = frozenset()
) -> Iterator[tuple[str, int, list[str], list[str]]]:
    """Each folder from `top` down: its path below it, a descriptor of it, its folders, and its other names.

    Who iterates may take folders off the list. `leave`: names that are not gone into, in any case of letters. A folder
    that cannot be opened is left out. OSError: `top` cannot be; Beyond.
    """
    left = most
    stack: list[tuple[str, int, Iterator[str] | None]] = [("", os.open(top, FOLDER), None)]
    try:
        while stack:
            path, folder, inner = stack[-1]
            if inner is None:
                folders, names = _listed(folder, left)
                left -= len(folders) + len(names)
                folders = [name for name in folders if name.casefold() not in leave]
                yield path, folder, folders, names
                stack[-1] = (path, folder, iter(folders))
                continue
            name = next(inner, None)
            if name is None:
                os.close(stack.pop()[1])
                continue
            if len(stack) >= deepest:
                raise Beyond(f"folders are deeper than {deepest} in each other")
            try:
                opened = os.open(name, FOLDER, dir_fd=folder)
            except OSError:
                continue
            stack.append((os.path.join(path, name), opened, None))
    finally:
        for _, folder, _ in stack:
            os.close(folder)


def _listed(folder: int, most: int) -> tuple[list[str], list[str]]:
    """The folders and the other names in an open folder, sorted."""
    folders: list[str] = []
    names: list[str] = []
    with os.scandir(folder) as found:
        for one in found:
            (folders if one.is_dir(follow_symlinks=False) else names).append(one.name)
            if len(folders) + len(names) > most:
                raise Beyond("there are too many files to look through")
    return sorted(folders), sorted(names)


def open_up(name: str, folder: int | None) -> bool:
    """Let its owner into a folder or read a file again, not by a link; whether that went well."""
    try:
        if not hasattr(os, "O_PATH"):
            os.chmod(name, 0o700, dir_fd=folder, follow_symlinks=False)
            return True
        handle = os.open(name, _HANDLE, dir_fd=folder)
        try:
            mode = os.fstat(handle).st_mode
            if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
                return False
            wanted = stat.S_IRWXU if stat.S_ISDIR(mode) else stat.S_IRUSR
            os.chmod(f"/proc/self/fd/{handle}", stat.S_IMODE(mode) | wanted)
        finally:
            os.close(handle)
    except (OSError, RuntimeError):
        return False
    return True
