"""What `nobrakes init` says of the tests: which tracked files they are, and what the runner collects besides.

Nothing is run unless a person asked for it: a runner that lists its tests imports the project. It runs behind the wall,
writes nothing of the repository, and is not started where there is no wall.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from ...config.settings import Config
from ...core.checks.collected import listed, listing
from ...core.checks.contract import Check
from ...core.checks.test_layout import LARGEST, layout, unclear
from ...core.globs import matches
from ...git.discovery import tracked
from ...host.probing import output_of
from ...host.probing import trouble as why_not
from ...sandbox import wall
from .detected import read

SHOWN = 5
"""So many globs, and so many files outside of them, are named."""


@dataclass(frozen=True, slots=True)
class TestsFound:
    """How many tracked files are tests, the globs that they have, and what a person should know."""

    count: int
    globs: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    def told(self) -> str:
        """In one line: tests: 14 files (tests/**, *_test.go)."""
        shown = ", ".join(self.globs[:SHOWN]) + (", …" if len(self.globs) > SHOWN else "")
        return f"tests: {self.count} file{'' if self.count == 1 else 's'}" + (f" ({shown})" if shown else "")


def find_tests(root: str, config: Config, checks: Sequence[Check], collect: bool = False) -> TestsFound:
    """The tests of the repository in `root`. `collect`: also by what its runners list."""
    paths = frozenset(tracked(root))
    globs = config.boundaries.tests
    if not globs:
        texts = {path: text for path in unclear(paths) if (text := read(root, path)) is not None}
        globs = layout(paths, frozenset((path, text[:LARGEST]) for path, text in texts.items())).tests
    found = {path for path in paths if matches(path, globs)}
    used = tuple(glob for glob in globs if any(matches(path, (glob,)) for path in found))
    warnings = []
    if paths and not found and any(check.kind == "test" for check in checks):
        warnings.append("no tracked file is a test: if there are some, name them in boundaries.tests of config.toml")
    for check in checks if collect else ():
        warnings += _outside(root, check, globs)
    return TestsFound(len(found), used, tuple(warnings))


def _outside(root: str, check: Check, globs: tuple[str, ...]) -> list[str]:
    """What the check's runner collects, and no glob covers."""
    how = listing(check)
    if how is None:
        return []
    text, trouble = "", wall.platform_trouble() or why_not(wall.probe(root))
    if not trouble:
        text, trouble = output_of(wall.wrap(how.argv, wall.Wall((root,), ())), os.path.join(root, how.directory))
    if trouble:
        return [f"what the check '{check.name}' collects could not be listed: {trouble}"]
    collected = listed(how.runner, text, os.path.realpath(root), how.directory)
    if not collected:
        return [f"the check '{check.name}' collects no test"]
    left = [path for path in collected if not matches(path, globs)]
    warnings = [f"{path} is collected by the check '{check.name}', and boundaries.tests leaves it out" for path in left]
    more = len(left) - SHOWN
    return warnings[:SHOWN] + ([f"so are {more} more files"] if more > 0 else [])
