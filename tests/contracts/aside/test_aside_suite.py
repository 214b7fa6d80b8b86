"""Work beside the loop, by a thread and in the simulation: the same promises."""

import random
import threading
import time
from collections.abc import Callable

import pytest

from nobrakes.core.errors import GitFailed
from nobrakes.host.background import ThreadAside
from nobrakes.ports import Aside
from nobrakes.simulate.fake_background import FakeAside

MADE: dict[str, Callable[[], Aside]] = {
    "thread": ThreadAside,
    "simulated": lambda: FakeAside(random.Random(7)),
}


@pytest.fixture(params=list(MADE))
def aside(request: pytest.FixtureRequest) -> Aside:
    return MADE[request.param]()


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.001)


def test_a_job_is_done_once_however_often_it_is_begun(aside: Aside) -> None:
    done: list[int] = []
    for _ in range(3):
        aside.begin("one", lambda: done.append(1))
    wait_for(lambda: aside.over("one"))
    assert done == [1]


def test_after_its_end_was_told_it_may_be_done_again(aside: Aside) -> None:
    done: list[int] = []
    for _ in range(2):
        aside.begin("one", lambda: done.append(1))
        wait_for(lambda: aside.over("one"))
    assert done == [1, 1]


def test_what_was_never_begun_is_over(aside: Aside) -> None:
    assert aside.over("nothing")
    assert not aside.busy("nothing")
    assert aside.is_empty()


def test_it_is_busy_until_its_end_was_told(aside: Aside) -> None:
    aside.begin("one", lambda: None)
    assert aside.busy("one")
    assert not aside.is_empty()
    wait_for(lambda: aside.over("one"))
    assert not aside.busy("one")
    assert aside.is_empty()


def test_an_error_is_told_once_and_to_whoever_asks(aside: Aside) -> None:
    def fails() -> None:
        raise GitFailed("no")

    aside.begin("one", fails)
    with pytest.raises(GitFailed, match="no"):
        wait_for(lambda: aside.over("one"))
    assert aside.over("one")


def test_the_loop_is_woken_after_each_job(aside: Aside) -> None:
    woken = threading.Semaphore(0)
    aside.wakes(lambda: woken.release())
    aside.begin("one", lambda: None)
    wait_for(lambda: aside.over("one"))
    assert woken.acquire(timeout=20)


def test_closing_waits_for_what_was_begun(aside: Aside) -> None:
    done: list[int] = []
    for number in range(5):
        aside.begin(str(number), lambda number=number: done.append(number))  # type: ignore[misc]
    aside.close()
    assert sorted(done) == [0, 1, 2, 3, 4]


def test_a_job_that_hangs_keeps_no_other_waiting(aside: Aside) -> None:
    go, done = threading.Event(), threading.Event()
    if isinstance(aside, FakeAside):
        go.set()  # it does its jobs in one thread
    aside.begin("hangs", lambda: assert_true(go.wait(20)))
    aside.begin("another", done.set)
    wait_for(lambda: aside.over("another"))
    assert done.is_set()
    go.set()
    wait_for(lambda: aside.over("hangs"))
    aside.close()


def test_what_waits_for_another_machine_keeps_nobody_waiting(aside: Aside) -> None:
    go, done = threading.Event(), threading.Event()
    if isinstance(aside, FakeAside):
        go.set()  # it does its jobs in one thread
    aside.begin("far", lambda: assert_true(go.wait(20)), far=True)
    aside.begin("near", done.set)
    wait_for(lambda: aside.over("near"))
    assert done.is_set()
    go.set()
    wait_for(lambda: aside.over("far"))
    aside.close()


def assert_true(what: bool) -> None:
    assert what
