"""An attempt's test rounds, as its output and its door tell of them."""

import json
from types import SimpleNamespace
from typing import Any

from nobrakes.agents.claude import Claude
from nobrakes.agents.worker import watch
from nobrakes.beads.model import Attempt, Role, Run, RunKind
from nobrakes.checks.worker import validation
from nobrakes.config.settings import parse
from nobrakes.events.kinds import Event, Kind

ATTEMPT = Attempt(7, "b", 1, Role.DOER, "Ada", 1, "t", 0.0, agent="claude")
RUN = Run("7-agent", 7, RunKind.AGENT, 0.0)


def call(command: str) -> bytes:
    block = {"type": "tool_use", "id": "1", "name": "Bash", "input": {"command": command}}
    return json.dumps({"type": "assistant", "message": {"content": [block]}}).encode()


def counted(files: dict[str, bytes], config: str, events: tuple[Event, ...] = ()) -> int:
    def head(path: str, limit: int, start: int = 0) -> bytes:
        return files.get(path.rpartition("/")[2], b"")[start : start + limit]

    ports: Any = SimpleNamespace(
        store=SimpleNamespace(events=lambda *_: list(events)),
        processes=SimpleNamespace(head=head),
        paths=SimpleNamespace(runs="/runs"),
        config=lambda: parse(config, "config.toml"),
        adapter=lambda name: Claude(),
    )
    return validation.count(ports, ATTEMPT, RUN)


CHECK = '[[checks]]\nname = "unit"\ncommand = "python3 -m pytest -q"\n'


def test_calls_of_tools_and_of_the_door_are_added_up(monkeypatch: Any) -> None:
    monkeypatch.setattr(watch, "MAX_BYTES", 250)  # a line lies across two looks
    said = b'{"type": "assistant", "message": {"content": [{"type": "text", "text": "Bash: pytest"}]}}'
    out = b"\n".join([call("pytest -x"), said, call("pip install pytest"), call("cd a && python3 -m pytest")])
    tested = tuple(Event(Kind.TESTED, "b", attempt, "Ada", {"text": "unit: pass"}) for attempt in (7, 7, 6))
    assert counted({"agent.out.1": call("pytest tests") + b"\n", "agent.out": out}, CHECK, tested) == 5


def test_without_a_check_of_kind_test_the_door_alone_tells() -> None:
    lint = '[[checks]]\nname = "style"\nkind = "lint"\ncommand = "ruff check ."\n'
    files = {"agent.out": call("ruff check .")}
    assert (counted(files, lint), counted(files, "")) == (0, 0)
    assert counted(files, lint, (Event(Kind.TESTED, "b", 7, "Ada", {"text": "style: pass"}),)) == 1
