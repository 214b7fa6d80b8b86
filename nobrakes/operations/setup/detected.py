"""What the detectors of single kinds of project have in common: reading small files, and what they found."""

import os
from dataclasses import dataclass

MAX_BYTES = 2_000_000


@dataclass(frozen=True, slots=True)
class Found:
    """One kind of project: its word, (kind, command) of its checks, and what a fresh checkout needs first."""

    word: str
    checks: tuple[tuple[str, str], ...] = ()
    setup: str = ""
    notes: tuple[str, ...] = ()


def exists(root: str, name: str) -> bool:
    """Whether `root` has a file of this name."""
    return os.path.isfile(os.path.join(root, name))


def read(root: str, name: str) -> str | None:
    """The file's text; None where it is not there, is no file, or is larger than any project file."""
    path = os.path.join(root, name)
    if not os.path.isfile(path) or os.path.getsize(path) > MAX_BYTES:
        return None
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()
