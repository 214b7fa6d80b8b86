"""Files of a worktree that main left behind (a crash between the swap and the files), or that went ahead of it.

1. A path is touched only when its file is, after the human's own filters, one of the two versions that nobrakes
   moved between. When it is brought along and one path is neither, nothing is: somebody is at work there.
2. The caller holds the worktree's index (worktrees.locked) and we work on its copy.
"""

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence

from ..core.boundaries import GITLINK
from ..core.errors import GitFailed
from . import commands
from .differences import ABSENT, raw
from .objects import EXECUTABLE, Objects
from .obstacles import Difference, in_the_way
from .worktrees import Worktree, publish

LINK = "120000"

Version = Mapping[str, tuple[str, str]]
"""Path to (mode, object)."""


def bring_along(objects: Objects, holder: Worktree, old: str, now: str) -> None:
    """Bring a worktree whose index is still exactly `old` to `now`; otherwise leave it as it is."""
    if _git(holder, ["diff-index", "--cached", "--quiet", old, "--"], expect=(0, 1)).code != 0:
        return
    differences = raw(objects, old, now)
    if not differences or _blocked(holder, differences):
        return
    behind, ahead = _states(holder, differences)
    if len(behind | ahead) != len(differences):
        return
    _write(holder, differences, behind)
    _git(holder, ["read-tree", "-i", "-m", old, now])
    _git(holder, ["update-index", "-q", "--refresh"], expect=(0, 1))
    publish(holder)


def take_back(objects: Objects, holder: Worktree, new: str, old: str) -> None:
    """Give the files that were already written for `new`, or removed to be, their content of `old` again; the index
    stays. A file whose filter does not work is written as git keeps it: that is better than none."""
    differences = raw(objects, new, old)
    written, _ = _states(holder, differences)
    there = {path: (mode, oid) for path, _, mode, _, oid in differences if mode not in (ABSENT, GITLINK)}
    written |= {path for path in there if not os.path.lexists(os.path.join(holder.path, path))}
    try:
        _write(holder, differences, written)
    except GitFailed:
        for path in sorted(written & there.keys()):
            _write_as_kept(objects, os.path.join(holder.path, path), *there[path])


def _write_as_kept(objects: Objects, path: str, mode: str, oid: str) -> None:
    content = objects.content(oid)
    if content is None:
        raise GitFailed(f"{path} cannot be written again: its object {oid} is gone")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    if mode == LINK:
        os.symlink(content, os.fsencode(path))
        return
    with open(path, "xb") as file:
        file.write(content)
    if mode == EXECUTABLE:
        os.chmod(path, os.stat(path).st_mode | 0o111)


def _blocked(holder: Worktree, differences: Sequence[Difference]) -> bool:
    """Whether a folder on the way is something else, or a folder stands where a file should."""
    return any(
        os.path.isdir(os.path.join(holder.path, path)) or path not in {p for p, *_ in differences}
        for path in in_the_way(holder.path, differences)
    )


def _states(holder: Worktree, differences: Sequence[Difference]) -> tuple[set[str], set[str]]:
    """Which paths have the content from before, and which the one from after."""
    before = {path: (mode, oid) for path, mode, _, oid, _ in differences}
    after = {path: (mode, oid) for path, _, mode, _, oid in differences}
    return _matching(holder, before), _matching(holder, after)


def _matching(holder: Worktree, version: Version) -> set[str]:
    """The paths whose file in the worktree is that of the version."""
    absent = {path for path, (mode, _) in version.items() if mode == ABSENT}
    there = {path: entry for path, entry in version.items() if path not in absent and entry[0] != GITLINK}
    matching = {path for path in absent if not os.path.lexists(os.path.join(holder.path, path))}
    with _index(holder, there) as env:
        differing = commands.run(["diff-files", "-z", "--name-only"], cwd=holder.path, env=env).records
    return matching | (there.keys() - set(differing))


def _write(holder: Worktree, differences: Sequence[Difference], paths: set[str]) -> None:
    """Give these paths their version from after."""
    for path, _, mode, _, _ in differences:
        if path in paths and mode == ABSENT:
            os.unlink(os.path.join(holder.path, path))
            with contextlib.suppress(OSError):
                os.removedirs(os.path.dirname(os.path.join(holder.path, path)))
    wanted = {path: (mode, oid) for path, _, mode, _, oid in differences if path in paths and mode != ABSENT}
    if wanted:
        with _index(holder, wanted) as env:
            commands.run(["checkout-index", "-f", "-q", "-a"], cwd=holder.path, env=env)


@contextlib.contextmanager
def _index(holder: Worktree, version: Version) -> Iterator[Mapping[str, str]]:
    """An environment with an index of just these entries."""
    file = holder.copy + "-look"
    env = {**holder.env, "GIT_INDEX_FILE": file}
    with contextlib.suppress(FileNotFoundError):
        os.unlink(file)
    lines = b"".join(
        f"{mode} {oid}\t".encode() + os.fsencode(path) + b"\0" for path, (mode, oid) in sorted(version.items())
    )
    try:
        commands.run(["update-index", "-z", "--index-info"], cwd=holder.path, env=env, stdin=lines)
        commands.run(["update-index", "-q", "--refresh"], cwd=holder.path, env=env, expect=(0, 1))
        yield env
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(file)


def _git(holder: Worktree, arguments: list[str], expect: Sequence[int] = (0,)) -> commands.Answer:
    return commands.run(arguments, cwd=holder.path, env=holder.env, expect=expect)
