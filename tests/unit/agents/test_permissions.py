"""Where nothing else closes an agent off, its CLI's own permissions stay on: what each is started with."""

import json
import tomllib
from collections.abc import Callable

import pytest

from nobrakes.agents.adapter import Assignment
from nobrakes.agents.claude import Claude
from nobrakes.agents.codex import Codex
from nobrakes.agents.gemini import Gemini
from nobrakes.agents.worker.process import commands
from nobrakes.checks.contract import Check

Assign = Callable[..., Assignment]
PERMITTED = (("git",), ("nobrakes",), ("python3", "-m", "pytest"), ("./odd(1)",))


def test_claude_edits_in_its_workspace_and_runs_what_is_listed(assign: Assign) -> None:
    launch = Claude(root=True).launch(assign(permitted=PERMITTED))
    assert "bypassPermissions" not in launch.argv and "IS_SANDBOX" not in launch.env
    assert launch.argv[launch.argv.index("--permission-mode") + 1] == "acceptEdits"
    inline = json.loads(launch.argv[launch.argv.index("--settings") + 1])
    allowed = ["mcp__nobrakes", "Bash(git:*)", "Bash(nobrakes:*)", "Bash(python3 -m pytest:*)"]
    assert inline["permissions"]["allow"] == allowed, "a rule that would be misread is left out"
    assert inline["hooks"]["PreToolUse"] and inline["permissions"]["deny"]


def test_codex_stays_in_its_own_sandbox_but_for_what_is_listed(assign: Assign) -> None:
    launch = Codex().launch(assign(permitted=PERMITTED))
    assert "--dangerously-bypass-approvals-and-sandbox" not in launch.argv
    assert "--dangerously-bypass-hook-trust" in launch.argv, "the guard is ours, and stays"
    config = tomllib.loads(launch.files["codex/config.toml"].decode())
    assert (config["sandbox_mode"], config["approval_policy"]) == ("workspace-write", "never")
    assert config["sandbox_workspace_write"] == {"exclude_slash_tmp": True} and launch.env["TMPDIR"] == "/n/runs/1/tmp"
    rules = launch.files["codex/rules/nobrakes.rules"].decode().splitlines()
    assert rules[2] == 'prefix_rule(pattern=["python3", "-m", "pytest"], decision="allow")' and len(rules) == 4


def test_gemini_edits_in_its_workspace_and_runs_what_is_listed(assign: Assign) -> None:
    launch = Gemini().launch(assign(permitted=PERMITTED))
    assert launch.argv[launch.argv.index("--approval-mode") + 1] == "auto_edit" and "yolo" not in launch.argv
    [rule] = tomllib.loads(launch.files["gemini/.gemini/policies/nobrakes.toml"].decode())["rule"]
    assert (rule["toolName"], rule["decision"]) == ("run_shell_command", "allow")
    assert rule["commandPrefix"] == ["git", "nobrakes", "python3 -m pytest", "./odd(1)"]


@pytest.mark.parametrize("kind", [Claude, Codex, Gemini])
def test_within_a_closure_they_are_off_as_before(assign: Assign, kind: type[Claude | Codex | Gemini]) -> None:
    launch = kind().launch(assign())
    said = " ".join(launch.argv)
    assert "bypassPermissions" in said or "--dangerously-bypass-approvals-and-sandbox" in said or "yolo" in said
    assert not any("rules" in name or "policies" in name for name in launch.files) and "TMPDIR" not in launch.env


@pytest.mark.parametrize(
    ("command", "beginnings"),
    [
        ("python3 -m pytest -q", [("python3", "-m", "pytest")]),
        ("npm ci && npm run test:unit", [("npm", "ci"), ("npm", "run", "test:unit")]),
        ("npx vitest run", [("npx", "vitest")]),
        ("A=1 timeout -k 5 60 cargo test --all", [("cargo", "test")]),
        ("uv run pytest -q | tee log", [("uv", "run", "pytest"), ("tee", "log")]),
        ("./run-tests.sh --fast", [("./run-tests.sh",)]),
        ("python3 tests/run.py", [("python3", "tests/run.py")]),
        ("sh -c 'pytest; rm -rf x'", []),
        ("python3 -c 'import x'", []),
        ("bash", []),
        ("npm", []),
        ("env", []),
    ],
)
def test_a_command_is_let_through_by_its_beginning(command: str, beginnings: list[tuple[str, ...]]) -> None:
    assert list(commands([Check("test", command)])) == [("git",), ("nobrakes",), *beginnings]


def test_the_set_up_is_let_through_too_and_nothing_twice() -> None:
    assert commands([Check("a", "make test"), Check("b", "make test")], "npm ci") == (
        ("git",),
        ("nobrakes",),
        ("make", "test"),
        ("npm", "ci"),
    )
