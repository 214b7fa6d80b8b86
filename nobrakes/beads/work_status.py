"""A bead's state in words: the public `execution.status`, the columns of boards, and stopped work."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import asdict, field, replace
from typing import Any

from ..events.kinds import Event, Kind
from ..records import frozen
from ..text.cleaning import shorten
from . import progress
from .graph import Node
from .model import Outcome, Status

IN_PROGRESS, COMPLETE, BLOCKED = "IN_PROGRESS", "COMPLETE", "BLOCKED"
PASSING, FAILING, NOT_RUN = "PASSING", "FAILING", "NOT_RUN"
WORK_TYPES = tuple(one.upper() for one in progress.WORK_TYPES)
MESSAGE = 500
_BEGAN: Mapping[Kind, str] = {Kind.TEST_WRITER_STARTED: "TESTING", Kind.DOER_STARTED: "IMPLEMENTATION"}
_DONE: Mapping[Kind, str] = {
    Kind.MERGED: "it is on main",
    Kind.FOUND_MERGED: "it was found on main",
    Kind.DONE_BY_HAND: "a person did it",
}
_ENDED: Mapping[Kind, str] = {
    Kind.WORK_SUBMITTED: "handed in: the Reviewer is next",
    Kind.LANDED: "it is on its epic's branch",
    Kind.TESTS_PROVEN_RED: "the new tests fail, as they should: a Doer is next",
}
_BACK = frozenset({Kind.TEST_WRITER_STOPPED, Kind.TESTS_REJECTED, Kind.DOER_STOPPED, Kind.REVIEW_REJECTED})
SAYS = frozenset(
    {*_BEGAN, *_DONE, *_ENDED, *_BACK}
    | {Kind.PROGRESSED, Kind.FILES_CHANGED, Kind.TESTS_RUN, Kind.TESTED, Kind.ESCALATED, Kind.RESOLVED}
)
"""The events after which it is another one."""
BEGINS = frozenset(_BEGAN)
"""The events after which nothing before them counts."""


@frozen
class WorkStatus:
    """One bead's. `files_modified` counts files that differ from where the attempt began; `progress` is 0 to 100."""

    step_id: str
    status: str = IN_PROGRESS
    files_modified: int = 0
    tests_status: str = NOT_RUN
    work_type: str = WORK_TYPES[0]
    progress: int = 0
    message: str = ""

    def as_values(self) -> dict[str, Any]:
        """Its fields by name."""
        return asdict(self)


# A new attempt begins anew. BLOCKED lasts until the last question is decided or the agent says that it goes on; what is
# merely seen of it frees nothing. Nothing is decided by it.
def statuses(events: Iterable[Event]) -> dict[int, WorkStatus]:
    """By the number of each event that says one, what held after it.

    `events` are those of one bead, in order: all of them, or all since one of BEGINS.
    """
    found: dict[int, WorkStatus] = {}
    now: WorkStatus | None = None
    asked: Set[int] = frozenset()
    for event in events:
        if event.kind in SAYS and event.bead is not None:
            asked = _asked(asked, event)
            found[event.seq] = now = after(now, event, asked)
    return found


def _asked(before: Set[int], event: Event) -> Set[int]:
    """The numbers of the questions that are open after the event, of those asked since the bead's last beginning."""
    number = _number(event.data.get("escalation"))
    if event.kind in BEGINS:
        return frozenset()
    if event.kind is Kind.ESCALATED and number is not None:
        return before | {number}
    return before - {number} if event.kind is Kind.RESOLVED else before


def after(before: WorkStatus | None, event: Event, asked: Set[int] = frozenset()) -> WorkStatus:
    """What holds after the event, which is one of SAYS and about a bead; `asked`: the questions that are open then."""
    now, kind, data = before or WorkStatus(str(event.bead)), event.kind, event.data
    if kind in _BEGAN:
        message = f"{data.get('name') or event.actor} begins attempt {data.get('number')}"
        return WorkStatus(now.step_id, work_type=_BEGAN[kind], message=message)
    if kind in _DONE:
        tests = PASSING if kind is Kind.MERGED else now.tests_status
        return replace(now, status=COMPLETE, progress=100, tests_status=tests, message=_DONE[kind])
    if kind in _ENDED:
        return replace(now, status=IN_PROGRESS, message=_ENDED[kind])
    if kind in _BACK:
        return _back(now, event)
    if kind is Kind.PROGRESSED:
        return _claimed(now, data)
    if kind is Kind.FILES_CHANGED:
        count = _number(data.get("changed")) or 0
        message = f"{count} file{'' if count == 1 else 's'} changed"
        return _seen(replace(now, files_modified=count), message)
    if kind is Kind.ESCALATED:
        return replace(now, status=BLOCKED, message=_short(data.get("title")))
    if kind is Kind.RESOLVED:
        is_free = now.status == BLOCKED and not asked
        return replace(now, status=IN_PROGRESS, message=_short(data.get("resolution"))) if is_free else now
    return _tested(now, event)


