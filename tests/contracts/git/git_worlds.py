"""Worlds for the git suite: a repository, and people and agents who work in it without nobrakes' door.

A world gives the door under test as `git` and does everything else itself. To run the suite on another door, write
a class with these methods and add it to WORLDS.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from nobrakes.beads.branches import branch_of
from nobrakes.beads.model import Bead, BeadType
from nobrakes.git.landing.remote import Shared
from nobrakes.git.port import Argv, Git, Message
from nobrakes.git.repository import Repository
from nobrakes.paths import Paths

Files = Mapping[str, str | None]

AT = 1_700_000_000.0


def bead(name: str = "login", **fields: object) -> Bead:
    return replace(Bead(name, f"The bead {name}", BeadType.FEATURE), **fields)  # type: ignore[arg-type]


def message(name: str = "login", **fields: object) -> Message:
    made = Message(f"Work of {name}", "", "Ada", AT, (("Bead", name),))
    return replace(made, **fields)  # type: ignore[arg-type]


class GitWorld(Protocol):
    """What the suite needs of a world; `git` is the door under test."""

    git: Git
    scratch_folder: str

    def close(self) -> None:
        """End the processes that serve the door: each has pipes open."""
        ...

    def commit_on_main(self, files: Files, text: str = "by a human") -> str: ...
    def amend_main(self, files: Files) -> str:
        """Put another commit in the place of main's last one; None removes a path."""
        ...

    def prepare(self, prologue: Sequence[Argv]) -> None: ...
    def commit_in_workspace(self, bead: Bead, files: Files, text: str = "by an agent") -> str: ...
    def write_in_workspace(self, bead: Bead, files: Files) -> None: ...
    def files(self, commit: str) -> dict[str, str]: ...
    def checkout(self, path: str) -> dict[str, str]: ...
    def log(self, tip: str, base: str) -> list[tuple[str, str, str]]: ...


