"""Which paths of the tree git itself reads or runs: what its settings name, its hooks, and what these start.

1. git is asked for its settings, with all that they include, as it reads them when a person types it.
2. A value names a path as a check's command does (checks.policy.protected_files); the folder of hooks with all in it.
3. Of a hook in git's own folder, the file of the tree that it is a link to counts, and those that its text names.
"""

import os
from collections.abc import Iterator

from ..checks.policy.protected_files import named
from .landing import standing
from .location import Place
from .upkeep import said

_OF_PEOPLE = ("user.", "author.", "committer.", "branch.", "color.", "advice.", "url.")
_HOOKS = "core.hookspath"
MOST_HOOKS = 100
MOST_BYTES = 100_000


def by_git(place: Place) -> tuple[frozenset[str], tuple[str, ...]]:
    """(paths of the tree that git's settings and hooks name, folders of the tree in which all is named)."""
    tops = sorted({one.path for one in standing.all_of(place)} | {os.path.realpath(place.root)}, key=len, reverse=True)
    paths: set[str] = set()
    folders: list[str] = []
    hooks = os.path.join(place.git_dir, "hooks")
    for key, value, file in said(place):
        if key == _HOOKS:
            hooks = os.path.join(place.worktree or place.git_dir, os.path.expanduser(value))
            folders += [one] if (one := _inside(hooks, tops)) else []
        elif not key.startswith(_OF_PEOPLE):
            paths.update(_words(value, tops))
            beside = os.path.join(os.path.dirname(file), os.path.expanduser(value))
            paths.update([one] if key.endswith(".path") and (one := _inside(beside, tops)) else [])
    paths.update(_of_hooks(hooks, tops))
    return frozenset(paths), tuple(dict.fromkeys(folders))


def _words(text: str, tops: list[str]) -> Iterator[str]:
    """The paths in a command or a value. A bare word is none: it is a program on PATH, a branch, a yes or no."""
    for top in tops:
        text = text.replace(f"{top}/", "./")
    return (path for path in named(text.lstrip("!"), ()) if "/" in path or "." in path)


def _of_hooks(folder: str, tops: list[str]) -> Iterator[str]:
    """What the hooks in the folder are links to, and name."""
    for name in sorted(os.listdir(folder))[:MOST_HOOKS] if os.path.isdir(folder) else ():
        path = os.path.join(folder, name)
        if name.endswith(".sample") or not os.path.isfile(path):
            continue
        if os.path.islink(path) and (one := _inside(path, tops)):
            yield one
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read(MOST_BYTES).splitlines()
        for line in lines:
            if not line.lstrip().startswith("#"):
                yield from (path for path in _words(line, tops) if "/" in path)


def _inside(path: str, tops: list[str]) -> str:
    """The path from the top of the worktree that it lies in; empty: it lies in none, or in git's own folder."""
    real = os.path.realpath(path)
    for top in tops:
        inner = os.path.relpath(real, os.path.realpath(top))
        if inner != "." and not inner.startswith("..") and not inner.startswith(".git" + os.sep):
            return inner
    return ""