def _seen(now: WorkStatus, message: str) -> WorkStatus:
    """What is merely seen is told of who is at work; what a bead waits for, or came to, says more."""
    return replace(now, message=message) if now.status == IN_PROGRESS else now


def _tested(now: WorkStatus, event: Event) -> WorkStatus:
    """A run whose end nobody saw leaves what was known."""
    passed = event.data.get("passed") if event.kind is Kind.TESTS_RUN else passes(str(event.data.get("text", "")))
    if passed is None:
        return _seen(now, "tests run")
    now = replace(now, tests_status=PASSING if passed else FAILING)
    return _seen(now, f"tests run: {'passed' if passed else 'failed'}")


def passes(text: str) -> bool:
    """Whether all checks passed of which `nobrakes agent test` told so: `unit: pass; style: fail: exit code 1`."""
    return bool(text) and all(part.partition(": ")[2].startswith("pass") for part in text.split("; "))


def _back(now: WorkStatus, event: Event) -> WorkStatus:
    outcome = str(event.data.get("outcome") or "")
    if outcome == Outcome.BLOCKED and now.status == BLOCKED:
        return now
    tests = FAILING if outcome == Outcome.FAILED_REVIEW else now.tests_status
    return replace(now, status=IN_PROGRESS, tests_status=tests, message=f"it goes back: {outcome.replace('_', ' ')}")


def _claimed(now: WorkStatus, data: Mapping[str, Any]) -> WorkStatus:
    told = data.get("data")
    claim: Mapping[str, Any] = told if isinstance(told, Mapping) else {}
    percent, step, of = (_number(claim.get(name)) for name in ("percent", "step", "of"))
    if percent is None and step is not None and of:
        percent = 100 * step // of
    said = str(claim.get("work_type", "")).upper()
    return replace(
        now,
        status=IN_PROGRESS,
        progress=now.progress if percent is None else min(100, max(0, percent)),
        work_type=said if said in WORK_TYPES else now.work_type,
        message=_short(data.get("text")),
    )


def _number(value: object) -> int | None:
    return value if type(value) is int else None


def _short(value: object) -> str:
    return shorten(" ".join(str(value or "").split()), MESSAGE)


COLUMNS = ("draft", "blocked", "ready", "working", "review", "escalated", "done", "cancelled")
"""Where its status and its blockers put a bead."""
REQUESTED = "requested"
"""What of `review` waits for people at a code host: a column of its own on boards."""
SHOWN = (*COLUMNS[:5], REQUESTED, *COLUMNS[5:])
"""The columns of a board, in their order."""

BY_STATUS: Mapping[Status, str] = {
    Status.DRAFT: "draft",
    Status.WRITING_TESTS: "working",
    Status.DOING: "working",
    Status.NEEDS_REVIEW: "review",
    Status.REVIEWING: "review",
    Status.LANDED: "review",
    Status.ESCALATED: "escalated",
    Status.DONE: "done",
    Status.CANCELLED: "cancelled",
}
"""Every other status waits for an agent: there it depends on whether the bead is ready."""


def column(status: Status, ready: bool) -> str:
    """The column that a bead stands in."""
    return BY_STATUS.get(status, "ready" if ready else "blocked")


STANDSTILL_SHOWN = 12
"""So many of each kind are named; the others are counted."""


@frozen
class Standstill:
    """At most SHOWN of each kind, by priority and id; `counts` has how many there are, by the field's name.

    `cancelled_blockers`, `cancelled_parents`: pairs of a live bead and what it waits for. `wanted`: the status and the
    type of the beads for which agents will be started, each pair once.
    """

    held: tuple[Node, ...] = ()
    deferred: tuple[Node, ...] = ()
    resting: tuple[Node, ...] = ()
    cancelled_blockers: tuple[tuple[str, str], ...] = ()
    cancelled_parents: tuple[tuple[str, str], ...] = ()
    empty_epics: tuple[str, ...] = ()
    wanted: tuple[tuple[Status, str], ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
