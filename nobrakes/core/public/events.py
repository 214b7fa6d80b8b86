"""The public events: what other programs read, made from the store's own events by one pure function.

1. The names and payloads here are a promise: LANGUAGE is their version, and grows when one of them changes its meaning.
   The store's own kinds may change with any release.
2. One event of the store may say several things in public (`parts`), or nothing: then INTERNAL says why. Every kind is
   in exactly one of TABLE and INTERNAL.
3. `*_spawned` and `review_started` have exactly one end each, later, with the same `attempt`: also where a person took
   the bead away from an agent.
4. What is said of a bead (`attempt_count` ...) is what held when the event happened, so that the same event is the same
   line whenever it is written.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any, Protocol

from ..beads.attempt import Attempt
from ..beads.bead import Bead, Role
from ..beads.escalations import STOPS_BEAD, Escalation, EscalationType
from ..beads.events import Event, Kind
from ..beads.outcomes import Outcome
from ..beads.work_status import WorkStatus
from ..forge.feature import PLANNED, Stage
from . import feature_payloads as of
from . import payloads as say
from . import pull_payloads as pulls
from . import reading_payloads as readings
from .names import Name
from .payload import Payload, made

LANGUAGE = 1
"""The version of the names and payloads."""
MACHINE = Event(Kind.PROPOSED).actor
"""Who acts where nobody else does."""
INTERNAL: Mapping[Kind, str] = {
    Kind.CHECKS_BEGAN: "A sign for people that something slow begins; what it came to is public.",
    Kind.REVIEW_STEP: "The steps of a review change with its machine; what it came to is public.",
    Kind.CHANGE_PROPOSED: "Nothing is changed by it; what a person approves of it is public by itself.",
    Kind.CHANGE_DROPPED: "Nothing is changed by it.",
    Kind.CHANGE_APPROVED: "What it changes is public by itself.",
    Kind.BREAKER_RESET: "A count inside; that the bead goes on is said by `execution.resumed`.",
    Kind.RECOVERED: "How a daemon took over; what ended by it is public by itself.",
    Kind.ARCHIVE_EXPIRED: "Housekeeping of refs.",
    Kind.PLAN_ROUND_ENDED: "What its reviewers found, and that each is through, is public by itself.",
    Kind.SIGN_OFF_ASKED: "A notice for people: the reviews that it counts are public by themselves.",
    Kind.SIGNED_OFF: "Nothing goes live by it; that a person makes the plan live is public by itself.",
    Kind.FEATURE_TOLD: "A notice for people; what it tells of is public by itself.",
}
"""The kinds that are not public, and why."""
CRASHES = frozenset(
    {Outcome.CRASHED, Outcome.KILLED, Outcome.STALLED, Outcome.TIMED_OUT, Outcome.LOST, Outcome.CONTEXT_OVERFLOW}
)
"""Endings without a word of the agent: `crash_timeout` tells of them, too."""


class Facts(Protocol):
    """What is asked about a bead, to say who acted and how often it was tried."""

    def bead(self, bead: str) -> Bead | None:
        """The bead; None where it is not known any more."""
        ...

    def attempts(self, bead: str) -> Sequence[Attempt]:
        """Its attempts, oldest first."""
        ...

    def escalations(self, bead: str) -> Sequence[Escalation]:
        """What was asked about it."""
        ...

    def status(self, event: Event) -> WorkStatus | None:
        """How the event's bead stood after it; None: its events are not known any more."""
        ...


@dataclass(frozen=True, slots=True)
class About:
    """What the metadata of every event begins with. None: not known, or there is no bead."""

    language: int
    seq: int  # of the event in the store: what `--after` takes
    part: int  # from 1: several public events may come of one
    parts: int
    attempt_count: int | None = None
    last_outcome: str | None = None
    escalated: bool | None = None  # whether a question to a person stops the bead
    area: str | None = None
    semantic_id: str | None = None


