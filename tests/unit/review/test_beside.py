"""Questions beside the loop: each is asked once, and its end is heard, by its review or when that is over."""

import threading

import pytest

from nobrakes.errors import GitFailed
from nobrakes.host.command import ThreadBackground
from nobrakes.review.worker.merge_queue import Beside
from tests.support.scripted import until


def test_it_is_asked_once_and_its_end_is_told_once() -> None:
    beside: Beside[int] = Beside(ThreadBackground())
    asked: list[int] = []

    def ask() -> int:
        asked.append(1)
        return len(asked)

    assert until(lambda: beside.ask(7, "look 7", ask)) == 1 and asked == [1]
    assert not beside.is_pending("look 7")
    assert until(lambda: beside.ask(7, "look 7", ask)) == 2, "after its end was told it is asked again"


def test_what_failed_is_told_to_who_asked() -> None:
    beside: Beside[int] = Beside(ThreadBackground())

    def fails() -> int:
        raise GitFailed("broken")

    with pytest.raises(GitFailed, match="broken"):
        until(lambda: beside.ask(7, "look 7", fails))


def test_the_end_of_what_a_review_asked_that_is_over_is_heard_and_of_no_other() -> None:
    background, goes_on = ThreadBackground(), threading.Event()
    beside: Beside[bool] = Beside(background)
    beside.begin(7, "look 7", lambda: goes_on.wait(30))
    beside.settle({8})
    assert beside.is_pending("look 7"), "it goes on"
    goes_on.set()
    beside.settle({7})
    assert beside.is_pending("look 7"), "its review hears it"
    until(lambda: beside.settle({8}) or background.is_empty())
