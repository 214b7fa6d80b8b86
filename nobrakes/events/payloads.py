"""The public events' names, and what each says: a frozen value for each shape, made of the event's data.

1. Names and payloads are a promise (`events.words`).
2. Fields are JSON values. A field that an older event does not have is empty, 0, False or None, by its type.
3. A field is only ever added; one that changes its meaning is another field, and another version of the language.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields
from enum import StrEnum
from functools import cache
from typing import Any, Protocol, TypeVar, get_type_hints

from ..beads.model import Attempt, Bead
from ..beads.work_status import WorkStatus
from ..decisions.model import Escalation
from ..records import frozen
from .kinds import Event


class Name(StrEnum):
    """Every public event with its meaning. A name never changes its meaning."""

    meaning: str

    def __new__(cls, value: str, meaning: str) -> "Name":
        made = str.__new__(cls, value)
        made._value_ = value
        made.meaning = meaning
        return made

    # agents
    TEST_WRITER_SPAWNED = "test_writer_spawned", "A Test Writer started on the bead."
    TEST_WRITER_COMPLETED = "test_writer_completed", "The new tests fail as they should. A Doer is next."
    TEST_WRITER_FAILED = "test_writer_failed", "The Test Writer ended without failing tests, or lost its claim."
    DOER_SPAWNED = "doer_spawned", "A Doer started on the bead."
    DOER_COMPLETED = "doer_completed", "The Doer handed in its work. The Reviewer is next."
    DOER_FAILED = "doer_failed", "The Doer ended without handing in work, or lost its claim on the bead."
    CRASH_TIMEOUT = (
        "crash_timeout",
        "An agent crashed, was killed, showed no activity or ran out of time. Another event reports the agent's end.",
    )
    STOP_REQUESTED = "execution.stop_requested", "A person stopped one agent."
    # reviews
    REVIEW_STARTED = "review_started", "The Reviewer started on the bead's work."
    REVIEW_PASSED = "review_passed", "The bead's work passed its review and is on main."
    REVIEW_FAILED = "review_failed", "The work did not pass its review and goes back to a Doer."
    REVIEW_INTERRUPTED = "review_interrupted", "The review ended without a verdict. nobrakes may review the work again."
    REBASE_CONFLICT = "rebase_conflict", "The work conflicts with main. Another event reports the review's end."
    CODE_REVIEW_STARTED = "code_review.started", "An agent started to review work that passed its checks."
    CODE_REVIEW_ENDED = "code_review.ended", "An agent's code review ended or failed. The event lists its findings."
    # pull requests
    PR_ALLOWED = "pr.allowed", "A person allowed nobrakes to push work that passed and open its pull request."
    PR_CREATED = "pr.created", "nobrakes opened the bead's pull request."
    PR_REVIEW_STARTED = "pr.review_started", "People, or checks at the code host, started to review the pull request."
    PR_ISSUE_FOUND = "pr.issue_found", "Somebody with write access commented on the pull request, or its check failed."
    PR_APPROVED = "pr.approved", "Somebody with write access approved the pull request."
    PR_MERGED = "pr.merged", "Somebody merged the pull request. Another event reports the review's end."
    # people
    ESCALATION = "escalation", "nobrakes asked a person to decide something, or showed a suggestion."
    QUESTION_ASKED = "question.asked", "An agent asked a person a question. The bead waits for the answer."
    QUESTION_ANSWERED = "question.answered", "A person answered a question."
    QUESTION_READ = "question.answer_read", "An agent has read the answer, so the person can no longer withdraw it."
    QUESTION_REOPENED = "question.answer_taken_back", "A person withdrew an answer before an agent read it."
    # the plan
    STEP_ADDED = "plan.step_added", "A bead was added to the plan."
    STEP_UPDATED = "plan.step_updated", "A bead was edited."
    STEP_REORDERED = "plan.step_reordered", "A dependency was added or removed."
    PLAN_APPROVED = "plan.approved", "A person approved a draft, so that agents can start on it."
    # the work
    STEP_STARTED = "execution.step_started", "The first attempt on the bead started."
    STEP_COMPLETED = "execution.step_completed", "The bead is done."
    STEP_CANCELLED = "execution.step_cancelled", "A person cancelled the bead."
    STEP_REOPENED = "execution.step_reopened", "A closed bead was reopened."
    STEP_UNDONE = "execution.step_undone", "A person's step was undone."
    PAUSED_BLOCKER = "execution.paused_blocker", "The bead waits for a person, or until a given time."
    PAUSED = "execution.paused", "A person paused all work: no agent starts."
    RESUMED = "execution.resumed", "The bead continues, or a person resumed all work."
    STATUS = ("execution.status", "A bead's state changed: work began or ended, files changed, tests ran, or it waits.")
    AGENT_LOGGED = "agent.logged", "An agent wrote a line into the bead's log."
    AGENT_NOTIFIED = "agent.notified", "An agent sent the person a notice."
    AGENT_TESTED = "agent.tested", "An agent ran the checks in its workspace. The event has the result of each check."
    AGENT_HANDED_OFF = "agent.handed_off", "An agent reported how its work ended. Its process is still running."
    # sessions
    SESSION_BEGAN = "session.began", "A person started a session with an agent."
    SESSION_SAID = "session.said", "Somebody sent a message to a session."
    SESSION_TURN_STARTED = "session.turn_started", "nobrakes started a session's agent for one turn."
    SESSION_TURN_ENDED = "session.turn_ended", "A session's agent ended its turn. The session has the agent's answer."
    SESSION_ENDED = "session.ended", "A person ended a session."
    PROJECT_SET = "project.set", "A chat agent's session now works on this project."
    # features
    STAGE_DISCOVERY = "stage.discovery", "A feature was started: its Shaper reads the code and asks questions."
    STAGE_PLANNING = "stage.planning", "A feature's Shaper makes or changes the plan."
    STAGE_REVIEW = "stage.review", "A feature's plan is complete and under review."
    STAGE_IMPLEMENTATION = "stage.implementation", "A feature's plan was approved: agents work on its beads."
    STAGE_DONE = "stage.done", "All beads of a feature are on main."
    FEATURE_STATE = "feature.state", "A feature was paused, resumed, expired, failed, completed or rolled back."
    FEATURE_CHANGED = "feature.changed", "A person edited the description of a feature."
    SPRINT_MOVED = "sprint.moved", "A project's sprint started, reached another stage, or ended."
    PLAN_CREATED = "plan.created", "A version of a feature's plan is complete and stored."
    PLAN_REVIEW_STARTED = "review.started", "A review of a feature's plan started."
    PLAN_REVIEW_ENDED = "review.ended", "A review of a feature's plan ended or failed."
    REVIEW_ITERATION_COMPLETE = "review.iteration_complete", "A round of reviews of a feature's plan ended."
    REVIEW_SIGNOFF_REQUIRED = "review.signoff_required", "A feature's plan needs a person's sign-off."
    REVIEW_APPROVED = "review.approved", "A person signed off a feature's plan. No agent works on the beads yet."
    REVIEW_FINDINGS = "review.findings", "A plan reviewer reported a problem."
    FINDING_SETTLED = "review.finding_settled", "A person decided about a plan reviewer's finding."
    TODO_COLLECTED = "todo.collected", "nobrakes collected a suggestion or `TODO`, to be planned later in the feature."
    TODO_SETTLED = "todo.settled", "A collected suggestion or `TODO` was handled, or no longer exists."
    REPLANNING = "todo.replanning_triggered", "A feature went back from implementation to planning."
    # checks and main
    CHECK_FLAKED = "check.flaked", "A check failed and passed on the same files."
    CHECK_QUARANTINED = "check.quarantined", "A person put a test or check into quarantine: it cannot block merges."
    CHECK_QUARANTINE_LIFTED = "check.quarantine_lifted", "The quarantine of a test or check ended: it must pass again."
    MAIN_GREEN = "main.green", "The latest commit of main passed its checks."
    MAIN_FROZEN = "main.frozen", "main failed its checks or its set-up: merges have stopped."
    MAIN_UNFROZEN = "main.unfrozen", "main passes its checks again: merges continue."
    MAIN_REWRITTEN = "main.rewritten", "Somebody removed merged beads from main."
    MAIN_CULPRIT_FOUND = "main.culprit_found", "The search for the commit that broke main has ended."
    # the machine
    DAEMON_STARTED = "daemon.started", "A daemon started."
    DAEMON_STOPPED = "daemon.stopped", "A daemon stopped cleanly."
    LIMITS_CHANGED = "limits.changed", "A person changed limits while agents were running."
    CONFIG_CHANGED = "config.changed", "A person changed a setting in config.toml, or undid such a change."
    PROVIDER_REFUSED = "provider.refused", "A provider of models refused a request. For now no agent uses the provider."
    PROVIDER_AVAILABLE = "provider.available", "Agents use the provider again."
    CAP_REACHED = "cap.reached", "A cap on cost, tokens or time was reached: no agent starts."
    SAFETY_REDUCED = "safety.reduced", "Agents run with less protection than they should."
    SAFETY_DANGER_SEEN = "safety.danger_seen", "An agent called a tool in a way that looks dangerous."
    SAFETY_HOSTS_REFUSED = "safety.hosts_refused", "An agent or check tried to reach hosts that are not allowed."
    # the log itself
    LOG_BEGUN = "log.begun", "An events file begins or begins again with this line, whose `seq` is 0."


@frozen
class Payload:
    """Only the fields common to all events."""


P = TypeVar("P", bound=Payload)


@cache
def _hints(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind)


def made(kind: type[P], values: Mapping[str, Any]) -> P:
    """The payload with its fields from `values`; values of another type are converted, or left out."""
    shape: type = kind
    types = _hints(shape)
    known: dict[str, Any] = {}
    for one in fields(kind):
        if (given := values.get(one.name)) is not None and (value := _fitting(types[one.name], given)) is not None:
            known[one.name] = value
    return kind(**known)


def _fitting(type_: Any, value: Any) -> Any:
    if type_ in (str, str | None):
        return str(value)
    if type_ is bool:
        return bool(value)
    if type_ == int | None:
        return int(value) if isinstance(value, int | float) else None
    if type_ == float | None:
        return float(value) if isinstance(value, int | float) else None
    if type_ == tuple[str, ...]:
        return tuple(map(str, value)) if isinstance(value, list | tuple) else None
    if type_ == tuple[int, ...]:
        return tuple(int(one) for one in value if isinstance(one, int)) if isinstance(value, list | tuple) else None
    if type_ == tuple[tuple[str, ...], ...]:
        return tuple(tuple(map(str, one)) for one in value if isinstance(one, list | tuple))
    return dict(value) if isinstance(value, Mapping) else None


@frozen
class Staged(Payload):
    """A feature came to a stage; `task_id` is its epic."""

    feature_description: str = ""
    reason: str = ""


@frozen
class FeatureState(Payload):
    """Whether a feature goes on."""

    state: str = ""  # active, paused, completed, expired, error, rolled_back
    stage: str = ""  # discovery, planning, review, implementation, request, done
    reason: str = ""


@frozen
class FeatureChanged(Payload):
    """What is said of a feature changed: the names of the fields."""

    fields: tuple[str, ...] = ()


@frozen
class SprintMoved(Payload):
    """Where a sprint is; without a number: the run of sprints itself."""

    sprint: int | None = None
    state: str = ""
    reason: str = ""


@frozen
class PlanCreated(Payload):
    """A version of a plan, and how many beads it has."""

    version: int | None = None
    steps: int | None = None
    reason: str = ""


@frozen
class PlanReviewed(Payload):
    """One reviewer's look at a plan, for one domain, or all of a round."""

    iteration_number: int | None = None
    domain: str = ""
    version: int | None = None  # of the plan
    session_id: int | None = None
    state: str = ""  # how it ended; done or failed, of a round clean, findings or degraded
    findings: int | None = None  # how many
    detail: str = ""


