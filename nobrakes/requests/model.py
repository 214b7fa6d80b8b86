"""A pull request as stored, as a code host reports it, and its text.

1. The code host decides what becomes of a request; what is kept here is how it was seen last.
2. A row is written before anything is asked of the host (`OPENING`), so a crash in between is known.
3. `heard` names the remarks that a Doer was told of, `told` what became an event: nothing is told twice.
4. What others wrote is kept cleaned and bounded, and shown; it steers nothing.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from typing import Any

from ..beads.branches import branch_of
from ..beads.model import Bead, BeadType
from ..events.kinds import Kind
from ..records import copied, frozen
from ..text.cleaning import clean, shorten

ASKED = "pulls_asked_at"
ISSUES_TROUBLE = "issues_trouble"
"""The setting: why the daemon cannot import or post now."""


def push_approval(bead: str) -> str:
    return f"push_approval {bead}"


def own_base(bead: str) -> str:
    return f"own_base {bead}"


class PullState(StrEnum):
    """Where a request is."""

    OPENING = "opening"  # it is being opened, and nobody knows yet whether it is there
    OPEN = "open"
    CLOSED = "closed"  # unmerged
    MERGED = "merged"


WAITING = frozenset({PullState.OPENING, PullState.OPEN})
"""States that count against `review.max_open`."""


@frozen
class PullRequest:
    """A bead's newest request. `number` 0: unknown. `head`: our pushed commit, `base`: what it was validated on,
    `tree`: its tree, `contract`: the key of its passed checks, `branch`: at the host."""

    bead: str
    state: PullState = PullState.OPENING
    number: int = 0
    url: str = ""
    title: str = ""
    branch: str = ""
    head: str = ""
    base: str = ""
    contract: str = ""
    merged_as: str = ""
    text: str = ""  # a digest of the text that the host has
    heard: tuple[str, ...] = ()
    checks: tuple[Mapping[str, str], ...] = ()  # name, state and url of each, as they were seen last
    remarks: tuple[Mapping[str, Any], ...] = ()  # the latest of people who may write: by, text, path, line
    approved_by: tuple[str, ...] = ()
    points: tuple[Mapping[str, Any], ...] = ()  # what was asked for, and on which commit (requests.model)
    told: tuple[str, ...] = ()  # what became an event (requests.model)
    says: str = ""  # what it waits for, in words
    opened_at: float = 0.0
    looked_at: float = 0.0
    had: str = ""  # the last commit of ours that the host was seen to have
    was: int = 0  # the number of the one before it, which people closed and may have opened again
    into: str = ""  # the branch that people merge it into; empty: the remote's main

    @property
    def waits(self) -> bool:
        return self.state in WAITING

    @property
    def name(self) -> str:
        return f"#{self.number}" if self.number else self.branch


class CheckState(StrEnum):
    """What a check of the host came to."""

    PASSED = "passed"
    FAILED = "failed"
    RUNNING = "running"


@frozen
class HostCheck:
    """A host's check of a commit. `key`: of its log; `says`: its summary."""

    name: str
    state: CheckState
    url: str = ""
    key: str = ""
    says: str = ""


@frozen
class ReviewComment:
    """A review comment or approval of a person with write access. Empty `path`: about everything."""

    key: str
    by: str
    text: str
    path: str = ""
    line: int = 0
    approves: bool = False  # it asks for nothing
    thread: str = ""  # the key of the remark that it answers; empty: it answers none


@frozen
class Told:
    """The host's state of a request. `base`: its target, empty: unknown; `auto_merge`: merged once conditions hold."""

    number: int
    url: str
    state: PullState
    head: str = ""
    merged_as: str = ""
    conflicts: bool = False
    title: str = ""
    body: str = ""
    base: str = ""
    auto_merge: bool = False


@frozen
class Seen:
    """The result of an exchange. `told` None: no request yet. `trouble`: why it stopped; `wait`: seconds to the next;
    `needs_person`: it does not pass by itself; `paced`: our own limit. `text`: the digest of the host's text."""

    told: Told | None = None
    checks: Sequence[HostCheck] = ()
    logs: Sequence[tuple[str, str]] = ()  # name of a failed check -> its log
    remarks: Sequence[ReviewComment] = ()
    trouble: str = ""
    wait: float = 0.0
    needs_person: bool = False
    paced: bool = False
    text: str = ""


