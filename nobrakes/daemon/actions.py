"""What deciders ask for, imperatives. `daemon.worker.perform` has one method for each."""

from ..agents.limits import Reached
from ..beads.model import Outcome, Role
from ..decisions.model import EscalationType
from ..records import frozen


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
    """Go on with a turn that has no child process: what a crash cut off."""

    turn: int


@frozen
class StartReview:
    """Claim the bead for the Reviewer."""

    bead: str


@frozen
class AskPerson:
    """Nobody may be started on the bead before a person decides."""

    bead: str
    type: EscalationType
    title: str
    detail: str


@frozen
class TellCap:
    """A cap is reached: tell it, once in its period."""

    reached: Reached


@frozen
class GoOnUnapproved:
    """Nobody's yes is needed any more for the merge that this escalation asks about. `why`: in words."""

    escalation: int
    why: str


@frozen
class Resume:
    """Go on with an attempt that has no child process: the next step of a review, or what a crash cut off."""

    attempt: int


@frozen
class LandEpic:
    """Have the epic reviewed as a whole: its beads are on its branch."""

    epic: str


@frozen
class CompleteEpic:
    """Close the epic: its children are done."""

    epic: str


@frozen
class Terminate:
    """Ask the run's whole process tree to end (TERM), and remember why."""

    run: str
    why: Outcome


@frozen
class Kill:
    """The grace is over: end the run's whole process tree (KILL)."""

    run: str


@frozen
class Sample:
    """Look for signs of life: output, changed files, commits, child CPU."""

    run: str


@frozen
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
