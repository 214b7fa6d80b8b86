"""The Reviewer is killed between any two calls of its doors, once and twice, on real git and a real database.

Every commit on main passes, no bead is lost or lands twice, a bad one is blamed once, no lock stays, and each kill costs
one validation at most. NOBRAKES_KILLS_AT=all tries every single kill and every pair, NOBRAKES_KILLS_AT=steps every pair
between two steps; else a part of them is drawn, anew for each code that has other steps.
"""

import os
import random
import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from tests.support.crashed_review import STEPS, Reviews

SINGLES = int(os.environ.get("NOBRAKES_SINGLES", "15"))
PAIRS = int(os.environ.get("NOBRAKES_PAIRS", "3"))
"""How many single kills and pairs are drawn; 500 pairs are 1,000 kills."""
ALL = os.environ.get("NOBRAKES_KILLS_AT", "")
WORKS = (("one", "src-one"), ("two", "bad-two"), ("three", "src-three"))
MODES: dict[str, dict[str, Any]] = {"each": {"validators": 2}, "batch": {"every_commit_green": False}}


def reviewed(folder: Path, mode: str, moments: Collection[int] = (), only: Collection[str] = ()) -> Reviews:
    world = Reviews(folder, moments, only, main_check_hours=0, **MODES[mode])
    world.hand_in(*WORKS)
    world.review()
    return world


def sound(world: Reviews, usual: int) -> None:
    world.assert_sound(good=("one", "three"), bad=("two",))
    assert len(world.runs) <= usual + world.dice.crashes, "a kill costs one validation at most"


def drawn(plain: Reviews, moments: list[Any], count: int, name: str = "all") -> list[Any]:
    """So many of the moments; all of them where that was asked for, by this name."""
    if ALL in ("all", name):
        return moments
    return random.Random(str(plain.dice.names)).sample(moments, count)


@pytest.mark.parametrize("mode", list(MODES))
def test_work_is_reviewed_on_real_git_and_a_real_database(tmp_path: Path, mode: str) -> None:
    world = reviewed(tmp_path, mode)
    sound(world, len(world.runs))
    assert world.dice.moment > 100 and world.dice.crashes == 0


def test_what_came_to_main_before_is_recorded_before(tmp_path: Path) -> None:
    """The daemon is killed when the first merge has moved main, and the second one's run is over by then."""
    world = Reviews(tmp_path, {1}, ("after git.land",), main_check_hours=0, validators=2)
    world.dead_seconds, world.check_seconds = 5.0, {"src-two": 3.0}
    world.hand_in(("one", "src-one"), ("two", "src-two"))
    world.review()
    assert world.dice.crashes == 1 and world.landed() == ["one", "two"]
    world.assert_sound(good=("one", "two"), bad=())


@pytest.mark.slow
@pytest.mark.parametrize("mode", list(MODES))
def test_a_kill_at_any_step_breaks_nothing(tmp_path: Path, mode: str) -> None:
    plain = reviewed(tmp_path / "plain", mode)
    for moment in drawn(plain, list(range(1, plain.dice.moment + 1)), SINGLES):
        world = reviewed(tmp_path / str(moment), mode, {moment})
        assert world.dice.crashes == 1, world.dice.names[-1]
        sound(world, len(plain.runs))


@pytest.mark.slow
@pytest.mark.parametrize("only", [(), STEPS], ids=["all", "steps"])
@pytest.mark.parametrize("mode", list(MODES))
def test_two_kills_at_any_steps_break_nothing(tmp_path: Path, mode: str, only: Collection[str]) -> None:
    plain = reviewed(tmp_path / "plain", mode, (), only)
    every = [(one, two) for one in range(1, plain.dice.moment + 1) for two in range(one + 1, one + plain.dice.moment)]
    for number, (one, two) in enumerate(drawn(plain, every, PAIRS, "steps" if only else "all")):
        sound(reviewed(tmp_path / str(number), mode, {one, two}, only), len(plain.runs))
        shutil.rmtree(tmp_path / str(number))
