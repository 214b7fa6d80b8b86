"""The human's worktrees that have main checked out, and what state a person left them in.

1. Read from the files that git keeps, so that looking costs no process.
2. A worktree in the middle of a merge, rebase or pick is somebody's work; main does not move under it.
3. While main moves, the worktree's index.lock is ours: git's own commands wait their turn or say so. The lock file
   names us from its first moment on (it is written aside and linked), so that the next start can tell our stale one
   from a human's.
"""

import contextlib
import errno
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...core.errors import GitFailed, StoreReadOnly
from .. import commands
from ..environment import CHECKOUT
from ..location import Place

MARK = b"nobrakes"
_COPY = "index.nobrakes"
LOOK = "-look"
"""What is put behind the copy's name for an index of a few paths."""
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)

_UNDER_WAY = (
    ("MERGE_HEAD", "a merge"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase or `git am`"),
    # between two commits of several there is no *_HEAD
    ("sequencer", "a cherry-pick or revert of several commits"),
    # one that has only begun; from its first step on HEAD is elsewhere, and ends where main is by then
    ("BISECT_LOG", "a bisection"),
)


@dataclass(frozen=True, slots=True)
class Worktree:
    """A worktree and its own git folder (for the first one the shared git folder)."""

    path: str
    git_dir: str

    @property
    def index(self) -> str:
        """The worktree's index."""
        return os.path.join(self.git_dir, "index")

    @property
    def copy(self) -> str:
        """The index that we work on before it takes the other's place."""
        return os.path.join(self.git_dir, _COPY)

    @property
    def lock(self) -> str:
        """The file that git takes before it writes the index."""
        return self.index + ".lock"

    @property
    def env(self) -> Mapping[str, str]:
        """The environment for git in this worktree: the human's own settings, and our copy of the index."""
        return {**CHECKOUT, "GIT_DIR": self.git_dir, "GIT_WORK_TREE": self.path, "GIT_INDEX_FILE": self.copy}

    def under_way(self) -> str | None:
        """What a person has begun here and not ended; None: nothing."""
        for name, what in _UNDER_WAY:
            if os.path.lexists(os.path.join(self.git_dir, name)):
                return what
        return None


def _line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.readline().rstrip("\n")
    except OSError:
        return ""


def all_of(place: Place) -> list[Worktree]:
    """Every worktree of the repository that is there."""
    found = [] if place.worktree is None else [Worktree(place.worktree, place.git_dir)]
    linked = os.path.join(place.git_dir, "worktrees")
    for name in sorted(os.listdir(linked)) if os.path.isdir(linked) else []:
        git_dir = os.path.join(linked, name)
        dot_git = _line(os.path.join(git_dir, "gitdir"))
        path = os.path.dirname(os.path.normpath(os.path.join(git_dir, dot_git)))
        if dot_git and os.path.isdir(path):
            found.append(Worktree(path, git_dir))
    return found


def of_main(place: Place) -> list[Worktree]:
    """The worktrees that main is checked out in, also those that rebase it just now."""
    return of(place, place.ref)


def of(place: Place, ref: str) -> list[Worktree]:
    """The worktrees that this branch is checked out in, also those that rebase it just now."""
    return [one for one in all_of(place) if ref in refs_in(one)]


def refs_in(worktree: Worktree) -> list[str]:
    """The full names of what is checked out there, and of what is rebased just now."""
    files = ("HEAD", os.path.join("rebase-merge", "head-name"), os.path.join("rebase-apply", "head-name"))
    lines = (_line(os.path.join(worktree.git_dir, name)).removeprefix("ref: ") for name in files)
    return [line for line in lines if line.startswith("refs/")]


def head(worktree: Worktree) -> str:
    """The commit that is checked out there; GitFailed."""
    return commands.run(["rev-parse", "HEAD^{commit}"], cwd=worktree.path, env=worktree.env).text


@contextlib.contextmanager
def locked(worktree: Worktree, adopt: bool = False) -> Iterator[bool]:
    """Hold the worktree's index.lock, with a copy of its index to work on; False: somebody else holds it.

    `adopt`: one that a killed nobrakes left is taken over as it is, so that nobody comes in between.
    """
    if not _take(worktree) and not (adopt and _is_ours(worktree)):
        yield False
        return
    try:
        copy(worktree)
        yield True
    finally:
        for ending in ("", ".lock", LOOK, f"{LOOK}.lock"):
            _remove(worktree.copy + ending)
        _remove(worktree.lock)


def _take(worktree: Worktree) -> bool:
    """Make the lock, with our mark in it at once."""
    background = f"{worktree.copy}-{os.getpid()}"
    try:
        try:
            _write_mark(background, os.O_TRUNC)
            os.link(background, worktree.lock)
        finally:
            _remove(background)
    except (FileExistsError, FileNotFoundError):  # the latter: a daemon that starts tidied up beside us
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise StoreReadOnly(f"{worktree.lock} cannot be made: {error.strerror}") from None
        return _take_without_links(worktree)
    return True


def _take_without_links(worktree: Worktree) -> bool:
    """As well as a file system without links allows: a kill between the two calls leaves a lock without our mark."""
    try:
        _write_mark(worktree.lock, os.O_EXCL)
    except FileExistsError:
        return False
    except OSError as error:
        raise StoreReadOnly(f"{worktree.lock} cannot be made: {error.strerror}") from None
    return True


def _write_mark(path: str, how: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | how, 0o666)
    try:
        os.write(descriptor, MARK)
        os.fsync(descriptor)  # an empty lock after a power cut would be nobody's, and stay
    finally:
        os.close(descriptor)


def _remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def copy(worktree: Worktree) -> None:
    """Make our copy of the index anew."""
    import shutil

    _remove(worktree.copy)
    try:
        # with its times: git compares them with the files' to know which ones it has to read
        shutil.copy2(worktree.index, worktree.copy)
    except FileNotFoundError:
        return  # nothing was ever checked out or added here
    except OSError as error:
        raise GitFailed(f"{worktree.index} cannot be copied: {error.strerror}") from None


def publish(worktree: Worktree) -> None:
    """Put our copy of the index in the place of the worktree's own."""
    os.replace(worktree.copy, worktree.index)


def lock_age(worktree: Worktree) -> float:
    """Seconds since the index.lock there was made or written; 0: it is gone by now."""
    import time

    try:
        return time.time() - os.stat(worktree.lock).st_mtime
    except OSError:
        return 0.0


def clear(worktree: Worktree) -> None:
    """Remove the lock that a killed nobrakes left on the index, and what it worked on; a human's is left alone."""
    if _is_ours(worktree):
        _clear_copies(worktree)
        _remove(worktree.lock)
    elif not os.path.lexists(worktree.lock):
        _clear_copies(worktree)


def _is_ours(worktree: Worktree) -> bool:
    try:
        with open(worktree.lock, "rb") as file:
            return file.read(len(MARK) + 1) == MARK
    except OSError:
        return False


def _clear_copies(worktree: Worktree) -> None:
    for name in os.listdir(worktree.git_dir):
        if name.startswith(_COPY):
            _remove(os.path.join(worktree.git_dir, name))
