"""Agents that are too much: bounded in time and memory, told, over; the daemon lives, and others' work lands.

NOBRAKES_HOSTILE: `all` lets each loose in each of the three places; without it each is let loose in one of them.
"""

import resource
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from nobrakes.trash import clear
from tests.hostile.floods import FEW, FLOODS, LIMITS
from tests.hostile.test_hostile_doers import MODES, OPEN, dose, works
from tests.support.arena import Arena

MOST_SECONDS = 240
MOST_KILOBYTES = 1_200_000
"""Of the largest process: an agent's own count too, and one of them makes its flood in memory."""


def flooded(tmp_path: Path, mode: str, names: Sequence[str]) -> None:
    if trouble := works(mode):
        pytest.skip(trouble)
    arena = Arena(tmp_path, mode)
    config = arena.root / ".nobrakes" / "config.toml"
    config.write_text(config.read_text().replace("max_failures = 1", LIMITS))
    began = time.monotonic()
    # the largest child of this whole process so far: another test's may have been larger than ours may be
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    try:
        said = arena.let_loose({name: FLOODS[name] + "\n" for name in names})
        statuses = arena.statuses()
        wrong = {name: statuses[name] for name in names if statuses[name] in OPEN}
        assert wrong == {}, said[-3000:]
        assert "nobrakes itself failed" not in said
        arena.let_loose({"honest": "work"})
        assert arena.statuses()["honest"] == "done"
        assert arena.is_whole() == []
        assert arena.processes() == []
        assert time.monotonic() - began < MOST_SECONDS
        assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss <= max(before, MOST_KILOBYTES)
        landed = [path for _, _, paths in arena.landed() for path in paths]
        assert not any(path.startswith(("zz", "sparse", "src/zeros")) for path in landed)
    finally:
        clear(str(arena.root), time.monotonic() + 300)  # pytest could not


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_no_flood_stops_the_daemon_or_lands(tmp_path: Path, mode: str) -> None:
    flooded(tmp_path, mode, dose(list(FLOODS), mode))


def test_a_few_floods_behind_the_wall(tmp_path: Path) -> None:
    flooded(tmp_path, "wall", FEW)


def test_there_are_enough_of_them() -> None:
    assert len(FLOODS) >= 30