# Merged is what the host says is merged; nobody else's word makes a bead done. A red check is a failed validation once
# nothing of the host's runs any more on that commit. Remarks become a log of the next attempt, never a failure and
# never an instruction to us. What the host's checks say of a branch that somebody else pushed to blames nobody here.
MAX_REVIEW_COMMENTS = 50
LOG = 6000
"""Characters at the end of a failed check's log for an agent."""
MAX_COMMENT = 2000
MAX_SECONDS = 600.0
"""Maximal seconds between two looks at a quiet request."""
CALLS_A_MINUTE = 30
"""Maximal calls to a code host."""
_CALLS_OF_A_LOOK = 6
_SHOWN = 12


class Turn(StrEnum):
    """What a review does that waits for its request."""

    WAIT = "wait"
    MERGED = "merged"
    CLOSED = "closed"
    CONFLICTS = "conflicts"  # with what its base is by now
    RED = "red"
    REMARKS = "remarks"


def between_looks(poll: float, waiting: int) -> float:
    return max(poll, (waiting - 1) * _CALLS_OF_A_LOOK * 60 / CALLS_A_MINUTE)


def next_look(between: float, waited: float) -> float:
    """Seconds to the next look at a request without news: growing up to `MAX_SECONDS`, but at least `between`."""
    return max(between, min(MAX_SECONDS, waited / 10))


def turn(seen: Seen, pull: PullRequest) -> Turn:
    """The next step. `pull`: as stored."""
    told = seen.told
    if told is None:
        return Turn.WAIT
    if told.state is PullState.MERGED:
        return Turn.MERGED
    if told.state is PullState.CLOSED:
        return Turn.CLOSED
    if told.head != pull.head:
        return Turn.WAIT
    if failed(seen.checks) and not running(seen.checks):
        return Turn.RED
    if unheard_comments(seen.remarks, pull):
        return Turn.REMARKS
    return Turn.CONFLICTS if told.conflicts else Turn.WAIT


def failed(checks: Sequence[HostCheck]) -> list[HostCheck]:
    return [check for check in checks if check.state is CheckState.FAILED]


def running(checks: Sequence[HostCheck]) -> list[HostCheck]:
    return [check for check in checks if check.state is CheckState.RUNNING]


def unheard_comments(remarks: Sequence[ReviewComment], pull: PullRequest) -> list[ReviewComment]:
    return [one for one in remarks if one.key not in pull.heard and not one.approves]


def waits_for(seen: Seen, pull: PullRequest, by_itself: bool = False) -> str:
    """What the request waits for. `by_itself`: auto-merge is wanted, and the host cannot."""
    if seen.trouble:
        return seen.trouble
    told = seen.told
    if told is None:
        return "nobrakes is opening the pull request"
    where = f"pull request #{told.number} ({told.url})" if told.number else f"the branch {pull.branch} ({told.url})"
    if told.head and told.head != pull.head:
        return f"{where} has commits that nobrakes did not push, so people have to decide"
    if open_ones := running(seen.checks):
        return f"{where} is waiting for its checks: {', '.join(clean(one.name)[:40] for one in open_ones[:_SHOWN])}"
    who = "the code host to merge it" if told.auto_merge else "people to merge it"
    into = f" into {pull.into}" if pull.into else ""
    but = ": plain git cannot merge automatically (review.pull_auto_merge)" if by_itself else ""
    return f"{where} is waiting for {who}{into}{but}"


def log_of_red(seen: Seen, pull: PullRequest) -> str:
    """Red checks for a Doer."""
    logs = dict(seen.logs)
    parts = [f"Checks of the code host failed on pull request {pull.name} ({pull.head[:12]}):"]
    for check in failed(seen.checks)[:_SHOWN]:
        parts.append(f"{clean(check.name)[:100]}: failed. {shorten(clean(check.says), 500)}".rstrip())
        if log := logs.get(check.name, "").strip():
            parts.append(clean(log[-LOG:]))
    return "\n".join(parts)


