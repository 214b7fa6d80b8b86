"""How often doors are looked at: counted, since time on a shared machine says little."""

import os
import threading
import time
from collections import Counter

import pytest

from nobrakes.errors import DiskFull
from nobrakes.host import channel
from nobrakes.host.channel import ChannelPoller
from nobrakes.host.watching import Inotify
from nobrakes.paths import AGAIN

RUNS = ("1-agent", "2-agent", "3-agent", "4-agent")


class Scene:
    """Four doors, and a keeper whose looks are counted."""

    def __init__(self, home):
        self.home = home
        self.looks, self.answered, self.said = Counter(), [], []
        self.trouble: set[str] = set()
        for run in RUNS:
            self.make(run)
        self.over = threading.Event()
        self.keeper = ChannelPoller(str(home), self.answer, self.said.append)
        self.thread = threading.Thread(target=self.keeper.attend, args=(self.over.is_set,), daemon=True)

    def make(self, run):
        for name in ("in", "out"):
            (self.home / run / name).mkdir(parents=True)

    def answer(self, run):
        self.looks[run] += 1
        waiting = channel.requests(str(self.home / run))
        if waiting and run in self.trouble:
            raise DiskFull("no space is left")
        for name, _ in waiting[: channel.AT_ONCE]:
            self.answered.append((run, name, time.monotonic()))
            channel.answer(str(self.home / run), name, b"{}")
        return len(waiting)

    def begin(self):
        self.thread.start()
        self.until(lambda: all(self.looks[run] for run in RUNS))
        time.sleep(0.05)
        self.looks.clear()

    def says(self, run, number=1):
        at, name = time.monotonic(), f"{number:x}-1-1.json"
        (self.home / run / "in" / f".{name}").write_text("{}")
        os.rename(self.home / run / "in" / f".{name}", self.home / run / "in" / name)
        return at

    def until(self, holds, seconds=10.0):
        end = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < end, "it did not happen"
            time.sleep(0.002)

    def heard(self, count=1, seconds=10.0):
        self.until(lambda: len(self.answered) >= count, seconds)

    def end(self):
        self.over.set()
        self.keeper.wake()
        if self.thread.is_alive():
            self.thread.join(10)
        self.keeper.close()


@pytest.fixture
def scene(tmp_path):
    made = Scene(tmp_path)
    yield made
    made.end()


def test_silent_agents_are_not_looked_at(scene):
    scene.begin()
    time.sleep(1.5)
    assert not scene.looks


def test_nobody_at_all_wakes_it_never(scene, monkeypatch):
    monkeypatch.setattr(channel, "QUIET", 0.05)
    naps = []
    real = scene.keeper._inboxes.wait
    monkeypatch.setattr(scene.keeper._inboxes, "wait", lambda seconds: naps.append(seconds) or real(seconds))
    for run in RUNS:
        for name in ("in", "out", ""):
            (scene.home / run / name).rmdir()
    scene.thread.start()
    scene.until(lambda: naps)
    time.sleep(0.3)
    assert naps == [None]


def test_who_speaks_is_looked_at_and_nobody_else(scene):
    scene.begin()
    for number in range(1, 6):
        scene.says("2-agent", number)
        scene.heard(number)
    time.sleep(0.2)
    assert set(scene.looks) == {"2-agent"} and scene.looks["2-agent"] <= 5


def test_all_are_looked_at_now_and_then_for_their_logins(scene, monkeypatch):
    monkeypatch.setattr(channel, "QUIET", 0.2)
    scene.begin()
    scene.until(lambda: all(scene.looks[run] >= 2 for run in RUNS))


def test_who_has_much_to_say_has_it_answered_in_turn_with_the_others(scene):
    for number in range(1, 51):
        scene.says("1-agent", number)
    scene.says("2-agent")
    scene.begin()
    scene.heard(51)
    assert "2-agent" in {run for run, _, _ in scene.answered[:20]}


def test_what_could_not_be_answered_is_tried_again_without_another_word(scene, monkeypatch):
    monkeypatch.setattr(channel, "TROUBLE", 0.05)
    scene.begin()
    scene.trouble = {"1-agent"}
    scene.says("1-agent")
    scene.until(lambda: scene.looks["1-agent"] >= 3)
    scene.trouble = set()
    scene.heard()
    assert not scene.said


# --- what may go wrong


def loses_events(monkeypatch, most=10**9):
    """The system tells of nothing that was laid down, the first `most` times."""
    real, left = Inotify.read, [most]

    def deaf(self):
        found = real(self)
        if left[0] > 0:
            left[0] -= 1
            return []
        return found

    monkeypatch.setattr(Inotify, "read", deaf)


def test_a_word_whose_event_was_lost_is_heard_when_it_is_said_again(scene, monkeypatch):
    scene.begin()
    loses_events(monkeypatch, most=1)
    at = scene.says("3-agent")
    time.sleep(0.2)
    (scene.home / "3-agent" / "in" / AGAIN).touch()
    scene.heard()
    assert scene.answered[0][2] - at < 1.0


def test_a_system_that_tells_of_nothing_is_found_out_and_looked_at_and_told_once(scene, monkeypatch):
    monkeypatch.setattr(channel, "QUIET", 0.3)
    scene.begin()
    loses_events(monkeypatch)
    scene.says("3-agent")
    scene.heard()
    monkeypatch.setattr(channel, "QUIET", 5.0)
    for number in range(2, 5):
        at = scene.says("3-agent", number)
        scene.heard(number)
        assert scene.answered[-1][2] - at < 1.0
    assert len(scene.said) == 1 and channel.MISSED_REQUEST in scene.said[0]


def test_where_nothing_can_be_watched_it_looks_and_says_so_once(scene, monkeypatch):
    def refuses():
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(channel, "Inotify", refuses)
    scene.begin()
    at = scene.says("4-agent")
    scene.heard()
    assert scene.answered[0][2] - at < 1.0
    assert len(scene.said) == 1 and "Too many open files" in scene.said[0] and "max_user_instances" in scene.said[0]
    monkeypatch.undo()  # the machine has room again
    scene.until(lambda: scene.keeper._inboxes.watched())
    time.sleep(1.3)
    scene.looks.clear()
    time.sleep(0.5)
    assert not scene.looks


@pytest.mark.parametrize("way", ["moved", "removed"])
def test_a_channel_that_was_made_again_is_heard(scene, way):
    scene.begin()
    inbox = scene.home / "1-agent" / "in"
    if way == "moved":
        inbox.rename(scene.home / "kept")
    else:
        inbox.rmdir()
    time.sleep(0.1)
    inbox.mkdir()
    at = scene.says("1-agent")
    scene.heard()
    assert scene.answered[0][2] - at < 1.0


def test_a_door_of_a_new_run_is_heard(scene):
    scene.begin()
    scene.make("5-agent")
    scene.keeper.wake()
    at = scene.says("5-agent")
    scene.heard()
    assert scene.answered[0][2] - at < 1.0


def test_noise_at_a_door_costs_as_much_as_looking_at_it(scene):
    scene.begin()
    end, noise = time.monotonic() + 1.0, scene.home / "1-agent" / "in" / "noise"
    while time.monotonic() < end:
        noise.write_text("x")
    time.sleep(0.05)
    assert scene.looks["1-agent"] <= channel.NOISE + 1.3 / channel.BUSY
    at = scene.says("2-agent")
    scene.heard()
    assert scene.answered[0][2] - at < 1.0
