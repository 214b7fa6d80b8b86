"""While a bead's clone is being archived beside the loop, nobody starts on the bead."""

from nobrakes.beads.model import Bead, Status
from nobrakes.notices.worker import retiring
from tests.world.rates import Rates
from tests.world.world import World

CALM = Rates(fail=0, crash=0, trouble=0, people=0, machine=0)


def test_a_bead_whose_clone_is_being_archived_waits() -> None:
    world = World(5, beads=1, rates=CALM)
    world.store.put([Bead("again", "Opened again", status=Status.NEEDS_DOER, needs_tests=False)], [], "me")
    archived: list[str] = []
    world.background._put_off = 1.0
    world.background.begin(retiring("again"), lambda: archived.append("again"))

    world.daemon.tick()
    assert world.store.bead("again").status is Status.NEEDS_DOER
    assert archived == []

    world.background._put_off = 0.0
    assert world.background.over(retiring("again"))
    for _ in range(3):
        world.daemon.tick()
    assert archived == ["again"]
    assert world.store.bead("again").status is Status.DOING
