"""A later run, with a folder of its own, goes on with the session of an earlier one: the real CLIs, our own launch."""

import json
import os
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest

from nobrakes.agents.adapter import AgentEnd, Assignment, Verdict, guard_argv
from nobrakes.agents.known import adapter
from nobrakes.beads.model import Outcome, Role
from nobrakes.config.sections import AgentSettings, CodexSettings, GeminiSettings
from tests.integration.claude.conftest import STUB, own_network
from tests.support.real_clis import CODEX, DONE, GEMINI

WRAPPED = """
import json, subprocess, sys
launch = json.load(sys.stdin)
for argv in launch["prologue"]:
    subprocess.run(argv, check=True)
sys.exit(subprocess.run(launch["argv"], stdin=subprocess.DEVNULL).returncode)
"""


class AgentSpec:
    """A workspace, and runs in it one after the other."""

    def __init__(self, folder: Path, name: str, settings: AgentSettings) -> None:
        self.folder, self.name, self.settings = folder, name, settings
        self.workspace = folder / "workspace"
        for made in (self.workspace, folder / "home", folder / ".nobrakes"):
            made.mkdir()
        subprocess.run(["git", "init", "-q", "-b", "main"], cwd=self.workspace, check=True)

    def work(self, number: int, prompt: str, session: str, resume: bool, steps: list[dict[str, Any]]) -> Verdict:
        """One run of the CLI; what it means."""
        run = self.folder / f"run-{number}"
        run.mkdir()
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder / "home"),
            "OPENAI_API_KEY": "dummy",
            "GEMINI_API_KEY": "dummy",
            "NOBRAKES_HOME": str(self.folder / ".nobrakes"),
            "NOBRAKES_BRANCH": "main",
            "NOBRAKES_TESTS": "tests/**",
            "NOBRAKES_GATES": "Makefile",
        }
        launch = adapter(self.name).launch(
            Assignment(
                role=Role.DOER, bead="a1", worker="Ada", attempt=number, prompt=prompt,
                prompt_file=str(run / "prompt.md"), workspace=str(self.workspace), folder=str(run), session=session,
                resume=resume, env=env, settings=self.settings, system_prompt="You are a Doer.", guard=guard_argv(),
            )
        )  # fmt: skip
        (run / "launch").write_text(json.dumps({"argv": launch.argv, "prologue": launch.prologue}))
        names = {"stdout": str(run / "out"), "stderr": str(run / "err"), "log": str(run / "log")}
        # the port is known only when the stub serves: it fills it in wherever the environment names it
        spec = {
            "scripts": {"run": steps},
            "argv": [sys.executable, "-c", WRAPPED],
            "env": dict(launch.env),
            "cwd": str(self.workspace),
            "stdin": str(run / "launch"),
            "seconds": 60,
            "port": 18181,
            "own_network": bool(own_network()),
            **names,
        }
        for path, content in launch.files.items():
            (run / path).parent.mkdir(parents=True, exist_ok=True)
            (run / path).write_bytes(content)
        (run / "spec.json").write_text(json.dumps(spec))
        code = subprocess.run(
            [*own_network(), sys.executable, str(STUB), str(run / "spec.json")], timeout=90
        ).returncode
        self_test = run / "guard.ready"
        end = AgentEnd(
            code, (run / "out").read_bytes().split(b"\n"), (run / "err").read_text(),
            self_test.read_text() if self_test.exists() else "",
        )  # fmt: skip
        return adapter(self.name).verdict(end)


def goes_on(agent_spec: AgentSpec) -> None:
    first = agent_spec.work(1, "remember the word zebra", str(uuid.uuid4()), False, [DONE])
    assert (first.outcome, bool(first.session)) == (Outcome.COMPLETED, True), first
    assert first.session is not None
    second = agent_spec.work(2, "what was it?", first.session, True, [DONE])
    assert (second.outcome, second.session) == (Outcome.COMPLETED, first.session), second
    assert "remember the word zebra" in (agent_spec.folder / "run-2" / "log").read_text()
    gone = agent_spec.work(3, "hello", str(uuid.UUID(int=7)), True, [DONE])
    assert gone.outcome is Outcome.SESSION_LOST, gone


URL = "http://127.0.0.1:18181/s/run"


@pytest.mark.codex
def test_codex_goes_on(tmp_path: Path) -> None:
    if CODEX is None:
        pytest.skip("no Codex: run .ci/run once, or set NOBRAKES_CODEX to an executable")
    codex = CodexSettings(executable=CODEX, model="gpt-5.5", base_url=f"{URL}/v1")
    goes_on(AgentSpec(tmp_path, "codex", AgentSettings(codex=codex)))


@pytest.mark.gemini
def test_gemini_goes_on(tmp_path: Path) -> None:
    if GEMINI is None:
        pytest.skip("no Gemini CLI: run .ci/run once, or set NOBRAKES_GEMINI to an executable")
    gemini = GeminiSettings(executable=GEMINI, model="gemini-2.5-pro", base_url=URL)
    goes_on(AgentSpec(tmp_path, "gemini", AgentSettings(gemini=gemini)))
