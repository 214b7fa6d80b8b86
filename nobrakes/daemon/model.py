"""The snapshot that deciders read: waiting, running and overdue work. Never the whole graph.

1. The store hands over only the front of each queue, so a tick costs what changed and not what exists.
2. `AgentChoice` says who may work in which role: agents in order of preference, for all beads or those of one type.
"""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING

from ..agents.limits import Breaker, Caps, Cooldown, MachineRoom, Reached, Spent, Thresholds
from ..beads.model import Attempt, BeadType, Outcome, ReadyBead, Role, Run
from ..decisions.model import EscalationType
from ..records import frozen
from ..review.journal import Pace, Rules
from ..sessions.model import Session, Talk

if TYPE_CHECKING:
    from ..decisions.blockers import Blocker

COMPARED = "compared"
"""The setting: main's commit up to which store and main agree."""
FROZEN = "frozen"
"""The setting: main's commit that is red, while nothing is merged."""
WATCH = "canary"
"""The setting with the state of main's monitor (review.main_monitor), and the prefix of its runs' names."""


@frozen
class AgentChoice:
    """Agents by role, the preferred first; `by_type` overrides a role for a type of bead."""

    by_role: Mapping[str, tuple[str, ...]] = field(
        default_factory=lambda: {Role.TEST_WRITER.value: ("claude",), Role.DOER.value: ("claude",)}
    )
    by_type: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)

    def agents(self, role: Role, type_: str) -> tuple[str, ...]:
        return self.by_type.get(type_, {}).get(role.value) or self.by_role.get(role.value, ())

    def names(self) -> tuple[str, ...]:
        found = [name for agents in self.by_role.values() for name in agents]
        found += [name for roles in self.by_type.values() for agents in roles.values() for name in agents]
        return tuple(dict.fromkeys(found))


class Starts(StrEnum):
    """Which beads may start: before a run's first agent main has to pass, or a person allows it. 1. Nothing starts
    before main's tip was tried; a tree that passed the same checks counts. 2. On a red main only a `repair` starts. 3.
    Without checks, or with unrunnable ones, only scaffolding and repairs start. 4. Without test files and collected
    tests agents start: the first bead brings tests. 5. A check that fails without counting a test says nothing of main:
    its runner is missing or broken."""

    OPEN = "open"
    UNTRIED = "untried"  # none yet: main is being tried
    REPAIRS = "repairs"
    SCAFFOLDING = "scaffolding"  # and repairs


@frozen
class Limits:
    """What a person may change at runtime."""

    doers: int = 4
    sessions: int = 2
    max_failures: int = 3
    agent_seconds: float = 3600.0
    idle_seconds: float = 600.0
    grace_seconds: float = 10.0
    linger_seconds: float = 10.0
    lease_seconds: float = 120.0
    agent_choice: AgentChoice = field(default_factory=AgentChoice)
    breaker: Thresholds = field(default_factory=Thresholds)
    caps: Caps = field(default_factory=Caps)
    context_share: float = 0.8
    failed_rounds: int = 3  # 0: as many as they like
    agents_mb: int = 0  # no agent starts while those at work hold so much memory; 0: as much as they like
    queue: Rules = field(default_factory=Rules)
    approve: str = "labelled"  # whose merge waits for a person's approval (review.journal)
    starts: Starts = Starts.OPEN  # which beads may be started: what the trial of main says
    elsewhere: tuple[str, ...] = ()  # epics whose work is for another branch than main


