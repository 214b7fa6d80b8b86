"""Where the pages of a repository are: the word in their address, and the whole address where the pages are served."""

import hashlib
import os
import re
from collections.abc import Sequence

from . import registry
from .web_state import web_state


def short(path: str) -> str:
    """The last folder of a path, as a part of an address."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", os.path.basename(path)).strip(".-")[:60] or "repository"


def long_word(path: str) -> str:
    """The word of a path that another one cannot have."""
    return f"{short(path)}~{hashlib.sha256(path.encode('utf-8', 'surrogateescape')).hexdigest()[:6]}"


def words(paths: Sequence[str]) -> dict[str, str]:
    """The word of each path: its short one, or the long one where another path has the same short one."""
    counted: dict[str, int] = {}
    for path in paths:
        counted[short(path)] = counted.get(short(path), 0) + 1
    return {path: short(path) if counted[short(path)] == 1 else long_word(path) for path in paths}


def word_of(path: str) -> str:
    """The word of the repository in this folder; empty: it is not known."""
    return words(registry.paths()).get(path, "")


def link(path: str, page: str = "") -> str:
    """The address of a page of the repository in this folder; empty: nobody serves the pages now."""
    found, word = web_state().serving(), word_of(path)
    return f"{found.address}/r/{word}/{page}" if found is not None and word else ""
