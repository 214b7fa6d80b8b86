"""Reading a clone that an agent had its hands on, as bytes that may lie. No git command runs under its configuration.

1. Every step down from the clone's folder refuses links, and only regular files are opened: no link leads us out,
   no pipe makes us wait.
2. A branch counts only as a plain ref, loose or packed; whatever else stands in its place is no branch.
3. The objects' folder borrows from our repository alone, or it is refused; what lies in it: measurement.on_disk.
"""

import os
import stat

from ...core.errors import Tampered
from ..refs import is_oid
from .inside import read_inside

_BORROWS = ".git/objects/info/alternates"
_MAX_PACKED_REFS = 8_000_000


def is_folder(path: str) -> bool:
    """Whether the path is a folder itself and no link to one."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def branch_head(clone: str, branch: str) -> str | None:
    """The commit that the clone says its branch points to; None: there is no such plain ref."""
    loose = read_inside(clone, f".git/refs/heads/{branch}", 80)
    if loose is not None:
        found = loose.decode("ascii", "replace").strip()
        return found if is_oid(found) else None
    if os.path.lexists(os.path.join(clone, ".git", "refs", "heads", branch)):
        # a link or a pipe in the place of the ref is no branch, whatever packed-refs says
        return None
    wanted = f"refs/heads/{branch}".encode()
    for line in (read_inside(clone, ".git/packed-refs", _MAX_PACKED_REFS) or b"").splitlines():
        oid, _, name = line.partition(b" ")
        if name == wanted:
            packed = oid.decode("ascii", "replace")
            return packed if is_oid(packed) else None
    return None


def checked_out(clone: str) -> str | None:
    """The commit that the clone's HEAD holds, by a branch of any name or detached; None: none that can be read."""
    text = (read_inside(clone, ".git/HEAD", 1000) or b"").decode("ascii", "replace").strip()
    if is_oid(text):
        return text
    branch = text.removeprefix("ref: refs/heads/")
    if branch == text or any(part in ("", ".", "..") for part in branch.split("/")):
        return None
    return branch_head(clone, branch)


def has_loose(clone: str, oid: str) -> bool:
    """Whether the object lies in the clone itself as a file of its own, so that it was made there."""
    return os.path.isfile(os.path.join(clone, ".git", "objects", oid[:2], oid[2:]))


def objects_folder(clone: str, ours: str) -> str:
    """The clone's folder of objects, safe to be read by git as a second place of `ours`; Tampered when it is not."""
    folder = os.path.join(clone, ".git", "objects")
    if not (is_folder(clone) and is_folder(os.path.join(clone, ".git")) and is_folder(folder)):
        raise _tampered(clone, "its .git is not the one that nobrakes made")
    borrowed = read_inside(clone, _BORROWS, 10_000)
    if borrowed is None and os.path.lexists(os.path.join(clone, _BORROWS)):
        raise _tampered(clone, "where its objects are borrowed from is told by something else than a file of one name")
    if borrowed is not None and os.fsdecode(borrowed).strip("\n") != ours:
        raise _tampered(clone, "its objects are borrowed from somewhere else")
    if os.path.lexists(os.path.join(folder, "info", "http-alternates")):
        raise _tampered(clone, "its objects are borrowed from somewhere else")
    return folder


def _tampered(clone: str, what: str) -> Tampered:
    return Tampered(
        f"the workspace {os.path.basename(clone)} cannot be taken in: {what}",
        "Look into the workspace; `nobrakes show` tells what the agent did there.",
    )