@frozen
class Board:
    """A snapshot. `ready` and `to_review` are in their order of starting."""

    now: float
    limits: Limits = field(default_factory=Limits)
    ready: tuple[ReadyBead, ...] = ()
    to_review: tuple[ReadyBead, ...] = ()
    attempts: tuple[Attempt, ...] = ()  # those that have not ended
    runs: Mapping[int, Run] = field(default_factory=dict)  # by attempt
    sessions: tuple[Session, ...] = ()  # that are not an attempt's, and whose next turn may begin
    talks: tuple[Talk, ...] = ()  # the turns that have not ended
    turn_runs: Mapping[int, Run] = field(default_factory=dict)  # by turn
    pace: Pace = field(default_factory=Pace)
    taken: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by bead at work: globs that it may change
    epics_done: tuple[str, ...] = ()  # live epics without an open child
    epics_landed: tuple[str, ...] = ()  # live epics whose beads have landed on their branches, or are closed
    labelled: Mapping[str, str] = field(default_factory=dict)  # bead to who has the label that asks for an approval
    to_approve: Mapping[str, int] = field(default_factory=dict)  # bead to its open question about its merge
    paused: bool = False  # nothing new is started; what runs goes on
    frozen: bool = False  # main is red, or its set-up fails: no review starts or lands there
    elsewhere: frozenset[str] = frozenset()  # on a red main: what goes on in `to_review` beside beads of type repair
    stopping: bool = False  # agents are being stopped; nothing new is started
    stop_asked: frozenset[int] = frozenset()  # attempts that a person asked to stop, one by one
    blocked: frozenset[int] = frozenset()  # attempts that cannot go on, and whose question is open
    gates: Mapping[str, Cooldown] = field(default_factory=dict)  # by provider: closed, or not proven open yet
    providers: Mapping[str, str] = field(default_factory=dict)  # agent to provider, as their adapters say
    models: Mapping[tuple[str, str], str] = field(default_factory=dict)  # of agent and role, as the settings say
    breakers: Mapping[tuple[str, str], Breaker] = field(
        default_factory=dict
    )  # of the beads in `ready`: by owner and provider
    spent: Spent = field(default_factory=Spent)
    contexts: Mapping[int, float] = field(default_factory=dict)  # by attempt: how full, where its agent can tell
    finished: Mapping[str, float] = field(default_factory=dict)  # by run whose agent has finished: when it is ended
    failed_rounds: Mapping[int, int] = field(default_factory=dict)  # by attempt: test rounds in a row that failed alike
    machine: MachineRoom | None = None  # what all repositories share; None: nothing is limited so
    no_nodes: "Blocker | None" = None  # why no agent starts on a node (fleet)
    node_seconds: float = 0.0  # how often work that is there looks at the nodes; 0: it uses none
    memory_mb: int = 0  # that agents hold now, where that is limited (agents.limits)
    wake_at: float | None = None  # the next retry or deferral that comes due
    retry_at: float | None = None  # the next retry alone: deferrals may be days away
    _works: dict[int, Attempt | Talk] = field(default_factory=dict, init=False, compare=False)
    """By attempt, and by turn below zero; made when it is first asked for."""
    _all_runs: list[tuple[Run, ...]] = field(default_factory=list, init=False, compare=False)

    @property
    def all_runs(self) -> tuple[Run, ...]:
        if not self._all_runs:
            self._all_runs.append((*self.runs.values(), *self.turn_runs.values()))
        return self._all_runs[0]

    @property
    def reviewable(self) -> tuple[ReadyBead, ...]:
        if not self.frozen:
            return self.to_review
        return tuple(bead for bead in self.to_review if bead.type == BeadType.REPAIR or bead.id in self.elsewhere)

    @property
    def agents(self) -> tuple[Attempt | Talk, ...]:
        return (*(one for one in self.attempts if one.role is not Role.REVIEWER), *self.talks)

    def work_of(self, run: Run) -> Attempt | Talk | None:
        """None: its work is over."""
        return self._by_number().get(-run.turn if run.turn else run.attempt)

    def attempt(self, number: int) -> Attempt | None:
        """The open attempt of this number."""
        found = self._by_number().get(number)
        return None if isinstance(found, Talk) else found

    def _by_number(self) -> Mapping[int, Attempt | Talk]:
        if not self._works:
            self._works.update({one.id: one for one in self.attempts})
            self._works.update({-one.turn.id: one for one in self.talks if one.session.ended_at is None})
        return self._works

    def is_stop_asked(self, work: Attempt | Talk) -> bool:
        return work.session.stop_asked if isinstance(work, Talk) else work.id in self.stop_asked


@frozen
class StartAgent:
    """Claim the bead for the role and start this agent."""

    bead: str
    role: Role
    agent: str


@frozen
class StartTurn:
    """Begin the next turn of this session."""

    session: int


@frozen
class ResumeTurn:
    """Continue a turn without a child process, after a crash."""

    turn: int


@frozen
class StartReview:
    """Claim the bead for the Reviewer."""

    bead: str


@frozen
class AskPerson:
    """A person has to decide before the bead starts."""

    bead: str
    type: EscalationType
    title: str
    detail: str


@frozen
class TellCap:
    """Report a reached cap once in its period."""

    reached: Reached


@frozen
class GoOnUnapproved:
    """The merge of this escalation no longer needs approval; `why`: in words."""

    escalation: int
    why: str


@frozen
class Resume:
    """Continue an attempt without a child process: a review's next step, or after a crash."""

    attempt: int


@frozen
class LandEpic:
    """Review the epic as a whole: its beads are on its branch."""

    epic: str


@frozen
class CompleteEpic:
    """Close the epic: its children are done."""

    epic: str


@frozen
class Terminate:
    """Send TERM to the run's process tree, with the reason."""

    run: str
    why: Outcome


@frozen
class Kill:
    """The grace is over: send KILL to the run's process tree."""

    run: str


@frozen
class Sample:
    """Look for signs of life: output, changed files, commits, child CPU."""

    run: str


@frozen
class RenewLeases:
    """Prolong the leases of this daemon's attempts."""

    attempts: tuple[int, ...]


Action = (
    StartAgent
    | StartTurn
    | ResumeTurn
    | StartReview
    | AskPerson
    | TellCap
    | Resume
    | CompleteEpic
    | LandEpic
    | GoOnUnapproved
    | Terminate
    | Kill
    | Sample
    | RenewLeases
)
