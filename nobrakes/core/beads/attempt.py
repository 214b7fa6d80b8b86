"""Attempts and the child processes they run.

1. An attempt is one run of one role on one bead: the unit of history, cost and blame.
2. It holds the bead by a name, a lease and a fence; a write under an older fence is refused.
3. It has at most one child process (a Run) at a time: the agent, then perhaps proofs; or a validation.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from .bead import Role, Status
from .outcomes import Outcome

UNSURE = "unsure"
"""In an attempt's data: why nobody is sure that it had finished; what it committed was handed in all the same."""
FORK = "fork"
"""In an attempt's data: the commit of main under what it began on."""


class RunKind(StrEnum):
    """What a child process is for."""

    AGENT = "agent"
    RED_PROOF = "red_proof"
    CHEAT = "cheat"
    VALIDATION = "validation"


@dataclass(frozen=True, slots=True)
class AttemptLog:
    """What an attempt leaves for the next one (B24). All of it is untrusted text."""

    summary: str = ""
    blockers: str = ""
    learnings: str = ""
    keep_branch: bool = True


@dataclass(frozen=True, slots=True)
class Attempt:
    """One run of one role on one bead. Ended when `outcome` is set."""

    id: int
    bead: str
    number: int  # counts this bead's attempts of every role, from 1
    role: Role
    name: str
    fence: int
    token: str
    started_at: float
    agent: str = "script"
    base: str | None = None  # commit that the branch started from
    head: str | None = None  # commit that the attempt handed in
    ended_at: float | None = None
    outcome: Outcome | None = None
    detail: str = ""
    log: AttemptLog = field(default_factory=AttemptLog)
    data: Mapping[str, Any] = field(default_factory=dict)  # the review's journal; the agent's session
    provider: str = ""
    model: str = ""  # empty: the agent's own choice
    cost_usd: float = 0.0
    tokens: int = 0
    session: int | None = None  # the conversation that it works in; None: it has none yet
    provider_session: str | None = None  # the CLI's own id of that; None: not known yet


@dataclass(frozen=True, slots=True)
class Run:
    """A child process: planned before it is started, so that a crash between leaves a trace.

    It is of an attempt, of a session's turn, or (both 0) of the machine itself.
    """

    id: str  # "<attempt>-<n>" or "s<turn>-agent": file names, and the mark in the child's environment
    attempt: int
    kind: RunKind
    started_at: float
    pid: int | None = None  # None: planned, perhaps never started
    born: str = ""  # boot id and start time: a pid alone may be reused
    hard_deadline: float = 0.0
    idle_seconds: float = 0.0  # 0: only the hard deadline counts
    active_at: float = 0.0
    sampled_at: float = 0.0  # when somebody last looked for signs of life; 0: nobody did
    activity: str = ""  # fingerprint of what was last seen: output, files, commits, CPU
    stopping: Outcome | None = None  # why it is being stopped
    term_at: float | None = None
    turn: int = 0


@dataclass(frozen=True, slots=True)
class Frontier:
    """One bead that waits for somebody: just what the deciders need, never the whole bead."""

    id: str
    status: Status
    type: str
    priority: int
    failures: int
    retry_at: float | None = None
    rank: int = 0  # the class that it competes in (core.graph.ranks)
    touches: tuple[str, ...] = ()  # globs of the files that it will change