def log_of_comments(seen: Seen, pull: PullRequest) -> str:
    """People's comments for a Doer, with their places, marked as foreign text."""
    found = unheard_comments(seen.remarks, pull)
    parts = [f"People reviewed pull request {pull.name} and asked for changes. They wrote:"]
    for one in found[:MAX_REVIEW_COMMENTS]:
        place = f"{clean(one.path)[:200]}:{one.line}" if one.line else clean(one.path)[:200]
        parts.append(f"- {clean(one.by)[:60]}{f', {place}' if place else ''}: {shorten(clean(one.text), MAX_COMMENT)}")
    if len(found) > MAX_REVIEW_COMMENTS:
        parts.append(f"and {len(found) - MAX_REVIEW_COMMENTS} more.")
    return "\n".join(parts)


# What is new about a request is told once: `PullRequest.told` has the keys of what was. Checks count on the commit that
# we pushed, remarks are those of people who may write. Everything is cleaned and bounded.
MAX_NEW_EVENTS = 50
SHOWN = 20
_TEXT = 2000
_NAME = 100
_PATH = 200
_KEYS = 2000
_SUGGESTED = re.compile(r"```suggestion[^\n]*\n(.*?)```", re.DOTALL)

NewEvent = tuple[Kind, Mapping[str, Any]]


def kept(pull: PullRequest, seen: Seen) -> PullRequest:
    """The request with the checks, comments and approvals that were seen."""
    if seen.told is None:
        return pull
    key, told = auto_merge_key(pull.head), seen.told
    is_new = told.auto_merge and told.head == pull.head and key not in pull.told
    return replace(
        pull,
        checks=tuple(
            {"name": _short(one.name, _NAME), "state": one.state.value, "url": _short(one.url, _TEXT)}
            for one in seen.checks[:SHOWN]
        ),
        remarks=tuple(
            {"by": _short(one.by, _NAME), "text": _short(one.text, _TEXT), "path": _short(one.path, _PATH)}
            | {"line": one.line}
            for one in [one for one in seen.remarks if not one.approves][-SHOWN:]
        ),
        told=(*pull.told, key)[-_KEYS:] if is_new else pull.told,
        approved_by=tuple(dict.fromkeys(_short(one.by, _NAME) for one in seen.remarks if one.approves))[:SHOWN],
    )


def auto_merge_key(head: str) -> str:
    return f"merges itself {head[:12]}"


def happened(pull: PullRequest, seen: Seen) -> tuple[PullRequest, list[NewEvent]]:
    """New events in order, and the request that records them. `pull`: now."""
    if seen.told is None:
        return pull, []
    found: list[tuple[str, NewEvent]] = [(f"created {pull.name}", (Kind.PULL_OPENED, about(pull)))]
    if seen.checks or seen.remarks:
        found.append((f"began {pull.name}", (Kind.PULL_REVIEW_BEGAN, about(pull))))
    for check in failed(seen.checks):
        data = {**_at(pull), **_issue(check.says, "error"), "check": _short(check.name, _NAME)}
        found.append((f"check {check.name[:_NAME]} {pull.head[:12]}", (Kind.PULL_ISSUE_FOUND, data)))
    return _told(pull, [*found, *((one.key, _remarked(pull, one)) for one in seen.remarks)])


def merged(pull: PullRequest) -> tuple[PullRequest, list[NewEvent]]:
    """The merge, and the opening if it was unseen."""
    found = [
        (f"created {pull.name}", (Kind.PULL_OPENED, about(replace(pull, merged_as="")))),
        (f"merged {pull.name}", (Kind.PULL_MERGED, about(pull))),
    ]
    return _told(pull, found)


def about(pull: PullRequest) -> Mapping[str, Any]:
    what = {"title": _short(pull.title, _TEXT), "branch": pull.branch, "head": pull.head}
    return {**_at(pull), **what, "merged_commit": pull.merged_as or None}


