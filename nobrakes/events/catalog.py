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
    return f"merged into its epic's branch as {commit}" if commit else "merged into its epic's branch"


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
    took = f" (last time {lasted(float(last))})" if isinstance(last, int | float) else ""
    step, epic = (str(event.data.get(key) or "") for key in ("step", "epic"))
    return f"checks start on {work_status.subject(step, epic)}{took}"


def _culprit(event: Event) -> str:
    why = work_status.plain(str(event.data.get("why") or ""))
    return ": ".join(
        part for part in ("found the breaking commit" if event.data.get("commit") else "no culprit found", why) if part
    )


def _sprint(event: Event) -> str:
    data = event.data
    what = f"sprint {data['sprint']}" if data.get("sprint") is not None else "the sprints"
    return f"{what}: {data.get('state', '')}" + (f": {data['reason']}" if data.get("reason") else "")


def _project(event: Event) -> str:
    name, chat = (one_line(str(event.data.get(key) or "")) for key in ("projectName", "sessionId"))
    return f"session {chat} now works on project {name}"


def _said(event: Event, key: str) -> str:
    return work_status.plain(one_line(str(event.data.get(key) or "")))


_FEATURE_STATES = {"active": "is", "error": "stopped with an error", "expired": "has expired"}


def _moved(event: Event) -> str:
    stage, state = _said(event, "stage"), _said(event, "state")
    came = f"feature {_FEATURE_STATES.get(state, f'is {state}')} in stage {stage}"
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
    return f"a review of the plan ended: {found}{f': {detail}' if detail else ''}"


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
        return f"{_pull_name(event)} has a failed check: {check}" + (f": {issue}" if issue else "")
    file = one_line(str(data.get("file") or ""))
    where = f", {file}:{data['line']}" if file and data.get("line") else f", {file}" if file else ""
    return f"{_pull_name(event)} has a comment by {one_line(str(data.get('by') or 'somebody'))}{where}: {issue}"


