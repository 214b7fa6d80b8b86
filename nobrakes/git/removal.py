"""Removing folders that agents and tests filled: read-only folders, links, names of any kind.

1. Nothing outside is touched: links are removed, never followed (also when one is put in place while we work).
2. Removal happens only directly below a folder of ours that the caller names, or of an agent CLI's in it.
3. The folder is renamed first, so that a half-removed one is never taken for a whole one.
"""

import os
import shutil
import stat
from collections.abc import Callable
from typing import Any

from ..core.errors import GitFailed, StoreReadOnly

GOING = "~going"
"""What a folder's name gets while it is removed; no bead's id has a tilde."""


def remove_below(root: str, path: str) -> None:
    """Remove `path`, a direct child of `root`, and what an earlier removal of it left; nothing when it is gone."""
    root, path = os.path.abspath(root), os.path.abspath(path)
    if os.path.dirname(path) != root:
        raise GitFailed(f"{path} is not in {root}, so nobrakes does not remove it")
    going = path + GOING
    _remove(going)
    try:
        os.rename(path, going)
    except FileNotFoundError:
        return
    except OSError as error:
        raise _stuck(path, error) from None
    _remove(going)


def kept_by_agents(agents: str) -> dict[str, list[str]]:
    """Of each bead, the folders in which agent CLIs kept their sessions: those in the CLIs' folders below `agents`."""
    found: dict[str, list[str]] = {}
    for cli in _folders(agents):
        for folder in _folders(cli.path):
            found.setdefault(folder.name.removesuffix(GOING), []).append(folder.path.removesuffix(GOING))
    return found


def forget_sessions(agents: str, bead: str) -> None:
    """Remove what agent CLIs kept of the bead."""
    for path in kept_by_agents(agents).get(bead, ()):
        remove_below(os.path.dirname(path), path)


def _folders(path: str) -> "list[os.DirEntry[str]]":
    try:
        with os.scandir(path) as found:
            return [one for one in found if one.is_dir(follow_symlinks=False)]
    except FileNotFoundError:
        return []


def set_aside(path: str, to: str) -> None:
    """Rename a folder out of the way; nothing when it is gone."""
    try:
        os.rename(path, to)
    except FileNotFoundError:
        return
    except OSError as error:
        raise _stuck(path, error) from None


def _remove(path: str) -> None:
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    try:
        if not stat.S_ISDIR(mode):
            os.unlink(path)
            return
        shutil.rmtree(path, onerror=_open_up)
        if os.path.lexists(path):
            # the walk left what became writable only after it had passed
            shutil.rmtree(path)
    except OSError as error:
        raise _stuck(path, error) from None


def _open_up(function: Callable[..., Any], path: str, error: Any) -> None:
    """What rmtree calls when it failed at `path`: make the folders writable and try once more."""
    if isinstance(error[1], FileNotFoundError):
        return
    for folder in (os.path.dirname(path), path):
        info = os.lstat(folder)
        if stat.S_ISDIR(info.st_mode):
            os.chmod(folder, stat.S_IMODE(info.st_mode) | stat.S_IRWXU)
    info = os.lstat(path)
    if stat.S_ISDIR(info.st_mode):
        shutil.rmtree(path, onerror=_open_up if function is not os.rmdir else None)
    else:
        os.unlink(path)


def _stuck(path: str, error: OSError) -> StoreReadOnly:
    return StoreReadOnly(f"{path} cannot be removed: {error.strerror}", "Check the permissions of the folder.")