@dataclass(frozen=True, slots=True)
class PublicEvent:
    """One public event. `agent` is who acts: an agent's name, the Reviewer's, a person's, or `nobrakes`."""

    name: Name
    at: float
    task_id: str | None
    agent: str
    about: About
    payload: Payload

    def as_values(self) -> dict[str, Any]:
        """The event as JSON values: ts, event, task_id, agent, metadata."""
        metadata = {one.name: getattr(self.about, one.name) for one in fields(self.about)}
        metadata |= {one.name: _listed(getattr(self.payload, one.name)) for one in fields(self.payload)}
        return {
            "ts": timestamp(self.at),
            "event": self.name.value,
            "task_id": self.task_id,
            "agent": self.agent,
            "metadata": metadata,
        }


def timestamp(at: float) -> str:
    """ISO 8601 in UTC, to the millisecond."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _listed(value: Any) -> Any:
    return [_listed(one) for one in value] if isinstance(value, tuple) else value


Made = tuple[Name, Payload]
"""What a rule makes of an event."""
Ending = tuple[Attempt, str]
"""An attempt that a person's or the machine's decision ended, and its outcome."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One public event of a kind: its name, its payload, where the payload's fields are in the event's data."""

    name: Name
    payload: type[Payload]
    where: Mapping[str, str] | None = None  # field -> key of the data, where they differ
    fixed: Mapping[str, Any] | None = None  # what the kind itself says
    when: Callable[[Event], bool] = lambda event: True

    def of(self, event: Event, facts: Facts) -> Made:
        """The name and the payload for this event."""
        renamed = {field: event.data.get(key) for field, key in (self.where or {}).items()}
        known = {"attempt": event.attempt, **event.data, **renamed, **(self.fixed or {})}
        status = facts.status(event) if self.payload is say.Status else None
        known |= {} if status is None else status.as_values()
        return self.name, made(self.payload, known)


def _is_question(event: Event) -> bool:
    return event.data.get("type") in (EscalationType.QUESTION.value, EscalationType.PLAN_REVIEW.value)


def _has_a_bead(event: Event) -> bool:
    return event.bead is not None


def _is_first(event: Event) -> bool:
    return event.data.get("number") == 1


def _crashed(event: Event) -> bool:
    return event.data.get("outcome") in CRASHES


def _conflicted(event: Event) -> bool:
    return event.data.get("outcome") == Outcome.CONFLICT


def _came_to(stage: Stage) -> Callable[[Event], bool]:
    return lambda event: event.data.get("stage") == stage.value != event.data.get("before")


def _state_changed(event: Event) -> bool:
    return event.data.get("state") != event.data.get("was")


def _replans(event: Event) -> bool:
    return event.data.get("before") in (Stage.IMPLEMENTATION, Stage.REQUEST) and event.data.get("stage") in PLANNED


_CLI = {"cli": "agent"}
_READ = {
    "iteration_number": "round",
    "max_iterations": "of",
    "session_id": "session",
    "cli": "agent",
    "detail": "why",
}
_LOOK = {"iteration_number": "round", "session_id": "session"}
_STAGES: Mapping[Stage, Name] = {
    Stage.DISCOVERY: Name.STAGE_DISCOVERY,
    Stage.PLANNING: Name.STAGE_PLANNING,
    Stage.REVIEW: Name.STAGE_REVIEW,
    Stage.IMPLEMENTATION: Name.STAGE_IMPLEMENTATION,
    Stage.REQUEST: Name.STAGE_PR_CREATION,
    Stage.DONE: Name.STAGE_DONE,
}
_QUESTION = {"question_id": "escalation", "text": "title", "session_id": "session"}
_STEP_STARTED = Rule(Name.STEP_STARTED, say.Spawned, _CLI, when=_is_first)
_STATUS = Rule(Name.STATUS, say.Status, when=_has_a_bead)
_CRASH = Rule(Name.CRASH_TIMEOUT, say.Ended, when=_crashed)


