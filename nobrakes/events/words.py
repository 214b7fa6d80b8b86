"""One event as one line for people, and as one JSON object for programs.

1. The JSON schema is ts, event, task_id, agent, metadata, one object a line; ts is ISO 8601 in UTC.
2. A line says when, who, on which bead, what and why, and the bead's title last: it is what a narrow screen cuts off.
3. Who: the person who acted; of what the machine does in an attempt, the worker of the attempt.
4. A line has the time of day. Where the day changes, a line with the date comes first (`Days`).
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ..beads import stages
from ..text.cleaning import count, cut, lasted, one_line, pad, width
from ..text.times import clock, date
from .kinds import Event, Kind

PUBLIC_NAMES: Mapping[Kind, str] = {
    Kind.DOER_STARTED: "doer_spawned",
    Kind.WORK_SUBMITTED: "doer_completed",
    Kind.DOER_STOPPED: "doer_failed",
    Kind.TEST_WRITER_STARTED: "test_writer_spawned",
    Kind.TESTS_PROVEN_RED: "test_writer_completed",
    Kind.MERGED: "review_passed",
    Kind.REVIEW_REJECTED: "review_failed",
    Kind.ESCALATED: "escalation",
    Kind.PROJECT_SET: "project.set",
}
"""What other tools call our events; a kind that is not here keeps its own name."""

WORDS: Mapping[Kind, str] = {
    Kind.PROPOSED: "added",
    Kind.TEST_WRITER_STARTED: "test writer started",
    Kind.TESTS_PROVEN_RED: "tests proven red",
    Kind.TEST_WRITER_STOPPED: "test writer stopped",
    Kind.DOER_STARTED: "doer started",
    Kind.WORK_SUBMITTED: "handed in",
    Kind.HANDED_OFF: "left a note for the next one",
    Kind.DOER_STOPPED: "doer stopped",
    Kind.REVIEW_STARTED: "review started",
    Kind.REVIEW_REJECTED: "rejected",
    Kind.GATE_CLOSED: "provider refuses",
    Kind.GATE_OPENED: "provider available",
}
STYLES: Mapping[Kind, str] = {
    Kind.LANDED: "green",
    Kind.MERGED: "green",
    Kind.FOUND_MERGED: "green",
    Kind.PULL_APPROVED: "green",
    Kind.PULL_ISSUE_FOUND: "yellow",
    Kind.BROUGHT_BACK: "yellow",
    Kind.REVIEW_REJECTED: "yellow",
    Kind.TESTS_REJECTED: "yellow",
    Kind.DOER_STOPPED: "yellow",
    Kind.TEST_WRITER_STOPPED: "yellow",
    Kind.ESCALATED: "red",
    Kind.REVERTED: "red",
    Kind.GATE_CLOSED: "yellow",
    Kind.CAP_REACHED: "red",
    Kind.MAIN_FROZEN: "red",
    Kind.MAIN_UNFROZEN: "green",
    Kind.MAIN_REWRITTEN: "red",
}
MACHINE = Event(Kind.PROPOSED).actor
_SPEAKING = ("provider", "cap", "reason", "title", "text", "summary", "resolution", "answer", "why", "check")
_LEAST_TITLE = 12
"""A title of which fewer columns would be left is left out."""
_EXPECTED = frozenset({Kind.TESTS_PROVEN_RED, Kind.WORK_SUBMITTED, Kind.LANDED, Kind.MERGED})
"""Their names say how the attempt ended."""


class Days:
    """Tells where a new day begins among lines that have the time of day only."""

    def __init__(self, today: float) -> None:
        self._day = date(today)

    def heading(self, at: float) -> str:
        """The line with the date that comes before what happened at `at`; empty while the day stays the same."""
        day = date(at)
        if day == self._day:
            return ""
        self._day = day
        return f"--- {day} ---"


def as_json(event: Event, name: str = "") -> dict[str, Any]:
    """The schema of `events --json`; `metadata` has the event's number, its own kind and its data.

    `name` is who works in the event's attempt.
    """
    return {
        "ts": datetime.fromtimestamp(event.at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "event": PUBLIC_NAMES.get(event.kind, event.kind.value),
        "task_id": event.bead,
        "agent": who(event, name),
        "metadata": {"seq": event.seq, "kind": event.kind.value, "attempt": event.attempt, **event.data},
    }


def who(event: Event, name: str = "") -> str:
    """Who did it; `name` is who works in the event's attempt."""
    return (name or str(event.data.get("name") or "") or event.actor) if event.actor == MACHINE else event.actor


def as_line(event: Event, title: str = "", name: str = "", width: int = 120) -> str:
    """`12:03:04  Tove        budget  doer stopped: gave up: could not make the tests pass  Months over budget`."""
    by = cut(one_line(who(event, name)), 12)
    bead = f"{pad(event.bead, 7)}  " if event.bead else ""
    head = f"{clock(event.at)}  {pad(by, 10)}  {bead}{what(event)}"
    return with_title(head, title, width)


def with_title(head: str, title: str, columns: int) -> str:
    """`head` cut to `columns`, and behind it as much of the title as there is room for."""
    left = columns - width(head) - 2
    return cut(f"{head}  {one_line(title)}".rstrip(), columns) if left >= _LEAST_TITLE else cut(head, columns)


