"""What every agent CLI is to nobrakes: an argv, lines to read, and a verdict. And the guard that its hooks call.

An adapter does no I/O. Success is what its own test says, never the exit code alone.

1. Hooks of agent CLIs fail open, so the command turns every failure of the guard into exit 2: no.
2. One command serves the start of a session and each tool call, so that neither can be switched off alone.
3. A run begins only after that command, in the CLI's dialect, refused a push and a write to git's folder and allowed a
   harmless call. At the session's start it leaves its canary; without it the run is stopped.
"""

import json
import os
import re
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, cast

from ..beads.model import Outcome, Role
from ..errors import ConfigError
from ..records import frozen

if TYPE_CHECKING:
    from ..config.sections import AgentSettings

# What agents say: lines for readers, and the exit marker for the machine.
#
# 1. An agent's last words hold one line `NOBRAKES: <marker>`, alone on its line, case-sensitive; code fences are
#    not read. A fence that is never closed is not a fence.
# 2. The same marker twice is that marker; two different ones are a Contradiction, and nobody guesses.
# 3. Everything that agents wrote goes through text.cleaning before a person or another agent sees it.

PREFIX = "NOBRAKES: "


class LineKind(StrEnum):
    """What a line of a transcript is."""

    TEXT = "text"
    TOOL_CALL = "tool_call"
    RESULT = "result"
    THINKING = "thinking"
    USAGE = "usage"
    COST = "cost"
    LIMIT = "limit"
    NOTE = "note"


@frozen
class TranscriptLine:
    """One thing an agent said or did. `text` is clean and short; `data` holds JSON values."""

    kind: LineKind
    text: str
    data: Mapping[str, Any] = field(default_factory=dict)


class Marker(StrEnum):
    """How an agent says that it stops."""

    COMPLETED = "COMPLETED"
    CONTEXT_EXHAUSTED = "CONTEXT_EXHAUSTED"
    BLOCKED = "BLOCKED"
    FAILED = "FAILED"


@frozen
class Contradiction:
    """Different markers in one text, in order."""

    markers: tuple[Marker, ...]


OUTCOMES: Mapping[Marker, Outcome] = {
    Marker.COMPLETED: Outcome.COMPLETED,
    Marker.CONTEXT_EXHAUSTED: Outcome.GAVE_UP_CONTEXT,
    Marker.BLOCKED: Outcome.BLOCKED,
    Marker.FAILED: Outcome.GAVE_UP_TESTS,
}

_MARKERS = {PREFIX + marker.value: marker for marker in Marker}
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


def _outside_fences(lines: list[str]) -> list[str]:
    """Linear in the lines: an agent may open a million fences and close none."""
    outside: list[str] = []
    fences = [(place, found) for place, line in enumerate(lines) if (found := _FENCE.fullmatch(line))]
    longest = _max_lengths(fences)
    place = 0
    for number, (begin, opening) in enumerate(fences):
        if begin < place or (opening[1][0] == "`" and "`" in opening[2]):
            continue
        if longest[number + 1][opening[1][0]] < len(opening[1]):
            continue  # none of the later ones closes it
        outside += lines[place:begin]
        later = (fences[at] for at in range(number + 1, len(fences)))
        place = next(at for at, end in later if not end[2].strip() and end[1].startswith(opening[1])) + 1
    return outside + lines[place:]


def _max_lengths(fences: "list[tuple[int, re.Match[str]]]") -> list[dict[str, int]]:
    longest = [{"`": 0, "~": 0}]
    for _, found in reversed(fences):
        kind = found[1][0]
        more = not found[2].strip() and len(found[1]) > longest[-1][kind]
        longest.append({**longest[-1], kind: len(found[1])} if more else longest[-1])
    return longest[::-1]


def read_marker(text: str) -> Marker | Contradiction | None:
    """None: no marker."""
    lines = [line.rstrip() for line in text.split("\n")]
    found: list[Marker] = []
    for line in _outside_fences(lines):
        marker = _MARKERS.get(line)
        if marker is not None and marker not in found:
            found.append(marker)
    if not found:
        return None
    return found[0] if len(found) == 1 else Contradiction(tuple(found))


