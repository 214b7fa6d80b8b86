"""What agents do while they work is told once: changed files as a number, and their own runs of the tests."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from nobrakes.agents.claude import Claude
from nobrakes.agents.worker import watch
from nobrakes.agents.worker.exit import Fetches
from nobrakes.agents.worker.watch import LOOK_SECONDS, WorkWatch
from nobrakes.beads.model import Attempt, Bead, Role, Run, RunKind
from nobrakes.config.settings import parse
from nobrakes.daemon.model import Board
from nobrakes.errors import GitFailed
from nobrakes.events.kinds import Event, Kind
from nobrakes.features.model import Feature, Stage

ATTEMPT = Attempt(7, "b", 1, Role.DOER, "Ada", 1, "t", 0.0, agent="claude")
RUN = Run("7-agent", 7, RunKind.AGENT, 0.0, pid=1)


def said(kind: str, **block: Any) -> bytes:
    return json.dumps({"type": kind, "message": {"content": [block]}}).encode() + b"\n"


def call(command: str, id_: str) -> bytes:
    return said("assistant", type="tool_use", id=id_, name="Bash", input={"command": command})


def result(id_: str, text: str = "", failed: bool = False) -> bytes:
    return said("user", type="tool_result", tool_use_id=id_, content=text, is_error=failed)


class World:
    """One agent at work; the job beside the loop is done at once, or held back."""

    def __init__(self, stage: Stage = Stage.IMPLEMENTATION) -> None:
        self.out, self.old, self.files, self.events, self.jobs = b"", b"", 0, list[Event](), dict[str, Any]()
        feature = Feature("login", "Login", "", stage=stage)
        store = SimpleNamespace(
            features=lambda: [feature],
            bead=lambda id_: Bead(id_, id_, epic="login" if id_ == "b" else None),
            latest_events=lambda kinds, *_: [one for one in reversed(self.events) if one.kind in kinds],
            record=self.events.append,
        )
        background = SimpleNamespace(begin=self.jobs.setdefault, over=self.over, busy=lambda name: name in self.jobs)
        checks = '[[checks]]\nname = "unit"\ncommand = "python3 -m pytest -q"\n'
        self.ports: Any = SimpleNamespace(
            store=store,
            git=SimpleNamespace(touched=self.touched),
            background=background,
            processes=SimpleNamespace(head=self.head),
            paths=SimpleNamespace(runs="/runs"),
            config=lambda: parse(checks, "config.toml"),
            adapter=lambda name: Claude(),
        )
        self.watch = WorkWatch(self.ports, {})

    def head(self, path: str, most: int, start: int = 0) -> bytes:
        return (self.old if path.endswith(".out.1") else self.out)[start : start + most]

    def touched(self, bead: str) -> int | None:
        if self.files < 0:
            raise GitFailed("the workspace is gone")
        return self.files

    def over(self, name: str) -> bool:
        if name in self.jobs:
            self.jobs.pop(name)()
        return True

    def ends(self) -> None:
        self.ports.store.attempt = lambda _: ATTEMPT
        self.ports.git.fetch_work = lambda bead, fence: "abc"
        fetches = Fetches(self.ports)
        fetches.left = self.watch.left
        assert fetches.is_over(RUN)
        self.watch.ended(ATTEMPT, RUN)

    def look(self, now: float) -> list[tuple[Kind, Any]]:
        before = len(self.events)
        board = Board(now, attempts=(ATTEMPT,), runs={7: RUN})
        assert not self.watch.look(board)
        return [(one.kind, dict(one.data)) for one in self.events[before:]]

    def failed_rounds(self, now: float) -> dict[int, int]:
        self.look(now)
        return dict(self.watch.seen(Board(now)).failed_rounds)


def test_files_are_told_where_their_number_changed_and_no_more_than_once_in_a_while() -> None:
    world = World()
    assert world.look(100.0) == [] and world.watch.wake_at() == [100.0 + LOOK_SECONDS]
    world.files = 2
    assert world.look(100.0 + LOOK_SECONDS) == world.look(100.5 + LOOK_SECONDS) == [] and not world.jobs
    world.out += b"I change them\n"
    assert world.look(100.0 + 2 * LOOK_SECONDS) == [] and world.jobs
    assert world.look(100.5 + 2 * LOOK_SECONDS) == [(Kind.FILES_CHANGED, {"changed": 2})]
    world.files, world.out = 5, world.out + b"and more\n"
    assert world.look(101.0 + 2 * LOOK_SECONDS) == [] and world.look(100.0 + 3 * LOOK_SECONDS) == []
    assert world.look(101.0 + 3 * LOOK_SECONDS) == [(Kind.FILES_CHANGED, {"changed": 5})]
    world.out += b"nothing\n"
    assert world.look(100.0 + 4 * LOOK_SECONDS) == world.look(101.0 + 4 * LOOK_SECONDS) == [], "nothing changed"
    world.files, world.out = -1, world.out + b"and gone\n"
    world.look(102.0 + 5 * LOOK_SECONDS)
    world.ends()
    assert len(world.events) == 2, "a clone that is gone ends nothing"


def test_a_new_daemon_tells_nothing_again_and_the_end_counts_once_more() -> None:
    world = World()
    world.out, world.files = call("pytest -x", "1") + result("1"), 1
    world.look(1000.0), world.look(1001.0)
    assert [one.kind for one in world.events] == [Kind.TESTS_RUN, Kind.FILES_CHANGED]
    world.watch = WorkWatch(world.ports, {})
    assert world.look(2000.0) == [] and world.look(2001.0) == []
    world.files = 4
    world.out += call("python3 -m pytest | tail -3", "2") + result("2", "3 failed, 1 passed in 0.1s")[:-1]
    world.ends()
    told = [(one.kind, dict(one.data)) for one in world.events[2:]]
    assert told == [(Kind.TESTS_RUN, {"passed": False, "call": "2"}), (Kind.FILES_CHANGED, {"changed": 4})]
    assert {(one.actor, one.attempt) for one in world.events} == {("Ada", 7)}
    world.watch.keep(set())
    assert world.watch.look(Board(9999.0)) is False and world.watch.wake_at() == []


def test_a_call_is_told_once_with_its_result_and_what_merely_names_the_program_never() -> None:
    world = World()
    world.out = call("pytest tests", "1") + call("grep pytest a", "2") + result("2") + result("1", failed=True)[:20]
    assert world.look(50.0) == []
    world.out = call("pytest tests", "1") + call("grep pytest a", "2") + result("2") + result("1", failed=True)
    assert world.look(50.0 + LOOK_SECONDS) == [(Kind.TESTS_RUN, {"passed": False, "call": "1"})]
    assert world.look(50.0 + 2 * LOOK_SECONDS) == []


def test_an_output_that_is_begun_again_is_read_on_and_a_new_daemon_knows_the_calls_by_their_ids() -> None:
    def ids(found: list[tuple[Kind, Any]]) -> list[str]:
        return [data["call"] for kind, data in found if kind is Kind.TESTS_RUN]

    world = World()
    world.out = call("pytest", "1") + result("1") + call("pytest", "2")
    assert ids(world.look(100.0)) == ["1"]
    world.old = world.out + result("2") + call("pytest", "3")  # as the recorder does at half of its limit
    world.out = result("3") + b"x" * len(world.old) + b"\n" + call("pytest", "4") + result("4")
    assert ids(world.look(200.0)) + ids(world.look(300.0)) == ["2", "3", "4"]
    world.old, world.out = world.out + call("pytest", "5"), result("5") + call("pytest", "6")
    world.watch = WorkWatch(world.ports, {})
    assert ids(world.look(400.0)) + ids(world.look(500.0)) == ["5"]
    world.old, world.out = b"lost\n" + result("6"), call("pytest", "7") + result("7")  # anew twice between two looks
    assert ids(world.look(600.0)) + ids(world.look(700.0)) == ["6", "7"]


def test_what_an_agent_floods_at_its_end_is_looked_at_for_a_bounded_time(monkeypatch: Any) -> None:
    monkeypatch.setattr(watch, "MAX_BYTES", 200)
    world = World()
    world.look(1.0)
    world.out = b"x" * 199 + b"\n"
    world.out = world.out * watch.LOOKS * 2 + call("pytest", "1") + result("1")
    world.ends()
    assert world.events == []


def test_a_clock_that_went_back_holds_nothing_up_and_a_count_that_failed_is_nobodys_trouble() -> None:
    world = World()
    world.out, world.files = b"begun\n", 1
    world.look(5000.0)
    assert world.look(5001.0) == [(Kind.FILES_CHANGED, {"changed": 1})]
    world.out, world.files = world.out + b"more\n", 2
    world.look(1000.0)
    assert world.look(1001.0) == [(Kind.FILES_CHANGED, {"changed": 2})]
    assert world.watch.wake_at() == [1000.0 + LOOK_SECONDS]

    def fails(name: str) -> bool:
        raise GitFailed("the workspace is gone")

    world.ports.background.over = fails
    assert world.look(2000.0) == []
    world.watch.keep(set())


def test_only_the_steps_of_a_feature_wake_the_loop() -> None:
    world = World(Stage.DONE)
    world.out, world.files = call("pytest", "1") + result("1"), 3
    assert world.look(100.0) == [(Kind.TESTS_RUN, {"passed": True, "call": "1"})]
    assert world.watch.wake_at() == [] and world.jobs == {}
    world.ends()
    assert [dict(one.data) for one in world.events[1:]] == [{"changed": 3}]


FAILS = "1 failed, 2 passed in 0.1s"


def rounds(*outputs: str) -> bytes:
    told = [(call("pytest", f"c{n}"), result(f"c{n}", text, "failed" in text)) for n, text in enumerate(outputs)]
    return b"".join(line for pair in told for line in pair)


@pytest.mark.parametrize(
    ("outputs", "failed"),
    [
        ((FAILS,) * 3, 3),
        ((FAILS, FAILS, "3 passed in 0.1s", FAILS), 1),
        (("3 failed in 0.1s", "2 failed, 1 passed in 0.1s", FAILS), 1),
        (("it failed to start",) * 4, 4),
        (("3 passed in 0.1s",), 0),
    ],
)
def test_rounds_that_fail_in_the_same_way_are_a_streak(outputs: tuple[str, ...], failed: int) -> None:
    world = World()
    world.out = rounds(*outputs)
    assert world.failed_rounds(20.0) == ({7: failed} if failed else {})


def test_an_explanation_ends_the_streak_and_reported_rounds_are_one_too() -> None:
    world = World()
    world.out = rounds(FAILS, FAILS)
    assert world.failed_rounds(20.0) == {7: 2}
    world.events.append(Event(Kind.LOGGED, "b", 7, "Ada", {"text": "the fixture is old"}, seq=5))
    world.out += rounds(FAILS, FAILS, FAILS)[len(rounds(FAILS, FAILS)) :]
    assert world.failed_rounds(40.0) == {}
    for n in range(6, 9):
        world.events.append(Event(Kind.TESTED, "b", 7, "Ada", {"text": "unit: fail: exit code 1"}, seq=n))
    assert world.failed_rounds(60.0) == {7: 3}
    world.events.append(Event(Kind.TESTED, "b", 7, "Ada", {"text": "unit: pass"}, seq=9))
    assert world.failed_rounds(80.0) == {}