def what(event: Event) -> str:
    """What happened and why, on one line of any length."""
    word = WORDS.get(event.kind) or stages.plain(event.kind.value)
    special = _SPECIAL.get(event.kind)
    if special is not None:
        return special(event)
    if event.data.get("outcome"):
        ended = "" if event.kind in _EXPECTED else stages.ending(str(event.data["outcome"]))
        return ": ".join(part for part in (word, ended, one_line(str(event.data.get("detail") or ""))) if part)
    said = next((one_line(str(event.data[key])) for key in _SPEAKING if event.data.get(key)), "")
    return f"{word}: {said}" if said else word


def _started(event: Event) -> str:
    number = event.data.get("number")
    again = f", attempt {number}" if isinstance(number, int) and number > 1 else ""
    return f"{WORDS[event.kind]}{again}"


def _merged(event: Event) -> str:
    commit = one_line(str(event.data.get("merged_commit") or ""))[:12]
    return f"merged as {commit}" if commit else "merged"


def _landed(event: Event) -> str:
    commit = one_line(str(event.data.get("merged_commit") or ""))[:12]
    return f"landed on its epic's branch as {commit}" if commit else "landed on its epic's branch"


def _asked(event: Event) -> str:
    number, kind = event.data.get("escalation", ""), stages.plain(str(event.data.get("type") or ""))
    return f"escalation {number}: {kind}: {one_line(str(event.data.get('title') or ''))}"


def _checked(event: Event) -> str:
    step = stages.stage(str(event.data.get("step") or ""), str(event.data.get("epic") or ""))
    results = event.data.get("results")
    rows: Sequence[Any] = results if isinstance(results, list | tuple) else ()
    said = verdict([row for row in rows if isinstance(row, Mapping)])
    return f"{step}: {said}" if said else step


def verdict(results: Sequence[Mapping[str, Any]]) -> str:
    """What checks came to, in a few words: the first that did not pass with its reason, or that all passed."""
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
    return f"checks begin on {stages.subject(step, epic)}{took}"


def _culprit(event: Event) -> str:
    why = stages.plain(str(event.data.get("why") or ""))
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
    return stages.plain(one_line(str(event.data.get(key) or "")))


_FEATURE_STATES = {"active": "is", "error": "does not go on", "expired": "has expired"}


def _moved(event: Event) -> str:
    stage, state = _said(event, "stage"), _said(event, "state")
    came = f"feature {_FEATURE_STATES.get(state, f'is {state}')} in {stage}"
    why = one_line(str(event.data.get("reason") or ""))
    return f"{came}: {why}" if why else came


def _plan_kept(event: Event) -> str:
    return f"plan is whole: version {event.data.get('version')}, {count(event.data.get('beads', 0), 'bead')}"


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
        return f"read by fresh eyes: {who}"
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


def _pull(event: Event) -> str:
    number = event.data.get("pr_number")
    name = f"pull request #{number}" if number else f"branch {one_line(str(event.data.get('branch') or ''))}"
    return f"{name} {_PULLS[event.kind]}"


def _pull_by(event: Event) -> str:
    return f"{_pull(event)} {one_line(str(event.data.get('by') or 'somebody'))}"


def _pull_issue(event: Event) -> str:
    data = event.data
    issue, check = (one_line(str(data.get(key) or "")) for key in ("issue", "check"))
    if check:
        return f"{_pull(event)} a red check: {check}" + (f": {issue}" if issue else "")
    file = one_line(str(data.get("file") or ""))
    where = f", {file}:{data['line']}" if file and data.get("line") else f", {file}" if file else ""
    return f"{_pull(event)} a remark of {one_line(str(data.get('by') or 'somebody'))}{where}: {issue}"


def _push_allowed(event: Event) -> str:
    head, branch = (one_line(str(event.data.get(key) or "")) for key in ("head", "branch"))
    return f"let {head[:12]} be pushed as {branch}"


_PULLS: Mapping[Kind, str] = {
    Kind.PULL_OPENED: "is there",
    Kind.PULL_REVIEW_BEGAN: "is being looked at",
    Kind.PULL_ISSUE_FOUND: "has",
    Kind.PULL_APPROVED: "is approved by",
    Kind.PULL_MERGED: "is merged",
}
_SPECIAL: Mapping[Kind, Callable[[Event], str]] = {
    Kind.TEST_WRITER_STARTED: _started,
    Kind.DOER_STARTED: _started,
    Kind.REVIEW_STARTED: _started,
    Kind.LANDED: _landed,
    Kind.MERGED: _merged,
    Kind.ESCALATED: _asked,
    Kind.SUGGESTED: _asked,
    Kind.REVIEW_STEP: _checked,
    Kind.FEATURE_MOVED: _moved,
    Kind.PLAN_KEPT: _plan_kept,
    Kind.PLAN_REVIEW_BEGAN: _plan_review,
    Kind.PLAN_REVIEW_ENDED: _plan_review,
    Kind.CODE_REVIEW_BEGAN: _read,
    Kind.CODE_REVIEW_ENDED: _read,
    Kind.FINDING_MADE: _found,
    Kind.ITEM_COLLECTED: _collected,
    Kind.CHECKS_BEGAN: _checks_began,
    Kind.CULPRIT_FOUND: _culprit,
    Kind.PROJECT_SET: _project,
    Kind.SPRINT_MOVED: _sprint,
    Kind.PUSH_ALLOWED: _push_allowed,
    Kind.PULL_OPENED: _pull,
    Kind.PULL_REVIEW_BEGAN: _pull,
    Kind.PULL_ISSUE_FOUND: _pull_issue,
    Kind.PULL_APPROVED: _pull_by,
    Kind.PULL_MERGED: _pull,
}
