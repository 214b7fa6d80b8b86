"""The repositories that the pages show, by the word in their address, and one of them opened for one request.

1. `/r/<word>/…`: the word is the folder's name, with a few letters of its path where two are called the same.
2. A repository is opened in the thread that answers, and closed before the answer goes out: a connection to a
   database is never shared.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from starlette.requests import Request

from ..core.errors import NobrakesError
from ..operations.machine_wide import registry
from ..operations.machine_wide.addresses import long_word, word_of, words

if TYPE_CHECKING:
    from ..app import App


__all__ = ["NoSuchRepository", "folder", "opened", "repository", "word_of", "words"]


class NoSuchRepository(NobrakesError):
    """No repository of this person has this word."""

    code = 11
    hint = "`nobrakes init` in a repository makes it known, and the first page lists those that are."


def folder(word: str) -> str:
    """The path of the repository that the word stands for; NoSuchRepository."""
    paths = registry.paths()
    known = words(paths)
    for path in paths:
        if word in (known[path], long_word(path)):
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
