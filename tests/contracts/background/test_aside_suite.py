"""Work beside the loop, by a thread and in the simulation: the same promises."""

import random
import threading
import time
from collections.abc import Callable

import pytest

from nobrakes.errors import GitFailed
from nobrakes.host.command import ThreadBackground
from nobrakes.host.port import Background
from tests.world.fake_background import FakeBackground

MADE: dict[str, Callable[[], Background]] = {
    "thread": ThreadBackground,
    "simulated": lambda: FakeBackground(random.Random(7)),
}


@pytest.fixture(params=list(MADE))
def background(request: pytest.FixtureRequest) -> Background:
    return MADE[request.param]()


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.001)


def test_a_job_is_done_once_however_often_it_is_begun(background: Background) -> None:
    done: list[int] = []
    for _ in range(3):
        background.begin("one", lambda: done.append(1))
    wait_for(lambda: background.over("one"))
    assert done == [1]


def test_after_its_end_was_told_it_may_be_done_again(background: Background) -> None:
    done: list[int] = []
    for _ in range(2):
        background.begin("one", lambda: done.append(1))
        wait_for(lambda: background.over("one"))
    assert done == [1, 1]


def test_what_was_never_begun_is_over(background: Background) -> None:
    assert background.over("nothing")
    assert not background.busy("nothing")
    assert background.is_empty()


def test_it_is_busy_until_its_end_was_told(background: Background) -> None:
    background.begin("one", lambda: None)
    assert background.busy("one")
    assert not background.is_empty()
    wait_for(lambda: background.over("one"))
    assert not background.busy("one")
    assert background.is_empty()


def test_an_error_is_told_once_and_to_whoever_asks(background: Background) -> None:
    def fails() -> None:
        raise GitFailed("no")

    background.begin("one", fails)
    with pytest.raises(GitFailed, match="no"):
        wait_for(lambda: background.over("one"))
    assert background.over("one")


def test_the_loop_is_woken_after_each_job(background: Background) -> None:
    woken = threading.Semaphore(0)
    background.wakes(lambda: woken.release())
    background.begin("one", lambda: None)
    wait_for(lambda: background.over("one"))
    assert woken.acquire(timeout=20)


def test_closing_waits_for_what_was_begun(background: Background) -> None:
    done: list[int] = []
    for number in range(5):
        background.begin(str(number), lambda number=number: done.append(number))  # type: ignore[misc]
    background.close()
    assert sorted(done) == [0, 1, 2, 3, 4]


def test_a_job_that_hangs_keeps_no_other_waiting(background: Background) -> None:
    go, done = threading.Event(), threading.Event()
    if isinstance(background, FakeBackground):
        go.set()  # it does its jobs in one thread
    background.begin("hangs", lambda: assert_true(go.wait(20)))
    background.begin("another", done.set)
    wait_for(lambda: background.over("another"))
    assert done.is_set()
    go.set()
    wait_for(lambda: background.over("hangs"))
    background.close()


def test_what_waits_for_another_machine_keeps_nobody_waiting(background: Background) -> None:
    go, done = threading.Event(), threading.Event()
    if isinstance(background, FakeBackground):
        go.set()  # it does its jobs in one thread
    background.begin("far", lambda: assert_true(go.wait(20)), far=True)
    background.begin("near", done.set)
    wait_for(lambda: background.over("near"))
    assert done.is_set()
    go.set()
    wait_for(lambda: background.over("far"))
    background.close()


def assert_true(what: bool) -> None:
    assert what
