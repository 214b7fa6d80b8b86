"""The same seed gives the same run, to the last event, in this process and in any other."""

import os
import subprocess
import sys

import pytest

from tests.world.rates import Rates
from tests.world.world import World


def history(seed: int) -> list[str]:
    world = World(seed)
    world.run()
    return world.log


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_same_seed_gives_the_same_log(seed: int) -> None:
    first = history(seed)
    assert len(first) > 50
    assert history(seed) == first


@pytest.mark.slow
def test_another_seed_gives_another_log() -> None:
    assert history(0) != history(1)


@pytest.mark.slow
def test_the_log_does_not_depend_on_how_strings_are_hashed() -> None:
    logs = []
    for hashing in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": hashing}
        argv = [sys.executable, "-m", "tests.world", "--seed", "3"]
        logs.append(subprocess.run(argv, env=env, capture_output=True, text=True, check=True).stdout)
    assert logs[0] == logs[1]
    assert len(logs[0].splitlines()) > 50


@pytest.mark.slow
def test_a_crash_every_few_calls_is_part_of_the_log() -> None:
    world = World(7, rates=Rates(crash=0.05))  # a start has about twenty calls: with more crashes, few starts end
    world.run(100)
    assert sum("CRASH" in line for line in world.log) == world.dice.crashes > 20
