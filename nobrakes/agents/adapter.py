"""What every agent CLI is to nobrakes: an argv to start, lines to read, a verdict at the end.

1. An adapter does no I/O: it turns an Assignment into a Launch, bytes into Lines, an AgentEnd into a Verdict.
2. Success is what the adapter's own test says, never the exit code alone.
"""

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urlsplit

from ..core.beads.bead import Role
from ..core.beads.outcomes import Outcome
from ..core.errors import ConfigError
from ..core.transcript import Line
from .settings import Settings

MAX_ARGUMENT = 100_000  # bytes; the system's limit for one argument is 128 KiB
WORKER_TOOLS = ("Bash", "Read", "Edit", "Write", "Glob", "Grep")


@dataclass(frozen=True, slots=True)
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
    settings: Settings
    system_prompt: str
    guard: tuple[str, ...]  # argv of the guard; `--canary` after it makes it say that it is there
    tools: tuple[str, ...] = WORKER_TOOLS
    permitted: tuple[tuple[str, ...], ...] | None = None
    """Beginnings of the commands that the CLI's own permissions let through; None: they are off
    (core.policy.agent_permissions).
    """

    @property
    def stdin(self) -> str | None:
        """The prompt's file, where the prompt is too long for an argument."""
        return self.prompt_file if len(self.prompt.encode(errors="replace")) > MAX_ARGUMENT else None


@dataclass(frozen=True, slots=True)
class Launch:
    """What to start. `stdin` is a file, None stands for /dev/null; `session` is None where it is not known in advance.

    `files` are written into the Assignment's folder, readable by nobody else, and the commands of `prologue` must
    succeed before anything is started.
    """

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
    tells: bool = False  # its stdout may tell how full the context is, and how many it holds
    diary: tuple[str, str] | None = None  # (folder, glob) of the files in which it tells of its calls, if not in stdout
    hosts: tuple[str, ...] = ()  # addresses (https://…) of its provider: the hosts that a sandbox lets it reach


@dataclass(frozen=True, slots=True)
class AgentEnd:
    """How the process ended. `code` None: nobody saw its exit code, so its output alone can say; negative: by signal.

    `lines` are those of its stdout, split at newlines only; of a long one the first 64 KB and the last 2 MB do.
    `canary` is what the guard left in the run's folder, `at` when it ended.
    """

    code: int | None
    lines: Iterable[bytes]
    errors: str = ""  # the end of stderr
    self_test: str = ""
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the end means. `session`: what a later attempt may resume; None: it must start fresh."""

    outcome: Outcome
    detail: str
    session: str | None = None
    cost_usd: float | None = None
    tokens: Mapping[str, int] = field(default_factory=dict)
    resets_at: float | None = None  # when a usage limit ends, where the provider said so
    unsure: bool = False  # its last line is torn: nobody knows whether it had finished; what it committed is judged


@dataclass(frozen=True, slots=True)
class Use:
    """What one call of the model took. `call` is its id: several lines may tell of one."""

    call: str
    tokens: int  # read and written
    context: int  # in the model's context after it; 0: not told
    window: int = 0  # how many that holds; 0: not told
    at: float = 0.0  # seconds since the epoch; 0: not told


@dataclass(frozen=True, slots=True)
class Login:
    """What shows that somebody is logged in: one of the variables is set, or one of the files is there.

    Whether a login still holds is known only by using it. `command` logs in.
    """

    variables: tuple[str, ...]
    files: tuple[str, ...]
    command: str


class Adapter(Protocol):
    """One agent CLI."""

    @property
    def name(self) -> str:
        """What the config calls it."""
        ...

    @property
    def provider(self) -> str:
        """Who answers it, and may refuse: agents of one provider share its gate."""
        ...

    @property
    def credentials(self) -> tuple[str, ...]:
        """The variables of the human's environment that this CLI alone is given."""
        ...

    @property
    def sessions(self) -> bool:
        """Whether a later run can go on with the session of an earlier one."""
        ...

    @property
    def steering(self) -> tuple[str, ...]:
        """Globs of its instructions and settings in a repository: a person's, wherever they lie."""
        ...

    def login(self, env: Mapping[str, str], settings: Settings) -> Login | None:
        """How a login would show under this environment; None: it needs none, or nothing of it can be seen."""
        ...

    def launch(self, a: Assignment) -> Launch:
        """The command of one attempt; ConfigError where the settings do not make one."""
        ...

    def lines(self, raw: bytes) -> tuple[Line, ...]:
        """What one line of stdout says to a reader; empty where it says nothing."""
        ...

    def used(self, raw: bytes) -> Use | None:
        """What a line of its diary, or of stdout where it has none, tells of a call of the model; None: nothing."""
        ...

    def verdict(self, end: AgentEnd) -> Verdict:
        """What the end of the process means for the attempt."""
        ...

    def has_begun(self, lines: Iterable[bytes]) -> bool:
        """Whether the output shows that its session began; one that tells of none has begun with its process."""
        ...

    def finished(self, tail: bytes) -> bool:
        """Whether an output that ends with `tail` says that the agent has come to its end, though it may live on."""
        ...

    def refuses(self, head: bytes, self_test: str = "") -> str | None:
        """Why a run whose output begins with `head` must be stopped at once; None: nothing against it yet.

        `canary` is what the guard had left in the run's folder before `head` was read.
        """
        ...

    def guarded(self, head: bytes, self_test: str = "") -> bool:
        """Whether the guard has answered, or there is none: nothing can be held against the run any more."""
        ...

    def session(self, lines: Iterable[bytes]) -> str | None:
        """The id by which a later run can go on with the session of this output; None: there is none."""
        ...


def host_of(url: str) -> str:
    """`name:port` of an address; ConfigError where it is none."""
    try:
        found = urlsplit(url)
        port = found.port or {"https": 443, "http": 80}[found.scheme]
        name = found.netloc.rpartition("@")[2].removesuffix(f":{found.port}").lower()
    except (KeyError, ValueError):
        name, port = "", 0
    if not name:
        raise ConfigError(f"'{url[:200]}' is no address of a provider", "It has to begin with https:// or http://.")
    return f"{name}:{port}"


def killed(code: int | None) -> str | None:
    """What killed a process with this exit code, or None: it ended by itself, or nobody saw how."""
    if code is None:
        return None
    number = -code if code < 0 else code - 128
    if code < 0 or 128 < code <= 192:
        return f"it was killed by signal {number}"
    return None


UNSEEN = "it ended unseen, and its output does not say how"
"""The detail of a Verdict `lost`: there is no exit code, and no words that take its place."""


def guard_argv() -> tuple[str, ...]:
    """The guard that comes with nobrakes: an absolute interpreter, without site and without the agent's PYTHON*."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return (sys.executable, "-I", "-S", os.path.join(package, "hooks", "guard.py"))
