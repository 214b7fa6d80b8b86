"""The real agent CLIs in a session without a bead: one asks, is killed, is answered and resumed, once.

The model is scripted and on the loopback; nothing of nobrakes or of the CLI is replaced.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.real_clis import CLAUDE, CODEX, DONE, GEMINI, NOBRAKES, Field, prepare, tool

ASKS = """$NOBRAKES_HOME/bin/nobrakes agent ask 'Which greeting, zebra or hello?' --option 'zebra: an animal; costs a \
laugh' --option 'hello: what people say' --recommend hello"""
WAITS = "sleep 20"
OURS = (b"wrapper", b"recorder", b"forkserver")
BLOCKED = {"text": "I wait for you.\n\nNOBRAKES: BLOCKED"}


@dataclass(frozen=True)
class Cli:
    """One CLI: where it is, its settings, the name of its script, its key, and how it runs a command."""

    executable: str | None
    settings: str
    script: str
    keys: dict[str, str]
    shell: Callable[[str], dict[str, Any]]


CLIS = {
    "claude": Cli(
        CLAUDE,
        'model = "claude-sonnet-4-5"\nbase_url = "http://127.0.0.1:PORT/s/run"\n',
        "run",
        {"ANTHROPIC_API_KEY": "dummy"},
        lambda command: tool("Bash", {"command": command}),
    ),
    "codex": Cli(
        CODEX,
        'model = "gpt-5.5"\nbase_url = "http://127.0.0.1:PORT/s/codex/v1"\n',
        "codex",
        {"CODEX_API_KEY": "dummy"},
        lambda command: {"tools": [["exec_command", {"cmd": command, "yield_time_ms": 30000}]]},
    ),
    "gemini": Cli(
        GEMINI,
        'model = "gemini-2.5-pro"\nbase_url = "http://127.0.0.1:PORT/s/gemini"\n',
        "gemini",
        {"GEMINI_API_KEY": "dummy"},
        lambda command: tool("run_shell_command", {"command": command, "description": "go on"}),
    ),
}


def field_of(folder: Path, name: str) -> Field:
    """A repository whose only bead was cancelled, with a session that waits for its first turn."""
    cli = CLIS[name]
    if cli.executable is None:
        pytest.skip(f"no {name} CLI: run .ci/run once, or name one in NOBRAKES_{name.upper()}")
    settings = f"\n[agents.{name}]\nexecutable = {json.dumps(cli.executable)}\n{cli.settings}"
    field = prepare(folder, f'[agents]\nshaper = "{name}"\n{settings}')
    field.run(NOBRAKES, "cancel", "hello")
    field.run(NOBRAKES, "session", "start", "Which greeting should the program use?")
    return field


def kills_the_cli(field: Field, ended: threading.Event) -> None:
    """As soon as the question is there, the processes of the CLI are killed, once."""
    while not ended.is_set() and not json.loads(field.run(NOBRAKES, "escalations", "--json"))["data"]:
        time.sleep(0.1)
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            environ, line = (Path("/proc", pid, name).read_bytes() for name in ("environ", "cmdline"))
            mine = b"NOBRAKES_RUN=s1-agent" in environ.split(b"\0") and str(field.repository).encode() in environ
            if mine and not any(word in line for word in OURS):
                os.kill(int(pid), signal.SIGKILL)


ASKED = 40


def works(field: Field, name: str, *steps: dict[str, Any], code: int = 0) -> list[dict[str, Any]]:
    """`nobrakes run` with this script of the model, which ends with this code; what the model was sent."""
    config = field.repository / ".nobrakes" / "config.toml"
    config.write_text(re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", config.read_text()))
    field.let_them_work({CLIS[name].script: list(steps)}, CLIS[name].keys, code)
    found: list[dict[str, Any]] = json.loads(field.told())
    return found


def shown(field: Field) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(field.run(NOBRAKES, "session", "show", "1", "--json"))["data"]
    return found


@pytest.mark.parametrize("name", [pytest.param(n, marks=getattr(pytest.mark, n)) for n in CLIS])
def test_it_asks_is_killed_answered_and_resumed_once(tmp_path: Path, name: str) -> None:
    cli, field = CLIS[name], field_of(tmp_path, name)
    ended = threading.Event()
    killer = threading.Thread(target=kills_the_cli, args=(field, ended))
    killer.start()
    try:
        works(field, name, cli.shell(ASKS), cli.shell(WAITS), BLOCKED, code=ASKED)
    finally:
        ended.set()
        killer.join()
    asking = shown(field)
    assert asking["session"]["state"] == "asking", asking
    assert [turn["outcome"] for turn in asking["turns"]] == ["killed", "blocked"]
    assert asking["turns"][1]["resumes"] and asking["session"]["provider_session"]
    (question,) = asking["questions"]
    assert "zebra" in question["title"] and question["bead"] is None
    assert [option["label"] for option in question["form"]["options"]] == ["zebra", "hello"]
    refused = subprocess.run([NOBRAKES, "answer", str(question["id"]), "okapi"], cwd=field.repository)
    assert refused.returncode != 0
    field.run(NOBRAKES, "answer", str(question["id"]), "1")
    field.run(NOBRAKES, "answer", str(question["id"]), "--take-back")
    field.run(NOBRAKES, "answer", str(question["id"]), "--recommended")
    requests = works(field, name, {"text": "Then it is hello.\n\nNOBRAKES: COMPLETED"})
    done = shown(field)
    assert done["session"]["state"] == "idle" and done["turns"][-1]["resumes"]
    assert done["messages"][-1]["text"] == "Then it is hello."
    assert done["session"]["provider_session"] == asking["session"]["provider_session"]
    said = json.dumps(requests[-1]["body"])
    assert said.count("The answer: hello") == 1 and "The answer: zebra" not in said
    assert said.count("Which greeting should the program use?") == 1
    assert "You were interrupted" in said
    field.run(NOBRAKES, "session", "end", "1")
    works(field, name, DONE)
    assert not (field.repository / ".nobrakes" / "agents" / name / "session~1").exists()
