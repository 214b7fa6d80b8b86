"""The loop sleeps through the silence of its agents, and wakes for whatever else is due."""

from types import SimpleNamespace

import pytest

from nobrakes.agents.worker.watch import METERING_LOOK_SECONDS, Meter
from nobrakes.beads.model import Run, RunKind
from nobrakes.daemon.worker.loop import rest


class World:
    """A clock, the outputs of four agents, and a waker that passes the time until something is written."""

    def __init__(self):
        self.now = 1000.0
        self.texts = {f"/runs/{n}-agent/agent.out": b"begun\n" for n in range(1, 5)}
        self.naps, self.reads = [], []
        self.later: list[tuple[float, str, bytes]] = []  # at, where, what
        self.woken_at: float | None = None
        processes = SimpleNamespace(head=self.head)
        adapter = SimpleNamespace(used=lambda raw: None)
        ports = SimpleNamespace(processes=processes, paths=SimpleNamespace(runs="/runs"), adapter=lambda name: adapter)
        self.meter = Meter(ports)
        self.runs = [Run(f"{n}-agent", n, RunKind.AGENT, self.now, 10 + n, "x") for n in range(1, 5)]
        self.works = {
            run.id: SimpleNamespace(
                data={"window": 1000}, agent="claude", started_at=1.0, tokens=0, id=run.attempt, bead="a"
            )
            for run in self.runs
        }

    def head(self, path, most, place=0):
        self.reads.append((path, most))
        return self.texts[path][place : place + most]

    def look(self):
        board = SimpleNamespace(now=self.now, all_runs=self.runs, work_of=lambda run: self.works[run.id])
        assert self.meter.look(board) is False
        self.reads.clear()

    def wait(self, seconds):
        self.naps.append(seconds)
        if self.woken_at is not None and self.now + seconds >= self.woken_at:
            self.now = self.woken_at
            return True
        self.now += seconds
        for at, path, text in self.later:
            if at <= self.now:
                self.texts[path] += text
        self.later = [one for one in self.later if one[0] > self.now]
        return False

    def rest(self, due_at):
        rest(self, (self.meter,), self.now, due_at, lambda: self.now)
        return self.now - 1000.0


@pytest.fixture
def world():
    made = World()
    made.look()
    return made


def test_silent_agents_ask_for_no_turn_until_something_else_is_due(world):
    assert world.rest(1040.0) == 40.0
    assert len(world.naps) == 8 and set(world.naps) == {METERING_LOOK_SECONDS}
    assert {most for _, most in world.reads} == {1}


def test_one_that_speaks_is_read_at_its_next_look(world):
    world.later = [(1011.0, "/runs/3-agent/agent.out", b"more\n")]
    assert world.rest(1040.0) == 15.0
    board = SimpleNamespace(now=world.now, all_runs=world.runs, work_of=lambda run: world.works[run.id])
    world.meter.look(board)
    assert ("/runs/3-agent/agent.out", 4_000_000) in world.reads


def test_what_happens_ends_it_at_once(world):
    world.woken_at = 1007.0
    assert world.rest(1040.0) == 7.0


def test_a_clock_that_was_set_back_ends_it(world):
    real = world.wait

    def set_back(seconds):
        real(seconds)
        world.now -= 500.0
        return False

    world.wait = set_back
    assert world.rest(1040.0) == METERING_LOOK_SECONDS - 500.0


def test_without_agents_it_sleeps_until_it_is_due(world):
    world.meter.keep(set())
    assert world.rest(1040.0) == 40.0 and world.naps == [40.0]
