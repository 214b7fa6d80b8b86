"""How an ACP agent is called: by our own client, which is told everything in a private file."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from nobrakes.acp_client import CannotJudge, choice, questions
from nobrakes.agents.acp import Acp
from nobrakes.agents.adapter import Assignment
from nobrakes.config.sections import AcpSettings, AgentSettings
from nobrakes.errors import ConfigError

Assign = Callable[..., Assignment]


def test_the_client_is_told_names_and_no_secret(assign: Assign) -> None:
    acp = AcpSettings(command=("agent", "--acp"), auth="key", keys=("OPENAI_API_KEY",))
    env = {"PATH": "/bin", "NOBRAKES_HOME": "/n", "NOBRAKES_TOKEN": "secret-token", "OPENAI_API_KEY": "secret-key"}
    launch = Acp().launch(assign(settings=AgentSettings(acp=acp), env=env))
    run = json.loads(launch.files["acp/run.json"])
    assert (run["command"], run["auth"], run["session"]) == (["agent", "--acp"], "key", None)
    assert run["mcp"][0]["command"] == "/n/bin/nobrakes"
    assert "NOBRAKES_TOKEN" in run["mcp"][0]["variables"]
    assert b"secret" not in launch.files["acp/run.json"] and "secret" not in " ".join(launch.argv)
    assert launch.argv[-2:] == ("nobrakes.acp_client", "/n/runs/1/acp/run.json")
    assert launch.env["OPENAI_API_KEY"] == "secret-key"
    assert launch.programs == ("agent",)
    assert launch.files["acp/role.md"] == b"You are a Doer."


def test_a_later_run_is_told_the_session(assign: Assign) -> None:
    given = assign(settings=AgentSettings(acp=AcpSettings(command=("agent",))))
    again = Acp().launch(replace(given, resume=True))
    assert json.loads(again.files["acp/run.json"])["session"] == again.session == given.session
    assert Acp().launch(given).session is None


def test_settings_that_make_no_command_say_what_to_do(assign: Assign) -> None:
    with pytest.raises(ConfigError, match="its command is not set"):
        Acp().launch(assign())
    with pytest.raises(ConfigError, match=r"keys names AWS_SECRET"):
        Acp().launch(assign(settings=AgentSettings(acp=AcpSettings(command=("agent",), keys=("AWS_SECRET",)))))


BASH, WRITE = "Bash", "Write"


@pytest.mark.parametrize(
    ("call", "asked"),
    [
        ({"kind": "execute", "title": "git push"}, [(BASH, {"command": "git push"})]),
        ({"kind": "execute", "title": "Push", "rawInput": {"command": "git push"}}, [(BASH, {"command": "git push"})]),
        ({"kind": "execute", "rawInput": {"command": ["bash", "-lc", "git push"]}},
         [(BASH, {"command": "bash -lc 'git push'"})]),
        ({"kind": "read", "title": "Look", "rawInput": {"cmd": "git push"}}, [(BASH, {"command": "git push"})]),
        ({"kind": "edit", "content": [{"type": "diff", "path": "/a", "newText": ""}], "locations": [{"path": "/b"}]},
         [(WRITE, {"file_path": "/b"}), (WRITE, {"file_path": "/a"})]),
        ({"kind": "move", "rawInput": {"path": "a", "destination": "b"}},
         [(WRITE, {"file_path": "a"}), (WRITE, {"file_path": "b"})]),
        ({"kind": "other", "rawInput": {"path": "/etc/x"}}, [(WRITE, {"file_path": "/etc/x"})]),
        ({"title": "a tool of an MCP server", "rawInput": {"text": "x"}}, []),
        ({"kind": "read", "locations": [{"path": "/etc/passwd"}]}, []),
        ({"kind": "fetch", "title": "http://x"}, []),
    ],
)  # fmt: skip
def test_what_the_guard_is_asked(call: dict[str, object], asked: list[tuple[str, dict[str, str]]]) -> None:
    assert questions(call) == asked


@pytest.mark.parametrize(
    "call", [{"kind": "execute"}, {"kind": "edit", "title": "Edit"}, {"kind": "delete", "content": "x"},
             {"kind": "switch_mode", "title": "Go on without asking"}]
)  # fmt: skip
def test_what_names_nothing_is_refused_without_asking(call: dict[str, object]) -> None:
    with pytest.raises(CannotJudge):
        questions(call)


def test_a_yes_is_for_once() -> None:
    every = [{"kind": kind, "optionId": kind} for kind in ("allow_always", "allow_once", "reject_always")]
    assert (choice(every, True), choice(every, False)) == ("allow_once", "reject_always")
    assert choice(every[:1], True) is None and choice(every[:2], False) is None
