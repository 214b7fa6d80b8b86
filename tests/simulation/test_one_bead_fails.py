"""A bug of the program that is met in what is about one bead: that bead is parked, and everything else completes."""

import pytest

from nobrakes.core.beads.bead import CLOSED, Status
from nobrakes.core.beads.escalations import EscalationType
from nobrakes.core.beads.events import Event, Kind
from nobrakes.core.beads.outcomes import Outcome
from nobrakes.simulate.people import ME
from nobrakes.simulate.rates import Rates
from nobrakes.simulate.stumbling import BUGS
from nobrakes.simulate.world import World
from tests.support.dose import each_dosed

CALM = Rates(fail=0, conflict=0, machine=0, trouble=0, people=0, refuse=0, cut=0, edits=0, crash=0, stumble=1)


@pytest.mark.parametrize("seed", range(4))
def test_it_is_parked_and_all_that_does_not_need_it_is_done(seed: int) -> None:
    world = World(seed, rates=CALM)
    world.run()
    one, store = world.scene.stumbling.bead, world.store
    asked = store.escalations(bead=one)
    assert [escalation.type for escalation in asked] == [EscalationType.NOBRAKES_FAILED], "it names its bead"
    assert any(str(bug) in asked[0].detail for bug in BUGS), "with the traceback"
    assert store.bead(one).status is Status.ESCALATED
    left = {bead.id for bead in store.beads() if bead.status not in (*CLOSED, Status.OPEN)}
    waiting = {one} | {bead for bead in left if world.scene.observed.obstacles(bead)}
    assert left == waiting, "nobody else is kept from its end"


def test_the_second_time_it_is_held_and_released_it_is_tried_again() -> None:
    world = World(1, rates=CALM)
    one, store = world.scene.stumbling.bead, world.store
    world.run()
    store.resolve(store.escalations(bead=one)[0].id, "once more", ME)
    world.run()
    assert [a.outcome for a in store.attempts(one)].count(Outcome.NOBRAKES_FAILED) == 2
    assert "nobrakes itself failed on it 2 times" in str(store.bead(one).held)
    world.scene.stumbling.chance = 0.0  # it is mended
    store.resolve(store.escalations(bead=one)[0].id, "mended", ME)
    store.record(Event(Kind.RELEASED, one, actor=ME))
    world.run()
    assert store.bead(one).status is Status.DONE


@pytest.mark.parametrize("seed", each_dosed("stumbling", range(12), parts=4))
def test_whatever_else_fails_the_promises_hold(seed: int) -> None:
    World(seed, rates=Rates(stumble=0.3)).run()


def test_a_start_that_fails_holds_no_place_of_the_shared_machine() -> None:
    """Its start was cut off by a crash, and failed when it was done again (seed 22)."""
    World(22, rates=Rates(stumble=0.3)).run()
