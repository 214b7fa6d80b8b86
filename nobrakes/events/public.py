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
from dataclasses import fields
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Protocol

from ..beads.model import Attempt, Bead, Outcome, Role
from ..beads.work_status import WorkStatus
from ..decisions.model import STOPS_BEAD, Escalation, EscalationType
from ..features.model import PLANNED, Stage
from ..records import frozen
from . import payloads as say
from .kinds import Event, Kind
from .payloads import Payload, made


class Name(StrEnum):
    """Every public event, with what it says. A name never changes its meaning; a new meaning is a new name."""

    meaning: str

    def __new__(cls, value: str, meaning: str) -> "Name":
        """A name with its meaning, for the reference."""
        made = str.__new__(cls, value)
        made._value_ = value
        made.meaning = meaning
        return made

    # agents
    TEST_WRITER_SPAWNED = "test_writer_spawned", "A Test Writer begins on the bead."
    TEST_WRITER_COMPLETED = "test_writer_completed", "Its tests fail as they should; a Doer is next."
    TEST_WRITER_FAILED = "test_writer_failed", "It ended without proven tests, or the bead was taken away from it."
    DOER_SPAWNED = "doer_spawned", "A Doer begins on the bead."
    DOER_COMPLETED = "doer_completed", "It handed in; the Reviewer is next."
    DOER_FAILED = "doer_failed", "It ended without handing in, or the bead was taken away from it."
    CRASH_TIMEOUT = (
        "crash_timeout",
        "An agent ended without a word: crashed, killed, silent, out of time. Its end follows.",
    )
    STOP_REQUESTED = "execution.stop_requested", "A person stops one agent."
    # reviews
    REVIEW_STARTED = "review_started", "The Reviewer begins on what was handed in."
    REVIEW_PASSED = "review_passed", "It is on main."
    REVIEW_FAILED = "review_failed", "The work goes back."
    REVIEW_INTERRUPTED = "review_interrupted", "The review ended without a judgement; another one follows if it can."
    REBASE_CONFLICT = "rebase_conflict", "The work conflicts with main. The review's end follows."
    CODE_REVIEW_STARTED = "code_review.started", "Fresh eyes read what passed its checks."
    CODE_REVIEW_ENDED = "code_review.ended", "They are through, or failed; what they found."
    # pull requests
    PR_ALLOWED = "pr.allowed", "A person let the work be pushed that has passed, and its pull request be opened."
    PR_CREATED = "pr.created", "The bead's pull request is there."
    PR_REVIEW_STARTED = "pr.review_started", "People or checks of the code host began to look at it."
    PR_ISSUE_FOUND = "pr.issue_found", "Somebody who may write left a remark, or a check of the code host is red."
    PR_APPROVED = "pr.approved", "Somebody who may write approved it."
    PR_MERGED = "pr.merged", "People merged it. The review's end follows."
    # people
    ESCALATION = "escalation", "A person is asked, or is shown something."
    QUESTION_ASKED = "question.asked", "An agent asks a person; the bead waits."
    QUESTION_ANSWERED = "question.answered", "A person answered."
    QUESTION_READ = "question.answer_read", "An agent acts by the answer from now on: nobody takes it back any more."
    QUESTION_REOPENED = "question.answer_taken_back", "A person took back an answer that nobody had read."
    # the plan
    STEP_ADDED = "plan.step_added", "A bead came into the plan."
    STEP_UPDATED = "plan.step_updated", "A bead was edited."
    STEP_REORDERED = "plan.step_reordered", "A dependency came or went."
    PLAN_APPROVED = "plan.approved", "A draft went live."
    # the work
    STEP_STARTED = "execution.step_started", "The first attempt on the bead begins."
    STEP_COMPLETED = "execution.step_completed", "The bead is done."
    STEP_CANCELLED = "execution.step_cancelled", "A person gave the bead up."
    STEP_REOPENED = "execution.step_reopened", "A closed bead is live again."
    STEP_UNDONE = "execution.step_undone", "A person's step was taken back."
    PAUSED_BLOCKER = "execution.paused_blocker", "The bead waits: for a person, or until a moment."
    PAUSED = "execution.paused", "Nothing new is started."
    RESUMED = "execution.resumed", "The bead goes on, or all of the work does."
    STATUS = (
        "execution.status",
        "How a bead stands: work on it begins or ends, files change, tests run, it waits.",
    )
    AGENT_LOGGED = "agent.logged", "An agent wrote a line into the bead's log."
    AGENT_NOTIFIED = "agent.notified", "An agent tells the person something, without waiting."
    AGENT_TESTED = "agent.tested", "An agent ran the checks in its workspace; how each ended."
    AGENT_HANDED_OFF = "agent.handed_off", "An agent said how it ends; its process has not ended yet."
    # sessions
    SESSION_BEGAN = "session.began", "A person began a session with an agent."
    SESSION_SAID = "session.said", "Something was said to a session."
    SESSION_TURN_STARTED = "session.turn_started", "The agent of a session was started."
    SESSION_TURN_ENDED = "session.turn_ended", "The agent of a session ended; its answer is in the session."
    SESSION_ENDED = "session.ended", "A person ended a session."
    PROJECT_SET = "project.set", "A chat agent's session works on this project from now on."
    # features
    STAGE_DISCOVERY = "stage.discovery", "A feature is begun: its Shaper looks at the code and asks."
    STAGE_PLANNING = "stage.planning", "A feature's plan is made, or changed."
    STAGE_REVIEW = "stage.review", "A feature's plan is whole: it is looked at."
    STAGE_IMPLEMENTATION = "stage.implementation", "A feature's plan was approved: its beads are built."
    STAGE_PR_CREATION = "stage.pr_creation", "A feature is built, and its pull request is open."
    STAGE_DONE = "stage.done", "A feature is on main."
    FEATURE_STATE = "feature.state", "A feature was paused, resumed, expired, failed, completed or rolled back."
    FEATURE_CHANGED = "feature.changed", "A person changed what is said of a feature."
    SPRINT_MOVED = "sprint.moved", "A sprint of a project came to another stage, or its run began or ended."
    PLAN_CREATED = "plan.created", "A version of a feature's plan is whole, and kept."
    PLAN_REVIEW_STARTED = "review.started", "A reviewer looks at a feature's plan."
    PLAN_REVIEW_ENDED = "review.ended", "It is through, or failed."
    REVIEW_FINDINGS = "review.findings", "A reviewer of a plan found something."
    FINDING_SETTLED = "review.finding_settled", "A person decided what a reviewer of a plan had found."
    TODO_COLLECTED = "todo.collected", "Something was collected for a feature's next checkpoint."
    TODO_SETTLED = "todo.settled", "What was collected was looked at, or is not there any more."
    REPLANNING = "todo.replanning_triggered", "A feature that is built goes back to its plan."
    # checks and main
    CHECK_FLAKED = "check.flaked", "A check failed and passed on the same tree."
    CHECK_QUARANTINED = "check.quarantined", "A person lets a test or a check fail for a time."
    CHECK_QUARANTINE_LIFTED = "check.quarantine_lifted", "It has to pass again."
    MAIN_GREEN = "main.green", "Main's tip passed a run of its own."
    MAIN_FROZEN = "main.frozen", "Main is red, or its set-up fails: nothing is merged."
    MAIN_UNFROZEN = "main.unfrozen", "Main is green again."
    MAIN_REWRITTEN = "main.rewritten", "A person took done beads off main."
    MAIN_CULPRIT_FOUND = "main.culprit_found", "The search for what made main red is over; without a commit: in vain."
    # the machine
    DAEMON_STARTED = "daemon.started", "A daemon works."
    DAEMON_STOPPED = "daemon.stopped", "It ended in order."
    LIMITS_CHANGED = "limits.changed", "A person changed limits while it runs."
    PROVIDER_REFUSED = "provider.refused", "A provider of models refuses: nothing is started there for now."
    PROVIDER_AVAILABLE = "provider.available", "The provider may be asked again."
    CAP_REACHED = "cap.reached", "A cap on cost, tokens or time is reached: nothing new is started under it."
    SAFETY_REDUCED = "safety.reduced", "Agents run with less protection than they should."
    SAFETY_DANGER_SEEN = "safety.danger_seen", "An agent called a tool in a way that looks dangerous."
    SAFETY_HOSTS_REFUSED = "safety.hosts_refused", "A confined run asked for hosts that it may not reach."
    # the log itself
    LOG_BEGUN = "log.begun", "A file of events begins here, or begins anew; `seq` is 0."


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


