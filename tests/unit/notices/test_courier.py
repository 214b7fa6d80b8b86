"""The sender of notices: what is due is sent beside the loop, tried again, counted in digests, held in quiet hours, told again."""

import random
import re
from datetime import tzinfo
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from nobrakes.beads.model import Bead, Status
from nobrakes.config.sections import ChannelSettings, NotifySettings
from nobrakes.config.settings import Config
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.events.kinds import Event, Kind
from nobrakes.notices import model as notices_model
from nobrakes.notices.model import DeliveryState, Message, NewNotice, NoticeKind, Sent, Severity
from nobrakes.notices.worker import EventConsumer, NotificationSender
from nobrakes.store import open_memory
from tests.world.clock import FakeClock
from tests.world.fake_channels import FakeChannels

DIGEST = re.compile(r"\d+ notices?: ")
BERLIN = ZoneInfo("Europe/Berlin")
START = 1_782_900_000.0  # the 1st of July 2026, 12:00 in Berlin


class Hand:
    """Channels that end when they are told to."""

    def __init__(self) -> None:
        self.begun: list[tuple[str, int, Message]] = []
        self.busy: dict[str, int] = {}
        self.over: list[Sent] = []

    def begin(self, channel: str, delivery: int, message: Message) -> None:
        assert channel not in self.busy, "one at a time"
        self.busy[channel] = delivery
        self.begun.append((channel, delivery, message))

    def is_busy(self, channel: str) -> bool:
        return channel in self.busy

    def end(self, channel: str, error: str = "") -> None:
        self.over.append(Sent(channel, self.busy[channel], error))

    def ended(self) -> list[Sent]:
        found, self.over = self.over, []
        for one in found:
            del self.busy[one.channel]
        return found

    def close(self, seconds: float) -> None: ...


class World:
    def __init__(self, **settings: Any) -> None:
        self.clock = FakeClock(START)
        self.store = open_memory(self.clock.now)
        self.hand = Hand()
        self.told: list[str] = []
        channels = settings.pop("channels", {"c": ChannelSettings(type="desktop")})
        self.config = Config(notify=NotifySettings(channels=channels, **settings))
        self.zone: tzinfo = BERLIN
        self.boot()
        self.store.put([Bead("a", "a", status=Status.NEEDS_DOER, needs_tests=False)], [], "me")

    def boot(self) -> None:
        self.ports: Any = SimpleNamespace(
            store=self.store,
            channels=self.hand,
            config=lambda: self.config,
            zone=lambda: self.zone,
            notifier=SimpleNamespace(tell=lambda notice: self.told.append(notice.text)),
            paths=SimpleNamespace(root="/somewhere/project"),
            background=SimpleNamespace(busy=lambda name: False, over=lambda name: True, begin=lambda *_: None),
            git=SimpleNamespace(pin=lambda *_: None),
        )
        self.sender = NotificationSender(self.ports)

    def add(self, *texts: str, severity: Severity = Severity.INFO, kind: NoticeKind = NoticeKind.MERGED) -> None:
        notices = self.sender.wanted([NewNotice(kind, severity, text, fingerprint=text) for text in texts])
        self.store.add_notices(notices, notices_model.SAME_WITHIN)

    def turn(self, seconds: float = 0.0) -> None:
        self.clock.jump(seconds)
        self.sender.turn(SimpleNamespace(now=self.clock.now()))  # type: ignore[arg-type]

    def sent(self) -> list[str]:
        return [message.text for _, _, message in self.hand.begun]


def test_one_at_a_time_and_the_next_after_the_end() -> None:
    world = World()
    world.add("one", "two")
    world.turn()
    world.turn()
    assert world.sent() == ["one"]
    world.hand.end("c")
    world.turn()
    assert world.sent() == ["one", "two"] and world.hand.begun[0][2].title == "nobrakes project: merged"


