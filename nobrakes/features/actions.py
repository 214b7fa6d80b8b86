"""What the Forge's decider asks for, and what a person is asked about a feature. features.worker.forge does each action
in one store transaction; a repeated action changes nothing."""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from ..beads.model import Outcome, Status
from ..decisions.forms import as_values, made, shaper_form
from ..records import frozen
from ..sessions.model import Session
from .markers import Reading
from .model import Feature, Finding, Item, PlanReview, PlanVersion, ReviewState

if TYPE_CHECKING:
    from ..config.sections import ForgeSettings


class About(StrEnum):
    """What nobrakes itself asks a person about a feature; one question of each kind is open at a time."""

    EXPIRED = "expired"
    BUDGET = "budget"
    FAILING = "failing"  # its Shaper does not go on: its turns fail
    IDLE = "idle"  # its Shaper goes on and on without asking, proposing or being ready
    DEGRADED = "degraded"
    REVIEW_BUDGET = "review_budget"
    ROLLBACK = "rollback"  # something is in its way


@frozen
class BeginShaper:
    """Begin the session that plans the feature, with this agent."""

    feature: str
    agent: str


@frozen
class SwitchShaper:
    """Let another agent continue the feature's session, in a new conversation."""

    feature: str
    agent: str
    why: str


@frozen
class Renew:
    """The Shaper's next turn begins a new conversation with its full context."""

    feature: str
    why: str


@frozen
class TellShaper:
    """Tell the session to continue: its turn left nothing that anybody waits for."""

    feature: str
    after: int


@frozen
class TakeTurn:
    """Handle a Shaper turn that ended, and note that. `reading`: what its words say; None: it called operations, or its
    words do not count. `warn`: how full its context is (0 to 1), if a person should know. `answer`: its words, if they
    only answer a person or the plan is built."""

    feature: str
    turn: int
    reading: Reading | None = None
    warn: float | None = None
    answer: str = ""


@frozen
class AskAboutSilentTurn:
    """Show a turn's raw words with a question: it neither asked, proposed nor was ready."""

    feature: str
    turn: int
    words: str
    warn: float | None = None


@frozen
class Ask:
    """Ask a person about the feature, as nobrakes. `form`: decisions.forms.as_values."""

    feature: str
    about: About
    title: str
    detail: str
    form: Mapping[str, Any] | None = None
    holds: bool = True  # whether the Shaper begins no turn before it is answered


@frozen
class Answered:
    """A question of Ask was answered: forget it and act on the choice."""

    feature: str
    about: About
    chosen: str


@frozen
class WarnOfExpiry:
    """Warn that the feature's session expires at `at` unless somebody writes."""

    feature: str
    at: float


@frozen
class Expire:
    """Nobody wrote for too long: end the session, keep its questions."""

    feature: str


@frozen
class Fail:
    """The session cannot continue with any agent: a person looks."""

    feature: str
    why: str


@frozen
class Recover:
    """A person wrote to a session that was stuck: the feature continues."""

    feature: str


@frozen
class BeginRound:
    """Begin the next round of plan reviews, one session a domain. `agents`: by domain."""

    feature: str
    round: int
    domains: tuple[str, ...]
    agents: Mapping[str, str] = field(default_factory=dict)


@frozen
class AskFindings:
    """Make questions of a round's findings in one transaction, most urgent first."""

    feature: str
    round: int
    findings: tuple[int, ...]


@frozen
class EndReview:
    """A reviewer finished, failed or timed out."""

    feature: str
    round: int
    domain: str
    state: ReviewState
    detail: str = ""


@frozen
class CloseRound:
    """All reviewers of the round ended, and all findings are decided."""

    feature: str
    round: int


@frozen
class AskSignOff:
    """No more reviews are needed: a person may approve this version of the plan."""

    feature: str
    version: int


@frozen
class Checkpoint:
    """Start re-planning with the collected items."""

    feature: str
    items: tuple[int, ...]
    why: str


@frozen
class HoldNamed:
    """Hold the live beads that a new plan names, and release those that it names no more."""

    feature: str
    hold: tuple[str, ...] = ()
    release: tuple[str, ...] = ()


@frozen
class TakeBack:
    """Build and hand in the commit that takes the feature's merges off main; without merges it is finished."""

    feature: str


@frozen
class FinishRollback:
    """The rollback is on main: cancel the feature and its beads."""

    feature: str


