"""How Codex is called: the program behind npm's script, its settings, and whose login it uses."""

import json
import os
import subprocess
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from nobrakes.agents.adapter import Assignment, Launch
from nobrakes.agents.codex import Codex
from nobrakes.config.sections import AgentSettings, CodexSettings

Assign = Callable[..., Assignment]


def config(launch: Launch) -> dict[str, object]:
    return tomllib.loads(launch.files["codex/config.toml"].decode())


def test_the_whole_command(assign: Assign) -> None:
    launch = Codex().launch(assign(settings=AgentSettings(codex=CodexSettings(model="gpt-5.5"))))
    assert launch.argv[4:] == (
        "codex", "exec", "--json", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust",
        "--model=gpt-5.5", "--", "do it",
    )  # fmt: skip
    assert launch.env["CODEX_HOME"] == "/n/runs/1/codex"


@pytest.mark.parametrize("text", ["plain", 'a "quote" \\ and\nlines\t\x7f\x01', "\N{SNOWMAN}\N{GRINNING FACE}", "'''"])
def test_the_settings_are_toml_whatever_the_prompt_holds(assign: Assign, text: str) -> None:
    found = config(Codex().launch(assign(system_prompt=text)))
    assert found["developer_instructions"] == text
    assert found["analytics"] == {"enabled": False}
    assert "model_provider" not in found


def test_another_address_is_a_provider_of_its_own(assign: Assign) -> None:
    settings = AgentSettings(codex=CodexSettings(base_url="http://127.0.0.1:1/v1"))
    a = assign(settings=settings)
    keyed = replace(a, env={**a.env, "OPENAI_API_KEY": "k"})
    provider = {"name": "nobrakes", "base_url": "http://127.0.0.1:1/v1", "wire_api": "responses"}
    assert config(Codex().launch(a))["model_providers"] == {"nobrakes": {**provider, "requires_openai_auth": True}}
    assert config(Codex().launch(keyed))["model_providers"] == {"nobrakes": {**provider, "env_key": "CODEX_API_KEY"}}


def test_our_mcp_server_is_told_names_and_no_token(assign: Assign) -> None:
    launch = Codex().launch(assign())
    (server,) = config(launch)["mcp_servers"].values()  # type: ignore[attr-defined]
    assert (server["command"], server["args"]) == ("/n/bin/nobrakes", ["mcp"])
    assert "NOBRAKES_TOKEN" in server["env_vars"] and "env" not in server
    assert server["default_tools_approval_mode"] == "approve"


def test_a_key_is_kept_from_what_the_agent_runs(assign: Assign) -> None:
    a = assign()
    launch = Codex().launch(replace(a, env={**a.env, "OPENAI_API_KEY": "k"}))
    assert launch.env["CODEX_API_KEY"] == "k" and "OPENAI_API_KEY" not in launch.env
    policy = config(launch)["shell_environment_policy"]
    assert policy == {"ignore_default_excludes": True, "exclude": ["CODEX_API_KEY", "OPENAI_API_KEY"]}


@pytest.mark.parametrize("keyed", [True, False])
def test_sessions_are_kept_and_the_login_is_linked_to_only_without_a_key(
    assign: Assign, tmp_path: Path, keyed: bool
) -> None:
    human = tmp_path / "human"
    human.mkdir()
    (human / "auth.json").write_text("{}")
    (tmp_path / "run" / "codex").mkdir(parents=True)
    env = {"PATH": os.environ["PATH"], "NOBRAKES_HOME": str(tmp_path / "nb"), "CODEX_HOME": str(human)}
    a = assign(folder=str(tmp_path / "run"), env=env | ({"CODEX_API_KEY": "k"} if keyed else {}))
    for _ in range(2):  # a start that is done again after a crash
        subprocess.run(Codex().launch(a).prologue[0], check=True)
    home = tmp_path / "run" / "codex"
    assert (home / "sessions").resolve() == tmp_path / "nb" / "agents" / "codex" / "a1" / "sessions"
    assert (home / "auth.json").is_symlink() is not keyed
    assert keyed or (home / "auth.json").resolve() == human / "auth.json"


def started(assign: Assign, executable: Path) -> subprocess.CompletedProcess[str]:
    settings = AgentSettings(codex=CodexSettings(executable=str(executable)))
    argv = Codex().launch(assign(settings=settings, prompt="a 'prompt' $HOME")).argv
    return subprocess.run(argv, text=True, capture_output=True)


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


SAYS = '#!/bin/sh\necho "$0"\nfor word; do echo "$word"; done\n'


@pytest.mark.parametrize("beside", ["codex-linux-x64", "codex/node_modules/@openai/codex-linux-x64", "codex"])
def test_the_program_behind_npms_script_is_started(assign: Assign, tmp_path: Path, beside: str) -> None:
    scope = tmp_path / "node_modules" / "@openai"
    script = program(scope / "codex" / "bin" / "codex.js", "#!/bin/sh\necho the script\n")
    native = program(scope / beside / "vendor" / "x86_64-unknown-linux-musl" / "bin" / "codex", SAYS)
    link = tmp_path / "bin" / "codex"
    link.parent.mkdir()
    link.symlink_to(script)
    said = started(assign, link).stdout.splitlines()
    assert os.path.realpath(said[0]) == str(native)
    assert said[1:3] == ["exec", "--json"] and said[-2:] == ["--", "a 'prompt' $HOME"]


def test_a_program_that_is_no_script_is_started_as_it_is(assign: Assign, tmp_path: Path) -> None:
    native = program(tmp_path / "codex", SAYS)
    assert started(assign, native).stdout.splitlines()[:2] == [str(native), "exec"]


def test_what_is_not_installed_is_said(assign: Assign, tmp_path: Path) -> None:
    gone = started(assign, tmp_path / "codex")
    assert gone.returncode == 127 and "was not found" in gone.stderr
    script = program(tmp_path / "x" / "bin" / "codex.js", "")
    alone = started(assign, script)
    assert alone.returncode == 127 and "install @openai/codex again" in alone.stderr


def test_hooks_are_files_of_the_run(assign: Assign) -> None:
    hooks = json.loads(Codex().launch(assign()).files["codex/hooks.json"])["hooks"]
    assert hooks["PreToolUse"] == hooks["SessionStart"]
    assert hooks["PreToolUse"][0]["hooks"][0]["command"] == "/usr/bin/python -I '/with space/guard.py' || exit 2"
