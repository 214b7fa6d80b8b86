"""What holds for a run whoever it is of: an attempt, a session, or the machine itself (main's monitor).

One daemon on the virtual clock, the same agent and the same provider. What the machine runs has no agent: of it hold
stopping, the proof of death, and going on after a crash.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from nobrakes.agents.limits import State as Trip
from nobrakes.beads.model import Attempt, Bead, Outcome, Run, Status, bead_owner, session_owner
from nobrakes.config.settings import Config, validated
from nobrakes.events.kinds import Kind
from nobrakes.paths import Paths
from nobrakes.sessions.model import SessionKind, Talk
from nobrakes.sessions.service import viewing as transcripts
from tests.world.agents import DONE, Script
from tests.world.fake_processes import AGENT, Child
from tests.world.main_monitor import watch_of
from tests.world.project import TESTS
from tests.world.rates import Rates
from tests.world.world import ROOT, World

CALM = Rates(fail=0, conflict=0, crash=0, trouble=0, people=0, machine=0, refuse=0, cut=0)
SETTINGS: dict[str, Any] = {
    "checks": [{"name": "tests", "command": TESTS, "timeout_minutes": 5}],
    "limits": {"doers": 1, "sessions": 1, "agent_minutes": 20, "idle_minutes": 3},
    "agents": {"test_writer": "first", "doer": "first", "shaper": "first", "script": {"command": [AGENT, "{prompt}"]}},
}


@dataclass
class Owner:
    """A world in which one agent is wanted, by a bead or by a session; `name` is a word of beads.model."""

    world: World
    kind: str

    @property
    def name(self) -> str:
        return bead_owner("b") if self.kind == "attempt" else session_owner(1)

    def want(self) -> None:
        """Somebody wants the agent."""
        store = self.world.store
        if self.kind == "attempt":
            store.put([Bead("b", "B", status=Status.NEEDS_DOER, needs_tests=False)], [], "me")
        else:
            store.begin_session(SessionKind.PLANNING, "person:me", "t", ("first", "north", ""), "hello", "me")
        self.world._turns()

    def work(self) -> Attempt | Talk | None:
        """What is open of it."""
        board = self.world.store.board(self.world.config.board_limits())
        return next(iter(board.agents), None)

    def run(self) -> Run:
        (run,) = (one for one in self.world.store.runs() if one.id.endswith("-agent"))
        return run

    def child(self) -> Child:
        return self.world.processes.children[self.run().id]

    def until(self, holds: Callable[[], bool], most: int = 400) -> None:
        for _ in range(most):
            if holds():
                return
            assert self.world.step(), "nothing more happens"
        raise AssertionError("it never came to that")

    def starts(self) -> list[float]:
        kinds = (Kind.DOER_STARTED, Kind.TURN_STARTED)
        return [event.at for event in self.world.store.events(0, 100_000) if event.kind in kinds]

    def outcomes(self) -> list[Outcome]:
        kinds = (Kind.DOER_STOPPED, Kind.WORK_SUBMITTED, Kind.TURN_ENDED)
        found = [event for event in self.world.store.events(0, 100_000) if event.kind in kinds]
        return [Outcome(event.data["outcome"]) for event in found]


def world(agent: Callable[[], Script] | None = None, **more: Any) -> World:
    made = World(3, beads=0, rates=CALM, config=validated(Config, {**SETTINGS, **more}))
    if agent is not None:
        usual = made.processes.program

        def program(command: Any, step: Any) -> Script:
            if AGENT not in step.argv:
                return usual(command, step)
            words, _ = made.sessions.first_line(command, step, made._lives)
            made.processes.say(made.processes.children[command.folder.rpartition("/")[2]], step, words)
            return agent()

        made.processes.program = program
    return made


@pytest.fixture(params=["attempt", "session"])
def owner(request: pytest.FixtureRequest) -> Callable[..., Owner]:
    return lambda agent=None, **more: Owner(world(agent, **more), request.param)


def works(seconds: float = 30.0, words: str = DONE, code: int = 0) -> Callable[[], Script]:
    def script() -> Script:
        yield seconds
        return code, words

    return script


def hangs() -> Script:
    yield 5.0
    yield None
    return 0, ""


def test_nothing_starts_under_a_cap_and_it_starts_when_that_is_over(owner: Callable[..., Owner]) -> None:
    one = owner(works(), caps={"calls_per_hour": 1})
    one.world.store.begin_session(SessionKind.CHAT, "person:me", "first", ("second", "south", ""), "hi", "me")
    one.world._turns()  # it takes the one start of this hour
    one.want()
    one.until(lambda: len(one.starts()) == 2)
    first, second = one.starts()
    assert int(first // 3600) < int(second // 3600)


def test_a_cap_of_the_day_asks_who_is_at_work_to_stop(owner: Callable[..., Owner]) -> None:
    one = owner(works(600.0), caps={"day": {"usd": 1}})
    one.want()
    work = one.work()
    assert work is not None
    if isinstance(work, Talk):
        one.world.store.spend_turn(work.turn.id, 2.0, 10)
    else:
        one.world.store.spend(work.id, 2.0, 10)
    one.until(lambda: Outcome.CAPPED in one.outcomes())
    assert one.work() is None, "and nothing starts again on this day"


def test_nothing_starts_at_a_provider_that_cools_down_and_it_goes_on_by_itself(owner: Callable[..., Owner]) -> None:
    one = owner()
    until = one.world.clock.now() + 3600
    one.world.providers.refusing["north"] = (Outcome.RATE_LIMITED, until, True)
    one.want()
    one.until(lambda: len(one.starts()) >= 2)
    assert one.outcomes()[0] is Outcome.RATE_LIMITED and one.starts()[1] >= until
    one.until(lambda: one.outcomes()[-1] in (Outcome.COMPLETED, Outcome.BLOCKED))


def test_what_fails_in_the_same_way_opens_the_breaker_of_this_owner_alone(owner: Callable[..., Owner]) -> None:
    one = owner(works(5.0, "", 2), breaker={"without_progress": 2}, limits={**SETTINGS["limits"], "max_failures": 9})
    one.want()
    one.until(lambda: one.work() is None and len(one.outcomes()) == 2 and one.world.store.runs() == [])
    assert one.world.store.breakers(one.name)["north"].state is Trip.OPEN
    one.world._turns()
    assert len(one.starts()) == 2
    other = Owner(one.world, "session" if one.kind == "attempt" else "attempt")
    other.want()
    assert len(one.starts()) == 3, "the provider may serve somebody else"


def test_an_agent_that_is_silent_or_takes_too_long_is_stopped(owner: Callable[..., Owner]) -> None:
    one = owner(hangs)
    one.want()
    one.until(lambda: Outcome.STALLED in one.outcomes())


def test_one_whose_guard_does_not_answer_is_stopped_at_once_and_asks_a_person(
    owner: Callable[..., Owner], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.world.providers import Simulated

    monkeypatch.setattr(Simulated, "refuses", lambda self, head, self_test="": "no guard" if head else None)
    one = owner(works(600.0))
    one.want()
    one.until(lambda: Outcome.GUARD_FAILED in one.outcomes())
    one.world._turns()
    assert len(one.starts()) == 1 and one.work() is None


def test_what_it_says_can_be_read_while_it_works(owner: Callable[..., Owner]) -> None:
    one = owner(works(600.0))
    one.want()
    work = one.work()
    assert work is not None
    name = "session~1" if isinstance(work, Talk) else work.name
    found = transcripts.find_session(one.world.store, Paths(ROOT), name)
    assert found.path == f"{ROOT}/runs/{one.run().id}/agent.out" and found.agent == "first"


def test_a_person_stops_it_alone_and_that_is_no_failure(owner: Callable[..., Owner]) -> None:
    one = owner(works(600.0))
    one.want()
    work = one.work()
    assert work is not None
    if isinstance(work, Talk):
        one.world.store.stop_session(work.session.id, "me")
    else:
        one.world.store.set_setting("stop_asked", str(work.id))
        one.world.store.record(replace(one.world.store.events(0, 1)[0], kind=Kind.HELD, bead="b", seq=0, attempt=None))
    one.until(lambda: Outcome.INTERRUPTED in one.outcomes())
    one.world._turns()
    assert one.work() is None
    failures = one.world.store.bead("b").failures if one.kind == "attempt" else one.world.store.session(1).failures
    assert failures == 0


def test_it_is_over_when_its_whole_tree_is_dead_and_not_before(owner: Callable[..., Owner]) -> None:
    one = owner(works())
    one.want()
    one.child().leaves_one_behind = one.child().stubborn = True
    one.until(lambda: one.child().main_ended)
    one.world._turns()
    assert one.work() is not None, "something of it lives"
    child = one.child()
    one.until(lambda: one.work() is None or one.run().id not in child.run or not child.alive)
    assert not child.alive


def test_a_daemon_that_is_killed_leaves_it_to_the_next_which_starts_nothing_twice(owner: Callable[..., Owner]) -> None:
    one = owner(works())
    one.want()
    run = one.run().id
    one.world.daemon = one.world._boot()
    one.world._turns()
    assert one.run().id == run and len(one.starts()) == 1
    one.until(lambda: one.work() is None or one.run().id != run)
    assert one.outcomes()[0] in (Outcome.COMPLETED, Outcome.NO_WORK)


def test_what_was_planned_and_never_started_is_started_by_the_next(owner: Callable[..., Owner]) -> None:
    one = owner(works())
    one.want()
    run = one.run()
    one.world.processes.kill(run)
    del one.world.processes.children[run.id]
    one.world.store.update_run(run.id, pid=None)
    one.world.daemon = one.world._boot()
    one.world._turns()
    assert one.child().alive and len(one.starts()) == 1


def test_it_goes_on_with_the_session_of_its_cli(owner: Callable[..., Owner]) -> None:
    one = owner(works(5.0, "NOBRAKES: BLOCKED\n"))
    one.want()
    one.until(lambda: one.work() is None and one.world.store.runs() == [])
    if one.kind == "session":
        one.world.store.say(1, "go on", "me")
    else:
        (asked,) = one.world.store.escalations()
        one.world.store.answer(asked.id, "yes", "me")
    one.world._turns()
    one.until(lambda: len(one.starts()) == 2)
    words = [child.command.steps[0].argv for child in one.world.processes.children.values() if child.is_agent]
    assert ["--resume" in argv for argv in words[:2]] == [False, True]


# --- the machine: main's monitor -----------------------------------------------------------------


def monitored() -> tuple[World, str]:
    """A world whose main is being looked at, and the run of that."""
    made = World(3, beads=0, rates=CALM, config=validated(Config, SETTINGS))
    made.config = made.scene.config = replace(made.config, review=replace(made.config.review, main_check_hours=0.1))
    for _ in range(50):
        made._turns()
        living = [child.run for child in made.processes.living()]
        if living:
            return made, living[0]
        made.clock.pass_to(made.wake_at or made.clock.steady() + 400)
    raise AssertionError("nobody looks at main")


def test_what_the_machine_runs_is_of_nobody_and_the_next_daemon_goes_on_with_it() -> None:
    made, run = monitored()
    assert made.store.runs() == [] and watch_of(made.store).run == run
    made.daemon = made._boot()
    made._turns()
    assert [child.run for child in made.processes.living()] == [run]


def test_what_the_machine_runs_is_stopped_with_it_and_is_over_when_it_is_dead() -> None:
    made, _ = monitored()
    made.store.set_setting("stopping", "1")
    for _ in range(50):
        made._turns()
        if not made.processes.living():
            break
        made.processes.advance(made.processes.next_event() or made.clock.steady())
        made.clock.pass_to(max(made.processes.next_event() or 0.0, made.clock.steady() + 5))
    assert made.processes.living() == []
