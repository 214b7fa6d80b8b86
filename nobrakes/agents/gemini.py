"""Gemini CLI, unattended: how it is called.

1. Each run has its own home (GEMINI_CLI_HOME, in the run's folder) with our settings. Conversations are in
   .nobrakes/agents/gemini, a folder for each bead.
2. It must trust the repository, whose settings win over ours: so only nobrakes' MCP server starts, under an
   unpredictable name, no .env is read, and disabled hooks are noticed when the session begins.
3. GEMINI_API_KEY (or Vertex AI's variables) is used if set. Else the person's login is linked, not copied: the CLI
   renews its tokens.
4. GEMINI_CLI_NO_RELAUNCH: the first of two processes would ignore TERM.
5. We choose the session's id.
6. Outside a sandbox it may edit in the workspace and run what agents.worker.process allows.
"""

import json
import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..beads.model import Outcome
from . import adapter, output
from .adapter import LineKind, TranscriptLine

if TYPE_CHECKING:
    from ..config.sections import AgentSettings

# Text comes in pieces, one event each; there is no cost in the events.
_TEXT = 4000
_MAIN_INPUT = ("command", "file_path", "pattern", "dir_path", "path", "url", "query", "description")
TOKENS = {"input_tokens": "input_tokens", "output_tokens": "output_tokens", "cached": "cache_read_input_tokens"}


def events_used(raw: bytes) -> adapter.Use | None:
    """Usage of a message in the session's file."""
    event = output.parse(raw) if b'"tokens"' in raw else None
    total = output.tokens(output.mapping(event).get("tokens"), {"total": "total"}).get("total", 0)
    if event is None or event.get("type") != "gemini" or total <= 0:
        return None
    return adapter.Use(str(event.get("id")), total, total, at=output.moment(event.get("timestamp")))


def status(text: str) -> int | None:
    """The HTTP status in an API error's JSON."""
    start = text.find("{")
    try:
        found = json.JSONDecoder().raw_decode(text[start:])[0] if start >= 0 else None
    except (ValueError, RecursionError):
        return None
    code = output.mapping(output.mapping(found).get("error")).get("code")
    return code if isinstance(code, int) else None


def _transcript(event: Mapping[str, Any]) -> list[TranscriptLine]:
    kind = str(event.get("type"))
    if kind == "init":
        session = str(event.get("session_id", ""))
        return [output.lined(LineKind.NOTE, f"session {session}, model {event.get('model', '')}", {"session": session})]
    if kind == "message" and event.get("role") == "assistant":
        return [output.lined(LineKind.TEXT, str(event.get("content", "")), limit=_TEXT)]
    if kind == "tool_use":
        name, given = str(event.get("tool_name", "tool")), output.mapping(event.get("parameters"))
        what = next((str(given[key]) for key in _MAIN_INPUT if given.get(key)), "")
        return [output.called(name, what, {"tool": name, "id": str(event.get("tool_id", ""))})]
    if kind == "tool_result":
        data = {"id": str(event.get("tool_id", "")), "failed": event.get("status") != "success"}
        return [output.lined(LineKind.RESULT, output.message(event) or str(event.get("output") or "(no output)"), data)]
    if kind == "error":
        return [output.lined(LineKind.NOTE, output.message(event))]
    return _result(event) if kind == "result" else []


def _result(event: Mapping[str, Any]) -> list[TranscriptLine]:
    used = output.tokens(event.get("stats"), TOKENS)
    found = [output.lined(LineKind.USAGE, ", ".join(f"{n} {key}" for key, n in used.items()), used)]
    if event.get("status") != "success":
        said = output.message(event)
        found.append(output.lined(LineKind.LIMIT, f"API error: {said}", {"error": said}))
    return [*found, output.lined(LineKind.NOTE, f"ended: {event.get('status')}")]


