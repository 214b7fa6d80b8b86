"""People merge the request of an epic when more of it has landed, and before that is pushed: only what it had is done."""

from dataclasses import replace

import pytest

from nobrakes.beads.lifecycle import live
from nobrakes.beads.model import Bead, Status
from nobrakes.requests.model import PullState
from tests.world.fake_code_host import WAYS
from tests.world.people import ME
from tests.world.rates import Rates
from tests.world.world import World

CALM = Rates(
    requests=1.0, epics=1.0, fail=0, conflict=0, machine=0, trouble=0, people=0, refuse=0, cut=0, edits=0, crash=0
)
EPIC = "e1"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("diverged", ["merge", "rebase"])
def test_what_landed_since_the_push_is_not_done_by_that_merge(diverged: str, way: str) -> None:
    world, git = (world := World(2, beads=0, rates=CALM)), world.scene.requested
    assert git is not None
    review = replace(world.config.review, unit="epic", diverged=diverged, features={})
    world.config = world.scene.config = replace(world.config, review=review)

    def work(name: str) -> None:
        world.store.put([live(Bead(name, f"Bead {name}", epic=EPIC, needs_tests=False))], [], ME)
        world._turns()

    work("early")
    while not git.host.open_ones():
        assert world.step()
    (request,) = git.host.open_ones()
    meet = git.meet

    def merged_before(call: str) -> None:
        if call == "push" and request.state is PullState.OPEN:
            git.host.merge(request.number, way)
            git.people_did()
        meet(call)

    git.meet = merged_before
    work("late")
    while world.store.bead("early").status is not Status.DONE:
        assert world.step()
    assert world.store.bead("late").status is Status.LANDED
    world.run()
    assert world.store.bead("late").status is Status.DONE and len(git.host.requests) == 2
