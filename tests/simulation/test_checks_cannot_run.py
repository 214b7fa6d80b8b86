"""Checks that cannot be run, whatever is tried: one question, nobody is blamed, and all goes on once they can."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import pytest

from nobrakes.beads.model import Attempt, BeadType, Role, Status
from nobrakes.checks.contract import SETUP_FAILED
from nobrakes.decisions.model import EscalationType
from nobrakes.git.port import Argv
from nobrakes.host.port import Command
from nobrakes.host.port import Step as Part
from nobrakes.review.journal import Journal, Step
from tests.world.agents import Script
from tests.world.fake_processes import AGENT
from tests.world.main_monitor import watch_of
from tests.world.people import ME
from tests.world.rates import Rates
from tests.world.world import World

CALM = Rates(fail=0, conflict=0, machine=0, trouble=0, people=0, refuse=0, cut=0, edits=0, crash=0)
OF_CHECKS = (EscalationType.BROKEN_CHECKS, EscalationType.MAIN_RED, EscalationType.REPEATED_FAILURE)
BEFORE = {"set-up": f"x\nno left-pad\n{SETUP_FAILED}", "checkout": "mkdir: cannot create a directory: Read-only"}


def not_found() -> Script:
    yield 1.0
    return 127, "sh: 1: tests: not found\n"


def failed() -> Script:
    yield 1.0
    return 1, "1 failed, 3 passed\n"


def broken(world: World, how: str) -> Callable[[], None]:
    """Let no check be run from now on; what is returned mends that."""
    program, prepare = world.processes.program, world.processes.prepare

    def run(command: Command, step: Part) -> Script:
        is_check = how == "program" and step.argv[0] != AGENT and "tests" in step.argv[-1]
        return not_found() if is_check else program(command, step)

    def begin(argv: Argv) -> str | None:
        is_of_check = how != "program" and any("/scratch/" in word for word in argv)
        return BEFORE[how] if is_of_check else prepare(argv)

    def mend() -> None:
        world.processes.program, world.processes.prepare = program, prepare

    world.processes.program, world.processes.prepare = run, begin
    return mend


def told(world: World, but_of_repairs: bool = False) -> Iterator[str]:
    """What is wrong with what people are asked; but that a repair, whose proof is no proof of main, asks by itself."""
    asked = [one for one in world.store.escalations() if one.type in OF_CHECKS]
    if but_of_repairs:
        asked = [one for one in asked if one.bead is None or world.store.bead(one.bead).type is not BeadType.REPAIR]
    yield from (f"{one.bead} asks: {one.title}" for one in asked if one.bead is not None)
    yield from (f"main is called red: {one.title}" for one in asked if one.type is EscalationType.MAIN_RED)
    if len(asked) > 1:
        yield f"{len(asked)} questions: {[one.title for one in asked]}"
    yield from (f"{bead.id} is blamed" for bead in world.store.beads() if bead.failures)


def begun(seed: int, change: Mapping[str, object] | None = None) -> World:
    """A world in which nothing goes wrong; all its beads are changed so."""
    world = World(seed, beads=12, rates=CALM)
    review = replace(world.config.review, main_check_hours=0.2)
    world.config = world.scene.config = replace(world.config, review=review)
    for bead in world.store.beads():
        if bead.status is Status.DRAFT:
            world.store.approve([bead.id], ME)
        if change and bead.type is BeadType.TASK:
            world.store.change(bead.id, change, ME)
    world._turns()
    return world


KINDS = {"plain": None, "scaffolding": {"scaffolding": True}, "repair": {"type": BeadType.REPAIR}}
HOW = ["program", *(pytest.param(how, marks=pytest.mark.ci) for how in BEFORE)]


@pytest.mark.parametrize("kind", ["plain", *(pytest.param(one, marks=pytest.mark.ci) for one in list(KINDS)[1:])])
@pytest.mark.parametrize("how", HOW)
def test_what_is_mended_between_two_runs_is_nobodys_failure(how: str, kind: str) -> None:
    world = begun(2, KINDS[kind])

    def reviews() -> list[Attempt]:
        open_ones = (one for bead in world.store.beads() for one in world.store.attempts(bead.id) if not one.ended_at)
        return [one for one in open_ones if one.role is Role.REVIEWER]

    def judged() -> bool:
        return any(Journal.of(one.data).step is Step.VALIDATE_BASE for one in reviews())

    while not any(one.status is Status.NEEDS_REVIEW for one in world.store.beads()):
        assert world.step()
    mend = broken(world, how)
    while not judged():
        assert world.step() and list(told(world)) == []
    mend()
    for one in reviews():  # whether a run of it was killed before makes no difference
        world.store.journal(one.id, {**one.data, "cut_off": 1})
    for _ in range(400):
        assert not [bead.id for bead in world.store.beads() if bead.failures]
        if not world.step():
            break
    assert [one.id for one in world.store.beads() if one.status is Status.DONE]


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize(
    ("seed", "after", "kind"),
    [
        (4, Status.DOING, "plain"),
        pytest.param(2, Status.DOING, "plain", marks=pytest.mark.ci),
        pytest.param(2, Status.DONE, "plain", marks=pytest.mark.ci),
        pytest.param(2, Status.DOING, "scaffolding", marks=pytest.mark.ci),
        pytest.param(4, Status.DONE, "repair", marks=pytest.mark.ci),
    ],
)
def test_checks_that_cannot_be_run_are_one_question_until_they_can(
    seed: int, after: Status, kind: str, how: str
) -> None:
    world = begun(seed, KINDS[kind])
    while not any(one.status is after for one in world.store.beads()):
        assert world.step()
    mend = broken(world, how)
    while world.store.setting("frozen") is None:
        assert world.step() and list(told(world, kind == "repair")) == []
    for _ in range(20):  # a third proof in vain is asked about by itself, since agents of this world start all the same
        assert list(told(world, kind == "repair")) == []
        world.step()
    mend()
    for one in world.store.escalations():
        world.store.resolve(one.id, "mended", ME, None)
    for _ in range(400):
        if not world.step():
            break
    assert world.store.setting("frozen") is None
    assert [one.id for one in world.store.beads() if one.status is Status.DONE]


def mended_by_itself(seed: int, hours: float, lasts: float, how: str) -> tuple[float, int]:
    """How many seconds after their trouble merges go on that nobody answers for; how often main was run meanwhile."""
    world = begun(seed)
    review = replace(world.config.review, main_check_hours=hours)
    world.config = world.scene.config = replace(world.config, review=review)
    while not any(one.status is Status.DOING for one in world.store.beads()):
        assert world.step()
    mend = broken(world, how)
    while world.store.setting("frozen") is None:
        assert world.step() and list(told(world)) == []
    began, looks, run = world.clock.steady(), 0, ""
    while world.store.setting("frozen") is not None:
        if world.clock.steady() >= began + lasts:
            mend()
        assert world.step()
        watch = watch_of(world.store)
        looks += bool(watch.commit) and watch.run != run
        run = watch.run if watch.commit else run
    return world.clock.steady() - began - lasts, looks


@pytest.mark.parametrize("hours", [0.2, 0.0])
@pytest.mark.parametrize("lasts", [90.0, 600.0, pytest.param(2400.0, marks=pytest.mark.ci)])
@pytest.mark.parametrize("how", HOW)
def test_a_short_trouble_that_nobody_answers_holds_back_for_twice_its_length(
    how: str, lasts: float, hours: float
) -> None:
    later, _ = mended_by_itself(4, hours, lasts, how)
    assert later <= max(lasts, 60) + 240  # one run of the checks more, and what the world's own steps add


@pytest.mark.slow
@pytest.mark.parametrize("hours", [0.2, 0.0])
def test_a_trouble_of_a_whole_night_costs_fifteen_runs_at_most(hours: float) -> None:
    later, looks = mended_by_itself(4, hours, 8 * 3600.0, "program")
    assert later <= 3600 + 600 and looks <= 15


def test_checks_that_run_again_and_fail_are_asked_about_as_a_red_main() -> None:
    world = begun(4)
    while not any(one.status is Status.DOING for one in world.store.beads()):
        assert world.step()
    mend, program = broken(world, "program"), world.processes.program
    while not watch_of(world.store).searched:
        assert world.step()
    mend()

    def fails(command: Command, step: Part) -> Script:
        return failed() if step.argv[0] != AGENT and "tests" in step.argv[-1] else program(command, step)

    world.processes.program = fails
    for _ in range(400):
        assert world.step()
        if any(one.type is EscalationType.MAIN_RED for one in world.store.escalations()):
            break
    asked = [one.type for one in world.store.escalations() if one.bead is None and one.type in OF_CHECKS]
    assert asked == [EscalationType.MAIN_RED]
