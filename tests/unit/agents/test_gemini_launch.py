"""How Gemini CLI is called: its command, its settings, and whose login it uses."""

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from nobrakes.agents.adapter import Assignment
from nobrakes.agents.gemini import API, Gemini
from nobrakes.config.sections import AgentSettings, GeminiSettings

from .conftest import SESSION

Assign = Callable[..., Assignment]

OURS = "nobrakes-000000000000"


def test_the_whole_command(assign: Assign) -> None:
    launch = Gemini().launch(assign(settings=AgentSettings(gemini=GeminiSettings(model="pro", max_turns=9))))
    assert launch.argv == (
        "gemini", "--output-format", "stream-json", "--approval-mode", "yolo", "--allowed-mcp-server-names", OURS,
        "--model=pro", "--session-id", SESSION, "--prompt=do it",
    )  # fmt: skip
    assert launch.env["GEMINI_CLI_HOME"] == "/n/runs/1/gemini"
    assert launch.env["GEMINI_CLI_NO_RELAUNCH"] == launch.env["GEMINI_CLI_TRUST_WORKSPACE"] == "true"
    assert launch.files["gemini/.gemini/nobrakes-role.md"] == b"You are a Doer."
    settings = json.loads(launch.files["gemini/.gemini/settings.json"])
    assert settings["model"] == {"maxSessionTurns": 9}
    assert settings["hooksConfig"] == {"enabled": True} and settings["advanced"] == {"ignoreLocalEnv": True}
    assert settings["privacy"] == {"usageStatisticsEnabled": False}
    server = settings["mcpServers"][OURS]
    assert (server["command"], server["args"], server["trust"]) == ("/n/bin/nobrakes", ["mcp"], True)
    assert server["env"]["NOBRAKES_TOKEN"] == "$NOBRAKES_TOKEN"


@pytest.mark.parametrize(
    ("env", "method"),
    [
        ({"GEMINI_API_KEY": "k"}, "gemini-api-key"),
        ({"GOOGLE_GENAI_USE_VERTEXAI": "true", "GOOGLE_CLOUD_PROJECT": "p"}, "vertex-ai"),
        ({}, "oauth-personal"),
    ],
)
def test_how_it_proves_who_asks(assign: Assign, env: dict[str, str], method: str) -> None:
    a = assign()
    launch = Gemini().launch(replace(a, env={**a.env, **env}))
    settings = json.loads(launch.files["gemini/.gemini/settings.json"])
    assert settings["security"]["auth"]["selectedType"] == method
    assert {key: launch.env[key] for key in env} == env
    # a key is never sent to where a file of the repository says
    assert launch.env.get("GOOGLE_GEMINI_BASE_URL") == (API if method == "gemini-api-key" else None)


@pytest.mark.parametrize("keyed", [True, False])
def test_what_was_said_is_kept_and_the_login_is_linked_to_only_without_a_key(
    assign: Assign, tmp_path: Path, keyed: bool
) -> None:
    (tmp_path / "run" / "gemini" / ".gemini").mkdir(parents=True)
    env = {"PATH": os.environ["PATH"], "NOBRAKES_HOME": str(tmp_path / "nb"), "HOME": str(tmp_path / "human")}
    a = assign(folder=str(tmp_path / "run"), env=env | ({"GEMINI_API_KEY": "k"} if keyed else {}))
    for _ in range(2):  # a start that is done again after a crash
        subprocess.run(Gemini().launch(a).prologue[0], check=True)
    home = tmp_path / "run" / "gemini" / ".gemini"
    assert (home / "tmp").resolve() == tmp_path / "nb" / "agents" / "gemini" / "a1" / "tmp"
    linked = {path.name: os.readlink(path) for path in home.iterdir() if path.name != "tmp"}
    login = str(tmp_path / "human" / ".gemini")
    names = [] if keyed else ["oauth_creds.json", "google_accounts.json"]
    assert linked == {name: f"{login}/{name}" for name in names}