def _closed(name: Name, kind: Kind, commit: str = "commit") -> Rule:
    return Rule(name, say.StepClosed, {"commit": commit}, {"how": kind.value})


TABLE: Mapping[Kind, tuple[Rule, ...]] = {
    Kind.PROPOSED: (Rule(Name.STEP_ADDED, say.StepAdded),),
    Kind.CHANGED: (Rule(Name.STEP_UPDATED, say.StepUpdated, {"changes": "fields"}),),
    Kind.APPROVED: (Rule(Name.PLAN_APPROVED, Payload),),
    Kind.STRATEGY_APPROVED: (Rule(Name.PLAN_APPROVED, Payload),),
    Kind.HELD: (Rule(Name.PAUSED_BLOCKER, say.Paused, {"blocker": "reason"}),),
    Kind.RELEASED: (Rule(Name.RESUMED, say.Resumed, fixed={"resolution": "released"}),),
    Kind.DEFERRED: (Rule(Name.PAUSED_BLOCKER, say.Paused, fixed={"blocker": "deferred"}),),
    Kind.DEPENDENCY_ADDED: (Rule(Name.STEP_REORDERED, say.StepReordered, fixed={"added": True}),),
    Kind.DEPENDENCY_REMOVED: (Rule(Name.STEP_REORDERED, say.StepReordered, fixed={"added": False}),),
    Kind.TEST_WRITER_STARTED: (Rule(Name.TEST_WRITER_SPAWNED, say.Spawned, _CLI), _STEP_STARTED, _STATUS),
    Kind.TESTS_PROVEN_RED: (Rule(Name.TEST_WRITER_COMPLETED, say.Ended), _STATUS),
    Kind.TESTS_REJECTED: (Rule(Name.TEST_WRITER_FAILED, say.Ended), _STATUS),
    Kind.TEST_WRITER_STOPPED: (_CRASH, Rule(Name.TEST_WRITER_FAILED, say.Ended), _STATUS),
    Kind.DOER_STARTED: (Rule(Name.DOER_SPAWNED, say.Spawned, _CLI), _STEP_STARTED, _STATUS),
    Kind.WORK_SUBMITTED: (Rule(Name.DOER_COMPLETED, say.Ended), _STATUS),
    Kind.DOER_STOPPED: (_CRASH, Rule(Name.DOER_FAILED, say.Ended), _STATUS),
    Kind.STOP_ASKED: (Rule(Name.STOP_REQUESTED, say.StopAsked, {"worker": "name"}),),
    Kind.REVIEW_STARTED: (Rule(Name.REVIEW_STARTED, say.Spawned, _CLI),),
    Kind.REVIEW_REJECTED: (
        Rule(Name.REBASE_CONFLICT, say.Ended, when=_conflicted),
        Rule(Name.REVIEW_FAILED, say.Ended),
        _STATUS,
    ),
    Kind.REVIEW_INTERRUPTED: (
        Rule(Name.REBASE_CONFLICT, say.Ended, when=_conflicted),
        Rule(Name.REVIEW_INTERRUPTED, say.Ended),
    ),
    Kind.LANDED: (Rule(Name.REVIEW_PASSED, say.Ended), _STATUS),
    Kind.MERGED: (
        Rule(Name.REVIEW_PASSED, say.Ended),
        _closed(Name.STEP_COMPLETED, Kind.MERGED, "merged_commit"),
        _STATUS,
    ),
    Kind.FOUND_MERGED: (_closed(Name.STEP_COMPLETED, Kind.FOUND_MERGED, "merged_commit"), _STATUS),
    Kind.REVERTED: (Rule(Name.STEP_REOPENED, say.StepOpened, fixed={"how": "reverted"}),),
    Kind.PUSH_ALLOWED: (Rule(Name.PR_ALLOWED, pulls.PushAllowed),),
    Kind.PULL_OPENED: (Rule(Name.PR_CREATED, pulls.Requested),),
    Kind.PULL_REVIEW_BEGAN: (Rule(Name.PR_REVIEW_STARTED, pulls.Requested),),
    Kind.PULL_ISSUE_FOUND: (Rule(Name.PR_ISSUE_FOUND, pulls.RequestIssue),),
    Kind.PULL_APPROVED: (Rule(Name.PR_APPROVED, pulls.RequestApproved),),
    Kind.PULL_MERGED: (Rule(Name.PR_MERGED, pulls.Requested),),
    Kind.CODE_REVIEW_BEGAN: (Rule(Name.CODE_REVIEW_STARTED, readings.WorkRead, _READ),),
    Kind.CODE_REVIEW_ENDED: (Rule(Name.CODE_REVIEW_ENDED, readings.WorkRead, _READ),),
    Kind.FLAKED: (Rule(Name.CHECK_FLAKED, say.Flaked),),
    Kind.ESCALATED: (
        Rule(Name.ESCALATION, say.Asked, fixed={"stops": True}),
        Rule(Name.QUESTION_ASKED, say.Question, _QUESTION, when=_is_question),
        Rule(Name.PAUSED_BLOCKER, say.Paused, {"blocker": "title"}, {"needs_input": True}, when=_has_a_bead),
        _STATUS,
    ),
    Kind.SUGGESTED: (Rule(Name.ESCALATION, say.Asked, fixed={"stops": False}),),
    Kind.ANSWERED: (Rule(Name.QUESTION_ANSWERED, say.Answered, {"question_id": "escalation"}),),
    Kind.ANSWER_READ: (Rule(Name.QUESTION_READ, say.AnswerRead, {"question_id": "escalation"}),),
    Kind.ANSWER_TAKEN_BACK: (Rule(Name.QUESTION_REOPENED, say.Answered, {"question_id": "escalation"}),),
    Kind.RESOLVED: (Rule(Name.RESUMED, say.Resumed), _STATUS),
    Kind.RETRIED: (Rule(Name.RESUMED, say.Resumed, fixed={"resolution": "retry"}),),
    Kind.TAKEN: (Rule(Name.PAUSED_BLOCKER, say.Paused, {"blocker": "reason"}),),
    Kind.HANDED_IN: (Rule(Name.RESUMED, say.Resumed, fixed={"resolution": "handed in by a person"}),),
    Kind.CANCELLED: (_closed(Name.STEP_CANCELLED, Kind.CANCELLED),),
    Kind.DONE_BY_HAND: (_closed(Name.STEP_COMPLETED, Kind.DONE_BY_HAND), _STATUS),
    Kind.REOPENED: (Rule(Name.STEP_REOPENED, say.StepOpened, fixed={"how": "reopened"}),),
    Kind.EPIC_COMPLETED: (_closed(Name.STEP_COMPLETED, Kind.EPIC_COMPLETED),),
    Kind.EPIC_LANDED: (_STATUS,),
    Kind.LOGGED: (Rule(Name.AGENT_LOGGED, say.Said),),
    Kind.PROGRESSED: (_STATUS,),
    Kind.NOTIFIED: (Rule(Name.AGENT_NOTIFIED, say.Said),),
    Kind.TESTED: (Rule(Name.AGENT_TESTED, say.Said), _STATUS),
    Kind.FILES_CHANGED: (_STATUS,),
    Kind.TESTS_RUN: (_STATUS,),
    Kind.HANDED_OFF: (Rule(Name.AGENT_HANDED_OFF, say.HandedOff),),
    Kind.SESSION_BEGAN: (Rule(Name.SESSION_BEGAN, say.SessionBegan, {"session_id": "session", "cli": "agent"}),),
    Kind.SESSION_SAID: (Rule(Name.SESSION_SAID, say.SessionSaid, {"session_id": "session"}),),
    Kind.TURN_STARTED: (Rule(Name.SESSION_TURN_STARTED, say.TurnStarted, {"session_id": "session", "cli": "agent"}),),
    Kind.TURN_ENDED: (Rule(Name.SESSION_TURN_ENDED, say.TurnEnded, {"session_id": "session"}),),
    Kind.SESSION_ENDED: (Rule(Name.SESSION_ENDED, say.InSession, {"session_id": "session"}),),
    Kind.PROJECT_SET: (Rule(Name.PROJECT_SET, say.ProjectSet),),
    Kind.FEATURE_BEGAN: (Rule(Name.STAGE_DISCOVERY, of.Staged, {"feature_description": "title"}),),
    Kind.FEATURE_MOVED: (
        *(Rule(name, of.Staged, when=_came_to(stage)) for stage, name in _STAGES.items()),
        Rule(Name.FEATURE_STATE, of.FeatureState, when=_state_changed),
        Rule(Name.REPLANNING, of.Staged, when=_replans),
    ),
    Kind.FEATURE_CHANGED: (Rule(Name.FEATURE_CHANGED, of.FeatureChanged, {"fields": "parts"}),),
    Kind.SPRINT_MOVED: (Rule(Name.SPRINT_MOVED, of.SprintMoved),),
    Kind.PLAN_KEPT: (Rule(Name.PLAN_CREATED, of.PlanCreated, {"steps": "beads"}),),
    Kind.PLAN_REVIEW_BEGAN: (Rule(Name.PLAN_REVIEW_STARTED, of.PlanReviewed, _LOOK),),
    Kind.PLAN_REVIEW_ENDED: (Rule(Name.PLAN_REVIEW_ENDED, of.PlanReviewed, _LOOK),),
    Kind.FINDING_MADE: (Rule(Name.REVIEW_FINDINGS, of.Found, {"iteration_number": "round", "step_id": "at_bead"}),),
    Kind.FINDING_SETTLED: (Rule(Name.FINDING_SETTLED, of.Found),),
    Kind.ITEM_COLLECTED: (Rule(Name.TODO_COLLECTED, of.Collected, {"type": "kind", "description": "text"}),),
    Kind.ITEM_SETTLED: (Rule(Name.TODO_SETTLED, of.Collected),),
    Kind.DAEMON_STARTED: (Rule(Name.DAEMON_STARTED, say.Process),),
    Kind.DAEMON_STOPPED: (Rule(Name.DAEMON_STOPPED, say.Process),),
    Kind.PAUSED: (Rule(Name.PAUSED, say.Paused, fixed={"blocker": "paused by a person"}),),
    Kind.RESUMED: (Rule(Name.RESUMED, say.Resumed, fixed={"resolution": "resumed by a person"}),),
    Kind.LIMITS_CHANGED: (Rule(Name.LIMITS_CHANGED, say.Limits),),
    Kind.QUARANTINED: (Rule(Name.CHECK_QUARANTINED, say.CheckNamed),),
    Kind.QUARANTINE_LIFTED: (Rule(Name.CHECK_QUARANTINE_LIFTED, say.CheckNamed),),
    Kind.GATE_CLOSED: (Rule(Name.PROVIDER_REFUSED, say.Provider),),
    Kind.GATE_OPENED: (Rule(Name.PROVIDER_AVAILABLE, say.Provider),),
    Kind.CAP_REACHED: (Rule(Name.CAP_REACHED, say.Cap),),
    Kind.MAIN_GREEN: (Rule(Name.MAIN_GREEN, say.Main),),
    Kind.MAIN_FROZEN: (Rule(Name.MAIN_FROZEN, say.Main),),
    Kind.MAIN_UNFROZEN: (Rule(Name.MAIN_UNFROZEN, say.Main),),
    Kind.MAIN_REWRITTEN: (Rule(Name.MAIN_REWRITTEN, say.Main, {"why": "text"}),),
    Kind.CULPRIT_FOUND: (Rule(Name.MAIN_CULPRIT_FOUND, say.Main),),
    Kind.UNDONE: (Rule(Name.STEP_UNDONE, say.Undone),),
    Kind.BROUGHT_BACK: (),  # only the end of an attempt is public: the facts that came back were public before
    Kind.UNCONFINED: (Rule(Name.SAFETY_REDUCED, say.Warned),),
    Kind.DEGRADED: (Rule(Name.SAFETY_REDUCED, say.Warned),),
    Kind.DANGER_SEEN: (Rule(Name.SAFETY_DANGER_SEEN, say.DangerSeen, {"session_id": "session"}),),
    Kind.HOSTS_REFUSED: (Rule(Name.SAFETY_HOSTS_REFUSED, say.HostsRefused),),
}
TAKES_AWAY = frozenset({Kind.TAKEN, Kind.CANCELLED, Kind.DONE_BY_HAND, Kind.FOUND_MERGED, Kind.BROUGHT_BACK})
"""What ends the attempt at work on a bead, beside the attempt's own end."""
CUT_OFF: Mapping[Role, Name] = {
    Role.TEST_WRITER: Name.TEST_WRITER_FAILED,
    Role.DOER: Name.DOER_FAILED,
    Role.REVIEWER: Name.REVIEW_INTERRUPTED,
}


