"""Runs are asked whether they live when something tells of a change, and otherwise now and then."""

import pytest

from nobrakes.beads.model import Bead, Outcome, Run, Status
from nobrakes.daemon.model import Board
from nobrakes.daemon.worker.loop import ASK_SECONDS
from tests.world.rates import Rates
from tests.world.world import World

CALM = Rates(fail=0, conflict=0, crash=0, trouble=0, people=0, machine=0, refuse=0, cut=0)


@pytest.fixture
def world() -> World:
    """Agents at work, whose daemon has asked all of them."""
    world = World(3, beads=0, rates=CALM)
    world.processes.loses = 1.0
    beads = [Bead(f"b{i}", f"B {i}", status=Status.NEEDS_DOER, needs_tests=False) for i in range(3)]
    world.store.put(beads, [], "me")
    while not (runs := world.store.runs()) or any(run.pid is None for run in runs):
        world.daemon.tick()
    world.daemon.tick(signs=set())
    return world


def asked(world: World, signs: set[str], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    usual = world.daemon._has_ended

    def has_ended(run: Run, board: Board) -> bool:
        found.append(run.id)
        return usual(run, board)

    with monkeypatch.context() as patched:
        patched.setattr(world.daemon, "_has_ended", has_ended)
        world.daemon.tick(signs=signs)
    return found


def test_only_those_are_asked_of_whose_change_something_tells(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [run.id for run in world.store.runs()]
    assert asked(world, set(), monkeypatch) == []
    assert asked(world, {runs[-1], "nothing-known"}, monkeypatch) == [runs[-1]]


def test_all_are_asked_after_a_while_though_nothing_tells(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.clock.pass_to(world.clock.steady() + ASK_SECONDS)
    assert asked(world, set(), monkeypatch) == [run.id for run in world.store.runs()]


def test_one_that_died_unnoticed_is_asked_before_it_is_stopped_and_is_not_blamed(world: World) -> None:
    one = world.store.runs()[0]
    world.processes.kill_wrapper(one.id, down=True)
    world.store.update_run(one.id, hard_deadline=world.clock.now() - 1)
    world.daemon.tick(signs=set())
    while one.id in {run.id for run in world.store.runs()}:
        world.daemon.tick(signs=set())
    assert world.store.attempt(one.attempt).outcome is Outcome.LOST


@pytest.mark.parametrize(("seed", "loses"), [(5, 1.0), *((seed, 0.1) for seed in range(200, 204))])
def test_promises_are_kept_though_signs_are_lost(seed: int, loses: float) -> None:
    world = World(seed, beads=5)
    world.processes.loses = loses
    world.run()
