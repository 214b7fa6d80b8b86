"""What a person's own git settings mean for work that nobrakes does without them: asked by `init` and `doctor`."""

import os
from dataclasses import dataclass

from ..core.policy.ownership import OWN_FOLDER
from . import commands
from .environment import ASKING, CHECKOUT

_READING = {**CHECKOUT, "GIT_OPTIONAL_LOCKS": "0"}
_HOOKS = (
    "pre-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-merge-commit",
    "post-merge",
    "pre-push",
    "reference-transaction",
)
_LARGEST = 100_000


@dataclass(frozen=True, slots=True)
class Hooks:
    """The folder that git takes hooks from, and those in it that look at commits, merges or pushes."""

    folder: str
    names: tuple[str, ...]


def hooks(root: str) -> Hooks | None:
    """The hooks that a person's own commits would run; None: there are none. Those of Git LFS are not counted."""
    # without our own settings: they would answer that hooks are off
    env = {name: value for name, value in ASKING.items() if not name.startswith("GIT_CONFIG")}
    asked = ["rev-parse", "--path-format=absolute", "--git-path", "hooks"]
    folder = commands.run(asked, cwd=root, env=env).text
    found = tuple(name for name in _HOOKS if _is_hook(os.path.join(folder, name)))
    return Hooks(folder, found) if found else None


def _is_hook(path: str) -> bool:
    try:
        if not os.path.isfile(path) or not os.access(path, os.X_OK):
            return False
        with open(path, "rb") as file:
            return b"git lfs " not in file.read(_LARGEST)
    except OSError:
        return False


def is_outside_the_cone(root: str) -> bool:
    """Whether the checkout is a sparse one that leaves out .nobrakes: git removes ignored files there."""
    asked = ["config", "--type=bool", "--get", "core.sparseCheckout"]
    if commands.run(asked, cwd=root, env=_READING, expect=(0, 1)).text != "true":
        return False
    listed = commands.run(["ls-files", "-t", "-z", "--", OWN_FOLDER], cwd=root, env=_READING).records
    return any(record.startswith("S ") for record in listed)
