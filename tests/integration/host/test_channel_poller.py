"""The door of a confined agent: what it leaves there is read as bytes that may lie, and answered once."""

import json
import os
import threading
import time

import pytest

from nobrakes.agents.db.channel_answers import reply
from nobrakes.agents.service import client as agents_side
from nobrakes.agents.service import own_work
from nobrakes.beads.model import Bead, Role, Status
from nobrakes.errors import DoorClosed, Stale, UsageError
from nobrakes.events.kinds import Kind
from nobrakes.host.channel import FolderChannelServer
from nobrakes.store import create_store
from nobrakes.trash import Trash


class Scene:
    def __init__(self, folder, monkeypatch):
        self.database = str(folder / "nobrakes.db")
        self.store = create_store(self.database)
        self.store.put([Bead(i, i, needs_tests=False, status=Status.NEEDS_DOER) for i in ("one", "two")], [], "me")
        self.mine, self.other = (
            self.store.open_attempt(i, Role.DOER, "script", ("Ada", "Ben"), 600.0, None) for i in ("one", "two")
        )
        self.run = f"{self.mine.id}-agent"
        self.door = folder / "doors" / self.run
        self.keeper = FolderChannelServer(
            str(folder / "doors"),
            Trash(str(folder / "trash")),
            lambda n, asked: reply(self.database, lambda: None, own_work.CALLS, n, asked),
        )
        assert self.keeper.begin(self.run) == str(self.door)
        monkeypatch.setenv("NOBRAKES_TOKEN", self.mine.token)
        monkeypatch.setenv("NOBRAKES_DOOR", str(self.door))

    def call(self, *words):
        return agents_side._over_channel(os.environ["NOBRAKES_TOKEN"], *words)


@pytest.fixture
def scene(tmp_path, monkeypatch):
    made = Scene(tmp_path, monkeypatch)
    yield made
    made.keeper.close()
    made.store.close()


def test_an_agent_is_heard_and_answered(scene):
    scene.keeper.start()
    scene.call("say", "log", "half done 🚀", "{}")
    number = scene.call("ask", "UTC?", "")
    assert scene.call("answer", None) == [number, None]
    event = next(e for e in scene.store.events() if e.kind is Kind.LOGGED)
    assert (event.bead, event.actor, event.data["text"]) == ("one", "Ada", "half done 🚀")


def test_a_token_of_another_attempt_is_refused(scene, monkeypatch):
    scene.keeper.start()
    monkeypatch.setenv("NOBRAKES_TOKEN", scene.other.token)
    with pytest.raises(Stale):
        scene.call("say", "log", "in another's name", "{}")


@pytest.mark.parametrize(
    "words",
    [
        ("drop", "x"),
        ("say", "log"),
        ("say", "approve", "x", "{}"),
        ("say", "log", 3, "{}"),
        ("say", "progress", "x", "no json"),
        ("say", "progress", "x", "[]"),
        ("say", "progress", "x", '{"step": "1"}'),
        ("bead", "two"),
        ("next_steps", "many"),
        ("next_steps", True),
        ("file_plan",),
    ],
)
def test_what_is_no_request_is_answered_by_a_no(scene, words):
    scene.keeper.start()
    with pytest.raises(UsageError):
        scene.call(*words)


def test_what_is_said_while_no_daemon_works_is_taken_in_at_the_end(scene, monkeypatch):
    monkeypatch.setattr(agents_side, "TIMEOUT", 0.0)
    with pytest.raises(DoorClosed):
        scene.call("say", "log", "my last words", "{}")
    scene.keeper.end(scene.run)
    assert any(e.data.get("text") == "my last words" for e in scene.store.events())
    assert not scene.door.exists()


def test_nothing_that_an_agent_leaves_at_its_door_leads_out(scene, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text(json.dumps({"token": scene.mine.token, "call": "say", "arguments": ["log", "SECRET", "{}"]}))
    inner = scene.door / "in"
    (inner / "1-1-1.json").symlink_to(secret)
    os.mkfifo(inner / "1-1-2.json")
    (inner / "1-1-3.json").mkdir()
    (inner / "1-1-4.json").write_text("[" * 100_000)
    (inner / "1-1-5.json").write_bytes(b"x" * 500_000)
    locked = inner / "locked"
    (locked / "deep").mkdir(parents=True)
    locked.chmod(0)
    ended = threading.Thread(target=scene.keeper.end, args=(scene.run,))
    ended.start()
    ended.join(30)
    assert not ended.is_alive() and not scene.door.exists() and secret.exists()
    assert not any(e.kind is Kind.LOGGED for e in scene.store.events())


def test_a_flood_at_a_dead_ones_door_is_bounded_and_a_second_name_is_no_request(tmp_path):
    asked = []
    keeper = FolderChannelServer(
        str(tmp_path / "doors"), Trash(str(tmp_path / "trash")), lambda n, content: asked.append(content) or b"{}"
    )
    inner = tmp_path / "doors" / "1-agent" / "in"
    keeper.begin("1-agent")
    (tmp_path / "other").write_text("not the agent's")
    os.link(tmp_path / "other", inner / "0-1-0.json")
    with (inner / "0-1-1.json").open("wb") as giant:
        giant.truncate(100_000_000_000)
    for number in range(1000):
        (inner / f"{number:x}-2-2.json").write_text("{}")
    keeper.end("1-agent")
    assert len(asked) <= 500 and set(asked) <= {b"{}", None}
    assert not inner.parent.exists() and os.listdir(tmp_path / "trash") == []
    keeper.close()


def test_what_nobody_expected_at_one_door_keeps_no_other_closed_and_is_told_once(tmp_path):
    def answers(owner, content):
        if owner == "1":
            raise ValueError("a bug")
        return b"{}"

    keeper = FolderChannelServer(str(tmp_path / "doors"), Trash(str(tmp_path / "trash")), answers)
    for run in ("1-agent", "2-agent"):
        keeper.begin(run)
        (tmp_path / "doors" / run / "in" / "0-1-1.json").write_text("{}")
    keeper.start()
    answer = tmp_path / "doors" / "2-agent" / "out" / "0-1-1.json"
    deadline = time.monotonic() + 30
    while not answer.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert {run: str(error) for run, error in keeper.failed().items()} == {"1-agent": "a bug"}
    assert keeper.failed() == {}
    keeper.end("1-agent")
    assert not (tmp_path / "doors" / "1-agent").exists()
    keeper.close()
