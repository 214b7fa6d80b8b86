"""What deciders ask for, imperatives. `daemon.worker.perform` has one method for each."""

from dataclasses import dataclass

from ..agents.limits import Reached
from ..beads.model import Outcome, Role
from ..decisions.model import EscalationType


@dataclass(frozen=True, slots=True)
class StartAgent:
    """Claim the bead for the role and start this agent."""

    bead: str
    role: Role
    agent: str


@dataclass(frozen=True, slots=True)
class StartTurn:
    """Begin the next turn of this session."""

    session: int


@dataclass(frozen=True, slots=True)
class ResumeTurn:
    """Go on with a turn that has no child process: what a crash cut off."""

    turn: int


@dataclass(frozen=True, slots=True)
class StartReview:
    """Claim the bead for the Reviewer."""

    bead: str


@dataclass(frozen=True, slots=True)
class AskPerson:
    """Nobody may be started on the bead before a person decides."""

    bead: str
    type: EscalationType
    title: str
    detail: str


@dataclass(frozen=True, slots=True)
class TellCap:
    """A cap is reached: tell it, once in its period."""

    reached: Reached


@dataclass(frozen=True, slots=True)
class GoOnUnapproved:
    """Nobody's yes is needed any more for the merge that this escalation asks about. `why`: in words."""

    escalation: int
    why: str


@dataclass(frozen=True, slots=True)
class Resume:
    """Go on with an attempt that has no child process: the next step of a review, or what a crash cut off."""

    attempt: int


@dataclass(frozen=True, slots=True)
class LandEpic:
    """Have the epic reviewed as a whole: its beads are on its branch."""

    epic: str


@dataclass(frozen=True, slots=True)
class CompleteEpic:
    """Close the epic: its children are done."""

    epic: str


@dataclass(frozen=True, slots=True)
class Terminate:
    """Ask the run's whole process tree to end (TERM), and remember why."""

    run: str
    why: Outcome


@dataclass(frozen=True, slots=True)
class Kill:
    """The grace is over: end the run's whole process tree (KILL)."""

    run: str


@dataclass(frozen=True, slots=True)
class Sample:
    """Look for signs of life: output, changed files, commits, child CPU."""

    run: str


@dataclass(frozen=True, slots=True)
class RenewLeases:
    """Prolong the leases of the attempts that this daemon looks after."""

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
