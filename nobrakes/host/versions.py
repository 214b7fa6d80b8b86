"""Which version an installed CLI is: it is asked, in a home of its own, and what it said is remembered.

It is asked outside of every repository, and one that lies in a repository is not asked at all: agents write there. An
answer costs a start of the CLI. It is noted under the marks of the file (abilities.stamp), so a file is asked once.
"""

import os
import shutil
from collections.abc import Mapping

from .. import abilities
from ..paths import Paths, is_in_repository, own_path

SECONDS = 20.0


def ask(program: str, path: str) -> str:
    """What `--version` tells; empty: nothing that is a version."""
    try:
        return abilities.version_in(_asked(program, path)[1])
    except OSError:
        return ""


def trouble(program: str, path: str, root: str) -> str:
    """Why the CLI does not work at all, by what it says of its version; empty: it does, or it is not asked.

    `root` is the repository: neither a program in it is asked, nor one in a folder of PATH that is.
    """
    folders = [one for one in path.split(os.pathsep) if os.path.isabs(one) and not _is_in(one, root)]
    if os.sep in program:
        found = program if os.path.isabs(program) else None
    else:
        found = shutil.which(program, path=os.pathsep.join(folders))
        if found is None and shutil.which(program, path=path) is None:
            return f"{program} was not found"
    if found is None or _is_in(found, root):
        return ""
    try:
        code, said = _asked(found, os.pathsep.join(folders))
    except OSError as error:
        return f"{program} cannot be started: {error.strerror}"
    lines = said.strip().splitlines()
    return f"`{program} --version` ended with {code}: {' '.join(lines[:3])[:300]}" if code else ""


def _asked(program: str, path: str) -> tuple[int, str]:
    """Exit code and output of `--version`; OSError: it cannot be started."""
    import tempfile

    from .parallel import outputs

    with tempfile.TemporaryDirectory(prefix="nobrakes-version-") as home:
        env: Mapping[str, str] = {"PATH": path, "HOME": home, "LANG": "C.UTF-8", "CI": "1", "DISABLE_AUTOUPDATER": "1"}
        return outputs({"": (program, "--version")}, env, SECONDS, home)[""]


def _is_in(path: str, root: str) -> bool:
    """Whether it lies in the repository, by its name or by where a link of it leads."""
    top = os.path.realpath(root)
    return any(os.path.commonpath([top, one]) == top for one in (os.path.abspath(path), os.path.realpath(path)))


class Versions:
    """The versions of installed CLIs. `writes`: whether what was asked is noted for others too."""

    def __init__(self, paths: Paths, path: str | None, writes: bool) -> None:
        self.paths = paths
        self.path = path or os.defpath
        self.writes = writes
        self._asked: dict[tuple[str, str], str] = {}

    def __call__(self, name: str, program: str, mark: str) -> str:
        """The version; empty where it is not told, as of an agent of which nobody knows how to ask."""
        if name not in abilities.PROVEN:
            return ""
        known = self._asked.get((program, mark))
        if known is None:
            known = abilities.noted(self.paths, program, mark)
        if known is None:
            # what lies in the repository is not started outside a sandbox, so it tells nothing
            known = (
                "" if is_in_repository(program, self.paths.root) else ask(program, own_path(self.paths.root, self.path))
            )
            if known and self.writes:
                abilities.note(self.paths, program, mark, known)
        self._asked[program, mark] = known
        return known