def sh(cwd: str | Path, *argv: str, env: Mapping[str, str] | None = None, check: bool = True) -> str:
    """Run a command as a human or an agent would, with a configuration of their own."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    clean |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "LC_ALL": "C", **(env or {})}
    done = subprocess.run(argv, cwd=cwd, env=clean, capture_output=True, text=True, errors="surrogateescape")
    assert not check or done.returncode == 0, f"{argv}: {done.stdout}{done.stderr}"
    return done.stdout


def write(root: str | Path, files: Files) -> None:
    for name, content in files.items():
        path = Path(root, name)
        if content is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)


def read_all(root: str | Path) -> dict[str, str]:
    found = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in (".git", ".nobrakes")]
        for name in names:
            whole = Path(folder, name)
            found[str(whole.relative_to(root))] = os.readlink(whole) if whole.is_symlink() else whole.read_text()
    return found


ME = {
    "GIT_AUTHOR_NAME": "Human",
    "GIT_AUTHOR_EMAIL": "human@example.org",
    "GIT_COMMITTER_NAME": "Human",
    "GIT_COMMITTER_EMAIL": "human@example.org",
}


@cache
def beginning(checked_out: bool) -> TemporaryDirectory[str]:
    """A repository with one commit, made once and then copied."""
    made = TemporaryDirectory()
    sh(made.name, "git", "init", "-q", "-b", "main", ".")
    write(made.name, {".nobrakes/.gitignore": "*\n"})
    write(made.name, {"README": "read me\n", "src/app.py": "one = 1\n", "tests/test_app.py": "assert True\n"})
    sh(made.name, "git", "add", "-A")
    sh(made.name, "git", "commit", "-q", "-m", "first", env=ME)
    if not checked_out:
        sh(made.name, "git", "checkout", "-q", "--detach")
    return made


class RealWorld:
    """A real repository in a folder; main lives in a second worktree-less branch unless `checked_out`."""

    def __init__(self, folder: Path, *, checked_out: bool = False) -> None:
        self.root = folder / "repository"
        shutil.copytree(beginning(checked_out).name, self.root, symlinks=True)
        self.sh("git", "update-index", "-q", "--refresh")
        self.paths = Paths(str(self.root / ".nobrakes"))
        self.scratch_folder = self.paths.scratch
        self.git: Git = Repository(self.paths, "main")

    def close(self) -> None:
        if isinstance(self.git, Repository):
            self.git.close()

    def sh(self, *argv: str, env: Mapping[str, str] | None = None, check: bool = True) -> str:
        return sh(self.root, *argv, env=env, check=check)

    def commit_on_main(self, files: Files, text: str = "by a human") -> str:
        other = self.root.parent / "human"
        sh(self.root.parent, "git", "clone", "-q", "--no-local", "-b", "main", str(self.root), str(other))
        write(other, files)
        sh(other, "git", "add", "-A")
        sh(other, "git", "commit", "-q", "--allow-empty", "-m", text, env=ME)
        self.sh("git", "fetch", "-q", "--update-head-ok", str(other), "+main:main")
        sh(self.root.parent, "rm", "-rf", str(other))
        return self.sh("git", "rev-parse", "main").strip()

    def amend_main(self, files: Files) -> str:
        other = self.root.parent / "human"
        sh(self.root.parent, "git", "clone", "-q", "--no-local", "-b", "main", str(self.root), str(other))
        write(other, files)
        sh(other, "git", "add", "-A")
        sh(other, "git", "commit", "-q", "--amend", "--allow-empty", "-m", "amended", env=ME)
        self.sh("git", "fetch", "-q", "--update-head-ok", str(other), "+main:main")
        sh(self.root.parent, "rm", "-rf", str(other))
        return self.sh("git", "rev-parse", "main").strip()

    def prepare(self, prologue: Sequence[Argv]) -> None:
        for argv in prologue:
            sh("/", *argv)

    def workspace_path(self, bead: Bead) -> str:
        return os.path.join(self.paths.workspaces, bead.id)

    def commit_in_workspace(self, bead: Bead, files: Files, text: str = "by an agent") -> str:
        path = self.workspace_path(bead)
        write(path, files)
        sh(path, "git", "add", "-A")
        sh(path, "git", "commit", "-q", "-m", text)
        return sh(path, "git", "rev-parse", branch_of(bead)).strip()

    def commit_in_workspace_of(self, name: str, files: Files) -> str:
        """Make (or go on in) a bead's workspace, commit there, take it in."""
        it = bead(name)
        self.prepare(self.git.workspace(it, self.git.main(), "Ada").prologue)
        head = self.commit_in_workspace(it, files)
        assert self.git.fetch_work(it, 7) == head
        return head

    def write_in_workspace(self, bead: Bead, files: Files) -> None:
        write(self.workspace_path(bead), files)

    def files(self, commit: str) -> dict[str, str]:
        names = self.sh("git", "ls-tree", "-r", "-z", "--name-only", commit).split("\0")[:-1]
        return {name: self.sh("git", "cat-file", "blob", f"{commit}:{name}") for name in names}

    def checkout(self, path: str) -> dict[str, str]:
        return read_all(path)

    def log(self, tip: str, base: str) -> list[tuple[str, str, str]]:
        """(author, committer, text) of the commits, oldest first."""
        out = self.sh("git", "log", "--reverse", "-z", "--format=%an%x01%cn%x01%B", f"{base}..{tip}")
        return [tuple(record.split("\x01")) for record in out.split("\0") if record]  # type: ignore[misc]


class SharedWorld(RealWorld):
    """A real repository whose main is decided at a bare one beside it."""

    def __init__(self, folder: Path, *, checked_out: bool = False) -> None:
        super().__init__(folder, checked_out=checked_out)
        self.remote = folder / "remote.git"
        sh(folder, "git", "clone", "-q", "--bare", str(self.root), str(self.remote))
        self.sh("git", "remote", "add", "origin", str(self.remote))
        self.git: Git = Repository(self.paths, "main", Shared("origin", "main", 30.0))

    def commit_on_main(self, files: Files, text: str = "by a human") -> str:
        made = super().commit_on_main(files, text)
        self.sh("git", "push", "-q", "origin", "main")
        return made

    def there(self) -> str:
        """The commit that the remote's main points to."""
        return sh(self.remote, "git", "rev-parse", "main").strip()

    def commit_at_remote(self, files: Files, text: str = "from elsewhere") -> str:
        other = self.root.parent / "elsewhere"
        sh(self.root.parent, "git", "clone", "-q", "-b", "main", str(self.remote), str(other))
        write(other, files)
        sh(other, "git", "add", "-A")
        sh(other, "git", "commit", "-q", "-m", text, env=ME)
        sh(other, "git", "push", "-q", "origin", "main")
        sh(self.root.parent, "rm", "-rf", str(other))
        return self.there()


WORLDS = {"real": RealWorld, "shared": SharedWorld}
