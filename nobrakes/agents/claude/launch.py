"""Claude Code, as a process that nobody watches: how it is called.

1. Where nothing else closes the agent off its own permissions stay on, and let through what
   core.policy.agent_permissions says. Nothing of the repository or of the human's settings decides what it may do:
   settings come inline, no other source is read, no MCP server but ours is started, and the guards cannot be switched
   off from inside.
2. The guard is asked before every tool. Whatever goes wrong with it is a no, and a run in which its canary did not
   answer first is refused.
3. With a key or token in the environment its state lives in .nobrakes/agents/claude, a folder for each bead, apart from
   the human's own sessions. Without one it uses the human's login, where that is kept.
   `--setting-sources ""` also drops the human's apiKeyHelper: who uses one names its key in `agents.environment`.
4. The session's id is chosen by us, so that a session can be found again after any crash.
"""

import json
import os
import shlex
import sys
from collections.abc import Mapping
from typing import Any

from ...core.beads.bead import Role
from ..adapter import Assignment, Launch, Login
from ..cli import EventCli
from ..environment import UNATTENDED, allowed, identity
from ..mcp import mcp_server
from ..settings import Settings
from . import events, verdict

API = "https://api.anthropic.com"
LOGIN_API = "https://platform.claude.com"
CREDENTIALS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
_READS = (*CREDENTIALS, "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS")
_ELSEWHERE = (
    "ANTHROPIC_CUSTOM_HEADERS",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
)
"""With one of these another login than the usual one counts, of which nothing can be seen here."""
_LITERAL_PATH = frozenset("()[]{}*?!\\")
"""Characters that a permission rule would read as something else than a path."""


class Claude(EventCli[verdict.Read]):
    """Claude Code 2.1 (`claude`)."""

    name = "claude"
    steering = ("**/.claude/**", "CLAUDE.md", "CLAUDE.local.md", ".mcp.json", "**/.claude-plugin/**", "SKILL.md")
    provider = "anthropic"
    sessions = True
    credentials = (*_READS, "CLAUDE_CONFIG_DIR")
    reads = verdict.Read
    lines = staticmethod(events.lines)
    used = staticmethod(events.used)
    outcome = staticmethod(verdict.outcome)

    def __init__(self, root: bool = False) -> None:
        self.root = root

    def login(self, env: Mapping[str, str], settings: Settings) -> Login | None:
        """A key or token, else the file of the human's login; None where that is kept in the system's key chain."""
        if sys.platform == "darwin" or any(env.get(name) for name in _ELSEWHERE):
            return None
        file = os.path.join(env.get("CLAUDE_CONFIG_DIR") or _human(env), ".credentials.json")
        return Login(CREDENTIALS, (file,), f"{shlex.quote(settings.claude.executable)} /login")

    def launch(self, a: Assignment) -> Launch:
        """The command of one attempt."""
        own = a.settings.claude
        argv = [own.executable, "-p", "--output-format", "stream-json", "--verbose"]
        if own.model:
            argv += ["--model", own.model]
        argv += ["--resume" if a.resume else "--session-id", a.session]
        argv += ["--settings", json.dumps(settings(a), ensure_ascii=True)]
        argv += ["--setting-sources", "", "--strict-mcp-config", "--mcp-config", json.dumps(mcp_servers(a))]
        argv += ["--tools", ",".join(tools(a))]
        argv += ["--permission-mode", "bypassPermissions" if a.permitted is None else "acceptEdits"]
        argv += ["--max-turns", str(own.max_turns)]
        if own.max_budget_usd is not None:
            argv += ["--max-budget-usd", str(own.max_budget_usd)]
        if a.system_prompt:
            argv += ["--append-system-prompt", a.system_prompt]
        if a.stdin is None:
            argv += ["--", a.prompt]
        env = self._environment(a)
        state = _state(a)
        human = env.get("CLAUDE_CONFIG_DIR") or _human(a.env)
        login = ".credentials.json"
        return Launch(
            tuple(argv),
            env,
            a.stdin,
            a.session,
            writes=(state,),
            login=() if human == state else ((os.path.join(human, login), os.path.join(state, login)),),
            confined={"CLAUDE_CONFIG_DIR": state},
            hosts=_hosts(env),
            context_tokens=own.context_tokens,
        )

    def guarded(self, head: bytes, self_test: str = "") -> bool:
        """Whether the session began, and the guard answered before. Its answer is in the output itself."""
        return self.begun(head).began_guarded

    def _environment(self, a: Assignment) -> Mapping[str, str]:
        env = allowed(a, _READS)
        if a.settings.claude.base_url:
            env["ANTHROPIC_BASE_URL"] = a.settings.claude.base_url
        if any(env.get(name) for name in CREDENTIALS):
            env["CLAUDE_CONFIG_DIR"] = _state(a)
        elif "CLAUDE_CONFIG_DIR" in a.env:  # where the human is logged in
            env["CLAUDE_CONFIG_DIR"] = a.env["CLAUDE_CONFIG_DIR"]
        if self.root and a.permitted is None:  # else root may not switch its permissions off
            env["IS_SANDBOX"] = "1"
        return {
            **env,
            **identity(a),
            **UNATTENDED,
            "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": "6",  # 40 s of trying; longer outages are the daemon's business
            "CLAUDE_CODE_TMPDIR": os.path.join(a.folder, "tmp"),
            "DISABLE_AUTOUPDATER": "1",
            "ENABLE_TOOL_SEARCH": "false",
            "BASH_DEFAULT_TIMEOUT_MS": "300000",
            "BASH_MAX_TIMEOUT_MS": "1200000",
        }


