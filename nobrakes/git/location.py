"""Where the repository is: its git folder, its own worktree, and how commands are run there.

1. The git folder is named to every command; git never searches for it, and ownership is no question then.
2. Object work runs with the git folder as its worktree and with no index, so that neither the human's files nor
   the human's index (attributes!) can change what comes out of it.
3. What cannot change while a process lives (folders, the kind of repository) is asked once, when first needed.
"""

import copy
import os
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import IO

from ..core.errors import GitFailed, NoMain, NotARepository
from . import commands
from .environment import CHECKOUT, PLUMBING
from .transactions import Transactions
from .writing import Writer

_BARE = re.compile(rb"^\s*bare\s*=\s*(true|yes|on|1)\s*$", re.IGNORECASE | re.MULTILINE)
_WANTED = (
    "core.filemode",
    "core.symlinks",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.worktree",
    "core.bare",
    "extensions.objectformat",
    "extensions.partialclone",
    "gc.auto",
    "lfs.storage",
)


class Place:
    """One repository, found from a folder inside it (or from a bare one)."""

    def __init__(self, root: str, main: str, followed: str = "", before: tuple[str, ...] = ()) -> None:
        """`followed`: the ref that is main, where it is no branch here; `before`: its stand-ins until it is there."""
        self.root = root
        self.branch = main
        self.ref = followed or f"refs/heads/{main}"
        self.before = before
        self.transactions = Transactions()
        self.commits = Writer("commit")
        self.trees = Writer("tree")

    def with_main(self, name: str, ref: str, before: tuple[str, ...]) -> "Place":
        """The same repository where `ref`, called `name`, is main, and `before` are its stand-ins."""
        other = copy.copy(self)
        other.branch, other.ref, other.before = name, ref, before
        return other

    @cached_property
    def git_dir(self) -> str:
        """The git folder that all worktrees share."""
        commands.version()
        asked = ["rev-parse", "--path-format=absolute", "--git-common-dir"]
        try:
            return os.path.realpath(commands.run(asked, cwd=self.root, env=CHECKOUT).text)
        except GitFailed as error:
            raise NotARepository(f"{self.root} is in no git repository: {error}") from None

    @cached_property
    def objects(self) -> str:
        """The folder with the repository's objects."""
        return os.path.join(self.git_dir, "objects")

    def lent(self) -> tuple[str, ...]:
        """The objects' folder, and those that it borrows from itself."""
        found = [self.objects]
        for folder in found:  # grows while it is read
            try:
                with open(os.path.join(folder, "info", "alternates"), encoding="utf-8") as file:
                    named = [os.path.normpath(os.path.join(folder, line.strip())) for line in file if line.strip()]
            except (FileNotFoundError, NotADirectoryError):
                continue
            found += [path for path in named if path not in found]
        return tuple(found)

    def head(self) -> str:
        """The commit that is checked out in `root`. NoMain: there is none yet."""
        asked = ["rev-parse", "-q", "--verify", "HEAD^{commit}"]
        answer = commands.run(asked, cwd=self.root, env=CHECKOUT, expect=(0, 1, 128))
        if answer.code:
            raise NoMain(f"nothing is committed in {self.root} yet", "Make a first commit there.")
        return answer.text

    @property
    def shallow(self) -> str:
        """The file that says where a shallow history ends; empty for a whole history."""
        file = os.path.join(self.git_dir, "shallow")
        return file if os.path.isfile(file) else ""

    @cached_property
    def settings(self) -> Mapping[str, str]:
        """The repository's own settings that say what kind of repository and file system it is."""
        answer = self.run(["config", "--local", "--includes", "-z", "--list"])
        found: dict[str, str] = {}
        for record in answer.records:
            key, _, value = record.partition("\n")
            if key in _WANTED:
                found[key] = value
        return found

    @cached_property
    def worktree(self) -> str | None:
        """The repository's own worktree; None for a bare repository. One that is bare by accident has one."""
        if self.settings.get("core.bare", "").lower() in ("true", "yes", "on", "1"):
            return os.path.dirname(self.git_dir) if self.bare_by_accident else None
        named = self.settings.get("core.worktree")
        if named:
            return os.path.realpath(os.path.join(self.git_dir, named))
        if os.path.basename(self.git_dir) == ".git":
            return os.path.dirname(self.git_dir)
        # `git init --separate-git-dir`: nothing in the git folder says where its worktree is
        return os.path.realpath(self.root) if os.path.isfile(os.path.join(self.root, ".git")) else None

    @property
    def bare_by_accident(self) -> bool:
        """Whether git takes the repository for bare just now, though tracked files lie beside its `.git`."""
        if os.path.basename(self.git_dir) != ".git" or not os.path.isfile(os.path.join(self.git_dir, "index")):
            return False
        with open(os.path.join(self.git_dir, "config"), "rb") as file:
            if _BARE.search(file.read()) is None:  # so that nobody asks git in vain
                return False
        if self.run(["config", "--type=bool", "core.bare"], expect=(0, 1)).text != "true":
            return False
        top = os.path.dirname(self.git_dir)
        env = {**CHECKOUT, "GIT_DIR": self.git_dir, "GIT_WORK_TREE": top}
        tracked = commands.run(["ls-files", "-z"], cwd=top, env=env)
        return any(os.path.lexists(os.path.join(top, path)) for path in tracked.records)

    @cached_property
    def plumbing(self) -> Mapping[str, str]:
        """The environment of object work in this repository."""
        return {
            **PLUMBING,
            "GIT_DIR": self.git_dir,
            "GIT_WORK_TREE": self.git_dir,
            "GIT_INDEX_FILE": os.path.join(self.git_dir, "nobrakes-has-no-index"),
        }

    def run(
        self,
        arguments: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        stdin: bytes | IO[bytes] | None = None,
        stdout: IO[bytes] | None = None,
        expect: Sequence[int] = (0,),
    ) -> commands.Answer:
        """Run git on the repository's objects and refs, `env` added."""
        environment = self.plumbing if env is None else {**self.plumbing, **env}
        return commands.run(arguments, cwd=self.git_dir, env=environment, stdin=stdin, stdout=stdout, expect=expect)
