"""One event of each kind as the store has it, for the examples of the reference: what comes of it is made, not written.

Nobody but the reference and the tests reads this.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from nobrakes.beads.model import Attempt, Bead, Outcome, Role
from nobrakes.beads.work_status import BLOCKED, SAYS, WorkStatus, after
from nobrakes.decisions.model import Escalation
from nobrakes.events.kinds import Event, Kind
from nobrakes.events.words import PublicEvent, public

AT = 1769825404.125
_HEAD, _MERGE = "8a1f" * 10, "c0de" * 10
_BEGUN = {"role": "doer", "name": "Ada", "agent": "claude", "model": "", "number": 1}
_ENDED = {"detail": "", "role": "doer", "name": "Ada", "number": 1, "head": _HEAD, "merged_commit": None}
_DONE = {"before": "doing", "return_to": None}
_CHECK = {"check": "unit", "test": "test_cli.py::test_help", "reason": "it fails on Mondays"}
_ROLES: Mapping[Kind, Role] = {
    **dict.fromkeys((Kind.TEST_WRITER_STARTED, Kind.TESTS_PROVEN_RED), Role.TEST_WRITER),
    **dict.fromkeys((Kind.TESTS_REJECTED, Kind.TEST_WRITER_STOPPED), Role.TEST_WRITER),
    **dict.fromkeys((Kind.REVIEW_STARTED, Kind.REVIEW_REJECTED, Kind.REVIEW_INTERRUPTED, Kind.MERGED), Role.REVIEWER),
    Kind.LANDED: Role.REVIEWER,
    **dict.fromkeys((Kind.PULL_OPENED, Kind.PULL_REVIEW_BEGAN, Kind.PULL_ISSUE_FOUND), Role.REVIEWER),
    **dict.fromkeys((Kind.CODE_REVIEW_BEGAN, Kind.CODE_REVIEW_ENDED), Role.REVIEWER),
    **dict.fromkeys((Kind.PULL_APPROVED, Kind.PULL_MERGED), Role.REVIEWER),
}
_OF_THE_MACHINE = frozenset(
    {
        Kind.DAEMON_STARTED,
        Kind.DAEMON_STOPPED,
        Kind.PAUSED,
        Kind.RESUMED,
        Kind.LIMITS_CHANGED,
        Kind.CONFIG_CHANGED,
        Kind.QUARANTINED,
        Kind.QUARANTINE_LIFTED,
        Kind.GATE_CLOSED,
        Kind.GATE_OPENED,
        Kind.CAP_REACHED,
        Kind.MAIN_GREEN,
        Kind.MAIN_FROZEN,
        Kind.MAIN_UNFROZEN,
        Kind.MAIN_REWRITTEN,
        Kind.CULPRIT_FOUND,
        Kind.RECOVERED,
        Kind.UNCONFINED,
        Kind.DEGRADED,
        Kind.SESSION_BEGAN,
        Kind.SESSION_SAID,
        Kind.TURN_STARTED,
        Kind.TURN_ENDED,
        Kind.SESSION_ENDED,
        Kind.PROJECT_SET,
    }
)
_BY_A_PERSON = frozenset(
    {
        Kind.PROPOSED,
        Kind.CHANGED,
        Kind.APPROVED,
        Kind.CHANGE_PROPOSED,
        Kind.CHANGE_DROPPED,
        Kind.CHANGE_APPROVED,
        Kind.STRATEGY_APPROVED,
        Kind.HELD,
        Kind.RELEASED,
        Kind.DEFERRED,
        Kind.DEPENDENCY_ADDED,
        Kind.DEPENDENCY_REMOVED,
        Kind.STOP_ASKED,
        Kind.ANSWERED,
        Kind.ANSWER_TAKEN_BACK,
        Kind.SESSION_BEGAN,
        Kind.SESSION_SAID,
        Kind.SESSION_ENDED,
        Kind.PROJECT_SET,
        Kind.FEATURE_BEGAN,
        Kind.FEATURE_CHANGED,
        Kind.FINDING_SETTLED,
        Kind.RESOLVED,
        Kind.PUSH_ALLOWED,
        Kind.RETRIED,
        Kind.TAKEN,
        Kind.HANDED_IN,
        Kind.CANCELLED,
        Kind.DONE_BY_HAND,
        Kind.REOPENED,
        Kind.PREVIEW_STARTED,
        Kind.PREVIEW_STOPPED,
        Kind.UNDONE,
        Kind.PAUSED,
        Kind.RESUMED,
        Kind.LIMITS_CHANGED,
        Kind.CONFIG_CHANGED,
        Kind.QUARANTINED,
        Kind.QUARANTINE_LIFTED,
    }
)
_BY_THE_AGENT = frozenset(
    {
        Kind.FILES_CHANGED,
        Kind.TESTS_RUN,
        Kind.DANGER_SEEN,
        Kind.LOGGED,
        Kind.PROGRESSED,
        Kind.NOTIFIED,
        Kind.TESTED,
        Kind.HANDED_OFF,
        Kind.SUGGESTED,
        Kind.ANSWER_READ,
    }
)
_OF_FEATURES = frozenset(
    {Kind.FEATURE_BEGAN, Kind.FEATURE_MOVED, Kind.FEATURE_CHANGED, Kind.PLAN_KEPT, Kind.PLAN_REVIEW_BEGAN}
    | {Kind.FEATURE_TOLD, Kind.PLAN_ROUND_ENDED, Kind.SIGN_OFF_ASKED, Kind.SIGNED_OFF}
    | {Kind.PLAN_REVIEW_ENDED, Kind.FINDING_MADE, Kind.FINDING_SETTLED, Kind.ITEM_COLLECTED, Kind.ITEM_SETTLED}
)
_WITHOUT_AN_ATTEMPT = _OF_FEATURES | frozenset(
    {Kind.PROPOSED, Kind.CHANGED, Kind.APPROVED, Kind.HELD, Kind.RELEASED, Kind.DEFERRED}
    | {Kind.CHANGE_PROPOSED, Kind.CHANGE_DROPPED, Kind.CHANGE_APPROVED}
    | {Kind.SPRINT_MOVED}
    | {Kind.PREVIEW_STARTED, Kind.PREVIEW_STOPPED}
    | {Kind.DEPENDENCY_ADDED, Kind.DEPENDENCY_REMOVED, Kind.REVERTED, Kind.EPIC_COMPLETED, Kind.EPIC_LANDED}
    | {Kind.REOPENED, Kind.UNDONE}
)

_AT = {"pr_number": 12, "pr_url": "https://github.com/you/tool/pull/12"}
_PULL = {**_AT, "title": "The command line", "branch": "task/bead-cli", "head": _HEAD, "merged_commit": None}
_READ = {"session": 7, "round": 1, "of": 3, "agent": "codex", "model": ""}
_PRIORITY = {"before": 2, "after": 0, "actor": "shaper", "at": AT - 60}

DATA: Mapping[Kind, Mapping[str, Any]] = {
    Kind.PROPOSED: {"status": "draft", "needs": [["lexer", "blocks"]]},
    Kind.CHANGED: {"fields": {"priority": [2, 0]}},
    Kind.APPROVED: {},
    Kind.CHANGE_PROPOSED: {"parts": {"priority": {"was": None, "is": _PRIORITY}}},
    Kind.CHANGE_DROPPED: {"parts": {"priority": {"was": _PRIORITY, "is": None}}, "why": "dropped by a person"},
    Kind.CHANGE_APPROVED: {"parts": {"priority": {"was": _PRIORITY, "is": None}}},
    Kind.STRATEGY_APPROVED: {"first": 37, "drafts": ["parser"], "changes": ["cli:priority"]},
    Kind.HELD: {"reason": "wait for the design", "before": None},
    Kind.RELEASED: {"before": "wait for the design"},
    Kind.DEFERRED: {"until": AT + 3600, "before": None},
    Kind.DEPENDENCY_ADDED: {"needs": "lexer", "type": "blocks"},
    Kind.DEPENDENCY_REMOVED: {"needs": "lexer", "type": "blocks"},
    Kind.TEST_WRITER_STARTED: {**_BEGUN, "role": "test_writer"},
    Kind.TESTS_PROVEN_RED: {**_ENDED, "outcome": "completed", "role": "test_writer"},
    Kind.TESTS_REJECTED: {**_ENDED, "outcome": "not_red", "role": "test_writer"},
    Kind.TEST_WRITER_STOPPED: {**_ENDED, "outcome": "timed_out", "role": "test_writer"},
    Kind.DOER_STARTED: _BEGUN,
    Kind.WORK_SUBMITTED: {**_ENDED, "outcome": "completed"},
    Kind.DOER_STOPPED: {**_ENDED, "outcome": "stalled", "detail": "no sign of life for 10 minutes", "head": None},
    Kind.STOP_ASKED: {"name": "Ada", "number": 1},
    Kind.REVIEW_STARTED: {"role": "reviewer", "name": "Reviewer", "agent": "", "model": "", "number": 2},
    Kind.CHECKS_BEGAN: {"step": "validate_rebased", "commit": _HEAD, "run": "8-check1", "seconds": 41.2},
    Kind.REVIEW_STEP: {"step": "validate_rebased", "commit": _HEAD, "run": "8-1", "results": []},
    Kind.REVIEW_REJECTED: {**_ENDED, "role": "reviewer", "name": "Reviewer", "outcome": "failed_review"},
    Kind.REVIEW_INTERRUPTED: {
        **_ENDED,
        "role": "reviewer",
        "name": "Reviewer",
        "outcome": "conflict",
        "detail": "src/cli.py",
    },
    Kind.LANDED: {**_ENDED, "role": "reviewer", "name": "Reviewer", "outcome": "completed", "merged_commit": _MERGE},
    Kind.MERGED: {**_ENDED, "role": "reviewer", "name": "Reviewer", "outcome": "completed", "merged_commit": _MERGE},
    Kind.FOUND_MERGED: {"merged_commit": _MERGE, "base": _HEAD, "reason": "found on main", **_DONE},
    Kind.REVERTED: {"commit": _MERGE, "revert": "d00d" * 10, "results": []},
    Kind.FLAKED: {"check": "unit", "tests": ["test_cli.py::test_help"], "tree": "beef" * 10, "run": "8-1"},
    Kind.CODE_REVIEW_BEGAN: {**_READ, "head": _HEAD},
    Kind.CODE_REVIEW_ENDED: {
        **_READ,
        "state": "done",
        "why": "",
        "p1": 1,
        "p2": 0,
        "p3": 0,
        "findings": [["P1", "edge_cases", "src/cli.py:12", "The last page is left out."]],
        "cost_usd": 0.21,
    },
    Kind.PUSH_ALLOWED: {"head": _HEAD, "branch": "task/bead-cli"},
    Kind.PULL_OPENED: _PULL,
    Kind.PULL_REVIEW_BEGAN: _PULL,
    Kind.PULL_ISSUE_FOUND: {
        **_AT,
        "issue": "This path may be empty.",
        "severity": "warning",
        "suggestion": "",
        "by": "ann",
        "check": "",
        "file": "src/cli.py",
        "line": 12,
    },
    Kind.PULL_APPROVED: {**_AT, "by": "ann"},
    Kind.PULL_MERGED: {**_PULL, "merged_commit": _MERGE},
    Kind.ESCALATED: {
        "escalation": 3,
        "type": "question",
        "title": "Which time zone?",
        "form": {"kind": "radio", "options": [{"label": "UTC"}, {"label": "local"}], "recommended": ["UTC"]},
    },
    Kind.SUGGESTED: {"escalation": 4, "type": "doer_suggestion", "title": "The parser needs a bead of its own"},
    Kind.ANSWERED: {"escalation": 3, "answer": "UTC"},
    Kind.ANSWER_READ: {"escalation": 3},
    Kind.ANSWER_TAKEN_BACK: {"escalation": 3, "answer": "UTC"},
    Kind.SESSION_BEGAN: {"session": 5, "kind": "planning", "agent": "claude", "title": "Support Windows"},
    Kind.SESSION_SAID: {"session": 5, "text": "And macOS?"},
    Kind.TURN_STARTED: {"session": 5, "turn": 2, "agent": "claude", "model": ""},
    Kind.TURN_ENDED: {"session": 5, "turn": 2, "outcome": "completed", "detail": "", "state": "idle"},
    Kind.SESSION_ENDED: {"session": 5},
    Kind.PROJECT_SET: {
        "sessionId": "my-app",
        "projectName": "my-app",
        "projectPath": "~/nobrakes/PROJECTS/my-app",
        "isNew": True,
    },
    Kind.FEATURE_BEGAN: {"title": "Support Windows", "base": _HEAD, "criteria": 8, "files": ["src/paths.py"]},
    Kind.FEATURE_MOVED: {
        "step": "checkpoint",
        "stage": "review",
        "state": "active",
        "before": "implementation",
        "was": "active",
        "reason": "ten items were collected",
    },
    Kind.FEATURE_CHANGED: {"parts": ["criteria", "notes"]},
    Kind.SPRINT_MOVED: {"sprint": 2, "state": "executing"},
    Kind.FEATURE_TOLD: {"text": "the Shaper's session expires in 2.0 hours", "severity": "warning", "session": 5},
    Kind.PLAN_ROUND_ENDED: {
        "round": 2,
        "version": 2,
        "end": "findings",
        "findings": 1,
        "failed": ["devops"],
        "done": 2,
        "most": 10,
        "accepted": 0,
    },
    Kind.SIGN_OFF_ASKED: {"reviews": 4, "most": 10, "version": 3},
    Kind.SIGNED_OFF: {
        "version": 3,
        "reviews": 4,
        "most": 10,
        "risk": True,
        "reason": "",
        "open": 0,
        "degraded": ["devops"],
    },
    Kind.PLAN_KEPT: {"version": 2, "beads": 7, "reason": "the findings of round 1"},
    Kind.PLAN_REVIEW_BEGAN: {"round": 2, "domain": "backend", "version": 2, "session": 6},
    Kind.PLAN_REVIEW_ENDED: {"round": 2, "domain": "backend", "state": "done", "findings": 1, "detail": ""},
    Kind.FINDING_MADE: {
        "finding": 4,
        "round": 2,
        "domain": "backend",
        "category": "security",
        "priority": 1,
        "issue": "The path is taken from the request unchecked",
        "at_bead": "cli",
    },
    Kind.FINDING_SETTLED: {"finding": 4, "state": "answered", "answer": "Check it against the root"},
    Kind.ITEM_COLLECTED: {
        "item": 9,
        "kind": "todo",
        "text": "long paths",
        "file": "src/paths.py",
        "line": 12,
        "at_bead": None,
    },
    Kind.ITEM_SETTLED: {"item": 9, "state": "reviewed"},
    Kind.RESOLVED: {"escalation": 3, "resolution": "answered", "to": "needs_doer"},
    Kind.RETRIED: {"failures": 2, "reason": "the fixture is mended"},
    Kind.TAKEN: {"reason": "taken by you: /home/you/tool-cli", "folder": "/home/you/tool-cli", **_DONE},
    Kind.HANDED_IN: {"head": _HEAD, "number": 3, "folder": "/home/you/tool-cli", **_DONE, "before": "needs_doer"},
    Kind.CANCELLED: {"reason": "no longer wanted", **_DONE},
    Kind.DONE_BY_HAND: {"reason": "was a line", **_DONE},
    Kind.REOPENED: {"reason": "after all", "before": "cancelled", "return_to": None},
    Kind.PREVIEW_STARTED: {},
    Kind.PREVIEW_STOPPED: {},
    Kind.EPIC_LANDED: {"before": "open", "return_to": None},
    Kind.EPIC_COMPLETED: {"before": "open", "return_to": None},
    Kind.LOGGED: {"text": "the grammar has two rules", "data": {}},
    Kind.PROGRESSED: {"text": "the parser", "data": {"step": 2, "of": 5}},
    Kind.FILES_CHANGED: {"changed": 3},
    Kind.DANGER_SEEN: {
        "run": "7-agent",
        "call": "toolu_01A",
        "why": "it removes files outside its workspace: /",
        "text": "rm -rf /",
    },
    Kind.TESTS_RUN: {"passed": True, "call": "toolu_01A"},
    Kind.NOTIFIED: {"text": "the fixture is slow", "data": {}},
    Kind.TESTED: {"text": "unit: pass", "data": {}},
    Kind.HANDED_OFF: {"outcome": "completed"},
    Kind.DAEMON_STARTED: {"pid": 4711},
    Kind.DAEMON_STOPPED: {"pid": 4711},
    Kind.PAUSED: {"settings": {"paused": "1"}},
    Kind.RESUMED: {"settings": {"paused": None}},
    Kind.LIMITS_CHANGED: {"before": {"doers": 4}, "after": {"doers": 2}},
    Kind.CONFIG_CHANGED: {"before": {"limits.doers": None}, "after": {"limits.doers": 2}},
    Kind.QUARANTINED: _CHECK,
    Kind.QUARANTINE_LIFTED: _CHECK,
    Kind.GATE_CLOSED: {
        "provider": "anthropic",
        "reason": "rate_limited",
        "until": AT + 600,
        "times": 1,
        "detail": "429",
    },
    Kind.GATE_OPENED: {"provider": "anthropic"},
    Kind.BREAKER_RESET: {"provider": "anthropic"},
    Kind.CAP_REACHED: {"cap": "day.usd", "spent": 20.4, "limit": 20.0, "until": AT + 7200},
    Kind.MAIN_GREEN: {"commit": _MERGE, "unsteady": []},
    Kind.MAIN_FROZEN: {"commit": _MERGE, "results": []},
    Kind.MAIN_UNFROZEN: {"commit": _MERGE},
    Kind.MAIN_REWRITTEN: {"commit": _HEAD, "text": "cli is no longer on main"},
    Kind.CULPRIT_FOUND: {"commit": _MERGE, "why": "merge", "green": _HEAD},
    Kind.RECOVERED: {"alive": [], "ended": ["7-agent"]},
    Kind.BROUGHT_BACK: {"before": "doing", "status": "needs_doer"},
    Kind.ARCHIVE_EXPIRED: {"refs": []},
    Kind.UNDONE: {"undone": [52], "beads": []},
    Kind.UNCONFINED: {"why": "neither sandbox nor wall works here"},
    Kind.DEGRADED: {"why": "codex: its hooks were not seen to hold"},
    Kind.HOSTS_REFUSED: {"run": "7-agent", "hosts": ["example.org"]},
}


_MOVED = {"state": "active", "was": "active", "reason": ""}
MORE: Mapping[Kind, Sequence[Mapping[str, Any]]] = {
    Kind.FEATURE_MOVED: (
        {**_MOVED, "step": "proposed", "stage": "planning", "before": "discovery"},
        {**_MOVED, "step": "approved", "stage": "implementation", "before": "review"},
        {**_MOVED, "step": "requested", "stage": "request", "before": "implementation"},
        {**_MOVED, "step": "merged", "stage": "done", "before": "request", "state": "completed"},
    ),
}
"""Other samples, of a kind whose data decides what it says in public."""


class _Sample:
    """The bead of the examples, with its one attempt."""

    def __init__(self, event: Event) -> None:
        role = _ROLES.get(event.kind, Role.DOER)
        ended = "outcome" in event.data and event.kind is not Kind.HANDED_OFF
        self._attempt = Attempt(
            event.attempt or 7,
            "cli",
            int(event.data.get("number") or 1),
            role,
            "Reviewer" if role is Role.REVIEWER else "Ada",
            1,
            "",
            AT - 60,
            ended_at=AT if ended else None,
            outcome=Outcome(event.data["outcome"]) if ended else None,
        )
        self._attempts = () if event.kind in _WITHOUT_AN_ATTEMPT else (self._attempt,)

    def bead(self, bead: str) -> Bead:
        """The bead."""
        return Bead(bead, "The command line", epic="tools", metadata={"semantic_id": "cli-parser"})

    def attempts(self, bead: str) -> Sequence[Attempt]:
        """Its attempt."""
        return self._attempts

    def escalations(self, bead: str) -> Sequence[Escalation]:
        """Nothing is asked."""
        return ()

    def status(self, event: Event) -> WorkStatus | None:
        """As if nothing had happened before, but the question that is decided."""
        asked = WorkStatus(str(event.bead), BLOCKED) if event.kind is Kind.RESOLVED else None
        return after(asked, event) if event.kind in SAYS else None


def sample(kind: Kind, seq: int = 41) -> Event:
    """An event of this kind as the store has it."""
    actor = "you" if kind in _BY_A_PERSON else "Ada" if kind in _BY_THE_AGENT else "nobrakes"
    bead = None if kind in _OF_THE_MACHINE else "cli"
    attempt = None if bead is None or kind in _WITHOUT_AN_ATTEMPT else 7
    return Event(kind, bead, attempt, actor, DATA[kind], seq, AT)


def examples(kind: Kind) -> tuple[PublicEvent, ...]:
    """What comes of it in public."""
    event = sample(kind)
    others = (replace(event, data=data) for data in MORE.get(kind, ()))
    return tuple(said for one in (event, *others) for said in public(one, _Sample(one)))