def _hosts(env: Mapping[str, str]) -> tuple[str, ...]:
    """Where the API is, and where a login is renewed."""
    login = () if any(env.get(name) for name in CREDENTIALS) else (LOGIN_API,)
    return (env.get("ANTHROPIC_BASE_URL") or API, *login)


def _human(env: Mapping[str, str]) -> str:
    """Where the human's own sessions and login are, if nobody says another folder."""
    return os.path.join(env.get("HOME", "/"), ".claude")


def _state(a: Assignment) -> str:
    return os.path.join(a.env["NOBRAKES_HOME"], "agents", "claude", a.bead)


def tools(a: Assignment) -> tuple[str, ...]:
    """The tools that the role gets: who only plans gets none that edits."""
    if a.role is Role.SHAPER:
        return tuple(tool for tool in a.tools if tool not in ("Edit", "Write"))
    return a.tools


def settings(a: Assignment) -> dict[str, Any]:
    """The inline settings: the guard before every tool, its canary at the start, and paths that nobody edits."""
    guard = shlex.join(a.guard)
    home = a.env["NOBRAKES_HOME"]
    private = [os.path.join(home, name) for name in ("config.toml", "beads.jsonl", "nobrakes.db")]
    private += [os.path.join(a.workspace, name) for name in (".git/hooks/**", ".git/config", ".nobrakes/**")]
    return {
        "disableAllHooks": False,
        "hooks": {
            "SessionStart": [_hook(f"{guard} --canary || exit 2")],
            "PreToolUse": [_hook(f"{guard} || exit 2")],
        },
        "permissions": {**allowances(a), "deny": [f"Edit(/{path})" for path in private if _is_literal(path, a)]},
    }


def allowances(a: Assignment) -> dict[str, list[str]]:
    """What its own permissions let through beside edits in the workspace; empty where they are off."""
    if a.permitted is None:
        return {}
    rules = [" ".join(words) for words in a.permitted]
    commands = [f"Bash({rule}:*)" for rule in rules if not _LITERAL_PATH & set(rule)]
    return {"allow": [f"mcp__{mcp_server(a).name}", *commands]}


def mcp_servers(a: Assignment) -> dict[str, Any]:
    """The inline MCP settings: nobrakes' own server alone. The CLI looks the variables up; none is written out."""
    server = mcp_server(a)
    variables = {name: f"${{{name}}}" for name in server.variables if a.env.get(name) or name in identity(a)}
    one = {"type": "stdio", "command": server.argv[0], "args": list(server.argv[1:]), "env": variables}
    return {"mcpServers": {server.name: one}}


def _hook(command: str) -> dict[str, Any]:
    # the guard ends itself after 8 s, with a no; Claude's own time limit would end with a yes
    return {"hooks": [{"type": "command", "command": command, "timeout": 30}]}


def _is_literal(path: str, a: Assignment) -> bool:
    folders = path.removesuffix("/**")
    return not _LITERAL_PATH & set(folders)