def test_a_channel_that_hangs_holds_up_no_other() -> None:
    world = World(channels={"c": ChannelSettings(type="desktop"), "d": ChannelSettings(type="desktop")})
    world.add("one", "two")
    world.turn()
    world.hand.end("d")
    world.turn()
    assert [channel for channel, _, _ in world.hand.begun] == ["c", "d", "d"]


def test_a_failure_is_tried_again_later_and_given_up_once() -> None:
    world = World()
    world.add("one", "two")
    world.turn()
    for _ in range(2 * notices_model.MAX_TRIES + 2):
        if world.hand.busy:
            world.hand.end("c", "no answer")
        world.turn()
        wake = world.sender.wake_at(world.clock.now())
        world.turn(0.0 if wake is None else max(0.0, wake - world.clock.now()))
    assert len(world.sent()) == 2 * notices_model.MAX_TRIES
    assert len(world.told) == 1 and "no answer" in world.told[0]
    assert {one.state for one in world.store.deliveries(9)} == {DeliveryState.FAILED}
    assert world.sender.wake_at(world.clock.now()) is None


def test_a_new_daemon_sends_what_the_old_one_did_not_settle() -> None:
    world = World()
    world.add("one")
    world.turn()
    world.hand = Hand()
    world.boot()
    world.turn()
    assert world.sent() == ["one"]
    world.hand.end("c")
    world.turn()
    world.boot()
    world.turn()
    assert world.sent() == ["one"]


def test_ten_thousand_in_a_minute_are_a_few_messages() -> None:
    world = World()
    for second in range(60):
        world.add(*(f"n{second}-{number}" for number in range(167)))
        for _ in range(3):
            world.turn()
            if world.hand.busy:
                world.hand.end("c")
        world.turn(1.0)
    for _ in range(5):
        if world.hand.busy:
            world.hand.end("c")
        world.turn(60.0)
    assert len(world.sent()) <= 3
    counted = sum(int(text.split()[0]) if DIGEST.match(text) else 1 for text in world.sent())
    assert counted == 60 * 167
    assert DeliveryState.DUE not in {one.state for one in world.store.deliveries(99_999)}


def test_a_trickle_is_no_storm_and_a_fast_channel_is_not_flooded() -> None:
    world = World(digest_after=3)
    for number in range(40):
        world.add(f"n{number}")
        world.turn(2.0)
        if world.hand.busy:
            world.hand.end("c")
    assert len([text for text in world.sent() if not DIGEST.match(text)]) <= 2 * 3
    assert len(world.sent()) <= 2 * (3 + 2)


def test_quiet_hours_hold_what_is_not_urgent_until_their_end() -> None:
    world = World(quiet_hours="22:00-07:00")
    world.turn(11 * 3600)
    world.add("one")
    world.add("two", severity=Severity.URGENT, kind=NoticeKind.MAIN_FROZEN)
    world.turn()
    world.hand.end("c")
    world.turn()
    assert world.sent() == ["two"]
    assert world.sender.wake_at(world.clock.now()) == START + 19 * 3600
    world.turn(8 * 3600 - 1)
    assert world.sent() == ["two"]
    world.turn(1)
    assert world.sent() == ["two", "one"]


def test_a_try_that_falls_into_quiet_hours_waits_for_their_end() -> None:
    world = World(quiet_hours="22:00-07:00")
    world.turn(10 * 3600 - 1)
    world.add("one")
    world.turn()
    world.hand.end("c", "no")
    world.turn()
    world.turn(40)
    assert world.sent() == ["one"] and world.sender.wake_at(world.clock.now()) == START + 19 * 3600


def test_a_clock_that_is_set_back_holds_nothing_up() -> None:
    world = World()
    world.add("one")
    world.turn()
    world.hand.end("c", "no")
    world.turn()
    world.clock.jump(-86_400)
    world.sender.measure_again()
    world.turn()
    assert world.sent() == ["one", "one"]


