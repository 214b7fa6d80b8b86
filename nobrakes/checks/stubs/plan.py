"""Which cheats new tests have to catch.

1. A cheat is the tree with the new tests, in which what they import is there and does nothing right: bodies that are
   empty, that say yes to everything, or that give the one value the tests compare with. (The base itself, where the
   symbol is missing or old, is the red proof.)
2. Tests that pass with a cheat are weak. Tests that fail with all of them may still be weak; nobody can tell by this.
3. Where a language is not known, or nothing of the project is imported, there are no cheats, and nothing is claimed.
"""

from collections.abc import Mapping, Sequence

from ...records import frozen
from . import javascript, python
from .python import CONSTANT, EMPTY, YES, Tree


@frozen
class Cheat:
    """A program to try the tests on: files (path to text) that are laid over the tree with the tests."""

    name: str
    files: Mapping[str, str]


def plan(tests: Mapping[str, str], tree: Tree, output: str) -> tuple[Cheat, ...]:
    """The cheats for new or changed tests (path to text); `output` is what the red proof printed."""
    found: dict[str, dict[str, str]] = {}
    for language in (python, javascript):
        own = {path: text for path, text in tests.items() if path.endswith(language.ENDINGS)}
        for name, files in (language.cheats(own, tree, output) if own else {}).items():
            found.setdefault(name, {}).update(files)
    return tuple(Cheat(name, found[name]) for name in (EMPTY, YES, CONSTANT) if found.get(name))


def judge_cheats(passed: Sequence[str]) -> str | None:
    """Why tests that passed with these cheats are weak, in words for the next attempt; None: with none of them."""
    if not passed:
        return None
    return (
        f"the new tests also pass with {' and with '.join(passed)}, so they prove little. "
        "Add cases that such a program fails: another input with another result, an edge, an error."
    )
