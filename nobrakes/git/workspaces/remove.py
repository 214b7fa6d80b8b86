"""What is removed with a bead's clone, the sessions that agent CLIs kept; and clones that are put aside instead.

What removes and where it lies meanwhile: nobrakes.trash. What cannot be renamed is a finding there, and no error.
"""

import os

from ...trash import Trash

BROKEN = "~broken-"
"""What a clone's name gets, before the fence, when it cannot be archived: a person has to look at it."""


def kept_by_agents(agents: str) -> dict[str, list[str]]:
    """Of each bead, the folders in which agent CLIs kept their sessions: those in the CLIs' folders below `agents`."""
    found: dict[str, list[str]] = {}
    for cli in _folders(agents):
        for folder in _folders(cli.path):
            found.setdefault(folder.name, []).append(folder.path)
    return found


def forget_sessions(trash: Trash, agents: str, bead: str) -> None:
    """Remove what agent CLIs kept of the bead."""
    for path in kept_by_agents(agents).get(bead, ()):
        trash.take(os.path.dirname(path), path)


def _folders(path: str) -> "list[os.DirEntry[str]]":
    try:
        with os.scandir(path) as found:
            return [one for one in found if one.is_dir(follow_symlinks=False)]
    except FileNotFoundError:
        return []


def set_aside(trash: Trash, path: str, to: str) -> None:
    """Rename a folder out of the way; nothing when it is gone."""
    try:
        os.rename(path, to)
    except FileNotFoundError:
        return
    except OSError as error:
        trash.note(path, error)
