"""A bead's state, stages and endings in words: the public `execution.status`, boards, one mapping for all surfaces.

1. The keys are what the store keeps (steps of a review, endings of an attempt); they never change for a word's sake.
2. A word that is not known is shown as it is, without its underlines: a database of a later version is not an error.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import asdict, field, replace
from typing import Any

from ..events.kinds import Event, Kind
from ..records import frozen
from ..review.journal import Step
from ..text.cleaning import one_line, shorten
from . import progress
from .graph import Node
from .model import Outcome, Role, Status

IN_PROGRESS, COMPLETE, BLOCKED = "IN_PROGRESS", "COMPLETE", "BLOCKED"
PASSING, FAILING, NOT_RUN = "PASSING", "FAILING", "NOT_RUN"
WORK_TYPES = tuple(one.upper() for one in progress.WORK_TYPES)
MESSAGE = 500
_BEGAN: Mapping[Kind, str] = {Kind.TEST_WRITER_STARTED: "TESTING", Kind.DOER_STARTED: "IMPLEMENTATION"}
_DONE: Mapping[Kind, str] = {
    Kind.MERGED: "the work is on main",
    Kind.FOUND_MERGED: "the work was found on main",
    Kind.DONE_BY_HAND: "a person marked it as done",
}
_ENDED: Mapping[Kind, str] = {
    Kind.WORK_SUBMITTED: "the work is handed in: the Reviewer is next",
    Kind.LANDED: "the work is on its epic's branch",
    Kind.TESTS_PROVEN_RED: "the new tests fail, as they should: a Doer is next",
}
_BACK = frozenset({Kind.TEST_WRITER_STOPPED, Kind.TESTS_REJECTED, Kind.DOER_STOPPED, Kind.REVIEW_REJECTED})
SAYS = frozenset(
    {*_BEGAN, *_DONE, *_ENDED, *_BACK}
    | {Kind.PROGRESSED, Kind.FILES_CHANGED, Kind.TESTS_RUN, Kind.TESTED, Kind.ESCALATED, Kind.RESOLVED}
)
"""The events that change it."""
BEGINS = frozenset(_BEGAN)
"""The events that make earlier ones irrelevant."""


@frozen
class WorkStatus:
    """One bead's status. `files_modified`: since the attempt began; `progress`: 0 to 100."""

    step_id: str
    status: str = IN_PROGRESS
    files_modified: int = 0
    tests_status: str = NOT_RUN
    work_type: str = WORK_TYPES[0]
    progress: int = 0
    message: str = ""

    def as_values(self) -> dict[str, Any]:
        return asdict(self)


# A new attempt starts fresh. BLOCKED lasts until the last question is decided or the agent says it continues; what is
# merely seen of it frees nothing. Nothing is decided by it.
def statuses(events: Iterable[Event]) -> dict[int, WorkStatus]:
    """By event number, the status after it. `events`: one bead's in order, all or since one of BEGINS."""
    found: dict[int, WorkStatus] = {}
    now: WorkStatus | None = None
    asked: Set[int] = frozenset()
    for event in events:
        if event.kind in SAYS and event.bead is not None:
            asked = _asked(asked, event)
            found[event.seq] = now = after(now, event, asked)
    return found


def _asked(before: Set[int], event: Event) -> Set[int]:
    number = _number(event.data.get("escalation"))
    if event.kind in BEGINS:
        return frozenset()
    if event.kind is Kind.ESCALATED and number is not None:
        return before | {number}
    return before - {number} if event.kind is Kind.RESOLVED else before


def after(before: WorkStatus | None, event: Event, asked: Set[int] = frozenset()) -> WorkStatus:
    """The status after an event of SAYS; `asked`: its open questions."""
    now, kind, data = before or WorkStatus(str(event.bead)), event.kind, event.data
    if kind in _BEGAN:
        message = f"{data.get('name') or event.actor} started attempt {data.get('number')}"
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
    return replace(now, message=message) if now.status == IN_PROGRESS else now


def _tested(now: WorkStatus, event: Event) -> WorkStatus:
    """A run with an unknown end keeps what was known."""
    passed = event.data.get("passed") if event.kind is Kind.TESTS_RUN else passes(str(event.data.get("text", "")))
    if passed is None:
        return _seen(now, "the tests ran")
    now = replace(now, tests_status=PASSING if passed else FAILING)
    return _seen(now, f"tests run: {'passed' if passed else 'failed'}")


