"""Agents that speak the Agent Client Protocol take a bead from ready to merged main; nothing of the loop is replaced."""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.support.real_clis import CODE, DONE, GEMINI, TEST, prepare, tool

AGENT = Path(__file__).parents[1] / "support" / "acp_agent.py"


def config(command: list[str], more: str = "", environment: str = "") -> str:
    section = f"[agents.acp]\ncommand = {json.dumps(command)}\n{more}"
    return f'[agents]\ntest_writer = "acp"\ndoer = "acp"\n{environment}\n{section}'


WORKED = [
    ("test_writer", "acp", "completed"),
    ("doer", "acp", "completed"),
    ("reviewer", "nobrakes", "completed"),
]


def test_an_acp_agent_takes_a_bead_from_ready_to_merged(tmp_path: Path) -> None:
    commit = "git add -A && git commit -q -m 'Work' -m 'Bead: hello'"
    ends = ["say", "It is done.\n\n", "NOBRAKES: ", "COMPLETED"]
    turns = {
        "test_writer": [
            ["ask", "edit", "code", {"path": "hello.py"}, ["write", "hello.py", "x = 1\n"]],  # refused
            ["write", "tests/test_hello.py", TEST],
            ["run", commit],
            ends,
        ],
        "doer": [
            ["write", "tests/more.py", "x = 1\n"],  # refused
            ["ask", "execute", "push", {"command": "git push"}, ["run", "touch pushed"]],  # refused
            ["ask", "execute", "write", {"command": "echo x >hello.py"}, ["write", "hello.py", CODE]],
            ["run", f"{commit} && nobrakes agent done --summary 'greet() is there'"],
            ends,
        ],
    }
    script = tmp_path / "script.json"
    (tmp_path / "agent").mkdir()
    script.write_text(json.dumps({"turns": turns, "sessions": str(tmp_path / "agent")}))
    field = prepare(tmp_path, config([sys.executable, str(AGENT), str(script)]))
    printed = field.let_them_work({}, {"GEMINI_API_KEY": "dummy-dummy"})
    assert field.attempts() == WORKED, printed
    field.assert_merged()
    attempts = field.bead()["attempts"]
    assert attempts[1]["log"]["summary"] == "greet() is there"
    said = "".join(path.read_text() for path in sorted(field.repository.glob(".nobrakes/runs/*/agent.out")))
    assert said.count('"allowed": false') == 3
    assert "code: no" in said and "push: no" in said and "write: yes" in said
    assert "cannot write tests/more.py" in said
    assert not [name for name in os.listdir(tmp_path) if name == "pushed"]


def test_an_acp_agent_whose_context_is_nearly_full_hands_on(tmp_path: Path) -> None:
    commit = "git add -A && git commit -q -m 'Work' -m 'Bead: hello'"
    ends = ["say", "NOBRAKES: COMPLETED"]
    again = ".git/again"  # where the agent may write, and nobody looks
    turns = {
        "test_writer": [["write", "tests/test_hello.py", TEST], ["run", commit], ends],
        "doer": [
            ["run", f"test ! -e hello.py || touch {again}"],
            ["write", "hello.py", CODE],
            ["run", f"{commit}; echo 'the zebra is half done' >$NOBRAKES_HANDOFF"],
            ["fill", 90, 100, again],
            ends,
        ],
    }
    script = tmp_path / "script.json"
    (tmp_path / "agent").mkdir()
    script.write_text(json.dumps({"turns": turns, "sessions": str(tmp_path / "agent")}))
    field = prepare(tmp_path, config([sys.executable, str(AGENT), str(script)]))
    printed = field.let_them_work({}, {})
    assert [outcome for _, _, outcome in field.attempts()] == [
        "completed",
        "gave_up_context",
        "completed",
        "completed",
    ], printed
    assert "the zebra is half done" in field.bead()["attempts"][1]["log"]["summary"]


@pytest.mark.gemini
def test_gemini_cli_in_its_acp_mode_takes_a_bead_from_ready_to_merged(tmp_path: Path) -> None:
    if GEMINI is None:
        pytest.skip("no Gemini CLI: run .ci/run once, or set NOBRAKES_GEMINI to an executable")
    home = tmp_path / "home"
    (home / ".gemini").mkdir(parents=True)
    (home / ".gemini" / "settings.json").write_text(
        json.dumps(
            {
                "security": {"auth": {"selectedType": "gemini-api-key"}},
                "privacy": {"usageStatisticsEnabled": False},
                "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
            }
        )
    )
    command = ["env", "GEMINI_CLI_TRUST_WORKSPACE=true", GEMINI, "--acp", "--model", "gemini-2.5-pro"]
    named = 'environment = ["GOOGLE_GEMINI_BASE_URL", "GEMINI_CLI_NO_RELAUNCH"]\n'
    # an agent of the protocol keeps its state where its settings are, which nobody behind the wall writes unasked
    lets = 'keys = ["GEMINI_API_KEY"]\nauth = "gemini-api-key"\n'
    field = prepare(tmp_path, config(command, lets, named), write=(str(home / ".gemini"),))

    def shell(text: str) -> dict[str, object]:
        return tool("run_shell_command", {"command": text, "description": "go on"})

    def write(path: str, content: str) -> dict[str, object]:
        return tool("write_file", {"file_path": path, "content": content})

    commit = shell("git add -A && git commit -q -m 'Work' -m 'Bead: hello'")
    steps = [
        write("tests/test_hello.py", TEST),
        commit,
        DONE,
        write("tests/more.py", "x = 1\n"),  # refused: a Doer does not change tests
        shell("git push"),  # refused
        write("hello.py", CODE),
        commit,
        DONE,
    ]
    keys = {
        "GEMINI_API_KEY": "dummy",
        "GEMINI_CLI_NO_RELAUNCH": "true",
        "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:{port}/s/gemini",
    }
    printed = field.let_them_work({"gemini": steps}, keys)
    assert field.attempts() == WORKED, printed
    field.assert_merged()
    said = "".join(path.read_text() for path in sorted(field.repository.glob(".nobrakes/runs/*/agent.out")))
    assert "tests/more.py: the Doer does not change tests" in said
    assert said.count('"allowed": false') == 2