def _told(pull: PullRequest, found: Sequence[tuple[str, NewEvent]]) -> tuple[PullRequest, list[NewEvent]]:
    known = frozenset(pull.told)
    new = [(key, one) for key, one in found if key not in known][:MAX_NEW_EVENTS]
    if not new:
        return pull, []
    return replace(pull, told=(*pull.told, *(key for key, _ in new))[-_KEYS:]), [one for _, one in new]


def _remarked(pull: PullRequest, one: ReviewComment) -> NewEvent:
    by = _short(one.by, _NAME)
    if one.approves:
        return Kind.PULL_APPROVED, {**_at(pull), "by": by}
    suggested = _SUGGESTED.search(one.text[:20_000])
    issue = _issue(one.text, "warning", suggested[1] if suggested else "")
    return Kind.PULL_ISSUE_FOUND, {**_at(pull), **issue, "by": by, "file": _short(one.path, _PATH), "line": one.line}


def _issue(text: str, severity: str, suggestion: str = "") -> dict[str, Any]:
    said = {"issue": _short(text, _TEXT), "severity": severity, "suggestion": _short(suggestion, _TEXT)}
    return {**said, "by": "", "check": "", "file": "", "line": 0}


def _at(pull: PullRequest) -> dict[str, Any]:
    return {"pr_number": pull.number, "pr_url": pull.url}


def _short(text: str, most: int) -> str:
    return shorten(clean(text[: 4 * most]).strip(), most)


# A point is a thread, a place (a file, and lines no further apart than NEAR), or of a whole review its very words. It
# is asked for again when it was asked for on another commit that we pushed: then a person decides. What people wrote is
# quoted, cleaned and bounded; nothing is read into it.
NEAR = 3
MAX_DISPUTES = 200
_QUOTED = 1000
_DISPUTES_SHOWN = 12

Again = tuple[Mapping[str, Any], ReviewComment]


def again(new: Sequence[ReviewComment], pull: PullRequest) -> list[Again]:
    """New comments that repeat a demand made on another commit, each with the earlier one."""
    before = [point for point in pull.points if point.get("head") != pull.head]
    found = []
    for comment in new:
        same = next((point for point in reversed(before) if _is_same(point, comment)), None)
        if same is not None:
            found.append((same, comment))
    return found


def remembered(new: Sequence[ReviewComment], pull: PullRequest) -> PullRequest:
    """The request with the demands on its commit."""
    points = [
        {
            "key": one.key,
            "thread": one.thread or one.key,
            "by": _short(one.by, 100),
            "path": _short(one.path, 200),
            "line": one.line,
            "text": _short(one.text, _QUOTED),
            "head": pull.head,
        }
        for one in new
    ]
    return replace(pull, points=(*pull.points, *points)[-MAX_DISPUTES:])


def told(found: Sequence[Again], pull: PullRequest, answers: Sequence[str]) -> str:
    """Text for a person: each point with both demands, then the Doers' answers, the latest last."""
    lines = [f"People asked again for a change of pull request {pull.name} that an agent had already answered."]
    for before, now in found[:_DISPUTES_SHOWN]:
        place = f"{_short(now.path, 200)}:{now.line}" if now.line else _short(now.path, 200) or "about the whole change"
        lines.append(f"- {place}")
        lines.append(f"  {before.get('by')}, on {str(before.get('head'))[:12]}: {before.get('text')}")
        lines.append(f"  {_short(now.by, 100)}, on {pull.head[:12]}: {_short(now.text, _QUOTED)}")
    if len(found) > _DISPUTES_SHOWN:
        lines.append(f"and {len(found) - _DISPUTES_SHOWN} more.")
    if answers:
        lines += ["The agents' answers:", *(f"- {_short(answer, _QUOTED)}" for answer in answers)]
    return "\n".join(lines)


def evidence(found: Sequence[Again], pull: PullRequest, answers: Sequence[str]) -> Mapping[str, Any]:
    asked = [
        {
            "path": _short(now.path, 200),
            "line": now.line,
            "asked": [str(before.get("text")), _short(now.text, _QUOTED)],
            "by": [str(before.get("by")), _short(now.by, 100)],
            "on": [str(before.get("head")), pull.head],
        }
        for before, now in found[:_DISPUTES_SHOWN]
    ]
    return {"points": asked, "answers": [_short(answer, _QUOTED) for answer in answers]}


