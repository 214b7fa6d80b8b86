"""Codex, unattended: how it is called.

1. npm's `codex` is a script that would leave its program running when killed: the program itself is started.
2. Each run has its own CODEX_HOME with settings and hooks that only we write. Sessions are in .nobrakes/agents/codex, a
   folder for each bead.
3. A key in the environment (CODEX_API_KEY, OPENAI_API_KEY) is hidden from the agent's commands. Else the person's login
   is linked, not copied: Codex renews tokens, and copies would lock each other out (in a sandbox host.channel syncs
   them).
4. Its own sandbox makes .git read-only, so it is off inside ours. Without ours it is on, except for the commands of
   agents.worker.process.
5. nobrakes' MCP server is the only one: the repository's are ignored, since nobody trusted it.
6. Codex chooses the session's id; it is read from its output.
"""

import json
import os
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..beads.model import Outcome
from . import adapter, output
from .adapter import LineKind, TranscriptLine

if TYPE_CHECKING:
    from ..config.sections import AgentSettings

# An item of type `error` is a warning: a turn fails by `turn.failed` alone. No event tells a cost, or a call that a
# hook refused.
_TEXT = 4000
TOKENS = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cached_input_tokens": "cache_read_input_tokens",
}


def _transcript(event: Mapping[str, Any]) -> list[TranscriptLine]:
    kind = str(event.get("type"))
    if kind in ("item.started", "item.completed"):
        return _item(output.mapping(event.get("item")), kind == "item.completed")
    if kind == "thread.started":
        session = str(event.get("thread_id", ""))
        return [output.lined(LineKind.NOTE, f"session {session}", {"session": session})]
    if kind == "turn.completed":
        used = output.tokens(event.get("usage"), TOKENS)
        return [output.lined(LineKind.USAGE, ", ".join(f"{n} {key}" for key, n in used.items()), used)]
    if kind in ("error", "turn.failed"):
        return [output.lined(LineKind.LIMIT, f"API error: {output.message(event)}", {"error": output.message(event)})]
    return []


def events_used(raw: bytes) -> adapter.Use | None:
    """Usage or context size in a line of the session's file."""
    event = output.parse(raw) if b'"token_' in raw else None
    payload = output.mapping(output.mapping(event).get("payload"))
    if event is None:
        return None
    at = output.moment(event.get("timestamp"))
    if event.get("type") == "token_usage_record":  # as soon as the model has answered
        total = output.tokens(payload.get("usage"), {"total_tokens": "total"}).get("total", 0)
        return adapter.Use(str(payload.get("response_id")), total, total, at=at) if total > 0 else None
    if payload.get("type") == "token_count":  # when the tools have ended that it called
        window = output.tokens(payload.get("info"), {"model_context_window": "window"}).get("window", 0)
        return adapter.Use("", 0, 0, window, at)
    return None


def _item(item: Mapping[str, Any], ended: bool) -> list[TranscriptLine]:
    kind, text = str(item.get("type")), str(item.get("text", ""))
    data = {"tool": kind, "id": str(item.get("id", ""))}
    if kind == "command_execution":
        if not ended:
            return [output.called("Bash", str(item.get("command", "")), data)]
        failed = {"id": data["id"], "failed": item.get("exit_code") != 0}
        return [output.lined(LineKind.RESULT, str(item.get("aggregated_output") or "(no output)"), failed)]
    if kind == "mcp_tool_call":
        if not ended:
            return [output.lined(LineKind.TOOL_CALL, f"{item.get('server')}: {item.get('tool')}", data)]
        error = str(output.mapping(item.get("error")).get("message", ""))
        failed = {"id": data["id"], "failed": item.get("status") == "failed"}
        return [output.lined(LineKind.RESULT, error or "(done)", failed)]
    if not ended:
        return []
    if kind == "agent_message":
        return [output.lined(LineKind.TEXT, text, limit=_TEXT)]
    if kind == "reasoning":
        return [output.lined(LineKind.THINKING, text, limit=_TEXT)]
    if kind == "file_change":
        changes = item.get("changes")
        named = [output.mapping(c) for c in changes] if isinstance(changes, list) else []
        what = ", ".join(f"{c.get('kind')} {c.get('path')}" for c in named)
        return [output.lined(LineKind.TOOL_CALL, f"apply_patch: {what}", data)]
    if kind == "web_search":
        return [output.lined(LineKind.TOOL_CALL, f"web_search: {item.get('query', '')}", data)]
    return [output.lined(LineKind.NOTE, str(item.get("message", "")))] if kind == "error" else []


