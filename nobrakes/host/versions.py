"""Which version an installed CLI is: it is asked, in a home of its own, and what it said is remembered.

An answer costs a start of the CLI. It is noted under the marks of the file (abilities.stamp), so a file is asked once.
"""

import os
from collections.abc import Mapping

from .. import abilities
from ..paths import Paths

SECONDS = 20.0


def ask(program: str, path: str) -> str:
    """What `--version` tells; empty: nothing that is a version."""
    import tempfile

    from .parallel import answer

    with tempfile.TemporaryDirectory(prefix="nobrakes-version-") as home:
        env: Mapping[str, str] = {"PATH": path, "HOME": home, "LANG": "C.UTF-8", "CI": "1", "DISABLE_AUTOUPDATER": "1"}
        return abilities.version_in(answer((program, "--version"), env, SECONDS))


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
            known = ask(program, self.path)
            if known and self.writes:
                abilities.note(self.paths, program, mark, known)
        self._asked[program, mark] = known
        return known