@frozen
class SignOff(Payload):
    """A plan's sign-off."""

    version: int | None = None  # of the plan
    review_count: int | None = None
    recommended_min: int | None = None
    reason: str = ""  # of a person who signed with open findings


@frozen
class Found(Payload):
    """What a reviewer of a plan found, or how it was decided."""

    finding: int | None = None
    iteration_number: int | None = None
    domain: str = ""
    category: str = ""  # code quality, architecture, security or performance
    priority: int | None = None  # 1 to 3; 1 must be mended
    issue: str = ""
    step_id: str | None = None  # the bead that it is about
    state: str = ""  # answered or risk_accepted, where it was decided
    answer: str = ""


@frozen
class Collected(Payload):
    """What was collected while a feature is built."""

    item: int | None = None
    type: str = ""  # todo, fixme, suggestion, dependency or scope
    description: str = ""
    file: str = ""
    line: int | None = None
    state: str = ""  # reviewed, dismissed or resolved, where it was looked at


# What others wrote at the code host (`issue`, `suggestion`, `by`, `file`) is data: cleaned, bounded, no instruction.
@frozen
class PushAllowed(Payload):
    """A person's word for a push, which holds for this work alone."""

    head: str = ""  # the commit that was handed in, and has passed
    branch: str = ""  # that it is pushed to at the code host


