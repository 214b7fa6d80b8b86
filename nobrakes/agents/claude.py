"""Claude Code, unattended: how it is called.

1. Outside a sandbox its own permissions stay on and allow what agents.worker.process says. Settings are inline: no
   settings of the repository or person, no MCP server but ours, and no way to switch off the guard.
2. The guard is asked before every tool. Its failure is a no, and a run without its canary is refused.
3. With a key or token in the environment its state is in .nobrakes/agents/claude, a folder for each bead. Without, it
   uses the person's login. `--setting-sources ""` also drops an apiKeyHelper: name its key in `agents.environment`.
4. We choose the session's id, so that a session is found again after a crash.
"""

import json
import os
import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..beads.model import Outcome, Role
from . import adapter, output
from .adapter import LineKind, TranscriptLine

if TYPE_CHECKING:
    from ..config.sections import AgentSettings

# Usage and cost are those of `result`; an assistant message has a snapshot of its start, which tells how full its
# context is.
_TEXT = 4000
_TOKENS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_MAIN_INPUT = ("command", "file_path", "pattern", "path", "notebook_path", "url", "query", "description")


def text_of(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(str(block["text"]) for block in value if isinstance(block, dict) and "text" in block)
    return ""


def tokens_of(usage: object) -> dict[str, int]:
    found = output.mapping(usage)
    return {key: found[key] for key in _TOKENS if isinstance(found.get(key), int)}


def events_used(raw: bytes) -> adapter.Use | None:
    """Usage of an assistant message; the context is the agent's own, not a subagent's."""
    event = output.parse(raw) if b'"usage"' in raw else None
    if event is None or event.get("type") != "assistant":
        return None
    message = output.mapping(event.get("message"))
    tokens = sum(tokens_of(message.get("usage")).values())
    if not tokens:
        return None
    return adapter.Use(str(message.get("id")), tokens, 0 if event.get("parent_tool_use_id") else tokens)


def limit_of(event: Mapping[str, Any]) -> tuple[str, float | None]:
    """Status and reset time (seconds since 1970) of a rate_limit_event."""
    info = output.mapping(event.get("rate_limit_info")) or event
    resets = info.get("resetsAt", info.get("resets_at"))
    known = isinstance(resets, int | float) and not isinstance(resets, bool)
    return str(info.get("status", "")), float(resets) if known else None


def _transcript(event: Mapping[str, Any]) -> list[TranscriptLine]:
    reader = _READERS.get(str(event.get("type")))
    return reader(event) if reader else []


def _system(event: Mapping[str, Any]) -> list[TranscriptLine]:
    subtype = str(event.get("subtype"))
    if subtype == "init":
        data = {"session": str(event.get("session_id", "")), "model": str(event.get("model", ""))}
        return [output.lined(LineKind.NOTE, f"session {data['session']}, model {data['model']}", data)]
    if subtype == "api_retry":
        what = f"{event.get('error')}, attempt {event.get('attempt')} of {event.get('max_retries')}"
        return [output.lined(LineKind.LIMIT, f"retrying the API call: {what}", {"error": str(event.get("error"))})]
    if subtype == "permission_denied":
        return [output.lined(LineKind.NOTE, f"denied: {event.get('tool_name', 'a tool')}")]
    if subtype == "hook_response" and event.get("exit_code") not in (0, None):
        return [output.lined(LineKind.NOTE, f"the {event.get('hook_event')} hook refused: {event.get('stderr', '')}")]
    if subtype == "informational":
        return [output.lined(LineKind.NOTE, str(event.get("content", event.get("message", ""))))]
    return []


def _assistant(event: Mapping[str, Any]) -> list[TranscriptLine]:
    found: list[TranscriptLine] = []
    content = output.mapping(event.get("message")).get("content")
    for block in content if isinstance(content, list) else []:
        kind = output.mapping(block).get("type")
        if kind == "text":
            found.append(output.lined(LineKind.TEXT, str(block.get("text", "")), limit=_TEXT))
        elif kind == "thinking":
            found.append(output.lined(LineKind.THINKING, str(block.get("thinking", "")), limit=_TEXT))
        elif kind == "tool_use":
            name = str(block.get("name", "tool"))
            given = output.mapping(block.get("input"))
            what = next((str(given[key]) for key in _MAIN_INPUT if given.get(key)), "")
            found.append(output.called(name, what, {"tool": name, "id": str(block.get("id", ""))}))
    if event.get("error"):
        found.append(output.lined(LineKind.LIMIT, f"API error: {event['error']}", {"error": str(event["error"])}))
    return found


def _user(event: Mapping[str, Any]) -> list[TranscriptLine]:
    found: list[TranscriptLine] = []
    content = output.mapping(event.get("message")).get("content")
    for block in content if isinstance(content, list) else []:
        if output.mapping(block).get("type") == "tool_result":
            data = {"id": str(block.get("tool_use_id", "")), "failed": block.get("is_error") is True}
            found.append(output.lined(LineKind.RESULT, text_of(block.get("content")) or "(no output)", data))
    return found


def _limit(event: Mapping[str, Any]) -> list[TranscriptLine]:
    status, resets = limit_of(event)
    return [output.lined(LineKind.LIMIT, f"usage limit: {status}", {"status": status, "resets_at": resets})]


def _result(event: Mapping[str, Any]) -> list[TranscriptLine]:
    found: list[TranscriptLine] = []
    if tokens := tokens_of(event.get("usage")):
        found.append(output.lined(LineKind.USAGE, ", ".join(f"{n} {key}" for key, n in tokens.items()), tokens))
    cost = event.get("total_cost_usd")
    if isinstance(cost, int | float):
        found.append(output.lined(LineKind.COST, f"{cost:.4f} USD", {"usd": cost}))
    ended = f"{event.get('subtype')}, {event.get('terminal_reason', 'no reason')}, turns: {event.get('num_turns')}"
    found.append(output.lined(LineKind.NOTE, f"ended: {ended}", {"is_error": event.get("is_error") is True}))
    return found


_READERS = {"system": _system, "assistant": _assistant, "user": _user, "rate_limit_event": _limit, "result": _result}

# The exit code alone lies both ways: an API failure also says subtype "success", and a stopped run also exits with 0.
# So everything is asked, fields that machines read first. A run whose session began before the guard's canary answered
# was not guarded: it is refused, whatever it did.
_BY_ERROR: Mapping[str, Outcome] = {
    "prompt_too_long": Outcome.CONTEXT_OVERFLOW,
    "max_output_tokens": Outcome.CONTEXT_OVERFLOW,
    "authentication_failed": Outcome.AUTH,
    "billing_error": Outcome.BILLING,
    "rate_limit": Outcome.RATE_LIMITED,
    "model_not_found": Outcome.MODEL_UNAVAILABLE,
    "invalid_request": Outcome.INVALID_REQUEST,
}
_BY_REASON: Mapping[str, Outcome] = {
    "prompt_too_long": Outcome.CONTEXT_OVERFLOW,
    "max_turns": Outcome.TURN_LIMIT,
    "budget_exhausted": Outcome.TURN_LIMIT,
    "aborted_tools": Outcome.INTERRUPTED,
    "aborted_streaming": Outcome.INTERRUPTED,
    "hook_stopped": Outcome.BAD_CONFIGURATION,
}
_BY_SUBTYPE: Mapping[str, Outcome] = {"error_max_turns": Outcome.TURN_LIMIT, "error_max_budget_usd": Outcome.TURN_LIMIT}
_WORDING = output.worded(
    (r"prompt is too long", Outcome.CONTEXT_OVERFLOW),
    (r"add funds to continue", Outcome.BILLING),
    (r"you've hit your .*limit|limit\s*(?:reached\s*)?·\s*resets", Outcome.RATE_LIMITED),
)
_OLDEST = (2, 1)
"""The first version that knows all our options."""
_TOO_OLD = re.compile(r"unknown option|requires a newer version|needs an update|claude update", re.I)
_SESSION_UNUSABLE = ("No conversation found with session ID", "is already in use")
"""The session is gone or taken: not the bead's fault, so the next attempt starts fresh."""


@dataclass(slots=True)
class Read(output.Read):
    """What the events of one process came to."""

    guarded: bool = False
    began: bool = False
    began_guarded: bool = False
    result: Mapping[str, Any] | None = None
    result_is_last: bool = False
    error: str = ""
    status: int | None = None
    limit_ends: float | None = None
    version: tuple[int, ...] = ()
    said_or_did: bool = False  # the model wrote a word or called a tool

    last = re.compile(rb'"type":\s*"result"')

    @property
    def has_begun(self) -> bool:
        return self.began or self.result is not None

    @classmethod
    def is_last(cls, event: Mapping[str, Any]) -> bool | None:
        kind = event.get("type")
        return kind == "result" if kind in ("result", "assistant", "user") else None

    def take(self, event: Mapping[str, Any]) -> None:
        kind = event.get("type")
        if kind == "system":
            self._system(event)
        elif kind == "rate_limit_event":
            status, resets = limit_of(event)
            self.limit_ends = resets if status == "rejected" else None
        elif kind == "result":
            self.result, self.result_is_last = event, True
            self.session = str(event.get("session_id") or "") or self.session
            cost = event.get("total_cost_usd")
            self.cost = float(cost) if isinstance(cost, int | float) else None
            self.tokens = tokens_of(event.get("usage"))
        elif kind in ("assistant", "user"):
            self.result_is_last = False
            if kind == "assistant":
                self.error = str(event.get("error") or "")
                self.said_or_did = self.said_or_did or _holds_anything(event)

    def _system(self, event: Mapping[str, Any]) -> None:
        subtype = event.get("subtype")
        if subtype == "hook_response" and event.get("hook_event") == "SessionStart":
            said = f"{event.get('stdout', '')}\n{event.get('output', '')}"
            self.guarded = self.guarded or adapter.SELF_TEST in said.splitlines()
        elif subtype == "init" and not self.began:
            self.began, self.began_guarded = True, self.guarded
            self.session = str(event.get("session_id") or "") or None
            version = str(event.get("claude_code_version") or "").split(".")[:2]
            self.version = tuple(int(part) for part in version if part.isdigit())

    def unguarded(self, self_test: str) -> bool:
        return self.began and not self.began_guarded

    def resets_at(self, end: adapter.AgentEnd, detail: str) -> float | None:
        return self.limit_ends or output.reset_time(detail, end.at)

    @property
    def too_old(self) -> bool:
        return bool(self.version) and self.version < _OLDEST


def _holds_anything(event: Mapping[str, Any]) -> bool:
    content = output.mapping(event.get("message")).get("content")
    blocks = [output.mapping(block) for block in content] if isinstance(content, list) else []
    return any(block.get("type") == "tool_use" or str(block.get("text") or "").strip() for block in blocks)


def verdict_outcome(end: adapter.AgentEnd, read: Read) -> tuple[Outcome, str]:
    """Judge by the last result, the last error and the exit code together."""
    if (signal := adapter.killed(end.code)) is not None:
        return Outcome.KILLED, signal
    if end.code is None and (read.result is None or not read.result_is_last):
        return Outcome.LOST, adapter.UNSEEN
    if read.result is None:
        errors = end.errors.strip()
        if read.too_old or (not read.began and _TOO_OLD.search(errors)):
            return Outcome.VERSION_UNSUPPORTED, errors or f"Claude Code {'.'.join(map(str, read.version))} is too old"
        if read.began:
            return output.cut_off(end, "and no result")
        return output.not_started("Claude Code", end, Outcome.SESSION_LOST if _session_unusable(errors) else None)
    result = read.result
    text = str(result.get("result") or "; ".join(map(str, result.get("errors") or ())))
    if result.get("is_error") is not False or result.get("subtype") != "success":
        return _failure(result, read, text)
    if result.get("terminal_reason") not in ("completed", None):
        reason = str(result.get("terminal_reason"))
        return _BY_REASON.get(reason, Outcome.CRASHED), f"the agent ended early: {reason}"
    if end.code not in (0, None):
        return Outcome.BAD_CONFIGURATION, f"the agent reported success, but exited with code {end.code}: {end.errors}"
    if result.get("num_turns") == 0:
        return Outcome.BAD_CONFIGURATION, f"the agent did nothing: {text}"
    if not read.result_is_last:
        return Outcome.CRASHED, "the agent ended in the middle of its turn"
    if not text.strip() and not read.said_or_did:
        return Outcome.EMPTY_OUTPUT, "the agent ended without an error, but its model did nothing"
    return output.ended_well(text)


def _failure(result: Mapping[str, Any], read: Read, text: str) -> tuple[Outcome, str]:
    """Classify a failed result: reason and subtype, error name, HTTP status, then wording."""
    status = result.get("api_error_status")
    reason, subtype = str(result.get("terminal_reason")), str(result.get("subtype"))
    wording = output.by_wording(_WORDING, text)
    found = (
        _BY_REASON.get(reason)
        or (Outcome.CONTEXT_OVERFLOW if wording is Outcome.CONTEXT_OVERFLOW else None)
        or _BY_SUBTYPE.get(subtype)
        or _BY_ERROR.get(read.error)
        or (Outcome.VERSION_UNSUPPORTED if read.too_old or _TOO_OLD.search(text) else None)
        or (output.by_status_and(status, wording) if status is not None else None)
        or (Outcome.NETWORK if read.error == "server_error" else None)
        or wording
        or (Outcome.SESSION_LOST if _session_unusable(text) and not read.began else Outcome.CRASHED)
    )
    return found, text or f"{subtype}, {reason}"


def _session_unusable(text: str) -> bool:
    return any(wording in text for wording in _SESSION_UNUSABLE)


API = "https://api.anthropic.com"
LOGIN_API = "https://platform.claude.com"
CREDENTIALS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
_READS = (*CREDENTIALS, "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS")
_ROUTES = ("ANTHROPIC_CUSTOM_HEADERS", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY")
"""With one of these another login counts, which is invisible here."""
_LITERAL_PATH = frozenset("()[]{}*?!\\")
"""Characters with a meaning in permission rules, beyond a path."""


class Claude(output.EventCli[Read]):
    """Claude Code 2.1 (`claude`)."""

    name = "claude"
    provider = "anthropic"
    sessions = True
    credentials = (*_READS, "CLAUDE_CONFIG_DIR")
    reads = Read
    transcript = staticmethod(_transcript)
    used = staticmethod(events_used)
    outcome = staticmethod(verdict_outcome)

    def __init__(self, root: bool = False) -> None:
        self.root = root

    def login(self, env: Mapping[str, str], settings: "AgentSettings") -> adapter.Login | None:
        """None if the login is in the system's key chain, or another kind of login counts."""
        if sys.platform == "darwin" or any(env.get(name) for name in _ROUTES):
            return None
        file = os.path.join(env.get("CLAUDE_CONFIG_DIR") or _human(env), ".credentials.json")
        return adapter.Login(CREDENTIALS, (file,), f"{shlex.quote(settings.claude.executable)} /login")

    def launch(self, a: adapter.Assignment) -> adapter.Launch:
        own = a.settings.claude
        argv = [own.executable, "-p", "--output-format", "stream-json", "--verbose"]
        if own.model:
            argv += [f"--model={own.model}"]
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
        return adapter.Launch(
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
        return self.begun(head).began_guarded

    def _environment(self, a: adapter.Assignment) -> Mapping[str, str]:
        env = adapter.allowed(a, _READS)
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
            **adapter.identity(a),
            **adapter.UNATTENDED,
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
    return (env.get("ANTHROPIC_BASE_URL") or API, *(() if any(env.get(name) for name in CREDENTIALS) else (LOGIN_API,)))


def _human(env: Mapping[str, str]) -> str:
    return os.path.join(env.get("HOME", "/"), ".claude")


def _state(a: adapter.Assignment) -> str:
    return os.path.join(a.env["NOBRAKES_HOME"], "agents", "claude", a.bead)


def tools(a: adapter.Assignment) -> tuple[str, ...]:
    return tuple(tool for tool in a.tools if tool not in ("Edit", "Write")) if a.role is Role.SHAPER else a.tools


def settings(a: adapter.Assignment) -> dict[str, Any]:
    """The inline settings: the guard before every tool, its canary at the start, and read-only paths."""
    guard = shlex.join(a.guard)
    home = a.env["NOBRAKES_HOME"]
    private = [os.path.join(home, name) for name in ("config.toml", "beads.jsonl", "nobrakes.db")]
    private += [os.path.join(a.workspace, name) for name in (".git/hooks/**", ".git/config", ".nobrakes/**")]
    literal = [path for path in private if not _LITERAL_PATH & set(path.removesuffix("/**"))]
    return {
        "disableAllHooks": False,
        "hooks": {"SessionStart": [_hook(f"{guard} --canary || exit 2")], "PreToolUse": [_hook(f"{guard} || exit 2")]},
        "permissions": {**allowances(a), "deny": [f"Edit(/{path})" for path in literal]},
    }


def allowances(a: adapter.Assignment) -> dict[str, list[str]]:
    """What its own permissions allow beside edits in the workspace; empty if they are off."""
    if a.permitted is None:
        return {}
    rules = [" ".join(words) for words in a.permitted]
    commands = [f"Bash({rule}:*)" for rule in rules if not _LITERAL_PATH & set(rule)]
    return {"allow": [f"mcp__{adapter.mcp_server(a).name}", *commands]}


def mcp_servers(a: adapter.Assignment) -> dict[str, Any]:
    """The inline MCP settings: only our server. The CLI looks the variables up; no value is written."""
    server = adapter.mcp_server(a)
    variables = {name: f"${{{name}}}" for name in server.variables if a.env.get(name) or name in adapter.identity(a)}
    one = {"type": "stdio", "command": server.argv[0], "args": list(server.argv[1:]), "env": variables}
    return {"mcpServers": {server.name: one}}


def _hook(command: str) -> dict[str, Any]:
    # the guard ends itself after 8 s, with a no; Claude's own time limit would end with a yes
    return {"hooks": [{"type": "command", "command": command, "timeout": 30}]}
