"""Agents that are too much: bounded in time and memory, told, over; the daemon lives, and others' work lands.

NOBRAKES_HOSTILE: `all` lets each loose in each of the three places; without it each is let loose in one of them.
"""

import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from nobrakes.trash import clear
from tests.hostile.floods import FEW, FLOODS, LIMITS
from tests.hostile.test_hostile_doers import MODES, OPEN, Note, dose, works
from tests.support.arena import Arena
from tests.support.largest import Largest

MAX_SECONDS = 240
MAX_KILOBYTES = 200_000
"""Of the largest process of nobrakes itself, its git among them. What an agent makes in memory is the agent's."""


def flooded(tmp_path: Path, mode: str, names: Sequence[str], note: Note) -> None:
    if trouble := works(mode):
        pytest.skip(trouble)
    arena = Arena(tmp_path, mode)
    config = arena.root / ".nobrakes" / "config.toml"
    config.write_text(config.read_text().replace("max_failures = 1", LIMITS))
    began = time.monotonic()
    try:
        with Largest(arena.home) as largest:
            said = arena.let_loose({name: FLOODS[name] + "\n" for name in names})
        seconds = time.monotonic() - began
        statuses = arena.statuses()
        assert {name: statuses[name] for name in names if statuses[name] in OPEN} == {}, f"not over:\n{said[-3000:]}"
        assert arena.processes() == [], "not over"
        told = {found["bead"] for found in arena.ask("status")["escalations"] if found["detail"]}
        assert {name for name in names if statuses[name] != "done"} <= told, f"not told:\n{said[-3000:]}"
        assert "nobrakes itself failed" not in said
        assert seconds < MAX_SECONDS, "not bounded"
        assert largest.own[0] <= MAX_KILOBYTES, (
            f"not bounded: {largest.own}, where the runs' largest is {largest.others}"
        )
        arena.let_loose({"honest": "work"})
        assert arena.statuses()["honest"] == "done"
        assert arena.is_whole() == []
        landed = [path for _, _, paths in arena.landed() for path in paths]
        assert not any(path.startswith(("zz", "sparse", "src/zeros")) for path in landed)
        note("floods", (mode, len(names), round(seconds), largest.own[0] // 1024, largest.others[0] // 1024))
    finally:
        clear(str(arena.root), time.monotonic() + 300)  # pytest could not


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_no_flood_stops_the_daemon_or_lands(tmp_path: Path, mode: str, record_property: Note) -> None:
    flooded(tmp_path, mode, dose(list(FLOODS), mode), record_property)


def test_a_few_floods_behind_the_wall(tmp_path: Path, record_property: Note) -> None:
    flooded(tmp_path, "wall", FEW, record_property)


def test_there_are_enough_of_them() -> None:
    assert len(FLOODS) >= 30
