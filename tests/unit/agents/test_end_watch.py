"""Agents that have finished and live on are ended after a grace, and what follows our stop is never theirs."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from nobrakes.agents.known import adapter
from nobrakes.agents.worker.process import How, how_it_ended
from nobrakes.agents.worker.watch import END_WATCH_LOOK_SECONDS, LAST_WORDS, MAX_GRACES, EndWatch
from nobrakes.beads.model import Attempt, Outcome, Role, Run, RunKind
from nobrakes.daemon.model import Board, Limits
from nobrakes.host.port import Ending, StepEnd
from tests.unit.agents import events as claude

ATTEMPT = Attempt(7, "b", 1, Role.DOER, "Ada", 1, "t", 0.0, agent="script")
RUN = Run("7-agent", 7, RunKind.AGENT, 0.0, pid=1)
OUT = "/runs/7-agent/agent.out"


class World:
    """One agent, what it prints and how its process ended."""

    def __init__(self, agent: str = "script") -> None:
        self.attempt, self.text = replace(ATTEMPT, agent=agent), ""
        self.code: int | None = None
        processes = SimpleNamespace(output=self.output, ending=self.ending, head=self.head)
        paths = SimpleNamespace(runs="/runs")
        store = SimpleNamespace(now=lambda: 0.0)
        ports: Any = SimpleNamespace(processes=processes, paths=paths, adapter=adapter, store=store)
        self.ports = ports
        self.watch = EndWatch(ports)

    def output(self, path: str, most: int) -> str:
        return self.text[-most:] if path == OUT else ""

    def head(self, path: str, most: int, start: int = 0) -> bytes:
        return self.text.encode()[start : start + most] if path == OUT else b""

    def ending(self, folder: str, steps: list[str]) -> Ending:
        return Ending((StepEnd("agent", True, self.code, 1.0, OUT, 1.0),), over=True)

    def ends_at(self, now: float, linger: float = 10.0) -> float | None:
        board = Board(now, Limits(linger_seconds=linger), attempts=(self.attempt,), runs={7: RUN})
        return self.watch.finished(board).get(RUN.id)


def test_who_has_said_so_is_ended_after_a_silence() -> None:
    world = World()
    world.text = "working\n"
    assert world.ends_at(100.0) is None
    world.text += "NOBRAKES: COMPLETED\n"
    assert world.ends_at(110.0) == 120.0 == world.ends_at(119.0)
    world.text += "one moment\n"
    assert world.ends_at(119.0 + END_WATCH_LOOK_SECONDS) == 119.0 + END_WATCH_LOOK_SECONDS + 10.0
    for second in range(122, 170, 3):
        world.text += "."
        world.ends_at(float(second))
    assert world.ends_at(170.0) == 110.0 + MAX_GRACES * 10.0  # who is never silent is ended nevertheless


@pytest.mark.parametrize(("agent", "graces"), [("script", 1), ("claude", LAST_WORDS)])
def test_after_agent_done_a_cli_has_the_time_for_its_last_event(agent: str, graces: int) -> None:
    world = World(agent)
    world.attempt = replace(world.attempt, data={"said": "completed"})
    assert world.ends_at(50.0) == 50.0 + graces * 10.0


def test_who_begins_another_turn_has_not_finished() -> None:
    world = World("claude")
    world.text = b"".join([*claude.START, claude.said("x"), claude.result()]).decode()
    assert world.ends_at(10.0) == 20.0
    world.text += claude.said("a task in the background has ended").decode()
    assert world.ends_at(15.0) is None
    world.text += claude.result().decode()
    assert world.ends_at(30.0) == 40.0


def test_the_loop_sleeps_until_somebody_has_finished() -> None:
    world = World()
    world.text = "working\n"
    world.ends_at(100.0)
    assert world.watch.wake_at() == [100.0 + END_WATCH_LOOK_SECONDS] and world.watch.is_silent(
        100.0 + END_WATCH_LOOK_SECONDS
    )
    world.text += "NOBRAKES: COMPLETED\n"
    assert world.watch.is_silent(101.0) and not world.watch.is_silent(110.0)
    world.ends_at(110.0)
    assert world.watch.wake_at() == []  # from here on its stop is due like any other


STOPS = (Outcome.COMPLETED, Outcome.STALLED, Outcome.TIMED_OUT, Outcome.INTERRUPTED, Outcome.CAPPED)
CODES = (None, 0, 1, 129, 137, 143, -9)


@pytest.mark.parametrize("why", STOPS)
@pytest.mark.parametrize("code", CODES)
def test_whatever_follows_our_stop_an_agent_that_had_finished_is_completed(why: Outcome, code: int | None) -> None:
    world = World("claude")
    world.text, world.code = b"".join([*claude.START, claude.said("x"), claude.result()]).decode(), code
    ended = how_it_ended(world.ports, "claude", replace(RUN, stopping=why, term_at=5.0))
    assert (ended.how, ended.verdict.outcome) == (How.ENDED, Outcome.COMPLETED)
    world = World("script")
    world.text, world.code = "NOBRAKES: COMPLETED\nbye\n", code
    ended = how_it_ended(world.ports, "script", replace(RUN, stopping=why, term_at=5.0))
    assert (ended.how, ended.verdict.outcome) == (How.ENDED, Outcome.COMPLETED)


@pytest.mark.parametrize("why", STOPS[1:])
@pytest.mark.parametrize("code", [code for code in CODES if code != 0])
@pytest.mark.parametrize("agent", ["claude", "script"])
def test_whatever_follows_our_stop_is_not_the_failure_of_one_at_work(
    why: Outcome, code: int | None, agent: str
) -> None:
    world = World(agent)
    world.text, world.code = b"".join([*claude.START, claude.said("x")]).decode(), code
    ended = how_it_ended(world.ports, agent, replace(RUN, stopping=why, term_at=5.0))
    assert (ended.how, ended.verdict.outcome) == (How.STOPPED, why)


def test_nothing_is_taken_from_an_agent_without_a_guard() -> None:
    world = World("claude")
    world.text = b"".join([*claude.START, claude.said("x"), claude.result()]).decode()
    ended = how_it_ended(world.ports, "claude", replace(RUN, stopping=Outcome.GUARD_FAILED))
    assert (ended.how, ended.verdict.outcome) == (How.STOPPED, Outcome.GUARD_FAILED)