# Without a network Codex waits for ever: a run that was killed while it waited has met an outage. Its errors have no
# codes, only sentences: an HTTP status in one is asked first, then the wording of 0.169.
_STATUS = re.compile(r"(?:unexpected|last) status:? (\d{3})\b")
_WORDING = output.worded(
    (r"ran out of room in the model's context window|context_length_exceeded", Outcome.CONTEXT_OVERFLOW),
    (r"quota exceeded|check your plan and billing|insufficient_quota", Outcome.BILLING),
    (r"missing environment variable|refresh token|not logged in|api key|token (?:has )?expired", Outcome.AUTH),
    (r"requires a newer version of codex|please upgrade to the latest", Outcome.VERSION_UNSUPPORTED),
    (r"model\b.* (?:does not exist|is not supported|not found)", Outcome.MODEL_UNAVAILABLE),
    (r"waiting for network|stream disconnected|error sending request", Outcome.NETWORK),
    (r"invalid_request_error", Outcome.INVALID_REQUEST),
    (r"timed? ?out", Outcome.NETWORK),
)
_USAGE = 2
"""The exit code for unknown arguments: Codex is too old or too new for ours."""
_SESSION_GONE = ("no rollout found", "No saved session", "thread not found", "session not found")


@dataclass(slots=True)
class Read(output.Read):
    """What the events of one process came to."""

    worked_or_said: bool = False  # the model wrote a word or called a tool
    completed: bool = False
    failed: str | None = None
    waits: str | None = None  # what it said when it began to try again
    text: str = ""

    last = re.compile(rb'"turn\.(?:completed|failed)"')

    @classmethod
    def is_last(cls, event: Mapping[str, Any]) -> bool | None:
        kind = str(event.get("type"))
        if kind in ("turn.completed", "turn.failed"):
            return True
        return False if kind.startswith(("turn.", "item.")) else None

    def take(self, event: Mapping[str, Any]) -> None:
        """Take one more event in."""
        kind = event.get("type")
        said = output.message(event) if kind == "error" else ""
        self.waits = said if said.startswith("Reconnecting") else None
        if kind == "thread.started":
            self.session = str(event.get("thread_id") or "") or self.session
        elif kind == "turn.started":
            self.completed, self.failed = False, None
        elif kind == "turn.completed":
            self.completed, self.failed, self.worked = True, None, True
            self.tokens = output.tokens(event.get("usage"), TOKENS)
        elif kind == "turn.failed":
            self.completed, self.failed = False, output.message(event)
        elif kind in ("item.started", "item.completed"):
            item = output.mapping(event.get("item"))
            self.worked = self.worked or item.get("type") != "error"
            deed = item.get("type") not in ("error", "reasoning", "agent_message")
            self.worked_or_said = self.worked_or_said or deed or bool(str(item.get("text", "")).strip())
            if item.get("type") == "agent_message":
                self.text = str(item.get("text", ""))


def verdict_outcome(end: adapter.AgentEnd, read: Read) -> tuple[Outcome, str]:
    """Judge by the last turn, its error and the exit code together."""
    signal = adapter.killed(end.code)
    if read.waits is not None and (signal is not None or end.code is None):
        return _class_of(read.waits), f"{signal or adapter.UNSEEN}, while the agent waited: {read.waits}"
    if signal is not None:
        return Outcome.KILLED, signal
    if read.failed is not None:
        return _class_of(read.failed), read.failed
    if end.code is None and not read.completed:
        return Outcome.LOST, adapter.UNSEEN
    if read.session is None:
        gone = any(wording in end.errors for wording in _SESSION_GONE)
        known = Outcome.VERSION_UNSUPPORTED if end.code == _USAGE else None
        return output.not_started("Codex", end, Outcome.SESSION_LOST if gone else known)
    if not read.completed or end.code not in (0, None):
        return output.cut_off(end, "in the middle of its turn")
    if not read.worked_or_said:
        return Outcome.EMPTY_OUTPUT, "the agent completed its turn, but its model did nothing"
    return output.ended_well(read.text)


def _class_of(text: str) -> Outcome:
    text = text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    status = _STATUS.search(text)
    wording = output.by_wording(_WORDING, text)
    if wording in (Outcome.CONTEXT_OVERFLOW, Outcome.BILLING):  # each comes with the status of something else
        return wording
    return output.by_status_and(int(status[1]) if status else None, wording) or Outcome.CRASHED


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


