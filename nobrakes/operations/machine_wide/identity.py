"""By what a repository is known, wherever it lies: a word in its git folder, drawn once.

1. It is in the shared git folder, which no agent reaches and no clone copies: worktrees of one repository are one, two
   clones are two, and a folder that was moved, to another disk too, is the same as before.
2. Who copies a whole folder copies the word. The copy is told from the original by its being there beside it, and
   draws a word of its own when it is registered.
"""

import os
import secrets
import stat

from ...host.files import storage_errors, write_atomic
from ...paths import git_folder

FILE = "nobrakes-identity"
_LENGTH = 32


def identity(root: str) -> str:
    """The word of the repository whose folder (or bare git folder) is `root`; empty: it has none, or is gone."""
    folder = git_folder(root)
    return _read(os.path.join(folder, FILE)) if folder else ""


def draw(root: str) -> str:
    """Give the repository a word of its own, in the place of any that it has; the word, empty where there is no git."""
    folder = git_folder(root)
    if folder is None:
        return ""
    write_atomic(os.path.join(folder, FILE), f"{secrets.token_hex(_LENGTH // 2)}\n".encode(), 0o600)
    return identity(root)


def is_same(one: str, other: str) -> bool:
    """Whether two paths lead to one git folder."""
    folders = git_folder(one), git_folder(other)
    try:
        return all(folders) and os.path.samefile(str(folders[0]), str(folders[1]))
    except OSError:
        return False


def _read(path: str) -> str:
    with storage_errors(path):
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return ""
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return ""
            word = file.read(_LENGTH + 2).decode("ascii", "replace").strip()
    return word if len(word) == _LENGTH and set(word) <= set("0123456789abcdef") else ""