def marker_outcome(found: Marker | Contradiction | None) -> Outcome | None:
    if found is None:
        return None
    return Outcome.CONTRADICTED_ITSELF if isinstance(found, Contradiction) else OUTCOMES[found]


MAX_ARGUMENT = 100_000  # bytes; the system's limit for one argument is 128 KiB
WORKER_TOOLS = ("Bash", "Read", "Edit", "Write", "Glob", "Grep")


@frozen
class Assignment:
    """One attempt, as an adapter needs it. Paths are absolute."""

    role: Role
    bead: str
    worker: str
    attempt: int
    prompt: str
    prompt_file: str  # holds `prompt`
    workspace: str  # the private clone; the child's cwd
    folder: str  # the run's own folder, for private files
    session: str  # a UUID that nobrakes chose
    resume: bool
    env: Mapping[str, str]  # the daemon's environment and the NOBRAKES_* variables
    settings: "AgentSettings"
    system_prompt: str
    guard: tuple[str, ...]  # argv of the guard; `--canary` after it makes it say that it is there
    tools: tuple[str, ...] = WORKER_TOOLS
    permitted: tuple[tuple[str, ...], ...] | None = None
    """Prefixes of the commands that the CLI's own permissions allow; None: they are off (agents.worker.process)."""

    @property
    def stdin(self) -> str | None:
        return self.prompt_file if len(self.prompt.encode(errors="replace")) > MAX_ARGUMENT else None


@frozen
class Launch:
    """What to start. `stdin` is a file, None means /dev/null; `session` is None if not known in advance. `files` are
    written into the Assignment's folder, private; the `prologue` must succeed before the start."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    stdin: str | None = None
    session: str | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    prologue: tuple[tuple[str, ...], ...] = ()
    programs: tuple[str, ...] = ()  # beside argv[0], by name or path: what a sandbox lets in to be started
    writes: tuple[str, ...] = ()  # folders of its own state that a sandbox lets in; made where they are missing
    login: tuple[tuple[str, str], ...] = ()  # (the human's file, where a sandbox has its copy: in what it may write)
    confined: Mapping[str, str] = field(default_factory=dict)  # variables for a sandbox alone; nothing secret
    context_tokens: int = 0  # how many the model's context holds, where that is known before
    reports_usage: bool = False  # its stdout may tell how full the context is, and how many it holds
    diary: tuple[str, str] | None = None  # (folder, glob) of the files in which it tells of its calls, if not in stdout
    greets: tuple[str, ...] = ()  # argv that starts the agent, sees that it answers, and ends it, without a prompt
    hosts: tuple[str, ...] = ()  # addresses (https://…) of its provider: the hosts that a sandbox lets it reach


@frozen
class AgentEnd:
    """How the process ended. `code`: None if unknown, then only its output can tell; negative: by signal. `lines`: its
    stdout split at newlines; of a long one the first 64 KB and the last 2 MB. `canary`: what the guard left in the
    run's folder, `at`: when it ended."""

    code: int | None
    lines: Iterable[bytes]
    errors: str = ""  # the end of stderr
    self_test: str = ""
    at: float = 0.0


@frozen
class Verdict:
    """The meaning of the end. `session`: what a later attempt may resume; None: it must start fresh."""

    outcome: Outcome
    detail: str
    session: str | None = None
    cost_usd: float | None = None
    tokens: Mapping[str, int] = field(default_factory=dict)
    resets_at: float | None = None  # when a usage limit ends, where the provider said so
    unsure: bool = False  # its last line is torn: nobody knows whether it had finished; what it committed is judged


@frozen
class Use:
    """Tokens of one model call. `call` is its id: several lines may report the same call."""

    call: str
    tokens: int  # read and written
    context: int  # in the model's context after it; 0: not told
    window: int = 0  # how many that holds; 0: not told
    at: float = 0.0  # seconds since the epoch; 0: not told


