"""Codex, as a process that nobody watches: how it is called.

1. npm's `codex` is a script that starts the program: killed, it would leave that running. So the program behind it is
   found and started itself.
2. Each run has a CODEX_HOME of its own in its folder, with the settings and hooks that we wrote: no other run, agent or
   repository can change them. Sessions are kept in .nobrakes/agents/codex, a folder for each bead.
3. A key in the environment (CODEX_API_KEY, OPENAI_API_KEY) is used and kept from the commands of the agent. Without
   one the human's login is linked to, not copied: Codex renews its tokens, and two copies would lock each other out;
   in a sandbox nobrakes keeps the copies the same (host.channel.logins).
4. Its own sandbox makes .git read-only, so that no work could be committed: it is off, and ours is around all of it.
   Where nothing else closes the agent off it is on, and its rules let the commands of core.policy.agent_permissions out
   of it.
5. nobrakes' own MCP server is the only one: those of the repository are ignored, since nobody trusted it.
6. The session's id is chosen by Codex and read from its output.
"""

import json
import os
import shlex
from collections.abc import Iterable, Mapping

from ..adapter import Assignment, Launch, Login
from ..cli import EventCli
from ..environment import UNATTENDED, allowed, identity
from ..guarded import command, self_test, self_test_path
from ..mcp import TOOL_SECONDS, mcp_server
from ..settings import Settings
from . import events, verdict

API = "https://api.openai.com"
LOGIN_URLS = ["https://chatgpt.com", API]
LOGIN_API = "https://auth.openai.com"
TEMPORARY = "tmp"
KEYS = ("CODEX_API_KEY", "OPENAI_API_KEY")

_NATIVE = r"""
program=$(command -v -- "$1") || { echo "$1 was not found" >&2; exit 127; }
shift
real=$(readlink -f -- "$program")
case $real in
*.js)
    package=${real%/bin/*}
    for native in "$package"/../codex-*/vendor/*/bin/codex "$package"/node_modules/@openai/codex-*/vendor/*/bin/codex \
        "$package"/vendor/*/bin/codex; do
        if [ -x "$native" ]; then
            PATH=$PATH:${native%/bin/codex}/codex-path exec "$native" "$@"
        fi
    done
    echo "the program of Codex is not beside $real: install @openai/codex again" >&2
    exit 127
    ;;
esac
exec "$program" "$@"
"""
_HOME = """
umask 077
mkdir -p -- "$1" && ln -sfn -- "$1" "$2/sessions" || exit 1
# in a sandbox a copy is there
[ -z "$3" ] || [ -n "$NOBRAKES_SANDBOX" ] || ln -sfn -- "$3" "$2/auth.json"
"""


class Codex(EventCli[verdict.Read]):
    """Codex 0.169 (`codex exec`)."""

    name = "codex"
    steering = ("**/.codex/**", "**/.agents/**", "AGENTS.md", "AGENTS.override.md", "SKILL.md")
    provider = "openai"
    sessions = True
    credentials = (*KEYS, "CODEX_HOME")
    reads = verdict.Read
    lines = staticmethod(events.lines)
    used = staticmethod(events.used)
    outcome = staticmethod(verdict.outcome)

    def login(self, env: Mapping[str, str], settings: Settings) -> Login | None:
        """A key, else the file of the human's login, to which each run is linked."""
        return Login(KEYS, (_login_file(env),), f"{shlex.quote(settings.codex.executable)} login")

    def launch(self, a: Assignment) -> Launch:
        """The command of one attempt."""
        own = a.settings.codex
        argv = ["/bin/sh", "-c", _NATIVE, "codex", own.executable, "exec", "--json"]
        argv += [] if a.permitted is not None else ["--dangerously-bypass-approvals-and-sandbox"]
        argv += ["--dangerously-bypass-hook-trust"]
        if own.model:
            argv += ["--model", own.model]
        if a.resume:
            argv += ["resume", a.session]
        argv += ["--", a.prompt] if a.stdin is None else ["-"]
        home = os.path.join(a.folder, "codex")
        sessions = os.path.join(a.env["NOBRAKES_HOME"], "agents", "codex", a.bead, "sessions")
        return Launch(
            tuple(argv),
            self._environment(a, home),
            a.stdin,
            a.session if a.resume else None,
            {"codex/config.toml": config(a).encode(errors="replace"), "codex/hooks.json": hooks(a), **rules(a)},
            (("/bin/sh", "-c", _HOME, "home", sessions, home, login(a)), proof(a)),
            programs=(own.executable,),
            writes=(sessions,),
            diary=(sessions, "**/rollout-*.jsonl"),
            hosts=hosts(a),
            login=((login(a), os.path.join(home, "auth.json")),) if login(a) else (),
        )

    def _environment(self, a: Assignment, home: str) -> Mapping[str, str]:
        env = allowed(a)
        if key(a):
            env["CODEX_API_KEY"] = key(a)
        return {
            **env,
            **identity(a),
            **UNATTENDED,
            "CODEX_HOME": home,
            # its sandbox lets the folder for temporary files in: its own, not the whole machine's
            **({} if a.permitted is None else {"TMPDIR": os.path.join(a.folder, TEMPORARY)}),
            "NOBRAKES_CANARY": self_test_path(a),
        }