@frozen
class Requested(Payload):
    """A bead's pull request."""

    pr_number: int | None = None  # null: the code host numbers none, as plain git
    pr_url: str = ""
    title: str = ""
    branch: str = ""  # at the code host
    head: str = ""  # the commit that was proven and pushed
    merged_commit: str | None = None  # what people made of it


@frozen
class RequestIssue(Payload):
    """A remark on it, or a red check."""

    pr_number: int | None = None
    pr_url: str = ""
    issue: str = ""  # the remark, or what the check says of itself
    severity: str = ""  # error: a red check; warning: a remark
    suggestion: str = ""  # what the remark wants the lines to become, where it says so
    by: str = ""  # who wrote it, by their name at the code host
    check: str = ""  # the check's name there
    file: str = ""
    line: int | None = None


@frozen
class RequestApproved(Payload):
    """Somebody approved it."""

    pr_number: int | None = None
    pr_url: str = ""
    by: str = ""


# What a reviewer wrote (`findings`) is data: cleaned, bounded, no instruction.
@frozen
class WorkRead(Payload):
    """Work that passed its checks is read, or was: by whom, in which round, and what was found."""

    session_id: int | None = None
    iteration_number: int | None = None  # the round
    max_iterations: int | None = None
    cli: str = ""
    model: str = ""  # empty: the agent's own choice
    state: str = ""  # done or failed, where it ended
    p1: int | None = None  # how many findings
    p2: int | None = None
    p3: int | None = None
    findings: tuple[tuple[str, ...], ...] = ()  # of each its priority, category, place and text
    cost_usd: float | None = None
    detail: str = ""


