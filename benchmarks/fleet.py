"""One daemon with a fleet: real deciders, store and daemon; git, processes and the clock are those of tests/world.

    .venv/bin/python benchmarks/fleet.py DOERS [MERGES] [BEADS]

Agents work ten virtual minutes and always do good work, checks take one. CPU is the process's without the fakes', and
the virtual clock passes with it, so a daemon that is too slow falls behind as a real one would. What real git and real
processes cost the daemon is not in it; their calls are counted.
"""

import json
import os
import random
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from graphs import filled

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nobrakes.agents.script import Script as ScriptAdapter
from nobrakes.config.settings import Config, validated
from nobrakes.daemon.model import Board
from nobrakes.daemon.worker import loop
from nobrakes.events.kinds import Event, Kind
from nobrakes.git.port import Argv
from nobrakes.host.port import Command, Ending, Step
from nobrakes.paths import Paths
from nobrakes.ports import Ports
from nobrakes.store import Store, open_store
from tests.world.agents import DONE, Script
from tests.world.clock import FakeClock
from tests.world.fake_background import FakeBackground
from tests.world.fake_git import FakeGit
from tests.world.fake_processes import AGENT, Child, FakeProcesses
from tests.world.scene import Notes

MINUTE = 60.0
AGENT_MINUTES = (9.0, 11.0)
WARM_MINUTES = 1.5
VALIDATORS = 64
FREE = 20_000
"""So many beads before it hold a bead's dependencies: as many are ready at first."""
ROOT = "/simulated/.nobrakes"
CHECK = "simulated-check"
LIGHT = frozenset(("remains", "output", "head", "activity", "main", "has", "tree"))
"""Fakes that cost less than it costs to measure them: they count as the daemon's."""


class Meter:
    """CPU seconds of this process, without those inside `aside`; calls by name."""

    def __init__(self) -> None:
        self.aside_seconds = 0.0
        self.calls: Counter[str] = Counter()
        self._depth = 0
        self._since = 0.0

    def own(self) -> float:
        """The daemon's own CPU seconds so far."""
        return (self._since if self._depth else time.process_time()) - self.aside_seconds

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What happens inside is not the daemon's."""
        self._depth += 1
        if self._depth == 1:
            self._since = time.process_time()
        try:
            yield
        finally:
            self._depth -= 1
            if not self._depth:
                self.aside_seconds += time.process_time() - self._since


class Aside:
    """A port whose calls are counted and cost nothing."""

    def __init__(self, name: str, port: object, meter: Meter) -> None:
        self._name, self._port, self._meter = name, port, meter

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._port, name)
        if not callable(found):
            return found
        meter, key = self._meter, f"{self._name}.{name}"
        if name in LIGHT:

            def count(*words: Any, **named: Any) -> Any:
                meter.calls[key] += 1
                return found(*words, **named)

            self.__dict__[name] = count
            return count

        def call(*words: Any, **named: Any) -> Any:
            meter.calls[key] += 1
            with meter.aside():
                return found(*words, **named)

        self.__dict__[name] = call
        return call


class Indexed(FakeProcesses):
    """Files are found by their run's folder, and runs that are over are forgotten."""

    def ending(self, folder: str, steps: Any) -> Ending:
        child = self._of(folder)
        whole, self.children = self.children, {} if child is None else {child.run: child}
        try:
            return super().ending(folder, steps)
        finally:
            self.children = whole

    def output(self, path: str, limit: int) -> str:
        child = self._of(os.path.dirname(path))
        return child.outputs.get(path, "")[-limit:] if child else ""

    def head(self, path: str, limit: int, start: int = 0) -> bytes:
        child = self._of(os.path.dirname(path))
        return child.outputs.get(path, "").encode()[start : start + limit] if child else b""

    def _of(self, folder: str) -> Child | None:
        return self.children.get(os.path.basename(folder))


