"""Any agent that speaks the Agent Client Protocol (ACP), by way of our own client (nobrakes.acp_client).

1. The agent is the human's choice and works with the human's HOME, login and settings: what it does without asking is
   its own policy's business. For what it asks, the guard answers.
2. Of the human's variables with keys it is given those that `agents.acp.keys` names.
3. It is told of nobrakes' own MCP server when its session begins. What the role is comes before the prompt: the
   protocol knows no system prompt.
4. The session's id is chosen by the agent. It is gone on with only where the agent said that it can.
"""

import json
import os
import sys
from collections.abc import Mapping

from ... import extras
from ...core.errors import ConfigError
from ..adapter import Assignment, Launch, Login
from ..cli import EventCli
from ..environment import UNATTENDED, allowed, identity
from ..guarded import self_test, self_test_path
from ..mcp import mcp_server
from ..settings import Settings
from . import events, verdict

KEYS = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CODEX_API_KEY",
    "CURSOR_API_KEY",
    "DASHSCOPE_API_KEY",
    "DEEPSEEK_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "MISTRAL_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
)
"""What `agents.acp.keys` may name."""
RUN = "acp/run.json"
SYSTEM = "acp/role.md"


class Acp(EventCli[verdict.Read]):
    """The command of `agents.acp` in the config."""

    name = "acp"
    steering: tuple[str, ...] = ()
    provider = "acp"
    sessions = True
    credentials = KEYS
    reads = verdict.Read
    lines = staticmethod(events.lines)
    used = staticmethod(events.used)
    outcome = staticmethod(verdict.outcome)

    def login(self, env: Mapping[str, str], settings: Settings) -> Login | None:
        """None: where an agent keeps its login is its own matter."""
        return None

    def launch(self, a: Assignment) -> Launch:
        """The command of one attempt; ConfigError where none is set, MissingExtra where our client cannot run."""
        extras.need("acp", "the agent 'acp'")
        own = a.settings.acp
        if not own.command:
            raise ConfigError(
                "the agent is 'acp', but no command is set for it",
                'Set agents.acp.command in .nobrakes/config.toml, for example ["gemini", "--acp"].',
            )
        strange = [name for name in own.keys if name not in KEYS]
        if strange:
            raise ConfigError(
                f"agents.acp.keys names {strange[0][:60]}, which is no known key",
                f"Name it in agents.environment; known here are: {', '.join(KEYS)}.",
            )
        return Launch(
            (sys.executable, "-I", "-m", "nobrakes.acp_client", os.path.join(a.folder, RUN)),
            self._environment(a),
            session=a.session if a.resume else None,
            files={RUN: json.dumps(run(a)).encode(), SYSTEM: a.system_prompt.encode(errors="replace")},
            prologue=(proof(a),),
            programs=(own.command[0],),
            tells=True,
        )

    def _environment(self, a: Assignment) -> Mapping[str, str]:
        env = allowed(a, a.settings.acp.keys)
        return {**env, **identity(a), **UNATTENDED, "NOBRAKES_CANARY": self_test_path(a)}


def run(a: Assignment) -> dict[str, object]:
    """What the client is told: nobrakes.acp_client.turn.Run. No secret: it looks variables up by their names."""
    server = mcp_server(a)
    mcp = {"name": server.name, "command": server.argv[0], "args": server.argv[1:], "variables": server.variables}
    return {
        "command": a.settings.acp.command,
        "guard": a.guard,
        "workspace": a.workspace,
        "prompt": a.prompt_file,
        "system": os.path.join(a.folder, SYSTEM),
        "mcp": [mcp],
        "session": a.session if a.resume else None,
        "auth": a.settings.acp.auth,
    }


def proof(a: Assignment) -> tuple[str, ...]:
    """The self-test, with the words in which the client asks."""
    refused = (("Bash", {"command": "git push"}), ("Write", {"file_path": ".git/hooks/canary"}))
    return self_test(a, "PreToolUse", refused, (("Bash", {"command": "git status"}),))
