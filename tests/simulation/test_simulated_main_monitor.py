"""A merge that turns bad after it landed: the canary finds that one and no other, whatever is killed meanwhile."""

import random
from dataclasses import replace

import pytest

from nobrakes.beads.model import Status
from nobrakes.events.catalog import TABLE
from nobrakes.events.kinds import Event, Kind
from nobrakes.host.port import Command, Step
from nobrakes.review.main_monitor import Phase
from tests.world.agents import Script
from tests.world.fake_processes import AGENT
from tests.world.main_monitor import watch_of
from tests.world.people import ME
from tests.world.project import code_path
from tests.world.rates import Rates
from tests.world.world import World

CALM = Rates(fail=0, conflict=0, machine=0, trouble=0, people=0, refuse=0, cut=0, edits=0, crash=0)
KILLED = replace(CALM, crash=0.01, cut=0.05)


def fails() -> Script:
    yield 1.0
    return 1, "FAILED tests/test_later.t::test_1 - AssertionError\n====== 1 failed in 0.10s ======\n"


def spoil(world: World, path: str) -> None:
    """From now on the checks fail wherever this file is, whatever the tree says."""
    usual = world.processes.program

    def program(command: Command, step: Step) -> Script:
        if AGENT not in step.argv and path in world.git.clones.checked_out(command.cwd):
            return fails()
        return usual(command, step)

    world.processes.program = program


def until(world: World, kind: Kind, more: int = 1500) -> list[Event]:
    for _ in range(more):
        found = [event for event in world.store.events(0, 100_000) if event.kind is kind]
        if found:
            return found
        assert world.step(), "it came to rest before"
    raise AssertionError(f"{kind} never happened: {world.log[-20:]}")


def grown(seed: int, rates: Rates) -> World:
    """A world whose first tip was seen green, and whose beads are merged; the canary looks every twelve minutes."""
    world = World(seed, rates=rates)
    world.config = world.scene.config = replace(world.config, review=replace(world.config.review, main_check_hours=0))
    for bead in world.store.beads():
        world.store.record(Event(Kind.HELD, bead.id, actor=ME, data={"reason": "later"}))
    world.config = world.scene.config = replace(world.config, review=replace(world.config.review, main_check_hours=0.2))
    world._turns()
    until(world, Kind.MAIN_GREEN)
    world.config = world.scene.config = replace(
        world.config, review=replace(world.config.review, main_check_hours=1000)
    )
    for bead in world.store.beads():
        world.store.record(Event(Kind.RELEASED, bead.id, actor=ME))
        if bead.status is Status.DRAFT:
            world.store.approve([bead.id], ME)
    for _ in range(600):
        world.step()
        board = world.store.board(world.config.board_limits())
        if not (board.attempts or board.ready or board.to_review or world.store.runs()):
            break
    return world


@pytest.mark.parametrize("rates", [CALM, pytest.param(KILLED, marks=pytest.mark.ci)], ids=["calm", "killed"])
@pytest.mark.parametrize(
    "seed",
    [1, pytest.param(0, marks=pytest.mark.ci), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 4))],
)
def test_the_merge_that_turned_bad_is_taken_back_and_no_other(seed: int, rates: Rates) -> None:
    world = grown(seed, rates)
    merged = sorted(bead for bead in world.git.merged() if world.store.bead(bead).status is Status.DONE)
    merged = [bead for bead in merged if code_path(bead) in world.git.objects.tree_of(world.git.head)]
    assert merged
    bad = random.Random(seed).choice(merged)
    spoil(world, code_path(bad))
    world.config = world.scene.config = replace(world.config, review=replace(world.config.review, main_check_hours=0.2))
    world.clock.advance_to(world.clock.now() + 3600)
    world._turns()
    (found,) = until(world, Kind.CULPRIT_FOUND)
    assert found.data["why"] in ("merge", "conflict"), found
    reverted = [event.bead for event in world.store.events(0, 100_000) if event.kind is Kind.REVERTED]
    if found.data["why"] == "merge":
        until(world, Kind.MAIN_UNFROZEN)
        assert reverted == [bad] and code_path(bad) not in world.git.objects.tree_of(world.git.head)
        assert world.store.bead(bad).status is Status.ESCALATED
        assert world.store.setting("frozen") is None
        for kind in (Kind.MAIN_GREEN, Kind.MAIN_FROZEN, Kind.MAIN_UNFROZEN, Kind.CULPRIT_FOUND):
            assert {key for event in until(world, kind) for key in event.data} == set(TABLE[kind].keys)
    else:
        assert reverted == [] and world.store.setting("frozen")


@pytest.mark.slow
def test_a_daemon_that_is_stopped_in_the_search_leaves_it_to_the_next_one() -> None:
    world = grown(1, CALM)
    bad = sorted(world.git.merged())[-1]
    spoil(world, code_path(bad))
    world.config = world.scene.config = replace(world.config, review=replace(world.config.review, main_check_hours=0.2))
    world.clock.advance_to(world.clock.now() + 3600)
    world._turns()
    until(world, Kind.MAIN_FROZEN)
    for _ in range(6):
        world._stop()
        assert not [child for child in world.processes.living() if child.run.startswith("canary")] or world.step()
        if watch_of(world.store).phase is Phase.REST:
            break
        world.step()
        world.step()
    assert [event.bead for event in until(world, Kind.REVERTED)] == [bad]


@pytest.mark.slow
def test_a_pause_starts_no_run_and_the_search_goes_on_after_it() -> None:
    world = grown(2, CALM)
    bad = sorted(world.git.merged())[0]
    spoil(world, code_path(bad))
    world.config = world.scene.config = replace(world.config, review=replace(world.config.review, main_check_hours=0.2))
    world.clock.advance_to(world.clock.now() + 3600)
    world._turns()
    until(world, Kind.MAIN_FROZEN)
    world.people.pause()
    begun = watch_of(world.store).commit
    for _ in range(100):  # what runs already comes to its end
        world.step()
        if not begun or watch_of(world.store).commit != begun:
            break
    before = watch_of(world.store)
    for _ in range(10):
        world.step()
    assert watch_of(world.store) == before and before.commit == "" and not world.daemon.monitor.is_at_work()
    world.people.resume()
    world._turns()
    until(world, Kind.MAIN_UNFROZEN)
    assert [event.bead for event in until(world, Kind.REVERTED)] == [bad]


@pytest.mark.slow
def test_where_everything_fails_nobody_is_blamed_and_main_thaws_when_it_is_mended() -> None:
    world = grown(1, CALM)
    usual = world.processes.program
    spoil(world, "src/base.py")
    world.config = world.scene.config = replace(world.config, review=replace(world.config.review, main_check_hours=0.2))
    world.clock.advance_to(world.clock.now() + 3600)
    world._turns()
    until(world, Kind.MAIN_FROZEN)
    for _ in range(20):
        world.step()
    assert world.store.setting("frozen") and watch_of(world.store).phase is Phase.REST
    world.processes.program = usual
    until(world, Kind.MAIN_UNFROZEN)
    assert world.store.setting("frozen") is None
    assert not [event for event in world.store.events(0, 100_000) if event.kind is Kind.REVERTED]


@pytest.mark.slow
def test_another_database_takes_no_earlier_run_for_its_own() -> None:
    world = grown(3, CALM)
    first = watch_of(world.store)
    world.store.set_setting("canary", None)
    world.daemon = world._boot()
    world.config = world.scene.config = replace(world.config, review=replace(world.config.review, main_check_hours=0.2))
    for _ in range(40):
        world.step()
    later = watch_of(world.store)
    assert later.green and later.run != first.run and later.serial > first.serial
