"""The guard in the words of Codex and Gemini CLI: what it refuses, its canary, and the self-test before a run."""

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nobrakes.agents.adapter import SELF_TEST, SELF_TEST_FAILED, Assignment, guard_argv, self_test_failed
from nobrakes.agents.known import adapter
from nobrakes.hooks import rules

Assign = Callable[..., Assignment]
PATCH = "*** Begin Patch\n*** {} File: {}\n+x\n*** End Patch\n"


@pytest.fixture
def agent_spec(tmp_path: Path, assign: Assign) -> Assignment:
    """An assignment whose folders are there and whose guard is the real one."""
    folders = {name: tmp_path / ".nobrakes" / name for name in ("workspace", "run")}
    for folder in folders.values():
        folder.mkdir(parents=True)
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path / "home"),
        "NOBRAKES_HOME": str(tmp_path / ".nobrakes"),
        "NOBRAKES_TESTS": "tests/**",
        "NOBRAKES_GATES": "Makefile",
        "NOBRAKES_BRANCH": "task/bead-a1",
    }
    return assign(workspace=str(folders["workspace"]), folder=str(folders["run"]), env=env, guard=guard_argv())


def place(agent_spec: Assignment) -> rules.Place:
    return rules.Place.of(adapter("codex").launch(agent_spec).env)


def decide(agent_spec: Assignment, tool: str, **given: str) -> str | None:
    call = {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": given, "cwd": agent_spec.workspace}
    return rules.decide(call, place(agent_spec))


@pytest.mark.parametrize("word", ["Add", "Update", "Delete"])
@pytest.mark.parametrize(
    "path", ["tests/a.py", "Makefile", ".git/config", ".nobrakes/config.toml", "../../x", "/etc/x"]
)
def test_a_patch_is_refused_by_its_paths(agent_spec: Assignment, word: str, path: str) -> None:
    patch = PATCH.format(word, path)
    assert decide(agent_spec, "apply_patch", command=patch)
    assert decide(agent_spec, "Bash", command=f"apply_patch <<'EOF'\n{patch}EOF\n")
    assert decide(agent_spec, "Bash", command=f"cd . && apply_patch '{patch}'")
    assert decide(agent_spec, "Bash", command=f"bash -lc \"apply_patch <<'EOF'\n{patch}EOF\n\"")


def test_a_patch_in_the_workspace_is_let_through(agent_spec: Assignment) -> None:
    patch = PATCH.format("Add", "src/a.py")
    assert decide(agent_spec, "apply_patch", command=patch) is None
    assert decide(agent_spec, "Bash", command=f"apply_patch <<'EOF'\n{patch}EOF\n") is None


def test_a_patch_may_not_move_a_file_to_where_it_may_not_be(agent_spec: Assignment) -> None:
    patch = "*** Begin Patch\n*** Update File: src/a.py\n*** Move to: tests/a.py\n@@\n-x\n+y\n*** End Patch\n"
    assert decide(agent_spec, "apply_patch", command=patch)


def test_a_patch_that_names_no_file_cannot_be_judged(agent_spec: Assignment) -> None:
    with pytest.raises(ValueError, match="without files"):
        decide(agent_spec, "apply_patch", command="hello")


def test_geminis_tools(agent_spec: Assignment) -> None:
    assert decide(agent_spec, "run_shell_command", command="git push")
    assert decide(agent_spec, "run_shell_command", command="rm tests/a.py")
    assert decide(agent_spec, "run_shell_command", command="rm a.py", dir_path="tests")
    assert decide(agent_spec, "write_file", file_path="tests/a.py", content="x")
    assert decide(agent_spec, "replace", file_path="/etc/passwd", old_string="a", new_string="b")
    assert decide(agent_spec, "save_memory", fact="x")
    assert decide(agent_spec, "write_file", file_path="src/a.py", content="x") is None
    assert decide(agent_spec, "run_shell_command", command="git status", dir_path="src") is None
    assert decide(agent_spec, "read_file", file_path="tests/a.py") is None
    for tool in ("write_file", "replace", "run_shell_command", "apply_patch"):
        with pytest.raises(ValueError):
            decide(agent_spec, tool)


def hook_of(name: str, agent_spec: Assignment) -> str:
    """The command that the CLI is told to call, out of the file that it reads."""
    files = adapter(name).launch(agent_spec).files
    path, event = {
        "codex": ("codex/hooks.json", "PreToolUse"),
        "gemini": ("gemini/.gemini/settings.json", "BeforeTool"),
    }[name]
    hooks = json.loads(files[path])["hooks"]
    commands = {json.dumps(hook) for event in hooks.values() for group in event for hook in group["hooks"]}
    assert len(commands) == 1, "one command for all events: none can be switched off alone"
    assert set(hooks) == {"SessionStart", event}
    return str(hooks[event][0]["hooks"][0]["command"])


def ask(name: str, agent_spec: Assignment, call: Any) -> int:
    env = dict(adapter(name).launch(agent_spec).env)
    argv = ["/bin/sh", "-c", hook_of(name, agent_spec)]
    return subprocess.run(argv, input=json.dumps(call), env=env, text=True, capture_output=True).returncode


@pytest.mark.parametrize("name", ["codex", "gemini"])
def test_at_the_start_of_a_session_the_hook_leaves_its_canary(name: str, agent_spec: Assignment) -> None:
    assert ask(name, agent_spec, {"hook_event_name": "SessionStart", "source": "startup"}) == 0
    self_test = Path(agent_spec.folder, "guard.ready").read_text()
    assert self_test.strip() == SELF_TEST
    assert adapter(name).guarded(b"", self_test)


@pytest.mark.parametrize("name", ["codex", "gemini"])
def test_a_guard_that_is_not_there_refuses_everything_and_leaves_no_canary(name: str, agent_spec: Assignment) -> None:
    broken = replace(agent_spec, guard=("/nowhere/python", "guard.py"))
    status = {"hook_event_name": "BeforeTool", "tool_name": "run_shell_command", "tool_input": {"command": "ls"}}
    assert ask(name, broken, status) == 2
    assert ask(name, broken, {"hook_event_name": "SessionStart"}) == 2
    assert not Path(agent_spec.folder, "guard.ready").exists()


def proven(name: str, agent_spec: Assignment) -> subprocess.CompletedProcess[str]:
    launch = adapter(name).launch(agent_spec)
    return subprocess.run(launch.prologue[-1], env=dict(launch.env), text=True, capture_output=True)


@pytest.mark.parametrize("name", ["codex", "gemini"])
def test_the_self_test_passes_with_the_real_guard(name: str, agent_spec: Assignment) -> None:
    done = proven(name, agent_spec)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("name", ["codex", "gemini"])
@pytest.mark.parametrize("guard", [("true",), ("false",), ("/nowhere/python",), ("sh", "-c", "exit 139")])
def test_the_self_test_finds_a_guard_that_says_the_same_to_everything(
    name: str, guard: tuple[str, ...], agent_spec: Assignment
) -> None:
    done = proven(name, replace(agent_spec, guard=guard))
    assert done.returncode == 1
    said = self_test_failed(f"command 2 that prepares the run's folder ended with exit code 1\n{done.stdout}")
    assert said is not None and said.startswith(SELF_TEST_FAILED)


def test_another_trouble_of_the_prologue_is_not_the_self_tests() -> None:
    assert (
        self_test_failed("command 1 that prepares the run's folder ended with exit code 128\nfatal: no space") is None
    )
