"""What of the machine belongs to the repository: the folders that only its people and nobrakes itself may write.

Also the files that git reads settings from in the repository's own worktrees, since a setting can name a program.
"""

import os
from collections.abc import Iterator

from . import commands
from .environment import CHECKOUT
from .landing import worktrees
from .location import Place

_FILES = ("core.attributesfile", "core.excludesfile")
_PROGRAMS = (".clean", ".smudge", ".process", ".driver")


def folders(place: Place) -> tuple[str, ...]:
    """The git folder, every worktree that is there, and where objects are borrowed from."""
    found = [place.git_dir, *(worktree.path for worktree in worktrees.all_of(place)), *place.lent()]
    return tuple(dict.fromkeys(found))


def settings(place: Place) -> tuple[str, ...]:
    """The files that git's settings come from, those that they include or name, and programs that they name."""
    found = []
    for key, value, file in said(place):
        found += [file, *_named(key, value, os.path.dirname(file))]
    return tuple(dict.fromkeys(found))


def said(place: Place) -> Iterator[tuple[str, str, str]]:
    """(key, value, the file that says so) of git's settings; what our own environment says is left out."""
    asked = ["config", "--list", "--show-origin", "--includes", "-z"]
    answer = commands.run(asked, cwd=place.git_dir, env={**CHECKOUT, "GIT_DIR": place.git_dir})
    for origin, record in zip(answer.records[::2], answer.records[1::2], strict=False):
        key, _, value = record.partition("\n")
        if origin.startswith("file:"):
            yield key, value, os.path.join(place.git_dir, origin.removeprefix("file:"))


def _named(key: str, value: str, folder: str) -> Iterator[str]:
    if key.startswith("include") and key.endswith(".path"):
        yield os.path.join(folder, os.path.expanduser(value))
    elif key in _FILES:
        yield os.path.expanduser(value)
    elif key.endswith(_PROGRAMS):
        words = [os.path.expanduser(word) for word in value.split()]
        yield from (word for word in words if os.path.isabs(word) and os.path.isfile(word))