def key(a: Assignment) -> str:
    """The key in the environment; empty where there is none."""
    return next((a.env[name] for name in KEYS if a.env.get(name)), "")


def login(a: Assignment) -> str:
    """Where the human's login is; empty where a key is used instead."""
    return "" if key(a) else _login_file(a.env)


def _login_file(env: Mapping[str, str]) -> str:
    return os.path.join(env.get("CODEX_HOME") or os.path.join(env.get("HOME", "/"), ".codex"), "auth.json")


def hosts(a: Assignment) -> tuple[str, ...]:
    """Where the API is, and where a login is renewed."""
    urls = [a.settings.codex.base_url] if a.settings.codex.base_url else [API] if key(a) else LOGIN_URLS
    return (*urls, *(() if key(a) else (LOGIN_API,)))


def config(a: Assignment) -> str:
    """The settings of this run."""
    lines = [
        'approval_policy = "never"',
        *([] if a.permitted is None else ['sandbox_mode = "workspace-write"']),
        "check_for_update_on_startup = false",
        # the repository's instructions are in the prompt, as main has them
        "project_doc_max_bytes = 0",
        f"developer_instructions = {_toml(a.system_prompt)}",
    ]
    url = a.settings.codex.base_url
    if url:
        lines += ['model_provider = "nobrakes"']
    lines += [] if a.permitted is None else ["[sandbox_workspace_write]", "exclude_slash_tmp = true"]
    lines += ["[analytics]", "enabled = false", "[shell_environment_policy]", "ignore_default_excludes = true"]
    lines += [f"exclude = {json.dumps(KEYS)}"]
    if url:
        lines += ["[model_providers.nobrakes]", 'name = "nobrakes"', f"base_url = {_toml(url)}"]
        lines += ['wire_api = "responses"', 'env_key = "CODEX_API_KEY"' if key(a) else "requires_openai_auth = true"]
    server = mcp_server(a)
    lines += [f"[mcp_servers.{server.name}]", f"command = {_toml(server.argv[0])}"]
    lines += [f"args = {_array(server.argv[1:])}", f"env_vars = {_array(server.variables)}"]
    lines += ['default_tools_approval_mode = "approve"', f"tool_timeout_sec = {TOOL_SECONDS}"]
    return "\n".join(lines) + "\n"


def rules(a: Assignment) -> dict[str, bytes]:
    """Its rules of commands that run outside of its own sandbox, where that is on."""
    if a.permitted is None:
        return {}
    lines = [f'prefix_rule(pattern={json.dumps(words)}, decision="allow")' for words in a.permitted]
    text = ("\n".join(lines) + "\n").encode(errors="replace")
    return {"codex/rules/nobrakes.rules": text, f"{TEMPORARY}/begun": b""}


def hooks(a: Assignment) -> bytes:
    """The guard at the start of the session and before every tool."""
    hook = [{"hooks": [{"type": "command", "command": command(a), "timeout": 30}]}]
    return json.dumps({"hooks": {"SessionStart": hook, "PreToolUse": hook}}).encode()


def proof(a: Assignment) -> tuple[str, ...]:
    """The self-test in Codex's dialect."""
    patch = "*** Begin Patch\n*** Add File: .git/hooks/canary\n+x\n*** End Patch\n"
    refused = (
        ("Bash", {"command": "git push"}),
        ("Bash", {"command": f"apply_patch <<'EOF'\n{patch}EOF\n"}),
        ("apply_patch", {"command": patch}),
    )
    return self_test(a, "PreToolUse", refused, (("Bash", {"command": "git status"}),))


def _array(texts: Iterable[str]) -> str:
    """An array of TOML."""
    return f"[{', '.join(map(_toml, texts))}]"


def _toml(text: str) -> str:
    """A basic string of TOML: that of JSON, but for one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
