"""Checks that cannot be run, whatever is tried: one question, nobody is blamed, and all goes on once they can."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from nobrakes.beads.model import Status
from nobrakes.checks.contract import SETUP_FAILED
from nobrakes.decisions.model import EscalationType
from nobrakes.git.port import Argv
from nobrakes.host.port import Command, Step
from tests.world.agents import Script
from tests.world.fake_processes import AGENT
from tests.world.people import ME
from tests.world.rates import Rates
from tests.world.world import World

CALM = Rates(fail=0, conflict=0, machine=0, trouble=0, people=0, refuse=0, cut=0, edits=0, crash=0)
OF_CHECKS = (EscalationType.BROKEN_CHECKS, EscalationType.MAIN_RED, EscalationType.REPEATED_FAILURE)
BEFORE = {"set-up": f"x\nno left-pad\n{SETUP_FAILED}", "checkout": "mkdir: cannot create a directory: Read-only"}


def not_found() -> Script:
    yield 1.0
    return 127, "sh: 1: tests: not found\n"


def broken(world: World, how: str) -> Callable[[], None]:
    """Let no check be run from now on; what is returned mends that."""
    program, prepare = world.processes.program, world.processes.prepare

    def run(command: Command, step: Step) -> Script:
        is_check = how == "program" and step.argv[0] != AGENT and "tests" in step.argv[-1]
        return not_found() if is_check else program(command, step)

    def begin(argv: Argv) -> str | None:
        is_of_check = how != "program" and any("/scratch/" in word for word in argv)
        return BEFORE[how] if is_of_check else prepare(argv)

    def mend() -> None:
        world.processes.program, world.processes.prepare = program, prepare

    world.processes.program, world.processes.prepare = run, begin
    return mend


def told(world: World) -> Iterator[str]:
    """What is wrong with what people are asked."""
    asked = [one for one in world.store.escalations() if one.type in OF_CHECKS]
    yield from (f"{one.bead} asks: {one.title}" for one in asked if one.bead is not None)
    yield from (f"main is called red: {one.title}" for one in asked if one.type is EscalationType.MAIN_RED)
    if len(asked) > 1:
        yield f"{len(asked)} questions: {[one.title for one in asked]}"
    yield from (f"{bead.id} is blamed" for bead in world.store.beads() if bead.failures)


@pytest.mark.parametrize("how", ["program", *BEFORE])
@pytest.mark.parametrize(("seed", "after"), [(2, Status.DOING), (4, Status.DOING), (2, Status.DONE)])
def test_checks_that_cannot_be_run_are_one_question_until_they_can(seed: int, after: Status, how: str) -> None:
    world = World(seed, beads=12, rates=CALM)
    review = replace(world.config.review, canary_hours=0.2)
    world.config = world.scene.config = replace(world.config, review=review)
    for bead in world.store.beads():
        if bead.status is Status.DRAFT:
            world.store.approve([bead.id], ME)
    world._turns()
    while not any(one.status is after for one in world.store.beads()):
        assert world.step()
    mend = broken(world, how)
    while world.store.setting("frozen") is None:
        assert world.step() and list(told(world)) == []
    for _ in range(20):  # a third proof in vain is asked about by itself, since agents of this world start all the same
        assert list(told(world)) == []
        world.step()
    mend()
    for one in world.store.escalations():
        world.store.resolve(one.id, "mended", ME, None)
    for _ in range(400):
        if not world.step():
            break
    assert world.store.setting("frozen") is None
    assert [one.id for one in world.store.beads() if one.status is Status.DONE]
