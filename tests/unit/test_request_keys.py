"""A command under a key is done once, whatever fails, and answers the same."""

import multiprocessing
import sqlite3
from pathlib import Path

import pytest

from nobrakes.errors import NotAllowed, UsageError
from nobrakes.events.kinds import Actor, Event, Kind, Surface
from nobrakes.paths import Paths
from nobrakes.request_keys import Answer, Once, named, once
from nobrakes.store import Store, create_store, open_store

ME = Actor("me", Surface.WEB)
PAUSED = Event(Kind.PAUSED, actor="me", data={"settings": {}})


class Killed(BaseException):
    """What kill -9 is to a transaction."""


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(str(tmp_path))


@pytest.fixture
def store(paths: Paths) -> Store:
    return create_store(paths.database)


def wanted(together: bool, key: str = "k", command: str = "") -> Once:
    return Once(key, command or named("pause", {"x": 1}), ME, together)


class Doing:
    """Pauses, and counts how often."""

    def __init__(self, store: Store, error: BaseException | None = None) -> None:
        self.store, self.error, self.times = store, error, 0

    def __call__(self) -> Answer:
        self.times += 1
        self.store.record(PAUSED)
        if self.error is not None:
            raise self.error
        return Answer(3, '{"n":1}', "paused", ("Unsettled", "not all", "look"))


BOTH = pytest.mark.parametrize("together", [True, False])


@BOTH
def test_the_second_time_it_answers_as_the_first(store: Store, paths: Paths, together: bool) -> None:
    do = Doing(store)
    first, before = once(store, paths, wanted(together), do)
    second, again = once(store, paths, wanted(together), do)
    assert (first, before, again, do.times, len(store.events())) == (second, False, True, 1, 1)


@BOTH
def test_other_words_under_the_key_are_refused(store: Store, paths: Paths, together: bool) -> None:
    do = Doing(store)
    once(store, paths, wanted(together), do)
    for command in (named("pause", {"x": 2}), named("resume", {"x": 1}), named("pause", {"x": 1}, "from stdin")):
        with pytest.raises(UsageError, match="with other arguments: nobrakes pause"):
            once(store, paths, wanted(together, command=command), do)
    assert do.times == 1


@BOTH
def test_what_failed_leaves_no_key(store: Store, paths: Paths, together: bool) -> None:
    with pytest.raises(NotAllowed):
        once(store, paths, wanted(together), Doing(store, NotAllowed("no")))
    assert store.request("k") is None and len(store.events()) == (0 if together else 1)
    do = Doing(store)
    assert once(store, paths, wanted(together), do)[1] is False and do.times == 1


def test_killed_in_one_transaction_nothing_was_done(store: Store, paths: Paths) -> None:
    with pytest.raises(Killed):
        once(store, paths, wanted(True), Doing(store, Killed()))
    assert store.request("k") is None and store.events() == []


def test_killed_between_transactions_it_is_not_done_again_unasked(store: Store, paths: Paths) -> None:
    with pytest.raises(Killed):
        once(store, paths, wanted(False), Doing(store, Killed()))
    do = Doing(store)
    with pytest.raises(NotAllowed, match="was interrupted"):
        once(store, paths, wanted(False), do)
    assert do.times == 0 and len(store.events()) == 1
    store.record(PAUSED)  # what others do is not noted under it
    assert once(store, paths, wanted(False, key="other"), do)[1] is False


def test_killed_before_anything_was_written_it_may_be_done(store: Store, paths: Paths) -> None:
    def killed() -> Answer:
        raise Killed

    with pytest.raises(Killed):
        once(store, paths, wanted(False), killed)
    assert once(store, paths, wanted(False), Doing(store))[1] is False


@pytest.mark.parametrize("key", ["", "a b", "é", "x" * 201, "a\n"])
def test_a_key_that_cannot_be_is_refused(store: Store, paths: Paths, key: str) -> None:
    with pytest.raises(UsageError, match="key is not valid"):
        once(store, paths, wanted(True, key=key), Doing(store))


def _racer(folder: str, together: bool, barrier: object, said: object) -> None:
    paths = Paths(folder)
    store = open_store(paths.database)
    do = Doing(store)
    barrier.wait()  # type: ignore[attr-defined]
    answer, again = once(store, paths, wanted(together), do)
    said.put((answer, again, do.times))  # type: ignore[attr-defined]
    store.close()


@pytest.mark.slow
@BOTH
def test_of_several_at_once_one_does_it(store: Store, paths: Paths, together: bool) -> None:
    store.close()
    spawn = multiprocessing.get_context("spawn")
    barrier, said = spawn.Barrier(4), spawn.Queue()
    racers = [spawn.Process(target=_racer, args=(paths.folder, together, barrier, said)) for _ in range(4)]
    for racer in racers:
        racer.start()
    found = [said.get(timeout=60) for _ in racers]
    for racer in racers:
        racer.join()
    assert len({answer for answer, _, _ in found}) == 1
    assert sorted(again for _, again, _ in found) == [False, True, True, True] and sum(t for *_, t in found) == 1
    with sqlite3.connect(paths.database) as connection:
        assert connection.execute("SELECT count(*) FROM events").fetchone() == (1,)


def test_old_keys_are_forgotten(store: Store, paths: Paths) -> None:
    once(store, paths, wanted(True), Doing(store))
    assert store.forget_requests(store.now() - 60) == 0
    assert store.forget_requests(store.now() + 60) == 1 and store.request("k") is None