@frozen
class Spawned(Payload):
    """An attempt began."""

    attempt: int | None = None  # the attempt in the database: what begins here ends under the same number
    number: int | None = None  # counts the bead's attempts of every role, from 1
    role: str = ""
    cli: str = ""  # the agent CLI that works under the agent's name
    model: str = ""


@frozen
class Ended(Payload):
    """An attempt ended; `outcome` is one of docs/reference/outcomes.md."""

    attempt: int | None = None
    number: int | None = None
    role: str = ""
    outcome: str = ""
    detail: str = ""
    head: str | None = None  # the commit that was handed in
    merged_commit: str | None = None  # what main became


@frozen
class InSession(Payload):
    """Something happened in a session."""

    session_id: int | None = None


@frozen
class SessionBegan(Payload):
    """A conversation with an agent began."""

    session_id: int | None = None
    kind: str = ""
    title: str = ""
    cli: str = ""  # the agent CLI


@frozen
class ProjectSet(Payload):
    """A chat agent's session, by its name, was given a project: the name of its folder, and its whole path."""

    sessionId: str = ""
    projectName: str = ""
    projectPath: str = ""
    isNew: bool = False


@frozen
class SessionSaid(Payload):
    """What was said, as much of it as an event keeps."""

    session_id: int | None = None
    text: str = ""


