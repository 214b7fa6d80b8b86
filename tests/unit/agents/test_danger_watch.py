"""A tool call that looks dangerous is told once, of an attempt and of a session, and words about one are not."""

import json
from types import SimpleNamespace
from typing import Any

from nobrakes.agents.claude import Claude
from nobrakes.agents.worker.watch import DANGER_LOOK_SECONDS, MAX_ALERTS, DangerWatch
from nobrakes.beads.model import Attempt, Role, Run, RunKind
from nobrakes.events.kinds import Event, Kind
from nobrakes.notices.model import NoticeKind, Severity, notice_of
from nobrakes.sessions.model import Session, SessionKind, State, Talk, Turn
from nobrakes.sessions.worker import folder_of

ATTEMPT = Attempt(7, "b", 1, Role.DOER, "Ada", 1, "t", 0.0, agent="claude")
TALK = Talk(
    Session(3, SessionKind.RELAY, "me", "Tea", "claude", State.RUNNING), Turn(5, 3, 1, "t", False, "anthropic", 0.0)
)
RUN = Run("7-agent", 7, RunKind.AGENT, 0.0, pid=1)


def line(**block: Any) -> bytes:
    return json.dumps({"type": "assistant", "message": {"content": [block]}}).encode() + b"\n"


def call(command: str, id_: str) -> bytes:
    return line(type="tool_use", id=id_, name="Bash", input={"command": command})


class World:
    """One agent at work, and what its daemon told."""

    def __init__(self, work: Any = ATTEMPT) -> None:
        self.work, self.out, self.events = work, b"", list[Event]()
        self.ports: Any = SimpleNamespace(
            store=SimpleNamespace(latest_events=lambda *_: self.events[::-1], record=self.events.append),
            processes=SimpleNamespace(head=self.head),
            paths=SimpleNamespace(runs="/runs", workspaces="/w", relays="/n/relays", folder="/n"),
            adapter=lambda name: Claude(),
        )
        self.watch = DangerWatch(self.ports, folder_of)

    def head(self, path: str, most: int, start: int = 0) -> bytes:
        return b"" if path.endswith(".1") else self.out[start : start + most]

    def look(self, now: float, ended: bool = False) -> list[str]:
        before = len(self.events)
        board: Any = SimpleNamespace(all_runs=[RUN], work_of=lambda run: self.work, now=now)
        self.watch.look(board, {RUN.id} if ended else frozenset())
        return [str(event.data["call"]) for event in self.events[before:]]


def test_it_is_told_once_and_a_new_daemon_tells_it_no_more() -> None:
    world = World()
    world.out = line(type="text", text="I run `rm -rf /`") + call("rm -rf build", "1") + call("rm -rf /", "2")
    assert world.look(100.0) == ["2"]
    assert world.look(200.0) == []
    (event,) = world.events
    assert (event.kind, event.bead, event.attempt, event.actor) == (Kind.DANGER_SEEN, "b", 7, "Ada")
    notice = notice_of(event)
    assert notice is not None and (notice.kind, notice.severity) == (NoticeKind.DANGER, Severity.URGENT)
    assert "rm -rf /" in notice.text and "nobrakes watch b" in notice.text
    world.watch = DangerWatch(world.ports, folder_of)
    assert world.look(300.0) == []


def test_what_an_agent_did_last_is_told_when_it_has_ended_and_no_flood_is() -> None:
    world = World(TALK)
    assert world.look(100.0) == []
    world.out = call("rm -rf /n/relays/3/dist", "1") + call("sudo reboot", "2").rstrip(b"\n")
    assert world.look(100.0 + DANGER_LOOK_SECONDS / 2, ended=True) == ["2"]
    (event,) = world.events
    assert (event.bead, event.actor, event.data["session"]) == (None, "Session 3", 3)
    world.out += b"\n" + b"".join(call("sudo reboot", f"n{n}") for n in range(50))
    world.look(900.0, ended=True)
    assert len(world.events) == MAX_ALERTS


def test_a_secret_in_a_call_is_not_told() -> None:
    world = World()
    world.out = call("sudo curl -H 'Authorization: Bearer sk-ant-api03-" + "a" * 90 + "' x", "1")
    assert world.look(100.0) == ["1"] and "aaaaaaaa" not in str(world.events[0].data)
