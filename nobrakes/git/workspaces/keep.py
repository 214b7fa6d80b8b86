"""Keeps a checkout before an agent works in it: its HEAD, its index, and a commit of every file, in a folder elsewhere.

1. Nothing is written into the repository: the commit and its objects lie in a small repository of their own, which
   borrows the others from it. `git fetch <folder>/repository.git before:NAME` brings it back as a branch.
2. Files that git ignores are copied one by one where they are small; ignored folders (what is built or installed) are
   not kept.
3. The folder is there whole or not at all, and done again it is what it was.
"""

import os
import shutil
import stat
import sys
from contextlib import closing, suppress

from ...core.errors import NobrakesError
from ...core.limits.sizes import Sizes
from .. import commands, refs
from ..environment import CHECKOUT, PLUMBING
from ..location import Place
from ..objects import Objects
from . import salvage

BEFORE = "before"
MOST_IGNORED = 10_000_000
"""Bytes of one ignored file that is kept."""
MOST_OF_THEM = 1000


def keep(root: str, at: str, sizes: Sizes) -> None:
    """Keep the checkout `root` in the folder `at`. NobrakesError: it cannot be kept, and why."""
    if os.path.isdir(at):
        return
    begun = f"{at}~making"
    with suppress(FileNotFoundError):
        shutil.rmtree(begun)
    os.makedirs(begun, mode=0o700)
    place = Place(root, "HEAD")
    for name in ("HEAD", "index"):
        with suppress(FileNotFoundError):
            shutil.copy2(os.path.join(place.git_dir, name), os.path.join(begun, name))
    _commit(place, root, begun, place.head(), sizes)
    _ignored(root, os.path.join(begun, "ignored"))
    os.rename(begun, at)


def _commit(place: Place, root: str, begun: str, head: str, sizes: Sizes) -> None:
    own = os.path.join(begun, "repository.git")
    kind = place.settings.get("extensions.objectformat", "sha1")
    commands.run(["init", "-q", "--bare", "--template=", f"--object-format={kind}", own], cwd=begun, env=PLUMBING)
    with open(os.path.join(own, "objects", "info", "alternates"), "w", encoding="utf-8") as file:
        file.write(f"{place.objects}\n")
    kept = Place(own, BEFORE)
    kept.settings = place.settings  # of the file system on which the files lie
    with closing(Objects(kept)) as objects:
        text = f"What lay in {root}\n\nKept by nobrakes before an agent worked there.\n"
        found = salvage.salvage(kept, objects, root, head, os.path.join(begun, "index"), text, sizes)
        refs.move(kept, f"refs/heads/{BEFORE}", found or head, None)


def _ignored(root: str, to: str) -> None:
    asked = ["ls-files", "-z", "-o", "-i", "--exclude-standard", "--directory"]
    listed = commands.run(asked, cwd=root, env=CHECKOUT).records
    for path in [path for path in listed if path and not path.endswith("/")][:MOST_OF_THEM]:
        whole = os.path.join(root, path)
        with suppress(OSError):
            seen = os.lstat(whole)
            if stat.S_ISREG(seen.st_mode) and seen.st_size <= MOST_IGNORED:
                os.makedirs(os.path.dirname(os.path.join(to, path)), mode=0o700, exist_ok=True)
                shutil.copy2(whole, os.path.join(to, path), follow_symlinks=False)


def main(root: str, at: str, *sizes: str) -> int:
    """Keep it as the child of a run; what keeps it from that is said, and nothing starts."""
    try:
        keep(root, at, Sizes(*map(int, sizes)))
    except (NobrakesError, OSError) as error:
        print(f"{root} is not kept, so nobody works there: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
