"""Any agent that speaks the Agent Client Protocol (ACP), through our own client (nobrakes.acp_client).

1. It uses the person's HOME, login and settings; the guard answers what it asks permission for, and nothing else.
2. Of the person's keys it gets those named in `agents.acp.keys`.
3. nobrakes' MCP server is passed when its session begins; the role precedes the prompt, as ACP has no system prompt.
4. The agent chooses the session's id; it is continued only if the agent said that it can.
"""

import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import extras
from ..beads.model import Outcome
from ..errors import ConfigError
from . import adapter, output
from .adapter import LineKind, TranscriptLine

if TYPE_CHECKING:
    from ..config.sections import AgentSettings

_TEXT = 4000
TOKENS = {name: name for name in ("input_tokens", "output_tokens", "cache_read_input_tokens")}


def _transcript(event: Mapping[str, Any]) -> list[TranscriptLine]:
    kind, text, title = str(event.get("type")), str(event.get("text", "")), str(event.get("title") or "")
    data = {"id": str(event.get("id", ""))}
    if kind == "session":
        again = ", continued" if event.get("resumed") is True else ""
        said = f"session {event.get('session', '')}{again}, {event.get('agent', '')}"
        return [output.lined(LineKind.NOTE, said, {"session": str(event.get("session", ""))})]
    if kind in ("text", "thought"):
        return [output.lined(LineKind.TEXT if kind == "text" else LineKind.THINKING, text, limit=_TEXT)]
    if kind == "tool":
        command = str(event.get("command") or "")
        more = {"tool": "execute", "given": command} if command else {}
        return [output.lined(LineKind.TOOL_CALL, title or "tool", {**data, **more})]
    if kind == "result":
        return [output.lined(LineKind.RESULT, text or "(done)", {**data, "failed": event.get("failed") is True})]
    if kind == "permission" and event.get("allowed") is not True:
        return [output.lined(LineKind.RESULT, f"refused: {title}: {event.get('why', '')}", {**data, "failed": True})]
    if kind == "usage":
        used = output.tokens(event, TOKENS)
        return [output.lined(LineKind.USAGE, ", ".join(f"{n} {key}" for key, n in used.items()), used)]
    if kind == "end" and "error" in event:
        said = f"{event.get('error')}: {event.get('message', '')}"
        return [output.lined(LineKind.LIMIT, said, {"error": str(event.get("message", ""))})]
    return [output.lined(LineKind.NOTE, f"ended: {event.get('stop')}")] if kind == "end" else []


def events_used(raw: bytes) -> adapter.Use | None:
    """How full the model's context is, if the agent reports it; total tokens come only at its end."""
    event = output.parse(raw) if b'"window"' in raw else None
    if event is None or event.get("type") != "usage":
        return None
    context, window = event.get("context"), event.get("window")
    if type(context) is not int or type(window) is not int or not 0 < context <= window:
        return None
    return adapter.Use("context", 0, context, window)


# The protocol has few error codes: for the rest the HTTP status and the wording that an agent hands on are asked.
_BY_STOP: Mapping[str, Outcome] = {
    "max_tokens": Outcome.CONTEXT_OVERFLOW,
    "max_turn_requests": Outcome.TURN_LIMIT,
    "refusal": Outcome.INVALID_REQUEST,
    "cancelled": Outcome.INTERRUPTED,
}
_BY_ERROR: Mapping[str, Outcome] = {
    "guard": Outcome.GUARD_FAILED,
    "missing": Outcome.MISSING_EXECUTABLE,
    "not_executable": Outcome.BAD_CONFIGURATION,
    "version": Outcome.VERSION_UNSUPPORTED,
    "session_lost": Outcome.SESSION_LOST,
    "auth": Outcome.AUTH,
}
_STATUS = re.compile(r"(?:status|code)\W{1,6}(?:code\W{1,3})?([45]\d\d)\b|\b(?:HTTP|Error:?) ([45]\d\d)\b", re.I)
_WORDING = output.worded(
    (r"context (?:window|length)|prompt is too long|maximum number of tokens", Outcome.CONTEXT_OVERFLOW),
    (r"usage limit|rate.?limit|quota|RESOURCE_EXHAUSTED|too many requests", Outcome.RATE_LIMITED),
    (r"billing|credit balance|insufficient_quota|payment required", Outcome.BILLING),
    (r"api.?key|unauthori[sz]ed|authentication|not logged in|log ?in", Outcome.AUTH),
    (r"model\W.{0,200}(?:not found|does not exist|not supported)", Outcome.MODEL_UNAVAILABLE),
)
_SAYS_MORE = (Outcome.CONTEXT_OVERFLOW, Outcome.BILLING)
"""These statuses also come with other causes."""


