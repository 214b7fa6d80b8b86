"""Dangerous tool calls are told from harmless ones, in the words in which each CLI tells of its calls."""

import json
import shlex
from collections.abc import Callable

import pytest

from nobrakes.agents import danger
from nobrakes.agents.adapter import LineKind
from nobrakes.agents.known import adapter
from nobrakes.agents.output import given_of
from tests.support.danger_calls import DANGEROUS, HARMLESS, OWN

MISSED = {"python3 -c \"import shutil; shutil.rmtree('/srv/ada')\""}
"""What is not read: code of another language than the shell's."""


def claude(command: str) -> object:
    block = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": command, "description": "Do it"}}
    return {"type": "assistant", "message": {"content": [block]}}


def codex(command: str) -> object:
    item = {"id": "item_1", "type": "command_execution", "command": f"bash -lc {shlex.quote(command)}"}
    return {"type": "item.started", "item": item}


def gemini(command: str) -> object:
    return {"type": "tool_use", "tool_name": "run_shell_command", "tool_id": "1", "parameters": {"command": command}}


def acp(command: str) -> object:
    return {"type": "tool", "id": "1", "title": "Run a command", "command": command}


SHAPES: dict[str, Callable[[str], object]] = {"claude": claude, "codex": codex, "gemini": gemini, "acp": acp}


def judged(cli: str, event: object) -> str:
    (line,) = adapter(cli).lines(json.dumps(event).encode())
    assert line.kind is LineKind.TOOL_CALL
    return danger.tool_danger(str(line.data.get("tool", "")), given_of(line), OWN)


@pytest.mark.parametrize("cli", SHAPES)
def test_so_many_are_missed_and_so_many_alert_in_vain(cli: str) -> None:
    assert (len(DANGEROUS), len(HARMLESS)) == (30, 333) and len(set(HARMLESS)) == len(HARMLESS)
    missed = {command for command in DANGEROUS if not judged(cli, SHAPES[cli](command))}
    real = [command.replace("\\n", "\n") if "<<" in command else command for command in HARMLESS]
    vain = {command: why for command in real if (why := judged(cli, SHAPES[cli](command)))}
    assert missed == MISSED and vain == {}


@pytest.mark.parametrize("cli", SHAPES)
def test_what_is_long_is_read_to_its_end(cli: str) -> None:
    assert judged(cli, SHAPES[cli]("echo " + "a" * 5000 + "; rm -rf /"))


def test_files_of_tools_are_looked_at_and_what_is_said_or_written_is_not() -> None:
    assert danger.tool_danger("Write", "/etc/passwd") and danger.tool_danger("Edit", "~/.bashrc")
    assert danger.tool_danger("Read", "/srv/ada/.ssh/id_rsa") and danger.tool_danger(
        "read_file", "/srv/ada/.aws/credentials"
    )
    assert not danger.tool_danger("Write", f"{OWN}/etc/passwd") and not danger.tool_danger("Read", "src/app.py")
    assert not danger.tool_danger("Grep", "rm -rf /") and not danger.tool_danger("WebSearch", "sudo rm -rf /")
    said = {"type": "assistant", "message": {"content": [{"type": "text", "text": "I will run `sudo rm -rf /` now."}]}}
    assert [line.kind for line in adapter("claude").lines(json.dumps(said).encode())] == [LineKind.TEXT]


@pytest.mark.parametrize("text", ["rm -rf '", "a" * 100_000, "$(" * 50, "\0", "", "``", "| & ;", "bash -c", "eval"])
def test_what_no_shell_could_read_is_no_trouble(text: str) -> None:
    assert danger.command_danger(text) == ""