class Fleet:
    """A repository with so many Doers, and what the daemon did there; the waker and the view of its loop."""

    def __init__(self, store: Store, clock: FakeClock, doers: int) -> None:
        self.clock, self.store, self.doers = clock, store, doers
        self.meter, self.rng = Meter(), random.Random(1)
        self.git = FakeGit(ROOT)
        self.processes = Indexed(clock, self._prepare, self._program, self.rng)
        self.processes.begins = self._begins
        self.free: deque[float] = deque([clock.steady()] * doers)
        self.starts: list[tuple[float, float]] = []  # when, and seconds since its place was free
        self.turns: list[tuple[float, float]] = []  # when, and CPU seconds
        self.merges: list[float] = []
        self.decisions = self.begun = 0
        self._accounted, self._ended = 0.0, set[str]()
        config = validated(
            Config,
            {
                "checks": [{"name": "check", "command": CHECK, "kind": "build", "timeout_minutes": 5}],
                "review": {"validators": VALIDATORS},
                "agents": {"test_writer": "script", "doer": "script", "script": {"command": [AGENT, "{prompt}"]}},
            },
        )
        limits = replace(config.board_limits(), doers=doers)
        agent = ScriptAdapter()
        ports = Ports(
            store=store,
            git=self._aside("git", self.git),
            processes=self._aside("processes", self.processes),
            notifier=self._aside("notifier", Notes()),
            background=FakeBackground(self.rng, 0.0),
            paths=Paths(ROOT),
            config=lambda: config,
            limits=lambda: limits,
            adapter=lambda name: agent,
            environment={"PATH": "/bin"},
            steady=lambda: ("boot", clock.steady()),
        )
        self.daemon = loop.Daemon(ports)
        decide = self.daemon._decide
        self.daemon._decide = lambda board: self._decided(decide(board))  # type: ignore[method-assign]

    def _aside(self, name: str, port: object) -> Any:
        return Aside(name, port, self.meter)

    # --- what is simulated ---------------------------------------------------------------------

    def _prepare(self, argv: Argv) -> str | None:
        return self.git.clones.execute(argv)

    def _program(self, command: Command, step: Step) -> Script:
        return self._agent(command.env["NOBRAKES_BEAD"]) if AGENT in step.argv else self._check()

    def _agent(self, bead: str) -> Script:
        self.begun += 1
        is_first = self.begun <= self.doers  # those end one after the other, as if they had begun so
        yield self.rng.uniform(*((0.0, AGENT_MINUTES[1]) if is_first else AGENT_MINUTES)) * MINUTE
        self.git.clones.edit(bead, {f"src/{bead}.py": "done"})
        self.git.clones.commit(bead, f"Do {bead}", self.clock.now())
        return 0, DONE

    def _check(self) -> Script:
        yield MINUTE
        return 0, "all good\n"

    def _begins(self, run: str) -> None:
        now = self._now()
        self.starts.append((now, now - self.free.popleft()))

    def _now(self) -> float:
        """The moment within a turn: the clock passes at its end."""
        return self.clock.steady() + self.meter.own() - self._accounted

    def _decided(self, actions: list[Any]) -> list[Any]:
        self.decisions += len(actions)
        return actions

    # --- the loop's waker and view ---------------------------------------------------------------

    def wait(self, timeout: float | None) -> bool:
        """Let time pass until a run ends, or so long."""
        with self.meter.aside():
            if self._ended:
                return True
            until = self.clock.steady() + (timeout if timeout is not None else 1e9)
            while (moment := self.processes.next_event()) is not None and moment <= until:
                if self._advance(moment):
                    return True
            self.clock.pass_to(until)
            return False

    def set(self) -> None:
        """Nobody calls."""

    def taken(self) -> AbstractSet[str]:
        """The runs that ended since the last call."""
        ended, self._ended = self._ended, set()
        return ended

    def _advance(self, moment: float) -> bool:
        """Whether a run ended."""
        ended = [line.split()[0] for line in self.processes.advance(moment) if line.endswith(", dead")]
        self._ended.update(ended)
        self.free.extend(self.clock.steady() for run in ended if self.processes.children[run].is_agent)
        return bool(ended)

    def event(self, event: Event) -> None:
        """News of the loop."""
        if event.kind is Kind.MERGED:
            self.merges.append(self.clock.steady())

    def board(self, board: Board) -> None:
        """A turn is over: what it took has passed, and processes went on meanwhile."""
        own = self.meter.own()
        used, self._accounted = own - self._accounted, own
        self.turns.append((self.clock.steady(), used))
        with self.meter.aside():
            now = self.clock.steady() + used
            self._advance(now)
            self.clock.pass_to(now)

    def until(self, is_over: Callable[[], bool]) -> None:
        """Run the daemon's own loop so long."""
        self._accounted = self.meter.own()
        loop.run(self.daemon, self, self, False, lambda board: is_over())


