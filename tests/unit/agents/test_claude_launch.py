"""How Claude Code is called: every word of the command and every variable."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from nobrakes.agents.adapter import Assignment, guard_argv
from nobrakes.agents.claude import Claude
from nobrakes.beads.model import Role
from nobrakes.config.sections import AgentSettings, ClaudeSettings

from .conftest import SESSION

Assign = Callable[..., Assignment]
FIXED = {
    "CI": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_MAX_RETRIES": "6",
    "CLAUDE_CODE_TMPDIR": "/n/runs/1/tmp",
    "DISABLE_AUTOUPDATER": "1",
    "ENABLE_TOOL_SEARCH": "false",
    "BASH_DEFAULT_TIMEOUT_MS": "300000",
    "BASH_MAX_TIMEOUT_MS": "1200000",
    "NOBRAKES_HOME": "/n",
    "NOBRAKES_TOKEN": "t",
    "NOBRAKES_ROLE": "doer",
    "NOBRAKES_BEAD": "a1",
    "NOBRAKES_NAME": "Ada",
    "NOBRAKES_ATTEMPT": "3",
    "NOBRAKES_WORKSPACE": "/n/workspaces/a1",
    "NOBRAKES_PROMPT": "/n/runs/1/prompt.md",
    "PATH": "/bin",
}


def value(argv: tuple[str, ...], flag: str) -> str:
    return argv[argv.index(flag) + 1]


def test_its_mcp_server_is_ours_alone_and_no_token_is_on_the_command_line(assign: Assign) -> None:
    given = assign()
    argv = Claude().launch(replace(given, env={**given.env, "NOBRAKES_TOKEN": "7.1.secret"})).argv
    assert json.loads(value(argv, "--mcp-config")) == {
        "mcpServers": {
            "nobrakes": {
                "type": "stdio",
                "command": "/n/bin/nobrakes",
                "args": ["mcp"],
                "env": {
                    "NOBRAKES_HOME": "${NOBRAKES_HOME}",
                    "NOBRAKES_TOKEN": "${NOBRAKES_TOKEN}",
                    "NOBRAKES_WORKSPACE": "${NOBRAKES_WORKSPACE}",
                },
            }
        }
    }
    assert "7.1.secret" not in " ".join(argv)


def test_the_whole_command(assign: Assign) -> None:
    settings = AgentSettings(claude=ClaudeSettings(model="opus", max_turns=9, max_budget_usd=1.5))
    argv = Claude().launch(assign(settings=settings, prompt="-x; do it")).argv
    inline = value(argv, "--settings")
    assert argv == (
        *("claude", "-p", "--output-format", "stream-json", "--verbose", "--model=opus", "--session-id", SESSION),
        *("--settings", inline, "--setting-sources", "", "--strict-mcp-config"),
        *("--mcp-config", value(argv, "--mcp-config")),
        *("--tools", "Bash,Read,Edit,Write,Glob,Grep", "--permission-mode", "bypassPermissions"),
        *(
            "--max-turns",
            "9",
            "--max-budget-usd",
            "1.5",
            "--append-system-prompt",
            "You are a Doer.",
            "--",
            "-x; do it",
        ),
    )
    guard = "/usr/bin/python -I '/with space/guard.py'"
    assert json.loads(inline) == {
        "disableAllHooks": False,
        "hooks": {
            "SessionStart": [{"hooks": [{"type": "command", "command": f"{guard} --canary || exit 2", "timeout": 30}]}],
            "PreToolUse": [{"hooks": [{"type": "command", "command": f"{guard} || exit 2", "timeout": 30}]}],
        },
        "permissions": {
            "deny": [
                "Edit(//n/config.toml)",
                "Edit(//n/beads.jsonl)",
                "Edit(//n/nobrakes.db)",
                "Edit(//n/workspaces/a1/.git/hooks/**)",
                "Edit(//n/workspaces/a1/.git/config)",
                "Edit(//n/workspaces/a1/.nobrakes/**)",
            ]
        },
    }


def test_what_is_not_set_is_not_said(assign: Assign) -> None:
    argv = Claude().launch(assign(system_prompt="")).argv
    assert not [one for one in argv if one.startswith(("--model", "--max-budget-usd", "--append-system-prompt"))]


def test_a_session_is_resumed_by_its_id(assign: Assign) -> None:
    launch = Claude().launch(assign(resume=True))
    assert value(launch.argv, "--resume") == SESSION == launch.session
    assert "--session-id" not in launch.argv


@pytest.mark.parametrize(("prompt", "by_file"), [("x" * 100_000, False), ("x" * 100_001, True), ("ä" * 50_001, True)])
def test_a_prompt_that_is_too_long_for_an_argument_comes_from_its_file(
    assign: Assign, prompt: str, by_file: bool
) -> None:
    launch = Claude().launch(assign(prompt=prompt))
    assert launch.stdin == ("/n/runs/1/prompt.md" if by_file else None)
    assert (prompt in launch.argv) is not by_file
    assert ("--" in launch.argv) is not by_file


def test_the_shaper_gets_no_tool_that_edits(assign: Assign) -> None:
    assert value(Claude().launch(assign(role=Role.SHAPER)).argv, "--tools") == "Bash,Read,Glob,Grep"


def test_a_path_that_a_permission_rule_would_misread_is_left_to_the_guard(assign: Assign) -> None:
    inline = json.loads(value(Claude().launch(assign(workspace="/n/work (1)")).argv, "--settings"))
    assert len(inline["permissions"]["deny"]) == 3


def test_the_whole_environment_with_a_key(assign: Assign) -> None:
    a = assign()
    given = {
        **a.env,
        "ANTHROPIC_API_KEY": "k",
        "ANTHROPIC_BASE_URL": "http://theirs",
        "LC_ALL": "C",
        "EXTRA": "e",
        "SECRET": "s",
        "CLAUDECODE": "1",
        "CLAUDE_CONFIG_DIR": "/human",
        "GIT_DIR": "/elsewhere",
    }
    settings = AgentSettings(environment=("EXTRA",), claude=ClaudeSettings(base_url="http://ours"))
    assert Claude().launch(replace(a, env=given, settings=settings)).env == {
        **FIXED,
        "ANTHROPIC_API_KEY": "k",
        "ANTHROPIC_BASE_URL": "http://ours",
        "CLAUDE_CONFIG_DIR": "/n/agents/claude/a1",
        "EXTRA": "e",
        "LC_ALL": "C",
    }


def test_without_a_key_the_humans_login_is_used(assign: Assign) -> None:
    a = assign()
    assert Claude().launch(a).env == FIXED
    moved = replace(a, env={**a.env, "CLAUDE_CONFIG_DIR": "/human"})
    assert Claude().launch(moved).env == {**FIXED, "CLAUDE_CONFIG_DIR": "/human"}


def test_root_says_that_it_means_it(assign: Assign) -> None:
    assert Claude(root=True).launch(assign()).env == {**FIXED, "IS_SANDBOX": "1"}


def test_the_guard_that_comes_with_nobrakes_is_called_by_absolute_paths() -> None:
    interpreter, *flags, script = guard_argv()
    assert interpreter.startswith("/") and flags == ["-I", "-S"]
    with open(script, encoding="utf-8") as file:
        assert "SELF_TEST" in file.read()