@frozen
class TurnStarted(Payload):
    """Its agent was started."""

    session_id: int | None = None
    turn: int | None = None  # counts the session's turns, from 1: what begins here ends under the same number
    cli: str = ""
    model: str = ""


@frozen
class TurnEnded(Payload):
    """Its agent ended; `outcome` is one of docs/reference/outcomes.md."""

    session_id: int | None = None
    turn: int | None = None
    outcome: str = ""
    detail: str = ""
    state: str = ""  # of the session after it: ready, asking, idle, stuck or ended


@frozen
class Asked(Payload):
    """A person is asked, or has something to look at. `stops`: the bead waits for it."""

    escalation: int | None = None
    type: str = ""
    title: str = ""
    stops: bool = False


@frozen
class Question(Payload):
    """An agent asks."""

    question_id: int | None = None
    type: str = ""
    text: str = ""
    required: bool = True  # the bead does not go on without an answer
    session_id: int | None = None  # the session that asks, where it is not a bead's
    form: Mapping[str, Any] | None = None  # what can be answered; null: any text


@frozen
class AnswerRead(Payload):
    """Somebody acts by an answer."""

    question_id: int | None = None


@frozen
class Answered(Payload):
    """A person answered."""

    question_id: int | None = None
    answer: str = ""


@frozen
class StepAdded(Payload):
    """A bead came into the plan; `needs` are pairs of a bead and the type of dependency."""

    status: str = ""
    needs: tuple[tuple[str, ...], ...] = ()


@frozen
class StepUpdated(Payload):
    """A bead was edited: field -> what it was and what it is."""

    changes: Mapping[str, Any] = field(default_factory=dict)


@frozen
class StepReordered(Payload):
    """A dependency came (`added`) or went."""

    needs: str = ""
    type: str = ""
    added: bool = False


@frozen
class StepClosed(Payload):
    """A bead is done or given up."""

    how: str = ""  # merged, found_merged, done_by_hand, epic_completed, cancelled
    commit: str | None = None
    reason: str = ""


@frozen
class StepOpened(Payload):
    """A closed bead is open again."""

    how: str = ""  # reopened, reverted
    commit: str | None = None  # the merge that was taken back
    revert: str | None = None  # the commit that took it back
    reason: str = ""


@frozen
class Undone(Payload):
    """A step was taken back: the numbers (`seq`) of its events, and the beads, where it was a step of several."""

    undone: tuple[int, ...] = ()
    beads: tuple[str, ...] = ()


@frozen
class Paused(Payload):
    """Work stands still: of a bead, or (task_id null) of all."""

    blocker: str = ""
    needs_input: bool = False
    until: float | None = None  # seconds since 1970, where it goes on by itself


@frozen
class Resumed(Payload):
    """Work goes on: of a bead, or (task_id null) of all."""

    escalation: int | None = None
    resolution: str = ""
    to: str | None = None  # the status that the bead goes on in


@frozen
class Said(Payload):
    """What an agent says. A claim, and the words of an agent: information, never an instruction."""

    text: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)


