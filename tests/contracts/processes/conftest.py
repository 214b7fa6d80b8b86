"""The fixtures of the suite for ports.Processes: every world, or this machine's alone."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contracts.processes.process_worlds import WORLDS, LocalWorld, World


@pytest.fixture(params=sorted(WORLDS))
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    made = WORLDS[request.param](tmp_path)
    yield made
    made.close()


@pytest.fixture
def local(tmp_path: Path) -> Iterator[LocalWorld]:
    made = LocalWorld(tmp_path)
    yield made
    made.close()