class Codex(output.EventCli[Read]):
    """Codex 0.169 (`codex exec`)."""

    name = "codex"
    provider = "openai"
    sessions = True
    credentials = (*KEYS, "CODEX_HOME")
    reads = Read
    transcript = staticmethod(_transcript)
    used = staticmethod(events_used)
    outcome = staticmethod(verdict_outcome)

    def login(self, env: Mapping[str, str], settings: "AgentSettings") -> adapter.Login | None:
        return adapter.Login(KEYS, (_login_file(env),), f"{shlex.quote(settings.codex.executable)} login")

    def launch(self, a: adapter.Assignment) -> adapter.Launch:
        own = a.settings.codex
        argv = ["/bin/sh", "-c", _NATIVE, "codex", own.executable, "exec", "--json"]
        argv += [] if a.permitted is not None else ["--dangerously-bypass-approvals-and-sandbox"]
        argv += ["--dangerously-bypass-hook-trust"]
        if own.model:
            argv += [f"--model={own.model}"]
        if a.resume:
            argv += ["resume", a.session]
        argv += ["--", a.prompt] if a.stdin is None else ["-"]
        home = os.path.join(a.folder, "codex")
        sessions = os.path.join(a.env["NOBRAKES_HOME"], "agents", "codex", a.bead, "sessions")
        return adapter.Launch(
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

    def _environment(self, a: adapter.Assignment, home: str) -> Mapping[str, str]:
        env = adapter.allowed(a)
        if key(a):
            env["CODEX_API_KEY"] = key(a)
        return {
            **env,
            **adapter.identity(a),
            **adapter.UNATTENDED,
            "CODEX_HOME": home,
            # its sandbox lets the folder for temporary files in: its own, not the whole machine's
            **({} if a.permitted is None else {"TMPDIR": os.path.join(a.folder, TEMPORARY)}),
            "NOBRAKES_CANARY": adapter.self_test_path(a),
        }


def key(a: adapter.Assignment) -> str:
    return next((a.env[name] for name in KEYS if a.env.get(name)), "")


def login(a: adapter.Assignment) -> str:
    return "" if key(a) else _login_file(a.env)


def _login_file(env: Mapping[str, str]) -> str:
    return os.path.join(env.get("CODEX_HOME") or os.path.join(env.get("HOME", "/"), ".codex"), "auth.json")


def hosts(a: adapter.Assignment) -> tuple[str, ...]:
    urls = [a.settings.codex.base_url] if a.settings.codex.base_url else [API] if key(a) else LOGIN_URLS
    return (*urls, *(() if key(a) else (LOGIN_API,)))


def config(a: adapter.Assignment) -> str:
    """The settings of this run, as TOML."""
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
    server = adapter.mcp_server(a)
    lines += [f"[mcp_servers.{server.name}]", f"command = {_toml(server.argv[0])}"]
    lines += [f"args = {_array(server.argv[1:])}", f"env_vars = {_array(server.variables)}"]
    lines += ['default_tools_approval_mode = "approve"', f"tool_timeout_sec = {adapter.TOOL_SECONDS}"]
    return "\n".join(lines) + "\n"


def rules(a: adapter.Assignment) -> dict[str, bytes]:
    """Rules for commands outside Codex' own sandbox, if that is on."""
    if a.permitted is None:
        return {}
    lines = [f'prefix_rule(pattern={json.dumps(words)}, decision="allow")' for words in a.permitted]
    return {"codex/rules/nobrakes.rules": ("\n".join(lines) + "\n").encode(errors="replace"), f"{TEMPORARY}/begun": b""}


def hooks(a: adapter.Assignment) -> bytes:
    hook = [{"hooks": [{"type": "command", "command": adapter.command(a), "timeout": 30}]}]
    return json.dumps({"hooks": {"SessionStart": hook, "PreToolUse": hook}}).encode()


def proof(a: adapter.Assignment) -> tuple[str, ...]:
    patch = "*** Begin Patch\n*** Add File: .git/hooks/canary\n+x\n*** End Patch\n"
    refused = (
        ("Bash", {"command": "git push"}),
        ("Bash", {"command": f"apply_patch <<'EOF'\n{patch}EOF\n"}),
        ("apply_patch", {"command": patch}),
    )
    return adapter.self_test(a, "PreToolUse", refused, (("Bash", {"command": "git status"}),))


def _array(texts: Iterable[str]) -> str:
    return f"[{', '.join(map(_toml, texts))}]"


def _toml(text: str) -> str:
    """A basic TOML string: as in JSON, but for one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
