"""The real Claude Code CLI takes a bead from ready to merged main, against a scripted model on the loopback.

The Test Writer writes a failing test, the Doer makes it pass; nothing of the loop is replaced.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.claude.conftest import CLI, STUB, own_network

pytestmark = pytest.mark.claude

NOBRAKES = str(Path(sys.executable).parent / "nobrakes")
TEST = """import unittest

from hello import greet


class T(unittest.TestCase):
    def test_greets(self):
        self.assertEqual(greet('Ada'), 'Hello, Ada!')
"""
CODE = "def greet(name):\n    return f'Hello, {name}!'\n"
DRIVER = """
import os, pathlib, subprocess, sys
config = pathlib.Path(".nobrakes/config.toml")
config.write_text(config.read_text().replace("PORT", os.environ["NB_PORT"]))
sys.exit(subprocess.run([sys.argv[1], "run"]).returncode)
"""


def tool(name: str, **given: str) -> dict[str, object]:
    return {"tools": [[name, given]]}


def commit(subject: str) -> dict[str, object]:
    return tool("Bash", command=f"git add -A && git commit -q -m '{subject}' -m 'Bead: hello'")


def test_the_real_cli_takes_a_bead_from_ready_to_merged(tmp_path: Path) -> None:
    cli = CLI
    if cli is None:
        pytest.skip("no Claude Code CLI: install claude-agent-sdk, or set NOBRAKES_CLAUDE to an executable")
    repository = tmp_path / "repository"
    (repository / "tests").mkdir(parents=True)
    (repository / "tests" / "__init__.py").write_text("")

    def run(*argv: str) -> str:
        done = subprocess.run(argv, cwd=repository, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("git", "init", "-q", "-b", "main")
    run("git", "config", "user.name", "You")
    run("git", "config", "user.email", "you@example.invalid")
    run("git", "add", "-A")
    run("git", "commit", "-q", "-m", "Begin")
    run(NOBRAKES, "init")
    (repository / ".nobrakes" / "config.toml").write_text(
        f"""
main = "main"

[[checks]]
name = "test"
command = "python3 -m unittest discover -s tests -t ."

[agents]
test_writer = "claude"
doer = "claude"

[agents.claude]
executable = {json.dumps(cli)}
model = "claude-sonnet-4-5"
base_url = "http://127.0.0.1:PORT/s/run"
"""
    )
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"beads": [{"id": "hello", "title": "Greet people", "type": "feature"}]}))
    run(NOBRAKES, "plan", "apply", str(plan), "--live")

    workspace = str(repository / ".nobrakes" / "workspaces" / "hello")
    done = {"text": "It is done.\n\nNOBRAKES: COMPLETED"}
    steps = [
        tool("Write", file_path=f"{workspace}/tests/test_hello.py", content=TEST),
        commit("Tests for greeting"),
        done,
        tool("Write", file_path=f"{workspace}/hello.py", content=CODE),
        commit("Greet"),
        tool("Bash", command="nobrakes agent done --summary 'greet() is there'"),
        done,
    ]
    spec = {
        "scripts": {"run": steps},
        "argv": [sys.executable, "-c", DRIVER, NOBRAKES],
        "env": {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path / "home"),
            "ANTHROPIC_API_KEY": "dummy",
            "NB_PORT": "{port}",
        },
        "cwd": str(repository),
        "stdin": os.devnull,
        "stdout": str(tmp_path / "stdout"),
        "stderr": str(tmp_path / "stderr"),
        "log": str(tmp_path / "log"),
        "seconds": 180,
        "own_network": bool(own_network()),
    }
    (tmp_path / "home").mkdir()
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    ended = subprocess.run([*own_network(), sys.executable, str(STUB), str(tmp_path / "spec.json")], timeout=240)
    printed = (tmp_path / "stdout").read_text() + (tmp_path / "stderr").read_text()
    assert ended.returncode == 0, printed
    bead = json.loads(run(NOBRAKES, "show", "hello", "--json"))["data"]
    assert bead["status"] == "done", printed
    assert [(a["role"], a["agent"], a["outcome"]) for a in bead["attempts"]] == [
        ("test_writer", "claude", "completed"),
        ("doer", "claude", "completed"),
        ("reviewer", "nobrakes", "completed"),
    ]
    assert run("git", "show", "main:hello.py") == CODE
    assert run("git", "show", "main:tests/test_hello.py") == TEST
    assert "Bead: hello" in run("git", "log", "-1", "--format=%B", "main")
