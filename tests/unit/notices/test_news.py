"""What the daemon makes of the event log: in its order, each event once, however long a clone takes to be archived."""

from types import SimpleNamespace
from typing import Any

import pytest

from nobrakes.beads.model import Bead, Status
from nobrakes.errors import GitFailed
from nobrakes.events.kinds import Event, Kind
from nobrakes.notices.worker import MAX_EVENTS, EventConsumer
from nobrakes.store import open_memory

BOARD: Any = SimpleNamespace(runs={}, attempts=())


class Background:
    """Jobs that end when they are told to, or fail."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.is_over = False
        self.fails = False

    def begin(self, name: str, job: Any, far: bool = False) -> None:
        if name not in self.begun:
            self.begun.append(name)

    def over(self, name: str) -> bool:
        if self.fails:
            self.begun.remove(name)
            raise GitFailed("the clone cannot be archived")
        return self.is_over

    def busy(self, name: str) -> bool:
        return name in self.begun


class World:
    def __init__(self) -> None:
        self.store = open_memory(lambda: 100.0)
        self.background = Background()
        self.told: list[str] = []
        self.read: list[tuple[int, int]] = []
        events = self.store.events
        self.store.events = lambda *asked: (found := events(*asked), self.read.append((asked[0], len(found))))[0]  # type: ignore[method-assign]
        self.ports: Any = SimpleNamespace(
            store=self.store,
            background=self.background,
            notifier=SimpleNamespace(tell=lambda notice: self.told.append(notice.text)),
        )
        self.store.put([Bead(one, one, status=Status.NEEDS_DOER, needs_tests=False) for one in ("a", "b")], [], "me")
        self.news = EventConsumer(self.ports, lambda notices: [])
        self.news.read(BOARD)

    def say(self, text: str) -> None:
        self.store.record(Event(Kind.NOTIFIED, "b", actor="Ada", data={"text": text}))


@pytest.fixture
def world() -> World:
    return World()


def test_nothing_is_told_before_a_clone_is_archived_and_nothing_is_read_twice(world: World) -> None:
    world.store.record(Event(Kind.CANCELLED, "a"))
    world.say("one")
    assert world.news.read(BOARD) == [] and world.background.begun == ["retire a"]
    world.say("two")
    world.read.clear()
    assert world.news.read(BOARD) == [] and world.read[0][1] == 1
    world.background.is_over = True
    assert len(world.news.read(BOARD)) == 3 and world.told == ["one", "two"]
    assert EventConsumer(world.ports, lambda notices: []).read(BOARD) == [] and world.told == ["one", "two"]


def test_whoever_begins_again_reads_from_what_was_dealt_with(world: World) -> None:
    world.say("one")
    world.store.record(Event(Kind.CANCELLED, "a"))
    world.say("two")
    world.news.read(BOARD)
    world.background.is_over = True
    EventConsumer(world.ports, lambda notices: []).read(BOARD)
    assert world.told == ["one", "two"]


def test_what_failed_is_begun_again(world: World) -> None:
    world.store.record(Event(Kind.CANCELLED, "a"))
    world.say("one")
    world.background.fails = True
    with pytest.raises(GitFailed):
        world.news.read(BOARD)
    assert world.background.begun == []
    world.background.fails, world.background.is_over = False, True
    world.news.read(BOARD)
    assert world.background.begun == ["retire a"] and world.told == ["one"]


def test_who_waits_long_does_not_read_the_whole_log(world: World) -> None:
    world.store.record(Event(Kind.CANCELLED, "a"))
    for number in range(MAX_EVENTS + 10):
        world.say(str(number))
    for _ in range(3):
        world.news.read(BOARD)
    assert len(world.news.waiting) == MAX_EVENTS
    world.background.is_over = True
    for _ in range(3):
        world.news.read(BOARD)
    assert len(world.told) == MAX_EVENTS + 10
