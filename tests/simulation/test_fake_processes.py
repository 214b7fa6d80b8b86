"""The fake processes keep the promises of ports.Processes: the suite of tests/contracts/processes, in virtual time.

Two of its tests stay out: the fake keeps no errors apart from the output, and sees no files of this machine.
"""

import random
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from nobrakes.beads.model import Run
from nobrakes.git.port import Argv
from nobrakes.host.port import Command, Ending, ProcessStart, Remains, Step
from tests.world.agents import Script
from tests.world.clock import FakeClock
from tests.world.fake_processes import FakeProcesses

sys.path.insert(0, str(Path(__file__).parents[1] / "contracts" / "processes"))

import process_worlds
import test_processes_contract as suite

OUT = {
    "test_output_and_errors_go_to_files_of_their_own",
    "test_silence_has_the_same_fingerprint_and_a_sign_of_life_another",
}


GONE: list[bool] = []
"""Not empty once whoever waits may go on."""


class Even(random.Random):
    """Nothing rare happens."""

    def random(self) -> float:
        return 0.5


def program(command: Command, step: Step) -> Script:
    word, *rest = step.argv
    if word == "wait":
        while not GONE:
            yield 0.1
        return 0, "done"
    if word == "stay":
        yield None
    yield 0.1
    return (int(rest[0]), rest[1] + rest[2]) if word == "exit" else (0, "")


def prepare(argv: Argv) -> str | None:
    return None if argv[0] == "wait" or argv[1] == "0" else f"exit code {argv[1]}: {argv[3]}"


class Driven(FakeProcesses):
    """Time goes on whenever somebody looks."""

    def start(self, run: str, command: Command) -> ProcessStart:
        born = super().start(run, command)
        self.children[run].leaves_one_behind = "leave" in command.steps[0].argv
        return born

    def alive(self, run: Run) -> bool:
        self.advance(self.clock.now() + 1)
        self.clock.advance_to(self.clock.now() + 1)
        return super().alive(run)

    def remains(self, run: Run, folder: str, steps: Sequence[str]) -> Remains:
        self.advance(self.clock.now() + 1)
        self.clock.advance_to(self.clock.now() + 1)
        return super().remains(run, folder, steps)

    def ending(self, folder: str, steps: Sequence[str]) -> Ending:
        self.advance(self.clock.now() + 1)
        self.clock.advance_to(self.clock.now() + 1)
        return super().ending(folder, steps)


class SimulatedWorld(process_worlds.World):
    processes: Driven

    def __init__(self, place: Path) -> None:
        super().__init__(place)
        GONE.clear()
        self.processes = Driven(FakeClock(), prepare, program, Even(1))

    def exits(self, code: int, says: str = "", complains: str = "") -> Argv:
        return ("exit", str(code), says, complains)

    def runs_until_stopped(self) -> Argv:
        return ("stay",)

    def leaves_something_behind(self) -> Argv:
        return ("leave",)

    def waits(self, then: str = "nothing") -> Argv:
        return ("wait", "leave" if then == "leaves" else "", "", "")

    def go(self) -> None:
        GONE.append(True)

    def cut(self, run: Run, down: bool = False) -> None:
        self.processes.kill_wrapper(run.id, down)


@pytest.fixture
def simulated(tmp_path: Path) -> Iterator[SimulatedWorld]:
    world = SimulatedWorld(tmp_path)
    yield world
    world.close()


PROMISES = sorted(name for name in dir(suite) if name.startswith("test_") and name not in OUT)


@pytest.mark.parametrize("name", PROMISES)
def test_the_fake_keeps_the_promises_of_the_port(simulated: SimulatedWorld, name: str) -> None:
    promise: Callable[..., None] = getattr(suite, name)
    if name == "test_an_exit_code_is_kept":
        for code in (0, 1, 3, 127):
            simulated = SimulatedWorld(simulated.place)
            promise(simulated, code)
    else:
        promise(simulated)


def test_a_reboot_ends_everything_without_an_exit_code(simulated: SimulatedWorld) -> None:
    run = simulated.start(simulated.command("1-1", ("step", simulated.runs_until_stopped())))
    assert simulated.processes.alive(run)
    simulated.processes.reboot()
    assert not simulated.processes.alive(run)
    assert simulated.code(run) is None
