"""The real Claude Code CLI, run by our own launch against a scripted API that only the loopback can reach."""

import importlib.util
import json
import os
import subprocess
import sys
import uuid
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from nobrakes.agents.adapter import AgentEnd, Assignment, Verdict, guard_argv
from nobrakes.agents.claude import Claude
from nobrakes.beads.model import Role
from nobrakes.config.sections import AgentSettings, ClaudeSettings

STUB = Path(__file__).parents[2] / "support" / "stub_anthropic.py"


def find_cli() -> str | None:
    """NOBRAKES_CLAUDE, or the CLI that comes inside the claude-agent-sdk wheel."""
    named = os.environ.get("NOBRAKES_CLAUDE")
    if named:
        return named
    spec = importlib.util.find_spec("claude_agent_sdk")
    folders = spec.submodule_search_locations if spec else None
    bundled = Path(next(iter(folders))) / "_bundled" / "claude" if folders else None
    return str(bundled) if bundled and bundled.is_file() else None


CLI = find_cli()  # now: tests do not see the NOBRAKES_ variables of who runs them


def own_network() -> list[str]:
    """The prefix that gives a command a network with a loopback only; empty where that is not permitted."""
    prefix = ["unshare", "-n", "--"]
    try:
        permitted = subprocess.run([*prefix, "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        permitted = False
    return prefix if permitted else []


@dataclass
class AgentRun:
    """One run of the CLI."""

    code: int
    out: bytes
    errors: str
    requests: list[dict[str, Any]]
    verdict: Verdict

    def told(self) -> str:
        """Everything that the model was sent, tool results included."""
        return json.dumps([request["body"]["messages"] for request in self.requests])


@dataclass
class Bench:
    """A repository on its own branch, a fresh HOME, and the CLI."""

    cli: str
    folder: Path
    workspace: Path
    network: list[str]

    def assignment(self, **changes: Any) -> Assignment:
        """An assignment of a Doer with a dummy key."""
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder / "home"),
            "ANTHROPIC_API_KEY": "dummy",
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS": "1",  # not on the list: must not arrive
            "NOBRAKES_HOME": str(self.folder / ".nobrakes"),
            "NOBRAKES_BRANCH": "task/bead-a1",
            "NOBRAKES_TESTS": "tests/**",
            "NOBRAKES_GATES": "Makefile",
            "GIT_CONFIG_GLOBAL": "/dev/null",
        }
        claude = ClaudeSettings(
            executable=self.cli, model="claude-sonnet-4-5", base_url="http://127.0.0.1:{port}/s/run"
        )
        given = Assignment(
            role=Role.DOER,
            bead="a1",
            worker="Ada",
            attempt=1,
            prompt="- do it",
            prompt_file=str(self.folder / "prompt.md"),
            workspace=str(self.workspace),
            folder=str(self.folder / "run"),
            session=str(uuid.uuid4()),
            resume=False,
            env=env,
            settings=AgentSettings(claude=claude),
            system_prompt="You are a Doer.",
            guard=guard_argv(),
        )
        return replace(given, **changes)

    def run(self, steps: list[dict[str, Any]], assignment: Assignment, env: dict[str, str] | None = None) -> AgentRun:
        """Launch the adapter's command and read its end."""
        claude = Claude(root=os.geteuid() == 0)
        Path(assignment.prompt_file).write_text(assignment.prompt)
        launch = claude.launch(assignment)
        files = {name: str(self.folder / name) for name in ("stdout", "stderr", "log")}
        spec = {
            "scripts": {"run": steps},
            "argv": list(launch.argv),
            "env": {**launch.env, **(env or {})},
            "cwd": str(self.workspace),
            "stdin": launch.stdin or os.devnull,
            "seconds": 60,
            "own_network": bool(self.network),
            **files,
        }
        (self.folder / "spec.json").write_text(json.dumps(spec))
        argv = [*self.network, sys.executable, str(STUB), str(self.folder / "spec.json")]
        code = subprocess.run(argv, timeout=90).returncode
        out = Path(files["stdout"]).read_bytes()
        errors = Path(files["stderr"]).read_text()
        requests = json.loads(Path(files["log"]).read_text())
        return AgentRun(code, out, errors, requests, claude.verdict(AgentEnd(code, out.split(b"\n"), errors)))

    def git(self, *words: str) -> str:
        """What git says in the workspace."""
        return subprocess.run(["git", *words], cwd=self.workspace, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A bench with one commit on main and the bead's branch checked out; skips where there is no CLI."""
    if CLI is None:
        pytest.skip("no Claude Code CLI: install claude-agent-sdk, or set NOBRAKES_CLAUDE to an executable")
    if not os.access(CLI, os.X_OK):
        pytest.skip(f"the Claude Code CLI at {CLI} is not executable")
    workspace = tmp_path / "workspace"
    for folder in (workspace, tmp_path / "home", tmp_path / "run", tmp_path / ".nobrakes"):
        folder.mkdir()
    bench = Bench(CLI, tmp_path, workspace, own_network())
    bench.git("init", "-q", "-b", "main")
    bench.git("config", "user.name", "Ada")
    bench.git("config", "user.email", "ada@example.invalid")
    (workspace / "README").write_text("hello\n")
    bench.git("add", "-A")
    bench.git("commit", "-q", "-m", "first")
    bench.git("checkout", "-q", "-b", "task/bead-a1")
    return bench
