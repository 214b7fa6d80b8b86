"""A bug of the program that is met in what is about one bead: that bead is parked, and everything else completes."""

from dataclasses import replace

import pytest

from nobrakes.agents.worker.process import Definitions
from nobrakes.beads.model import CLOSED, Outcome, Status, session_owner
from nobrakes.daemon.model import Board
from nobrakes.daemon.service.control import TROUBLE
from nobrakes.daemon.worker.recovery import Upkeep
from nobrakes.decisions.model import EscalationType
from nobrakes.errors import NoAnswer
from nobrakes.events.kinds import Event, Kind
from nobrakes.features.worker.forge import Forge
from nobrakes.notices.worker import NotificationSender
from nobrakes.parking import Unexpected, park
from nobrakes.projects.worker import Sprints
from nobrakes.review.waits import PASSES
from nobrakes.review.worker.main_checks import MainMonitor
from tests.support.dose import each_dosed, everyday
from tests.world.people import ME
from tests.world.rates import Rates
from tests.world.stumbling import BUGS
from tests.world.world import World

CALM = Rates(fail=0, conflict=0, machine=0, trouble=0, people=0, refuse=0, cut=0, edits=0, crash=0, stumble=1)


@pytest.mark.parametrize("seed", everyday(1, 3, ci=[0, 2]))
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


@pytest.mark.ci
def test_the_second_time_it_is_held_and_released_it_is_tried_again() -> None:
    world = World(1, rates=CALM)
    one, store = world.scene.stumbling.bead, world.store
    world.run()
    store.resolve(store.escalations(bead=one)[0].id, "once more", ME)
    world.run()
    assert [a.outcome for a in store.attempts(one)].count(Outcome.NOBRAKES_FAILED) == 2
    assert "nobrakes itself failed on the bead 2 times" in str(store.bead(one).held)
    world.scene.stumbling.chance = 0.0  # it is mended
    store.resolve(store.escalations(bead=one)[0].id, "mended", ME)
    store.record(Event(Kind.RELEASED, one, actor=ME))
    world.run()
    assert store.bead(one).status is Status.DONE


@pytest.mark.parametrize("seed", each_dosed("stumbling", range(12), parts=4))
def test_whatever_else_fails_the_promises_hold(seed: int) -> None:
    World(seed, rates=Rates(stumble=0.3)).run()


@pytest.mark.ci
def test_a_start_that_fails_holds_no_place_of_the_shared_machine() -> None:
    """Its start was cut off by a crash, and failed when it was done again (seed 22)."""
    World(22, rates=Rates(stumble=0.3)).run()


@pytest.mark.parametrize(
    ("part", "called"),
    [
        (MainMonitor, "the monitor of main"),
        pytest.param(Sprints, "sprints", marks=pytest.mark.ci),
        pytest.param(Upkeep, "tidying up", marks=pytest.mark.ci),
        pytest.param(Forge, "planning", marks=pytest.mark.ci),
    ],
)
def test_a_part_of_the_daemon_that_fails_ends_nothing_else(
    part: type, called: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    met: list[str] = []
    works = part.turn  # type: ignore[attr-defined]

    def fails(self: object, *given: object) -> bool:
        met.append(called)
        if len(met) > 3:
            return bool(works(self, *given))
        raise BUGS[0]

    monkeypatch.setattr(part, "turn", fails)
    rates = replace(CALM, stumble=0)
    if part is Forge:  # it runs where people began a feature; they also decide what it asks
        rates = replace(rates, features=1.0, people=0.2)
    world = World(3, rates=rates, only="every_place_is_an_agents")
    world.run()
    filed = world.store.escalations(open_only=False)
    (asked,) = [one for one in filed if one.type is EscalationType.NOBRAKES_FAILED]
    assert (asked.bead, asked.title) == (None, f"{called}: nobrakes failed") and str(BUGS[0]) in asked.detail
    assert len(met) > 3, "nobrakes tries again"
    ended = {bead.status for bead in world.store.beads()}
    assert Status.DONE in ended and (part is Forge or ended <= {*CLOSED}), "everything else goes on"


@pytest.mark.parametrize(
    ("part", "does"),
    [
        (Definitions, "look"),
        pytest.param(MainMonitor, "turn", marks=pytest.mark.ci),
        pytest.param(NotificationSender, "turn", marks=pytest.mark.ci),
        pytest.param(Upkeep, "turn", marks=pytest.mark.ci),
    ],
)
def test_what_the_machine_lacks_for_long_is_one_question_in_whichever_part_of_a_turn(
    part: type, does: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    met, told = list[float](), list[str | None]()
    works = getattr(part, does)

    def lacks(self: object, board: Board) -> bool:
        if met and board.now > met[0] + 2 * PASSES:
            return bool(works(self, board))
        met.append(board.now)
        told.append(world.store.setting(TROUBLE))
        raise NoAnswer("git hung", "Look at the disk.")

    monkeypatch.setattr(part, does, lacks)
    world = World(3, rates=replace(CALM, stumble=0), only="every_place_is_an_agents")
    world.run()
    assert set(told[1:]) == {"git hung. Look at the disk."} and world.store.setting(TROUBLE) is None
    (asked,) = [one for one in world.store.escalations(open_only=False) if TROUBLE in one.evidence]
    assert asked.title == "git hung" and asked.resolution == "the problem is fixed"
    assert {bead.status for bead in world.store.beads()} <= {*CLOSED}


def test_a_session_without_a_turn_is_asked_about_and_ends_nothing() -> None:
    world = World(3, rates=CALM)
    met = Unexpected(session_owner(7))
    assert park(world.ports, met) and not park(world.ports, met), "once"
    (asked,) = world.store.escalations()
    assert (asked.bead, asked.title) == (None, "session 7: nobrakes failed")