@frozen
class Status(Payload):
    """How a bead stands while it is worked on. `text` and `data`: what the agent said, where it said something.

    Type, progress and message are an agent's claims; files and tests are what was seen."""

    text: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    attempt: int | None = None
    step_id: str = ""  # the bead
    status: str = ""  # IN_PROGRESS, COMPLETE or BLOCKED
    files_modified: int | None = None  # files that differ from where the attempt began
    tests_status: str = ""  # PASSING, FAILING or NOT_RUN: of the last run in this attempt
    work_type: str = ""  # IMPLEMENTATION, TESTING or REFACTORING
    progress: int | None = None  # 0 to 100
    message: str = ""


@frozen
class HandedOff(Payload):
    """What an agent says of its end; its process has not ended yet."""

    outcome: str = ""


@frozen
class StopAsked(Payload):
    """A person stops one agent: it ends as `interrupted`."""

    worker: str = ""
    number: int | None = None


@frozen
class Process(Payload):
    """The daemon's process."""

    pid: int | None = None


@frozen
class Limits(Payload):
    """Limits or settings that a person changed, by name; None where the file has none."""

    before: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)


@frozen
class CheckNamed(Payload):
    """A check, and where only one of its tests is meant, that test."""

    check: str = ""
    test: str | None = None
    reason: str = ""


@frozen
class Flaked(Payload):
    """A check failed and passed on the same tree."""

    check: str = ""
    tests: tuple[str, ...] = ()
    tree: str = ""


@frozen
class Provider(Payload):
    """A provider of models refuses, or is there again."""

    provider: str = ""
    reason: str = ""
    until: float | None = None
    detail: str = ""


@frozen
class Cap(Payload):
    """A cap on cost, tokens or time is reached."""

    cap: str = ""
    spent: float | None = None
    limit: float | None = None
    until: float | None = None


@frozen
class Main(Payload):
    """Something about main's tip."""

    commit: str | None = None
    why: str = ""


@frozen
class Warned(Payload):
    """Agents run with less protection than they should."""

    why: str = ""


@frozen
class DangerSeen(Payload):
    """An agent called a tool in a way that looks dangerous: `text` is the call, `why` what is dangerous about it."""

    run: str = ""
    why: str = ""
    text: str = ""
    session_id: int | None = None


@frozen
class HostsRefused(Payload):
    """A confined run asked for hosts that it may not reach."""

    run: str = ""
    hosts: tuple[str, ...] = ()


@frozen
class Begun(Payload):
    """A file of events begins, or goes on otherwise: what follows comes after the event `after` of this database."""

    after: int = 0
    why: str = ""


KINDS: tuple[type[Payload], ...] = tuple(
    one for one in tuple(globals().values()) if isinstance(one, type) and issubclass(one, Payload)
)


class Facts(Protocol):
    """Facts about a bead, for the actor and number of tries."""

    def bead(self, bead: str) -> Bead | None: ...

    def attempts(self, bead: str) -> Sequence[Attempt]:
        """Oldest first."""

    def escalations(self, bead: str) -> Sequence[Escalation]: ...

    def status(self, event: Event) -> WorkStatus | None:
        """The bead's status after the event; None: unknown."""


Made = tuple[Name, Payload]


@frozen
class Rule:
    """A kind's public event: name, payload, and the keys of the event's data."""

    name: Name
    payload: type[Payload]
    where: Mapping[str, str] | None = None  # field -> key of the data, where they differ
    fixed: Mapping[str, Any] | None = None  # what the kind itself says
    when: Callable[[Event], bool] = lambda event: True

    def of(self, event: Event, facts: Facts) -> Made:
        """The name and the payload for this event."""
        renamed = {field: event.data.get(key) for field, key in (self.where or {}).items()}
        known = {"attempt": event.attempt, **event.data, **renamed, **(self.fixed or {})}
        status = facts.status(event) if self.payload is Status else None
        known |= {} if status is None else status.as_values()
        return self.name, made(self.payload, known)
