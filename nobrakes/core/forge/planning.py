"""What a feature does next. Same board, same answer; daemon.forge.perform does it.

1. A feature that is planned has one session, its Shaper's. Each of its turns is dealt with once when it has ended: what
   it asked waits for a person, what it proposed lies as drafts, and "ready" makes a version of the plan.
2. A turn that left nothing to wait for is gone on with by itself, a few times; then a person is asked.
3. A turn without an operation is read by its words (core.forge.markers); one that says nothing either is shown raw, with
   a question. Words that look like an error decide nothing.
4. A conversation begins afresh at each change of stage, after some iterations of reviews, and where its context is
   nearly full; never for mere idleness.
5. A Shaper whose provider refuses its login, or whose breaker is open, is followed by the next of the list.
6. Silence of a day ends the agent's conversation and no question. It is said beforehand.
7. A feature that is paused, expired or in error begins no turn: the store does not offer its session.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..beads.bead import Status
from ..beads.outcomes import Outcome
from ..sessions.session import Session
from .actions import About, ForgeAction
from .feature import Feature, Finding, Item, PlanReview
from .markers import Reading

WARN_SHARE, FRESH_SHARE = 0.8, 0.95
"""How full a context is when a person is told, and when the next turn begins afresh."""
FRESH_AFTER_ROUNDS = 5
"""After so many iterations of reviews in one conversation it begins afresh."""
MOST_NUDGES = 3
"""So often in a row a Shaper is told to go on; then a person is asked."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings of the Forge (config.sections.ForgeSettings), in its words."""

    expire_hours: float = 24.0
    warn_hours: float = 2.0
    reviewers: tuple[str, ...] = ()
    review_minutes: float = 5.0
    most_rounds: int = 10
    clean_rounds: int = 2
    most_domains: int = 4
    review_usd: float = 5.0
    shaper_usd: float = 10.0
    collect: int = 10
    turn_minutes: float = 15.0


@dataclass(frozen=True, slots=True)
class Seat:
    """An agent that may be the Shaper, or a reviewer. `trouble`: why it cannot be started now; empty: it can."""

    agent: str
    provider: str = ""
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class LastTurn:
    """The Shaper's last turn that ended, while nobody has dealt with it. `did`: the operations that it called."""

    turn: int
    number: int
    outcome: Outcome
    did: frozenset[str] = frozenset()
    words: str = ""
    reading: Reading | None = None  # what the words say, where it called nothing
    context: float | None = None  # how full it was, from 0 to 1


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that nobrakes asked about the feature. `answer` None: it is open."""

    number: int
    answer: str | None = None
    value: Any = None


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
    findings: tuple[Finding, ...] = ()  # of all rounds
    drafts: tuple[str, ...] = ()  # under the epic
    changed: frozenset[str] = frozenset()  # beads that are otherwise in the last version than in the one before
    beads: Mapping[str, Status] = field(default_factory=dict)  # of the epic
    items: tuple[Item, ...] = ()  # that wait
    spent_usd: float = 0.0  # by its Shaper
    reviews_usd: float = 0.0


@dataclass(frozen=True, slots=True)
class ForgeBoard:
    """One moment, as far as the Forge looks."""

    now: float
    rules: Rules = field(default_factory=Rules)
    standings: tuple[Standing, ...] = ()
    paused: bool = False  # nothing new is started


def plan(board: ForgeBoard) -> list[ForgeAction]:
    """What is to be done now."""
    return []