def public(event: Event, facts: Facts) -> tuple[PublicEvent, ...]:
    """What the event says in public, in order; nothing where its kind is INTERNAL."""
    attempts = facts.attempts(event.bead) if event.bead is not None else ()
    own = next((one for one in attempts if one.id == event.attempt), None)
    rules = (rule for rule in TABLE.get(event.kind, ()) if rule.when(event))
    said = [(event.actor, *rule.of(event, facts)) for rule in rules]
    if event.kind in TAKES_AWAY and own is not None:
        said.insert(0, (own.name, *_cut_off(own, event)))
    elif own is not None or event.data.get("name"):
        name = own.name if own is not None else str(event.data["name"])
        said = [(name if actor == MACHINE else actor, *made) for actor, *made in said]  # type: ignore[misc]
    about = _about(event, facts, attempts, len(said))
    return tuple(
        PublicEvent(name, event.at, event.bead, agent, _part(about, part), payload)
        for part, (agent, name, payload) in enumerate(said, 1)
    )


def _cut_off(attempt: Attempt, event: Event) -> Made:
    """The end of an attempt whose bead was taken away from it."""
    ended = say.Ended(
        attempt.id, attempt.number, attempt.role.value, Outcome.CANCELLED.value, event.kind.value, attempt.head
    )
    return CUT_OFF[attempt.role], ended


