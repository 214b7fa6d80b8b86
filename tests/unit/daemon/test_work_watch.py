"""What agents do while they work is told once: changed files as a number, and their own runs of the tests."""

import json
from types import SimpleNamespace
from typing import Any

from nobrakes.agents.claude.launch import Claude
from nobrakes.config.settings import parse
from nobrakes.core.beads.attempt import Attempt, Run, RunKind
from nobrakes.core.beads.bead import Bead, Role
from nobrakes.core.beads.events import Event, Kind
from nobrakes.core.board import Board
from nobrakes.core.errors import GitFailed
from nobrakes.core.forge.feature import Feature, Stage
from nobrakes.daemon.attempts.work_watch import LOOK_SECONDS, WorkWatch

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
        self.out, self.files, self.events, self.jobs = b"", 0, list[Event](), dict[str, Any]()
        feature = Feature("login", "Login", "", stage=stage)
        store = SimpleNamespace(
            features=lambda: [feature],
            bead=lambda id_: Bead(id_, id_, epic="login" if id_ == "b" else None),
            events=lambda *_: list(self.events),
            record=self.events.append,
        )
        background = SimpleNamespace(begin=self.jobs.setdefault, over=self.over, busy=lambda name: name in self.jobs)
        checks = '[[checks]]\nname = "unit"\ncommand = "python3 -m pytest -q"\n'
        self.ports: Any = SimpleNamespace(
            store=store,
            git=SimpleNamespace(touched=self.touched),
            background=background,
            processes=SimpleNamespace(head=lambda path, most, start=0: self.out[start : start + most]),
            paths=SimpleNamespace(runs="/runs"),
            config=lambda: parse(checks, "config.toml"),
            adapter=lambda name: Claude(),
        )
        self.watch = WorkWatch(self.ports)

    def touched(self, bead: str) -> int | None:
        if self.files < 0:
            raise GitFailed("the workspace is gone")
        return self.files

    def over(self, name: str) -> bool:
        if name in self.jobs:
            self.jobs.pop(name)()
        return True

    def look(self, now: float) -> list[tuple[Kind, Any]]:
        before = len(self.events)
        board = Board(now, attempts=(ATTEMPT,), runs={7: RUN})
        assert not self.watch.look(board)
        return [(one.kind, dict(one.data)) for one in self.events[before:]]


def test_files_are_told_where_their_number_changed_and_no_more_than_once_in_a_while() -> None:
    world = World()
    assert world.look(100.0) == [] and world.watch.wake_at() == [100.0 + LOOK_SECONDS]
    world.files = 2
    assert world.look(100.5) == [(Kind.FILES_CHANGED, {"changed": 2})]
    world.files = 5
    assert world.look(101.0) == [] and world.look(100.0 + LOOK_SECONDS) == []
    assert world.look(101.0 + LOOK_SECONDS) == [(Kind.FILES_CHANGED, {"changed": 5})]
    assert world.look(102.0 + 3 * LOOK_SECONDS) == [], "nothing changed"
    world.files = -1
    world.look(102.0 + 5 * LOOK_SECONDS)
    world.watch.ended(ATTEMPT, RUN)
    assert len(world.events) == 2, "a clone that is gone ends nothing"


def test_a_new_daemon_tells_nothing_again_and_the_end_counts_once_more() -> None:
    world = World()
    world.out, world.files = call("pytest -x", "1") + result("1"), 1
    world.look(1000.0), world.look(1001.0)
    assert [one.kind for one in world.events] == [Kind.TESTS_RUN, Kind.FILES_CHANGED]
    world.watch = WorkWatch(world.ports)
    assert world.look(2000.0) == [] and world.look(2001.0) == []
    world.files = 4
    world.out += call("python3 -m pytest | tail -3", "2") + result("2", "3 failed, 1 passed in 0.1s")
    world.watch.ended(ATTEMPT, RUN)
    told = [(one.kind, dict(one.data)) for one in world.events[2:]]
    assert told == [(Kind.TESTS_RUN, {"passed": False, "seen": 2}), (Kind.FILES_CHANGED, {"changed": 4})]
    assert {(one.actor, one.attempt) for one in world.events} == {("Ada", 7)}
    world.watch.keep(set())
    assert world.watch.look(Board(9999.0)) is False and world.watch.wake_at() == []


def test_a_call_is_told_once_with_its_result_and_what_merely_names_the_program_never() -> None:
    world = World()
    world.out = call("pytest tests", "1") + call("grep pytest a", "2") + result("2") + result("1", failed=True)[:20]
    assert world.look(50.0) == []
    world.out = call("pytest tests", "1") + call("grep pytest a", "2") + result("2") + result("1", failed=True)
    assert world.look(50.0 + LOOK_SECONDS) == [(Kind.TESTS_RUN, {"passed": False, "seen": 1})]
    assert world.look(50.0 + 2 * LOOK_SECONDS) == []


def test_only_the_steps_of_a_feature_wake_the_loop() -> None:
    world = World(Stage.DONE)
    world.look(100.0)
    assert world.watch.wake_at() == []