def passes(text: str) -> bool:
    return bool(text) and all(part.partition(": ")[2].startswith("pass") for part in text.split("; "))


def _back(now: WorkStatus, event: Event) -> WorkStatus:
    if (outcome := str(event.data.get("outcome") or "")) == Outcome.BLOCKED and now.status == BLOCKED:
        return now
    tests = FAILING if outcome == Outcome.FAILED_REVIEW else now.tests_status
    return replace(now, status=IN_PROGRESS, tests_status=tests, message=f"sent back: {outcome.replace('_', ' ')}")


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
REQUESTED = "requested"
SHOWN = (*COLUMNS[:5], REQUESTED, *COLUMNS[5:])

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


def column(status: Status, ready: bool) -> str:
    return BY_STATUS.get(status, "ready" if ready else "blocked")


STANDSTILL_SHOWN = 12


@frozen
class Standstill:
    """At most SHOWN of each kind, as lists have them; `counts`: totals by field. `cancelled_blockers`,
    `cancelled_parents`: pairs of a live bead and what it waits for. `wanted`: status and type pairs for which agents
    will start."""

    held: tuple[Node, ...] = ()
    deferred: tuple[Node, ...] = ()
    resting: tuple[Node, ...] = ()
    cancelled_blockers: tuple[tuple[str, str], ...] = ()
    cancelled_parents: tuple[tuple[str, str], ...] = ()
    empty_epics: tuple[str, ...] = ()
    wanted: tuple[tuple[Status, str], ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)


RED_PROOF = "red_proof"

TEST_STRENGTH = "test_strength"

MAIN = "main"

STAGES: Mapping[str, str] = {
    Step.TAKE_IN.value: "fetching the work",
    Step.BOUNDARIES.value: "checking which files the work changes",
    Step.REBASE.value: "rebasing the branch on {main}",
    Step.VALIDATE_REBASED.value: "checking on top of {main}",
    Step.VALIDATE_BASE.value: "checking {main} without the work",
    Step.COUNT_BASE.value: "counting the tests of {main}",
    Step.SWAP.value: "merging into {main}",
    Step.VALIDATE_MAIN.value: "checking {main} after the merge",
    Step.READING.value: "in code review",
    Step.PULL_REQUEST.value: "waiting for people to merge the pull request",
    Step.CLEAN_UP.value: "cleaning up",
    RED_PROOF: "checking that the new tests fail",
    TEST_STRENGTH: "checking whether the new tests detect fake code",
    MAIN: "checking main",
    "main_known": "checking the last commit of main that passed",
    "main_search": "searching for the commit that broke main",
    "main_prove": "checking main without the commit that broke it",
}
"""Each step's activity; {main} is the review's target."""

