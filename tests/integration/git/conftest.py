import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "contracts" / "git"))

from git_worlds import RealWorld, bead

from nobrakes.beads.model import Bead


@pytest.fixture
def world(tmp_path: Path) -> Iterator[RealWorld]:
    made = RealWorld(tmp_path)
    yield made
    made.close()


@pytest.fixture
def begin(world: RealWorld) -> Callable[..., Bead]:
    def make(name: str = "login") -> Bead:
        made = bead(name)
        world.prepare(world.git.workspace(made, world.git.main(), "Ada").prologue)
        return made

    return make
