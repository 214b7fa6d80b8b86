"""A main that stays red is one open question, whoever finds it red, and however often."""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import pytest

from nobrakes.beads.model import BeadType, Status
from nobrakes.daemon.worker.loop import Daemon
from nobrakes.decisions.model import Escalation, EscalationType
from nobrakes.events.kinds import Event, Kind
from nobrakes.host.port import Command, Step
from nobrakes.review.worker.culprits import question
from tests.world.agents import Script
from tests.world.fake_processes import AGENT
from tests.world.people import ME
from tests.world.rates import Rates
from tests.world.world import World

CALM = Rates(fail=0, conflict=0, machine=0, trouble=0, people=0, refuse=0, cut=0, edits=0, crash=0)


def fails() -> Script:
    yield 1.0
    return 1, "FAILED tests/test_later.t::test_1 - AssertionError\n====== 1 failed in 0.10s ======\n"


def questions(world: World) -> list[Escalation]:
    return [one for one in world.store.escalations() if one.type is EscalationType.MAIN_RED]


def breaks(world: World, after: int) -> None:
    """The machine breaks once so many checks were run: from then on all fail."""
    usual, runs = world.processes.program, iter(range(10_000))

    def program(command: Command, step: Step) -> Script:
        is_check = step.argv[0] != AGENT and "tests" in str(step.argv[-1])
        return fails() if is_check and next(runs) >= after else usual(command, step)

    world.processes.program = program


def with_review(world: World, hours: float, revalidate: str) -> None:
    review = replace(world.config.review, main_check_hours=hours, revalidate=revalidate)
    world.config = world.scene.config = replace(world.config, review=review)


@pytest.mark.slow
@pytest.mark.parametrize("revalidate", ["cached", "always"])
@pytest.mark.parametrize("hours", [0.0, 0.2], ids=["unwatched", "watched"])
@pytest.mark.parametrize("after", [0, 9, 12])
def test_one_red_main_is_one_open_question(hours: float, revalidate: str, after: int) -> None:
    world = World(4, rates=CALM)
    for bead in world.store.beads():
        if bead.status is Status.DRAFT:
            world.store.approve([bead.id], ME)
    usual = world.processes.program
    with_review(world, hours, revalidate)
    world._turns()
    breaks(world, after)
    most = 0
    for number in range(150):
        if not world.step():
            break
        asked = questions(world)
        most = max(most, len(asked))
        if number in (60, 90) and asked:  # a person thinks that it is mended, and it is not
            world.store.resolve(asked[0].id, "dismissed", ME, None)
        if number == 75:
            world.people.move_main()
    assert most <= 1
    if after and not world.store.setting("frozen"):
        return  # main's tree passed before, and the beads were blamed until a person was asked about each
    assert len(questions(world)) == 1 and world.store.setting("frozen")
    world.processes.program = usual
    world.people.move_main()
    world.people.mend_main()
    for _ in range(100):
        if not world.step() or not world.store.setting("frozen"):
            break
    assert world.store.setting("frozen") is None
    assert all(one.bead for one in questions(world)), "what is asked of main itself is over with it"


def test_a_main_that_nobody_ever_saw_green_is_told_in_one_note() -> None:
    world = World(1, rates=CALM)
    with_review(world, 0.2, "cached")
    world.processes.program = lambda command, step: fails()
    world.daemon.monitor.found_red([])
    steps(world, lambda: any(event.kind is Kind.CULPRIT_FOUND for event in world.store.events(0, 1000)))
    (asked,) = questions(world)
    assert "nobrakes knows no earlier commit of main that passed" in asked.detail and "Before:" not in asked.detail
    told = [event for event in world.store.events(0, 1000) if event.kind is Kind.ESCALATED]
    assert [one.data["escalation"] for one in told if one.data["type"] == EscalationType.MAIN_RED] == [asked.id]


def test_what_else_finds_main_red_adds_to_the_question_that_is_open() -> None:
    world = World(1, rates=CALM)
    bead = world.store.beads()[0].id
    world.daemon.monitor.found_red([])
    (first,) = questions(world)
    world.store.escalate(question(world.store, "taken back", "it was red", {"reverted": False}), bead, None, "nobrakes")
    (second,) = questions(world)
    assert (second.id, second.bead, second.title) == (first.id, bead, "taken back")
    assert first.title in second.detail and second.evidence["reverted"] is False and second.evidence["main"]
    world.daemon.monitor.found_red([])
    world.store.set_setting("frozen", None)
    world.store.set_setting("canary", None)
    later = Daemon(world.ports)
    for _ in range(3):
        later.monitor.found_red([])
    (third,) = questions(world)
    assert (third.id, third.bead, third.title) == (first.id, bead, "taken back")
    told = [event for event in world.store.events(0, 1000) if event.kind is Kind.ESCALATED]
    assert [(event.bead, event.data["escalation"]) for event in told] == [(None, first.id), (bead, first.id)]


def test_a_main_that_was_green_in_between_is_another_question() -> None:
    world = World(1, rates=CALM)
    bead, other = [one.id for one in world.store.beads()][:2]
    world.store.escalate(question(world.store, "taken back", "", {}), bead, None, "nobrakes")
    world.clock.advance_to(world.clock.now() + 1)
    world.store.record(Event(Kind.MAIN_GREEN, data={"commit": "1" * 40}))
    world.clock.advance_to(world.clock.now() + 1)
    world.store.escalate(question(world.store, "taken back too", "", {}), other, None, "nobrakes")
    assert sorted(one.bead or "" for one in questions(world)) == sorted([bead, other])


@pytest.mark.slow
@pytest.mark.parametrize("every", [True, False], ids=["one by one", "together"])
@pytest.mark.parametrize("merge", ["squash", "rebase"])
def test_a_review_that_was_open_when_main_turned_red_gives_way_to_a_repair(
    merge: Literal["squash", "rebase"], every: bool
) -> None:
    world = World(2, rates=CALM)
    for needed in world.store.dependencies():
        world.store.remove_dependency(needed, ME)
    plain, first = world.store.beads()[:2]
    repair = replace(plain, id="mend", title="Mend main", type=BeadType.REPAIR, held="not yet")
    for bead in world.store.beads():
        world.store.record(Event(Kind.HELD, bead.id, data={"reason": "not yet"}))
    review = replace(world.config.review, main_check_hours=0.0, merge=merge, every_commit_green=every, validators=1)
    world.config = world.scene.config = replace(world.config, review=review)
    world.store.record(Event(Kind.RELEASED, first.id))
    steps(world, lambda: world.store.bead(first.id).status is Status.REVIEWING)
    world.daemon.monitor.found_red([])
    steps(world, lambda: any("main is red" in str(one.data.get("waiting")) for one in world.store.attempts(first.id)))
    world.store.put([repair], [], ME)
    world.store.record(Event(Kind.RELEASED, repair.id))
    steps(world, lambda: world.store.bead(repair.id).status is Status.DONE)
    merged = [event.bead for event in world.store.events(0, 1000) if event.kind is Kind.MERGED]
    assert merged[0] == repair.id, "the repair went first"
    steps(world, lambda: world.store.bead(first.id).status is Status.DONE)
    assert world.store.setting("frozen") is None


def steps(world: World, until: Callable[[], bool]) -> None:
    world._turns()
    for _ in range(120):
        if until():
            return
        if not world.step():
            break
    assert until(), [(bead.id, bead.status) for bead in world.store.beads()]
