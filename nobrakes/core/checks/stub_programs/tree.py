"""What a language's cheats are made of: the files of a commit, and the names of the cheats."""

from collections.abc import Callable, Set
from dataclasses import dataclass

EMPTY = "empty bodies"
YES = "bodies that always say yes"
CONSTANT = "bodies that give the value the test compares with"


@dataclass(frozen=True, slots=True)
class Tree:
    """The files of the commit with the new tests. `read` gives a file's text, None for what is no text."""

    paths: Set[str]
    read: Callable[[str], str | None]
