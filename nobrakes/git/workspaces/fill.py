"""Fills the submodules of a checkout that was just made, from those that the person has in theirs.

1. The files come from the objects of the person's own submodule, found by its path there: what a branch says in
   `.gitmodules` is not asked, and nothing is fetched. A submodule is its files alone: there is no repository in it.
2. git runs with a git folder of our own making, so no filter or hook of anybody's runs.
3. One that cannot be filled is told with what to type, and the run does not begin: a missing file is no red check.
"""

import os
import sys
from collections.abc import Iterator

from ...core.errors import NobrakesError
from ...core.policy.boundaries import GITLINK
from .. import commands
from ..environment import PLUMBING
from ..location import Place
from . import salvage


def links(root: str) -> Iterator[tuple[str, str]]:
    """(path, commit) of each submodule in the index of the checkout `root`."""
    for record in commands.run(["ls-files", "-s", "-z"], cwd=root, env=PLUMBING).records:
        facts, _, path = record.partition("\t")
        mode, commit, _ = facts.split(" ")
        if mode == GITLINK:
            yield path, commit


def why_not(path: str, commit: str, root: str) -> str:
    """Why the submodule at `path` of the person's checkout `root` cannot be had at this commit; empty: it can."""
    own = os.path.join(root, path)
    if not os.path.lexists(os.path.join(own, ".git")):
        return f"the submodule {path} is not there in {root}: git submodule update --init --recursive"
    asked = ["cat-file", "-e", f"{commit}^{{commit}}"]
    if commands.run(asked, cwd=own, env=PLUMBING, expect=(0, 1, 128)).code:
        return f"{own} does not have the commit {commit[:12]}: git submodule update --init --recursive"
    return ""


def fill(checkout: str, root: str, found: Iterator[tuple[str, str]]) -> list[str]:
    """Fill these submodules of the checkout; why some could not be."""
    troubles = []
    for path, commit in found:
        target = os.path.join(checkout, path)
        trouble = why_not(path, commit, root)
        if trouble or os.path.realpath(target) != os.path.join(os.path.realpath(checkout), path):
            troubles.append(trouble or f"{path} is no folder of the checkout")
            continue
        os.makedirs(target, exist_ok=True)
        own = Place(os.path.join(root, path), "HEAD")
        with salvage.git_folder(own) as (_, env):
            commands.run(["read-tree", "-m", "-u", commit], cwd=target, env=env)
            staged = commands.run(["ls-files", "-s", "-z"], cwd=target, env=env).records
        deeper = [record.partition("\t") for record in staged if record.startswith(GITLINK)]
        below = [(name, facts.split(" ")[1]) for facts, _, name in deeper]
        troubles += fill(target, own.root, iter(below))
    return troubles


def main(checkout: str, root: str) -> int:
    """Fill them as a step before a run."""
    try:
        troubles = fill(checkout, root, links(checkout))
    except (NobrakesError, OSError) as error:
        troubles = [str(error)]
    for trouble in troubles:
        print(trouble, file=sys.stderr)
    return 1 if troubles else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