def measured(doers: int, merges: int, beads: int, profile: str = "") -> dict[str, Any]:
    """The start of all Doers, and so many merges after reviews have come to as many as agents end."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "nobrakes.db")
        shutil.copy(filled(beads, FREE), path)
        clock = FakeClock(time.time())
        with closing(open_store(path, clock)) as store:
            store.keep_answers()
            fleet = Fleet(store, clock, doers)
            begun = fleet.meter.own()
            fleet.until(lambda: len(fleet.starts) >= doers)
            ramp = {
                "cpu": fleet.meter.own() - begun,
                "turns": len(fleet.turns),
                "seconds": clock.steady() - fleet.turns[0][0],
            }
            steady = clock.steady() + WARM_MINUTES * MINUTE
            fleet.until(lambda: len(fleet.merges) >= merges // 4 and clock.steady() >= steady)
            warm = len(fleet.merges)
            before = Slice.of(fleet)
            if profile:
                import cProfile

                profiler = cProfile.Profile()
                profiler.enable()
            fleet.until(lambda: len(fleet.merges) >= warm + merges)
            if profile:
                profiler.disable()
                profiler.dump_stats(profile)
            after = Slice.of(fleet)
    return {
        "doers": doers,
        "beads": beads,
        "ramp": ramp,
        **after.since(before, fleet),
        "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


@dataclass(frozen=True)
class Slice:
    """How far it is."""

    cpu: float
    at: float
    turns: int
    starts: int
    merges: int
    decisions: int
    calls: Counter[str]

    @staticmethod
    def of(fleet: Fleet) -> "Slice":
        """Now."""
        meter = fleet.meter
        counts = (len(fleet.turns), len(fleet.starts), len(fleet.merges), fleet.decisions)
        return Slice(meter.own(), fleet.clock.steady(), *counts, meter.calls.copy())

    def since(self, before: "Slice", fleet: Fleet) -> dict[str, Any]:
        """What happened since."""
        cpu, seconds, merges = self.cpu - before.cpu, self.at - before.at, self.merges - before.merges
        waits = sorted(wait for _, wait in fleet.starts[before.starts : self.starts])
        turns = sorted(used for _, used in fleet.turns[before.turns : self.turns])
        decisions, tenth = self.decisions - before.decisions, seconds / 10
        return {
            "merges": merges,
            "seconds": seconds,
            "cpu_a_bead_ms": cpu / merges * 1000,
            "core": cpu / seconds,
            "turns_a_bead": len(turns) / merges,
            "turn_ms": {"p50": share(turns, 0.5) * 1000, "p99": share(turns, 0.99) * 1000},
            "decisions_a_cpu_second": decisions / cpu,
            "wait_s": {"p50": share(waits, 0.5), "p99": share(waits, 0.99)},
            "tenths": [_core(fleet, before.at, before.at + tenth), _core(fleet, self.at - tenth, self.at)],
            "calls_a_bead": {name: n / merges for name, n in (self.calls - before.calls).most_common()},
        }


def _core(fleet: Fleet, begin: float, end: float) -> float:
    """The share of a core in this time: merges come many at a time, so it is not counted by them."""
    return sum(cpu for when, cpu in fleet.turns if begin < when <= end) / (end - begin)


def share(values: Sequence[float], part: float) -> float:
    """The value below which that part of the sorted values is."""
    return values[min(len(values) - 1, int(len(values) * part))]


def main() -> None:
    doers, merges, beads = (int(word) for word in (*sys.argv[1:4], *("1000", "400", "100000")[len(sys.argv[1:4]) :]))
    print(json.dumps(measured(doers, merges, beads, *sys.argv[4:5]), indent=1))


if __name__ == "__main__":
    main()
