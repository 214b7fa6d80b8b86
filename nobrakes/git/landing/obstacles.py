"""What stands in the way of a new main in a human's worktree, that git itself would not mind to overwrite.

git keeps edits of tracked files and untracked files, but takes ignored files for worthless: `read-tree -u` replaces
them. They are a human's too (.env, local notes), so we look ourselves.
"""

import os
import stat
from collections.abc import Sequence

from ...core.policy.boundaries import ABSENT, GITLINK
from ...walking import Beyond, walk

Difference = tuple[str, str, str, str, str]
"""(path, mode before, mode after, object before, object after), as from differences.raw."""


def in_the_way(root: str, differences: Sequence[Difference]) -> list[str]:
    """Paths below `root` that would be lost or written through: for new files, what lies in their place already
    and is not itself removed by the same step."""
    removed = {path for path, _, after, _, _ in differences if after == ABSENT}
    found = set()
    for path, before, after, _, _ in differences:
        blocked = _leading(root, path, removed)
        if blocked is not None:
            found.add(blocked)
        elif (before == ABSENT and after != ABSENT) or (before == GITLINK and after not in (GITLINK, ABSENT)):
            # a file in the place of a submodule: git would remove the submodule's files, edits and all
            found.update(_in_place(root, path, removed))
    return sorted(found)


def _leading(root: str, path: str, removed: set[str]) -> str | None:
    """The first folder on the way to the path that is something else; None: all are folders, or not there."""
    parts = path.split("/")
    for end in range(1, len(parts)):
        folder = "/".join(parts[:end])
        try:
            mode = os.lstat(os.path.join(root, folder)).st_mode
        except OSError:
            return None
        if not stat.S_ISDIR(mode):
            return None if folder in removed else folder
    return None


def _in_place(root: str, path: str, removed: set[str]) -> list[str]:
    """What lies where a new file will be."""
    whole = os.path.join(root, path)
    try:
        mode = os.lstat(whole).st_mode
    except OSError:
        return []
    if not stat.S_ISDIR(mode):
        return [path]
    try:
        inside = [os.path.join(path, folder, name) for folder, _, _, names in walk(whole) for name in names]
    except (OSError, Beyond):
        return [path]  # who cannot be looked through has to be asked about
    return [name for name in inside if name not in removed]
