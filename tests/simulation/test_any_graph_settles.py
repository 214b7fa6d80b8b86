"""Whatever the plan, the agents, the machine and the people do: every promise holds at every step, and all settles.

A failing seed prints its replay: python -m tests.world --seed N
SIMULATION_SEEDS: how many seeds the night's dose has, of which CI runs a third; SIMULATION_BEADS: how many beads the
largest world has (2,000 take about four minutes: `python -m tests.world --beads 2000 --crash 0.0005 --stop 0.001`).
"""

import os

import pytest

from tests.support.dose import each_dosed, everyday
from tests.world.rates import Rates
from tests.world.world import World

SEEDS = 10
EVERYDAY = 2
"""The seed of the everyday gates, one of the quickest."""
DOSE = int(os.environ.get("SIMULATION_SEEDS", "50"))
TOGETHER = 10
"""So many seeds are one test."""

FOUND = (
    140,  # main was away for a moment, and a candidate stood on itself
    208,  # nobody knew whether a merge was taken back
    748,  # the work failed, and main could not be checked
    515,  # a validation's start failed, and the next review in the turn did not hear of it
    257,  # the checks were edited while main was validated, and the evidence told of the first run
)


@pytest.mark.parametrize("seed", everyday(EVERYDAY, ci=[*(seed for seed in range(SEEDS) if seed != EVERYDAY), *FOUND]))
def test_any_graph_settles_whatever_fails(seed: int) -> None:
    World(seed).run()


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed",
    [
        3,  # a push was followed, and the checkout was not brought along
        25,  # a person took a revert off main, and its bead was on main again
        144,  # a start wrote the record of a merge while main was still to be run again
    ],
)
def test_people_who_stage_and_commit_lose_nothing(seed: int) -> None:
    World(seed, rates=Rates(staging=10, people=0.5, crash=0.01)).run()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "rates"),
    [
        (28, Rates(approvals=1, crash=0.01)),  # the only bead of an epic was cancelled, and no list had the epic
        (216, Rates(approvals=1)),  # a bead was released during a turn, and the world looked at the board before it
    ],
)
def test_where_people_look_before_a_merge_what_waits_for_them_is_in_a_list(seed: int, rates: Rates) -> None:
    World(seed, rates=rates).run()


@pytest.mark.parametrize("seed", each_dosed("kind", range(5), parts=4))
def test_in_a_kind_world_everything_gets_done(seed: int) -> None:
    world = World(seed, rates=Rates(fail=0, conflict=0, machine=0, crash=0, trouble=0, people=0))
    world.run()
    left = [bead.id for bead in world.store.beads() if bead.status.value not in ("done", "open")]
    assert not left


@pytest.mark.night
def test_a_large_graph_settles() -> None:
    world = World(1, beads=int(os.environ.get("SIMULATION_BEADS", "200")), rates=Rates(crash=0.0005, stop=0.001))
    world.run()
    assert any(bead.status.value == "done" for bead in world.store.beads())


@pytest.mark.parametrize("first", each_dosed("seeds from", range(SEEDS, SEEDS + DOSE, TOGETHER)))
def test_many_graphs_settle(first: int) -> None:
    for seed in range(first, first + TOGETHER):
        World(seed, beads=4 + seed % 12).run()


@pytest.mark.night
@pytest.mark.parametrize("seed", range(2000, 2008))
def test_a_machine_that_hardly_lives_still_settles(seed: int) -> None:
    # with more a turn, which is some fifty calls, hardly ever comes to its end
    World(seed, rates=Rates(crash=0.08, trouble=0.02, fail=0.3, conflict=0.3, machine=0.1)).run()


@pytest.mark.ci
def test_a_remote_that_protects_main_is_mended_and_tried_again() -> None:
    for seed in range(1, 9):  # as many worlds as it takes until a person mends one
        world = World(seed, rates=Rates(protects=0.3, people=0.3, crash=0.0005))
        world.run()
        if "a person mended the rules of the remote" in "\n".join(world.log):
            return
    pytest.fail("no person mended a remote")
