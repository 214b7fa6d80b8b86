"""The repositories that the pages show, by the word in their address, and one of them opened for one request.

1. `/r/<word>/…`: the word is the folder's name, with a few letters of its path where two are called the same.
2. A repository is opened in the thread that answers, and closed before the answer goes out: a connection to a
   database is never shared.
"""

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from starlette.requests import Request

from ..core.errors import NobrakesError
from ..operations.machine_wide import registry

if TYPE_CHECKING:
    from ..app import App


class NoSuchRepository(NobrakesError):
    """No repository of this person has this word."""

    code = 11
    hint = "`nobrakes init` in a repository makes it known, and the first page lists those that are."


def short(path: str) -> str:
    """The last folder of a path, as a part of an address."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", os.path.basename(path)).strip(".-")[:60] or "repository"


def _long(path: str) -> str:
    return f"{short(path)}~{hashlib.sha256(path.encode('utf-8', 'surrogateescape')).hexdigest()[:6]}"


def words(paths: Sequence[str]) -> dict[str, str]:
    """The word of each path: its short one, or the long one where another path has the same short one."""
    counted: dict[str, int] = {}
    for path in paths:
        counted[short(path)] = counted.get(short(path), 0) + 1
    return {path: short(path) if counted[short(path)] == 1 else _long(path) for path in paths}


def word_of(path: str) -> str:
    """The word of the repository in this folder; empty: it is not known."""
    return words(registry.paths()).get(path, "")


def folder(word: str) -> str:
    """The path of the repository that the word stands for; NoSuchRepository."""
    paths = registry.paths()
    known = words(paths)
    for path in paths:
        if word in (known[path], _long(path)):
            return path
    raise NoSuchRepository(f"no repository of yours is called '{word[:60]}'")


def repository(word: str) -> "App":
    """The repository's app, which opens nothing yet; NoSuchRepository."""
    from ..app import App
    from ..paths import FOLDER, Paths

    path = folder(word)
    paths = Paths(os.path.join(path, FOLDER))
    if not os.path.exists(paths.config):
        raise NoSuchRepository(
            f"there is no nobrakes in {path} any more", f"`nobrakes repositories forget {path}` takes it off the list."
        )
    return App(paths, is_reading=True)


@contextmanager
def opened(request: Request) -> Iterator["App"]:
    """The repository that the request is about. What is rendered inside has the bar with its state."""
    word = request.path_params["repo"]
    with repository(word) as app:
        request.state.app, request.state.word = app, word
        try:
            yield app
        finally:
            request.state.app = None
