"""A merge that waits long for a person's edits is told once as an escalation, which resolves itself."""

import pytest

from nobrakes.beads.model import Run
from nobrakes.daemon.model import Board
from nobrakes.decisions.model import Escalation, EscalationType
from nobrakes.errors import GitFailed
from nobrakes.events.kinds import Kind
from tests.world.project import code_path
from tests.world.rates import Rates
from tests.world.world import World

KIND = Rates(fail=0, conflict=0, machine=0, crash=0, trouble=0, people=0)


def behind(world: World, open_only: bool = True) -> list[Escalation]:
    found = world.store.escalations(open_only)
    return [one for one in found if one.type is EscalationType.CHECKOUT_BEHIND]


@pytest.mark.slow
def test_a_merge_that_waits_long_for_edits_is_told_once_and_resolves_itself() -> None:
    world = World(1, rates=KIND)
    world.git.edited |= {code_path(bead.id) for bead in world.store.beads()}
    world._turns()
    while not behind(world):
        assert world.step()
    (told,) = behind(world)
    assert "edits in the way" in told.detail
    for _ in range(50):
        world.step()
    assert [one.id for one in behind(world, open_only=False)] == [told.id]
    world.git.edited.clear()
    while world.step():
        pass
    assert behind(world) == [] and world.store.counts()["done"]
    resolved = [event for event in world.store.events(0, 100_000) if event.kind is Kind.RESOLVED]
    assert ("nobrakes", told.id) in [(event.actor, event.data["escalation"]) for event in resolved]


@pytest.mark.slow
def test_tests_that_are_not_red_are_told_as_such() -> None:
    kinds = set()
    for seed in range(12):
        world = World(seed, rates=Rates(fail=0.6, crash=0, trouble=0, people=0))
        world.run()
        kinds |= {e.kind for e in world.store.events(0, 100_000) if e.data.get("outcome") == "not_red"}
    assert kinds == {Kind.TESTS_REJECTED}


def test_a_checkout_that_comes_to_main_while_the_daemon_pauses_follows_a_merge() -> None:
    world = World(1, rates=KIND)
    closes, checkout = world.daemon.performer.ended, world.git.checkout
    checkout.is_away, checkout.comes_late = True, lambda: True

    def pauses(run: Run, board: Board) -> None:
        world.daemon.troubles.pause(GitFailed("it failed"))
        closes(run, board)

    world.daemon.performer.ended = pauses  # type: ignore[method-assign]
    world._turns()
    while not world.git.landings:
        assert world.step()
    assert world.daemon.troubles.until > world.clock.now() and not checkout.is_away
    assert checkout.at == world.git.head
