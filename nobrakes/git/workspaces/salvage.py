"""A commit of what lies in a clone: committed or not, tracked or not, with or without its .git.

1. git runs with a git folder of our own making (no filters, no hooks, no fsmonitor are configured there), our
   repository's objects, an index of our own, and the clone merely as the worktree. Nothing the agent wrote is
   configuration; its .gitattributes can only name filters that do not exist.
2. What .gitignore ignores is left out. Repositories inside the clone are taken as plain files.
3. The same files give the same commit.
"""

import contextlib
import itertools
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from functools import partial

from ...core.errors import DiskFull
from ...core.limits.sizes import DEFAULT, Sizes
from ...core.policy.boundaries import GITLINK
from ...walking import open_up, walk
from .. import commands, modules, packing
from ..environment import PLUMBING
from ..location import Place
from ..objects import Objects
from . import measurement

MOST_TOUCHED = 10_000


def salvage(
    place: Place, objects: Objects, clone: str, base: str, index: str, text: str, sizes: Sizes = DEFAULT
) -> str | None:
    """A commit on `base` with the clone's files; None: they are those of `base`. TooLarge: it is more than `sizes`.

    `index` is a copy of the index that the clone was made with, if it exists: it saves reading unchanged files.
    """
    make = partial(_committed, place, objects, clone, base, index, text, sizes)
    return packing.held(place, make, lambda made: [] if made is None else [made], base)


def _committed(
    place: Place, objects: Objects, clone: str, base: str, index: str, text: str, sizes: Sizes
) -> str | None:
    """The commit, held by nothing."""
    commit = objects.commit(base)
    with git_folder(place) as (folder, env):
        own = os.path.join(folder, "index")
        if os.path.isfile(index):
            # with its times: git compares them with the files'
            shutil.copy2(index, own)
            measurement.uncommitted(clone, env, sizes)
            if _tree_of(clone, env, own, base) == commit.tree:
                return None
        # the base decides which files count although they are ignored; -m keeps what the index knows of the others
        known = ["-m"] if os.path.isfile(own) else []
        commands.run(["read-tree", *known, base], cwd=clone, env=env)
        if not known:
            measurement.uncommitted(clone, env, sizes)
        tree = _tree_of(clone, env, own, base)
        if tree == commit.tree:
            return None
        # the base's own date, so that doing it again gives the same id
        when = "@" + " ".join(commit.author.rsplit(" ", 2)[1:])
        dated = {**env, "GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
        return commands.run(["commit-tree", tree, "-p", base], cwd=clone, env=dated, stdin=text.encode()).text


def touched(place: Place, clone: str, index: str) -> int:
    """How many files of the clone differ from `index`, which it was made with; at most MOST_TOUCHED."""
    with git_folder(place) as (folder, env):
        shutil.copy2(index, os.path.join(folder, "index"))
        with tempfile.TemporaryFile() as errors:
            listed = set(itertools.islice(measurement.listed(clone, env, errors), MOST_TOUCHED))
    return len(listed)


@contextlib.contextmanager
def git_folder(place: Place) -> Iterator[tuple[str, Mapping[str, str]]]:
    """A git folder of our own with nothing in it, over the repository's objects."""
    try:
        folder = tempfile.mkdtemp(prefix="nobrakes-salvage-")
    except OSError as error:
        raise DiskFull(f"no temporary folder can be made: {error.strerror}") from None
    try:
        os.mkdir(os.path.join(folder, "refs"))
        os.mkdir(os.path.join(folder, "objects"))
        sha256 = place.settings.get("extensions.objectformat") == "sha256"
        config = f"[core]\n\trepositoryformatversion = {int(sha256)}\n"
        for key in ("filemode", "symlinks", "ignorecase", "precomposeunicode"):
            if f"core.{key}" in place.settings:
                config += f"\t{key} = {place.settings['core.' + key]}\n"
        config += "[extensions]\n\tobjectformat = sha256\n" if sha256 else ""
        for name, content in (("HEAD", "ref: refs/heads/none\n"), ("config", config)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(content)
        yield (
            folder,
            {
                **PLUMBING,
                "GIT_DIR": folder,
                "GIT_WORK_TREE": ".",
                "GIT_INDEX_FILE": os.path.join(folder, "index"),
                "GIT_OBJECT_DIRECTORY": place.objects,
            },
        )
    finally:
        shutil.rmtree(folder)


def _tree_of(clone: str, env: Mapping[str, str], index: str, base: str) -> str:
    """The tree of what lies in the clone; what git would refuse is in it under another name."""
    _add(clone, env, index)
    modules.put_aside(os.path.dirname(index), env, base)
    return commands.run(["write-tree"], cwd=clone, env=env).text


def _add(clone: str, env: Mapping[str, str], index: str) -> None:
    """Bring the index to what lies in the clone."""
    answer = commands.run(["add", "-A"], cwd=clone, env=env, expect=(0, 1, 128))
    if answer.code != 0:
        if "Permission denied" in answer.error:
            _open_up(clone)
        _add_by_name(clone, env)
    elif _may_hold_repositories(index):
        _add_by_name(clone, env)


def _may_hold_repositories(index: str) -> bool:
    """Whether an entry of the index may be a repository of its own, by the mode that such entries have in the file."""
    with open(index, "rb") as file:
        return int(GITLINK, 8).to_bytes(4, "big") in file.read()


def _add_by_name(clone: str, env: Mapping[str, str]) -> None:
    """The slow way: every path by its name, which also reaches into repositories inside the clone."""
    listed = commands.run(["ls-files", "-z", "-c", "-o", "--exclude-standard"], cwd=clone, env=env).records
    paths: list[str] = []
    taken_apart: list[str] = []
    for path in dict.fromkeys(listed):
        whole = os.path.join(clone, path)
        if not os.path.isdir(whole) or os.path.islink(whole):
            paths.append(path)
            continue
        if not path.endswith("/") and not os.path.lexists(os.path.join(whole, ".git")):
            continue  # a submodule: its files are not the clone's (fill), and its entry stays
        inside = _files_below(clone, path.rstrip("/"))
        paths += inside
        if inside and not path.endswith("/"):
            taken_apart.append(path)
    if taken_apart:
        commands.run(["update-index", "-z", "--force-remove", "--stdin"], cwd=clone, env=env, stdin=_z(taken_apart))
    commands.run(
        ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"], cwd=clone, env=env, stdin=_z(paths)
    )


def _files_below(clone: str, folder: str) -> list[str]:
    """The files and links in a folder of the clone, git folders left out."""
    found = []
    for path, descriptor, _, names in walk(os.path.join(clone, folder), leave=frozenset((".git",))):
        for name in names:
            mode = os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode
            if name.casefold() != ".git" and (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
                found.append(os.path.join(folder, path, name))
    return found


def _open_up(clone: str) -> None:
    """Make readable what was made unreadable, from the top down; links are not followed."""
    for _, descriptor, folders, names in walk(clone):
        for name in (*folders, *names):
            open_up(name, descriptor)


def _z(paths: list[str]) -> bytes:
    return b"".join(os.fsencode(path) + b"\0" for path in paths)
