"""A merge whose last run on main said nothing, and which nobody runs again, is told to a person."""

from dataclasses import replace

import pytest

from nobrakes.beads.model import Attempt, Bead, Role, Status
from nobrakes.config.settings import Config, validated
from nobrakes.decisions.model import EscalationType
from nobrakes.events.kinds import Event, Kind
from nobrakes.review.journal import Journal, Step
from tests.world.fake_processes import AGENT
from tests.world.project import TESTS
from tests.world.rates import Rates
from tests.world.world import World

CALM = Rates(fail=0, conflict=0, crash=0, trouble=0, people=0, machine=0, refuse=0)


def on_main(world: World) -> Attempt | None:
    """A review whose merge is being run on main."""
    for attempt in world.store.board(world.config.board_limits()).attempts:
        if attempt.role is Role.REVIEWER and Journal.of(attempt.data).step is Step.VALIDATE_MAIN:
            return attempt
    return None


@pytest.mark.parametrize(
    ("outcome", "knows", "says"),
    [
        ("broken", {}, "Somebody edited the checks"),
        ("fail", {"confirming": "its commit"}, "The checks had to run once more"),
        ("pass", {}, ""),
        ("broken", {"proven": "as the review itself notes it"}, ""),
    ],
    ids=["other checks", "a flake perhaps", "all is well", "told already"],
)
def test_a_stop_before_main_is_run_again_hides_nothing(outcome: str, knows: dict[str, str], says: str) -> None:
    config = validated(
        Config,
        {
            "checks": [{"name": "tests", "command": TESTS}],
            "limits": {"doers": 1},
            "review": {"revalidate": "always"},
            "agents": {"test_writer": "first", "doer": "first", "script": {"command": [AGENT, "{prompt}"]}},
        },
    )
    world = World(3, beads=0, rates=CALM, config=config)
    world.store.put([Bead("b1", "B 1", status=Status.NEEDS_DOER, needs_tests=False)], [], "me")
    world.daemon.tick()
    while (review := on_main(world)) is None:
        assert world.step()
    # the run of main ends, and is to be done again
    (run,) = world.store.runs()
    world.processes.kill(run)
    rows = [{"name": "tests", "outcome": outcome, "reason": "the command was not found"}]
    data = {"step": "validate_main", "commit": world.git.main(), "run": run.id, "results": rows}
    world.store.record(Event(Kind.REVIEW_STEP, review.bead, review.id, data=data))
    journal = Journal.of(review.data).with_values(validating="")
    if "proven" in knows:
        knows = {"proven": world.daemon.performer.review.main.queue.proof(journal, journal.build.candidate)}
    journal = journal.with_values(**knows)
    world.store.journal(review.id, journal.as_data())
    world.store.end_run(run.id)
    review = replace(review, data=journal.as_data())
    assert world.daemon.performer.review.stop(review, world.store.board(world.config.board_limits()))
    assert world.store.bead("b1").status is Status.DONE
    told = [one for one in world.store.escalations() if one.type is EscalationType.BROKEN_CHECKS]
    assert [one.evidence["commit"] for one in told] == ([world.git.main()] if says else [])
    assert all(one.detail.startswith(says) for one in told)
