"""The Shaper's session in the human's terminal: the command that starts it, its environment, and the files it finds.

1. It runs in .nobrakes/shaper, with the repository as a further folder: there its command `/commit-strategy` lies, so
   that nothing of ours lies among the human's files.
2. Its permissions come with the command line and hold for this session only. Reading and proposing are allowed
   beforehand; everything else is asked by the agent CLI itself, making drafts live above all. The guard is asked
   before every tool, and refuses to edit the project or to move anything in git.
3. Its own settings, login and tools stay the human's: a person is there to be asked.
"""

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...agents.adapter import guard_argv
from ...core.beads.bead import Role
from ...core.errors import NoAgent
from ...paths import Paths, is_in_repository, own_path, own_program, resource
from ...replacing import replacing
from ...roles.permissions import allowed_tools

if TYPE_CHECKING:
    from ...config.settings import Config

MAX_ARGUMENT = 100_000
"""Bytes. Linux refuses a single argument of 128 KiB."""
BEGIN = "Look at the repository and the graph, then begin."
GO_ON = "We go on. Read the graph again: it may have changed."
HOW_TO_PLAN = (
    "Install it (https://code.claude.com/docs) and log in, or set agents.claude.executable in config.toml.\n"
    "Without it: `nobrakes plan example` prints a plan to start from, and an agent of your own can be the\n"
    "Shaper with the text of `nobrakes shape --print`."
)
_READING = (
    "list", "show", "ready", "graph", "status", "board", "history", "reviews", "review", "log", "events", "escalations",
    "escalation", "config", "config get", "plan example", "flakes", "session show", "sessions",
    "notify list", "help", "forge list", "forge show", "forge scan", "forge reviews",
)  # fmt: skip
_ALLOWED = (*(f"{words}:*" for words in (*_READING, "propose")), "commit-strategy --dry-run")
_CHANGING = (
    "init", "config set", "config unset", "add", "edit", "depend", "undepend", "plan apply", "shape",
    "reshape", "hold", "release", "defer", "cancel",
    "done", "reopen", "undo", "retry", "answer", "resolve", "run", "daemon", "pause", "resume", "stop", "set", "gates",
    "providers", "config set", "config unset",
    "machine", "repositories", "quarantine", "archive", "session start", "session say", "session stop", "session end",
    "notify test", "notify secret", "web", "take", "hand-in", "forge new", "forge edit", "forge change",
    "forge discuss", "forge pause", "forge resume", "forge cancel", "forge archive", "forge rollback",
    "forge sign-off", "forge checkpoint", "project new", "project use", "project archive",
    "project run", "project schedule", "project continue", "relay", "mcp client", "pr open", "pr sync",
)  # fmt: skip
_ASKED = (*(f"{words}:*" for words in _CHANGING), "commit-strategy *-y*", "commit-strategy *--drop*")
"""Asked even where the human's own settings allow every command: it changes what is live, or starts work."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """An agent to run in the human's terminal: `argv` in the folder `cwd` with this environment."""

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]


def settings() -> dict[str, Any]:
    """The session's settings: what is allowed beforehand, and the guard before every tool."""
    command = f"{shlex.join(guard_argv())} || exit 2"
    # the guard ends itself after 8 s, with a no; Claude's own time limit would end with a yes
    guard = {"hooks": [{"type": "command", "command": command, "timeout": 30}]}
    return {
        "disableAllHooks": False,
        "hooks": {"PreToolUse": [guard]},
        "permissions": {
            "allow": [f"Bash(nobrakes {words})" for words in _ALLOWED],
            "ask": [f"Bash(nobrakes {words})" for words in _ASKED],
            "deny": ["Edit", "Write", "NotebookEdit"],
        },
    }


def conversation(
    paths: Paths, config: "Config", prompt: str, env: Mapping[str, str], go_on: bool = False
) -> Conversation:
    """The command of the Shaper's session with this prompt (see shaper_prompt), for a person with this environment.

    `go_on`: the last session, continued. NoAgent: the agent that the config names is not installed, or cannot talk
    to people.
    """
    if "claude" not in config.agents.shaper:
        raise NoAgent(
            f"the agent '{config.agents.shaper[0][:40]}' has no conversation that nobrakes can start",
            "Set agents.shaper to claude, or give your own agent the text of `nobrakes shape --print`.",
        )
    claude = config.agents.claude
    executable = own_program(claude.executable, paths.root, env.get("PATH", os.defpath))
    if executable is None:
        if os.sep in claude.executable and is_in_repository(claude.executable, paths.root):
            raise NoAgent(
                f"`{claude.executable[:80]}` lies in the repository, and nothing there is started unconfined",
                "Set agents.claude.executable to a program that is installed elsewhere.",
            )
        raise NoAgent(f"Claude Code is not installed: there is no program `{claude.executable[:80]}`", HOW_TO_PLAN)
    home = folder(paths)
    os.makedirs(home, exist_ok=True)
    system = prompt
    if len(prompt.encode()) > MAX_ARGUMENT:
        system = f"Your role, your task and the graph are in {_prompt_file(home, prompt)}. Read that file first."
    argv = [executable, "--append-system-prompt", system]
    argv += ["--model", claude.model] if claude.model else []
    argv += ["--continue"] if go_on else []
    # the human's own default may be a mode that asks nobody
    argv += ["--permission-mode", "default", "--settings", json.dumps(settings(), ensure_ascii=True)]
    argv += ["--tools", ",".join(allowed_tools(Role.SHAPER)), "--add-dir", paths.root, "--", GO_ON if go_on else BEGIN]
    return Conversation(tuple(argv), home, _environment(paths, config, env))


def _environment(paths: Paths, config: "Config", env: Mapping[str, str]) -> dict[str, str]:
    boundary = config.boundary()
    ours = {
        "PATH": os.path.join(paths.folder, "bin") + os.pathsep + own_path(paths.root, env.get("PATH", os.defpath)),
        "NOBRAKES_HOME": paths.folder,
        "NOBRAKES_ROLE": Role.SHAPER.value,
        "NOBRAKES_WORKSPACE": paths.root,
        "NOBRAKES_TESTS": "\n".join(boundary.tests),
        "NOBRAKES_GATES": "\n".join(boundary.gates),
    }
    if config.agents.claude.base_url:
        ours["ANTHROPIC_BASE_URL"] = config.agents.claude.base_url
    return {**env, **ours}


def _prompt_file(home: str, prompt: str) -> str:
    path = os.path.join(home, "role.md")
    with open(path, "w", encoding="utf-8") as file:
        file.write(prompt)
    return path


def install_skills(paths: Paths, agents: Sequence[str]) -> list[str]:
    """Put the command where the Shaper's session finds it; the files that were written."""
    if "claude" not in agents:
        return []
    home = folder(paths)
    files = {
        os.path.join(home, ".claude", "commands", "commit-strategy.md"): "config/skills/commit-strategy.md",
        os.path.join(home, "CLAUDE.md"): "config/skills/shaper.md",
    }
    return [path for path, name in files.items() if _copied(resource(name), path)]


def folder(paths: Paths) -> str:
    """Where the Shaper's session runs."""
    return os.path.join(paths.folder, "shaper")


def _copied(source: str, path: str) -> bool:
    """Whether the file had to be written, since it was not there or another one."""
    with open(source, encoding="utf-8") as file:
        text = file.read()
    if os.path.isfile(path):
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return False
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with replacing(path) as file:
        file.write(text.encode())
    return True
