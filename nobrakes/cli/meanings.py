"""What each kind of event, ending and escalation means, in words: the text of their reference pages.

1. A kind without a meaning here stops the pages from being printed, so none is forgotten.
2. The keys of an event's data are what the store is seen to record: tests/architecture/test_docs_events.py
   compares them with simulated runs.
"""

from collections.abc import Mapping
from typing import NamedTuple

from ..core.escalations import EscalationType
from ..core.events import Kind
from ..core.outcomes import Outcome


class Happening(NamedTuple):
    """One kind of event: what happened, and the keys of its data."""

    meaning: str
    keys: tuple[str, ...] = ()


_MOVED = ("before", "return_to")
_STARTED = ("role", "name", "agent", "number")
_ENDED = ("outcome", "detail", "role", "name", "number", "head", "merged_commit")
_EDGE = ("needs", "type")
_ASKED = ("escalation", "type", "title")
_CLOSED = ("reason", "escalation", *_MOVED)
_SAID = ("text", "data")

KEYS: Mapping[str, str] = {
    "after": "the limits that a person has changed, by name, from now on",
    "agent": "the agent that works: `claude`, `script`; `nobrakes` for a review",
    "alive": "runs whose process still lives",
    "answer": "what the person wrote",
    "beads": "the beads that the step was about",
    "before": "what it was before: the bead's status, the reason it was held for, the moment it was deferred to; the "
    "limits that were changed",
    "commit": "the commit that was looked at, or that was reverted",
    "data": "more of it as JSON; `{}` from the command line",
    "detail": "how it ended in words, at most 500 characters",
    "ended": "runs whose process has ended",
    "escalation": "the escalation's number",
    "fields": "for each field that differs `before` and `after`",
    "head": "the commit that was handed in; null when there is none",
    "merged_commit": "the commit on main; null but for `merged`",
    "name": "who works: the worker's name",
    "needs": "the other bead; for `proposed` a list of pairs `[bead, type]`",
    "number": "the attempt's number, counted for each bead from 1",
    "outcome": "how it ended: see [outcomes](outcomes.md)",
    "pid": "the process",
    "reason": "the person's words",
    "resolution": "how it was decided, with the person's note",
    "results": "one object for each check: `name`, `outcome`, `reason`, `code`, `seconds`, `counts`, `tail`",
    "return_to": "the status that the bead remembers to go back to; null when it remembers none",
    "revert": "the commit that takes it back",
    "role": "`test_writer`, `doer` or `reviewer`",
    "settings": "the switches that changed: `paused`, `stopping`",
    "status": "the status that the bead came with",
    "step": "the step of the review",
    "text": "the agent's words; untrusted, at most 8000 characters",
    "title": "the escalation in one line",
    "to": "the status that the bead goes to; absent while another escalation still stops it",
    "type": "the type of the dependency, or of the [escalation](outcomes.md#escalations)",
    "undone": "the numbers of the events that were taken back",
    "until": "seconds since 1970; null for no longer",
}
"""What the keys of the data say."""

EVENTS: Mapping[Kind, Happening] = {
    Kind.PROPOSED: Happening("The bead was added.", ("status", "needs")),
    Kind.CHANGED: Happening("A person edited the bead.", ("fields",)),
    Kind.APPROVED: Happening("A draft went live."),
    Kind.HELD: Happening("A person holds the bead.", ("reason", "before")),
    Kind.RELEASED: Happening("A held bead may go on.", ("before",)),
    Kind.DEFERRED: Happening("The bead is left alone until a moment.", ("until", "before")),
    Kind.DEPENDENCY_ADDED: Happening("The bead depends on another one.", _EDGE),
    Kind.DEPENDENCY_REMOVED: Happening("The bead depends on it no more.", _EDGE),
    Kind.TEST_WRITER_STARTED: Happening("A Test Writer holds the bead.", _STARTED),
    Kind.TESTS_PROVEN_RED: Happening("The tests fail as they should; a Doer is next.", _ENDED),
    Kind.TEST_WRITER_STOPPED: Happening("The Test Writer ended without proven tests.", _ENDED),
    Kind.DOER_STARTED: Happening("A Doer holds the bead.", _STARTED),
    Kind.WORK_SUBMITTED: Happening("The Doer handed in; the Reviewer is next.", _ENDED),
    Kind.DOER_STOPPED: Happening("The Doer ended without handing in.", _ENDED),
    Kind.REVIEW_STARTED: Happening("The Reviewer holds the bead.", _STARTED),
    Kind.REVIEW_STEP: Happening("A validation of the review ended.", ("step", "commit", "results")),
    Kind.REVIEW_REJECTED: Happening("The work goes back to a Doer.", _ENDED),
    Kind.REVIEW_INTERRUPTED: Happening("The review ended without a judgement of the work.", _ENDED),
    Kind.TESTS_REJECTED: Happening("The work goes back to a Test Writer. Nothing in this version records it.", _ENDED),
    Kind.MERGED: Happening("The bead is on main.", _ENDED),
    Kind.REVERTED: Happening(
        "A person took the merge back; the bead is open again.", ("commit", "revert", "undone", *_MOVED)
    ),
    Kind.ESCALATED: Happening("A person is asked, and the bead waits.", _ASKED),
    Kind.SUGGESTED: Happening("A person is told, and nothing waits.", _ASKED),
    Kind.ANSWERED: Happening("A person answered.", ("escalation", "answer")),
    Kind.RESOLVED: Happening("A person decided.", ("escalation", "resolution", "to")),
    Kind.CANCELLED: Happening("A person gave the bead up.", _CLOSED),
    Kind.DONE_BY_HAND: Happening("A person did the bead.", _CLOSED),
    Kind.REOPENED: Happening("A closed bead is live again.", ("reason", *_MOVED)),
    Kind.EPIC_COMPLETED: Happening("The last child of the epic was closed.", _MOVED),
    Kind.LOGGED: Happening("`nobrakes agent log`.", _SAID),
    Kind.PROGRESSED: Happening("`nobrakes agent progress`.", _SAID),
    Kind.NOTIFIED: Happening("`nobrakes agent notify`; the person is told.", _SAID),
    Kind.HANDED_OFF: Happening("`nobrakes agent done`; the process has not ended yet.", ("outcome",)),
    Kind.DAEMON_STARTED: Happening("A daemon works, in the foreground or the background.", ("pid",)),
    Kind.DAEMON_STOPPED: Happening("It ended in order. Without this event it was killed.", ("pid",)),
    Kind.PAUSED: Happening("`nobrakes pause` or `nobrakes stop`.", ("settings",)),
    Kind.RESUMED: Happening("`nobrakes resume`.", ("settings",)),
    Kind.LIMITS_CHANGED: Happening("`nobrakes set`.", ("before", "after")),
    Kind.RECOVERED: Happening("A daemon took up what an earlier one left.", ("alive", "ended")),
    Kind.UNDONE: Happening(
        "`nobrakes undo` took a step back; on a bead that moved by it, the status is taken back.",
        ("undone", "beads", *_MOVED),
    ),
}

