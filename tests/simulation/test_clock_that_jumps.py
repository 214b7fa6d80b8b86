"""The wall clock is set by hours, forwards and backwards, and machines sleep: nobody is blamed, nothing waits for ever."""

from dataclasses import replace

import pytest

from nobrakes.beads.model import TABLE, BeadType, Status
from tests.world.people import ME
from tests.world.rates import Rates
from tests.world.world import World

CALM = Rates(fail=0, conflict=0, machine=0, trouble=0, people=0, refuse=0, cut=0, edits=0, crash=0)
HOUR = 3600.0


def world_of(seed: int, rates: Rates) -> World:
    world = World(seed, rates=rates)
    for bead in world.store.beads():
        if bead.status is Status.DRAFT:
            world.store.approve([bead.id], ME)
    world._turns()
    return world


def blamed(world: World) -> list[str]:
    ended = [one for bead in world.store.beads() for one in world.store.attempts(bead.id) if one.outcome is not None]
    return [f"{one.bead}: {one.outcome}" for one in ended if one.outcome is not None and TABLE[one.outcome].counts]


@pytest.mark.slow
@pytest.mark.parametrize("jump", [5 * HOUR, -5 * HOUR, 240.0, -240.0])
@pytest.mark.parametrize("is_away", [False, True], ids=["at-work", "while-no-daemon-works"])
def test_a_jump_in_the_middle_of_work_blames_nobody(jump: float, is_away: bool) -> None:
    world = world_of(3, CALM)
    jumps = 0
    for number in range(400):
        if number % 7 == 3:
            world.clock.jump(jump if number % 2 else -jump)
            jumps += 1
            if is_away:
                world.daemon = world._boot()
        if not world.step():
            break
    assert jumps > 5 and blamed(world) == []
    assert {bead.status for bead in world.store.beads()} == {Status.DONE}


@pytest.mark.ci
def test_what_waits_for_a_retry_does_not_wait_for_hours_when_the_clock_goes_back() -> None:
    world = first_that_waits_for_a_retry()
    world.dice.calm()
    world.rates = replace(world.rates, machine=0.0)
    before = world.clock.steady()
    world.clock.jump(-10 * HOUR)
    for _ in range(1000):
        if not world.step():
            break
    open_ = [bead for bead in world.store.beads() if bead.status is not Status.DONE and bead.type is not BeadType.EPIC]
    assert all(bead.status is Status.ESCALATED for bead in open_), "an epic that has no beads stays open"
    assert world.clock.steady() - before < 3 * HOUR


def first_that_waits_for_a_retry() -> World:
    """Of a few worlds the first in which, soon, a bead waits for its retry."""
    for seed in range(4, 9):
        world = world_of(seed, replace(CALM, machine=0.6))
        for _ in range(5):
            world.step()
            if world.store.board(world.config.board_limits()).retry_at is not None:
                return world
    raise AssertionError("in none of these worlds a bead waits for its retry")


def test_what_was_measured_before_a_jump_is_measured_on() -> None:
    world = world_of(3, CALM)
    world.step()
    (before, *_) = world.store.runs()
    world.clock.jump(-5 * HOUR)
    world._turns()
    after = next(run for run in world.store.runs() if run.id == before.id)
    assert after.active_at - before.active_at == pytest.approx(-5 * HOUR, abs=120)
    assert not before.hard_deadline or after.hard_deadline - before.hard_deadline == pytest.approx(-5 * HOUR)
    assert [notice for notice in world.scene.notes.told if "clock jumped" in notice.text]
    bead = next(bead for bead in world.store.beads() if bead.lease_until is not None)
    assert bead.lease_until is not None and bead.lease_until - world.clock.now() < HOUR


@pytest.mark.parametrize(
    "seed",
    [1, pytest.param(0, marks=pytest.mark.ci), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6))],
)
def test_every_promise_is_kept_while_the_clock_jumps(seed: int) -> None:
    World(seed, rates=Rates(people=0, jump=0.1)).run(steps=120)


def test_the_checker_moves_a_closed_gate_along_with_a_clock_that_went_back() -> None:
    observed = world_of(3, CALM).scene.observed
    observed.closed_until["one"] = 1000.0
    observed.jumped(HOUR)
    assert observed.closed_until == {"one": 1000.0}
    observed.jumped(-400.0)
    assert observed.closed_until == {"one": 600.0}
