"""The worlds that the suite for ports.Processes runs in: a place, a door to processes, and programs to run.

To add another implementation, subclass World and list it in WORLDS.
"""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from nobrakes.beads.model import Run, RunKind
from nobrakes.git.port import Argv
from nobrakes.host import proctable
from nobrakes.host.port import Command, Processes, ProcessStart, Remains, Step
from nobrakes.host.runs.processes import LocalProcesses

PATH = os.environ["PATH"]


def until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait for the condition; the test fails when it never comes."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.002)


class World:
    """One implementation, and how its programs are written."""

    processes: Processes

    def __init__(self, place: Path) -> None:
        self.place = place
        self.runs: list[Run] = []

    def exits(self, code: int, says: str = "", complains: str = "") -> Argv:
        raise NotImplementedError

    def runs_until_stopped(self) -> Argv:
        raise NotImplementedError

    def leaves_something_behind(self) -> Argv:
        raise NotImplementedError

    def waits(self, then: str = "nothing") -> Argv:
        """Until go(); then it says "done" and exits with 0, or (`then` "leaves") leaves something behind."""
        raise NotImplementedError

    def go(self) -> None:
        raise NotImplementedError

    def cut(self, run: Run, down: bool = False) -> None:
        """Kill the run's wrapper, alone or with everything below it."""
        raise NotImplementedError

    def folder(self, run: str) -> str:
        return str(self.place / "runs" / run)

    def command(self, run: str, *steps: tuple[str, Argv] | Step, **more: object) -> Command:
        made = tuple(step if isinstance(step, Step) else Step(*step) for step in steps)
        values: dict[str, object] = {"cwd": str(self.place), "env": {"PATH": PATH}, **more}
        return Command(folder=self.folder(run), steps=made, **values)  # type: ignore[arg-type]

    def start(self, command: Command) -> Run:
        name = os.path.basename(command.folder)
        return self.known(name, self.processes.start(name, command))

    def known(self, name: str, born: ProcessStart) -> Run:
        run = Run(name, 1, RunKind.AGENT, time.time(), pid=born.pid, born=born.mark)
        self.runs.append(run)
        return run

    def finish(self, run: Run) -> None:
        until(lambda: not self.processes.alive(run))

    def code(self, run: Run, step: str = "step") -> int | None:
        return self.processes.ending(self.folder(run.id), [step]).steps[0].code

    def remains(self, run: Run, *steps: str) -> Remains:
        return self.processes.remains(run, self.folder(run.id), steps or ("step",))

    def close(self) -> None:
        for run in self.runs:
            self.processes.kill(run)


class LocalWorld(World):
    """This machine's processes."""

    def __init__(self, place: Path) -> None:
        super().__init__(place)
        self.wake = place / "wake"
        self.wake.mkdir()
        self.processes: LocalProcesses = LocalProcesses(str(self.wake))

    def exits(self, code: int, says: str = "", complains: str = "") -> Argv:
        return ("sh", "-c", 'printf %s "$1"; printf %s "$2" >&2; exit "$3"', "sh", says, complains, str(code))

    def runs_until_stopped(self) -> Argv:
        return ("sleep", "1000")

    def leaves_something_behind(self) -> Argv:
        return ("sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 & exit 0")

    def waits(self, then: str = "nothing") -> Argv:
        leaves = "setsid sleep 1000 >/dev/null 2>&1 &" if then == "leaves" else ":"
        script = 'until [ -e "$1" ]; do sleep 0.01; done; echo done; '
        return ("sh", "-c", script + leaves, "sh", str(self.place / "go"))

    def go(self) -> None:
        (self.place / "go").touch()

    def cut(self, run: Run, down: bool = False) -> None:
        assert run.pid is not None
        below = [*proctable.below(run.pid)] if down else []
        for pid in (run.pid, *below):
            with contextlib.suppress(ProcessLookupError):  # what was below ends by itself, too
                os.kill(pid, signal.SIGKILL)

    def python(self, text: str, *arguments: str) -> Argv:
        return (sys.executable, "-S", "-c", text, *arguments)


WORLDS = {"local": LocalWorld}