# TERM ends it with 0 and without a result; after an API error it exits with the HTTP status modulo 256, which looks
# like a signal's. So a result is asked first.
_BY_CODE: Mapping[int, Outcome] = {
    41: Outcome.AUTH,
    42: Outcome.BAD_CONFIGURATION,
    44: Outcome.BAD_CONFIGURATION,
    52: Outcome.BAD_CONFIGURATION,
    53: Outcome.TURN_LIMIT,
    55: Outcome.BAD_CONFIGURATION,
    130: Outcome.INTERRUPTED,
}
_WORDING = output.worded(
    (r"api key not valid|API_KEY_INVALID|api key expired", Outcome.AUTH),
    (r"token count .* exceeds|exceeds the maximum number of tokens|context window", Outcome.CONTEXT_OVERFLOW),
    (r"exhausted your|quota exceeded|exceeded your current quota|RESOURCE_EXHAUSTED", Outcome.RATE_LIMITED),
    (r"max(?:imum)? session turns", Outcome.TURN_LIMIT),
    (r"billing", Outcome.BILLING),
    (r"INVALID_ARGUMENT", Outcome.INVALID_REQUEST),
    (r"models?/?\S* (?:is )?not found", Outcome.MODEL_UNAVAILABLE),
)
_LOOP = re.compile(r"loop detected", re.I)
_UNKNOWN = re.compile(r"unknown arguments?:", re.I)
_SESSION_GONE = ("Invalid session identifier", "No previous sessions found", "Error resuming session")
_FIRST = (Outcome.AUTH, Outcome.CONTEXT_OVERFLOW)
"""These come with status 400, which says nothing."""


@dataclass(slots=True)
class Read(output.Read):
    """What the events of one process came to."""

    stopped: str = ""  # what it said when it ended the run itself: its result tells of success nevertheless
    said_or_did: bool = False  # the model wrote a word or called a tool
    result: Mapping[str, Any] | None = None
    result_is_last: bool = False
    text: str = ""

    last = re.compile(rb'"type":\s*"result"')

    @classmethod
    def is_last(cls, event: Mapping[str, Any]) -> bool | None:
        kind = event.get("type")
        return kind == "result" if kind in ("result", "message", "tool_use", "tool_result") else None

    def take(self, event: Mapping[str, Any]) -> None:
        kind = event.get("type")
        if kind == "init":
            self.session = str(event.get("session_id") or "") or None
        elif kind == "result":
            self.result, self.result_is_last = event, True
            self.worked = self.worked or event.get("status") == "success"
            self.tokens = output.tokens(event.get("stats"), TOKENS)
        elif kind == "error" and _LOOP.search(output.message(event)):
            self.stopped = output.message(event)
        elif kind == "tool_use" or (kind == "message" and event.get("role") == "assistant"):
            self.worked, self.result_is_last = True, False
            text = str(event.get("content", ""))
            self.said_or_did = self.said_or_did or kind == "tool_use" or bool(text.strip())
            self.text = self.text + text if event.get("delta") is True else text

    def resets_at(self, end: adapter.AgentEnd, detail: str) -> float | None:
        return output.reset_time(f"{detail}\n{end.errors}", end.at)


def verdict_outcome(end: adapter.AgentEnd, read: Read) -> tuple[Outcome, str]:
    """Judge by the last result, its error and the exit code together."""
    if read.result is None or not read.result_is_last:
        return _without_result(end, read)
    if read.result.get("status") != "success":
        text = output.message(read.result)
        return _class_of(text, end.code), text
    if (signal := adapter.killed(end.code)) is not None:
        return Outcome.KILLED, f"{signal}, after the agent's result"
    if end.code not in (0, None):
        return Outcome.BAD_CONFIGURATION, f"the agent reported success, but exited with code {end.code}: {end.errors}"
    if read.stopped:
        return Outcome.CRASHED, f"the agent ended the run itself: {read.stopped}"
    if not read.said_or_did:
        return Outcome.EMPTY_OUTPUT, "the agent ended without an error, but its model did nothing"
    return output.ended_well(read.text)


def _without_result(end: adapter.AgentEnd, read: Read) -> tuple[Outcome, str]:
    own = _BY_CODE.get(end.code) if end.code is not None else None
    if end.code is None:
        return Outcome.LOST, adapter.UNSEEN
    signal = adapter.killed(end.code)
    if signal is not None and own is None:
        return Outcome.KILLED, signal
    if any(wording in end.errors for wording in _SESSION_GONE):
        own = Outcome.SESSION_LOST
    elif read.session is None and _UNKNOWN.search(end.errors):
        own = Outcome.VERSION_UNSUPPORTED
    if read.session is None:
        return output.not_started("Gemini CLI", end, own)
    found, detail = output.cut_off(end, "and no result")
    return own or found, detail


def _class_of(text: str, code: int | None) -> Outcome:
    wording = output.by_wording(_WORDING, text)
    if wording in _FIRST:
        return wording
    http = status(text) or (code + 256 if code is not None and code >= 400 - 256 else None)
    own = _BY_CODE.get(code) if code is not None else None
    if http in (400, 422):
        return wording or Outcome.INVALID_REQUEST
    return output.by_status(http) or own or wording or Outcome.CRASHED


ROLE_FILE = "nobrakes-role.md"
"""The role, read beside the prompt: in the CLI's own home, nothing of the repository."""

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


