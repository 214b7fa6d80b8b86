"""Whose the repository and its .nobrakes are, and who else gets at them: what doctor tells of it."""

import os
import stat
from collections.abc import Iterator

from ... import paths as found
from ...git.ownership import owner
from ...host.files import open_to_others
from ...paths import Paths
from .findings import OK, WARNING, Finding

_SHOWN = 5


def examine(paths: Paths) -> Iterator[Finding]:
    """The owners of what is read and run here, and the modes of what is private."""
    strange = found.strangers(paths.root)
    for path in strange[:_SHOWN]:
        yield Finding("owner", WARNING, f"{path} belongs to {owner(path)}; git trusts it (safe.directory, or sudo)")
    if not strange:
        yield Finding("owner", OK, f"the repository and .nobrakes belong to {owner(paths.folder)}, who is you")
    others = [path for path in found.territory(paths.root) if _writable_by_others(path)]
    for path in others[:_SHOWN]:
        yield Finding("owner", WARNING, f"every account may write to {path}, and with it decide what is run here")
    closed = open_to_others(paths.folder)
    for path in closed[:_SHOWN]:
        mode = stat.S_IMODE(os.lstat(path).st_mode)
        yield Finding("private", WARNING, f"{path} is open to other accounts ({mode:04o}): chmod go= {path}")
    if not closed:
        yield Finding("private", OK, "what nobrakes keeps is closed to other accounts (0700, 0600)")


def _writable_by_others(path: str) -> bool:
    mode = os.lstat(path).st_mode
    return not stat.S_ISLNK(mode) and bool(mode & stat.S_IWOTH)
