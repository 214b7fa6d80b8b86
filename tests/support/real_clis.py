"""The real agent CLIs, where they are installed, and a repository in which one of them takes a bead to main.

`.ci/run` installs Codex and Gemini CLI into .ci/agents/node_modules; NOBRAKES_CODEX, NOBRAKES_GEMINI name others.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nobrakes.app import open_app
from tests.integration.claude.conftest import CLI, STUB, own_network

BIN = Path(__file__).parents[2] / ".ci" / "agents" / "node_modules" / ".bin"
NOBRAKES = str(Path(sys.executable).parent / "nobrakes")
TEST = """import unittest

from hello import greet


class T(unittest.TestCase):
    def test_greets(self):
        self.assertEqual(greet('Ada'), 'Hello, Ada!')
        self.assertEqual(greet('Bo'), 'Hello, Bo!')
"""
CODE = "def greet(name):\n    return f'Hello, {name}!'\n"
DONE = {"text": "It is done.\n\nNOBRAKES: COMPLETED"}
CAP = "[caps.attempt]\ntokens = 300\n"
"""The scripted models say that each call took 120."""
DRIVER = """
import os, pathlib, subprocess, sys
config = pathlib.Path(".nobrakes/config.toml")
config.write_text(config.read_text().replace("PORT", os.environ["NB_PORT"]))
sys.exit(subprocess.run([sys.argv[1], "run"]).returncode)
"""


def _find(name: str) -> str | None:
    named = os.environ.get(f"NOBRAKES_{name.upper()}")
    found = Path(named) if named else BIN / name
    return str(found) if found.is_file() else None


# now: tests do not see the NOBRAKES_ variables of who runs them
CODEX, GEMINI, CLAUDE = _find("codex"), _find("gemini"), CLI


def tool(name: str, given: dict[str, str] | str) -> dict[str, Any]:
    """A step that calls one tool."""
    return {"tools": [[name, given]]}


def committing(subject: str) -> str:
    """The shell commands that commit all there is for the bead."""
    return f"git add -A && git commit -q -m '{subject}' -m 'Bead: hello'"


@dataclass
class Field:
    """A repository with one bead that is ready."""

    folder: Path
    repository: Path

    @property
    def workspace(self) -> str:
        return str(self.repository / ".nobrakes" / "workspaces" / "hello")

    def run(self, *argv: str) -> str:
        """What a command in the repository prints; it must succeed."""
        done = subprocess.run(argv, cwd=self.repository, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def let_them_work(self, scripts: dict[str, list[dict[str, Any]]], keys: dict[str, str], code: int = 0) -> str:
        """`nobrakes run` against the scripted model, which must end with this code; what it printed."""
        spec = {
            "scripts": scripts,
            "argv": [sys.executable, "-c", DRIVER, NOBRAKES],
            "env": {"PATH": os.environ["PATH"], "HOME": str(self.folder / "home"), "NB_PORT": "{port}", **keys},
            "cwd": str(self.repository),
            "stdin": os.devnull,
            "stdout": str(self.folder / "stdout"),
            "stderr": str(self.folder / "stderr"),
            "log": str(self.folder / "log"),
            "seconds": 180,
            "own_network": bool(own_network()),
        }
        (self.folder / "home").mkdir(exist_ok=True)
        (self.folder / "spec.json").write_text(json.dumps(spec))
        argv = [*own_network(), sys.executable, str(STUB), str(self.folder / "spec.json")]
        ended = subprocess.run(argv, timeout=240)
        printed = (self.folder / "stdout").read_text() + (self.folder / "stderr").read_text()
        assert ended.returncode == code, printed
        return printed

    def told(self) -> str:
        """Everything that the model was sent."""
        return (self.folder / "log").read_text()

    def bead(self) -> dict[str, Any]:
        """The bead as `nobrakes show` tells of it."""
        found: dict[str, Any] = json.loads(self.run(NOBRAKES, "show", "hello", "--json"))["data"]
        return found

    def events(self) -> list[dict[str, Any]]:
        """All that happened."""
        return [json.loads(line) for line in self.run(NOBRAKES, "events", "--json").splitlines()]

    def sessions(self) -> list[str]:
        """The session of each attempt, as the daemon noted it."""
        with open_app(str(self.repository)) as app:
            return [str(attempt.provider_session) for attempt in app.store.attempts("hello")]

    def attempts(self) -> list[tuple[str, str, str]]:
        """Who did what, and how it ended."""
        return [(a["role"], a["agent"], a["outcome"]) for a in self.bead()["attempts"]]

    def assert_merged(self) -> None:
        """The work of both is on main."""
        assert self.run("git", "show", "main:hello.py") == CODE
        assert self.run("git", "show", "main:tests/test_hello.py") == TEST
        assert "Bead: hello" in self.run("git", "log", "-1", "--format=%B", "main")

    def assert_capped(self, agent: str, printed: str) -> None:
        """The Test Writer came to its cap in tokens and went on in the same session, and the work is on main."""
        assert self.attempts() == [
            ("test_writer", agent, "turn_limit"),
            ("test_writer", agent, "completed"),
            ("doer", agent, "completed"),
            ("reviewer", "nobrakes", "completed"),
        ], printed
        stopped, again = self.bead()["attempts"][:2]
        assert stopped["tokens"] >= 300 and again["tokens"] < 300, "what was told before the attempt is not its own"
        assert len(set(self.sessions()[:2])) == 1
        self.assert_merged()


def prepare(folder: Path, agents: str, sandbox: str = "none", write: tuple[str, ...] = ()) -> Field:
    """A repository whose config has these settings of agents; in a sandbox they reach their provider alone.

    `write`: places that agents may write beside their own.
    """
    field = Field(folder, folder / "repository")
    (field.repository / "tests").mkdir(parents=True)
    (field.repository / "tests" / "__init__.py").write_text("")
    field.run("git", "init", "-q", "-b", "main")
    field.run("git", "config", "user.name", "You")
    field.run("git", "config", "user.email", "you@example.invalid")
    field.run("git", "add", "-A")
    field.run("git", "commit", "-q", "-m", "Begin")
    field.run(NOBRAKES, "init")
    check = '[[checks]]\nname = "test"\ncommand = "python3 -m unittest discover -s tests -t ."\n'
    (field.repository / ".nobrakes" / "config.toml").write_text(
        f'main = "main"\n\n{check}\n{agents}\n[sandbox]\nmode = "{sandbox}"\nnetwork = "provider"\nwrite = {json.dumps(write)}\n'
    )
    plan = folder / "plan.json"
    plan.write_text(json.dumps({"beads": [{"id": "hello", "title": "Greet people", "type": "feature"}]}))
    field.run(NOBRAKES, "plan", "apply", str(plan), "--live")
    return field
