"""An agent that died with its machine is not blamed for its silence, whatever else has to be closed first."""

from nobrakes.beads.model import Bead, Outcome, Run, RunKind, Status
from nobrakes.config.settings import Config, validated
from tests.world.fake_processes import AGENT
from tests.world.project import TESTS
from tests.world.rates import Rates
from tests.world.world import World

CALM = Rates(fail=0, conflict=0, crash=0, trouble=0, people=0, machine=0, refuse=0)


def at_work(world: World, kind: RunKind) -> Run | None:
    return next((run for run in world.store.runs() if run.kind is kind and run.pid is not None), None)


def test_who_died_while_a_check_died_too_is_lost_and_has_not_stalled() -> None:
    config = validated(
        Config,
        {
            "checks": [{"name": "tests", "command": TESTS}],
            "limits": {"doers": 1},
            "review": {"every_commit_green": True},
            "agents": {"test_writer": "first", "doer": "first", "script": {"command": [AGENT, "{prompt}"]}},
        },
    )
    world = World(3, beads=0, rates=CALM, config=config)
    beads = [Bead(f"b{i}", f"B {i}", status=Status.NEEDS_DOER, needs_tests=False) for i in range(9)]
    world.store.put(beads, [], "me")
    world.daemon.tick()
    while (check := at_work(world, RunKind.VALIDATION)) is None or (agent := at_work(world, RunKind.AGENT)) is None:
        assert world.step()
    # it was silent for as long as it may be, and that was seen in the moment before the power went
    silent = world.clock.now() - agent.idle_seconds
    world.store.update_run(agent.id, active_at=silent, sampled_at=world.clock.now())
    world.processes.reboot()
    world.daemon = world._boot()
    world._turns()
    while agent.id in (at_hand := {run.id for run in world.store.runs()}):  # its work may still be taken in
        assert check.id not in at_hand
        assert world.step()
    ended = world.store.attempt(agent.attempt)
    assert ended.outcome is Outcome.LOST
    assert world.store.bead(ended.bead).failures == 0