def _part(about: Mapping[str, Any], part: int) -> About:
    return About(part=part, **about)


def _about(event: Event, facts: Facts, attempts: Iterable[Attempt], parts: int) -> dict[str, Any]:
    """What held for the bead when the event happened."""
    known: dict[str, Any] = {"language": LANGUAGE, "seq": event.seq, "parts": parts}
    bead = facts.bead(event.bead) if event.bead is not None else None
    if bead is None:
        return known
    begun = [one for one in attempts if one.started_at <= event.at or one.id == event.attempt]
    before = [one for one in begun if event.attempt is None or one.id <= event.attempt]
    ended = [one for one in before if one.outcome is not None and one.ended_at is not None and one.ended_at <= event.at]
    asked = (one for one in facts.escalations(bead.id) if one.type in STOPS_BEAD and one.created_at <= event.at)
    return known | {
        "attempt_count": len(before),
        "last_outcome": ended[-1].outcome.value if ended and ended[-1].outcome else None,
        "escalated": any(one.resolved_at is None or one.resolved_at > event.at for one in asked),
        "area": _word(bead.metadata.get("area")) or bead.epic,
        "semantic_id": _word(bead.metadata.get("semantic_id")),
    }


def _word(value: Any) -> str | None:
    return str(value) if isinstance(value, str | int) and str(value).strip() else None