@frozen
class Login:
    """Evidence of a login: a set variable or a file; only use shows whether it still holds. `command` logs in."""

    variables: tuple[str, ...]
    files: tuple[str, ...]
    command: str


class Adapter(Protocol):
    """One agent CLI."""

    @property
    def name(self) -> str: ...

    @property
    def provider(self) -> str:
        """Agents of one provider share its cooldown."""

    @property
    def credentials(self) -> tuple[str, ...]:
        """Variables of the person's environment that only this CLI gets."""

    @property
    def sessions(self) -> bool: ...

    def login(self, env: Mapping[str, str], settings: "AgentSettings") -> Login | None:
        """None: it needs no login, or its login is invisible."""

    def launch(self, a: Assignment) -> Launch:
        """Raises ConfigError."""

    def lines(self, raw: bytes) -> tuple[TranscriptLine, ...]: ...

    def used(self, raw: bytes) -> Use | None:
        """Usage in a line of its session file, or of stdout if it has none."""

    def verdict(self, end: AgentEnd) -> Verdict: ...

    def has_begun(self, lines: Iterable[bytes]) -> bool:
        """Whether the output shows a session; without such events a session begins with its process."""

    def finished(self, tail: bytes) -> bool:
        """Whether an output ending with `tail` shows that the agent finished, though its process may live on."""

    def refuses(self, head: bytes, self_test: str = "") -> str | None:
        """Why a run with this output must be stopped now; None: no reason yet. `self_test`: what the guard had left in
        the run's folder before `head` was read."""

    def guarded(self, head: bytes, self_test: str = "") -> bool:
        """Whether the guard has answered, or there is none."""

    def session(self, lines: Iterable[bytes]) -> str | None:
        """The id by which a later run can resume this session."""


def host_of(url: str) -> str:
    """The host that a URL names. Raises ConfigError."""
    from urllib.parse import urlsplit  # costs 2 ms, and questions about agents name no address

    try:
        found = urlsplit(url)
        port = found.port or {"https": 443, "http": 80}[found.scheme]
        name = found.netloc.rpartition("@")[2].removesuffix(f":{found.port}").lower()
    except (KeyError, ValueError):
        name, port = "", 0
    if not name:
        raise ConfigError(
            f"'{url[:200]}' is not a provider's address", "The address must begin with https:// or http://."
        )
    return f"{name}:{port}"


def killed(code: int | None) -> str | None:
    """The signal behind this exit code; None: it ended by itself, or unseen."""
    if code is None:
        return None
    number = -code if code < 0 else code - 128
    return f"the agent was killed by signal {number}" if code < 0 or 128 < code <= 192 else None


UNSEEN = "the agent ended without a trace: nobrakes did not see its exit code, and its output does not show it"
"""The detail of a Verdict `lost`: there is no exit code, and no words that take its place."""


def guard_argv() -> tuple[str, ...]:
    """The guard that comes with nobrakes: an absolute interpreter, without site and without the agent's PYTHON*."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return (sys.executable, "-I", "-S", os.path.join(package, "hooks", "guard.py"))


class WithoutSessions:
    """The adapter without resuming: for a version that failed to resume, or is untried."""

    sessions = False

    def __init__(self, whole: Adapter) -> None:
        self.whole = whole

    def __getattr__(self, name: str) -> Any:
        return getattr(self.whole, name)

    def verdict(self, end: AgentEnd) -> Verdict:
        return replace(self.whole.verdict(end), session=None)

    def session(self, lines: Iterable[bytes]) -> str | None:
        return None


def without_sessions(whole: Adapter) -> Adapter:
    return cast(Adapter, WithoutSessions(whole))


# An agent CLI gets this list, what `agents.environment` names, and NOBRAKES_*: nothing that makes git or a CLI read
# another repository or configuration (GIT_DIR, CLAUDE*). A script gets what the daemon gives it.
_NAMES = """
PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TERM TMPDIR TMP TEMP NO_COLOR
XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_RUNTIME_DIR
SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS
HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy all_proxy
GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
GIT_CONFIG_NOSYSTEM GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM
VIRTUAL_ENV PYTHONDONTWRITEBYTECODE PYENV_ROOT PYENV_VERSION UV_CACHE_DIR PIP_CACHE_DIR
NVM_DIR NVM_BIN VOLTA_HOME PNPM_HOME GOPATH GOROOT GOCACHE CARGO_HOME RUSTUP_HOME JAVA_HOME
"""

PASSED_ON = frozenset(_NAMES.split())
"""Variables of the daemon's environment that an agent CLI may see."""

