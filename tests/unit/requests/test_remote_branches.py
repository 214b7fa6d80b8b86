"""Branches of the remote are asked about one at a time, as often as was said, and each end is heard."""

from types import SimpleNamespace
from typing import Any

import pytest

from nobrakes.errors import GitFailed
from nobrakes.requests.worker.epics import RemoteBranches
from nobrakes.review.waits import Land, Landing


class Later:
    """A background whose jobs run when the test says so."""

    def __init__(self) -> None:
        self.jobs: dict[str, Any] = {}
        self.done: dict[str, Exception | None] = {}

    def begin(self, name: str, job: Any, far: bool = False) -> None:
        assert not self.busy(name)
        self.jobs[name] = job

    def busy(self, name: str) -> bool:
        return name in self.jobs or name in self.done

    def over(self, name: str) -> bool:
        if name not in self.done:
            return False
        error = self.done.pop(name)
        if error is not None:
            raise error
        return True

    def run(self) -> None:
        for name, job in list(self.jobs.items()):
            del self.jobs[name]
            try:
                job()
                self.done[name] = None
            except GitFailed as error:
                self.done[name] = error


@pytest.fixture
def world() -> Any:
    asked: list[str] = []

    def of_base(branch: str, direct: bool) -> Any:
        def catch_up() -> Land:
            asked.append(branch)
            if branch == "broken":
                raise GitFailed("it cannot be read")
            return Land(Landing.MOVED)

        return SimpleNamespace(catch_up=catch_up)

    background = Later()
    ports: Any = SimpleNamespace(background=background, git=SimpleNamespace(with_base_branch=of_base))
    return SimpleNamespace(remote=RemoteBranches(ports), background=background, asked=asked)


def test_each_is_asked_about_once_and_again_when_that_is_due(world: Any) -> None:
    assert world.remote.turn(["a", "b"], 1.0) == {} and world.remote.turn(["a", "b"], 2.0) == {}
    world.background.run()
    assert set(world.remote.turn(["a", "b"], 3.0)) == {"a", "b"} and world.asked == ["a", "b"]
    world.remote.again("a", 60.0)
    world.remote.again("b", 90.0)
    assert world.remote.wake_at(["a", "b"]) == 60.0 and world.remote.wake_at([]) is None
    world.remote.turn(["a", "b"], 59.0)
    assert not world.background.jobs
    world.remote.turn(["a", "b"], 60.0)
    world.background.run()
    assert world.asked == ["a", "b", "a"]


def test_the_end_of_what_nobody_wants_any_more_is_heard(world: Any) -> None:
    """Else it would keep a run from ending."""
    world.remote.turn(["a"], 1.0)
    world.background.run()
    assert "a" in world.remote.turn([], 2.0) and not world.background.busy("remote a")


def test_what_failed_is_asked_about_again(world: Any) -> None:
    world.remote.turn(["broken"], 1.0)
    world.background.run()
    with pytest.raises(GitFailed):
        world.remote.turn(["broken"], 2.0)
    world.remote.turn(["broken"], 3.0)
    world.remote.turn(["broken"], 4.0)
    world.background.run()
    assert world.asked == ["broken", "broken"]


def test_after_a_jump_of_the_clock_nothing_is_waited_for(world: Any) -> None:
    world.remote.again("a", 1e9)
    world.remote.at_once()
    world.remote.turn(["a"], 1.0)
    assert world.background.jobs
