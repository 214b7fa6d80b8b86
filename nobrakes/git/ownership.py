"""Whose repository it is: asked by every command before anything of the repository is run or read as configuration.

1. Git decides about its own folders: by their owner, by SUDO_UID, by `safe.directory` of the system and the human. Our
   own environment trusts every folder and names the git folder, which git takes for trust: so it is asked without both.
2. What belongs to nobody else needs no question: `places.strangers` looks at owners and starts no process.
3. Git knows nothing of .nobrakes: it has to belong to whom git trusts here.
"""

import os
import re

from .. import paths
from ..core.errors import ForeignRepository, GitFailed
from . import commands
from .environment import ASKING

_WHERE = re.compile(r"dubious ownership in repository at '(.*)'")


def check(start: str | None = None) -> None:
    """ForeignRepository where git would refuse, or .nobrakes is a stranger's; GitTooOld."""
    strange = paths.strangers(start)
    if not strange:
        return
    here = os.path.realpath(start or os.getcwd())
    root = paths.repository_root(here) or here
    for folder in dict.fromkeys((here, root)):
        _ask(folder)
    trusted = _trusted(root)
    own = os.path.join(root, paths.FOLDER)
    for path in strange:
        if path.startswith(own) and os.lstat(path).st_uid not in trusted:
            raise ForeignRepository(
                f"{path} belongs to {owner(path)}, and not to you",
                f"Look at what is in it, then make it yours: chown -R {os.geteuid()} {own}",
            )


def owner(path: str) -> str:
    """The account that a path belongs to, by name where it has one."""
    uid = os.lstat(path).st_uid
    try:
        from pwd import getpwuid

        return getpwuid(uid).pw_name
    except (ImportError, KeyError):
        return f"the account {uid}"


def _ask(folder: str) -> None:
    asked = ["rev-parse", "--git-dir"]
    answer = commands.run(asked, cwd=folder, env=ASKING, expect=(0, 128))
    if answer.code == 0:
        return
    found = _WHERE.search(answer.error)
    if found is None:
        raise GitFailed(f"git cannot read the repository around {folder}: {answer.error.splitlines()[0][:200]}")
    raise ForeignRepository(
        f"git detected dubious ownership in the repository at '{found[1]}', so nothing in it was read or run",
        f"If you trust its owner: git config --global --add safe.directory {found[1]}",
    )


def _trusted(root: str) -> set[int]:
    """The accounts whose .nobrakes is read, in a repository that git trusts."""
    found = {os.geteuid()}
    found |= {os.lstat(path).st_uid for path in paths.territory(root) if paths.FOLDER not in path.split(os.sep)[-2:]}
    sudo = os.environ.get("SUDO_UID", "")
    if os.geteuid() == 0 and sudo.isascii() and sudo.isdigit():
        found.add(int(sudo))
    return found
