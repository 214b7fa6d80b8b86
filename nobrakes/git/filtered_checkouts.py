"""How files come out of git's filters into the checkouts that nobrakes makes, and what the git of agents has of them.

1. Content that Git LFS keeps lies there whole, from the repository's own store (lfs_filter); what nobody fetched is a
   pointer. Where git-lfs is installed, agents' git makes pointers of what they change; else that is done when it lands.
2. Any other filter is off in a clone, also one that the machine's settings have: what agents commit is plain.
   They see clear text only of those that the settings name, by the person's own command, confined.
"""

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..core.errors import NobrakesError
from ..core.limits.sizes import Sizes
from . import lfs, lfs_filter
from .differences import raw
from .filters import NOWHERE, Filters
from .tree_content import EXECUTABLE, FILE

_OFF = {"clean": "", "smudge": "", "process": "", "required": "false"}
_LFS = {"clean": "git-lfs clean -- %f", "smudge": "git-lfs smudge -- %f", "process": "git-lfs filter-process"}
_NOT_PASSED = (
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    "GIT_ATTR_NOSYSTEM",
)


@dataclass(frozen=True, slots=True)
class Through:
    """`options`: of the git that writes the files. `filters`: name -> its settings in the checkout. `attributes`: those
    that lie in no commit.
    """

    options: tuple[str, ...] = ()
    filters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    attributes: str = ""


NO_FILTERS = Through()


def through(filters: Filters, commit: str) -> Through:
    """How the files of this commit come into a checkout."""
    names = filters.names(commit) if filters.is_on else frozenset()
    if not names:
        return NO_FILTERS
    options: list[str] = []
    own: dict[str, Mapping[str, str]] = dict.fromkeys(names, _OFF)
    for name in sorted(names):
        command = _shown(filters, name)
        if name == lfs.NAME:
            served = (sys.executable, "-I", "-S", lfs_filter.__file__, lfs.store(filters.place))
            options += ["-c", f"filter.lfs.process={shlex.join(served)}"]
        elif command:
            options += ["-c", f"filter.{name}.smudge={command}", "-c", f"filter.{name}.required=true"]
            own[name] = {key: value for key, value in _OFF.items() if key != "process"}  # git would ask only that
    if lfs.NAME in names and shutil.which("git-lfs"):
        own[lfs.NAME] = {**_LFS, "required": "true"}
    return Through(tuple(options), own, os.fsdecode(filters.info_attributes()))


def _shown(filters: Filters, name: str) -> str:
    """The command by which git gets a file's clear text, from its input; empty: nobody sees it."""
    found = filters.shown(name)
    if not found:
        return ""
    try:
        confined = filters.rules.confine(("sh", "-c", found.replace("%f", '"$1"'), "sh"))
    except NobrakesError:
        return ""  # the doctor says that there is no sandbox
    here = (f"GIT_DIR={filters.place.git_dir}", f"GIT_WORK_TREE={NOWHERE}", f"GIT_INDEX_FILE={NOWHERE}/index")
    without = [word for variable in _NOT_PASSED for word in ("-u", variable)]
    return f"{shlex.join(['env', *without, *here, *confined])} %f"


def take_in(filters: Filters, clone: str, main: str, head: str, sizes: Sizes) -> None:
    """Copy from an agent's clone what Git LFS kept there of the files that it changed."""
    if not os.path.isdir(os.path.join(clone, ".git", lfs.NAME)):
        return
    objects, folder = filters.objects, lfs.store(filters.place)
    left = sizes.new
    for _, _, mode, _, blob in raw(objects, main, head, sizes):
        size = objects.size(blob) if mode in (FILE, EXECUTABLE) else None
        pointer = lfs.parse(objects.content(blob) or b"") if size is not None and size < lfs.LARGEST_POINTER else None
        if pointer is not None and pointer.size <= min(left, sizes.file) and not lfs.has(folder, pointer):
            left -= pointer.size
            lfs.take(folder, clone, pointer)
