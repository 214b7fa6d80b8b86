"""What the Forge's deciders see: where each feature stands."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..beads.bead import Status
from ..beads.outcomes import Outcome
from ..sessions.session import Session
from .actions import About
from .feature import Feature, Finding, Item, PlanReview, PlanVersion
from .markers import Reading
from .rules import Rules


@dataclass(frozen=True, slots=True)
class Seat:
    """An agent that may be the Shaper. `trouble`: why it cannot be started now; empty: it can."""

    agent: str
    provider: str = ""
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class LastTurn:
    """The Shaper's last turn that ended, while nobody has dealt with it. `did`: the operations that it called.

    `spoken_to`: whether a person said something to it that is no answer to a question.
    """

    turn: int
    number: int
    outcome: Outcome
    did: frozenset[str] = frozenset()
    words: str = ""
    reading: Reading | None = None  # what the words say, where it called nothing
    context: float | None = None  # how full it was, from 0 to 1
    spoken_to: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that nobrakes asked about the feature. `answer` None: it is open."""

    number: int
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class Rolling:
    """A rollback that was asked for: the bead that does it, and where that is. `conflicts`: what nobrakes built and
    handed in for it does not fit main any more.
    """

    bead: str
    status: Status
    held: str | None = None
    conflicts: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """Where one feature stands. What is only asked of some stages is empty in the others."""

    feature: Feature
    session: Session | None = None  # the Shaper's
    last: LastTurn | None = None
    questions: int = 0  # of the session, that are open
    seats: tuple[Seat, ...] = ()  # who may be its Shaper, the first one first
    asked: Mapping[About, Asked] = field(default_factory=dict)
    reviews: tuple[PlanReview, ...] = ()  # of all rounds
    reviewers: Mapping[int, Session] = field(default_factory=dict)  # sessions of reviews that run, by number
    halted: frozenset[int] = frozenset()  # those of them whose last turn did not end by itself
    findings: tuple[Finding, ...] = ()  # of all rounds
    open_questions: frozenset[int] = frozenset()  # about findings
    plans: tuple[PlanVersion, ...] = ()  # all versions, oldest first
    beads: Mapping[str, Status] = field(default_factory=dict)  # of the epic
    to_hold: tuple[str, ...] = ()  # live beads that the new plan names
    to_release: tuple[str, ...] = ()  # beads held for a new plan that names them no more
    items: tuple[Item, ...] = ()  # that wait
    spent_usd: float = 0.0  # by its Shaper
    reviews_usd: float = 0.0
    rolling: Rolling | None = None


@dataclass(frozen=True, slots=True)
class ForgeBoard:
    """One moment, as far as the Forge looks."""

    now: float
    rules: Rules = field(default_factory=Rules)
    standings: tuple[Standing, ...] = ()
    paused: bool = False  # nothing new is started
