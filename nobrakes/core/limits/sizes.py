"""How much of an agent's work is taken in. Pure.

What is beyond a limit is not copied, read or merged: the attempt ends as a boundary that names the setting.
"""

from dataclasses import dataclass

LONGEST_PATH = 4096
LONGEST_NAME = 255
"""Bytes. No file system that we know takes more."""
LARGEST_COMMIT = 1_000_000
"""Bytes of one commit: its message, mostly."""
LARGEST_FOLDER = 10_000_000
"""Bytes of one tree: some 200,000 names."""
READ = 4_000_000
"""Bytes of one file that are read to judge it. A larger one is judged by being too large."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes of one file, bytes of all that is new, paths that differ, folders in each other."""

    file: int = 50_000_000
    new: int = 200_000_000
    paths: int = 20_000
    depth: int = 100

    @property
    def objects(self) -> int:
        """New objects of one branch: every commit has some of its own, and what was undone counts as well."""
        return 10 * self.paths + 1000

    def file_beyond(self, path: str, size: int) -> str | None:
        """Why the file is too large; None: it is not."""
        if size <= self.file:
            return None
        return f"{_shown(path)} has {size:,} bytes, and limits.max_file_mb allows {self.file / 1e6:g} MB"

    def sum_beyond(self, size: int) -> str | None:
        """Why so many new bytes are too many."""
        if size <= self.new:
            return None
        return f"what is new has more than {self.new / 1e6:g} MB, which is what limits.max_new_mb allows"

    def count_beyond(self, count: int) -> str | None:
        """Why so many paths that differ are too many."""
        return (
            None if count <= self.paths else f"more than {self.paths:,} paths differ, limits.max_paths allows no more"
        )

    def path_beyond(self, path: str) -> str | None:
        """Why the path is too deep or too long."""
        if path.count("/") > self.depth:
            return f"{_shown(path)} lies deeper than {self.depth} folders, which is what limits.max_depth allows"
        if len(path) * 4 > LONGEST_PATH and len(path.encode("utf-8", "surrogateescape")) >= LONGEST_PATH:
            return f"{_shown(path)} is a path of more than {LONGEST_PATH} bytes, which no file system takes"
        return None

    def name_beyond(self, name: str) -> str | None:
        """Why the name of a file or folder is too long."""
        if len(name) * 4 <= LONGEST_NAME or len(name.encode("utf-8", "surrogateescape")) <= LONGEST_NAME:
            return None
        return f"{_shown(name)} is a name of more than {LONGEST_NAME} bytes, which no file system takes"


DEFAULT = Sizes()


def _shown(path: str) -> str:
    """A path as it can be told: short, and nothing in it that a terminal obeys."""
    plain = path if len(path) <= 120 else f"{path[:60]}…{path[-40:]}"
    return plain if plain.isprintable() else plain.encode("unicode_escape", "surrogateescape").decode("ascii")