ENDINGS: Mapping[str, str] = {
    Outcome.COMPLETED.value: "completed",
    Outcome.GAVE_UP_CONTEXT.value: "ran out of context",
    Outcome.GAVE_UP_TESTS.value: "gave up, because the tests did not pass",
    Outcome.FAILED.value: "failed",
    Outcome.FAILED_REVIEW.value: "a check failed",
    Outcome.BOUNDARY.value: "changed files that its role may not change",
    Outcome.NOT_RED.value: "the new tests do not fail",
    Outcome.WEAK_TESTS.value: "the new tests are too weak",
    Outcome.NO_WORK.value: "there was no new work",
    Outcome.CONTRADICTED_ITSELF.value: "contradicted itself",
    Outcome.EMPTY_OUTPUT.value: "printed no readable output",
    Outcome.CRASHED.value: "crashed",
    Outcome.KILLED.value: "was killed by something else",
    Outcome.STALLED.value: "showed no activity",
    Outcome.TIMED_OUT.value: "took too long",
    Outcome.CONTEXT_OVERFLOW.value: "the prompt was too long",
    Outcome.INVALID_REQUEST.value: "the provider refused the request",
    Outcome.TURN_LIMIT.value: "used up its turns or its budget",
    Outcome.BLOCKED.value: "blocked: needs an answer",
    Outcome.CONFLICT.value: "conflicts with {main}",
    Outcome.CHECKS_CHANGED.value: "changes protected files",
    Outcome.UNUSUAL_CONTENT.value: "has unusual content",
    Outcome.FILTER_NOT_ALLOWED.value: "needs a git filter that is not allowed",
    Outcome.MERGE_REVIEW.value: "passed its checks; the merge needs your approval",
    Outcome.CODE_REVIEW.value: "passed its checks; the code review needs your decision",
    Outcome.FINDINGS.value: "a code reviewer found problems",
    Outcome.REMARKS.value: "people asked for changes",
    Outcome.ASKED_AGAIN.value: "people asked for the same change twice",
    Outcome.PULL_CLOSED.value: "the pull request was closed",
    Outcome.BROKEN_CHECKS.value: "a check could not be run",
    Outcome.LOST.value: "ended while nobrakes was not watching",
    Outcome.WORKSPACE_FAILED.value: "the workspace could not be created",
    Outcome.SESSION_LOST.value: "the agent's session no longer exists",
    Outcome.MISSING_EXECUTABLE.value: "the agent's command was not found",
    Outcome.BAD_CONFIGURATION.value: "the agent or its settings are broken",
    Outcome.GUARD_FAILED.value: "the guard failed",
    Outcome.NOBRAKES_FAILED.value: "nobrakes itself failed",
    Outcome.VERSION_UNSUPPORTED.value: "this version of the agent is not supported",
    Outcome.AUTH.value: "the provider refused the login",
    Outcome.BILLING.value: "the provider asks for payment",
    Outcome.RATE_LIMITED.value: "usage limit reached",
    Outcome.PROVIDER_DOWN.value: "the provider is down",
    Outcome.NETWORK.value: "the provider cannot be reached",
    Outcome.MODEL_UNAVAILABLE.value: "the provider has no such model",
    Outcome.INTERRUPTED.value: "interrupted",
    Outcome.CAPPED.value: "a spending cap was reached",
    Outcome.CANCELLED.value: "a person took over the bead",
}
"""Short endings, {main} as in `STAGES`; OUTCOMES explains them."""
OUTCOMES: Mapping[Outcome, str] = {
    Outcome.COMPLETED: "The agent finished its task.",
    Outcome.GAVE_UP_CONTEXT: "The agent reported that its context was full, or nobrakes stopped it because the "
    "context was nearly full (`limits.context_share`).",
    Outcome.GAVE_UP_TESTS: "The agent reported that it cannot make the tests pass, or the tests kept failing alike.",
    Outcome.FAILED: "The agent reported that it failed, or a script exited with an error.",
    Outcome.FAILED_REVIEW: "A check failed on the work, but not on main.",
    Outcome.BOUNDARY: "The branch changes a file that the role may not change, or its history was rewritten.",
    Outcome.WEAK_TESTS: "The new tests also pass with fake code, in which each function always returns the same "
    "value. Or an existing test file has fewer assertions than before.",
    Outcome.NOT_RED: "The new tests do not fail, or fail for a reason that no Doer can fix.",
    Outcome.NO_WORK: "The agent reported that it is done, but the branch has no new work.",
    Outcome.CONTRADICTED_ITSELF: "The agent's last message contains two different end markers.",
    Outcome.EMPTY_OUTPUT: "The agent CLI ended without an error, but its output cannot be read.",
    Outcome.CRASHED: "The agent CLI crashed before it finished.",
    Outcome.KILLED: "Something other than nobrakes killed the process.",
    Outcome.STALLED: "The agent had no output, file changes, commits or CPU use for `limits.idle_minutes`.",
    Outcome.TIMED_OUT: "The agent ran longer than `limits.agent_minutes`.",
    Outcome.CONTEXT_OVERFLOW: "The provider refused the prompt, because it is too long.",
    Outcome.INVALID_REQUEST: "The provider refused the content of the session.",
    Outcome.TURN_LIMIT: "The agent reached `max_turns`, `max_budget_usd` or a cap of `caps.attempt`.",
    Outcome.BLOCKED: "The agent ended, because it needs a person's answer.",
    Outcome.CONFLICT: "The branch conflicts with main.",
    Outcome.CHECKS_CHANGED: "The branch changes protected files. A person has to accept the change.",
    Outcome.UNUSUAL_CONTENT: "The branch has file names with hidden characters, a secret key, or decrypted text.",
    Outcome.FILTER_NOT_ALLOWED: "git stores a changed file through a filter that your settings do not allow.",
    Outcome.MERGE_REVIEW: "All checks passed. The merge needs a person's approval.",
    Outcome.CODE_REVIEW: "All checks passed. A person decides on the code review's findings, or without a review.",
    Outcome.FINDINGS: "All checks passed, but the code review found problems. The next attempt gets the findings.",
    Outcome.REMARKS: "People asked for changes to the pull request. The next attempt gets their comments.",
    Outcome.ASKED_AGAIN: "People asked for the same change to the pull request again, after a new version.",
    Outcome.PULL_CLOSED: "People closed the pull request without merging it.",
    Outcome.BROKEN_CHECKS: "A check gave no result, no check is configured, or main itself fails its checks.",
    Outcome.LOST: "The agent ended while nobrakes was not watching. The third such end on a bead counts as `killed`.",
    Outcome.WORKSPACE_FAILED: "nobrakes could not create the workspace: the clone, the checkout or `setup` failed.",
    Outcome.SESSION_LOST: "The agent's earlier session cannot continue: it no longer exists or is in use.",
    Outcome.MISSING_EXECUTABLE: "The agent's command was not found.",
    Outcome.BAD_CONFIGURATION: "The agent CLI did not start: its settings or installation are broken, or it is silent.",
    Outcome.GUARD_FAILED: "The guard, which checks the agent's tool calls, did not work. nobrakes stopped the agent.",
    Outcome.NOBRAKES_FAILED: "nobrakes had an internal error while it worked on this bead.",
    Outcome.VERSION_UNSUPPORTED: "The agent CLI's version is too old, too new or no longer supported by the provider.",
    Outcome.AUTH: "The provider does not accept the credentials.",
    Outcome.BILLING: "The provider asks for payment.",
    Outcome.RATE_LIMITED: "A usage limit of the provider was reached.",
    Outcome.PROVIDER_DOWN: "The provider has an outage.",
    Outcome.NETWORK: "The provider cannot be reached.",
    Outcome.MODEL_UNAVAILABLE: "The provider does not have the model.",
    Outcome.INTERRUPTED: "A person stopped the agent or the daemon, for example with `nobrakes stop`.",
    Outcome.CAPPED: "nobrakes stopped the agent, because a cap of the bead, the day or the run was reached.",
    Outcome.CANCELLED: "A person cancelled, closed or took over the bead.",
}

