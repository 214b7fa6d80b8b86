"""Done beads that a person takes off main are told in the turn that sees it, once; the canary's repair has a ref."""

from nobrakes.beads.model import Status
from nobrakes.events.kinds import Event, Kind
from nobrakes.review.worker.culprits import REPAIR
from tests.world.people import ME
from tests.world.rates import Rates
from tests.world.world import World

CALM = Rates(fail=0, conflict=0, machine=0, trouble=0, people=0, refuse=0, cut=0, edits=0, crash=0)


def told(world: World) -> list[Event]:
    return [event for event in world.store.events(0, 100_000) if event.kind is Kind.MAIN_REWRITTEN]


def test_a_reset_is_told_in_the_next_turn_and_once() -> None:
    world = World(1, rates=CALM)
    world.background._put_off = 0  # a clone that is still being archived holds up what is told after it
    for bead in world.store.beads():
        if bead.status is Status.DRAFT:
            world.store.approve([bead.id], ME)
    first = world.git.head
    world._turns()
    while not world.store.merges():
        assert world.step()
    assert told(world) == []
    (bead, commit), *_ = world.store.merges().items()
    for child in world.processes.living():
        world.processes._end(child)
    world.git.head = first
    world._turns()
    (seen,) = told(world)
    assert bead in seen.data["text"] and commit[:12] in seen.data["text"] and seen.data["commit"] == first
    assert [notice for notice in world.scene.notes.told if notice.text == seen.data["text"] and notice.urgent]
    world._turns()
    assert len(told(world)) == 1 and world.git.kept()["landed/tip"] == commit


def test_a_repair_that_is_being_proven_has_a_ref_and_loses_it_with_its_end() -> None:
    world = World(1, rates=CALM)
    monitor = world.daemon.monitor
    commit = world.git.head
    world.git.pin(REPAIR, commit)
    monitor._save(type(monitor.watch)(candidate=commit))
    assert world.git.kept()[REPAIR] == commit
    monitor._save(type(monitor.watch)())
    assert REPAIR not in world.git.kept()
