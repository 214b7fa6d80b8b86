"""What deciders ask for, imperatives. `daemon.perform` has one method for each."""

from dataclasses import dataclass

from .bead import Role
from .outcomes import Outcome


@dataclass(frozen=True, slots=True)
class StartAgent:
    """Claim the bead for the role and start its agent."""

    bead: str
    role: Role


@dataclass(frozen=True, slots=True)
class StartReview:
    """Claim the bead for the Reviewer."""

    bead: str


@dataclass(frozen=True, slots=True)
class Resume:
    """Go on with an attempt that has no child process: the next step of a review, or what a crash cut off."""

    attempt: int


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


Action = StartAgent | StartReview | Resume | CompleteEpic | Terminate | Kill | Sample | RenewLeases