def _push_allowed(event: Event) -> str:
    head, branch = (one_line(str(event.data.get(key) or "")) for key in ("head", "branch"))
    return f"allowed nobrakes to push {head[:12]} as {branch}"


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
    Kind.APPROVED: _row("A person approved a draft: agents can start on it.", "", Rule(Name.PLAN_APPROVED, Payload)),
    Kind.CHANGE_PROPOSED: _row(
        "Somebody proposed a change of the bead. No person has approved it yet.",
        "parts",
        inside="A proposal does not change the bead. The approved change has a public event of its own.",
    ),
    Kind.CHANGE_DROPPED: _row("A proposed change was dropped.", "parts why", inside="The bead stays unchanged."),
    Kind.CHANGE_APPROVED: _row(
        "A person approved the proposed change of the bead.", "parts", inside="Each change has a public event."
    ),
    Kind.STRATEGY_APPROVED: _row(
        "A person approved proposed changes and the drafts that were waiting.",
        "first drafts changes",
        Rule(Name.PLAN_APPROVED, Payload),
    ),
    Kind.HELD: _row(
        "A person held the bead.", "reason before red", Rule(Name.PAUSED_BLOCKER, say.Paused, {"blocker": "reason"})
    ),
    Kind.RELEASED: _row(
        "A person released a held bead.", "before", Rule(Name.RESUMED, say.Resumed, fixed={"resolution": "released"})
    ),
    Kind.DEFERRED: _row(
        "A person deferred the bead: no agent starts on it before a given time.",
        "until before",
        Rule(Name.PAUSED_BLOCKER, say.Paused, fixed={"blocker": "deferred"}),
    ),
    Kind.DEPENDENCY_ADDED: _row(
        "The bead depends on another bead.", _EDGE, Rule(Name.STEP_REORDERED, say.StepReordered, fixed={"added": True})
    ),
    Kind.DEPENDENCY_REMOVED: _row(
        "The bead no longer depends on another bead.",
        _EDGE,
        Rule(Name.STEP_REORDERED, say.StepReordered, fixed={"added": False}),
    ),
    Kind.TEST_WRITER_STARTED: _row(
        "A Test Writer started on the bead.",
        _START_KEYS,
        Rule(Name.TEST_WRITER_SPAWNED, say.Spawned, _CLI_FIELDS),
        _STEP_STARTED,
        _STATUS,
        word="test writer started",
        line=_started,
        json="test_writer_spawned",
    ),
    Kind.TESTS_PROVEN_RED: _row(
        "The new tests fail as they should. A Doer is next.",
        _END_KEYS,
        Rule(Name.TEST_WRITER_COMPLETED, say.Ended),
        _STATUS,
        word="tests proven red",
        json="test_writer_completed",
        says_end=True,
    ),
    Kind.TESTS_REJECTED: _row(
        "The new tests do not fail, or fail for the wrong reason.",
        _END_KEYS,
        Rule(Name.TEST_WRITER_FAILED, say.Ended),
        _STATUS,
        style="yellow",
    ),
    Kind.TEST_WRITER_STOPPED: _row(
        "The Test Writer stopped without tests that fail as they should.",
        _END_KEYS,
        _CRASH,
        Rule(Name.TEST_WRITER_FAILED, say.Ended),
        _STATUS,
        word="test writer stopped",
        style="yellow",
    ),
    Kind.DOER_STARTED: _row(
        "A Doer started on the bead.",
        _START_KEYS,
        Rule(Name.DOER_SPAWNED, say.Spawned, _CLI_FIELDS),
        _STEP_STARTED,
        _STATUS,
        word="doer started",
        line=_started,
        json="doer_spawned",
    ),
    Kind.WORK_SUBMITTED: _row(
        "The Doer handed in its work. The Reviewer is next.",
        _END_KEYS,
        Rule(Name.DOER_COMPLETED, say.Ended),
        _STATUS,
        word="handed in",
        json="doer_completed",
        says_end=True,
    ),
    Kind.DOER_STOPPED: _row(
        "The Doer stopped without handing in work.",
        _END_KEYS,
        _CRASH,
        Rule(Name.DOER_FAILED, say.Ended),
        _STATUS,
        word="doer stopped",
        json="doer_failed",
        style="yellow",
    ),
    Kind.STOP_ASKED: _row(
        "A person stopped one agent, which ends as `interrupted`. For a session's agent only `session` is set.",
        "name number session",
        Rule(Name.STOP_REQUESTED, say.StopAsked, {"worker": "name"}),
    ),
    Kind.REVIEW_STARTED: _row(
        "The Reviewer started on the bead.",
        _START_KEYS,
        Rule(Name.REVIEW_STARTED, say.Spawned, _CLI_FIELDS),
        word="review started",
        line=_started,
    ),
    Kind.CHECKS_BEGAN: _row(
        "A run of the checks started.",
        "step commit run seconds epic",
        inside="The event shows people that a slow step started. The result of the checks is public.",
        line=_checks_began,
    ),
    Kind.REVIEW_STEP: _row(
        "A run of the checks in the review ended.",
        "step commit run results epic",
        inside="A review's steps may change between versions of nobrakes. The review's result is public.",
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
        "The bead was merged into its epic's branch. For an epic: the work so far was merged, and the epic continues.",
        _END_KEYS,
        Rule(Name.REVIEW_PASSED, say.Ended),
        _STATUS,
        line=_landed,
        style="green",
        says_end=True,
    ),
    Kind.MERGED: _row(
        "nobrakes merged the bead into main.",
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
        "nobrakes found the bead's merge on main: the epic's pull request was merged, or the database was outdated. "
        "The bead is done.",
        f"merged_commit base reason with whole {_MOVE_KEYS}",
        _closed(Name.STEP_COMPLETED, Kind.FOUND_MERGED, "merged_commit"),
        _STATUS,
        style="green",
    ),
    Kind.REVERTED: _row(
        "A commit on main reverted the merge: a person undid it, or it had broken main. The bead is open again.",
        f"commit revert undone results {_MOVE_KEYS}",
        Rule(Name.STEP_REOPENED, say.StepOpened, fixed={"how": "reverted"}),
        style="red",
    ),
    Kind.FLAKED: _row(
        "A check failed and passed on the same files with the same settings.",
        "check tests tree run",
        Rule(Name.CHECK_FLAKED, say.Flaked),
    ),
    Kind.CODE_REVIEW_BEGAN: _row(
        "An agent started to review work that passed its checks.",
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
        "A person allowed nobrakes to push work that passed and to open its pull request (`nobrakes pr open`).",
        "head branch",
        Rule(Name.PR_ALLOWED, say.PushAllowed),
        line=_push_allowed,
    ),
    Kind.PULL_OPENED: _row(
        "The bead's pull request was opened.", _PULL_KEYS, Rule(Name.PR_CREATED, say.Requested), line=_pull("is open")
    ),
    Kind.PULL_REVIEW_BEGAN: _row(
        "People, or checks at the code host, started to review the pull request.",
        _PULL_KEYS,
        Rule(Name.PR_REVIEW_STARTED, say.Requested),
        line=_pull("is under review"),
    ),
    Kind.PULL_ISSUE_FOUND: _row(
        "Somebody with write access commented on the pull request, or one of its checks failed. Each is reported once.",
        f"{_HOST_KEYS} issue severity suggestion by check file line",
        Rule(Name.PR_ISSUE_FOUND, say.RequestIssue),
        line=_pull_issue,
        style="yellow",
    ),
    Kind.PULL_APPROVED: _row(
        "Somebody with write access approved the pull request.",
        f"{_HOST_KEYS} by",
        Rule(Name.PR_APPROVED, say.RequestApproved),
        line=_pull_by,
        style="green",
    ),
    Kind.PULL_MERGED: _row(
        "Somebody merged the pull request. The end of the bead's review follows.",
        _PULL_KEYS,
        Rule(Name.PR_MERGED, say.Requested),
        line=_pull("is merged"),
    ),
    Kind.ESCALATED: _row(
        "nobrakes asked a person. The bead waits for the decision.",
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
        "nobrakes sent a person a notice. No work waits for an answer.",
        f"{_ASK_KEYS} severity",
        Rule(Name.ESCALATION, say.Asked, fixed={"stops": False}),
        line=_asked,
    ),
    Kind.ANSWERED: _row(
        "A person answered a question.",
        "escalation answer",
        Rule(Name.QUESTION_ANSWERED, say.Answered, {"question_id": "escalation"}),
    ),
    Kind.ANSWER_READ: _row(
        "An agent has read the answer, so the person can no longer withdraw it.",
        "escalation",
        Rule(Name.QUESTION_READ, say.AnswerRead, {"question_id": "escalation"}),
    ),
    Kind.ANSWER_TAKEN_BACK: _row(
        "A person withdrew an answer before an agent read it.",
        "escalation answer",
        Rule(Name.QUESTION_REOPENED, say.Answered, {"question_id": "escalation"}),
    ),
    Kind.RESOLVED: _row("A person decided it.", "escalation resolution to", Rule(Name.RESUMED, say.Resumed), _STATUS),
    Kind.RETRIED: _row(
        "A person retried the bead. Its failure count starts at zero.",
        "failures reason",
        Rule(Name.RESUMED, say.Resumed, fixed={"resolution": "retry"}),
    ),
    Kind.TAKEN: _row(
        "A person took over the bead. nobrakes holds the bead for this person.",
        f"reason folder {_MOVE_KEYS}",
        Rule(Name.PAUSED_BLOCKER, say.Paused, {"blocker": "reason"}),
    ),
    Kind.HANDED_IN: _row(
        "A person handed in work on the bead. The Reviewer is next, and the bead's open escalations are closed.",
        f"head number folder {_MOVE_KEYS}",
        Rule(Name.RESUMED, say.Resumed, fixed={"resolution": "handed in by a person"}),
    ),
    Kind.CANCELLED: _row("A person cancelled the bead.", _CLOSE_KEYS, _closed(Name.STEP_CANCELLED, Kind.CANCELLED)),
    Kind.DONE_BY_HAND: _row(
        "A person marked the bead as done.", _CLOSE_KEYS, _closed(Name.STEP_COMPLETED, Kind.DONE_BY_HAND), _STATUS
    ),
    Kind.REOPENED: _row(
        "A person reopened a closed bead.",
        f"reason {_MOVE_KEYS}",
        Rule(Name.STEP_REOPENED, say.StepOpened, fixed={"how": "reopened"}),
    ),
    Kind.PREVIEW_STARTED: _row(
        "A person started a preview of the bead.", "", inside="A preview does not change the bead."
    ),
    Kind.PREVIEW_STOPPED: _row("A person stopped a preview of the bead.", "", inside="A preview changes no bead."),
    Kind.EPIC_COMPLETED: _row(
        "The epic's last open bead was closed.", _MOVE_KEYS, _closed(Name.STEP_COMPLETED, Kind.EPIC_COMPLETED)
    ),
    Kind.EPIC_LANDED: _row("All beads are on the epic's branch. Its pull request is next.", _MOVE_KEYS, _STATUS),
    Kind.LOGGED: _row("An agent wrote a line into the bead's log.", _SAID_KEYS, Rule(Name.AGENT_LOGGED, say.Said)),
    Kind.PROGRESSED: _row("An agent reported its progress (`nobrakes agent progress`).", _SAID_KEYS, _STATUS),
    Kind.NOTIFIED: _row(
        "An agent sent the person a notice (`nobrakes agent notify`).", _SAID_KEYS, Rule(Name.AGENT_NOTIFIED, say.Said)
    ),
    Kind.TESTED: _row(
        "An agent ran the checks (`nobrakes agent test`).", _SAID_KEYS, Rule(Name.AGENT_TESTED, say.Said), _STATUS
    ),
    Kind.HANDED_OFF: _row(
        "An agent left a note for the next agent (`nobrakes agent done`). The agent's process is still running.",
        "outcome",
        Rule(Name.AGENT_HANDED_OFF, say.HandedOff),
        word="left a note for the next agent",
    ),
    Kind.FILES_CHANGED: _row(
        "An agent changed files in its workspace. nobrakes reports changed files at intervals.", "changed", _STATUS
    ),
    Kind.TESTS_RUN: _row("An agent ran the tests with its own tools.", "call passed", _STATUS),
    Kind.DANGER_SEEN: _row(
        "An agent's tool call looked dangerous. The person gets a notice.",
        "call text why",
        Rule(Name.SAFETY_DANGER_SEEN, say.DangerSeen, {"session_id": "session"}),
    ),
    Kind.SESSION_BEGAN: _row(
        "A session with an agent started.",
        "session kind agent title",
        Rule(Name.SESSION_BEGAN, say.SessionBegan, {"session_id": "session", "cli": "agent"}),
    ),
    Kind.SESSION_SAID: _row(
        "A session got a message.", "session text", Rule(Name.SESSION_SAID, say.SessionSaid, {"session_id": "session"})
    ),
    Kind.TURN_STARTED: _row(
        "nobrakes started a session's agent for one turn.",
        "session turn agent model",
        Rule(Name.SESSION_TURN_STARTED, say.TurnStarted, {"session_id": "session", "cli": "agent"}),
    ),
    Kind.TURN_ENDED: _row(
        "A session's agent ended its turn.",
        "session turn outcome detail state",
        Rule(Name.SESSION_TURN_ENDED, say.TurnEnded, {"session_id": "session"}),
    ),
    Kind.SESSION_ENDED: _row(
        "A person ended a session.", "session", Rule(Name.SESSION_ENDED, say.InSession, {"session_id": "session"})
    ),
    Kind.PROJECT_SET: _row(
        "A chat agent's session now works on this project.",
        "sessionId projectName projectPath isNew",
        Rule(Name.PROJECT_SET, say.ProjectSet),
        line=_project,
        json="project.set",
    ),
    Kind.FEATURE_BEGAN: _row(
        "A person started a feature. The event's bead is the feature's epic.",
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
        inside="The event is only a notice for people. The reported facts have public events.",
    ),
    Kind.PLAN_KEPT: _row(
        "nobrakes stored a version of a feature's plan.",
        "version beads reason",
        Rule(Name.PLAN_CREATED, say.PlanCreated, {"steps": "beads"}),
        line=_plan_kept,
    ),
    Kind.PLAN_REVIEW_BEGAN: _row(
        "A review of a feature's plan started.",
        "round domain version session",
        Rule(Name.PLAN_REVIEW_STARTED, say.PlanReviewed, _LOOK_FIELDS),
        line=_plan_review,
    ),
    Kind.PLAN_REVIEW_ENDED: _row(
        "A review of a feature's plan ended or failed.",
        "round domain state findings detail",
        Rule(Name.PLAN_REVIEW_ENDED, say.PlanReviewed, _LOOK_FIELDS),
        line=_plan_review,
    ),
    Kind.PLAN_ROUND_ENDED: _row(
        "A round of reviews of a feature's plan ended.",
        "round version end findings failed done most accepted",
        Rule(Name.REVIEW_ITERATION_COMPLETE, say.PlanReviewed, {"iteration_number": "round", "state": "end"}),
    ),
    Kind.SIGN_OFF_ASKED: _row(
        "A feature's plan has enough reviews: a person can sign it off.",
        "reviews most version",
        Rule(Name.REVIEW_SIGNOFF_REQUIRED, say.SignOff, _SIGN_OFF_FIELDS),
    ),
    Kind.SIGNED_OFF: _row(
        "A person signed off a version of a feature's plan.",
        "version reviews most risk reason open degraded",
        Rule(Name.REVIEW_APPROVED, say.SignOff, _SIGN_OFF_FIELDS),
    ),
    Kind.FINDING_MADE: _row(
        "A plan reviewer reported a problem.",
        "finding round domain category priority issue at_bead",
        Rule(Name.REVIEW_FINDINGS, say.Found, {"iteration_number": "round", "step_id": "at_bead"}),
        line=_found,
    ),
    Kind.FINDING_SETTLED: _row(
        "A person decided about a reviewer's finding.", "finding state answer", Rule(Name.FINDING_SETTLED, say.Found)
    ),
    Kind.ITEM_COLLECTED: _row(
        "nobrakes collected a suggestion or `TODO`, to be planned later in the feature.",
        "item kind text file line at_bead",
        Rule(Name.TODO_COLLECTED, say.Collected, {"type": "kind", "description": "text"}),
        line=_collected,
    ),
    Kind.ITEM_SETTLED: _row(
        "A collected `TODO` or suggestion was handled or is gone.", "item state", Rule(Name.TODO_SETTLED, say.Collected)
    ),
    Kind.SPRINT_MOVED: _row(
        "A sprint changed its stage.", "sprint state reason", Rule(Name.SPRINT_MOVED, say.SprintMoved), line=_sprint
    ),
    Kind.DAEMON_STARTED: _row(
        "A daemon started, in the foreground or the background.", "pid", Rule(Name.DAEMON_STARTED, say.Process)
    ),
    Kind.DAEMON_STOPPED: _row(
        "A daemon stopped cleanly. A killed daemon leaves no event.", "pid", Rule(Name.DAEMON_STOPPED, say.Process)
    ),
    Kind.PAUSED: _row(
        "A person paused or stopped the work (`nobrakes pause`, `nobrakes stop`).",
        "settings",
        Rule(Name.PAUSED, say.Paused, fixed={"blocker": "paused by a person"}),
    ),
    Kind.RESUMED: _row(
        "A person resumed.", "settings", Rule(Name.RESUMED, say.Resumed, fixed={"resolution": "resumed by a person"})
    ),
    Kind.LIMITS_CHANGED: _row("A person changed limits.", "before after", Rule(Name.LIMITS_CHANGED, say.Limits)),
    Kind.CONFIG_CHANGED: _row(
        "A person changed a setting (`nobrakes config set`).", "before after", Rule(Name.CONFIG_CHANGED, say.Limits)
    ),
    Kind.QUARANTINED: _row(
        "A person put a test or a check into quarantine: its failure blocks no merge.",
        "check test reason",
        Rule(Name.CHECK_QUARANTINED, say.CheckNamed),
    ),
    Kind.QUARANTINE_LIFTED: _row(
        "A quarantine ended.", "check test reason", Rule(Name.CHECK_QUARANTINE_LIFTED, say.CheckNamed)
    ),
    Kind.GATE_CLOSED: _row(
        "A provider of models refused a request. For now no agent starts that uses it.",
        "provider reason until times detail",
        Rule(Name.PROVIDER_REFUSED, say.Provider),
        word="provider refuses",
        style="yellow",
    ),
    Kind.GATE_OPENED: _row(
        "Agents use the provider again: its cooldown is over, or a person ended the cooldown.",
        "provider",
        Rule(Name.PROVIDER_AVAILABLE, say.Provider),
        word="provider available",
    ),
    Kind.BREAKER_RESET: _row(
        "A person let agents try the bead again after repeated failures.",
        "provider",
        inside="The event resets an internal count. The event `execution.resumed` reports that the bead continues.",
    ),
    Kind.CAP_REACHED: _row(
        "A cap was reached: no agent starts.", "cap spent limit until", Rule(Name.CAP_REACHED, say.Cap), style="red"
    ),
    Kind.MAIN_GREEN: _row(
        "No agent was running, and main passed its checks.", "commit unsteady", Rule(Name.MAIN_GREEN, say.Main)
    ),
    Kind.MAIN_FROZEN: _row(
        "main failed its checks twice, or before a review blamed a branch, or its set-up failed. Merges have stopped.",
        "commit results",
        Rule(Name.MAIN_FROZEN, say.Main),
        style="red",
    ),
    Kind.MAIN_UNFROZEN: _row(
        "main passes its checks again: merges continue.", "commit", Rule(Name.MAIN_UNFROZEN, say.Main), style="green"
    ),
    Kind.MAIN_REWRITTEN: _row(
        "Somebody removed merged beads from main. A notice names the beads and says what you can do.",
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
        "A daemon continued the work of an earlier daemon.",
        "alive ended",
        inside="The event concerns only the daemon. The ends of attempts have public events.",
    ),
    Kind.BROUGHT_BACK: _row(
        "The database was older than the files beside it, so nobrakes updated it from them. For one bead the event has "
        "the `status` now and `before`; for all beads, counts.",
        "before status beads attempts escalations settings",
        inside="Only the ends of attempts are public; all other restored facts were published before.",
        style="yellow",
    ),
    Kind.ARCHIVE_EXPIRED: _row(
        "A person deleted archived branches that were merged.", "refs", inside="The event only deletes git refs."
    ),
    Kind.UNDONE: _row(
        "A person undid a step (`nobrakes undo`). If the step changed a bead's status, the bead has its old status "
        "again. Escalations that closed with the bead are open again and stop the bead.",
        f"undone beads {_MOVE_KEYS} asked",
        Rule(Name.STEP_UNDONE, say.Undone),
    ),
    Kind.UNCONFINED: _row(
        "A daemon started, and its agents and checks run without a sandbox or wall.",
        "why",
        Rule(Name.SAFETY_REDUCED, say.Warned),
    ),
    Kind.DEGRADED: _row(
        "nobrakes uses fewer of an agent's capabilities than usual. It says so at a daemon's start and at each change.",
        "why",
        Rule(Name.SAFETY_REDUCED, say.Warned),
    ),
    Kind.HOSTS_REFUSED: _row(
        'An agent or check tried to reach hosts that `network = "provider"` does not allow.',
        "run hosts",
        Rule(Name.SAFETY_HOSTS_REFUSED, say.HostsRefused),
    ),
}
