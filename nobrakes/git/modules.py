"""Names that git's own check looks into (`.gitmodules`, however a file system may read it), kept under another one.

1. A tree that names something so and that `git fsck` refuses would make the whole repository look broken for ever.
   What is kept of a clone has it beside its place then, with every byte that it had.
2. What the base has as well is left: that is nobody's doing here.
3. Nearly no clone has such a name, so looking costs one search of bytes.
"""

import os
import re
from collections.abc import Mapping

from . import commands

KEPT = "gitmodules.refused"
"""The name beside the place of what git refuses."""
_PERHAPS = re.compile(rb"gitmod|gi7eb|\xe2\x80|\xe2\x81|\xef\xbb\xbf", re.IGNORECASE)
_SHORT = re.compile(r"(gitmod|gi7eb[0-9a-f]?)[0-9]*~[0-9]+")
_FILES = ("100644", "100755")


def is_special(name: str) -> bool:
    """Whether some file system takes the name for `.gitmodules`."""
    plain = "".join(letter for letter in name if letter.isascii()).casefold().split(":")[0].rstrip(". ")
    return plain == ".gitmodules" or bool(_SHORT.fullmatch(plain))


def put_aside(folder: str, env: Mapping[str, str], base: str) -> None:
    """Rename in the index what git would refuse; `folder` is the git folder of our own with nothing in it."""
    with open(env["GIT_INDEX_FILE"], "rb") as file:
        if not _PERHAPS.search(file.read()):
            return
    moves: list[str] = []
    known: frozenset[str] | None = None
    for row in commands.run(["ls-files", "-s", "-z"], cwd=folder, env=env).records:
        facts, _, path = row.partition("\t")
        mode, oid, _ = facts.split(" ")
        parts = path.split("/")
        if not any(map(is_special, parts)):
            continue
        if known is None:
            known = frozenset(commands.run(["ls-tree", "-r", "-z", base], cwd=folder, env=env).records)
        whole = not any(map(is_special, parts[:-1])) and mode in _FILES
        if any(found.endswith(f" {oid}\t{path}") for found in known) or (whole and _is_accepted(folder, env, oid)):
            continue
        other = "/".join(KEPT if is_special(part) else part for part in parts)
        moves += [f"0 {'0' * len(oid)}\t{path}", f"{mode} {oid}\t{other}"]
    if moves:
        listed = b"".join(os.fsencode(move) + b"\0" for move in moves)
        commands.run(["update-index", "-z", "--index-info"], cwd=folder, env=env, stdin=listed)


def _is_accepted(folder: str, env: Mapping[str, str], oid: str) -> bool:
    """Whether git takes the content for settings of submodules."""
    own = {**env, "GIT_OBJECT_DIRECTORY": os.path.join(folder, "objects")}
    own["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = env["GIT_OBJECT_DIRECTORY"]
    row = f"100644 blob {oid}\t.gitmodules\n".encode()
    tree = commands.run(["mktree"], cwd=folder, env=own, stdin=row).text
    asked = ["fsck", "--no-full", "--strict", "--no-dangling", "--no-progress", tree]
    return commands.run(asked, cwd=folder, env=own, expect=range(128)).code == 0