@frozen
class DropRollback:
    """The rollback is cancelled: merges stay."""

    feature: str
    why: str


ForgeAction = (
    BeginShaper
    | SwitchShaper
    | Renew
    | TellShaper
    | TakeTurn
    | AskAboutSilentTurn
    | Ask
    | Answered
    | WarnOfExpiry
    | Expire
    | Fail
    | Recover
    | BeginRound
    | AskFindings
    | EndReview
    | CloseRound
    | AskSignOff
    | Checkpoint
    | HoldNamed
    | TakeBack
    | FinishRollback
    | DropRollback
)


@frozen
class AgentSpec:
    """An agent that may be the Shaper. `trouble`: why it cannot be started now; empty: it can."""

    agent: str
    provider: str = ""
    trouble: str = ""


@frozen
class LastTurn:
    """The Shaper's last unhandled turn. `did`: operations called. `spoken_to`: a person wrote more than answers."""

    turn: int
    number: int
    outcome: Outcome
    did: frozenset[str] = frozenset()
    words: str = ""
    reading: Reading | None = None  # what the words say, where it called nothing
    context: float | None = None  # how full it was, from 0 to 1
    spoken_to: bool = False


@frozen
class Asked:
    """A question that nobrakes asked about the feature. `answer` None: it is open."""

    number: int
    answer: str | None = None


@frozen
class Rolling:
    """A requested rollback and its bead. `conflicts`: the commit that nobrakes handed in no longer fits main."""

    bead: str
    status: Status
    held: str | None = None
    conflicts: bool = False


@frozen
class Standing:
    """State of one feature; fields that its stage does not use are empty."""

    feature: Feature
    session: Session | None = None  # the Shaper's
    last: LastTurn | None = None
    questions: int = 0  # of the session, that are open
    specs: tuple[AgentSpec, ...] = ()  # who may be its Shaper, the first one first
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


@frozen
class ForgeBoard:
    """What the Forge decides on, at one moment."""

    now: float
    rules: "ForgeSettings"
    standings: tuple[Standing, ...] = ()
    paused: bool = False  # nothing new is started


# What a person is asked about a feature, with the options.
FRESH, FROM_BASE, VIEW_ONLY = "go on afresh", "begin from the base", "only look at it"
CONTINUE, CLOSE = "continue", "close"
GO_ON, IS_COMPLETE = "go on", "the plan is whole"


def _form(*options: str) -> Mapping[str, Any]:
    return as_values(made("radio", options, [options[0].partition(": ")[0]], priority=1))


QUESTIONS: Mapping[About, tuple[str, str, Mapping[str, Any]]] = {
    About.EXPIRED: (
        "Feature {feature} ({title}) has expired, and you answered a question: how should it continue?",
        "Nobody sent a message for a long time, so the conversation with the agent has expired. The questions, drafts "
        "and answers are kept.",
        _form(
            f"{FRESH}: a new conversation begins with a summary, the drafts and all answers",
            f"{FROM_BASE}: nobrakes cancels and archives the drafts, then plans the feature again",
            f"{VIEW_ONLY}: nothing starts",
        ),
    ),
    About.BUDGET: (
        "Planning feature {feature} ({title}) has cost {usd} USD: continue?",
        "The cost reached the setting forge.shaper_usd. The Shaper continues only after your answer.",
        _form(f"{CONTINUE}: allow the same cost again", f"{CLOSE}: the feature pauses; drafts and questions stay"),
    ),
    About.FAILING: (
        "Feature {feature} ({title}) stopped in {stage}: {why}",
        "{said}`nobrakes forge show {feature}` shows the feature{show}.",
        shaper_form(),
    ),
    About.IDLE: (
        "The Shaper of feature {feature} ({title}) makes no progress: how should it continue?",
        "nobrakes told the Shaper {turns} to continue, but its turns ended without a question and without a complete "
        "plan. `nobrakes session show {session}` shows the messages.",
        shaper_form(
            f"{GO_ON}: nobrakes asks the Shaper again", f"{IS_COMPLETE}: reviewers review the drafts", priority=2
        ),
    ),
}


def question(feature: Feature, about: About, **told: object) -> Ask:
    title, detail, form = QUESTIONS[about]
    values = {"feature": feature.id, "title": feature.title, "stage": feature.stage.value, **told}
    return Ask(feature.id, about, title.format(**values), detail.format(**values), form)