@dataclass(slots=True)
class Read(output.Read):
    """What the lines of one process came to."""

    began: bool = False  # there is a session, be it one that cannot be gone on with
    text: str = ""
    end: Mapping[str, Any] | None = None

    last = re.compile(rb'"type":\s*"end"')

    @property
    def has_begun(self) -> bool:
        return self.began or self.worked

    @classmethod
    def is_last(cls, event: Mapping[str, Any]) -> bool | None:
        kind = event.get("type")
        return kind == "end" if kind in ("end", "text", "tool", "thought", "permission", "result") else None

    def take(self, event: Mapping[str, Any]) -> None:
        kind = event.get("type")
        if kind == "session":
            named = str(event.get("session") or "")
            self.began = bool(named)
            self.session = named if named and event.get("resumes") is True else None
        elif kind == "text":
            self.worked, self.text = True, self.text + str(event.get("text", ""))
        elif kind in ("tool", "thought", "permission", "result"):
            self.worked = True
            self.text = "" if kind == "tool" else self.text
        elif kind == "usage":
            self.tokens = output.tokens(event, TOKENS) or self.tokens
            spent = output.mapping(event.get("cost"))
            amount = spent.get("amount")
            if spent.get("currency") == "USD" and isinstance(amount, int | float):
                self.cost = float(amount)
        elif kind == "end":
            self.end = event


def verdict_outcome(end: adapter.AgentEnd, read: Read) -> tuple[Outcome, str]:
    """Judge by the stop reason or error in its last line, and the exit code."""
    stop = str(read.end.get("stop")) if read.end is not None and "error" not in read.end else ""
    signal = adapter.killed(end.code)
    if signal is not None and stop != "cancelled":
        return Outcome.KILLED, signal
    if read.end is None:
        if end.code is None:
            return Outcome.LOST, adapter.UNSEEN
        return output.cut_off(end, "and no end") if read.began else output.not_started("the ACP client", end)
    if "error" in read.end:
        message = str(read.end.get("message") or "")
        return _failure(str(read.end.get("error")), read.end.get("code"), f"{message}\n{end.errors}".strip())
    if stop != "end_turn":
        return _BY_STOP.get(stop, Outcome.CRASHED), f"the agent ended early: {stop}. {read.text}"
    if end.code not in (0, None):
        return Outcome.BAD_CONFIGURATION, f"the agent reported success, but exited with code {end.code}: {end.errors}"
    if not read.worked:
        return Outcome.EMPTY_OUTPUT, "the agent ended its turn without a message or an action"
    return output.ended_well(read.text)


def _failure(kind: str, code: object, text: str) -> tuple[Outcome, str]:
    if (known := _BY_ERROR.get(kind)) is not None:
        return known, text
    wording = output.by_wording(_WORDING, text)
    if wording in _SAYS_MORE:
        return wording, text
    status = _STATUS.search(text)
    found = output.by_status(code) if isinstance(code, int) and code > 0 else None  # some give the HTTP status as it is
    found = found or (output.by_status(int(status[1] or status[2])) if status else None)
    return found or wording or (Outcome.CRASHED if kind in ("turn", "died") else Outcome.BAD_CONFIGURATION), text


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


class Acp(output.EventCli[Read]):
    """The command of `agents.acp` in the config."""

    name = "acp"
    provider = "acp"
    sessions = True
    credentials = KEYS
    reads = Read
    transcript = staticmethod(_transcript)
    used = staticmethod(events_used)
    outcome = staticmethod(verdict_outcome)

    def login(self, env: Mapping[str, str], settings: "AgentSettings") -> adapter.Login | None:
        return None

    def launch(self, a: adapter.Assignment) -> adapter.Launch:
        """Raises ConfigError without a command, MissingExtra if our client cannot run."""
        extras.need("acp", "the agent 'acp'")
        own = a.settings.acp
        if not own.command:
            raise ConfigError(
                "the agent is 'acp', but its command is not set",
                'Set agents.acp.command in .nobrakes/config.toml, for example ["gemini", "--acp"].',
            )
        if strange := [name for name in own.keys if name not in KEYS]:
            raise ConfigError(
                f"agents.acp.keys names {strange[0][:60]}, which is not a known key",
                f"Add the name to agents.environment instead. agents.acp.keys can have: {', '.join(KEYS)}.",
            )
        client = (sys.executable, "-I", "-m", "nobrakes.acp_client", os.path.join(a.folder, RUN))
        env = adapter.allowed(a, a.settings.acp.keys)
        return adapter.Launch(
            client,
            {**env, **adapter.identity(a), **adapter.UNATTENDED, "NOBRAKES_CANARY": adapter.self_test_path(a)},
            session=a.session if a.resume else None,
            files={RUN: json.dumps(run(a)).encode(), SYSTEM: a.system_prompt.encode(errors="replace")},
            prologue=(proof(a),),
            programs=(own.command[0],),
            reports_usage=True,
            greets=(*client, "--greet"),
        )


def run(a: adapter.Assignment) -> dict[str, object]:
    """nobrakes.acp_client.Run. It names variables and holds no secret."""
    server = adapter.mcp_server(a)
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


def proof(a: adapter.Assignment) -> tuple[str, ...]:
    refused = (("Bash", {"command": "git push"}), ("Write", {"file_path": ".git/hooks/canary"}))
    return adapter.self_test(a, "PreToolUse", refused, (("Bash", {"command": "git status"}),))
