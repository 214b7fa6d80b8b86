"""What every agent CLI is to nobrakes: an argv to start, lines to read, a verdict at the end.

1. An adapter does no I/O: it turns an Assignment into a Launch, bytes into Lines, an AgentEnd into a Verdict.
2. Success is what the adapter's own test says, never the exit code alone.
"""

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from ..core.bead import Role
from ..core.outcomes import Outcome
from ..core.transcript import Line

WORKER_TOOLS = ("Bash", "Read", "Edit", "Write", "Glob", "Grep")


class ScriptSection(Protocol):
    """`agents.script` of the config."""

    @property
    def command(self) -> tuple[str, ...]:
        """The argv."""
        ...


class ClaudeSection(Protocol):
    """`agents.claude` of the config."""

    @property
    def executable(self) -> str:
        """The command, by name or path."""
        ...

    @property
    def model(self) -> str:
        """The model's name; empty: the CLI's own choice."""
        ...

    @property
    def max_turns(self) -> int:
        """How many turns one run may take."""
        ...

    @property
    def max_budget_usd(self) -> float | None:
        """How much one run may cost."""
        ...

    @property
    def base_url(self) -> str:
        """Where the API is; empty: where the environment says."""
        ...


class Settings(Protocol):
    """The config's section `agents`, as far as adapters read it (nobrakes.config.AgentSettings)."""

    @property
    def environment(self) -> tuple[str, ...]:
        """Names of further variables that agents may see."""
        ...

    @property
    def script(self) -> ScriptSection:
        """Any command."""
        ...

    @property
    def claude(self) -> ClaudeSection:
        """Claude Code."""
        ...


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
    max_seconds: float
    tools: tuple[str, ...] = WORKER_TOOLS


@dataclass(frozen=True, slots=True)
class Launch:
    """What to start. `stdin` is a file, None stands for /dev/null; `session` is None where there are no sessions."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    stdin: str | None = None
    session: str | None = None


@dataclass(frozen=True, slots=True)
class AgentEnd:
    """How the process ended. `code` None: killed before it could write one; negative: by that signal.

    `lines` are those of its stdout, split at newlines only; of a long one the first 64 KB and the last 2 MB do.
    """

    code: int | None
    lines: Iterable[bytes]
    errors: str = ""  # the end of stderr


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the end means. `session`: what a later attempt may resume; None: it must start fresh."""

    outcome: Outcome
    detail: str
    session: str | None = None
    cost_usd: float | None = None
    tokens: Mapping[str, int] = field(default_factory=dict)
    resets_at: float | None = None  # when a usage limit ends, where the provider said so


class Adapter(Protocol):
    """One agent CLI."""

    @property
    def name(self) -> str:
        """What the config calls it."""
        ...

    @property
    def credentials(self) -> tuple[str, ...]:
        """The variables of the human's environment that this CLI alone is given."""
        ...

    def launch(self, a: Assignment) -> Launch:
        """The command of one attempt; ConfigError where the settings do not make one."""
        ...

    def lines(self, raw: bytes) -> tuple[Line, ...]:
        """What one line of stdout says to a reader; empty where it says nothing."""
        ...

    def verdict(self, end: AgentEnd) -> Verdict:
        """What the end of the process means for the attempt."""
        ...

    def refuses(self, head: bytes) -> str | None:
        """Why a run whose output begins with `head` must be stopped at once; None: nothing against it yet."""
        ...


def killed(code: int | None) -> str | None:
    """What killed a process with this exit code, or None: it ended by itself."""
    if code is None:
        return "it was killed before it could end"
    number = -code if code < 0 else code - 128
    if code < 0 or 128 < code <= 192:
        return f"it was killed by signal {number}"
    return None


def guard_argv() -> tuple[str, ...]:
    """The guard that comes with nobrakes: an absolute interpreter, without site and without the agent's PYTHON*."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return (sys.executable, "-I", "-S", os.path.join(package, "hooks", "guard.py"))