def _is_same(point: Mapping[str, Any], comment: ReviewComment) -> bool:
    if comment.thread and comment.thread in (point.get("thread"), point.get("key")):
        return True
    if comment.path:
        here = _short(comment.path, 200)
        return point.get("path") == here and abs(int(point.get("line") or 0) - comment.line) <= NEAR
    words = _short(comment.text, _QUOTED)
    return not point.get("path") and " ".join(words.split()) == " ".join(str(point.get("text")).split())


# The text of a pull request, made of records alone: the same records give the same text.
#
# 1. Title, summary, test plan, what a person has to try, what the code review found in numbers, evidence, linked beads;
#    then the repository's template as it is.
# 2. Words of beads are shown, and do nothing: nobody is mentioned by them, and no comment of theirs is ours.
# 3. The line `mark` is how the request is found again: it names the bead. The branch is ours by its commit.
# 4. It is bounded; whoever gives it to a host has cleaned it of secrets.

TITLE = 200
BODY = 60_000
_DESCRIPTION = 8_000
_TEMPLATE = 20_000
_CRITERIA = 40
_WITHIN = 100
_FILES = 30
TEMPLATES = (
    ".github/pull_request_template.md",
    ".github/PULL_REQUEST_TEMPLATE.md",
    "pull_request_template.md",
    "PULL_REQUEST_TEMPLATE.md",
    "docs/pull_request_template.md",
    "docs/PULL_REQUEST_TEMPLATE.md",
    ".gitlab/merge_request_templates/Default.md",
    ".gitlab/merge_request_templates/default.md",
)
_MENTION = re.compile(r"(?<![\w`])@(?=[A-Za-z0-9])")


@frozen
class Facts:
    """The text's input. `checks`: rows of the candidate's validation; `before`, `after`: tests passed on base and
    candidate; `files`: changed paths; `read`: code reviews of review.reading."""

    bead: Bead
    base: str
    base_branch: str
    head: str
    checks: Sequence[Mapping[str, Any]] = ()
    before: int | None = None
    after: int | None = None
    attempts: int = 0
    criteria: Sequence[tuple[str, str]] = ()  # of its feature: text, and how each is judged (features.model)
    read: Sequence[Mapping[str, Any]] = ()
    epic: tuple[str, str] | None = None  # its id and title
    needs: Sequence[tuple[str, str]] = ()
    within: Sequence[Bead] = ()  # of an epic: its beads that the request brings
    files: Sequence[str] = ()
    template: str = ""
    names: Sequence[str] = ()  # who worked on it, where the settings say so
    cost: str = ""  # the same


def mark(bead: str) -> str:
    """The line that identifies a request."""
    return f"<!-- nobrakes request: {bead} -->"


@frozen
class IssueLink:
    """A bead's issue, as imported and posted to. `text`: the digest of the imported texts; `request`: the number of the
    pull request that a comment names; `merged`: the commit that a comment names."""

    bead: str
    repository: str
    number: int
    text: str = ""
    request: int = 0
    merged: str = ""


@frozen
class IssueReport:
    """What a sync did. `posted`: beads whose issues got a comment; `told`: issues that were closed elsewhere, and
    refused comments; `problems`: what was not imported, and why."""

    repository: str
    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    proposed: tuple[str, ...] = ()
    posted: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def title(bead: Bead) -> str:
    return shorten(" ".join(clean(bead.title).split()), TITLE) or bead.id


def body(facts: Facts, line: str) -> str:
    """The request's text, ending with the mark `line`."""
    words = shown(facts.bead.description, _DESCRIPTION) or shown(facts.bead.title, TITLE)
    parts = [
        f"## Summary\n\n{words}",
        _test_plan(facts),
        _criteria(facts),
        _read(facts),
        _evidence(facts),
        _linked(facts),
        shorten(clean(facts.template), _TEMPLATE).replace("<!-- nobrakes", "&lt;!-- nobrakes").strip(),
    ]
    whole = shorten("\n\n".join(part for part in parts if part), BODY)
    return f"{whole}\n\n{line}\n"