UNATTENDED = {"CI": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "true"}
"""Answers to prompts and editors in an unattended run."""

_PREFIXES = ("NOBRAKES_", "LC_")


def identity(a: Assignment) -> dict[str, str]:
    return {
        "NOBRAKES_ROLE": a.role.value,
        "NOBRAKES_BEAD": a.bead,
        "NOBRAKES_NAME": a.worker,
        "NOBRAKES_ATTEMPT": str(a.attempt),
        "NOBRAKES_WORKSPACE": a.workspace,
        "NOBRAKES_PROMPT": a.prompt_file,
    }


def allowed(a: Assignment, also: Iterable[str] = ()) -> dict[str, str]:
    names = PASSED_ON.union(a.settings.environment, also)
    return {key: value for key, value in a.env.items() if key in names or key.startswith(_PREFIXES)}


SELF_TEST = "nobrakes-guard: ready"
SELF_TEST_FILE = "guard.ready"
NOT_GUARDED = "the guard did not answer before the session started"
SELF_TEST_FAILED = "nobrakes-guard: the self-test failed:"


def answered(self_test: str) -> bool:
    return self_test.strip() == SELF_TEST


Call = tuple[str, dict[str, str]]

_SELF_TEST = r"""
command=$1 said=$2
shift 2
while [ "$#" -gt 1 ]; do
    printf '%s' "$2" | /bin/sh -c "$command" >/dev/null 2>&1
    code=$?
    [ "$code" -eq "$1" ] || { echo "$said exit code $code instead of $1 for $2"; exit 1; }
    shift 2
done
"""


def command(a: Assignment) -> str:
    return f"{shlex.join(a.guard)} || exit 2"


def self_test_path(a: Assignment) -> str:
    return os.path.join(a.folder, SELF_TEST_FILE)


def self_test(a: Assignment, event: str, refused: Sequence[Call], allowed: Sequence[Call]) -> tuple[str, ...]:
    """A command that fails unless the hook refuses `refused` and passes `allowed`."""
    words = []
    for code, calls in ((2, refused), (0, allowed)):
        for tool, given in calls:
            call = {"hook_event_name": event, "cwd": a.workspace, "tool_name": tool, "tool_input": given}
            words += [str(code), json.dumps(call)]
    # the run's own environment; the prologue of a run has it already
    return ("/bin/sh", "-c", _SELF_TEST, "self-test", command(a), SELF_TEST_FAILED, *words)


def self_test_failed(prologue: str) -> str | None:
    found = [line for line in prologue.splitlines() if line.startswith(SELF_TEST_FAILED)]
    return found[-1] if found else None


# Only names are told: everybody on the machine can read a command line. A CLI that does not hand its environment on is
# told these names in its own way (Claude: inherited; Codex: `env_vars`; Gemini: `$NAME`).
NAME = "nobrakes"
VARIABLES = ("NOBRAKES_HOME", "NOBRAKES_TOKEN", "NOBRAKES_WORKSPACE", "NOBRAKES_DOOR", "NOBRAKES_CHECKS")
TOOL_SECONDS = 3900
"""Limit of one tool call where the CLI has one: longer than an agent may wait for a person."""


@frozen
class StdioServer:
    """An MCP server on stdin and stdout: `argv` with these variables of the agent's own environment."""

    name: str
    argv: tuple[str, ...]
    variables: tuple[str, ...]


def mcp_server(a: Assignment) -> StdioServer:
    return StdioServer(NAME, (os.path.join(a.env["NOBRAKES_HOME"], "bin", "nobrakes"), "mcp"), VARIABLES)
