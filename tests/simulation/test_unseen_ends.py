"""Agents that kill what runs them, again and again: nobody's fault at first, and never without end."""

import pytest

from nobrakes.beads.model import Outcome, Status
from nobrakes.decisions.model import EscalationType
from nobrakes.events.kinds import Event, Kind
from tests.support.dose import everyday
from tests.world.people import ME
from tests.world.rates import Rates
from tests.world.world import World

CALM = Rates(fail=0, conflict=0, machine=0, trouble=0, people=0, refuse=0, cut=0, edits=0, crash=0)


def killed_again_and_again(seed: int, mixed: bool) -> tuple[World, str]:
    """A world in which one bead's agents kill what runs them whenever one is seen at work, and that bead."""
    world = World(seed, rates=CALM)
    one = next(bead for bead in world.store.beads() if bead.status is Status.NEEDS_TESTS)
    for bead in world.store.beads():
        if bead.id != one.id:
            world.store.record(Event(Kind.HELD, bead.id, actor=ME, data={"reason": "later"}))
    world._turns()
    killed = stops = 0
    for _ in range(300):
        if world.store.bead(one.id).status is Status.ESCALATED or not world.step():
            break
        agents = [child for child in world.processes.living() if child.is_agent and child.begun]
        if agents and mixed and stops < killed:
            stops += 1
            world._stop()
            world._turns()  # the daemon that was started then
        elif agents:
            killed += 1
            world.processes.kill_wrapper(agents[0].run, down=True)
            world._turns()
    return world, one.id


@pytest.mark.parametrize("mixed", everyday(False, ci=[True]), ids=["each-time", "with-stops-in-between"])
def test_who_kills_its_wrapper_is_not_tried_for_ever(mixed: bool) -> None:
    for seed in range(5, 40):
        world, one = killed_again_and_again(seed, mixed)
        outcomes = [attempt.outcome for attempt in world.store.attempts(one)]
        asked = [escalation.type for escalation in world.store.escalations(bead=one)]
        if outcomes and Outcome.COMPLETED not in outcomes and EscalationType.BREAKER_OPEN not in asked:
            break  # in this world none was too quick to be caught, and nothing else stopped the bead before
    assert world.store.bead(one).status is Status.ESCALATED, outcomes
    limit = world.config.limits.max_failures
    assert 2 <= outcomes.count(Outcome.LOST) <= 4, "twice in each role"
    assert outcomes.count(Outcome.KILLED) == limit, outcomes
    assert "repeated_failure" in [asked.type.value for asked in world.store.escalations(bead=one)]