def shown(text: str, most: int) -> str:
    return _MENTION.sub("&#64;", shorten(clean(text).strip(), most).replace("<!--", "&lt;!--"))


def _test_plan(facts: Facts) -> str:
    lines = ["## Test plan", ""]
    found = dict.fromkeys([*facts.bead.acceptance, *(one for bead in facts.within for one in bead.acceptance)])
    wanted = [one for one in found if one not in dict(facts.criteria)]
    lines += [f"- {shown(one, 500)}" for one in wanted[:_CRITERIA]]
    for row in facts.checks:
        command = shown(" ".join(str(row.get("command") or "").split()), 200).replace("`", "'")
        lines.append(f"- {shown(str(row.get('name', '')), 100)}: passed{f' (`{command}`)' if command else ''}")
    return "" if len(lines) == 2 else "\n".join(lines)


def _criteria(facts: Facts) -> str:
    """Each criterion of its feature once, ticked where nobrakes has seen that it is met."""
    is_read = any(one["outcome"] == "done" for one in facts.read)
    told = {"automated": "checked", "review": "read by an agent" if is_read else "for a person to read"}
    met = {"automated", "review"} if is_read else {"automated"}
    lines = [
        f"- [{'x' if how in met else ' '}] {shown(text, 500)} ({told.get(how, 'for a person to try')})"
        for text, how in facts.criteria[:_CRITERIA]
    ]
    return "\n".join(["## Acceptance criteria", "", *lines]) if lines else ""


def _read(facts: Facts) -> str:
    """Only counts of findings: the details are not for the request."""
    if not facts.read:
        return ""
    lines = ["## Code review", "", "After every check had passed, an agent that had not done the work reviewed it.", ""]
    for one in facts.read:
        found = Counter(str(finding["priority"]) for finding in one["findings"])
        counts = ", ".join(f"{found[name]} {name}" for name in sorted(found)) or "no findings"
        said = counts if one["outcome"] == "done" else "no completed review"
        lines.append(f"- Round {one['round']}: {said}.")
    if facts.cost:
        lines.append(f"- Cost: ${sum(float(one['cost_usd']) for one in facts.read):.2f}.")
    return "\n".join(lines)


def _evidence(facts: Facts) -> str:
    lines = ["## Evidence", ""]
    lines.append(f"- `{facts.head[:12]}` passed every check on {facts.base_branch} at `{facts.base[:12]}`.")
    if facts.after is not None:
        before = "unknown" if facts.before is None else str(facts.before)
        lines.append(f"- Passing tests: {before} before, {facts.after} after.")
    if facts.attempts:
        lines.append(f"- Attempts: {facts.attempts}.")
    if facts.files:
        named = ", ".join(f"`{shown(path, 200)}`" for path in facts.files[:_FILES])
        more = f" and {len(facts.files) - _FILES} more" if len(facts.files) > _FILES else ""
        lines.append(f"- Files: {named}{more}.")
    if facts.names:
        lines.append(f"- Done by: {', '.join(shown(name, 100) for name in facts.names[:20])}.")
    if facts.cost:
        lines.append(f"- Cost: {facts.cost}.")
    return "\n".join(lines)


def _linked(facts: Facts) -> str:
    lines = ["## Beads", "", f"- {facts.bead.id} ({facts.bead.type.value})"]
    lines += [f"- {one.id} ({one.type.value}): {shown(one.title, TITLE)}" for one in facts.within[:_WITHIN]]
    if len(facts.within) > _WITHIN:
        lines.append(f"- and {len(facts.within) - _WITHIN} more")
    if facts.epic is not None:
        lines.append(f"- in {facts.epic[0]}: {shown(facts.epic[1], TITLE)}")
    lines += [f"- after {bead}: {shown(name, TITLE)}" for bead, name in facts.needs[:_CRITERIA]]
    return "\n".join(lines)


# A pull request as people and programs see it; db/fast.py makes the same JSON without these classes. `page` is what the
# code host says, if that is an address of the web.
WEB = ("https://", "http://")


