"""Gemini CLI, as a process that nobody watches: how it is called.

1. Each run has a home of its own for it (GEMINI_CLI_HOME, in the run's folder) with the settings that we wrote. What
   was said is kept in .nobrakes/agents/gemini, in a folder for each bead.
2. It must trust the repository to work there at all, and then reads the repository's settings too, which win over ours:
   of all MCP servers only nobrakes' own is started, under a name that no settings could have replaced; an .env is not
   read; hooks that are switched off are missed when the session begins.
3. With GEMINI_API_KEY (or Vertex AI's variables) in the environment that is used. Without, the human's login is linked
   to, not copied: the CLI renews its tokens.
4. It must not start itself again (GEMINI_CLI_NO_RELAUNCH): the first of its two processes would ignore TERM.
5. The session's id is chosen by us.
6. Where nothing else closes the agent off it may edit in the workspace, and run what core.policy.agent_permissions
   says.
"""

import json
import os
import shlex
from collections.abc import Mapping
from typing import Any

from ..adapter import Assignment, Launch, Login
from ..cli import EventCli
from ..environment import UNATTENDED, allowed, identity
from ..guarded import command, self_test, self_test_path
from ..mcp import TOOL_SECONDS, mcp_server
from ..settings import Settings
from . import events, verdict

ROLE_FILE = "nobrakes-role.md"
"""What the CLI reads beside the prompt: the role, in its own home, and nothing of the repository."""

API = "https://generativelanguage.googleapis.com/"
KEY = "GEMINI_API_KEY"
VERTEX = (
    "GOOGLE_GENAI_USE_VERTEXAI",
    "GOOGLE_API_KEY",
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_CLOUD_LOCATION",
    "GOOGLE_APPLICATION_CREDENTIALS",
)
LOGIN_API = "https://oauth2.googleapis.com"
LOGIN = ("oauth_creds.json", "google_accounts.json")

_HOME = """
umask 077
kept=$1 home=$2 login=$3
shift 3
mkdir -p -- "$kept" && ln -sfn -- "$kept" "$home/tmp" || exit 1
[ -z "$NOBRAKES_SANDBOX" ] || exit 0 # in a sandbox copies of the login are there
for name in "$@"; do
    ln -sfn -- "$login/$name" "$home/$name" || exit 1
done
"""


class Gemini(EventCli[verdict.Read]):
    """Gemini CLI 0.61 (`gemini`)."""

    name = "gemini"
    steering = ("**/.gemini/**", "**/.agents/**", "GEMINI.md", ".geminiignore", "gemini-extension.json", "SKILL.md")
    provider = "google"
    sessions = True
    credentials = (KEY, *VERTEX, "GEMINI_CLI_HOME")
    reads = verdict.Read
    lines = staticmethod(events.lines)
    used = staticmethod(events.used)
    outcome = staticmethod(verdict.outcome)

    def login(self, env: Mapping[str, str], settings: Settings) -> Login | None:
        """A key, else the file of the human's login; None with Vertex AI, which has logins of many kinds."""
        if env.get("GOOGLE_GENAI_USE_VERTEXAI") == "true":
            return None
        file = os.path.join(_login_folder(env), LOGIN[0])
        return Login((KEY,), (file,), shlex.quote(settings.gemini.executable))

    def launch(self, a: Assignment) -> Launch:
        """The command of one attempt."""
        own = a.settings.gemini
        argv = [own.executable, "--output-format", "stream-json"]
        argv += ["--approval-mode", "yolo" if a.permitted is None else "auto_edit"]
        argv += ["--allowed-mcp-server-names", server_name(a)]
        if own.model:
            argv += ["--model", own.model]
        argv += ["--resume" if a.resume else "--session-id", a.session]
        if a.stdin is None:
            argv += [f"--prompt={a.prompt}"]
        home = os.path.join(a.folder, "gemini", ".gemini")
        kept = os.path.join(a.env["NOBRAKES_HOME"], "agents", "gemini", a.bead, "tmp")
        login = _login_folder(a.env)
        names = LOGIN if method(a) == "oauth-personal" else ()
        return Launch(
            tuple(argv),
            self._environment(a),
            a.stdin,
            a.session,
            {
                "gemini/.gemini/settings.json": json.dumps(settings(a)).encode(),
                f"gemini/.gemini/{ROLE_FILE}": a.system_prompt.encode(errors="replace"),
                **policies(a),
            },
            (("/bin/sh", "-c", _HOME, "home", kept, home, login, *names), proof(a)),
            writes=(kept,),
            context_tokens=own.context_tokens,
            diary=(kept, "**/chats/session-*.jsonl"),
            hosts=hosts(a),
            login=tuple((os.path.join(login, name), os.path.join(home, name)) for name in names),
        )

    def _environment(self, a: Assignment) -> Mapping[str, str]:
        env = allowed(a, (KEY, *VERTEX))
        if method(a) == "gemini-api-key":
            # always said: else an .env of the repository could send the key elsewhere
            env["GOOGLE_GEMINI_BASE_URL"] = a.settings.gemini.base_url or API
        return {
            **env,
            **identity(a),
            **UNATTENDED,
            "GEMINI_CLI_HOME": os.path.join(a.folder, "gemini"),
            "GEMINI_CLI_NO_RELAUNCH": "true",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "NOBRAKES_CANARY": self_test_path(a),
        }


