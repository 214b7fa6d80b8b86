from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from git_worlds import WORLDS, GitWorld, bead

from nobrakes.beads.model import Bead


@pytest.fixture(params=list(WORLDS))
def git_world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[GitWorld]:
    made = WORLDS[request.param](tmp_path)
    yield made
    made.close()


@pytest.fixture
def begin(git_world: GitWorld) -> Callable[..., Bead]:
    """Make a bead's workspace at main (or elsewhere) and return the bead."""

    def make(name: str = "login", start: str | None = None) -> Bead:
        made = bead(name)
        git_world.prepare(git_world.git.workspace(made, start or git_world.git.main(), "Ada").prologue)
        return made

    return make
