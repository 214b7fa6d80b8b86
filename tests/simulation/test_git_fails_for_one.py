"""Where git fails for one bead alone, that one waits and is asked about; the others go on meanwhile."""

import pytest

from nobrakes.beads.model import Bead, Status
from nobrakes.decisions.model import Escalation, EscalationType
from nobrakes.errors import GitFailed
from tests.world.rates import Rates
from tests.world.world import World

KIND = Rates(fail=0, conflict=0, machine=0, crash=0, trouble=0, people=0, refuse=0, cut=0, edits=0)


def failing_for(world: World, bead: str, times: float = float("inf")) -> list[float]:
    """When git failed to take in what was handed in for this bead."""
    take_in, met = world.git.fetch_work, list[float]()

    def taken_in(one: Bead, fence: int) -> str | None:
        if one.id == bead and len(met) < times:
            met.append(world.store.now())
            raise GitFailed("the repository has no commit 99ceaa48")
        return take_in(one, fence)

    world.git.fetch_work = taken_in  # type: ignore[method-assign]
    return met


def told(world: World, bead: str) -> list[Escalation]:
    """What a person was asked about it since nobrakes could not go on."""
    found = world.store.escalations(open_only=False)
    return [one for one in found if one.bead == bead and one.type is EscalationType.NOBRAKES_FAILED]


def test_the_others_go_on_and_a_person_is_asked_about_that_one() -> None:
    world = World(3, rates=KIND)
    bead = next(one.id for one in world.store.beads([Status.NEEDS_TESTS, Status.NEEDS_DOER]))
    met = failing_for(world, bead)
    asked, done = list[str](), 0
    world._turns()
    for _ in range(4000):
        if not world.step():
            break
        asked = [one.detail for one in told(world, bead)]
        done = world.store.counts().get("done", 0)
        if asked and done > 1:
            break
    assert done > 1, "the others went on"
    assert asked and "99ceaa48" in asked[0] and "Traceback" not in asked[0]
    assert len(met) < 60, "it is tried less and less often"


@pytest.mark.ci
def test_what_passes_asks_nobody() -> None:
    world = World(3, rates=KIND)
    bead = next(one.id for one in world.store.beads([Status.NEEDS_TESTS, Status.NEEDS_DOER]))
    assert len(failing_for(world, bead, 3)) == 0
    world.run()
    assert world.store.bead(bead).status is Status.DONE
    assert told(world, bead) == []
