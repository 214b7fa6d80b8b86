"""What each kind of event is: what it means, the keys of its data, what it says in public, and its line for people.

1. Every kind has one row. A kind that says nothing in public has the reason there.
2. The keys of an event's data are what the store is seen to record: tests/architecture/test_docs_events.py
   compares them with simulated runs.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..beads import work_status
from ..beads.model import Outcome
from ..decisions.model import EscalationType
from ..features.model import PLANNED, Stage
from ..text.cleaning import count, lasted, one_line
from . import payloads as say
from .kinds import Event, Kind
from .payloads import Name, Payload, Rule

CRASHES = frozenset(
    {Outcome.CRASHED, Outcome.KILLED, Outcome.STALLED, Outcome.TIMED_OUT, Outcome.LOST, Outcome.CONTEXT_OVERFLOW}
)
"""Endings without a word of the agent; `crash_timeout` reports them too."""


class KindDescription(NamedTuple):
    """One kind of event."""

    meaning: str  # for the reference
    keys: tuple[str, ...]  # of its data
    public: tuple[Rule, ...]  # what it says in public
    inside: str = ""  # why it says nothing in public
    word: str = ""  # for people; empty: the kind's own name
    line: Callable[[Event], str] | None = None  # what happened and why, where word, ending and reason are not enough
    style: str = ""  # the line's colour
    says_end: bool = False  # the word says how the attempt ended
    json: str = ""  # its name in `events --json`; empty: the kind's own


def _started(event: Event) -> str:
    number = event.data.get("number")
    again = f", attempt {number}" if isinstance(number, int) and number > 1 else ""
    return f"{TABLE[event.kind].word}{again}"


def _merged(event: Event) -> str:
    commit = one_line(str(event.data.get("merged_commit") or ""))[:12]
    return f"merged as {commit}" if commit else "merged"


def _landed(event: Event) -> str:
    commit = one_line(str(event.data.get("merged_commit") or ""))[:12]
    return f"landed on its epic's branch as {commit}" if commit else "landed on its epic's branch"


def _asked(event: Event) -> str:
    number, kind = event.data.get("escalation", ""), work_status.plain(str(event.data.get("type") or ""))
    return f"escalation {number}: {kind}: {one_line(str(event.data.get('title') or ''))}"


def _checked(event: Event) -> str:
    step = work_status.stage(str(event.data.get("step") or ""), str(event.data.get("epic") or ""))
    results = event.data.get("results")
    rows: Sequence[Any] = results if isinstance(results, list | tuple) else ()
    said = verdict([row for row in rows if isinstance(row, Mapping)])
    return f"{step}: {said}" if said else step


def verdict(results: Sequence[Mapping[str, Any]]) -> str:
    """The result of checks in short: the first failure with its reason, or that all passed."""
    if not results:
        return ""
    bad = [row for row in results if row.get("outcome") != "pass"]
    if bad:
        others = f", and {len(bad) - 1} more" if len(bad) > 1 else ""
        return one_line(f"{bad[0].get('name', '?')}: {bad[0].get('reason') or bad[0].get('outcome')}{others}")
    seconds = sum(float(row.get("seconds") or 0) for row in results)
    return f"passed in {lasted(seconds)}"


def _checks_began(event: Event) -> str:
    last = event.data.get("seconds")
    took = f", took {lasted(float(last))} last time" if isinstance(last, int | float) else ""
    step, epic = (str(event.data.get(key) or "") for key in ("step", "epic"))
    return f"checks begin on {work_status.subject(step, epic)}{took}"


def _culprit(event: Event) -> str:
    why = work_status.plain(str(event.data.get("why") or ""))
    return ": ".join(
        part for part in ("culprit found" if event.data.get("commit") else "no culprit found", why) if part
    )


def _sprint(event: Event) -> str:
    data = event.data
    what = f"sprint {data['sprint']}" if data.get("sprint") is not None else "the sprints"
    return f"{what}: {data.get('state', '')}" + (f": {data['reason']}" if data.get("reason") else "")


def _project(event: Event) -> str:
    name, chat = (one_line(str(event.data.get(key) or "")) for key in ("projectName", "sessionId"))
    return f"project {name} set for session {chat}"


def _said(event: Event, key: str) -> str:
    return work_status.plain(one_line(str(event.data.get(key) or "")))


_FEATURE_STATES = {"active": "is", "error": "stopped with an error", "expired": "has expired"}


def _moved(event: Event) -> str:
    stage, state = _said(event, "stage"), _said(event, "state")
    came = f"feature {_FEATURE_STATES.get(state, f'is {state}')} in {stage}"
    why = one_line(str(event.data.get("reason") or ""))
    return f"{came}: {why}" if why else came


def _plan_kept(event: Event) -> str:
    return f"plan is complete: version {event.data.get('version')}, {count(event.data.get('beads', 0), 'bead')}"


def _plan_review(event: Event) -> str:
    whose = f"round {event.data.get('round')}, {_said(event, 'domain')}"
    if event.kind is Kind.PLAN_REVIEW_BEGAN:
        return f"plan review began: {whose}"
    detail = one_line(str(event.data.get("detail") or ""))
    found = f"{whose}: {_said(event, 'state')}, {event.data.get('findings')} found"
    return f"plan review ended: {found}{f': {detail}' if detail else ''}"


def _read(event: Event) -> str:
    data = event.data
    who = f"{_said(event, 'agent')}, round {data.get('round')} of {data.get('of')}"
    if event.kind is Kind.CODE_REVIEW_BEGAN:
        return f"code review by {who}"
    if data.get("state") == "failed":
        return f"no review by {who}: {one_line(str(data.get('why') or ''))}"
    counts = ", ".join(f"{data[key]} {key.upper()}" for key in ("p1", "p2", "p3") if data.get(key))
    return f"review by {who}: {counts or 'nothing found'}"


def _found(event: Event) -> str:
    kind = _said(event, "category")
    return f"finding P{event.data.get('priority')}, {kind}: {one_line(str(event.data.get('issue') or ''))}"


def _collected(event: Event) -> str:
    file = one_line(str(event.data.get("file") or ""))
    where = f" ({file}:{event.data.get('line')})" if file else ""
    return f"collected {_said(event, 'kind')}: {one_line(str(event.data.get('text') or ''))}{where}"


def _pull(said: str) -> Callable[[Event], str]:
    return lambda event: f"{_pull_name(event)} {said}"


def _pull_name(event: Event) -> str:
    number = event.data.get("pr_number")
    return f"pull request #{number}" if number else f"branch {one_line(str(event.data.get('branch') or ''))}"


def _pull_by(event: Event) -> str:
    return f"{_pull_name(event)} is approved by {one_line(str(event.data.get('by') or 'somebody'))}"


def _pull_issue(event: Event) -> str:
    data = event.data
    issue, check = (one_line(str(data.get(key) or "")) for key in ("issue", "check"))
    if check:
        return f"{_pull_name(event)} has a red check: {check}" + (f": {issue}" if issue else "")
    file = one_line(str(data.get("file") or ""))
    where = f", {file}:{data['line']}" if file and data.get("line") else f", {file}" if file else ""
    return f"{_pull_name(event)} has a comment by {one_line(str(data.get('by') or 'somebody'))}{where}: {issue}"


def _push_allowed(event: Event) -> str:
    head, branch = (one_line(str(event.data.get(key) or "")) for key in ("head", "branch"))
    return f"allowed the push of {head[:12]} as {branch}"


def _is_question(event: Event) -> bool:
    return event.data.get("type") in (EscalationType.QUESTION.value, EscalationType.PLAN_REVIEW.value)


def _has_a_bead(event: Event) -> bool:
    return event.bead is not None


def _conflicted(event: Event) -> bool:
    return event.data.get("outcome") == Outcome.CONFLICT


def _has_an_attempt(event: Event) -> bool:
    """Not so where a person sends work back: an open review is interrupted for it, and says so itself."""
    return event.attempt is not None


def _came_to(stage: Stage) -> Callable[[Event], bool]:
    return lambda event: event.data.get("stage") == stage.value != event.data.get("before")


def _replans(event: Event) -> bool:
    return event.data.get("before") == Stage.IMPLEMENTATION and event.data.get("stage") in PLANNED


_CLI_FIELDS = {"cli": "agent"}
_READ_FIELDS = {
    "iteration_number": "round",
    "max_iterations": "of",
    "session_id": "session",
    "cli": "agent",
    "detail": "why",
}
_SIGN_OFF_FIELDS = {"review_count": "reviews", "recommended_min": "most"}
_LOOK_FIELDS = {"iteration_number": "round", "session_id": "session"}
_STAGES: Mapping[Stage, Name] = {
    Stage.DISCOVERY: Name.STAGE_DISCOVERY,
    Stage.PLANNING: Name.STAGE_PLANNING,
    Stage.REVIEW: Name.STAGE_REVIEW,
    Stage.IMPLEMENTATION: Name.STAGE_IMPLEMENTATION,
    Stage.DONE: Name.STAGE_DONE,
}
_QUESTION_FIELDS = {"question_id": "escalation", "text": "title", "session_id": "session"}
_STEP_STARTED = Rule(Name.STEP_STARTED, say.Spawned, _CLI_FIELDS, when=lambda event: event.data.get("number") == 1)
_STATUS = Rule(Name.STATUS, say.Status, when=_has_a_bead)
_CRASH = Rule(Name.CRASH_TIMEOUT, say.Ended, when=lambda event: event.data.get("outcome") in CRASHES)


def _closed(name: Name, kind: Kind, commit: str = "commit") -> Rule:
    return Rule(name, say.StepClosed, {"commit": commit}, {"how": kind.value})


_MOVE_KEYS = "before return_to"
_START_KEYS = "role name agent model number"
_END_KEYS = "outcome detail role name number head merged_commit"
_EDGE = "needs type"
_ASK_KEYS = "escalation type title"
_CLOSE_KEYS = f"reason escalation {_MOVE_KEYS}"
_SAID_KEYS = "text data"
_HOST_KEYS = "pr_number pr_url"
_PULL_KEYS = f"{_HOST_KEYS} title branch head merged_commit"


def _row(meaning: str, keys: str = "", *public: Rule, **more: Any) -> KindDescription:
    return KindDescription(meaning, tuple(keys.split()), public, **more)


TABLE: Mapping[Kind, KindDescription] = {
    Kind.PROPOSED: _row("The bead was added.", "status needs", Rule(Name.STEP_ADDED, say.StepAdded), word="added"),
    Kind.CHANGED: _row(
        "A person edited the bead.", "fields", Rule(Name.STEP_UPDATED, say.StepUpdated, {"changes": "fields"})
    ),
    Kind.APPROVED: _row("A draft went live.", "", Rule(Name.PLAN_APPROVED, Payload)),
    Kind.CHANGE_PROPOSED: _row(
        "A change of the bead was proposed; a person has not approved it yet.",
        "parts",
        inside="Nothing is changed by it; what a person approves of it is public by itself.",
    ),
    Kind.CHANGE_DROPPED: _row("A proposed change was dropped.", "parts why", inside="Nothing is changed by it."),
    Kind.CHANGE_APPROVED: _row(
        "A person approved the proposed change of the bead.", "parts", inside="What it changes is public by itself."
    ),
    Kind.STRATEGY_APPROVED: _row(
        "A person approved proposed changes, with the drafts that waited.",
        "first drafts changes",
        Rule(Name.PLAN_APPROVED, Payload),
    ),
    Kind.HELD: _row(
        "A person holds the bead.", "reason before red", Rule(Name.PAUSED_BLOCKER, say.Paused, {"blocker": "reason"})
    ),
    Kind.RELEASED: _row(
        "A held bead may continue.", "before", Rule(Name.RESUMED, say.Resumed, fixed={"resolution": "released"})
    ),
    Kind.DEFERRED: _row(
        "No agent starts on the bead before a given time.",
        "until before",
        Rule(Name.PAUSED_BLOCKER, say.Paused, fixed={"blocker": "deferred"}),
    ),
    Kind.DEPENDENCY_ADDED: _row(
        "The bead depends on another one.", _EDGE, Rule(Name.STEP_REORDERED, say.StepReordered, fixed={"added": True})
    ),
    Kind.DEPENDENCY_REMOVED: _row(
        "The bead no longer depends on the other one.",
        _EDGE,
        Rule(Name.STEP_REORDERED, say.StepReordered, fixed={"added": False}),
    ),
    Kind.TEST_WRITER_STARTED: _row(
        "A Test Writer claimed the bead.",
        _START_KEYS,
        Rule(Name.TEST_WRITER_SPAWNED, say.Spawned, _CLI_FIELDS),
        _STEP_STARTED,
        _STATUS,
        word="test writer started",
        line=_started,
        json="test_writer_spawned",
    ),
    Kind.TESTS_PROVEN_RED: _row(
        "The tests fail as they should; a Doer is next.",
        _END_KEYS,
        Rule(Name.TEST_WRITER_COMPLETED, say.Ended),
        _STATUS,
        word="tests proven red",
        json="test_writer_completed",
        says_end=True,
    ),
    Kind.TESTS_REJECTED: _row(
        "The new tests do not fail, or fail for a wrong reason.",
        _END_KEYS,
        Rule(Name.TEST_WRITER_FAILED, say.Ended),
        _STATUS,
        style="yellow",
    ),
    Kind.TEST_WRITER_STOPPED: _row(
        "The Test Writer finished without any proven tests.",
        _END_KEYS,
        _CRASH,
        Rule(Name.TEST_WRITER_FAILED, say.Ended),
        _STATUS,
        word="test writer stopped",
        style="yellow",
    ),
    Kind.DOER_STARTED: _row(
        "A Doer claimed the bead.",
        _START_KEYS,
        Rule(Name.DOER_SPAWNED, say.Spawned, _CLI_FIELDS),
        _STEP_STARTED,
        _STATUS,
        word="doer started",
        line=_started,
        json="doer_spawned",
    ),
    Kind.WORK_SUBMITTED: _row(
        "The Doer handed in; the Reviewer is next.",
        _END_KEYS,
        Rule(Name.DOER_COMPLETED, say.Ended),
        _STATUS,
        word="handed in",
        json="doer_completed",
        says_end=True,
    ),
    Kind.DOER_STOPPED: _row(
        "The Doer ended without handing in.",
        _END_KEYS,
        _CRASH,
        Rule(Name.DOER_FAILED, say.Ended),
        _STATUS,
        word="doer stopped",
        json="doer_failed",
        style="yellow",
    ),
    Kind.STOP_ASKED: _row(
        "`nobrakes stop` for one agent; it ends as `interrupted`. For a turn of a session only `session` is set.",
        "name number session",
        Rule(Name.STOP_REQUESTED, say.StopAsked, {"worker": "name"}),
    ),
    Kind.REVIEW_STARTED: _row(
        "The Reviewer claimed the bead.",
        _START_KEYS,
        Rule(Name.REVIEW_STARTED, say.Spawned, _CLI_FIELDS),
        word="review started",
        line=_started,
    ),
    Kind.CHECKS_BEGAN: _row(
        "A validation begins.",
        "step commit run seconds epic",
        inside="A sign for people that something slow begins; its result is public.",
        line=_checks_began,
    ),
    Kind.REVIEW_STEP: _row(
        "A validation of the review ended.",
        "step commit run results epic",
        inside="The steps of a review may change between versions; its result is public.",
        line=_checked,
    ),
    Kind.REVIEW_REJECTED: _row(
        "The work goes back to a Doer.",
        _END_KEYS,
        Rule(Name.REBASE_CONFLICT, say.Ended, when=_conflicted),
        Rule(Name.REVIEW_FAILED, say.Ended, when=_has_an_attempt),
        _STATUS,
        word="rejected",
        json="review_failed",
        style="yellow",
    ),
    Kind.REVIEW_INTERRUPTED: _row(
        "The review ended without a verdict.",
        _END_KEYS,
        Rule(Name.REBASE_CONFLICT, say.Ended, when=_conflicted),
        Rule(Name.REVIEW_INTERRUPTED, say.Ended),
    ),
    Kind.LANDED: _row(
        "The bead is on the branch of its epic. For an epic: the work so far has been merged, and the epic continues.",
        _END_KEYS,
        Rule(Name.REVIEW_PASSED, say.Ended),
        _STATUS,
        line=_landed,
        style="green",
        says_end=True,
    ),
    Kind.MERGED: _row(
        "The bead is on main.",
        _END_KEYS,
        Rule(Name.REVIEW_PASSED, say.Ended),
        _closed(Name.STEP_COMPLETED, Kind.MERGED, "merged_commit"),
        _STATUS,
        line=_merged,
        json="review_passed",
        style="green",
        says_end=True,
    ),
    Kind.FOUND_MERGED: _row(
        "Main carries the bead's merge: the pull request of its epic was merged, or the database was older than main. "
        "The bead is done.",
        f"merged_commit base reason with whole {_MOVE_KEYS}",
        _closed(Name.STEP_COMPLETED, Kind.FOUND_MERGED, "merged_commit"),
        _STATUS,
        style="green",
    ),
    Kind.REVERTED: _row(
        "A commit on main reverted the merge, for a person or for main's monitor. The bead is open again.",
        f"commit revert undone results {_MOVE_KEYS}",
        Rule(Name.STEP_REOPENED, say.StepOpened, fixed={"how": "reverted"}),
        style="red",
    ),
    Kind.FLAKED: _row(
        "A check failed and passed on the same tree, under the same contract.",
        "check tests tree run",
        Rule(Name.CHECK_FLAKED, say.Flaked),
    ),
    Kind.CODE_REVIEW_BEGAN: _row(
        "An agent reviews work that passed its checks.",
        "session round of agent model head",
        Rule(Name.CODE_REVIEW_STARTED, say.WorkRead, _READ_FIELDS),
        line=_read,
    ),
    Kind.CODE_REVIEW_ENDED: _row(
        "An agent's code review ended, or failed.",
        "session round of agent model state why p1 p2 p3 findings cost_usd",
        Rule(Name.CODE_REVIEW_ENDED, say.WorkRead, _READ_FIELDS),
        line=_read,
    ),
    Kind.PUSH_ALLOWED: _row(
        "A person allowed work that passed to be pushed and its pull request to be opened (`nobrakes pr open`).",
        "head branch",
        Rule(Name.PR_ALLOWED, say.PushAllowed),
        line=_push_allowed,
    ),
    Kind.PULL_OPENED: _row(
        "The bead's pull request is open.", _PULL_KEYS, Rule(Name.PR_CREATED, say.Requested), line=_pull("is open")
    ),
    Kind.PULL_REVIEW_BEGAN: _row(
        "People or checks of the code host began to review it.",
        _PULL_KEYS,
        Rule(Name.PR_REVIEW_STARTED, say.Requested),
        line=_pull("is under review"),
    ),
    Kind.PULL_ISSUE_FOUND: _row(
        "Somebody with write access commented on it, or a check of the code host is red; each is reported once.",
        f"{_HOST_KEYS} issue severity suggestion by check file line",
        Rule(Name.PR_ISSUE_FOUND, say.RequestIssue),
        line=_pull_issue,
        style="yellow",
    ),
    Kind.PULL_APPROVED: _row(
        "Somebody with write access approved it.",
        f"{_HOST_KEYS} by",
        Rule(Name.PR_APPROVED, say.RequestApproved),
        line=_pull_by,
        style="green",
    ),
    Kind.PULL_MERGED: _row(
        "People merged it; the end of its review follows.",
        _PULL_KEYS,
        Rule(Name.PR_MERGED, say.Requested),
        line=_pull("is merged"),
    ),
    Kind.ESCALATED: _row(
        "A person is asked, and the bead waits.",
        f"{_ASK_KEYS} session form",
        Rule(Name.ESCALATION, say.Asked, fixed={"stops": True}),
        Rule(Name.QUESTION_ASKED, say.Question, _QUESTION_FIELDS, when=_is_question),
        Rule(Name.PAUSED_BLOCKER, say.Paused, {"blocker": "title"}, {"needs_input": True}, when=_has_a_bead),
        _STATUS,
        line=_asked,
        json="escalation",
        style="red",
    ),
    Kind.SUGGESTED: _row(
        "A person gets a notice; no work waits for an answer.",
        f"{_ASK_KEYS} severity",
        Rule(Name.ESCALATION, say.Asked, fixed={"stops": False}),
        line=_asked,
    ),
    Kind.ANSWERED: _row(
        "A person answered.",
        "escalation answer",
        Rule(Name.QUESTION_ANSWERED, say.Answered, {"question_id": "escalation"}),
    ),
    Kind.ANSWER_READ: _row(
        "An agent acts on the answer. The answer can no longer be withdrawn.",
        "escalation",
        Rule(Name.QUESTION_READ, say.AnswerRead, {"question_id": "escalation"}),
    ),
    Kind.ANSWER_TAKEN_BACK: _row(
        "A person took back an answer that no agent had read.",
        "escalation answer",
        Rule(Name.QUESTION_REOPENED, say.Answered, {"question_id": "escalation"}),
    ),
    Kind.RESOLVED: _row("A person decided.", "escalation resolution to", Rule(Name.RESUMED, say.Resumed), _STATUS),
    Kind.RETRIED: _row(
        "A person sends the bead back to agents; its failures count from zero again.",
        "failures reason",
        Rule(Name.RESUMED, say.Resumed, fixed={"resolution": "retry"}),
    ),
    Kind.TAKEN: _row(
        "A person works on the bead, and it is held for them.",
        f"reason folder {_MOVE_KEYS}",
        Rule(Name.PAUSED_BLOCKER, say.Paused, {"blocker": "reason"}),
    ),
    Kind.HANDED_IN: _row(
        "A person handed in work; the Reviewer is next, and the bead's open decisions are closed.",
        f"head number folder {_MOVE_KEYS}",
        Rule(Name.RESUMED, say.Resumed, fixed={"resolution": "handed in by a person"}),
    ),
    Kind.CANCELLED: _row("A person cancelled the bead.", _CLOSE_KEYS, _closed(Name.STEP_CANCELLED, Kind.CANCELLED)),
    Kind.DONE_BY_HAND: _row(
        "A person marked the bead as done.", _CLOSE_KEYS, _closed(Name.STEP_COMPLETED, Kind.DONE_BY_HAND), _STATUS
    ),
    Kind.REOPENED: _row(
        "A closed bead is open again.",
        f"reason {_MOVE_KEYS}",
        Rule(Name.STEP_REOPENED, say.StepOpened, fixed={"how": "reopened"}),
    ),
    Kind.PREVIEW_STARTED: _row(
        "A person started the project's server in the bead's workspace.", "", inside="It changes nothing."
    ),
    Kind.PREVIEW_STOPPED: _row("A person stopped that server.", "", inside="It changes nothing."),
    Kind.EPIC_COMPLETED: _row(
        "The last child of the epic was closed.", _MOVE_KEYS, _closed(Name.STEP_COMPLETED, Kind.EPIC_COMPLETED)
    ),
    Kind.EPIC_LANDED: _row("The beads of the epic are on its branch; its pull request is next.", _MOVE_KEYS, _STATUS),
    Kind.LOGGED: _row("`nobrakes agent log`.", _SAID_KEYS, Rule(Name.AGENT_LOGGED, say.Said)),
    Kind.PROGRESSED: _row("`nobrakes agent progress`.", _SAID_KEYS, _STATUS),
    Kind.NOTIFIED: _row(
        "`nobrakes agent notify`; the person gets a notice.", _SAID_KEYS, Rule(Name.AGENT_NOTIFIED, say.Said)
    ),
    Kind.TESTED: _row(
        "`nobrakes agent test`: how each check ended.", _SAID_KEYS, Rule(Name.AGENT_TESTED, say.Said), _STATUS
    ),
    Kind.HANDED_OFF: _row(
        "`nobrakes agent done`: the agent left a note for the next one; its process still runs.",
        "outcome",
        Rule(Name.AGENT_HANDED_OFF, say.HandedOff),
        word="left a note for the next one",
    ),
    Kind.FILES_CHANGED: _row(
        "An agent changed files in its workspace; reported from time to time.", "changed", _STATUS
    ),
    Kind.TESTS_RUN: _row("An agent ran the tests by a tool of its own.", "call passed", _STATUS),
    Kind.DANGER_SEEN: _row(
        "A tool call looked dangerous; the person gets a notice.",
        "call text why",
        Rule(Name.SAFETY_DANGER_SEEN, say.DangerSeen, {"session_id": "session"}),
    ),
    Kind.SESSION_BEGAN: _row(
        "A conversation with an agent began.",
        "session kind agent title",
        Rule(Name.SESSION_BEGAN, say.SessionBegan, {"session_id": "session", "cli": "agent"}),
    ),
    Kind.SESSION_SAID: _row(
        "A session got a message.", "session text", Rule(Name.SESSION_SAID, say.SessionSaid, {"session_id": "session"})
    ),
    Kind.TURN_STARTED: _row(
        "A session's agent was started.",
        "session turn agent model",
        Rule(Name.SESSION_TURN_STARTED, say.TurnStarted, {"session_id": "session", "cli": "agent"}),
    ),
    Kind.TURN_ENDED: _row(
        "A session's agent ended.",
        "session turn outcome detail state",
        Rule(Name.SESSION_TURN_ENDED, say.TurnEnded, {"session_id": "session"}),
    ),
    Kind.SESSION_ENDED: _row(
        "A session was ended.", "session", Rule(Name.SESSION_ENDED, say.InSession, {"session_id": "session"})
    ),
    Kind.PROJECT_SET: _row(
        "A chat agent's session now works on this project.",
        "sessionId projectName projectPath isNew",
        Rule(Name.PROJECT_SET, say.ProjectSet),
        line=_project,
        json="project.set",
    ),
    Kind.FEATURE_BEGAN: _row(
        "A person began a feature; the bead is its epic.",
        "title base criteria files",
        Rule(Name.STAGE_DISCOVERY, say.Staged, {"feature_description": "title"}),
    ),
    Kind.FEATURE_MOVED: _row(
        "A feature changed its stage or state.",
        "step stage state before was reason",
        *(Rule(name, say.Staged, when=_came_to(stage)) for stage, name in _STAGES.items()),
        Rule(Name.FEATURE_STATE, say.FeatureState, when=lambda event: event.data.get("state") != event.data.get("was")),
        Rule(Name.REPLANNING, say.Staged, when=_replans),
        line=_moved,
    ),
    Kind.FEATURE_CHANGED: _row(
        "A person edited the description of a feature.",
        "parts",
        Rule(Name.FEATURE_CHANGED, say.FeatureChanged, {"fields": "parts"}),
    ),
    Kind.FEATURE_TOLD: _row(
        "A notice about a feature: its session expires soon, its agent is changing, or its context is nearly full.",
        "text severity session",
        inside="A notice for people; its content is public by itself.",
    ),
    Kind.PLAN_KEPT: _row(
        "nobrakes stored a version of a feature's plan.",
        "version beads reason",
        Rule(Name.PLAN_CREATED, say.PlanCreated, {"steps": "beads"}),
        line=_plan_kept,
    ),
    Kind.PLAN_REVIEW_BEGAN: _row(
        "A review of a feature's plan began.",
        "round domain version session",
        Rule(Name.PLAN_REVIEW_STARTED, say.PlanReviewed, _LOOK_FIELDS),
        line=_plan_review,
    ),
    Kind.PLAN_REVIEW_ENDED: _row(
        "A review of a plan ended, or failed.",
        "round domain state findings detail",
        Rule(Name.PLAN_REVIEW_ENDED, say.PlanReviewed, _LOOK_FIELDS),
        line=_plan_review,
    ),
    Kind.PLAN_ROUND_ENDED: _row(
        "A round of reviews of a plan is over.",
        "round version end findings failed done most accepted",
        Rule(Name.REVIEW_ITERATION_COMPLETE, say.PlanReviewed, {"iteration_number": "round", "state": "end"}),
    ),
    Kind.SIGN_OFF_ASKED: _row(
        "A plan has enough reviews: a person may sign it off.",
        "reviews most version",
        Rule(Name.REVIEW_SIGNOFF_REQUIRED, say.SignOff, _SIGN_OFF_FIELDS),
    ),
    Kind.SIGNED_OFF: _row(
        "A person signed off a version of a plan.",
        "version reviews most risk reason open degraded",
        Rule(Name.REVIEW_APPROVED, say.SignOff, _SIGN_OFF_FIELDS),
    ),
    Kind.FINDING_MADE: _row(
        "A reviewer of a plan found something.",
        "finding round domain category priority issue at_bead",
        Rule(Name.REVIEW_FINDINGS, say.Found, {"iteration_number": "round", "step_id": "at_bead"}),
        line=_found,
    ),
    Kind.FINDING_SETTLED: _row(
        "A person decided a finding.", "finding state answer", Rule(Name.FINDING_SETTLED, say.Found)
    ),
    Kind.ITEM_COLLECTED: _row(
        "nobrakes collected an item for a feature's next checkpoint.",
        "item kind text file line at_bead",
        Rule(Name.TODO_COLLECTED, say.Collected, {"type": "kind", "description": "text"}),
        line=_collected,
    ),
    Kind.ITEM_SETTLED: _row(
        "A collected item was handled, or no longer exists.", "item state", Rule(Name.TODO_SETTLED, say.Collected)
    ),
    Kind.SPRINT_MOVED: _row(
        "A sprint began, moved or ended.", "sprint state reason", Rule(Name.SPRINT_MOVED, say.SprintMoved), line=_sprint
    ),
    Kind.DAEMON_STARTED: _row(
        "A daemon started, in the foreground or the background.", "pid", Rule(Name.DAEMON_STARTED, say.Process)
    ),
    Kind.DAEMON_STOPPED: _row(
        "The daemon stopped cleanly. Without this event it was killed.", "pid", Rule(Name.DAEMON_STOPPED, say.Process)
    ),
    Kind.PAUSED: _row(
        "`nobrakes pause` or `nobrakes stop`.",
        "settings",
        Rule(Name.PAUSED, say.Paused, fixed={"blocker": "paused by a person"}),
    ),
    Kind.RESUMED: _row(
        "`nobrakes resume`.", "settings", Rule(Name.RESUMED, say.Resumed, fixed={"resolution": "resumed by a person"})
    ),
    Kind.LIMITS_CHANGED: _row("`nobrakes set`.", "before after", Rule(Name.LIMITS_CHANGED, say.Limits)),
    Kind.CONFIG_CHANGED: _row(
        "`nobrakes config set` and `config unset`.", "before after", Rule(Name.CONFIG_CHANGED, say.Limits)
    ),
    Kind.QUARANTINED: _row(
        "A person allows a test or a check to fail for a time.",
        "check test reason",
        Rule(Name.CHECK_QUARANTINED, say.CheckNamed),
    ),
    Kind.QUARANTINE_LIFTED: _row(
        "The test or check has to pass again.", "check test reason", Rule(Name.CHECK_QUARANTINE_LIFTED, say.CheckNamed)
    ),
    Kind.GATE_CLOSED: _row(
        "A provider refused: no agent starts there for now.",
        "provider reason until times detail",
        Rule(Name.PROVIDER_REFUSED, say.Provider),
        word="provider refuses",
        style="yellow",
    ),
    Kind.GATE_OPENED: _row(
        "Agents start at the provider again: its cooldown is over, or a person ended it.",
        "provider",
        Rule(Name.PROVIDER_AVAILABLE, say.Provider),
        word="provider available",
    ),
    Kind.BREAKER_RESET: _row(
        "A person lets an agent try the bead again.",
        "provider",
        inside="An internal count; `execution.resumed` reports that the bead continues.",
    ),
    Kind.CAP_REACHED: _row(
        "The cap is reached: no agent starts.", "cap spent limit until", Rule(Name.CAP_REACHED, say.Cap), style="red"
    ),
    Kind.MAIN_GREEN: _row(
        "No agent was running, and main passed its own checks.", "commit unsteady", Rule(Name.MAIN_GREEN, say.Main)
    ),
    Kind.MAIN_FROZEN: _row(
        "main is red (twice, or before a review blamed a branch), or its set-up fails: no merge until it is green.",
        "commit results",
        Rule(Name.MAIN_FROZEN, say.Main),
        style="red",
    ),
    Kind.MAIN_UNFROZEN: _row(
        "Merges continue: main is green again.", "commit", Rule(Name.MAIN_UNFROZEN, say.Main), style="green"
    ),
    Kind.MAIN_REWRITTEN: _row(
        "A person removed done beads from main; a notice says which, and what you can do.",
        "commit text",
        Rule(Name.MAIN_REWRITTEN, say.Main, {"why": "text"}),
        style="red",
    ),
    Kind.CULPRIT_FOUND: _row(
        "The search for the commit that broke main has ended.",
        "commit why green",
        Rule(Name.MAIN_CULPRIT_FOUND, say.Main),
        line=_culprit,
    ),
    Kind.RECOVERED: _row(
        "A daemon continued the work of an earlier one.",
        "alive ended",
        inside="How a daemon took over; the ends of attempts have public events of their own.",
    ),
    Kind.BROUGHT_BACK: _row(
        "The database was older than the files beside it, so nobrakes updated it from them. Of a bead: its `status` "
        "now and `before`; of the whole: counts.",
        "before status beads attempts escalations settings",
        inside="Only the end of an attempt is public: the facts that came back were public before.",
        style="yellow",
    ),
    Kind.ARCHIVE_EXPIRED: _row(
        "A person deleted archived branches that were merged.", "refs", inside="Housekeeping of refs."
    ),
    Kind.UNDONE: _row(
        "`nobrakes undo` undid a step. If it had moved a bead, the old status is back. Decisions that closed with "
        "the bead are open again, and hold it up.",
        f"undone beads {_MOVE_KEYS} asked",
        Rule(Name.STEP_UNDONE, say.Undone),
    ),
    Kind.UNCONFINED: _row(
        "A daemon starts, and its agents and checks run without a sandbox or wall.",
        "why",
        Rule(Name.SAFETY_REDUCED, say.Warned),
    ),
    Kind.DEGRADED: _row(
        "nobrakes uses fewer of an agent's capabilities than usual: at a daemon's start, and at each change.",
        "why",
        Rule(Name.SAFETY_REDUCED, say.Warned),
    ),
    Kind.HOSTS_REFUSED: _row(
        'An agent or check asked for hosts that `network = "provider"` does not let it reach.',
        "run hosts",
        Rule(Name.SAFETY_HOSTS_REFUSED, say.HostsRefused),
    ),
}
