"""What kind of repository a folder lies in: asked once, by `nobrakes init` and `doctor`."""

import os
from dataclasses import dataclass

from ..core.errors import GitFailed, NotARepository
from . import commands
from .environment import CHECKOUT

_PARTIAL = r"^(extensions\.partialclone|remote\..*\.promisor)$"
_READING = {**CHECKOUT, "GIT_OPTIONAL_LOCKS": "0"}


@dataclass(frozen=True, slots=True)
class Discovered:
    """A repository, as found. `root` is the worktree's top folder, or the bare repository itself."""

    root: str
    git_dir: str  # shared by all worktrees
    bare: bool
    has_commits: bool
    head_branch: str | None  # None: HEAD is detached
    branches: tuple[str, ...]
    dirty: bool  # tracked files have changes, staged or not
    in_worktree: bool  # in a linked worktree, not the repository's first
    is_submodule: bool
    is_partial: bool  # objects are fetched when needed: private clones cannot borrow what is not there
    git_version: str


def discover(path: str) -> Discovered:
    """The repository around `path`; NotARepository (also for one whose path has a line break), GitTooOld."""
    found = ".".join(map(str, commands.version()))
    git_dir, common, bare = _folders(path)
    top = common if bare else _ask(path, ["rev-parse", "--show-toplevel"])
    if "\n" in top or not os.path.isdir(top):  # a line break at its end is not there to be seen
        raise _broken(path)
    superproject = "" if bare else _ask(path, ["rev-parse", "--show-superproject-working-tree"])
    head = commands.run(["symbolic-ref", "-q", "--short", "HEAD"], cwd=path, env=_READING, expect=(0, 1))
    branches = _ask(path, ["for-each-ref", "--format=%(refname:strip=2)", "refs/heads/"])
    commit = commands.run(["rev-parse", "-q", "--verify", "HEAD^{commit}"], cwd=path, env=_READING, expect=(0, 1))
    return Discovered(
        root=os.path.realpath(top),
        git_dir=common,
        bare=bare,
        has_commits=commit.code == 0,
        head_branch=head.text if head.code == 0 else None,
        branches=tuple(branches.split("\n")) if branches else (),
        dirty=not bare and _dirty(path),
        in_worktree=git_dir != common,
        is_submodule=bool(superproject),
        is_partial=_promises(path),
        git_version=found,
    )


def tracked(root: str) -> tuple[str, ...]:
    """The paths in the index of the worktree `root`."""
    return tuple(commands.run(["ls-files", "-z", "--full-name"], cwd=root, env=_READING).records)


def is_partial(path: str) -> bool:
    """Whether the repository around `path` is a partial clone; NotARepository, GitTooOld."""
    commands.version()
    _folders(path)
    return _promises(path)


def _promises(path: str) -> bool:
    return bool(commands.run(["config", "--get-regexp", _PARTIAL], cwd=path, env=_READING, expect=(0, 1)).text)


def _folders(path: str) -> tuple[str, str, bool]:
    """(this worktree's git folder, the shared one, whether it is bare)."""
    asked = ["rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir", "--is-bare-repository"]
    if not os.path.isdir(path):
        raise NotARepository(f"there is no folder {path}")
    try:
        found = _ask(path, asked).split("\n")
    except GitFailed:
        raise NotARepository(f"{path} is in no git repository") from None
    if len(found) != len(asked) - 2:
        raise _broken(path)
    git_dir, common, bare = found
    # inside .git itself nothing is a worktree, and it is no bare repository either
    if bare != "true" and _ask(path, ["rev-parse", "--is-inside-work-tree"]) != "true":
        raise NotARepository(f"{path} is inside a repository's own git folder", "Go to the folder with your files.")
    return os.path.realpath(git_dir), os.path.realpath(common), bare == "true"


def _broken(path: str) -> NotARepository:
    """git ends what it answers with a line break, and lists of folders are files of lines."""
    why = f"the path of the repository around {path!r} has a line break, and git's own lists of folders have lines"
    return NotARepository(why, "Rename the folder, then run `nobrakes init`.")


def _dirty(path: str) -> bool:
    status = ["status", "--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=dirty"]
    return bool(commands.run(status, cwd=path, env=_READING).out)


def _ask(path: str, arguments: list[str]) -> str:
    return commands.run(arguments, cwd=path, env=_READING).text