ROLES: Mapping[str, str] = {
    Role.TEST_WRITER.value: "test writer",
    Role.DOER.value: "doer",
    Role.REVIEWER.value: "reviewer",
}


def stage(step: str, epic: str = "") -> str:
    """The activity of a review's step or other check. `epic`: if it lands on that branch."""
    return _named_target(STAGES.get(step) or plain(step), epic)


def _named_target(words: str, epic: str) -> str:
    return words.replace("{main}", main_of(epic))


def main_of(epic: str) -> str:
    return f"the branch of {one_line(epic)}" if epic else "main"


def ending(outcome: str, epic: str = "") -> str:
    return _named_target(ENDINGS.get(outcome) or plain(outcome), epic)


def plain(word: str) -> str:
    return one_line(word.replace("_", " "))


def subject(step: str, epic: str = "") -> str:
    return _named_target(_SUBJECTS.get(step, "the branch"), epic)


_SUBJECTS: Mapping[str, str] = {
    Step.VALIDATE_REBASED.value: "the branch on top of {main}",
    Step.VALIDATE_BASE.value: "{main} without the branch",
    Step.COUNT_BASE.value: "{main}, to count its tests",
    Step.VALIDATE_MAIN.value: "{main} after the merge",
    RED_PROOF: "the new tests, which should fail",
    TEST_STRENGTH: "the new tests with fake code",
    MAIN: "main",
    "main_known": "the last commit of main that passed",
    "main_search": "a commit of main, to find the commit that broke main",
    "main_prove": "main without the commit that broke main",
}