@frozen
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


@frozen
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


@frozen
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
    Kind.PUSH_ALLOWED: (Rule(Name.PR_ALLOWED, say.PushAllowed),),
    Kind.PULL_OPENED: (Rule(Name.PR_CREATED, say.Requested),),
    Kind.PULL_REVIEW_BEGAN: (Rule(Name.PR_REVIEW_STARTED, say.Requested),),
    Kind.PULL_ISSUE_FOUND: (Rule(Name.PR_ISSUE_FOUND, say.RequestIssue),),
    Kind.PULL_APPROVED: (Rule(Name.PR_APPROVED, say.RequestApproved),),
    Kind.PULL_MERGED: (Rule(Name.PR_MERGED, say.Requested),),
    Kind.CODE_REVIEW_BEGAN: (Rule(Name.CODE_REVIEW_STARTED, say.WorkRead, _READ),),
    Kind.CODE_REVIEW_ENDED: (Rule(Name.CODE_REVIEW_ENDED, say.WorkRead, _READ),),
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
    Kind.FEATURE_BEGAN: (Rule(Name.STAGE_DISCOVERY, say.Staged, {"feature_description": "title"}),),
    Kind.FEATURE_MOVED: (
        *(Rule(name, say.Staged, when=_came_to(stage)) for stage, name in _STAGES.items()),
        Rule(Name.FEATURE_STATE, say.FeatureState, when=_state_changed),
        Rule(Name.REPLANNING, say.Staged, when=_replans),
    ),
    Kind.FEATURE_CHANGED: (Rule(Name.FEATURE_CHANGED, say.FeatureChanged, {"fields": "parts"}),),
    Kind.SPRINT_MOVED: (Rule(Name.SPRINT_MOVED, say.SprintMoved),),
    Kind.PLAN_KEPT: (Rule(Name.PLAN_CREATED, say.PlanCreated, {"steps": "beads"}),),
    Kind.PLAN_REVIEW_BEGAN: (Rule(Name.PLAN_REVIEW_STARTED, say.PlanReviewed, _LOOK),),
    Kind.PLAN_REVIEW_ENDED: (Rule(Name.PLAN_REVIEW_ENDED, say.PlanReviewed, _LOOK),),
    Kind.FINDING_MADE: (Rule(Name.REVIEW_FINDINGS, say.Found, {"iteration_number": "round", "step_id": "at_bead"}),),
    Kind.FINDING_SETTLED: (Rule(Name.FINDING_SETTLED, say.Found),),
    Kind.ITEM_COLLECTED: (Rule(Name.TODO_COLLECTED, say.Collected, {"type": "kind", "description": "text"}),),
    Kind.ITEM_SETTLED: (Rule(Name.TODO_SETTLED, say.Collected),),
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
        PublicEvent(name, event.at, event.bead, agent, About(part=part, **about), payload)
        for part, (agent, name, payload) in enumerate(said, 1)
    )


def _cut_off(attempt: Attempt, event: Event) -> Made:
    """The end of an attempt whose bead was taken away from it."""
    ended = say.Ended(
        attempt.id, attempt.number, attempt.role.value, Outcome.CANCELLED.value, event.kind.value, attempt.head
    )
    return CUT_OFF[attempt.role], ended


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


OURS = frozenset((".git", ".nobrakes"))


def path_mistake(path: str) -> str:
    """What is wrong with the path as a place for events; empty: nothing, or it is no path at all."""
    parts = path.split("/")
    if "\0" in path or any(not (part.isprintable()) for part in parts):
        return "holds characters that nobody sees"
    if path and (not parts[-1] or parts[-1] == "."):
        return "names a folder, and not a file"
    if ".." in parts:
        return "leads upward with '..'"
    inside = next((part for part in parts if part.casefold() in OURS), None)
    return f"lies inside of {inside}, which nothing else may write to" if inside is not None else ""