OUTCOMES: Mapping[Outcome, str] = {
    Outcome.COMPLETED: "It did what it was to do.",
    Outcome.GAVE_UP_CONTEXT: "The agent says that its context ran out.",
    Outcome.GAVE_UP_TESTS: "The agent says that it cannot make the tests pass.",
    Outcome.FAILED: "The agent says so, or a script exited with an error.",
    Outcome.FAILED_REVIEW: "A check failed on the work, and not on main.",
    Outcome.BOUNDARY: "The branch changes a file that the role may not change, or was rewritten.",
    Outcome.NOT_RED: "The new tests do not fail, or not for a reason that a Doer can remove.",
    Outcome.NO_WORK: "The agent says that it is done, and the branch has nothing new.",
    Outcome.CONTRADICTED_ITSELF: "Its last words hold two different markers.",
    Outcome.CRASHED: "The agent CLI broke down in the middle.",
    Outcome.KILLED: "The process was killed from outside.",
    Outcome.STALLED: "No output, changed file, commit or CPU for `idle_minutes`.",
    Outcome.TIMED_OUT: "It ran for `agent_minutes`.",
    Outcome.CONTEXT_OVERFLOW: "The provider refused: the prompt is too long.",
    Outcome.TURN_LIMIT: "It used up `max_turns` or `max_budget_usd`.",
    Outcome.BLOCKED: "The agent waits for an answer.",
    Outcome.CONFLICT: "The branch conflicts with main.",
    Outcome.BROKEN_CHECKS: "A check could not say yes or no, or none is configured, or main itself is red.",
    Outcome.WORKSPACE_FAILED: "The clone, its checkout or the set-up command failed.",
    Outcome.MISSING_EXECUTABLE: "The agent's command was not found.",
    Outcome.BAD_CONFIGURATION: "The settings do not make a command, or the agent CLI refuses them.",
    Outcome.AUTH: "The provider does not accept the credentials.",
    Outcome.BILLING: "The provider wants money.",
    Outcome.RATE_LIMITED: "A usage limit.",
    Outcome.PROVIDER_DOWN: "The provider has an outage.",
    Outcome.NETWORK: "The provider cannot be reached.",
    Outcome.MODEL_UNAVAILABLE: "The provider has no such model.",
    Outcome.INTERRUPTED: "It was stopped by `nobrakes stop` or with the daemon.",
    Outcome.CANCELLED: "A person took the bead away.",
}

ESCALATIONS: Mapping[EscalationType, str] = {
    EscalationType.CONFLICT: "The branch and main change the same lines. Nobody resolves it for you.",
    EscalationType.REPEATED_FAILURE: "So many counted attempts as `max_failures` says; all of them are in it, with a "
    "guess at the cause.",
    EscalationType.DOER_SUGGESTION: "An agent saw work outside of its bead (`nobrakes agent escalate`).",
    EscalationType.QUESTION: "An agent asks (`nobrakes agent ask`), or stopped as blocked and says by what.",
    EscalationType.BROKEN_CHECKS: "A check is missing, collected no test, timed out or was killed.",
    EscalationType.BROKEN_ENVIRONMENT: "The agent's command, login, model or settings; or five faults of the machine "
    "in a row.",
    EscalationType.MAIN_RED: "main fails its own checks: before a branch is blamed for it, or after a merge.",
    EscalationType.CHECKOUT_BEHIND: "A checkout of main is behind. Nothing in this version files it: a merge that "
    "would touch your edits waits instead.",
}