def _login_folder(env: Mapping[str, str]) -> str:
    return os.path.join(env.get("GEMINI_CLI_HOME") or env.get("HOME", "/"), ".gemini")


def policies(a: Assignment) -> dict[str, bytes]:
    """Its policy of commands, where it asks for them; nobody is there to say yes to others."""
    if a.permitted is None:
        return {}
    prefixes = [json.dumps(" ".join(words), ensure_ascii=True) for words in a.permitted]
    text = f"""[[rule]]
toolName = "run_shell_command"
commandPrefix = [{", ".join(prefixes)}]
decision = "allow"
priority = 100
"""
    return {"gemini/.gemini/policies/nobrakes.toml": text.encode()}


def method(a: Assignment) -> str:
    """How it proves who asks, by Gemini CLI's own names."""
    if a.env.get(KEY):
        return "gemini-api-key"
    return "vertex-ai" if a.env.get("GOOGLE_GENAI_USE_VERTEXAI") == "true" else "oauth-personal"


def hosts(a: Assignment) -> tuple[str, ...]:
    """Where the API is, and where a login is renewed."""
    how = method(a)
    if how == "gemini-api-key":
        return (a.settings.gemini.base_url or API,)
    if how == "vertex-ai":
        place = a.env.get("GOOGLE_CLOUD_LOCATION", "global")
        return (f"https://{place}-aiplatform.googleapis.com", "https://aiplatform.googleapis.com", LOGIN_API)
    return ("https://cloudcode-pa.googleapis.com", LOGIN_API)


def settings(a: Assignment) -> dict[str, Any]:
    """The settings of this run, with the guard at the start of the session and before every tool."""
    server = mcp_server(a)
    variables = {name: f"${name}" for name in server.variables}  # looked up when the server is started
    one = {"command": server.argv[0], "args": server.argv[1:], "env": variables, "trust": True}
    one["timeout"] = TOOL_SECONDS * 1000
    hook = [{"hooks": [{"name": "nobrakes", "type": "command", "command": command(a), "timeout": 30_000}]}]
    return {
        "security": {"auth": {"selectedType": method(a)}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False, "maxAttempts": 5},
        "advanced": {"ignoreLocalEnv": True},
        # the repository's instructions are in the prompt, as main has them: only the role's own file is read
        "context": {"fileName": ROLE_FILE},
        "model": {"maxSessionTurns": a.settings.gemini.max_turns},
        "hooksConfig": {"enabled": True},
        "hooks": {"SessionStart": hook, "BeforeTool": hook},
        "mcpServers": {server_name(a): one},
    }


def server_name(a: Assignment) -> str:
    """What our MCP server is called in this session: nobody can have written settings for a server of that name."""
    return f"{mcp_server(a).name}-{a.session.replace('-', '')[:12]}"


def proof(a: Assignment) -> tuple[str, ...]:
    """The self-test in Gemini CLI's dialect."""
    refused = (
        ("run_shell_command", {"command": "git push"}),
        ("write_file", {"file_path": ".git/hooks/canary", "content": "x"}),
        ("replace", {"file_path": ".git/config", "old_string": "x", "new_string": "y"}),
    )
    return self_test(a, "BeforeTool", refused, (("run_shell_command", {"command": "git status"}),))