@frozen
class RequestLine:
    """A request in a list. `state`: see docs/reference; `says`: what it waits for."""

    number: int  # 0: the code host numbers none
    state: str
    page: str
    says: str


@frozen
class RequestView:
    """A bead's newest request. `checks`: name, state and url; `remarks`: by, text, path and line, untrusted."""

    bead: str
    number: int
    state: PullState
    title: str
    url: str  # as the code host says it
    page: str  # the same where it is an address of the web
    says: str  # what it waits for
    branch: str
    into: str  # the branch that people merge it into, where that is not the remote's main; else empty
    head: str
    base: str
    merged_as: str
    checks: tuple[Mapping[str, Any], ...]
    remarks: tuple[Mapping[str, Any], ...]
    approved_by: tuple[str, ...]
    opened_at: float
    looked_at: float

    @property
    def name(self) -> str:
        return f"#{self.number}" if self.number else self.branch


def landed(epic: str) -> str:
    return f"landed on the branch of {epic}"


def page_of(url: str) -> str:
    return url if url.startswith(WEB) else ""


def view(pull: PullRequest) -> RequestView:
    return copied(RequestView, pull, page=page_of(pull.url))


# How the work of a bead gets to people. What an epic says holds for everything below it; of several epics around a bead
# the nearest one that says something about a setting is heard. The name of a branch is one request's. What has begun on
# an epic's branch ends there (`is_begun`). The branch that people merge to may be a feature's own (`base`).
@frozen
class Said:
    """One feature's settings; None: inherited."""

    unit: str | None = None
    branch: str | None = None
    push: bool | None = None
    base: str | None = None
    land: str | None = None


@frozen
class Rules:
    """The repository's settings, and each feature's by its epic. `main`: the default remote branch."""

    by_request: bool
    unit: str
    push: bool = True
    features: Mapping[str, Said] = field(default_factory=dict)
    main: str = ""

    @property
    def elsewhere(self) -> tuple[str, ...]:
        return tuple(epic for epic in self.features if base_of((epic,), self))


@frozen
class Delivery:
    """How a bead is delivered. `epic`: whose branch it lands on, empty: main; `branch`: of its request; `push`: without
    a person's permission; `base`: the target, empty: the remote's main; `direct`: pushed there without a request."""

    epic: str
    branch: str
    push: bool = True
    base: str = ""
    direct: bool = False


@frozen
class Where:
    """Where a bead begins, is reviewed and proven: on its `epic`, else `base`, else main. `direct`: pushed there."""

    base: str = ""
    epic: str = ""
    direct: bool = False


def delivery(bead: Bead, above: Sequence[str], rules: Rules, is_begun: bool = False) -> Delivery:
    """How the bead is delivered; `above`: its epics, the nearest first."""
    is_epic = bead.type is BeadType.EPIC
    around = (bead.id, *above) if is_epic else tuple(above)
    said = [rules.features[one] for one in around if one in rules.features]
    push = next((one.push for one in said if one.push is not None), rules.push)
    own = rules.features.get(bead.id) if is_epic else None
    lands = next((one.land for one in said if one.land is not None), "")
    direct = rules.by_request and not is_begun and lands == "remote"
    together = rules.by_request and not direct and (unit_of(around, rules) == "epic" or is_begun)
    epic = bead.epic or "" if together and not is_epic else ""
    return Delivery(epic, (own and own.branch) or request_branch(bead), push, base_of(around, rules), direct)


def unit_of(around: Sequence[str], rules: Rules) -> str:
    said = (rules.features[one].unit for one in around if one in rules.features)
    return next((unit for unit in said if unit is not None), rules.unit)


def base_of(around: Sequence[str], rules: Rules) -> str:
    """The target branch, by the nearest epic; empty: the remote's main."""
    said = (rules.features[one].base for one in around if one in rules.features)
    base = next((base for base in said if base is not None), rules.main) if rules.by_request else rules.main
    return "" if base == rules.main else base


def request_branch(bead: Bead) -> str:
    return default_epic_branch(bead.id) if bead.type is BeadType.EPIC else branch_of(bead)


def default_epic_branch(epic: str) -> str:
    return f"feature/{epic}"
