"""The settings of main, where the checkout does not have them: a sparse cone or another branch took config.toml away.

1. They are read from main's objects and kept in a file beside, which git ignores: nothing comes into the checkout.
2. A config.toml that is there is what holds, whatever main says.
3. The branch that is main is the one that the settings name; they are looked for on the branches that may be it.
"""

import contextlib
import os
import tomllib
from collections.abc import Iterator

from ..core.errors import NobrakesError
from ..core.policy.ownership import CONTRACT
from ..paths import Paths
from ..ports.git import Git
from ..replacing import replacing
from . import commands
from .environment import PLUMBING


def find(paths: Paths) -> bool:
    """Look for the settings before any are known, and keep them; whether there are any."""
    found = None if os.path.lexists(paths.tracked_config) else _of_main(paths.root)
    return _keep(paths, found)


def follow(paths: Paths, git: Git) -> str:
    """Keep main's settings as they are now, where the checkout has none; the file that holds."""
    if not os.path.lexists(paths.tracked_config):
        with contextlib.suppress(NobrakesError):  # whoever needs main says what is wrong with it
            _keep(paths, git.read(git.main(), CONTRACT))
    return paths.config


def _keep(paths: Paths, content: bytes | None) -> bool:
    if content is None:
        return False
    try:
        with open(paths.kept_config, "rb") as file:
            if file.read() == content:
                return True
    except FileNotFoundError:
        os.makedirs(paths.folder, mode=0o700, exist_ok=True)
    with replacing(paths.kept_config) as new:
        new.write(content)
    return True


def _of_main(root: str) -> bytes | None:
    """The settings that main has; None: no branch has any."""
    found = dict(_candidates(root))
    for content in found.values():
        with contextlib.suppress(tomllib.TOMLDecodeError, UnicodeDecodeError):
            return found.get(str(tomllib.loads(content.decode()).get("main", "main")), content)
    return None


def _candidates(root: str) -> Iterator[tuple[str, bytes]]:
    """(branch, its settings), the likely ones first."""
    asked = ["for-each-ref", "--format=%(refname:strip=2)", "--sort=-committerdate", "refs/heads/"]
    answer = commands.run(asked, cwd=root, env=PLUMBING, expect=(0, 128))
    branches = answer.text.split("\n") if answer.code == 0 and answer.out else []
    usual = [name for name in ("main", "master") if name in branches]
    for branch in dict.fromkeys((*usual, *branches[:_MOST])):
        read = ["cat-file", "blob", f"refs/heads/{branch}:{CONTRACT}"]
        blob = commands.run(read, cwd=root, env=PLUMBING, expect=(0, 128))
        if blob.code == 0:
            yield branch, blob.out


_MOST = 20
"""So many branches are looked at, those of the last commits first."""
