"""Whether the tests of a tree prove less than before: fewer of them, more that are skipped, fewer assertions.

1. Numbers are those that the checks told; assertions are counted in the touched test files (core.checks.assertions).
2. A scaffolding bead may take tests away; nobody else.
"""

from collections.abc import Mapping
from typing import Any

from ...core.beads.bead import Role
from ...core.checks.assertions import fewer
from ...core.checks.contract import weaker
from ...core.errors import FileTooLarge
from ...core.globs import matches
from ..checks.validation import counts_of
from ..ports import Ports

LARGEST = 1_000_000
"""Bytes of a test file that are looked at."""


def proves_less(
    ports: Ports, base: str, head: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> str | None:
    """Why `head` proves less than `base`, by their recorded results and their test files; None: it does not."""
    return weaker(counts_of(before), counts_of(after)) or fewer_assertions(ports, base, head)


def fewer_assertions(ports: Ports, base: str, head: str) -> str | None:
    """Which test files of `head` assert less than in `base`, with the numbers; None: none does."""
    globs = ports.config().within(ports.git, base, Role.TEST_WRITER, head).boundary().tests
    paths = [change.path for change in ports.git.changes(base, head) if matches(change.path, globs)]
    try:
        lost = fewer(_texts(ports, base, paths), _texts(ports, head, paths))
    except FileTooLarge as error:
        return f"what a test asserts cannot be counted: {error}"
    return "assertions were removed: " + "; ".join(map(str, lost)) if lost else None


def _texts(ports: Ports, commit: str, paths: list[str]) -> dict[str, str]:
    """The files that are there, as far as they are text."""
    found = {path: content for path in paths if (content := ports.git.read(commit, path)) is not None}
    return {path: content[:LARGEST].decode("utf-8", "replace") for path, content in found.items()}