class Gemini(output.EventCli[Read]):
    """Gemini CLI 0.61 (`gemini`)."""

    name = "gemini"
    provider = "google"
    sessions = True
    credentials = (KEY, *VERTEX, "GEMINI_CLI_HOME")
    reads = Read
    transcript = staticmethod(_transcript)
    used = staticmethod(events_used)
    outcome = staticmethod(verdict_outcome)

    def login(self, env: Mapping[str, str], settings: "AgentSettings") -> adapter.Login | None:
        """None with Vertex AI, which has many kinds of logins."""
        if env.get("GOOGLE_GENAI_USE_VERTEXAI") == "true":
            return None
        file = os.path.join(_login_folder(env), LOGIN[0])
        return adapter.Login((KEY,), (file,), shlex.quote(settings.gemini.executable))

    def launch(self, a: adapter.Assignment) -> adapter.Launch:
        own = a.settings.gemini
        argv = [own.executable, "--output-format", "stream-json"]
        argv += ["--approval-mode", "yolo" if a.permitted is None else "auto_edit"]
        argv += ["--allowed-mcp-server-names", server_name(a)]
        if own.model:
            argv += [f"--model={own.model}"]
        argv += ["--resume" if a.resume else "--session-id", a.session]
        if a.stdin is None:
            argv += [f"--prompt={a.prompt}"]
        home = os.path.join(a.folder, "gemini", ".gemini")
        kept = os.path.join(a.env["NOBRAKES_HOME"], "agents", "gemini", a.bead, "tmp")
        login = _login_folder(a.env)
        names = LOGIN if method(a) == "oauth-personal" else ()
        return adapter.Launch(
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

    def _environment(self, a: adapter.Assignment) -> Mapping[str, str]:
        env = adapter.allowed(a, (KEY, *VERTEX))
        if method(a) == "gemini-api-key":
            # always said: else an .env of the repository could send the key elsewhere
            env["GOOGLE_GEMINI_BASE_URL"] = a.settings.gemini.base_url or API
        return {
            **env,
            **adapter.identity(a),
            **adapter.UNATTENDED,
            "GEMINI_CLI_HOME": os.path.join(a.folder, "gemini"),
            "GEMINI_CLI_NO_RELAUNCH": "true",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "NOBRAKES_CANARY": adapter.self_test_path(a),
        }


def _login_folder(env: Mapping[str, str]) -> str:
    return os.path.join(env.get("GEMINI_CLI_HOME") or env.get("HOME", "/"), ".gemini")


def policies(a: adapter.Assignment) -> dict[str, bytes]:
    """Its command policy where it asks; nobody is there to approve others."""
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


def method(a: adapter.Assignment) -> str:
    if a.env.get(KEY):
        return "gemini-api-key"
    return "vertex-ai" if a.env.get("GOOGLE_GENAI_USE_VERTEXAI") == "true" else "oauth-personal"


def hosts(a: adapter.Assignment) -> tuple[str, ...]:
    """Where the API is, and where a login is renewed."""
    how = method(a)
    if how == "gemini-api-key":
        return (a.settings.gemini.base_url or API,)
    if how == "vertex-ai":
        place = a.env.get("GOOGLE_CLOUD_LOCATION", "global")
        return (f"https://{place}-aiplatform.googleapis.com", "https://aiplatform.googleapis.com", LOGIN_API)
    return ("https://cloudcode-pa.googleapis.com", LOGIN_API)


def settings(a: adapter.Assignment) -> dict[str, Any]:
    """The settings of this run, with the guard at the session's start and before every tool."""
    server = adapter.mcp_server(a)
    variables = {name: f"${name}" for name in server.variables}  # looked up when the server is started
    one = {"command": server.argv[0], "args": server.argv[1:], "env": variables, "trust": True}
    one["timeout"] = adapter.TOOL_SECONDS * 1000
    hook = [{"hooks": [{"name": "nobrakes", "type": "command", "command": adapter.command(a), "timeout": 30_000}]}]
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


def server_name(a: adapter.Assignment) -> str:
    """Unique to this session, so that the repository cannot hold settings for it."""
    return f"{adapter.mcp_server(a).name}-{a.session.replace('-', '')[:12]}"


def proof(a: adapter.Assignment) -> tuple[str, ...]:
    refused = (
        ("run_shell_command", {"command": "git push"}),
        ("write_file", {"file_path": ".git/hooks/canary", "content": "x"}),
        ("replace", {"file_path": ".git/config", "old_string": "x", "new_string": "y"}),
    )
    return adapter.self_test(a, "BeforeTool", refused, (("run_shell_command", {"command": "git status"}),))
