"""Signs of life of a run, as one text: the same text again means silence.

1. Cheap signs first: output files, commits, CPU. The files of the workspace are walked only when those are silent.
2. CPU counts in grains of some seconds, since a program that hangs still ticks a little.
3. Everything is bounded; nothing is opened, no symbolic link is followed.
"""

import os
from collections import deque
from collections.abc import Sequence

from ..system.process import Process

CPU_GRAIN = 5.0
"""Seconds of CPU that count as one sign of life."""

MOST_ENTRIES = 5000
"""Entries of a workspace that are looked at, those near its root first."""

UNWATCHED = frozenset(
    {".git", "node_modules", ".venv", "venv", "__pycache__", ".mypy_cache", ".pytest_cache", "target"}
)
"""Folders that are large, or change without anybody working."""

_GIT_FILES = ("HEAD", "index", "packed-refs", os.path.join("logs", "HEAD"))


def _stamp(path: str) -> str:
    try:
        status = os.lstat(path)
    except OSError:
        return "-"
    return f"{status.st_size}.{status.st_mtime_ns}"


def _output(folder: str) -> str:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return "-"
    return ",".join(_stamp(os.path.join(folder, name)) for name in names)


def _commits(workspace: str) -> str:
    git = os.path.join(workspace, ".git")
    newest, _ = _newest(os.path.join(git, "refs"), 500)
    return ",".join(_stamp(os.path.join(git, name)) for name in _GIT_FILES) + f",{newest}"


def _newest(root: str, most: int) -> tuple[int, int]:
    """The newest change below `root` (ns) and how many entries were seen."""
    newest = seen = 0
    folders = deque([root])
    while folders and seen < most:
        try:
            with os.scandir(folders.popleft()) as entries:
                for entry in entries:
                    seen += 1
                    if entry.name in UNWATCHED:
                        continue
                    newest = max(newest, entry.stat(follow_symlinks=False).st_mtime_ns)
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    if seen >= most:
                        break
        except OSError:
            continue  # removed while it was looked at, or unreadable: no sign of life
    return newest, seen


def _cpu(tree: Sequence[Process]) -> str:
    """CPU of these processes, in grains."""
    return str(int(sum(process.cpu for process in tree) / os.sysconf("SC_CLK_TCK") / CPU_GRAIN))


def fingerprint(tree: Sequence[Process], folder: str, workspace: str, before: str) -> str:
    """Output, commits, CPU and files of a run, whose processes are `tree`.

    `before` is the last answer: it spares the walk where signs abound.
    """
    cheap = f"{_output(folder)} {_commits(workspace)} {_cpu(tree)}"
    before_cheap, _, before_files = before.rpartition(" ")
    if before_files and before_cheap != cheap:
        return f"{cheap} {before_files}"
    newest, seen = _newest(workspace, MOST_ENTRIES)
    return f"{cheap} {seen}.{newest}"