def test_an_open_question_is_told_again_until_it_is_answered_and_not_for_ever() -> None:
    world = World(renotify_hours=4.0)
    number = world.store.escalate(NewEscalation(EscalationType.QUESTION, "Which?"), "a", None, "me").id
    news = EventConsumer(world.ports, world.sender.wanted)
    board: Any = SimpleNamespace(runs={}, attempts=())
    news.read(board)
    for _ in range(60):
        world.turn()
        if world.hand.busy:
            world.hand.end("c")
            world.turn()
        wake = world.sender.wake_at(world.clock.now())
        if wake is None:
            break
        world.turn(wake - world.clock.now())
    else:
        raise AssertionError("it never rests")
    assert len(world.sent()) == 1 + notices_model.MAX_REMINDERS and world.sent()[1].startswith("still open: ")
    assert world.clock.now() == START + 3 * 4 * 3600
    world.store.answer(number, "this", "me")
    world.turn(99_999)
    assert len(world.sent()) == 1 + notices_model.MAX_REMINDERS


def test_what_was_answered_meanwhile_is_not_sent() -> None:
    world = World(quiet_hours="11:00-13:00")
    number = world.store.escalate(NewEscalation(EscalationType.QUESTION, "Which?"), "a", None, "me").id
    EventConsumer(world.ports, world.sender.wanted).read(SimpleNamespace(runs={}, attempts=()))  # type: ignore[arg-type]
    world.turn()
    world.store.answer(number, "this", "me")
    world.turn(3600)
    assert world.sent() == [] and [one.state for one in world.store.deliveries(9)] == [DeliveryState.ANSWERED]


def test_an_event_is_one_notice_however_often_the_daemon_dies() -> None:
    world = World()
    world.store.record(Event(Kind.NOTIFIED, "a", actor="Ada", data={"text": "hello"}))
    board: Any = SimpleNamespace(runs={}, attempts=())
    real = world.store.set_setting

    def dies(key: str, value: str | None) -> None:
        raise KeyboardInterrupt

    world.store.set_setting = dies  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        EventConsumer(world.ports, world.sender.wanted).read(board)
    assert world.store.unrouted_notices(9) == []
    world.store.set_setting = real  # type: ignore[method-assign]
    for _ in range(2):
        EventConsumer(world.ports, world.sender.wanted).read(board)
    assert [one.text for one in world.store.unrouted_notices(9)] == ["Ada: hello"]


def test_without_a_channel_nothing_is_written_and_nothing_asked() -> None:
    world = World(channels={})
    world.add("one")
    world.store.queues = None  # type: ignore[method-assign, assignment]
    world.turn()
    assert world.store.unrouted_notices(9) == [] and world.sender.wake_at(0.0) is None


def test_trouble_of_the_machine_is_told_once_in_a_while() -> None:
    world = World()
    for _ in range(3):
        world.sender.trouble("the disk is full", stops=True)
        world.turn(60.0)
    assert world.sent() == ["the disk is full"] and world.hand.begun[0][2].severity is Severity.URGENT


def test_a_channel_that_is_taken_away_ends_what_waits_for_it() -> None:
    world = World()
    world.add("one", "two")
    world.turn()
    world.config = Config(notify=NotifySettings(channels={"d": ChannelSettings(type="desktop")}))
    world.turn()
    assert {one.state for one in world.store.deliveries(9)} == {DeliveryState.FAILED}


def test_the_fake_channels_take_what_they_say_they_took() -> None:
    clock = FakeClock()
    channels = FakeChannels(clock, random.Random(1), refuse=0.5)
    said = Message("t", "x", NoticeKind.TEST, Severity.INFO, 0.0)
    ends = []
    for number in range(50):
        channels.begin("c", number, said)
        while not (found := channels.ended()):
            clock.pass_to(clock.steady() + 1)
        ends += found
    taken = {one.delivery for one in channels.taken}
    assert {one.delivery for one in ends if not one.error} == taken and 5 < len(taken) < 45
