"""Files of a worktree that main left behind (a crash between the swap and the files), or that went ahead of it.

1. A path is touched only when its file is, after the human's own filters, one of the two versions that nobrakes moved
   between, or the beginning of the later one: that is what a kill leaves of a file that is being written.
2. The index follows only for paths that it has as they were before; whatever else is staged stays staged.
3. The caller holds the worktree's index (worktrees.locked) and we work on its copy.
"""

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence

from ...core.errors import GitFailed
from ...core.policy.boundaries import ABSENT, GITLINK
from .. import commands
from ..differences import raw
from ..objects import Objects
from ..tree_content import EXECUTABLE, FILE
from .obstacles import Difference
from .standing import apart, entries, gone
from .worktrees import LOOK, Worktree

LINK = "120000"

Version = Mapping[str, tuple[str, str]]
"""Path to (mode, object)."""


def follow_files(holder: Worktree, differences: Sequence[Difference]) -> set[str]:
    """Let the index (our copy) follow where it is from before and the file from after already; those paths."""
    behind = _behind(holder, differences)
    _, ahead = _states(holder, differences)
    return _follow(holder, differences, behind & ahead)


def follow_begun(holder: Worktree, differences: Sequence[Difference]) -> set[str]:
    """Let the index (our copy) follow where the file is only the beginning of the one from after; those paths, which
    `finish` has to write."""
    after = {path: (mode, oid) for path, _, mode, _, oid in differences}
    begun = {path for path in _behind(holder, differences) if _is_begun(holder, path, *after[path])}
    return _follow(holder, differences, begun)


def _behind(holder: Worktree, differences: Sequence[Difference]) -> set[str]:
    staged = entries(holder, [path for path, *_ in differences], holder.env)
    return set(apart(differences, staged)[0])


def _follow(holder: Worktree, differences: Sequence[Difference], paths: set[str]) -> set[str]:
    lines = _lines(differences, paths)
    if lines:
        _git(holder, ["update-index", "-z", "--index-info"], stdin=lines)
    return paths


def between(holder: Worktree, old: str, differences: Sequence[Difference], paths: set[str]) -> str:
    """The tree of `old` in which these paths are as they are after: from there git has nothing to do for them."""
    env = {**holder.env, "GIT_INDEX_FILE": holder.copy + LOOK}
    whole = ["-c", "core.sparseCheckout=false", "-c", "core.splitIndex=false"]
    lines = _lines(differences, paths)
    try:
        commands.run([*whole, "read-tree", old], cwd=holder.path, env=env)
        commands.run([*whole, "update-index", "-z", "--index-info"], cwd=holder.path, env=env, stdin=lines)
        return commands.run([*whole, "write-tree"], cwd=holder.path, env=env).text
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(holder.copy + LOOK)


def _lines(differences: Sequence[Difference], paths: set[str]) -> bytes:
    """These paths as after, for `update-index --index-info`; removals first, since a folder may have become a file."""
    wanted = sorted((d for d in differences if d[0] in paths), key=lambda d: d[2] != ABSENT)
    return b"".join(
        (f"0 {'0' * len(oid)}" if mode == ABSENT else f"{mode} {oid}").encode() + b"\t" + os.fsencode(path) + b"\0"
        for path, _, mode, _, oid in wanted
    )


def finish(holder: Worktree, differences: Sequence[Difference], paths: set[str]) -> None:
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


def take_back(objects: Objects, holder: Worktree, new: str, old: str, staged: Version, but: set[str]) -> None:
    """Give the files that were already written for `new`, or removed to be, their content of `old` again, where the
    index (`staged`) has them so; the index stays, and so do the files of `but`. A file whose filter does not work is
    written as git keeps it: that is better than none."""
    differences = raw(objects, new, old)
    kept = {path for path, _, mode, _, oid in differences if staged.get(path, gone(oid)) == (mode, oid)} - but
    there = {path: (mode, oid) for path, _, mode, _, oid in differences if mode not in (ABSENT, GITLINK)}
    written, _ = _states(holder, differences)
    written |= {path for path in there if not os.path.lexists(os.path.join(holder.path, path))}
    written |= {path for path, mode, _, oid, _ in differences if path in kept and _is_begun(holder, path, mode, oid)}
    written &= kept - _sparse(holder)
    try:
        finish(holder, differences, written)
    except GitFailed:
        for path in sorted(written & there.keys()):
            _write_as_kept(objects, os.path.join(holder.path, path), *there[path])


def _sparse(holder: Worktree) -> set[str]:
    """The paths that are in the index and not meant to lie in the worktree."""
    return {record[2:] for record in _git(holder, ["ls-files", "-t", "-z"]).records if record.startswith("S ")}


def _is_begun(holder: Worktree, path: str, mode: str, oid: str) -> bool:
    """Whether the file is the beginning of this version, as a killed git leaves it."""
    if mode not in (FILE, EXECUTABLE):
        return False
    whole = os.path.join(holder.path, path)
    if os.path.islink(whole) or not os.path.isfile(whole):
        return False
    answer = _git(holder, ["cat-file", "--filters", f"--path={path}", oid], expect=(0, 1, 128))
    if answer.code != 0 or os.path.getsize(whole) >= len(answer.out):
        return False
    with open(whole, "rb") as file:
        return answer.out.startswith(file.read())


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
    if not there:
        return matching
    with _index(holder, there) as env:
        differing = commands.run(["diff-files", "-z", "--name-only"], cwd=holder.path, env=env).records
    return matching | (there.keys() - set(differing))


@contextlib.contextmanager
def _index(holder: Worktree, version: Version) -> Iterator[Mapping[str, str]]:
    """An environment with an index of just these entries."""
    file = holder.copy + LOOK
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


def _git(
    holder: Worktree, arguments: list[str], expect: Sequence[int] = (0,), stdin: bytes | None = None
) -> commands.Answer:
    return commands.run(arguments, cwd=holder.path, env=holder.env, expect=expect, stdin=stdin)
